-- SET ROLE inside a transaction: each call is made by the role of its moment, and a savepoint takes a role back.
\i tests/regress/include/transactions.sql

-- SET ROLE in between: each call is made by the current role of that moment, savepoints and functions included.
CREATE ROLE regress_tx_ada;
CREATE ROLE regress_tx_bob;
SELECT count(wf_grant_usage(role)) FROM unnest(ARRAY['regress_tx_ada', 'regress_tx_bob']) AS role;
SET ROLE regress_tx_ada;
SELECT wf_define('{"definitionId": "mine", "variables": {"Who": null}, "root": [
    {"id": "wait", "type": "Event", "eventName": "Mine"}, {"type": "SetVariable", "variable": "Who", "value": {"sql": "current_user"}}]}') \g /dev/null
SELECT wf_grant('mine', 'regress_tx_bob', '{start}');
RESET ROLE;
BEGIN;
SET LOCAL ROLE regress_tx_ada;
SELECT wf_start('mine', correlation_id => 'Ada''s') IS NOT NULL AS started;
SAVEPOINT s;
SET LOCAL ROLE regress_tx_bob;
SELECT wf_start('mine', correlation_id => 'undone') IS NOT NULL AS started;
SELECT correlation_id FROM workflow.instance_list WHERE sub_status = 'Suspended';
ROLLBACK TO s;
SELECT wf_start('mine', correlation_id => 'Ada''s, too') IS NOT NULL AS started;
SET LOCAL ROLE regress_tx_bob;
SELECT wf_start('mine', correlation_id => 'Bob''s') IS NOT NULL AS started;
SELECT correlation_id FROM workflow.instance_list WHERE sub_status = 'Suspended';
COMMIT;
SELECT correlation_id, owner FROM workflow.instance_list WHERE definition_id = 'mine' ORDER BY correlation_id;
-- security.md#invoker-the-default: a SECURITY DEFINER function sends as its owner; what is left waits for a session of the other owner
-- A function with the rights of Ada resumes what is hers. Bob's waits for a session of Bob.
CREATE FUNCTION as_ada() RETURNS SETOF text SECURITY DEFINER LANGUAGE sql AS $$ SELECT cardinality(resumed) || ' resumed' FROM wf_publish_event('Mine') $$;
ALTER FUNCTION as_ada() OWNER TO regress_tx_ada;
SET client_min_messages = error;
SET ROLE regress_tx_bob;
SELECT as_ada();
SELECT correlation_id, sub_status FROM workflow.instance_list;
SELECT wf_run_due();
RESET ROLE;
SELECT correlation_id, sub_status, variables FROM workflow.instance_list WHERE definition_id = 'mine' ORDER BY correlation_id;
-- An activity that changes the role changes it for the rest of the transaction, as any function does; a fault takes it back.
SELECT wf_define('{"definitionId": "switch", "variables": {"Who": null}, "root": [
    {"type": "Sql", "statement": "SET LOCAL ROLE regress_tx_bob"}, {"type": "SetVariable", "variable": "Who", "value": {"sql": "current_user"}},
    {"id": "back", "type": "Sql", "statement": "SELECT set_config(''role'', ''regress_tx_ada'', true), 1 / 0"}]}') \g /dev/null
BEGIN;
SELECT sub_status FROM wf_run('switch');
SELECT current_user;
COMMIT;
SELECT current_user, owner, variables FROM workflow.instance_list WHERE definition_id = 'switch';
SELECT * FROM pg_temp.forget();
SELECT * FROM wf_check();
