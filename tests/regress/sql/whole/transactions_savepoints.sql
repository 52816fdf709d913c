-- What a savepoint takes back never was: instances, what was resumed, a definition, and what is remembered of a role.
\i tests/regress/include/transactions.sql

-- Savepoints, one inside the other: what is rolled back never was, what came before it stays.
BEGIN;
SELECT wf_start('order', correlation_id => '1') AS one \gset
SAVEPOINT outer_one;
SELECT cardinality(resumed) FROM wf_publish_event('Paid');
SAVEPOINT inner_one;
SELECT cardinality(resumed) FROM wf_publish_event('Sent');
SELECT wf_start('order', correlation_id => '2') AS two \gset
ROLLBACK TO inner_one;
SELECT * FROM pg_temp.stand();
RELEASE inner_one;
ROLLBACK TO outer_one;
SELECT * FROM pg_temp.stand();
SELECT wf_start('order', correlation_id => 'again', instance_id => :'two') = :'two' AS "the same id";
SELECT cardinality(resumed) FROM wf_publish_event('Paid', correlation_id => 'again');
COMMIT;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();

-- A definition, and the role that is seen for the first time, are gone with a savepoint, and nothing remembers them.
CREATE ROLE regress_tx_new;
SELECT wf_grant_usage('regress_tx_new');
SET ROLE regress_tx_new;
BEGIN;
SAVEPOINT s;
SELECT wf_define('{"definitionId": "own", "root": {"id": "before", "type": "Event", "eventName": "E"}}');
SELECT wf_start('own') AS one \gset
ROLLBACK TO s;
SELECT * FROM wf_start('own');
ROLLBACK TO s;
SELECT wf_define('{"definitionId": "own", "root": {"id": "after", "type": "Event", "eventName": "E"}}');
SELECT wf_start('own', instance_id => :'one') = :'one' AS "the same id";
COMMIT;
SELECT * FROM pg_temp.stand();
SELECT * FROM wf_run('own', instance_id => :'one') \g /dev/null
RESET ROLE;
SELECT definition_id, owner FROM workflow.instance_list;
SELECT * FROM pg_temp.forget();
