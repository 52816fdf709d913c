-- null in the mapping of a migration cancels what is open: what it was in counts that, and handlers are not cancelled.
SET client_min_messages = error;
CREATE FUNCTION wait(id text) RETURNS jsonb LANGUAGE sql
    RETURN jsonb_build_object('id', id, 'type', 'Event', 'eventName', upper(id));
CREATE FUNCTION define(id text, root jsonb) RETURNS integer LANGUAGE sql
    RETURN (SELECT version FROM wf_define(jsonb_build_object('definitionId', id, 'root', root)));
CREATE FUNCTION branches(type text, VARIADIC ids text[]) RETURNS jsonb LANGUAGE sql
    RETURN jsonb_build_object('id', 'f', 'type', type, CASE type WHEN 'Fork' THEN 'branches' ELSE 'activities' END, (SELECT jsonb_agg(wait(id)) FROM unnest(ids) AS id));
CREATE FUNCTION checked(id uuid) RETURNS TABLE (sub_status text, waits text[], problems bigint) LANGUAGE sql BEGIN ATOMIC
    SELECT i.sub_status, (SELECT array_agg(activity_id ORDER BY 1) FROM workflow.open_bookmarks WHERE instance_id = id), (SELECT count(*) FROM wf_check())
    FROM workflow.instance_list AS i WHERE i.instance_id = id;
END;
-- Several branches of one activity: each of them counts.
SELECT define('fork', branches('Fork', 'a', 'b', 'c') || '{"joinMode": "WaitAll"}'), define('parallel', branches('Parallel', 'a', 'b', 'c'));
SELECT wf_start('fork') AS fork, wf_start('parallel') AS parallel, wf_start('fork') AS none \gset
SELECT define('fork', branches('Fork', 'c') || '{"joinMode": "WaitAll"}'), define('parallel', branches('Parallel', 'c'));
SELECT * FROM wf_migrate(:'fork', mapping => '{"a": null, "b": null}');
SELECT * FROM wf_migrate(:'parallel', mapping => '{"a": null, "b": null}');
SELECT * FROM checked(:'fork');
SELECT cardinality(resumed) FROM wf_publish_event('C', instance_id => :'fork');
SELECT cardinality(resumed) FROM wf_publish_event('C', instance_id => :'parallel');
SELECT * FROM checked(:'fork');
SELECT * FROM checked(:'parallel');
-- All of them.
SELECT * FROM wf_migrate(:'none', mapping => '{"a": null, "b": null, "c": null}');
SELECT * FROM checked(:'none');
-- A handler that waits, here the confirmation of what holds another confirmation.
CREATE FUNCTION nested(VARIADIC steps jsonb[] DEFAULT '{}') RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object('id', 'main', 'type', 'Sequence', 'activities', jsonb_build_array(
    '{"id": "a", "type": "Compensable", "body": {"id": "b", "type": "Compensable", "body": {"id": "work", "type": "WriteLine", "text": "work"}, "confirmation": {"id": "kb", "type": "WriteLine", "text": "confirm B"}},
      "confirmation": {"id": "cb", "type": "RunTask", "taskName": "confirm"}}'::jsonb) || to_jsonb(steps));
SELECT define('nested', nested());
SELECT wf_start('nested') AS nested \gset
SELECT define('nested', nested('{"id": "more", "type": "WriteLine", "text": "more"}'));
SELECT * FROM wf_migrate(:'nested', mapping => '{"cb": null}', dry_run => true);
\set VERBOSITY default
SELECT * FROM wf_migrate(:'nested', mapping => '{"cb": null}');
\set VERBOSITY terse
SELECT * FROM wf_migrate(:'nested');
SELECT version FROM workflow.instance_list WHERE instance_id = :'nested';
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'nested';
SELECT event, activity, data FROM workflow.journal WHERE instance_id = :'nested' AND event IN ('Line', 'Confirmed') ORDER BY seq, number;
SELECT * FROM checked(:'nested');
-- What has a handler for its cancellation. The dry run says what the migration says.
SELECT define('scope', '{"id": "main", "type": "Sequence", "activities": [
    {"id": "a1", "type": "CancellationScope", "body": {"id": "a2", "type": "Event", "eventName": "A2"}, "cancellation": {"id": "a3", "type": "Event", "eventName": "A3"}},
    {"id": "a5", "type": "Event", "eventName": "A5"}]}');
SELECT wf_start('scope') AS scope, wf_start('scope') AS before \gset
SELECT define('scope', '{"id": "main", "type": "Sequence", "activities": [{"id": "a5", "type": "Event", "eventName": "A5"}]}');
SELECT * FROM wf_migrate(:'scope', mapping => '{"a1": null}', dry_run => true);
\set VERBOSITY default
SELECT * FROM wf_migrate(:'scope', mapping => '{"a1": null}');
\set VERBOSITY terse
SELECT instance_id = :'scope' AS it, outcome, problems FROM wf_migrate_all('scope', mapping => '{"a1": null}') ORDER BY 1;
SELECT * FROM checked(:'scope');
-- Cancelled before, it runs its handler, and then there is nothing against it.
SELECT wf_cancel_activity(:'before', 'a1') \g /dev/null
SELECT * FROM wf_migrate(:'before', mapping => '{"a1": null}', dry_run => true);
SELECT cardinality(resumed) FROM wf_publish_event('A3', instance_id => :'before');
SELECT * FROM wf_migrate(:'before');
SELECT version FROM workflow.instance_list WHERE instance_id = :'before';
SELECT * FROM checked(:'before');
