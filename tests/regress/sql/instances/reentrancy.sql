-- SQL inside a burst may call the engine again. Never do two bursts of one instance run in one stack.

-- Another instance: as from anywhere.
SELECT * FROM wf_define('{"definitionId": "inner", "root": [{"type": "WriteLine", "text": "inner"}, {"id": "wait", "type": "Event", "eventName": "Go"}, {"type": "WriteLine", "text": "inner again"}]}');
SELECT * FROM wf_define('{"definitionId": "outer", "variables": {"Inner": null}, "root": [
    {"type": "SetVariable", "variable": "Inner", "value": {"sql": "wf_start(''inner'', correlation_id => correlation_id)"}},
    {"type": "Sql", "statement": "SELECT cardinality(resumed) FROM wf_publish_event(''Go'')"},
    {"type": "WriteLine", "text": "outer"}]}');
SELECT sub_status FROM wf_run('outer', correlation_id => 'c');
SELECT definition_id, correlation_id, sub_status FROM workflow.instance_list ORDER BY definition_id;

-- A stimulus that reaches the instance whose burst runs waits until that burst has ended, and is delivered in the same transaction.
SELECT * FROM wf_define('{"definitionId": "self", "variables": {"Heard": null}, "root": {"type": "Fork", "joinMode": "WaitAll", "branches": [
    [{"id": "ear", "type": "Event", "eventName": "Talk", "result": {"var": "Heard"}}, {"type": "WriteLine", "text": {"js": "`heard ${getHeard()}`"}}],
    [{"id": "mouth", "type": "Sql", "statement": "SELECT cardinality(resumed) AS resumed FROM wf_publish_event(''Talk'', ''\"myself\"'')"}, {"type": "WriteLine", "text": "talked"}]]}}');
SELECT wf_start('self') AS instance \gset
SELECT sub_status, variables FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT data #>> '{}' AS line FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Line' ORDER BY seq, number;

-- PublishEvent is delivered that way, too.
SELECT * FROM wf_define('{"definitionId": "self2", "root": {"type": "Fork", "joinMode": "WaitAll", "branches": [
    [{"id": "ear", "type": "Event", "eventName": "Talk"}, {"type": "WriteLine", "text": "heard"}],
    [{"id": "mouth", "type": "PublishEvent", "eventName": "Talk"}, {"type": "WriteLine", "text": "talked"}]]}}');
SELECT wf_start('self2') AS instance \gset
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT data #>> '{}' AS line FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Line' ORDER BY seq, number;

-- What has waited for the end of the burst is for that instance only: another one has heard the event at once, and does not hear it again.
SELECT * FROM wf_define('{"definitionId": "listener", "root": [{"id": "first", "type": "Event", "eventName": "Call"}, {"id": "second", "type": "Event", "eventName": "Call"}]}');
SELECT * FROM wf_define('{"definitionId": "caller", "root": {"type": "Fork", "joinMode": "WaitAll", "branches": [
    {"id": "ear", "type": "Event", "eventName": "Call"},
    {"id": "mouth", "type": "Sql", "statement": "SELECT cardinality(resumed) AS resumed FROM wf_publish_event(''Call'')"}]}}');
SELECT wf_start('listener') AS instance \gset
SELECT sub_status FROM wf_run('caller');
SELECT activity FROM workflow.waiting WHERE instance = :'instance';

-- Calls that name the running instance are refused: 55006, an incident of the activity that made them.
SET client_min_messages = error;
SELECT * FROM wf_define('{"definitionId": "naming", "root": {"type": "Parallel", "activities": [
    {"id": "wait", "type": "Event", "eventName": "Never"},
    [{"id": "go", "type": "Event", "eventName": "Now"}, {"id": "call", "type": "Sql", "statement": {"input": "statement"}}]]}}');
CREATE FUNCTION pg_temp.call(statement text) RETURNS TABLE (sub_status text, incident text) LANGUAGE plpgsql AS $$
DECLARE
    this uuid := wf_start('naming');
BEGIN
    PERFORM wf_publish_event('Now', jsonb_build_object('statement', format(statement, this, (SELECT bookmark_id FROM workflow.waiting WHERE instance = this AND activity = 'wait'))), instance_id => this);
    RETURN QUERY SELECT i.sub_status, (SELECT o.sqlstate || ' ' || o.message FROM workflow.open_incidents AS o WHERE o.instance_id = this) FROM workflow.instance_list AS i WHERE i.instance_id = this;
    PERFORM wf_delete_instance(this);
END $$;
SELECT * FROM pg_temp.call('SELECT wf_cancel(%1$L)');
SELECT * FROM pg_temp.call('SELECT wf_retry(%1$L)');
SELECT * FROM pg_temp.call('SELECT wf_delete_instance(%1$L)');
SELECT * FROM pg_temp.call('SELECT wf_resume(%2$L)');
SELECT * FROM pg_temp.call('SELECT wf_complete_task(%2$L)');

-- Reading is allowed.
SELECT * FROM pg_temp.call('SELECT count(*) FROM workflow.waiting WHERE instance = %1$L');
RESET client_min_messages;

-- Two instances that talk to each other, back and forth, in one transaction.
SELECT * FROM wf_define('{"definitionId": "ping", "variables": {"N": 0}, "root": {"type": "While", "condition": {"js": "getN() < 3"}, "body": [
    {"type": "Event", "eventName": "Ping"}, {"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}, {"type": "PublishEvent", "eventName": "Pong"}]}}');
SELECT * FROM wf_define('{"definitionId": "pong", "variables": {"N": 0}, "root": {"type": "While", "condition": {"js": "getN() < 3"}, "body": [
    {"type": "PublishEvent", "eventName": "Ping"}, {"type": "Event", "eventName": "Pong"}, {"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}]}}');
SELECT wf_start('ping') AS ping \gset
SELECT wf_start('pong') AS pong \gset
SELECT definition_id, sub_status, variables FROM workflow.instance_list WHERE instance_id IN (:'ping', :'pong') ORDER BY definition_id;

-- A definition that starts itself without end is stopped.
SET client_min_messages = error;
SELECT * FROM wf_define('{"definitionId": "russian-doll", "root": {"id": "s", "type": "Sql", "statement": "SELECT wf_start(''russian-doll'', on_fault => ''raise'')"}}');
\set VERBOSITY sqlstate
SELECT wf_start('russian-doll', on_fault => 'raise');
\set VERBOSITY default
RESET client_min_messages;
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'russian-doll';

-- A row trigger on a business table resumes the workflow that writes into it: the stimulus comes after the burst.
CREATE TABLE parcels (id int, status text);
CREATE FUNCTION parcel_sent() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM wf_publish_event('Sent', to_jsonb(NEW)); RETURN NULL; END $$;
CREATE TRIGGER sent AFTER INSERT ON parcels FOR EACH ROW EXECUTE FUNCTION parcel_sent();
SELECT * FROM wf_define('{"definitionId": "parcel", "root": {"type": "Parallel", "activities": [
    [{"id": "sent", "type": "Event", "eventName": "Sent"}, {"type": "WriteLine", "text": "it is on its way"}],
    [{"type": "Sql", "statement": "INSERT INTO parcels VALUES (1, ''sent'')"}, {"type": "WriteLine", "text": "written"}]]}}');
SELECT wf_start('parcel') AS instance \gset
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT data #>> '{}' AS line FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Line' ORDER BY seq, number;
SELECT * FROM wf_check();
