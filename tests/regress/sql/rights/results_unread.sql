-- security.md#owners-and-grants: a role that may resume an instance and not read it gets its id and statuses
-- Who may resume an instance and not read it gets its id and its statuses, and of an error that it faulted.
CREATE ROLE unread_owner;
CREATE ROLE unread_worker;
SELECT wf_grant_usage('unread_owner'), wf_grant_usage('unread_worker');
CREATE FUNCTION pg_temp.failed() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    told text;
BEGIN
    PERFORM wf_complete_task(current_setting('regress.task')::uuid);
EXCEPTION WHEN object_not_in_prerequisite_state THEN
    GET STACKED DIAGNOSTICS told = PG_EXCEPTION_DETAIL;
    RETURN told;
END $$;
SET ROLE unread_owner;
SELECT wf_define('{"definitionId": "secret", "outputs": [{"name": "told"}], "root": [
    {"id": "fill", "type": "SetOutput", "outputName": "told", "outputValue": "the secret"},
    {"id": "ask", "type": "RunTask", "taskName": "ask"}, {"id": "on", "type": "RunTask", "taskName": "on", "payload": "a secret"},
    {"id": "bad", "type": "Fault", "code": "the secret", "message": "the secret"}]}');
SELECT wf_grant('secret', 'unread_worker', '{resume}');
SELECT instance_id AS instance FROM wf_run('secret') \gset
SELECT task_id AS task FROM workflow.open_tasks \gset

SET ROLE unread_worker;
SELECT status, sub_status, output, bookmarks, incidents, is_new FROM wf_complete_task(:'task');
SET ROLE unread_owner;
SELECT task_id AS task FROM workflow.open_tasks \gset
SET ROLE unread_worker;
SELECT wf_complete_task(:'task', on_fault => 'raise');
\echo :SQLSTATE
SELECT status, sub_status, output, bookmarks, incidents FROM wf_complete_task(:'task');
SELECT status, sub_status, output, bookmarks, incidents FROM wf_retry(:'instance');

-- When a task was cancelled, not what for.
SET ROLE unread_owner;
SELECT instance_id AS cancelled FROM wf_run('secret') \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'cancelled' \gset
SELECT wf_cancel(:'cancelled', 'because of a secret');
SELECT set_config('regress.task', :'task', false) IS NOT NULL AS set;
PREPARE why AS SELECT detail ~ 'was cancelled at' AS at, detail ~ 'secret' AS why FROM pg_temp.failed() AS detail;
SET ROLE unread_worker;
EXECUTE why;
SET ROLE unread_owner;
EXECUTE why;
DEALLOCATE why;

-- A role that may read it gets all of it, and so does the one that started it.
SET ROLE unread_owner;
SELECT wf_grant('secret', 'unread_worker', '{start,resume,read}');
SET ROLE unread_worker;
SELECT status, output, bookmarks, incidents FROM wf_retry(:'instance');
SET ROLE unread_owner;
SELECT wf_revoke('secret', 'unread_worker', '{resume,read}');
SET ROLE unread_worker;
SELECT status, sub_status, output, jsonb_array_length(bookmarks) AS bookmarks FROM wf_run('secret');

RESET ROLE;
TRUNCATE workflow.instances, workflow.bookmarks, workflow.tasks, workflow.incidents, workflow.definitions, workflow.grants;
SELECT wf_revoke_usage('unread_owner'), wf_revoke_usage('unread_worker');
DROP ROLE unread_owner, unread_worker;
