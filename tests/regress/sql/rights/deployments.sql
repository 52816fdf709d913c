-- The ways in which people set this up, each with the grants that it needs and no other: what works in each, and as
-- which role SQL of workflows runs.
CREATE ROLE regress_app;
CREATE ROLE regress_deploy;
CREATE ROLE regress_shop;
CREATE ROLE regress_form;
CREATE ROLE regress_clerk;
SELECT wf_grant_usage(r) FROM unnest('{regress_app,regress_deploy,regress_shop,regress_form,regress_clerk}'::name[]) AS r \g /dev/null
SET client_min_messages = warning;
CREATE TABLE ran (what text, role text DEFAULT current_user);
GRANT INSERT, SELECT ON ran TO PUBLIC;
-- Both SQL steps say who runs them; between them a task waits for an application, or for the clerk.
CREATE FUNCTION steps(id text, candidates text, options jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql
RETURN jsonb_build_object('definitionId', id, 'options', options, 'root', jsonb_build_array(
    jsonb_build_object('type', 'Sql', 'id', 'first', 'statement', format('INSERT INTO public.ran VALUES (%L)', id || ' first')),
    jsonb_strip_nulls(jsonb_build_object('type', 'RunTask', 'id', 'ask', 'taskName', 'Ask', 'candidates', candidates::jsonb)),
    jsonb_build_object('type', 'Sql', 'id', 'last', 'statement', format('INSERT INTO public.ran VALUES (%L)', id || ' last'))));

-- One role does everything.
SET ROLE regress_app;
SELECT count(*) FROM wf_define(steps('alone', NULL));
SELECT sub_status FROM wf_run('alone');
SELECT status FROM workflow.open_tasks, wf_complete_task(task_id);
SELECT wf_start('alone') AS instance \gset
SELECT wf_pause(:'instance');
SELECT sub_status FROM wf_unpause(:'instance');
SELECT wf_cancel(:'instance');
RESET ROLE;
TABLE ran;
TRUNCATE ran;

-- One role deploys, an application starts, answers and reads. SQL runs as the application, which started the instance itself.
SET ROLE regress_deploy;
SELECT count(*) FROM wf_define(steps('order', NULL));
SELECT wf_grant('order', 'regress_shop', '{start,resume,read}');
SET ROLE regress_shop;
SELECT sub_status FROM wf_run('order');
SELECT status FROM workflow.open_tasks, wf_complete_task(task_id);
SELECT event, activity, by FROM workflow.journal WHERE event IN ('Started', 'Resumed') ORDER BY seq, number;
SELECT wf_start('order') AS instance \gset
SELECT wf_cancel(:'instance');
-- To repair is more than that.
SELECT wf_pause(:'instance');
RESET ROLE;
TABLE ran;
TRUNCATE ran;

-- A form only files requests of a definer's workflow. It sees how they end, and may cancel them.
SET ROLE regress_deploy;
SELECT count(*) FROM wf_define(steps('request', NULL, '{"security": "definer"}'));
SELECT wf_grant('request', 'regress_form', '{start}');
SET ROLE regress_form;
SELECT sub_status FROM wf_run('request');
SELECT instance_id AS instance FROM workflow.instance_list \gset
SELECT count(*) FROM workflow.open_tasks;
SELECT wf_cancel(:'instance');
SELECT sub_status FROM workflow.instance_list;
RESET ROLE;
TABLE ran;
TRUNCATE ran;

-- People are roles. The one who answers does not lend its rights: what follows runs in a session of the owner.
SET ROLE regress_app;
SELECT count(*) FROM wf_define(steps('leave', '["role:regress_clerk"]'));
SELECT sub_status FROM wf_run('leave');
SET client_min_messages = notice;
SET ROLE regress_clerk;
SELECT status FROM workflow.open_tasks, wf_complete_task(task_id);
SET client_min_messages = warning;
RESET ROLE;
TABLE ran;
-- There are no workers: the owner does what is left, from cron.
SET ROLE regress_app;
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE definition_id = 'leave';
RESET ROLE;
TABLE ran;
TRUNCATE ran;

-- A superuser repairs what belongs to others, and none of their SQL runs as him.
SET ROLE regress_app;
SELECT wf_start('leave') AS instance \gset
RESET ROLE;
SELECT id AS task FROM workflow.tasks WHERE instance_id = :'instance' \gset
TRUNCATE ran;
SELECT sub_status FROM wf_pause(:'instance'), wf_unpause(:'instance');
SELECT status FROM wf_override_task(:'task', 'on leave', '{}');
TABLE ran;
SELECT wf_run_due();
SET ROLE regress_app;
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
RESET ROLE;
TABLE ran;

-- security.md#before-an-upgrade-from-020: the query names each role that has only started, with the grant that it would need
WITH roles AS (
    SELECT o.id, r.oid, r.rolname
    FROM workflow.owners AS o JOIN pg_roles AS r ON r.oid = o.role_oid OR o.role_oid IS NULL AND r.rolname = o.name
), started AS (
    SELECT i.owner, i.definition_id FROM workflow.instances AS i
    UNION ALL
    SELECT t.owner, t.definition_id FROM workflow.triggers AS t WHERE t.owner IS NOT NULL
)
SELECT r.rolname AS role, s.definition_id, count(*) AS instances_or_schedules,
       format('SELECT wf_grant(%L, %L, %L);', s.definition_id, r.rolname, '{resume,read,alter}') AS grant_if_meant
FROM started AS s
JOIN roles AS r ON r.id = s.owner
JOIN workflow.definitions AS d ON d.definition_id = s.definition_id AND d.is_latest
JOIN roles AS p ON p.id = d.owner
WHERE s.definition_id NOT IN ('Workflow.ScheduledCommand', 'Workflow.MigrateInstances') AND NOT pg_has_role(r.oid, p.oid, 'USAGE')
  AND NOT EXISTS (SELECT FROM workflow.grants AS g JOIN roles AS h ON h.id = g.role
                  WHERE g.definition_id = s.definition_id AND g.privilege IN ('resume', 'alter') AND pg_has_role(r.oid, h.oid, 'USAGE'))
GROUP BY 1, 2
ORDER BY 1, 2;
