-- Calls in procedures that commit and roll back on their way, and in chained transactions.
\i tests/regress/include/transactions.sql

-- Procedures that commit and roll back on their way.
CREATE PROCEDURE pg_temp.in_pieces() LANGUAGE plpgsql AS $$
DECLARE
    this uuid := wf_start('order', correlation_id => 'pieces');
    r record;
BEGIN
    COMMIT;
    PERFORM wf_publish_event('Paid', instance_id => this);
    ROLLBACK;
    RAISE WARNING 'waits at %', (SELECT activity FROM workflow.waiting WHERE instance = this);
    PERFORM wf_publish_event('Paid', instance_id => this);
    COMMIT AND CHAIN;
    FOR r IN SELECT n, wf_start('order', correlation_id => 'piece ' || n) FROM generate_series(1, 3) AS n LOOP
        IF r.n = 2 THEN COMMIT; END IF;
    END LOOP;
END $$;
CALL pg_temp.in_pieces();
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();
BEGIN;
SELECT wf_start('order', correlation_id => 'chained') IS NOT NULL AS started;
ROLLBACK AND CHAIN;
SELECT wf_start('order', correlation_id => 'chained') IS NOT NULL AS started;
COMMIT;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();
