-- Who acted stays on record when an instance moves to another node, where the ids of roles are others.
CREATE ROLE regress_move_boss LOGIN;
CREATE ROLE regress_move_maid LOGIN;
CREATE ROLE regress_move_gone LOGIN;
SELECT wf_grant_usage(r) FROM unnest('{regress_move_boss,regress_move_maid,regress_move_gone}'::name[]) AS r \g /dev/null
\c - regress_move_boss
SELECT wf_define('{"definitionId": "ask", "root": [
    {"id": "first", "type": "RunTask", "taskName": "First"}, {"id": "second", "type": "RunTask", "taskName": "Second"}]}') \g /dev/null
SELECT wf_start('ask', correlation_id => 'A') \g /dev/null
SELECT wf_grant('ask', r, '{resume,read,alter}') FROM unnest('{regress_move_maid,regress_move_gone}'::text[]) AS r \g /dev/null
\c - regress_move_gone
SELECT wf_pause(instance_id), wf_unpause(instance_id) FROM workflow.instance_list \g /dev/null
\c - regress_move_maid
SELECT status FROM workflow.open_tasks, LATERAL wf_complete_task(task_id);
\c - postgres
-- A role that is gone need not be there.
DROP OWNED BY regress_move_gone;
DROP ROLE regress_move_gone;
CREATE TABLE bundle AS SELECT b FROM wf_export_instances('{A}', remove => true) AS b;
SELECT count(*) FROM workflow.instances;
-- Another node does not have these ids.
DELETE FROM workflow.grants WHERE role IN (SELECT id FROM workflow.owners WHERE name LIKE 'regress_move_m%');
DELETE FROM workflow.owners WHERE name LIKE 'regress_move_m%';
\c - postgres
SELECT wf_import_instances(array_agg(b)) FROM bundle;
SELECT kind, task, role FROM workflow.audit WHERE correlation_id = 'A' ORDER BY at;
SELECT t.name, workflow._stored_role_name(o.role) AS completed_by FROM workflow.tasks AS t LEFT JOIN workflow.owners AS o ON o.id = t.completed_by ORDER BY 1;
SELECT * FROM wf_check();
DROP TABLE bundle;
