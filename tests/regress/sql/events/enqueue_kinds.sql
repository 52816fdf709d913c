-- A stimulus without a payload meets what waits by type, by name and by activity: tasks too, which are in no index of kinds.
SELECT wf_define('{"definitionId": "both", "root": [{"type": "Parallel", "activities": [
    {"id": "paid", "type": "Event", "eventName": "Paid"}, {"id": "check", "type": "RunTask", "taskName": "Check"}]}]}') \g /dev/null
SELECT wf_define('{"definitionId": "event", "root": [{"id": "check", "type": "Event", "eventName": "Checked"}]}') \g /dev/null
CREATE FUNCTION begin_three() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wf_cancel(id) FROM workflow.instances WHERE sub_status = 'Suspended';
    PERFORM wf_run(d, instance_id => format('00000000-0000-7000-8000-%s', lpad(n::text, 12, '0'))::uuid, name => d || ' ' || n)
    FROM (VALUES ('both', nextval('n')), ('event', nextval('n')), ('both', nextval('n'))) AS v (d, n);
END $$;
CREATE SEQUENCE n;
CREATE FUNCTION names(ids uuid[]) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(i.name, ', ' ORDER BY r.n) FROM unnest(ids) WITH ORDINALITY AS r (id, n) JOIN workflow.instances i USING (id) $$;

-- By activity: events and tasks, in the order of their instances.
SELECT begin_three() \g /dev/null
SELECT names(resumed) FROM wf_enqueue_bookmark(activity_id => 'check', keep_for => '0');
-- By type, and by the name that the bookmarks of tasks have.
SELECT begin_three() \g /dev/null
SELECT names(resumed) FROM wf_enqueue_bookmark(activity_type => 'RunTask', keep_for => '0');
SELECT begin_three() \g /dev/null
SELECT names(resumed) FROM wf_enqueue_bookmark(name => 'Elsa.RunTask', keep_for => '0');
SELECT begin_three() \g /dev/null
SELECT names(resumed) FROM wf_enqueue_bookmark(activity_type => 'RunTask', activity_id => 'check', keep_for => '0');
SELECT names(resumed) FROM wf_enqueue_bookmark(activity_type => 'RunTask', activity_id => 'paid', keep_for => '0');
-- Other types and names leave tasks alone.
SELECT names(resumed) FROM wf_enqueue_bookmark(activity_type => 'Event', activity_id => 'check', keep_for => '0');
SELECT names(resumed) FROM wf_enqueue_bookmark(name => 'Elsa.Event', keep_for => '0');
SELECT begin_three() \g /dev/null
SELECT names(resumed) FROM wf_enqueue_bookmark(activity_type => 'Event', keep_for => '0');

-- One that is kept meets the next task, by type and by activity.
SELECT wf_cancel(id) FROM workflow.instances WHERE sub_status = 'Suspended' \g /dev/null
SELECT queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark(activity_type => 'RunTask', keep_for => '1 hour');
SELECT queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark(activity_id => 'check', keep_for => '1 hour');
SELECT begin_three() \g /dev/null
SELECT name, sub_status FROM workflow.instances ORDER BY id DESC LIMIT 3;
SELECT count(*) AS left FROM workflow.bookmark_queue;
