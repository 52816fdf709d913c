-- 100,000 kept stimuli that nobody waits for: a real one, and clones of it with other keys.
\set ON_ERROR_STOP on
SELECT queued_id AS item FROM wf_enqueue_bookmark(activity_id => 'supervisor', correlation_id => 'nobody', keep_for => '1000 years') \gset
INSERT INTO workflow.bookmark_queue
SELECT (jsonb_populate_record(q, jsonb_build_object('id', gen_random_uuid(), 'match_key', n * 1000003::bigint, 'correlation_id', 'Q-' || n))).*
FROM workflow.bookmark_queue AS q, generate_series(1, 100000) AS n
WHERE q.id = :'item';
VACUUM (ANALYZE) workflow.bookmark_queue;
