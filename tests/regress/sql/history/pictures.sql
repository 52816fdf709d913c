-- Definitions and instances for the eye: Mermaid text, SVG, and the story in plain lines.
SET workflow.now = '2026-11-21 10:00:00+00';
SET TIME ZONE 'Europe/Berlin';

SELECT * FROM wf_define('{
    "definitionId": "leave", "name": "Leave request",
    "variables": {"Decision": null},
    "root": {"type": "Flowchart",
        "activities": [
            {"id": "Asked", "type": "Event", "eventName": "LeaveAsked", "canStartWorkflow": true},
            {"id": "Approve", "type": "RunTask", "taskName": "Approve", "result": {"var": "Decision"}},
            {"id": "Decided", "type": "FlowDecision", "condition": {"js": "getDecision().approved"}},
            {"id": "Book", "type": "Sql", "statement": "SELECT 1 / ($1)::integer", "parameters": [{"js": "getDecision().days"}]},
            {"id": "Tell", "type": "Sequence", "activities": [
                {"id": "Write", "type": "WriteLine", "text": "no leave"},
                {"id": "Sleep", "type": "Delay", "timeSpan": "1 day"}]}],
        "connections": [["Asked", "Approve"], ["Approve", "Decided"], ["Decided", "True", "Book"], ["Decided", "False", "Tell"], ["Tell", "Approve"]]}
}');

\pset tuples_only on
\pset format unaligned

-- A definition as Mermaid text, which GitHub and many others draw.
SELECT wf_diagram('leave');
-- Blocks: a sequence is a chain, a loop goes back to its head, branches meet.
SELECT * FROM wf_define('{"definitionId": "blocks", "root": [
    {"type": "ForEach", "items": [1, 2], "body": [
        {"type": "If", "condition": {"js": "getCurrentValue() === 2"}, "then": {"type": "Break"}},
        {"type": "WriteLine", "text": {"var": "CurrentValue"}}]},
    {"id": "Both", "type": "Parallel", "activities": [{"id": "A", "type": "Event", "eventName": "A"}, {"id": "B", "type": "Event", "eventName": "B"}]},
    {"id": "Kind", "type": "Switch", "cases": [{"label": "small", "condition": {"js": "true"}, "activity": {"type": "End"}}]},
    {"id": "Last", "type": "WriteLine", "text": "done"}]}');
SELECT wf_diagram('blocks', 1);

-- As SVG: well-formed, with every activity and every outcome in it.
CREATE FUNCTION pg_temp.texts(svg text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT t::text FROM unnest(xpath('//s:text/text()', xmlparse(DOCUMENT svg), '{{s,http://www.w3.org/2000/svg}}')) AS t
$$;
SELECT string_agg(t, ' | ') FROM pg_temp.texts(wf_svg('leave')) AS t;
SELECT string_agg(t, ' | ') FROM pg_temp.texts(wf_svg('blocks', version => 1)) AS t;
-- It stands alone: nothing is loaded, nothing runs.
SELECT wf_svg('leave') ~* 'href|url\(|script|@import' AS loads_something;
SELECT wf_svg('leave') = wf_svg('leave') AS same_every_time;

-- An instance: started by its trigger, waits for a task.
SELECT (wf_publish_event('LeaveAsked', '{"days": 3}')).started[1] AS instance \gset
SELECT wf_explain(:'instance');
SELECT string_agg(t, ' | ') FROM pg_temp.texts(wf_svg(instance => :'instance')) AS t;

-- Refused: it waits until tomorrow, then asks again.
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '{"approved": false}') WHERE t.instance_id = :'instance';
SELECT wf_explain(:'instance');
SET workflow.now = '2026-11-22 10:00:01+00';
SELECT wf_run_due();

-- Approved, and something fails.
SET client_min_messages = error;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '{"approved": true, "days": 0}') WHERE t.instance_id = :'instance';
RESET client_min_messages;
SELECT wf_explain(:'instance');
-- What each activity's tooltip says of it.
SELECT t FROM unnest(xpath('//s:g/s:title/text()', xmlparse(DOCUMENT wf_svg(instance => :'instance')), '{{s,http://www.w3.org/2000/svg}}')) AS t;

-- Cancelled: what was open is told.
SELECT wf_cancel(:'instance', 'on holiday already');
SELECT line FROM wf_explain(:'instance') WITH ORDINALITY AS e (line, n) ORDER BY n DESC LIMIT 2;

-- What ran twice says so; what waits for an event says how to send it.
SELECT wf_start('blocks', correlation_id => 'it''s') AS instance \gset
SELECT wf_explain(:'instance');
SELECT t FROM unnest(xpath('//s:g/s:title/text()', xmlparse(DOCUMENT wf_svg(instance => :'instance')), '{{s,http://www.w3.org/2000/svg}}')) AS t;
SELECT sub_status FROM workflow.open_bookmarks AS b, wf_resume(b.bookmark_id) WHERE b.instance_id = :'instance' AND activity_id = 'A';
SELECT sub_status FROM workflow.open_bookmarks AS b, wf_resume(b.bookmark_id) WHERE b.instance_id = :'instance' AND activity_id = 'B';
SELECT line FROM wf_explain(:'instance') WITH ORDINALITY AS e (line, n) ORDER BY n DESC LIMIT 3;

-- A parent that waits for its child.
SELECT definition_id FROM wf_define('{"definitionId": "parent", "root": {"id": "Call", "type": "ExecuteWorkflow", "workflowDefinitionId": "blocks", "waitForCompletion": true}}');
SELECT wf_start('parent') AS instance \gset
SELECT wf_explain(:'instance');

-- A state machine is its states, and arrows with what triggers them.
SELECT * FROM wf_define('{"definitionId": "order", "root": {"type": "StateMachine", "initialState": "Open",
    "states": ["Open", {"name": "Paid", "entry": {"type": "RunTask", "taskName": "pack"}}, "Shipped", "Withdrawn"],
    "transitions": [
        {"from": "Open", "to": "Paid", "trigger": {"type": "Event", "eventName": "Paid"}, "condition": {"js": "getLastResult() >= 100"}},
        {"from": "Open", "to": "Withdrawn", "trigger": {"type": "Event", "eventName": "Withdrawn"}, "action": {"id": "refund", "type": "WriteLine", "text": "nothing to refund"}},
        {"from": "Paid", "to": "Shipped", "trigger": {"type": "Event", "eventName": "Sent"}}]}}');
SELECT wf_diagram('order');
SELECT wf_start('order') AS instance \gset
SELECT cardinality(resumed) FROM wf_publish_event('Paid', '100', instance_id => :'instance');
SELECT t FROM unnest(xpath('//s:g/s:title/text()', xmlparse(DOCUMENT wf_svg(instance => :'instance')), '{{s,http://www.w3.org/2000/svg}}')) AS t;

-- Texts are texts, whatever is in them.
SELECT definition_id FROM wf_define(jsonb_build_object('definitionId', '</title><script>"]', 'root', jsonb_build_object(
    'id', E'a"]\n click n0 <b>&amp;', 'type', 'WriteLine', 'text', ']]> <!-- %%{init}')));
SELECT wf_diagram('</title><script>"]');
SELECT t FROM pg_temp.texts(wf_svg('</title><script>"]')) AS t;

-- A story that is long is told in part.
SELECT definition_id FROM wf_define('{"definitionId": "long", "root": {"type": "For", "start": 1, "end": 1000, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}}');
SELECT wf_start('long') AS instance \gset
SELECT count(*), max(line) FILTER (WHERE line LIKE '…%') FROM wf_explain(:'instance') AS line;
SELECT t FROM pg_temp.texts(wf_svg(instance => :'instance')) AS t;

-- What a fault has ended for good: the activity that had it is faulted, although it was cancelled with all others, and what had been done is compensated.
SELECT count(*) FROM wf_define('{"definitionId": "saga", "options": {"compensateOn": ["fault"]}, "root": [
    {"id": "book", "type": "Compensable", "body": {"id": "booking", "type": "WriteLine", "text": "booked"}, "compensation": {"id": "unbook", "type": "WriteLine", "text": "unbooked"}},
    {"id": "pay", "type": "Fault", "message": "no money"}, {"id": "ship", "type": "WriteLine", "text": "shipped"}]}');
SET client_min_messages = error;
SELECT wf_start('saga') AS saga \gset
RESET client_min_messages;
SELECT t FROM unnest(xpath('//s:g/s:title/text()', xmlparse(DOCUMENT wf_svg(instance => :'saga')), '{{s,http://www.w3.org/2000/svg}}')) AS t;

-- Errors.
\pset tuples_only off
\pset format aligned
\set VERBOSITY default
SELECT wf_diagram('nobody');
SELECT wf_svg('leave', 9);
SELECT wf_svg('11111111-1111-4111-8111-111111111111');
SELECT wf_svg(instance => '11111111-1111-4111-8111-111111111111');
SELECT wf_explain('11111111-1111-4111-8111-111111111111');
SELECT wf_diagram(NULL);
SELECT wf_svg(instance => NULL);
SELECT wf_explain(NULL);

-- A role that may read the definition may see it and its instances.
CREATE ROLE pictures_reader;
SELECT wf_grant_usage('pictures_reader');
SET ROLE pictures_reader;
SELECT wf_diagram('leave');
SELECT length(wf_svg('leave'));
SELECT length(wf_svg(instance => :'instance'));
SELECT count(*) FROM wf_explain(:'instance');
RESET ROLE;
SELECT wf_grant('long', 'pictures_reader', '{read}');
SET ROLE pictures_reader;
SELECT length(wf_diagram('long')) > 0 AS diagram, length(wf_svg(instance => :'instance')) > 0 AS svg, count(*) > 0 AS story FROM wf_explain(:'instance');
RESET ROLE;
SELECT wf_revoke_usage('pictures_reader');
