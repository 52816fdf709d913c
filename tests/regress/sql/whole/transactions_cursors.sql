-- A cursor makes its calls as it is fetched, in the transaction or savepoint of the FETCH, or at commit.
\i tests/regress/include/transactions.sql

-- A cursor calls as far as it is fetched. What a savepoint takes back stays taken back, though the cursor has moved on.
BEGIN;
DECLARE starts CURSOR FOR SELECT wf_start('order', correlation_id => n::text) IS NOT NULL AS started FROM generate_series(1, 5) AS n;
FETCH 2 FROM starts;
SAVEPOINT s;
FETCH 1 FROM starts;
ROLLBACK TO s;
FETCH 1 FROM starts;
COMMIT;
SELECT * FROM pg_temp.stand();
-- One that was open before shows what was there then.
BEGIN;
DECLARE waiting CURSOR FOR SELECT correlation_id, activity FROM workflow.waiting ORDER BY 1;
FETCH 1 FROM waiting;
SELECT cardinality(resumed) FROM wf_publish_event('Paid');
FETCH ALL FROM waiting;
COMMIT;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();
-- WITH HOLD: the rest is called at commit.
BEGIN;
DECLARE held NO SCROLL CURSOR WITH HOLD FOR SELECT wf_start('order', correlation_id => n::text) IS NOT NULL AS started FROM generate_series(1, 3) AS n;
FETCH 1 FROM held;
COMMIT;
SELECT * FROM pg_temp.stand();
CLOSE held;
SELECT * FROM pg_temp.forget();
