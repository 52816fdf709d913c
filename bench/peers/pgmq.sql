-- pgmq, whose schema pgmq.sql of its crate has created: like workflow.sql.
CREATE SCHEMA bench;
SELECT pgmq.create('bench');

CREATE FUNCTION bench.empty() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pgmq.drop_queue('bench');
    PERFORM pgmq.create('bench');
END $$;
CREATE FUNCTION bench.tasks(count integer) RETURNS bigint LANGUAGE sql
RETURN (SELECT count(s) FROM pgmq.send_batch('bench', array_fill('{}'::jsonb, ARRAY[count])) AS s);
CREATE FUNCTION bench.undone() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM pgmq.q_bench';
