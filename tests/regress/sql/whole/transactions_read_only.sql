-- A read-only transaction may look, and every call that would write fails in it.
\i tests/regress/include/transactions.sql

-- What a read-only transaction may do is to look.
BEGIN READ ONLY;
SELECT count(*) FROM workflow.waiting;
\set VERBOSITY sqlstate
SELECT wf_start('order');
ROLLBACK;
BEGIN READ ONLY;
SELECT wf_publish_event('Paid', keep_for => '1 hour');
ROLLBACK;
\set VERBOSITY default
