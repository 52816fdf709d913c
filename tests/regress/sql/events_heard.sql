-- Who hears a stimulus that names neither an instance nor a bookmark: only roles that its sender's side has admitted.
-- (docs/security.md: "Who hears a stimulus")
-- How it was searched: each way to send (three calls, an instance, its child, a function with its owner's rights) against each
-- way to be matched (trigger, bookmark, kept item; by name, type, activity and correlation id). Closed is hearing without
-- consent of the sender's side; docs/security.md lists what is consent.
-- Bob and Alice are honest, Mallory is not: she grants whom she likes the right to start and resume what is hers.
CREATE ROLE regress_events_alice LOGIN;
CREATE ROLE regress_events_bob LOGIN;
CREATE ROLE regress_events_mallory LOGIN CREATEROLE;
SELECT wf_grant_usage(role) FROM unnest('{regress_events_alice, regress_events_bob, regress_events_mallory}'::name[]) AS role;
GRANT CREATE ON SCHEMA public TO regress_events_bob, regress_events_mallory;

-- security.md#who-hears-a-stimulus: without the sender's consent a stimulus that names no instance is withheld, and counted
-- 1. Mallory's listeners: a trigger, a waiting instance, a type of her own, a bookmark by correlation id and by activity.
\connect - regress_events_mallory
CREATE FUNCTION regress_events_handler(context jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT CASE WHEN context ? 'bookmark' THEN '{}'::jsonb ELSE '{"bookmarks": [{"name": "Mallory.Ear", "payload": 1}]}' END $$;
SELECT wf_register_activity('Mallory.Ear', 'regress_events_handler(jsonb)', kind => 'trigger');
SELECT * FROM wf_define('{"definitionId": "ear", "variables": {"P": null}, "root": [
    {"id": "start", "type": "Event", "eventName": "Salary", "canStartWorkflow": true, "result": {"var": "P"}}]}');
SELECT * FROM wf_define('{"definitionId": "ear2", "variables": {"P": null}, "root": [
    {"id": "wait", "type": "Event", "eventName": "Salary", "result": {"var": "P"}}]}');
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
-- security.md#who-hears-a-stimulus: that a role made the sender a member of itself is no consent
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

-- security.md#who-hears-a-stimulus: that the sender is a superuser is no consent
-- A superuser may start and resume everything. That is no consent.
\connect - postgres
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, withheld FROM wf_publish_event('Salary', '{"ceo": 1}');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"EventName": "Salary"}', input => '{"ceo": 1}', keep_for => '0');
SELECT wf_run_due() >= 0 AS swept;
\connect - regress_events_mallory
SELECT * FROM heard;

-- security.md#who-hears-a-stimulus: what names an instance or a bookmark needs no consent
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

-- security.md#who-hears-a-stimulus: owners that wf_grant_events names
-- 2. Consent is the publisher's to give.
SELECT wf_grant_events('regress_events_mallory', 'regress_events_bob');
\echo :SQLSTATE
SELECT wf_grant_events('regress_events_nobody');
\echo :SQLSTATE
SELECT wf_grant_events(NULL);
\echo :SQLSTATE
-- Her own events she may give to whom she likes; what she gets is not hers to give.
SELECT wf_grant_events('regress_events_bob') AS granted, wf_grant_events('regress_events_bob') AS again;
\connect - regress_events_bob
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('Salary', '{"n": 1}');
SELECT wf_grant_events('regress_events_mallory');
SELECT * FROM workflow.event_grant_list ORDER BY publisher, listener;
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, withheld FROM wf_publish_event('Salary', '{"n": 2}');
-- The consent is Bob's, not Alice's.
\connect - regress_events_alice
SELECT * FROM workflow.event_grant_list;
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('Salary', '{"n": 3}');
\connect - postgres
SELECT wf_revoke_events('regress_events_mallory', 'regress_events_bob') AS revoked, wf_revoke_events('regress_events_mallory', 'regress_events_bob') AS again;
\connect - regress_events_bob
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('Salary', '{"n": 4}');

-- security.md#who-hears-a-stimulus: definitions on which a superuser granted the right
-- A right that a superuser granted counts for both sides, even where Mallory had granted it before. Hers again does not.
\connect - postgres
SELECT wf_grant('ear', 'regress_events_bob', '{start}') AS new;
\connect - regress_events_bob
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('Salary', '{"n": 5}');
\connect - regress_events_mallory
SELECT wf_revoke('ear', 'regress_events_bob', '{start}'), wf_grant('ear', 'regress_events_bob', '{start}');
\connect - regress_events_bob
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('Salary', '{"n": 6}');

-- security.md#who-hears-a-stimulus: roles that have the sender's rights, and those that a superuser made it a member of
-- Who has the publisher's rights hears; and so does a role that a superuser made the publisher a member of.
\connect - postgres
GRANT regress_events_bob TO regress_events_mallory;
\connect - regress_events_bob
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('Salary', '{"n": 7}');
\connect - postgres
REVOKE regress_events_bob FROM regress_events_mallory;
GRANT regress_events_mallory TO regress_events_bob;
\connect - regress_events_bob
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('Salary', '{"n": 8}');
\connect - postgres
REVOKE regress_events_mallory FROM regress_events_bob;
\connect - regress_events_mallory
SELECT variables ->> 'P' AS heard FROM workflow.instance_list WHERE variables ->> 'P' IS NOT NULL ORDER BY 1;

-- security.md#who-hears-a-stimulus: an instance has two owners, and both are asked
SELECT * FROM wf_define('{"definitionId": "ear6", "root": [{"id": "wait", "type": "Event", "eventName": "Both"}]}');
SELECT wf_grant('ear6', 'regress_events_alice', '{start}'), wf_grant('ear6', 'regress_events_bob', '{resume}');
\connect - regress_events_alice
SELECT sub_status FROM wf_run('ear6');
\connect - regress_events_bob
SELECT wf_grant_events('regress_events_alice');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_publish_event('Both');
SELECT wf_revoke_events('regress_events_alice'), wf_grant_events('regress_events_mallory');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_publish_event('Both');
SELECT wf_grant_events('regress_events_alice');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_publish_event('Both');
SELECT wf_revoke_events('regress_events_alice'), wf_revoke_events('regress_events_mallory');
\connect - regress_events_mallory

-- security.md#who-hears-a-stimulus: what is kept is heard by the same owners later
-- 3. What is kept is for those whom its sender has admitted, too, and not for another that waits first.
SELECT * FROM wf_define('{"definitionId": "thief", "variables": {"P": null}, "root": [{"id": "wait", "type": "Event", "eventName": "Wire", "result": {"var": "P"}}]}');
SELECT wf_grant('thief', 'regress_events_bob', '{start,resume}');
\connect - regress_events_alice
SELECT * FROM wf_define('{"definitionId": "bank", "variables": {"P": null}, "root": [{"id": "wait", "type": "Event", "eventName": "Wire", "result": {"var": "P"}}]}');
SELECT wf_grant('bank', 'regress_events_bob', '{start,resume}');
\connect - regress_events_bob
SELECT wf_grant_events('regress_events_alice');
SELECT queued_id IS NOT NULL AS kept, withheld FROM wf_publish_event('Wire', '{"iban": "DE00BOB"}', keep_for => '1 hour');
\connect - regress_events_mallory
SELECT sub_status FROM wf_run('thief');
SELECT wf_run_due() >= 0 AS swept;
\connect - postgres
SELECT wf_run_due() >= 0 AS swept;
\connect - regress_events_alice
SELECT sub_status FROM wf_run('bank');
SELECT variables FROM workflow.instance_list WHERE definition_id = 'bank';
\connect - regress_events_mallory
SELECT sub_status, variables FROM workflow.instance_list WHERE definition_id = 'thief';

-- security.md#owners-and-grants: activation strategies count one owner's instances; an error names the one in the way to roles that may read it
-- 4. Correlated is per owner: no role keeps others from their own, or learns what they run.
SELECT * FROM wf_define('{"definitionId": "mal-corr", "options": {"activationStrategy": "Correlated"}, "root": {"type": "RunTask", "taskName": "x"}}');
SELECT * FROM wf_define('{"definitionId": "mal-corr2", "options": {"activationStrategy": "Correlated"}, "root": {"type": "RunTask", "taskName": "x"}}');
SELECT wf_start('mal-corr', correlation_id => 'order-42', instance_id => '01900000-0000-7000-8000-00000000000d') IS NOT NULL AS started;
SELECT wf_start('mal-corr2', correlation_id => 'order-42');
\echo :SQLSTATE
\connect - regress_events_alice
SELECT * FROM wf_define('{"definitionId": "ali-corr", "options": {"activationStrategy": "Correlated"}, "root": {"type": "RunTask", "taskName": "x"}}');
SELECT wf_grant('ali-corr', role, '{start}') FROM unnest('{regress_events_bob,regress_events_mallory}'::name[]) AS role;
SELECT wf_start('ali-corr', correlation_id => 'order-42', instance_id => '01900000-0000-7000-8000-00000000000a') IS NOT NULL AS started;
-- It is one order, also where others start it. The instance in the way is named to roles that may read it.
\connect - regress_events_bob
SELECT wf_start('ali-corr', correlation_id => 'order-42');
\echo :SQLSTATE
\connect - regress_events_alice
SELECT wf_start('ali-corr', correlation_id => 'order-42');
SELECT * FROM wf_define('{"definitionId": "ali-join", "options": {"activationStrategy": "Correlated"}, "root": {"id": "join", "type": "Correlate", "correlationId": "order-42"}}');
SELECT wf_grant('ali-join', 'regress_events_bob', '{start,read}');
SELECT incidents -> 0 ->> 'message' AS message, incidents -> 0 ->> 'detail' AS detail FROM wf_run('ali-join', instance_id => '01900000-0000-7000-8000-00000000000b');
\connect - regress_events_bob
SELECT incidents -> 0 ->> 'message' AS message, incidents -> 0 ->> 'detail' AS detail FROM wf_run('ali-join', instance_id => '01900000-0000-7000-8000-00000000000c');

\connect - postgres
SELECT * FROM wf_check();
