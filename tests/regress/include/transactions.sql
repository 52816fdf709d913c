\set ECHO none
-- Orders that wait twice and leave a line in a log: for the sessions that ask to which transaction a call belongs.
SET client_min_messages = warning;
\pset null '(null)'
CREATE TABLE log (line text);
CREATE TABLE orders (id int PRIMARY KEY, status text NOT NULL DEFAULT 'new');
CREATE TABLE items (id int PRIMARY KEY, order_id int REFERENCES orders DEFERRABLE INITIALLY DEFERRED);
SELECT wf_define('{"definitionId": "order", "root": [
    {"type": "Sql", "statement": "INSERT INTO log VALUES (''started '' || ($1 #>> ''{}''))", "parameters": [{"js": "getCorrelationId()"}]},
    {"id": "paid", "type": "Event", "eventName": "Paid"},
    {"type": "Sql", "statement": "INSERT INTO log VALUES (''paid '' || ($1 #>> ''{}''))", "parameters": [{"js": "getCorrelationId()"}]},
    {"id": "sent", "type": "Event", "eventName": "Sent"}]}') \g /dev/null
CREATE FUNCTION pg_temp.try(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN 'fine';
EXCEPTION WHEN OTHERS OR query_canceled THEN
    RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM, '[-0-9a-f]{36}', '<id>');
END $$;
CREATE FUNCTION pg_temp.stand(OUT correlation_id text, OUT sub_status text, OUT waits_at text) RETURNS SETOF record LANGUAGE sql
BEGIN ATOMIC
    SELECT i.correlation_id, i.sub_status, string_agg(w.activity, ', ') FROM workflow.instance_list AS i LEFT JOIN workflow.waiting AS w ON w.instance = i.instance_id
    GROUP BY i.instance_id, i.correlation_id, i.sub_status ORDER BY i.correlation_id;
END;
CREATE FUNCTION pg_temp.forget(OUT instances bigint, OUT lines text) LANGUAGE plpgsql AS $$
BEGIN
    SELECT count(*) FILTER (WHERE wf_delete_instance(instance_id)) INTO instances FROM workflow.instance_list;
    SELECT string_agg(line, ', ') INTO lines FROM log;
    DELETE FROM log;
END $$;
\set ECHO all
