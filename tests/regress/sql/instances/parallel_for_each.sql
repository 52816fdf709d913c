-- ParallelForEach: a body for each item, side by side.
\i tests/regress/include/run.sql

-- Each body has its item and its number; within a burst they take turns.
SELECT pg_temp.run('{"type": "ParallelForEach", "items": ["a", "b", "c"], "body": [
    {"type": "WriteLine", "text": {"js": "`${getCurrentIndex()} begins`"}}, {"type": "WriteLine", "text": {"js": "`${getCurrentValue()} ends`"}}]}');

-- No items, none at all, a single one, and what SQL finds.
SELECT pg_temp.run('{"type": "ParallelForEach", "items": [], "body": {"type": "WriteLine", "text": "never"}}');
SELECT pg_temp.run('{"type": "ParallelForEach", "items": null, "body": {"type": "WriteLine", "text": "never"}}');
SELECT pg_temp.run('{"type": "ParallelForEach", "items": {"object": {"name": "Ada"}}, "body": {"type": "WriteLine", "text": {"js": "getCurrentValue().name"}}}');
SELECT pg_temp.run('{"type": "ParallelForEach", "items": {"sql": "SELECT jsonb_agg(n * n) FROM generate_series(1, 3) AS n"}, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}');

-- Everybody is asked; the answers come in any order, each to the body that asked.
SELECT pg_temp.run('[{"type": "ParallelForEach", "items": ["Ada", "Grace", "Edsger"], "body": [
        {"id": "Ask", "type": "RunTask", "taskName": "Approve", "payload": {"object": {"by": {"var": "CurrentValue"}}}, "result": {"var": "Answer"}},
        {"type": "WriteLine", "text": {"js": "`${getCurrentValue()}: ${getAnswer()}`"}}]},
    {"type": "WriteLine", "text": "all have answered"}]', '{"Answer": null}');
CREATE FUNCTION pg_temp.answer(who text, what text) RETURNS TABLE (sub_status text, line text) LANGUAGE plpgsql AS $$
DECLARE
    task   workflow.open_tasks;
    result wf_result;
    burst  integer;
BEGIN
    SELECT * INTO STRICT task FROM workflow.open_tasks AS t WHERE t.payload ->> 'by' = who;
    SELECT max(seq) INTO burst FROM workflow.journal WHERE instance_id = task.instance_id;
    result := wf_complete_task(task.task_id, to_jsonb(what));
    RETURN QUERY SELECT result.sub_status, data #>> '{}' FROM workflow.journal AS j WHERE j.instance_id = result.instance_id AND seq > burst AND event = 'Line' ORDER BY seq, number;
END $$;
SELECT * FROM pg_temp.answer('Grace', 'yes');
SELECT * FROM pg_temp.answer('Edsger', 'no');
SELECT * FROM pg_temp.answer('Ada', 'perhaps');

-- At most two at a time: the third is asked when one of the first two has answered.
SELECT pg_temp.run('{"type": "ParallelForEach", "items": ["Ada", "Grace", "Edsger"], "degreeOfParallelism": 2, "body": [
        {"id": "Ask", "type": "RunTask", "taskName": "Approve", "payload": {"object": {"by": {"var": "CurrentValue"}}}},
        {"type": "WriteLine", "text": {"js": "`${getCurrentValue()} has approved`"}}]}');
SELECT payload ->> 'by' FROM workflow.open_tasks ORDER BY 1;
SELECT * FROM pg_temp.answer('Ada', 'yes');
SELECT payload ->> 'by' FROM workflow.open_tasks ORDER BY 1;
SELECT path, message FROM wf_validate('{"definitionId": "test", "root": {"type": "ParallelForEach", "items": [1], "degreeOfParallelism": 0}}');

-- A body that faults does not stop the others. What was wrong is put right, and a retry completes the loop.
CREATE TABLE stock (article text PRIMARY KEY, pieces integer NOT NULL CHECK (pieces > 0));
INSERT INTO stock VALUES ('tea', 3), ('milk', 1), ('sugar', 2);
SELECT pg_temp.run('[{"type": "ParallelForEach", "items": ["tea", "milk", "sugar"], "body": [
        {"id": "take", "type": "Sql", "statement": "UPDATE stock SET pieces = pieces - 1 WHERE article = $1 #>> ''{}''", "parameters": [{"var": "CurrentValue"}]},
        {"type": "WriteLine", "text": {"var": "CurrentValue"}}]},
    {"type": "WriteLine", "text": "packed"}]');
SELECT activity_id, message FROM workflow.open_incidents;
UPDATE stock SET pieces = 2 WHERE article = 'milk';
SELECT (wf_retry(instance_id)).sub_status FROM workflow.open_incidents;
SELECT * FROM stock ORDER BY article;

-- Break does not leave it: the body that breaks ends, the others go on, and then the loop around it ends.
SELECT pg_temp.run('[{"type": "For", "start": 1, "end": 3, "body": [
        {"type": "ParallelForEach", "items": ["a", "b", "c"], "body": [
            {"type": "If", "condition": {"js": "getCurrentValue() === ''b''"}, "then": {"type": "Break"}}, {"type": "WriteLine", "text": {"var": "CurrentValue"}}]},
        {"type": "WriteLine", "text": "never"}]},
    {"type": "WriteLine", "text": "end"}]');

-- Ten thousand items in one burst.
SELECT count(*), max(line) FROM pg_temp.run('{"type": "ParallelForEach", "items": {"sql": "SELECT jsonb_agg(n) FROM generate_series(1, 10000) AS n"}, "body": {"type": "WriteLine", "text": "."}}') AS line;
SELECT * FROM wf_check();
