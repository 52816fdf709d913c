-- The engine finds rows without plans of SQL: by an index, and where that is missing or not complete by reading the table.
\i tests/regress/include/rows.sql

-- Without the index that a start asks, it reads the table: which of three versions is published?
SELECT count(wf_define(format('{"definitionId": "versioned", "root": [{"type": "SetName", "value": "%s"}]}', n)::jsonb)) FROM generate_series(1, 3) AS n;
SELECT count(wf_publish('versioned', 2));
ALTER INDEX workflow.definitions_published_idx RENAME TO another;
SELECT wf_start('versioned') AS versioned \gset
ALTER INDEX workflow.another RENAME TO definitions_published_idx;
SELECT version, name FROM workflow.instance_list WHERE instance_id = :'versioned';

-- Nor is one asked that may lack rows: here it has none, as one that is still being built concurrently.
BEGIN;
ALTER INDEX workflow.definitions_published_idx RENAME TO another;
CREATE INDEX definitions_published_idx ON workflow.definitions (definition_id) WHERE false;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'workflow.definitions_published_idx'::regclass;
SELECT sub_status FROM wf_run('versioned');
ROLLBACK;

-- The queue is read off an index as well: stimuli of three shapes, two of them wanted.
SELECT wf_define('{"definitionId": "met", "root": [
    {"id": "first", "type": "Event", "eventName": "First"}, {"id": "second", "type": "Event", "eventName": "Second"}]}') \g /dev/null
BEGIN;
ALTER INDEX workflow.bookmark_queue_match_idx RENAME TO another;
SELECT count(wf_enqueue_bookmark(activity_id => id, correlation_id => correlation))
FROM (VALUES ('second', 'met'), ('third', 'met'), ('first', NULL)) AS s (id, correlation);
SELECT wf_enqueue_bookmark(activity_id => 'first', activity_type => 'Elsa.Delay') \g /dev/null
SELECT sub_status FROM wf_run('met', correlation_id => 'met');
SELECT activity_id, activity_type FROM workflow.bookmark_queue ORDER BY id;
ROLLBACK;
SELECT count(wf_enqueue_bookmark(activity_id => id, correlation_id => correlation))
FROM (VALUES ('second', 'met'), ('third', 'met'), ('first', NULL)) AS s (id, correlation);
SELECT sub_status FROM wf_run('met', correlation_id => 'met');
DELETE FROM workflow.bookmark_queue RETURNING activity_id;
