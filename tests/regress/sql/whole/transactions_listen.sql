-- LISTEN in an activity belongs to the session and to the transaction, as anywhere else.
\i tests/regress/include/transactions.sql

-- LISTEN in an activity is the session's once the transaction has committed.
SELECT wf_define('{"definitionId": "listener", "root": [{"type": "Sql", "statement": "LISTEN gossip"}, {"type": "Event", "eventName": "Gossip"}]}') \g /dev/null
BEGIN;
SELECT sub_status FROM wf_run('listener');
ROLLBACK;
SELECT count(*) AS channels FROM pg_listening_channels();
SELECT sub_status FROM wf_run('listener');
SELECT * FROM pg_listening_channels();
UNLISTEN *;
SELECT * FROM pg_temp.forget();
