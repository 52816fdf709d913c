-- COPY into a table whose triggers start workflows: all of its rows start theirs, or none does.
\i tests/regress/include/transactions.sql

CREATE FUNCTION start_order() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM wf_start('order', correlation_id => NEW.id::text); RETURN NULL; END $$;

-- COPY with a trigger that starts a workflow for each row. A row that does not fit takes all of them back.
CREATE TRIGGER start_order AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION start_order();
COPY orders FROM STDIN;
3	new
4	new
\.
COPY orders FROM STDIN;
5	new
3	again
\.
SELECT * FROM pg_temp.stand();
COPY (SELECT sub_status FROM wf_run('order', correlation_id => 'out')) TO STDOUT;
SELECT * FROM pg_temp.forget();
-- With a trigger for the statement, which sees all of its rows.
CREATE FUNCTION start_orders() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM wf_start('order', correlation_id => id::text) FROM added; RETURN NULL; END $$;
DROP TRIGGER start_order ON orders;
CREATE TRIGGER start_orders AFTER INSERT ON orders REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION start_orders();
COPY orders FROM STDIN;
6	new
7	new
\.
-- In one statement with what it changes.
WITH paid AS (UPDATE orders SET status = 'paid' WHERE id > 5 RETURNING id)
SELECT id, cardinality(resumed) AS resumed FROM paid, wf_publish_event('Paid', correlation_id => id::text) ORDER BY id;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();
