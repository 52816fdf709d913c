\set ECHO none
-- Tasks of a name with a limit, one for each mail; what workers have claimed, and what they hold.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SELECT wf_define('{"definitionId": "mail", "root": {"id": "send", "type": "RunTask", "taskName": "Send mail", "priority": {"input": "priority"},
    "payload": {"object": {"customer": {"input": "customer"}}}, "retry": {"maxAttempts": 3, "delay": "10 s"}}}') \g /dev/null
CREATE FUNCTION mail(customer text, number integer DEFAULT 1, priority integer DEFAULT 0) RETURNS bigint LANGUAGE sql
BEGIN ATOMIC
    SELECT count(wf_start('mail', jsonb_build_object('customer', customer, 'priority', priority))) FROM generate_series(1, number);
END;
CREATE FUNCTION claims(number integer, lease interval DEFAULT '1 min') RETURNS text LANGUAGE sql
BEGIN ATOMIC
    SELECT string_agg(payload ->> 'customer', ' ') FROM wf_claim_tasks('{Send mail}', max => number, lease => lease);
END;
CREATE VIEW held AS SELECT b.id, b.token, t.payload ->> 'customer' AS customer FROM workflow.bookmarks b JOIN workflow.tasks t USING (id)
WHERE b.lease_until > current_setting('workflow.now')::timestamptz;
\set ECHO all
