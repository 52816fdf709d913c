-- The alteration Migrate of a plan moves the instances that a filter selects to another version of their definition.
SET timezone = 'UTC';
SET client_min_messages = error;
CREATE ROLE regress_move_ann;
CREATE ROLE regress_move_ben;
SELECT wf_grant_usage('regress_move_ann'), wf_grant_usage('regress_move_ben');
CREATE FUNCTION define(id text, root jsonb) RETURNS integer LANGUAGE sql
    RETURN (SELECT version FROM wf_define(jsonb_build_object('definitionId', id, 'root', jsonb_build_object('id', 'main', 'type', 'Sequence', 'activities', root))));
SELECT define('order', '[{"id": "pay", "type": "Event", "eventName": "Paid"}, {"id": "check", "type": "RunTask", "taskName": "check"}]');
SELECT define('return', '[{"id": "pay", "type": "Event", "eventName": "Paid"}]');
SELECT count(wf_start('order', correlation_id => 'o' || n)) FROM generate_series(1, 5) AS n;
SELECT count(wf_start('return', correlation_id => 'r' || n)) FROM generate_series(1, 2) AS n;
SELECT cardinality(resumed) FROM wf_publish_event('Paid', correlation_id => 'o2');
SELECT wf_cancel(instance_id) IS NOT NULL AS cancelled FROM workflow.instance_list WHERE correlation_id = 'o3';
SELECT define('order', '[{"id": "pay", "type": "Event", "eventName": "Paid"}, {"id": "verify", "type": "RunTask", "taskName": "check"}]');
CREATE VIEW seen AS SELECT correlation_id, version, sub_status FROM workflow.instance_list WHERE definition_id IN ('order', 'return') ORDER BY 1;
CREATE FUNCTION alter_all(migrate jsonb, filter jsonb, dry_run boolean DEFAULT false, reason text DEFAULT NULL) RETURNS TABLE (correlation_id text, outcome text, problems text[])
    LANGUAGE sql BEGIN ATOMIC
    SELECT i.correlation_id, a.outcome, a.problems
    FROM wf_alter(jsonb_build_array('{"type": "Migrate"}' || migrate), filter, dry_run, reason => reason) AS a JOIN workflow.instance_list AS i USING (instance_id) ORDER BY 1;
END;
-- The published version, if none is named. A dry run gives the same rows.
SELECT * FROM alter_all('{}', '{"definitionIds": ["order", "return"]}', true);
SELECT * FROM alter_all('{}', '{"definitionIds": ["order", "return"]}', reason => 'tasks are called otherwise');
SELECT * FROM seen;
SELECT data FROM workflow.journal WHERE event = 'Migrated' LIMIT 1;
SELECT substr(line, 23) AS line FROM workflow.instance_list AS i, wf_explain(i.instance_id) AS line WHERE i.correlation_id = 'o1' AND line LIKE '%moved%';
-- With a mapping, which Elsa does not have. Instances that are in the version already stay as they are.
SELECT * FROM alter_all('{"TargetVersion": 2, "Mapping": {"check": "verify"}}', '{"definitionIds": ["order"]}');
SELECT activity_id, correlation_id FROM workflow.open_tasks;
-- Each definition has its own versions.
SELECT * FROM alter_all('{"targetVersion": 2}', '{"correlationIds": ["o1", "r1"]}');
SELECT * FROM alter_all('{"targetVersion": 1, "timers": "anew"}', '{"correlationIds": ["o1", "r1"]}');
SELECT * FROM seen;
-- Owners only: the privilege to alter is not enough. A role without rights learns nothing.
SELECT wf_grant('order', 'regress_move_ann', '{start,alter,read}');
SELECT jsonb_agg(instance_id) AS ids FROM workflow.instance_list WHERE correlation_id IN ('o4', 'r2') \gset
SET ROLE regress_move_ann;
SELECT * FROM alter_all('{"targetVersion": 1}', '{"correlationIds": ["o4", "r2"]}');
SET ROLE regress_move_ben;
SELECT outcome, regexp_replace(problems::text, '[0-9a-f-]{36}', 'ID') AS problems, count(*)
FROM wf_alter('[{"type": "Migrate"}]', jsonb_build_object('workflowInstanceIds', :'ids'::jsonb)) GROUP BY 1, 2;
RESET ROLE;
-- A paused instance is moved, and stays paused.
SELECT wf_pause(instance_id) IS NOT NULL AS paused FROM workflow.instance_list WHERE correlation_id = 'o5';
SELECT * FROM alter_all('{"targetVersion": 1}', '{"correlationIds": ["o5"]}');
SELECT version, paused_at IS NOT NULL AS is_paused FROM workflow.instance_list WHERE correlation_id = 'o5';
-- From a workflow, in batches.
SELECT wf_define(jsonb_build_object('definitionId', 'move', 'outputs', '[{"name": "total"}]'::jsonb, 'root', jsonb_build_object('type', 'SubmitAlterationPlan', 'result', '{"output": "total"}'::jsonb,
    'params', '{"alterations": [{"type": "Migrate", "mapping": {"check": "verify"}}], "filter": {"definitionIds": ["order"]}, "reason": "all at once"}'::jsonb)));
SELECT wf_start('move') IS NOT NULL AS begun;
SELECT wf_run_due() > 0 AS ran;
SELECT output FROM workflow.instance_list WHERE definition_id = 'move';
SELECT * FROM seen;
-- Bad input changes nothing.
\set VERBOSITY default
SELECT wf_alter('[{"type": "Migrate", "targetVersion": "two"}]', '{"definitionIds": ["order"]}');
SELECT wf_alter('[{"type": "Migrate", "version": 2}]', '{"definitionIds": ["order"]}');
SELECT wf_alter('[{"type": "Migrate", "mapping": ["check"]}]', '{"definitionIds": ["order"]}');
SELECT wf_alter('[{"type": "Migrate", "timers": "later"}]', '{"definitionIds": ["order"]}');
SELECT wf_alter('[{"type": "Cancel"}, {"type": "Migrate"}]', '{"definitionIds": ["order"]}');
\set VERBOSITY terse
SELECT * FROM alter_all('{"targetVersion": 7}', '{"correlationIds": ["o1"]}');
SELECT * FROM alter_all('{"targetVersion": 0}', '{"correlationIds": ["o1"]}');
SELECT * FROM alter_all('{"targetVersion": 1, "mapping": {"nothing": "check"}}', '{"correlationIds": ["o2"]}');
SELECT wf_retract('order');
SELECT * FROM alter_all('{}', '{"correlationIds": ["o1"]}');
SELECT * FROM seen;
DROP VIEW seen;
DROP FUNCTION define, alter_all;
DROP OWNED BY regress_move_ann, regress_move_ben;
DROP ROLE regress_move_ann, regress_move_ben;
