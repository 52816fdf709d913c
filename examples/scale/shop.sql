-- The part that is deployed on every node: the tables of a shop, its workflow, and the functions that its clients call. Each call is one
-- transaction on the node of its key, in which the business row and the workflow change together. Because of the message, sending a call
-- again has no effect.
SET workflow.notify_triggers = off;             -- this can be prepared
SELECT wf_grant_usage('shop');
GRANT CREATE ON SCHEMA public TO shop;
SET ROLE shop;

CREATE TABLE orders (id text PRIMARY KEY, amount numeric NOT NULL DEFAULT 0);
CREATE TABLE steps (id text NOT NULL, step text NOT NULL);
CREATE INDEX ON orders (wf_partition(id, 8));
CREATE INDEX ON steps (wf_partition(id, 8));

SELECT wf_define('{"definitionId": "order", "root": [
    {"id": "paid", "type": "Event", "eventName": "Paid"},
    {"id": "wait", "type": "Delay", "timeSpan": {"input": "wait"}},
    {"id": "ship", "type": "Sql", "statement": "INSERT INTO public.steps VALUES ($1, ''shipped'')", "parameters": [{"js": "getCorrelationId()"}]},
    {"id": "check", "type": "RunTask", "taskName": "check"}]}');

CREATE FUNCTION begin_order(order_id text, message text, wait text DEFAULT '1 second') RETURNS jsonb LANGUAGE sql AS $$
    INSERT INTO orders VALUES ($1) ON CONFLICT DO NOTHING;
    SELECT wf_call($1, $2, 'start', 'order', jsonb_build_object('wait', $3));
$$;
CREATE FUNCTION pay_order(order_id text, message text, amount numeric) RETURNS jsonb LANGUAGE sql AS $$
    UPDATE orders SET amount = $3 WHERE id = $1;
    SELECT wf_call($1, $2, 'event', 'Paid');
$$;
-- An event for all orders, which the proxy sends to all nodes. Returns the number of resumed instances.
CREATE FUNCTION tell_all(event text) RETURNS integer LANGUAGE sql AS $$ SELECT cardinality(resumed) FROM wf_publish_event($1) $$;
RESET ROLE;

-- For moves: the keys that are moved, and the commands that psql runs on the new node for one piece.
CREATE FUNCTION moves(key text) RETURNS boolean LANGUAGE sql RETURN public.wf_partition(key, 8)::text = current_setting('my.partition');
CREATE FUNCTION import_of(piece bytea) RETURNS text LANGUAGE sql
    RETURN format('SELECT wf_import_instances(ARRAY[decode(%L, ''hex'')]) \g /dev/null', encode(piece, 'hex'));
