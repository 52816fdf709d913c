-- wf_erase(actor => …) takes neither roles among the candidates of a task nor names of members in JSON for actors.
SET client_min_messages = warning;
CREATE ROLE regress_erase_staff;
SELECT wf_define('{"definitionId": "ask", "root": {"type": "RunTask", "taskName": "Ask", "candidates": ["role:regress_erase_staff"]}}') \g /dev/null
SELECT wf_start('ask') \g /dev/null
SELECT 'role:' || id AS staff FROM workflow.owners WHERE name = 'regress_erase_staff' \gset
SELECT candidates ->> 0 = :'staff' AS stored FROM workflow.bookmarks;
\set VERBOSITY sqlstate
SELECT * FROM wf_erase(actor => :'staff');
\set VERBOSITY default
SELECT * FROM wf_erase(actor => 'role:regress_erase_staff');
SELECT candidates FROM workflow.open_tasks;
-- An actor cannot have such a name.
BEGIN;
SET LOCAL workflow.actor = 'role:regress_erase_staff';
ROLLBACK;

-- A member may be called as an actor is; a longer text may begin or end with the name in quotes.
SELECT wf_define('{"definitionId": "done", "root": {"type": "WriteLine", "text": "x"}}') \g /dev/null
SELECT wf_start('done', '{"zed": 1, "by": "zed", "list": ["zed", {"zed": "zed"}], "text": "x\"zed", "other": "zed\"x", "both": "\"zed\""}') AS instance \gset
SELECT * FROM wf_erase(actor => 'zed', pseudonym => 'erased-1');
SELECT jsonb_pretty(input) FROM workflow.instances WHERE id = :'instance';
-- Names that regular expressions would read, and those that JSON escapes.
SELECT wf_start('done', jsonb_build_object('by', name, 'no', 'axb')) FROM unnest(ARRAY['a.b', 'a\b', 'a"b', '(a+b)*', 'Zoë & co']) AS name \g /dev/null
SELECT name, erased FROM unnest(ARRAY['a.b', 'a\b', 'a"b', '(a+b)*', 'Zoë & co']) AS name, wf_erase(actor => name, pseudonym => 'erased-\1&"' || length(name));
SELECT input FROM workflow.instances WHERE definition_id = 'done' AND input ? 'no' ORDER BY id;
-- Nothing is left, members do not count, and the engine's own members stay as they are.
SELECT * FROM wf_erase(actor => 'zed');
SELECT wf_define('{"definitionId": "one", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "Event", "eventName": "E"}}') \g /dev/null
SELECT count(wf_start('one')) FROM generate_series(1, 2);
SELECT DISTINCT table_name FROM unnest('{stimulus,trigger,input}'::text[]) AS name, wf_erase(actor => name);
-- Values by which instances are found change as the inputs do: when the instance has ended.
SELECT wf_define('{"definitionId": "found", "options": {"searchAttributes": {"by": {"input": "by"}}}, "root": {"type": "WriteLine", "text": "x"}}') \g /dev/null
SELECT wf_define('{"definitionId": "waits", "options": {"searchAttributes": {"by": {"input": "by"}}}, "root": {"type": "Event", "eventName": "Never"}}') \g /dev/null
SELECT wf_start('found', '{"by": "yan"}'), wf_start('waits', '{"by": "yan"}') \g /dev/null
SELECT * FROM wf_erase(actor => 'yan', pseudonym => 'erased-2');
SELECT definition_id, name, text FROM workflow.search_attribute_list ORDER BY 1;
SELECT problem FROM wf_check();
