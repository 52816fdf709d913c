-- Activation strategies count one owner's instances: no role keeps others from their own, or learns what they run.
CREATE ROLE regress_events_alice LOGIN;
CREATE ROLE regress_events_bob LOGIN;
CREATE ROLE regress_events_mallory LOGIN CREATEROLE;
SELECT wf_grant_usage(role) FROM unnest('{regress_events_alice, regress_events_bob, regress_events_mallory}'::name[]) AS role;

\connect - regress_events_mallory

-- security.md#owners-and-grants: activation strategies count one owner's instances; an error names the one in the way to roles that may read it
-- Correlated is per owner: no role keeps others from their own, or learns what they run.
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
