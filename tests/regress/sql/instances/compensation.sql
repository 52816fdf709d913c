-- Compensable remembers how to take back what it has done. Compensate, a cancel and a fault ask for it.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE TABLE seats (trip text PRIMARY KEY, taken boolean NOT NULL DEFAULT false, changes integer NOT NULL DEFAULT 0);
INSERT INTO seats (trip) VALUES ('out'), ('back'), ('hotel');
SELECT * FROM wf_define('{
    "definitionId": "journey",
    "root": [
        {"type": "ForEach", "items": ["out", "back"], "body":
            {"id": "Book", "type": "Compensable",
             "body": {"type": "Sql", "statement": "UPDATE seats SET taken = true, changes = changes + 1 WHERE trip = $1", "parameters": [{"var": "CurrentValue"}]},
             "compensation": {"type": "Sql", "statement": "UPDATE seats SET taken = false, changes = changes + 1 WHERE trip = $1", "parameters": [{"var": "CurrentValue"}]},
             "confirmation": {"type": "WriteLine", "text": {"js": "`${getCurrentValue()} is fixed`"}}}},
        {"id": "Hotel", "type": "Compensable", "body": {"id": "Ask", "type": "RunTask", "taskName": "Ask the hotel"},
         "compensation": {"type": "WriteLine", "text": "hotel told"}, "cancellation": {"type": "WriteLine", "text": "asked no more"}},
        {"id": "Leave", "type": "Event", "eventName": "Leave"}]
}');

-- What has completed is a row, with the values that its handler reads.
SELECT wf_start('journey', correlation_id => 'a') AS instance \gset
SELECT activity_id, interrupted FROM workflow.open_compensations WHERE instance_id = :'instance' ORDER BY number;
SELECT * FROM seats ORDER BY trip;
-- The picture marks it.
SELECT t FROM unnest(xpath('//s:g/s:title/text()', xmlparse(DOCUMENT wf_svg(instance => :'instance')), '{{s,http://www.w3.org/2000/svg}}')) AS t
WHERE t::text ~ 'Book|Hotel|Ask';

-- At the end everything is confirmed, in the order of completion.
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r WHERE t.instance_id = :'instance';
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Leave', correlation_id => 'a');
SELECT event, activity, data FROM workflow.journal WHERE instance_id = :'instance' AND event IN ('Line', 'Confirmed', 'Workflow finished') ORDER BY seq, number;
SELECT count(*) FROM workflow.open_compensations;

-- A cancel ends what is open and marks the instance. Its handlers are due, as the owner, and nothing else resumes it.
SELECT wf_start('journey', correlation_id => 'b') AS instance \gset
SELECT task_id FROM workflow.open_tasks WHERE instance_id = :'instance' \gset
SELECT wf_cancel(:'instance', 'it rains');
SELECT status, sub_status, cancelling_at, finished_at FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT waits_for, due <= since AS is_due FROM workflow.waiting WHERE instance = :'instance';
SELECT status FROM workflow.tasks WHERE id = :'task_id';
SELECT wf_complete_task(:'task_id');
\echo :SQLSTATE
-- Once more changes nothing.
SELECT wf_cancel(:'instance');
SELECT activity_id, interrupted FROM workflow.open_compensations WHERE instance_id = :'instance' ORDER BY number;
-- Without force it cannot be deleted now.
SELECT wf_delete_instance(:'instance');
\echo :SQLSTATE
SELECT wf_run_due();
SELECT sub_status, finished_at IS NOT NULL AS has_ended FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT event, activity, data FROM workflow.journal
WHERE instance_id = :'instance' AND event IN ('Line', 'Compensated', 'Cancellation handled', 'Workflow cancelling', 'Workflow cancelled') ORDER BY seq, number;
SELECT * FROM seats ORDER BY trip;
SELECT line FROM workflow.instance_list AS i, wf_explain(i.instance_id) AS line WHERE instance_id = :'instance';

-- A rollback of the cancel takes the mark back as well.
SELECT wf_start('journey', correlation_id => 'c') AS instance \gset
BEGIN;
SELECT wf_cancel(:'instance');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
ROLLBACK;
SELECT sub_status, cancelling_at FROM workflow.instance_list WHERE instance_id = :'instance';

-- force ends it at once. An incident names what stays as it is.
SELECT wf_cancel(:'instance', force => true);
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT activity_id, sqlstate, code, message, detail FROM workflow.open_incidents WHERE instance_id = :'instance';
SELECT count(*) FROM workflow.open_compensations;
-- So does deleting by force, with a warning.
SELECT wf_start('journey', correlation_id => 'd') AS instance \gset
SELECT wf_delete_instance(:'instance');
\echo :SQLSTATE
SELECT wf_delete_instance(:'instance', force => true);
SELECT count(*) FROM workflow.instance_list WHERE instance_id = :'instance';

-- A compensation that fails for good is an incident that names what is left, and can be retried.
SELECT * FROM wf_define('{
    "definitionId": "saga",
    "root": [
        {"id": "A", "type": "Compensable", "compensation": {"type": "WriteLine", "text": "A is undone"}},
        {"id": "B", "type": "Compensable", "compensation": {"id": "UndoB", "type": "Sql", "statement": "DELETE FROM not_there", "retry": {"maxAttempts": 2, "delay": "0 s"}}},
        {"id": "C", "type": "Compensable", "compensation": {"type": "WriteLine", "text": "C is undone"}},
        {"type": "Event", "eventName": "Never"}]
}');
SELECT wf_start('saga') AS instance \gset
SELECT wf_cancel(:'instance');
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT activity_id, message, detail FROM workflow.open_incidents WHERE instance_id = :'instance';
SELECT event, activity FROM workflow.journal WHERE instance_id = :'instance' AND event IN ('Retrying', 'Compensated') ORDER BY seq, number;
CREATE TABLE not_there ();
SELECT sub_status FROM wf_retry(:'instance');
SELECT event, activity FROM workflow.journal WHERE instance_id = :'instance' AND event IN ('Compensated', 'Workflow cancelled') ORDER BY seq, number;
SELECT count(*) FROM workflow.open_incidents WHERE instance_id = :'instance';

-- With compensateOn "fault" a fault that nothing takes ends the run. Only a failed compensation can be retried then.
SELECT * FROM wf_define('{
    "definitionId": "strict", "options": {"compensateOn": ["cancel", "fault"]},
    "root": [
        {"id": "A", "type": "Compensable", "compensation": {"type": "WriteLine", "text": "A is undone"}},
        {"id": "Divide", "type": "SetOutput", "outputName": "o", "outputValue": {"sql": "SELECT 1 / 0"}}]
}');
SET client_min_messages = error;
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('strict');
RESET client_min_messages;
SELECT instance_id AS instance FROM workflow.instance_list WHERE definition_id = 'strict' \gset
SELECT event, activity FROM workflow.journal WHERE instance_id = :'instance' AND event IN ('Faulted', 'Canceled', 'Compensated', 'Workflow faulted') ORDER BY seq, number;
SELECT wf_retry(:'instance');
\echo :SQLSTATE
SELECT count(*) AS open FROM workflow.open_incidents WHERE instance_id = :'instance';
SELECT wf_cancel(:'instance');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
