-- A stimulus that met nothing: a slip of the pen looks like one that comes too early, and is told, once for a statement.
-- How it was searched: each call that sends, with nothing to match.
SELECT started, resumed, queued_id FROM wf_publish_event('Paaid', '{}', correlation_id => 'a');
SELECT started, resumed, queued_id FROM wf_send_stimulus('Acme.Arrived', correlation_id => NULL);
SELECT started, resumed, queued_id FROM wf_publish_event('Paid', instance_id => '01900000-0000-7000-8000-00000000dead');
SELECT queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark('Event', '{"EventName": "Paaid"}');
SELECT queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark(activity_id => 'payd', keep_for => '0');
-- Not where the call says that it may come too early.
SELECT queued_id IS NOT NULL AS kept FROM wf_publish_event('Paid', correlation_id => 'early', keep_for => '1 hour');
SELECT queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark(activity_id => 'payd', keep_for => '1 hour');
-- Once for a statement, whatever it sends.
DO $$ BEGIN
    FOR i IN 1..1000 LOOP
        PERFORM wf_publish_event('Paaid');
    END LOOP;
END $$;
-- Not from inside a burst, which may yet come to wait for it.
SELECT * FROM wf_define('{"definitionId": "inside", "root": [
    {"id": "s", "type": "Sql", "statement": "SELECT * FROM wf_publish_event(''Inside'')"}, {"id": "e", "type": "Event", "eventName": "Inside"}]}');
SELECT sub_status FROM wf_run('inside');
