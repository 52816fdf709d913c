-- Which owners hear a stimulus: those that its sender admits, those on whose definitions a superuser granted the right, and those that
-- have the sender's rights.
\i tests/regress/include/events_heard.sql

SELECT * FROM wf_define('{"definitionId": "ear3", "root": {"id": "wait", "type": "Mallory.Ear", "canStartWorkflow": true}}');
SELECT count(wf_grant(definition, role, '{start,resume}'))
FROM unnest('{ear,ear2,ear3}'::text[]) AS definition, unnest('{regress_events_bob,postgres}'::name[]) AS role;
SELECT wf_start('ear2', correlation_id => 'c1') IS NOT NULL AS waits;

-- security.md#who-may-receive-a-stimulus: owners that wf_grant_events names
-- Consent is the publisher's to give.
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

-- security.md#who-may-receive-a-stimulus: definitions on which a superuser granted the right
-- A right that a superuser granted counts for both sides, even where Mallory had granted it before. Hers again does not.
\connect - postgres
SELECT wf_grant('ear', 'regress_events_bob', '{start}') AS new;
\connect - regress_events_bob
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('Salary', '{"n": 5}');
\connect - regress_events_mallory
SELECT wf_revoke('ear', 'regress_events_bob', '{start}'), wf_grant('ear', 'regress_events_bob', '{start}');
\connect - regress_events_bob
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('Salary', '{"n": 6}');

-- security.md#who-may-receive-a-stimulus: roles that have the sender's rights, and those that a superuser made it a member of
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

-- security.md#who-may-receive-a-stimulus: an instance has two owners, and both are asked
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
