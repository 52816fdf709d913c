-- wf_call waits for the same call in a prepared transaction.
SET client_min_messages = error;
CREATE FUNCTION document(id text, root jsonb) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object('definitionId', id, 'root', root);
SELECT count(wf_define(document(id, root::jsonb))) FROM (VALUES
    ('event', '{"id": "on", "type": "Event", "eventName": "On"}')) AS d (id, root);

-- The same call in another transaction waits for a prepared one, of which no lock is left but that of its xid.
BEGIN;
SELECT count(wf_call('prepared', 'phase', 'start', 'event'));
PREPARE TRANSACTION 'called';
SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND classid = 'workflow.messages'::regclass;
SET lock_timeout = '1ms';
SELECT wf_call('prepared', 'phase', 'start', 'event');
RESET lock_timeout;
COMMIT PREPARED 'called';
SELECT wf_call('prepared', 'phase', 'start', 'event') ->> 'instance_id' = instance_id::text AS is_it
FROM workflow.instance_list WHERE correlation_id = 'prepared';
SELECT * FROM wf_check();
