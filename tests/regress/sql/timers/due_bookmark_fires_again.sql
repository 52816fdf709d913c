-- A bookmark that is due and stays was resumed by time again and again. It is resumed once: one that does not burn, and one whose
-- callback fails in a workflow that goes on after incidents.
\pset null '(null)'

CREATE FUNCTION recur(context jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('bookmarks', jsonb_build_array(jsonb_build_object('dueAt', '2020-01-01T00:00:00+00:00', 'autoBurn', false, 'callback', 'public.recurs'))) $$;
CREATE FUNCTION recurs(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"complete": false}'::jsonb $$;
CREATE FUNCTION fail_later(context jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('bookmarks', jsonb_build_array(jsonb_build_object('dueAt', '2020-01-01T00:00:00+00:00', 'callback', 'public.fails'))) $$;
CREATE FUNCTION fails(context jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
SELECT wf_register_activity('Acme.Recur', 'recur(jsonb)'), wf_register_activity('Acme.FailLater', 'fail_later(jsonb)');
SELECT wf_define('{"definitionId": "recur", "root": {"type": "Acme.Recur"}}') \g /dev/null
SELECT wf_define('{"definitionId": "fail later", "options": {"incidentStrategy": "ContinueWithIncidents"}, "root": {"type": "Acme.FailLater"}}') \g /dev/null
SELECT wf_start(d) FROM unnest('{recur,fail later}'::text[]) AS d \g /dev/null
SET client_min_messages = error;
-- Another session resumes it first. Time does not take that resume for its own.
SELECT r.sub_status FROM workflow.open_bookmarks AS b, wf_resume(b.bookmark_id) AS r WHERE b.definition_id = 'recur';
SELECT wf_run_due();
SELECT wf_run_due();
RESET client_min_messages;
SELECT i.definition_id, i.sub_status, i.incident_count, b.due_at FROM workflow.bookmarks AS b JOIN workflow.instances AS i ON i.id = b.instance_id
WHERE i.definition_id IN ('recur', 'fail later') ORDER BY 1;
