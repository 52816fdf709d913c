-- A call that names a task or a bookmark that is used up, cancelled or was never there says so, and what used it up.
-- How it was searched: each call that names a task or a bookmark, with one that is used up, cancelled or was never there.

-- Runs a statement and gives its error, without the instants in it.
CREATE FUNCTION pg_temp.error(statement text) RETURNS TABLE (code text, message text, detail text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    code := 'no error';
    RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    detail := regexp_replace(detail, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00', '(instant)');
    RETURN NEXT;
END $$;

SELECT * FROM wf_define('{"definitionId": "approval", "root": {"id": "f", "type": "Fork", "joinMode": "WaitAny", "branches": [
    {"id": "approve", "type": "RunTask", "taskName": "approve"}, {"id": "deadline", "type": "Delay", "timeSpan": "01:00:00"}]}}');
SELECT wf_start('approval') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'instance' \gset
SELECT sub_status FROM wf_complete_task(:'task');
SELECT code, replace(message, :'task', '(task)') AS message, detail FROM pg_temp.error(format('SELECT wf_complete_task(%L)', :'task'));
SELECT code, replace(message, :'task', '(task)') AS message, detail FROM pg_temp.error(format('SELECT wf_resume(%L)', :'task'));
-- By the deadline.
SELECT wf_start('approval') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'instance' \gset
SELECT sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.instance = :'instance' AND w.activity = 'deadline';
SELECT code, replace(message, :'task', '(task)') AS message, detail FROM pg_temp.error(format('SELECT wf_complete_task(%L)', :'task'));
SELECT code, replace(message, :'task', '(task)') AS message, detail FROM pg_temp.error(format('SELECT wf_resume(%L)', :'task'));
-- With its instance.
SELECT wf_start('approval') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'instance' \gset
SELECT wf_cancel(:'instance', 'the customer changed her mind');
SELECT code, replace(message, :'task', '(task)') AS message, replace(detail, :'instance', '(instance)') AS detail
  FROM pg_temp.error(format('SELECT wf_complete_task(%L)', :'task'));
SELECT * FROM pg_temp.error($$SELECT wf_complete_task('01900000-0000-7000-8000-00000000dead')$$);
SELECT * FROM pg_temp.error($$SELECT wf_resume('01900000-0000-7000-8000-00000000dead')$$);
-- How it ended is for those who may see the instance.
CREATE ROLE calls_stranger;
SELECT wf_grant_usage('calls_stranger');
SET ROLE calls_stranger;
SELECT code, replace(message, :'task', '(task)') AS message, detail FROM pg_temp.error(format('SELECT wf_complete_task(%L)', :'task'));
RESET ROLE;
SELECT * FROM wf_check();
