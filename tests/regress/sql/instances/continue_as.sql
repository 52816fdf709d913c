-- ContinueAs: an instance ends and a new one begins in its place, in one transaction.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = error;
-- Each run counts three events. Then the next one begins with the total.
SELECT wf_define('{"definitionId": "meter", "inputs": [{"name": "total", "type": "Int32", "default": 0}],
    "variables": [{"name": "Total", "type": "Int32"}], "root": [
    {"type": "SetVariable", "variable": "Total", "value": {"input": "total"}},
    {"type": "For", "start": 1, "end": 3, "body": [
        {"id": "tick", "type": "Event", "eventName": "Tick"},
        {"type": "SetVariable", "variable": "Total", "value": {"js": "getTotal() + 1"}}]},
    {"id": "on", "type": "ContinueAs", "input": {"js": "({total: getTotal()})"}}]}') \g /dev/null
CREATE VIEW runs AS
SELECT i.definition_id, i.version, i.sub_status, i.input, i.correlation_id, i.name, i.continued_from
FROM workflow.instance_list i ORDER BY i.instance_id;
SELECT wf_start('meter', correlation_id => 'm1', name => 'Meter 1') AS first \gset

SELECT cardinality((wf_publish_event('Tick', correlation_id => 'm1')).resumed) AS resumed FROM generate_series(1, 2);
-- The third event ends the first run and begins the second, which waits. The correlation id and the name go on.
SELECT (wf_publish_event('Tick', correlation_id => 'm1')).resumed;
SELECT * FROM runs;
SELECT e.* FROM wf_explain(:'first') AS e;
SELECT i.instance_id AS second FROM workflow.instance_list i WHERE continued_from = :'first' \gset
SELECT e.* FROM wf_explain(:'second') AS e;
SELECT event, activity, data FROM workflow.journal WHERE instance_id = :'first' ORDER BY seq DESC, number DESC LIMIT 3;

-- What names the first instance reaches the one that goes on now, over as many as there are between them.
SELECT (wf_publish_event('Tick', instance_id => :'first')).resumed FROM generate_series(1, 3);
SELECT i.instance_id AS third FROM workflow.instance_list i WHERE continued_from = :'second' \gset
SELECT resumed = ARRAY[:'third'::uuid] AS is_third FROM wf_publish_event('Tick', instance_id => :'first');
SELECT definition_id, sub_status, input FROM runs;
-- wf_cancel cancels the instance that it names. It has ended, and the caller is told which one goes on.
SET client_min_messages = notice;
SELECT wf_cancel(:'first');
SET client_min_messages = error;

-- What was kept for the instance goes on to the new one, in the order in which it came.
SELECT wf_define('{"definitionId": "inbox", "root": [{"type": "Event", "eventName": "Begin"}, {"type": "ContinueAs", "definitionId": "outbox"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "outbox", "variables": [{"name": "A"}, {"name": "B"}], "root": [
    {"type": "Event", "eventName": "Letter", "result": {"var": "A"}}, {"type": "Event", "eventName": "Letter", "result": {"var": "B"}}]}') \g /dev/null
SELECT wf_start('inbox') AS inbox \gset
SELECT (wf_publish_event('Letter', to_jsonb(n), instance_id => :'inbox', keep_for => '1 day')).queued_id IS NOT NULL AS is_kept FROM generate_series(1, 2) AS n;
SELECT count(*) AS kept FROM workflow.bookmark_queue WHERE instance_id = :'inbox';
SELECT wf_publish_event('Begin', instance_id => :'inbox') \g /dev/null
SELECT i.definition_id, i.sub_status, i.variables FROM workflow.instance_list i WHERE definition_id IN ('inbox', 'outbox') ORDER BY instance_id;
SELECT count(*) AS kept FROM workflow.bookmark_queue;

-- So does what is kept later under the first id.
SELECT wf_start('inbox') AS inbox \gset
SELECT wf_publish_event('Begin', instance_id => :'inbox') \g /dev/null
SELECT cardinality((wf_publish_event('Letter', to_jsonb(n), instance_id => :'inbox', keep_for => '1 day')).resumed) AS resumed FROM generate_series(1, 2) AS n;
SELECT cardinality((wf_send_stimulus('Elsa.Event', '{"EventName": "Letter"}', instance_id => :'inbox')).resumed) AS resumed;

-- A parent waits for the run that ends without going on.
SELECT wf_define('{"definitionId": "down", "inputs": [{"name": "n", "type": "Int32"}], "outputs": [{"name": "left", "type": "Int32"}], "root": [
    {"type": "SetOutput", "outputName": "left", "outputValue": {"input": "n"}},
    {"type": "If", "condition": {"js": "getInput(\"n\") > 0"}, "then": [{"type": "Event", "eventName": "Down"}, {"type": "ContinueAs", "input": {"js": "({n: getInput(\"n\") - 1})"}}]}]}') \g /dev/null
SELECT wf_define('{"definitionId": "asks", "variables": [{"name": "Answer"}], "root": [{"id": "ask", "type": "ExecuteWorkflow", "workflowDefinitionId": "down", "input": {"n": 2}, "waitForCompletion": true, "result": {"var": "Answer"}}]}') \g /dev/null
SELECT wf_start('asks') AS asks \gset
SELECT sub_status, input FROM runs WHERE definition_id IN ('asks', 'down');
SELECT wf_publish_event('Down') \g /dev/null
SELECT sub_status, input FROM runs WHERE definition_id IN ('asks', 'down');
SELECT wf_publish_event('Down') \g /dev/null
SELECT sub_status, input FROM runs WHERE definition_id IN ('asks', 'down');
SELECT variables FROM workflow.instance_list WHERE instance_id = :'asks';
-- A cancel of the parent reaches the one that goes on.
SELECT wf_start('asks') AS again \gset
SELECT wf_publish_event('Down') \g /dev/null
SELECT wf_cancel(:'again');
SELECT definition_id, sub_status FROM workflow.instance_list WHERE instance_id = :'again' OR parent_instance_id = :'again' ORDER BY instance_id;

-- It runs the version that is published now.
SELECT wf_define('{"definitionId": "news", "root": [{"type": "Event", "eventName": "News"}, {"type": "ContinueAs"}]}') \g /dev/null
SELECT wf_start('news') AS news \gset
SELECT wf_define('{"definitionId": "news", "root": [{"type": "Event", "eventName": "More"}]}') \g /dev/null
SELECT wf_publish_event('News') \g /dev/null
SELECT version, sub_status FROM runs WHERE definition_id = 'news';

-- The activation key has one holder at any time, and the new run has it.
SELECT wf_define('{"definitionId": "only", "options": {"activationStrategy": "Singleton"}, "root": [{"type": "Event", "eventName": "Only"}, {"type": "ContinueAs"}]}') \g /dev/null
SELECT wf_start('only') \g /dev/null
SELECT wf_publish_event('Only') \g /dev/null
SELECT sub_status FROM runs WHERE definition_id = 'only';
SELECT wf_start('only');
-- A definition that another instance excludes: the call fails, and the first run stays as it was.
SELECT wf_define('{"definitionId": "to-only", "root": [{"type": "Event", "eventName": "ToOnly"}, {"type": "ContinueAs", "definitionId": "only"}]}') \g /dev/null
SELECT wf_start('to-only') AS to_only \gset
\set VERBOSITY verbose
SELECT wf_publish_event('ToOnly');
\set VERBOSITY default
SELECT sub_status FROM runs WHERE definition_id = 'to-only';

-- The place of maxConcurrency goes on: no instance that waits for one comes between.
SELECT wf_define('{"definitionId": "one", "options": {"maxConcurrency": {"max": 1, "key": "lane"}}, "root": [{"type": "Event", "eventName": "One"},
    {"type": "ContinueAs", "input": {"js": "({lane: getInput(\"next\") || getInput(\"lane\")})"}}]}') \g /dev/null
SELECT wf_start('one', '{"lane": "a"}', correlation_id => 'x'), wf_start('one', '{"lane": "a"}', correlation_id => 'y') \g /dev/null
SELECT wf_publish_event('One', correlation_id => 'x') \g /dev/null
SELECT wf_run_due();
SELECT correlation_id, sub_status FROM runs WHERE definition_id = 'one';
-- A run with another value of the key waits for its own turn, and gives its place back.
SELECT wf_start('one', '{"lane": "b", "next": "a"}', correlation_id => 'z') \g /dev/null
SELECT wf_publish_event('One', correlation_id => 'z') \g /dev/null
SELECT correlation_id, sub_status, input FROM runs WHERE definition_id = 'one' AND correlation_id = 'z';

-- A loop without a wait ends at workflow.max_bursts bursts, and nothing of it is left.
SELECT wf_define('{"definitionId": "endless", "root": [{"type": "ContinueAs"}]}') \g /dev/null
SET workflow.max_bursts = 100;
\set VERBOSITY verbose
SELECT wf_start('endless');
\set VERBOSITY default
RESET workflow.max_bursts;
SELECT count(*) FROM runs WHERE definition_id = 'endless';

-- A schedule takes what goes on for the run that it started: the next one would overlap.
SELECT wf_define('{"definitionId": "job", "root": [{"type": "Event", "eventName": "Job"},
    {"type": "If", "condition": {"js": "!getInput(\"last\")"}, "then": {"type": "ContinueAs", "input": {"object": {"last": true}}}}]}') \g /dev/null
SELECT wf_schedule_workflow('job', '@hourly', 'job', overlap => 'skip') IS NOT NULL AS scheduled;
SET workflow.now = '2026-03-01 10:00:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT wf_publish_event('Job') \g /dev/null
SET workflow.now = '2026-03-01 11:00:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT sub_status, input -> 'last' AS is_last FROM runs WHERE definition_id = 'job';
SELECT skipped FROM workflow.schedules WHERE name = 'job';
SELECT wf_publish_event('Job') \g /dev/null
SET workflow.now = '2026-03-01 12:00:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT sub_status, input -> 'last' AS is_last FROM runs WHERE definition_id = 'job';

-- A local event is for the run that publishes it, and not for the one that begins in its place.
SELECT wf_define('{"definitionId": "herald", "root": [{"type": "PublishEvent", "eventName": "News", "isLocalEvent": true}, {"type": "ContinueAs", "definitionId": "reader"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "reader", "root": {"type": "Event", "eventName": "News"}}') \g /dev/null
SELECT wf_start('herald') \g /dev/null
SELECT definition_id, sub_status FROM runs WHERE definition_id IN ('herald', 'reader');

SELECT * FROM wf_check();
