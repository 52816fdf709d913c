-- The engine writes its rows without plans of SQL. What a DBA does to the tables holds all the same.
SELECT wf_define('{"definitionId": "claim", "variables": {"Notes": [], "Note": null, "Report": null}, "root": [
    {"type": "SetVariable", "variable": "Report", "value": {"input": "report"}},
    {"type": "While", "condition": true, "body": [
        {"id": "note", "type": "RunTask", "taskName": "Note", "result": {"var": "Note"}},
        {"type": "SetVariable", "variable": "Notes", "value": {"js": "getNotes().concat([getNote()])"}},
        {"type": "If", "condition": {"js": "getNotes().length >= 40"}, "then": {"type": "Finish"}}]}]}') \g /dev/null

-- Row triggers see what is written, and may change it. They have the rights of the extension's owner, and no schemas
-- but pg_catalog in their path.
CREATE TABLE audit (what text, task text, status text);
CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.audit VALUES (lower(TG_OP), NEW.name, NEW.status);
    RETURN NULL;
END $$;
CREATE TRIGGER audited AFTER INSERT OR UPDATE ON workflow.tasks FOR EACH ROW EXECUTE FUNCTION audited();
CREATE FUNCTION stamped() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.result := jsonb_build_object('stamped', NEW.result);
    RETURN NEW;
END $$;
CREATE TRIGGER stamped BEFORE UPDATE ON workflow.tasks FOR EACH ROW EXECUTE FUNCTION stamped();
SELECT wf_start('claim', '{"report": "short"}') AS claim \gset
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT sub_status FROM wf_complete_task(:'task', '"seen"');
SELECT * FROM audit;
SELECT status, result FROM workflow.tasks WHERE id = :'task';

-- One that gives nothing back would leave the call half done: instances, bookmarks, tasks and the journal refuse it.
CREATE FUNCTION suppressed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN NULL;
END $$;
SELECT task_id AS task FROM workflow.open_tasks \gset
CREATE TRIGGER suppressed BEFORE UPDATE ON workflow.tasks FOR EACH ROW EXECUTE FUNCTION suppressed();
SELECT sub_status FROM wf_complete_task(:'task', '"lost"');
\echo :SQLSTATE
DROP TRIGGER suppressed ON workflow.tasks;
\set VERBOSITY terse
CREATE TRIGGER suppressed BEFORE DELETE ON workflow.bookmarks FOR EACH ROW EXECUTE FUNCTION suppressed();
SELECT sub_status FROM wf_complete_task(:'task', '"lost"');
DROP TRIGGER suppressed ON workflow.bookmarks;
CREATE TRIGGER suppressed BEFORE UPDATE ON workflow.instances FOR EACH ROW EXECUTE FUNCTION suppressed();
SELECT sub_status FROM wf_complete_task(:'task', '"lost"');
DROP TRIGGER suppressed ON workflow.instances;
CREATE TRIGGER suppressed BEFORE INSERT ON workflow.instances FOR EACH ROW EXECUTE FUNCTION suppressed();
SELECT wf_start('claim', '{"report": "suppressed"}');
DROP TRIGGER suppressed ON workflow.instances;
CREATE TRIGGER suppressed BEFORE INSERT ON workflow.bookmarks FOR EACH ROW EXECUTE FUNCTION suppressed();
SELECT wf_start('claim', '{"report": "suppressed"}');
DROP TRIGGER suppressed ON workflow.bookmarks;
CREATE TRIGGER suppressed BEFORE INSERT ON workflow.execution_log FOR EACH ROW EXECUTE FUNCTION suppressed();
SELECT wf_start('claim', '{"report": "suppressed"}');
DROP TRIGGER suppressed ON workflow.execution_log;
DROP FUNCTION suppressed;
\set VERBOSITY default
SELECT sub_status FROM wf_complete_task(:'task', '"not lost"');

-- An error in a trigger is an error of the call, and nothing of the call is left.
CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'tasks are closed' USING ERRCODE = 'TK001';
END $$;
CREATE TRIGGER refused BEFORE INSERT ON workflow.tasks FOR EACH ROW EXECUTE FUNCTION refused();
\set VERBOSITY terse
SELECT wf_start('claim', '{"report": "short"}');
\set VERBOSITY default
SELECT count(*) AS instances FROM workflow.instance_list;
DROP TRIGGER refused ON workflow.tasks;
DROP TRIGGER stamped ON workflow.tasks;

-- A trigger that waits for the end of the transaction runs then.
CREATE FUNCTION deferred() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'task % at the end of the transaction', NEW.status;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER deferred AFTER INSERT ON workflow.tasks DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION deferred();
BEGIN;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"noted"');
SELECT 'before the end' AS now;
COMMIT;
DROP TRIGGER deferred ON workflow.tasks;
DROP TRIGGER audited ON workflow.tasks;
DROP TABLE audit;

-- A foreign key of one's own on an instance.
CREATE TABLE claims (id integer PRIMARY KEY, instance uuid REFERENCES workflow.instances ON DELETE CASCADE);
INSERT INTO claims SELECT 1, wf_start('claim', '{"report": "short"}');
\set VERBOSITY terse
INSERT INTO claims VALUES (2, '00000000-0000-7000-8000-000000000000');
\set VERBOSITY default
DROP TABLE claims;

-- Triggers on columns fire when a call changes these, and columns that PostgreSQL computes follow those they are made of.
ALTER TABLE workflow.tasks ADD COLUMN summary text GENERATED ALWAYS AS (name || ': ' || status) STORED;
ALTER TABLE workflow.instances ADD COLUMN summary text GENERATED ALWAYS AS (definition_id || ': ' || sub_status) STORED;
CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE '% % % of %, now %', TG_WHEN, TG_OP, TG_ARGV[0], TG_TABLE_NAME, NEW.summary;
    RETURN NEW;
END $$;
CREATE TRIGGER told AFTER UPDATE OF status ON workflow.tasks FOR EACH ROW EXECUTE FUNCTION told('status');
CREATE TRIGGER told_payload AFTER UPDATE OF payload ON workflow.tasks FOR EACH ROW EXECUTE FUNCTION told('payload');
CREATE TRIGGER told AFTER UPDATE OF sub_status ON workflow.instances FOR EACH ROW EXECUTE FUNCTION told('sub_status');
CREATE TRIGGER told_name AFTER UPDATE OF name ON workflow.instances FOR EACH ROW EXECUTE FUNCTION told('name');
SELECT wf_define('{"definitionId": "told", "root": [{"type": "RunTask", "taskName": "Tell"}]}') \g /dev/null
SELECT sub_status FROM wf_run('told', correlation_id => 'told');
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.correlation_id = 'told';
DROP FUNCTION told CASCADE;
SELECT sub_status FROM wf_run('told', correlation_id => 'told');
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.correlation_id = 'told';
SELECT summary FROM workflow.tasks WHERE correlation_id = 'told' UNION ALL SELECT summary FROM workflow.instances WHERE correlation_id = 'told';
DELETE FROM workflow.instances WHERE correlation_id = 'told';
ALTER TABLE workflow.tasks DROP COLUMN summary;
ALTER TABLE workflow.instances DROP COLUMN summary;

-- A row goes into the partial indexes that have it, also into those of one's own, and after a trigger has changed it.
CREATE INDEX instances_named ON workflow.instances (name) WHERE name IS NOT NULL;
CREATE INDEX instances_unnamed ON workflow.instances (id) WHERE name IS NULL;
CREATE INDEX instances_claims ON workflow.instances (id) WHERE definition_id = 'claim';
CREATE INDEX instances_others ON workflow.instances (id) WHERE NOT definition_id = 'claim';
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

-- What the session itself changes between two calls is found where it is then.
BEGIN;
SELECT wf_start('claim', '{"report": "short"}', correlation_id => 'moved') AS moved \gset
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '1') WHERE t.correlation_id = 'moved';
UPDATE workflow.instances SET name = 'moved' WHERE id = :'moved';
UPDATE workflow.bookmarks SET metadata = '{"moved": true}' WHERE instance_id = :'moved';
UPDATE workflow.tasks SET correlation_id = correlation_id WHERE instance_id = :'moved';
SAVEPOINT before;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"undone"') WHERE t.correlation_id = 'moved';
ROLLBACK TO before;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '2') WHERE t.correlation_id = 'moved';
COMMIT;
SELECT name, variables -> 'Notes' AS notes FROM workflow.instance_list WHERE instance_id = :'moved';

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

-- A table that is not there is named.
BEGIN;
ALTER TABLE workflow.tasks RENAME TO works;
\set VERBOSITY sqlstate
SELECT wf_start('claim', '{"report": "short"}');
\set VERBOSITY default
ROLLBACK;

-- A table that is emptied twice has nowhere to look.
BEGIN;
TRUNCATE workflow.instances, workflow.bookmarks, workflow.tasks, workflow.execution_log;
SELECT wf_start('claim', '{"report": "short"}') AS emptied \gset
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '1');
TRUNCATE workflow.instances, workflow.bookmarks, workflow.tasks, workflow.execution_log;
\set VERBOSITY sqlstate
SELECT wf_cancel(:'emptied');
\set VERBOSITY default
ROLLBACK;

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

-- The inbox of one name, oldest first, is one descent of an index.
EXPLAIN (COSTS OFF) SELECT created_at FROM workflow.bookmarks
WHERE activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND payload ->> 'TaskName' = 'Note' ORDER BY created_at LIMIT 10;

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

-- A table that was made a partition keeps to its bound.
BEGIN;
TRUNCATE workflow.instances, workflow.bookmarks, workflow.tasks, workflow.execution_log;
SELECT wf_start('claim', '{"report": "short"}', correlation_id => 'bound') AS bound \gset
CREATE TABLE public.open (LIKE workflow.tasks) PARTITION BY LIST (status);
ALTER TABLE public.open ATTACH PARTITION workflow.tasks FOR VALUES IN ('Open');
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'bound' \gset
\set VERBOSITY sqlstate
SELECT sub_status FROM wf_complete_task(:'task', '1');
\set VERBOSITY default
ROLLBACK;

-- A column that is not what it should be is never written.
BEGIN;
ALTER TABLE workflow.tasks ALTER COLUMN status TYPE varchar;
\set VERBOSITY terse
SELECT wf_start('claim', '{"report": "short"}');
\set VERBOSITY default
ROLLBACK;
-- Nor is a table that stores its rows in another way.
CREATE ACCESS METHOD another TYPE TABLE HANDLER heap_tableam_handler;
BEGIN;
ALTER TABLE workflow.tasks SET ACCESS METHOD another;
SELECT wf_start('claim', '{"report": "short"}');
ROLLBACK;
DROP ACCESS METHOD another;
DROP EXTENSION amcheck;
