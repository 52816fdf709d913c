-- Every index knows the rows that the engine writes: partial ones, those of one's own, those that summarise pages; also after many
-- versions of a row.
\i tests/regress/include/rows.sql

-- Two that are there before the indexes.
SELECT count(wf_start('claim', '{"report": "short"}')) AS claims FROM generate_series(1, 2);

-- A row goes into the partial indexes that have it, also into those of one's own, and after a trigger has changed it.
CREATE INDEX instances_named ON workflow.instances (name) WHERE name IS NOT NULL;
CREATE INDEX instances_unnamed ON workflow.instances (id) WHERE name IS NULL;
CREATE INDEX instances_claims ON workflow.instances (id) WHERE definition_id = 'claim';
CREATE INDEX instances_others ON workflow.instances (id) WHERE NOT definition_id = 'claim';
CREATE INDEX instances_unlike ON workflow.instances (id) WHERE definition_id <> 'claim';
CREATE INDEX instances_nameless ON workflow.instances (id) WHERE name <> 'given';
CREATE INDEX instances_two ON workflow.instances (id) WHERE name IS NOT NULL AND definition_id = 'claim';
ALTER TABLE workflow.instances ADD COLUMN tag text GENERATED ALWAYS AS (definition_id || '!') STORED;
CREATE INDEX instances_tagged ON workflow.instances (tag) WHERE tag IS NOT NULL;
ALTER TABLE workflow.instances ADD COLUMN note text;
CREATE INDEX instances_noted ON workflow.instances (note) WHERE note IS NOT NULL;
SELECT wf_define('{"definitionId": "kinds", "root": [{"type": "Parallel", "activities": [
    {"type": "Delay", "timeSpan": "1.00:00:00"}, {"type": "Event", "eventName": "Kind"}, {"type": "RunTask", "taskName": "Kind"},
    {"type": "HttpEndpoint", "path": "kinds"}]}]}') \g /dev/null
SELECT sub_status FROM wf_run('kinds', name => 'has a name');
SELECT sub_status FROM wf_run('claim', '{"report": "short"}', name => 'has a name');
SELECT sub_status FROM wf_run('claim', '{"report": "short"}');
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.name := 'given';
    NEW.note := 'noted';
    RETURN NEW;
END $$;
CREATE TRIGGER noted BEFORE INSERT ON workflow.instances FOR EACH ROW EXECUTE FUNCTION noted();
SELECT sub_status FROM wf_run('kinds');
DROP TRIGGER noted ON workflow.instances;
SELECT definition_id, name, note, tag FROM workflow.instances ORDER BY id;
SELECT activity_type, due_at IS NOT NULL AS is_due, payload ->> 'Route' AS route FROM workflow.bookmarks
WHERE instance_id IN (SELECT id FROM workflow.instances WHERE definition_id = 'kinds') ORDER BY activity_type COLLATE "C", id;

-- Many versions of a row: most are heap-only, those for which a page has no room are not. Each is found by every index.
-- What is large and does not change is not written again.
SELECT wf_start('claim', jsonb_build_object('report', repeat('a long report ', 20000)), correlation_id => 'large') AS large \gset
DO $$
DECLARE
    task uuid;
BEGIN
    FOR i IN 1..39 LOOP
        SELECT task_id INTO STRICT task FROM workflow.open_tasks WHERE correlation_id = 'large';
        PERFORM wf_complete_task(task, to_jsonb(repeat('note ', 40 * i)));
    END LOOP;
END $$;
SELECT sub_status, jsonb_array_length(variables -> 'Notes') AS notes, length(variables ->> 'Report') AS report
FROM workflow.instance_list WHERE instance_id = :'large';
CREATE EXTENSION amcheck;
SELECT c.relname, bt_index_check(c.oid, heapallindexed => true)
FROM pg_class AS c JOIN pg_am AS a ON a.oid = c.relam AND a.amname = 'btree'
WHERE c.relnamespace = 'workflow'::regnamespace AND c.relkind = 'i'
  AND c.relname ~ '^(instances|bookmarks|tasks|execution_log)_'
ORDER BY c.relname COLLATE "C";
SET enable_seqscan = off;
SELECT count(*) FROM workflow.instances WHERE correlation_id = 'large';
SELECT count(*), count(DISTINCT instance_id) AS instances FROM workflow.tasks WHERE instance_id = :'large';
RESET enable_seqscan;

-- What a claim of one name looks for among the tasks of an owner is one descent of an index.
EXPLAIN (COSTS OFF) SELECT created_at FROM workflow.bookmarks
WHERE activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND definition_owner = 7 AND payload ->> 'TaskName' = 'Note' AND available_at IS NULL
ORDER BY available_at NULLS FIRST, coalesce(priority, 0) DESC, created_at LIMIT 10;

-- An index that summarises pages knows what a completion wrote, although the row found room in its page.
SELECT wf_start('claim', '{"report": "short"}', correlation_id => 'summarised') AS summarised \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'summarised' \gset
VACUUM workflow.tasks;
CREATE INDEX summary ON workflow.tasks USING brin (completed_at);
SELECT sub_status FROM wf_complete_task(:'task', '1');
SELECT completed_at AS completed FROM workflow.tasks WHERE id = :'task' \gset
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT FROM workflow.tasks WHERE completed_at = '2030-01-01';
SELECT bool_or(id = :'task') AS found FROM workflow.tasks WHERE completed_at = :'completed';
RESET enable_seqscan;
DROP INDEX workflow.summary;

-- No partial index has a row that its predicate leaves out: a reader of the index does not ask again. (Rows of equal keys can share an
-- entry.)
CREATE EXTENSION pgstattuple;
VACUUM (INDEX_CLEANUP on) workflow.instances, workflow.bookmarks, workflow.tasks;
WITH counted AS (
    SELECT (pgstattuple(i.indexrelid)).tuple_count AS entries, (xpath('//rows/text()', query_to_xml(
        format('SELECT count(*) AS rows FROM %s WHERE %s', i.indrelid::regclass, pg_get_expr(i.indpred, i.indrelid)), false, true, '')))[1]::text::bigint AS rows
    FROM pg_index AS i
    WHERE i.indrelid IN ('workflow.instances'::regclass, 'workflow.bookmarks'::regclass, 'workflow.tasks'::regclass) AND i.indpred IS NOT NULL)
SELECT count(*) AS partial, count(*) FILTER (WHERE rows > 0) AS with_rows, count(*) FILTER (WHERE entries > rows) AS with_too_many FROM counted;
DROP EXTENSION pgstattuple;
DROP EXTENSION amcheck;
