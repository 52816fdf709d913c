-- options.journal: which events are written, and how many rows stay while an instance runs.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = error;
CREATE FUNCTION define(id text, journal text) RETURNS void LANGUAGE sql AS $$
    SELECT wf_define(jsonb_build_object('definitionId', id, 'options', jsonb_build_object('journal', journal::jsonb), 'root', '[
        {"id": "say", "type": "WriteLine", "text": "hello"},
        {"type": "While", "condition": true, "body": [
            {"id": "tick", "type": "Event", "eventName": "Tick", "result": {"var": "Last"}},
            {"type": "If", "condition": {"js": "getLast() === \"torn\""}, "then": {"id": "torn", "type": "Fault", "message": "torn"}}]}]'::jsonb,
        'variables', '[{"name": "Last"}]'::jsonb));
$$;
CREATE FUNCTION ticks(instance uuid, count integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR n IN 1..count LOOP
        PERFORM wf_publish_event('Tick', to_jsonb(n), instance_id => instance);
    END LOOP;
END $$;
CREATE VIEW rows AS
SELECT i.definition_id, min(l.seq) AS first, count(*) AS rows, min(l.seq) FILTER (WHERE l.seq > 0) AS second, max(l.seq) AS last
FROM workflow.execution_log l JOIN workflow.instances i ON i.id = l.instance_id GROUP BY 1;

-- Everything, as ever; the milestones; nothing.
SELECT define('full', '"full"'), define('milestones', '"milestones"'), define('none', '"none"');
SELECT wf_start('full') AS full, wf_start('milestones') AS milestones, wf_start('none') AS none \gset
SELECT ticks(i, 1) FROM unnest(ARRAY[:'full', :'milestones', :'none']::uuid[]) AS i;
SELECT seq, event, activity, data FROM workflow.journal WHERE instance_id = :'full' ORDER BY seq, number;
SELECT seq, event, activity, data FROM workflow.journal WHERE instance_id = :'milestones' ORDER BY seq, number;
SELECT count(*) FROM workflow.journal WHERE instance_id = :'none';
-- A fault is an incident, retried and explained, whatever the journal has.
SELECT wf_publish_event('Tick', '"torn"', instance_id => i) FROM unnest(ARRAY[:'milestones', :'none']::uuid[]) AS i \g /dev/null
SELECT activity_id, sqlstate, message, resolved_at IS NULL AS is_open FROM workflow.incidents ORDER BY id;
SELECT e.* FROM wf_explain(:'milestones') AS e;
SELECT e.* FROM wf_explain(:'none') AS e;
SELECT wf_svg(instance => :'none') LIKE '<svg%' AS is_drawn;
SELECT sub_status FROM wf_retry(:'none');
-- What others do to an instance is written in any case.
CREATE ROLE regress_journal;
SELECT wf_set_owner('instance', :'none', 'regress_journal') \g /dev/null
SELECT event, data ->> 'to' AS new_owner FROM workflow.journal WHERE instance_id = :'none';
-- A bookmark that was used up is known where the journal has it.
SELECT b.bookmark_id AS used FROM workflow.open_bookmarks b WHERE instance_id = :'full' \gset
SELECT ticks(:'full', 1);
SELECT wf_resume(:'used');
SELECT wf_define('{"definitionId": "silent", "options": {"journal": "none"}, "root": [{"type": "Event", "eventName": "A"}, {"type": "Event", "eventName": "B"}]}') \g /dev/null
SELECT wf_start('silent') AS silent \gset
SELECT b.bookmark_id AS used FROM workflow.open_bookmarks b WHERE instance_id = :'silent' \gset
SELECT wf_publish_event('A', instance_id => :'silent') \g /dev/null
SELECT wf_resume(:'used');

-- "keep", a number of rows: at least so many, at most twenty more, and the first one.
SELECT define('ten', '{"keep": 10}'), define('many', '{"level": "milestones", "keep": 1000}');
SELECT wf_start('ten') AS ten \gset
SELECT ticks(:'ten', 18);
SELECT * FROM rows WHERE definition_id = 'ten';
SELECT ticks(:'ten', 1);
SELECT * FROM rows WHERE definition_id = 'ten';
SELECT ticks(:'ten', 19);
SELECT * FROM rows WHERE definition_id = 'ten';
SELECT ticks(:'ten', 461);
SELECT * FROM rows WHERE definition_id = 'ten';
SELECT e.* FROM wf_explain(:'ten') AS e LIMIT 5;

-- The same for attempts that fail, while no burst of the instance runs.
SELECT wf_define('{"definitionId": "down", "options": {"journal": {"keep": 10}}, "root":
    {"id": "charge", "type": "RunTask", "taskName": "Charge", "retry": {"maxAttempts": 1000, "delay": "0 s"}}}') \g /dev/null
SELECT wf_start('down') AS down \gset
CREATE FUNCTION failures(count integer) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    FOR n IN 1..count LOOP
        PERFORM wf_fail_task(task_id, token, 'the bank is closed') FROM wf_claim_tasks('{Charge}');
    END LOOP;
    RETURN (SELECT max(attempt) FROM workflow.open_tasks WHERE name = 'Charge');
END $$;
SELECT failures(18);
SELECT * FROM rows WHERE definition_id = 'down';
SELECT failures(1);
SELECT * FROM rows WHERE definition_id = 'down';
SELECT failures(100);
SELECT * FROM rows WHERE definition_id = 'down';

-- "keep", an interval: rows that are not older stay, up to the next trim.
SELECT define('day', '{"keep": "1 day"}');
SELECT wf_start('day') AS day \gset
SELECT ticks(:'day', 30);
SET workflow.now = '2026-03-02 08:00:00+00';
SELECT ticks(:'day', 30);
SELECT * FROM rows WHERE definition_id = 'day';
SET workflow.now = '2026-03-02 10:00:00+00';
SELECT ticks(:'day', 20);
SELECT * FROM rows WHERE definition_id = 'day';
-- The clock was set back: nothing that is younger than a day goes.
SET workflow.now = '2026-03-01 12:00:00+00';
SELECT ticks(:'day', 20);
SELECT * FROM rows WHERE definition_id = 'day';

-- Elsa's logPersistenceMode: of the workflow, for activities that inherit, and of single activities.
SELECT wf_define('{"definitionId": "elsa", "options": {"journal": "milestones"}, "root": [
    {"id": "a", "type": "WriteLine", "text": "a", "customProperties": {"logPersistenceMode": "Include"}},
    {"id": "b", "type": "WriteLine", "text": "b", "customProperties": {"logPersistenceMode": {"default": "Inherit", "inputs": {"text": "Include"}}}},
    {"id": "c", "type": "Event", "eventName": "C", "customProperties": {"logPersistenceConfig": {"default": {"evaluationMode": "Strategy",
        "strategyType": "Elsa.Workflows.LogPersistence.Strategies.Exclude, Elsa.Workflows.Core", "expression": null}}}}]}') \g /dev/null
SELECT wf_start('elsa') AS elsa \gset
SELECT seq, event, activity FROM workflow.journal WHERE instance_id = :'elsa' ORDER BY seq, number;
SELECT wf_define('{"definitionId": "elsa-all", "customProperties": {"logPersistenceMode": {"default": "Exclude"}}, "root": [
    {"id": "a", "type": "WriteLine", "text": "a", "customProperties": {"logPersistenceMode": "Include"}}, {"id": "b", "type": "WriteLine", "text": "b"}]}') \g /dev/null
SELECT wf_start('elsa-all') AS elsa_all \gset
SELECT seq, event, activity FROM workflow.journal WHERE instance_id = :'elsa_all' ORDER BY seq, number;
-- An export has it as it came.
SELECT a -> 'customProperties' AS properties FROM jsonb_path_query(wf_export('elsa'), '$.**.activities[*]') AS a WHERE a ->> 'id' IN ('a', 'b', 'c');

-- What is wrong with it.
SELECT path, message FROM wf_validate('{"definitionId": "x", "options": {"journal": "some"}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "x", "options": {"journal": 7}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "x", "options": {"journal": {"level": "all", "keep": 0, "kept": 1}}, "root": []}');
SELECT k, v.path, v.message FROM unnest(ARRAY['-1', '1.5', '10000000', 'true', '""', '"soon"', '"-1 day"', '"0 s"']) AS k,
    wf_validate(format('{"definitionId": "x", "options": {"journal": {"keep": %s}}, "root": []}', k)::jsonb) AS v;
SELECT path, message FROM wf_validate('{"definitionId": "x", "root": [
    {"type": "WriteLine", "text": "a", "customProperties": {"logPersistenceMode": "Sometimes"}},
    {"type": "WriteLine", "text": "b", "customProperties": {"logPersistenceMode": true}},
    {"type": "WriteLine", "text": "c", "customProperties": {"logPersistenceConfig": {"default": {"evaluationMode": "Expression", "expression": {"type": "JavaScript", "value": "1"}}}}}]}');

SELECT * FROM wf_check();
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE status = 'Running' \g /dev/null
SELECT wf_delete_instance(instance_id) FROM workflow.instance_list \g /dev/null
DROP OWNED BY regress_journal;
DROP ROLE regress_journal;
