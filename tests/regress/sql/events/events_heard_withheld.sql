-- A stimulus that names neither an instance nor a bookmark is withheld from owners that its sender's side has not admitted, whatever
-- the listener did, and whichever role sends.
\i tests/regress/include/events_heard.sql

SELECT * FROM wf_define('{"definitionId": "ear3", "root": {"id": "wait", "type": "Mallory.Ear", "canStartWorkflow": true}}');
SELECT count(wf_grant(definition, role, '{start,resume}'))
FROM unnest('{ear,ear2,ear3}'::text[]) AS definition, unnest('{regress_events_bob,postgres}'::name[]) AS role;
SELECT wf_start('ear2', correlation_id => 'c1') IS NOT NULL AS waits;
-- She also makes Bob a member of a role of hers, and herself the owner of what that role hears.
CREATE ROLE regress_events_trap ROLE regress_events_bob;
GRANT regress_events_trap TO regress_events_mallory;
SELECT * FROM wf_define('{"definitionId": "ear5", "root": {"id": "start", "type": "Event", "eventName": "Bonus", "canStartWorkflow": true}}');
SELECT wf_grant('ear5', 'regress_events_bob', '{start}'), wf_set_owner('definition', 'ear5', 'regress_events_trap');
CREATE VIEW heard AS
SELECT count(*) FILTER (WHERE i.variables ->> 'P' IS NOT NULL OR i.definition_id = 'ear3') AS payloads FROM workflow.instance_list i;
GRANT SELECT ON heard TO PUBLIC;

-- security.md#who-may-receive-a-stimulus: without the sender's consent a stimulus that names no instance is withheld, and counted
-- Bob publishes: by name, for a correlation id, without a payload, to a type, to an activity.
\connect - regress_events_bob
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, queued_id IS NOT NULL AS queued, withheld
FROM wf_publish_event('Salary', '{"who": "bob", "eur": 4711}');
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, withheld FROM wf_publish_event('Salary', '{"eur": 4711}', correlation_id => 'c1');
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, withheld FROM wf_send_stimulus('Event', input => '{"eur": 4711}');
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, withheld FROM wf_send_stimulus('Mallory.Ear', 'null', '{"eur": 4711}');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_enqueue_bookmark(name => 'Event', input => '{"eur": 4711}', keep_for => '0');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_enqueue_bookmark(activity_type => 'Event', activity_id => 'wait', input => '{"eur": 4711}', keep_for => '0');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_enqueue_bookmark(correlation_id => 'c1', input => '{"eur": 4711}', keep_for => '0');
BEGIN;
SELECT queued_id IS NOT NULL AS kept, withheld FROM wf_enqueue_bookmark(correlation_id => 'c1');
ROLLBACK;
-- security.md#who-may-receive-a-stimulus: that a role made the sender a member of itself is no consent
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('Bonus');
-- An instance of his that publishes; one that a child of his publishes; a function of his that Mallory calls.
SELECT * FROM wf_define('{"definitionId": "speaker", "root": {"type": "PublishEvent", "eventName": "Salary", "payload": {"literal": {"eur": 4711}}}}');
SELECT * FROM wf_define('{"definitionId": "parent", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "speaker", "waitForCompletion": true}}');
SELECT sub_status FROM wf_run('speaker');
SELECT sub_status FROM wf_run('parent');
CREATE FUNCTION bobs_publish() RETURNS wf_delivery LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT wf_publish_event('Salary', '{"eur": 4711}') $$;
\connect - regress_events_mallory
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, withheld FROM bobs_publish();
-- Also from inside a burst of hers that is running, and goes on to wait for it.
SELECT * FROM wf_define('{"definitionId": "ear4", "variables": {"P": null}, "root": [
    {"type": "Sql", "statement": "SELECT withheld FROM public.bobs_publish()"},
    {"id": "wait", "type": "Event", "eventName": "Salary", "result": {"var": "P"}}]}');
SELECT sub_status FROM wf_run('ear4');
SELECT * FROM heard;

-- security.md#who-may-receive-a-stimulus: that the sender is a superuser is no consent
-- A superuser may start and resume everything. That is no consent.
\connect - postgres
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, withheld FROM wf_publish_event('Salary', '{"ceo": 1}');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"EventName": "Salary"}', input => '{"ceo": 1}', keep_for => '0');
SELECT wf_run_due() >= 0 AS swept;
\connect - regress_events_mallory
SELECT * FROM heard;

-- security.md#who-may-receive-a-stimulus: what names an instance or a bookmark needs no consent
-- Named, it is theirs: an instance, a bookmark.
SELECT wf_delete_instance(instance_id) FROM workflow.instance_list WHERE definition_id = 'ear4';
SELECT wf_start('ear2') AS one, wf_start('ear2') AS two \gset
SELECT bookmark_id AS bookmark FROM workflow.waiting WHERE instance = :'two' \gset
\connect - regress_events_bob
SELECT cardinality(resumed) AS resumed, withheld FROM wf_publish_event('Salary', '{"gift": 1}', instance_id => :'one');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_enqueue_bookmark(bookmark_id => :'bookmark', input => '{"gift": 2}');
\connect - regress_events_mallory
SELECT variables FROM workflow.instance_list WHERE instance_id IN (:'one', :'two') ORDER BY variables::text;
SELECT count(wf_delete_instance(id)) FROM unnest(ARRAY[:'one', :'two']::uuid[]) AS id;
