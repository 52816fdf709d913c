-- Row triggers on the engine's tables that change other rows, or call the engine themselves.
-- (What they see and change of their own row is in the session rows_triggers.)
SELECT wf_define('{"definitionId": "look", "root": [{"type": "Sql", "statement": "SELECT 1"}, {"type": "RunTask", "taskName": "Look"},
    {"type": "Event", "eventName": "Looked"}]}') \g /dev/null
\set complete 'SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, \'"seen"\')'

-- BEFORE triggers are given rows that the same transaction, or the same call, has written.
CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER same BEFORE UPDATE OR DELETE ON workflow.instances FOR EACH ROW EXECUTE FUNCTION same();
CREATE TRIGGER same BEFORE UPDATE OR DELETE ON workflow.bookmarks FOR EACH ROW EXECUTE FUNCTION same();
CREATE TRIGGER same BEFORE UPDATE OR DELETE ON workflow.tasks FOR EACH ROW EXECUTE FUNCTION same();
BEGIN;
SELECT sub_status FROM wf_run('look', correlation_id => 'a');
:complete;
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Looked');
SELECT sub_status FROM workflow.instances WHERE correlation_id = 'a';
COMMIT;

-- A trigger on one table may change the row of another that the call is about to write: the call writes what is there then.
CREATE FUNCTION touched() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE workflow.tasks SET payload = '{"touched": true}' WHERE instance_id OPERATOR(pg_catalog.=) NEW.id;
    RETURN NEW;
END $$;
CREATE TRIGGER touched BEFORE UPDATE ON workflow.instances FOR EACH ROW EXECUTE FUNCTION touched();
SELECT sub_status FROM wf_run('look', correlation_id => 'b');
:complete;
DROP TRIGGER same ON workflow.tasks;
SELECT sub_status FROM wf_run('look', correlation_id => 'c');
:complete;
SELECT correlation_id, status, payload, result FROM workflow.tasks WHERE correlation_id IN ('b', 'c') ORDER BY id;
DROP FUNCTION touched CASCADE;
DROP FUNCTION same CASCADE;
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Looked');

-- A trigger is inside the burst that writes its row. What it sends to the same instance waits until the burst has ended, and is
-- delivered before the call returns.
CREATE FUNCTION done_at_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.wf_enqueue_bookmark(instance_id => NEW.instance_id, activity_id => NEW.activity_id, input => '"at once"');
    RETURN NULL;
END $$;
CREATE TRIGGER done_at_once AFTER INSERT ON workflow.tasks FOR EACH ROW EXECUTE FUNCTION done_at_once();
SELECT sub_status FROM wf_run('look', correlation_id => 'd');
SELECT activity_type FROM workflow.bookmarks WHERE correlation_id = 'd';
SELECT status, result FROM workflow.tasks WHERE correlation_id = 'd';
DROP FUNCTION done_at_once CASCADE;

-- Two branches: the end of one publishes what the other waits for. Where a workflow runs SQL, the bookmark goes before the burst.
SELECT wf_define('{"definitionId": "two", "variables": {"N": 0}, "root": [{"type": "Parallel", "activities": [
    [{"id": "a", "type": "Event", "eventName": "A"}, {"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}],
    [{"id": "b", "type": "Event", "eventName": "B"}, {"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 10"}}]]}]}') \g /dev/null
CREATE FUNCTION tells() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.activity_id OPERATOR(pg_catalog.=) 'a' THEN
        PERFORM public.wf_publish_event('B');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER tells BEFORE DELETE ON workflow.bookmarks FOR EACH ROW EXECUTE FUNCTION tells();
SELECT sub_status FROM wf_run('two', correlation_id => 'e');
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('A');
SELECT sub_status, variables FROM workflow.instances WHERE correlation_id = 'e';
SELECT wf_define('{"definitionId": "two and SQL", "variables": {"N": 0}, "root": [{"type": "Parallel", "activities": [
    [{"id": "a", "type": "Event", "eventName": "A"}, {"type": "Sql", "statement": "SELECT 1"},
     {"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}],
    [{"id": "b", "type": "Event", "eventName": "B"}, {"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 10"}}]]}]}') \g /dev/null
SELECT sub_status FROM wf_run('two and SQL', correlation_id => 'e');
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('A');
SELECT sub_status, variables FROM workflow.instances WHERE correlation_id = 'e' ORDER BY id;
DROP FUNCTION tells CASCADE;

-- A call that names the instance is refused, whether it would run it, cancel it or delete it.
CREATE FUNCTION meddles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    CASE TG_ARGV[0]
        WHEN 'complete' THEN PERFORM public.wf_complete_task(NEW.id);
        WHEN 'cancel' THEN PERFORM public.wf_cancel(NEW.id);
        WHEN 'delete' THEN PERFORM public.wf_delete_instance(NEW.id);
    END CASE;
    RETURN NEW;
END $$;
CREATE TRIGGER meddles BEFORE INSERT ON workflow.tasks FOR EACH ROW EXECUTE FUNCTION meddles('complete');
SELECT wf_start('look', correlation_id => 'f');
\set VERBOSITY terse
CREATE OR REPLACE TRIGGER meddles AFTER INSERT ON workflow.tasks FOR EACH ROW EXECUTE FUNCTION meddles('complete');
SELECT wf_start('look', correlation_id => 'f');
DROP TRIGGER meddles ON workflow.tasks;
CREATE TRIGGER meddles AFTER INSERT ON workflow.instances FOR EACH ROW EXECUTE FUNCTION meddles('cancel');
SELECT wf_start('look', correlation_id => 'f');
CREATE OR REPLACE TRIGGER meddles AFTER INSERT ON workflow.instances FOR EACH ROW EXECUTE FUNCTION meddles('delete');
SELECT wf_start('look', correlation_id => 'f');
DROP TRIGGER meddles ON workflow.instances;
CREATE TRIGGER meddles AFTER UPDATE ON workflow.instances FOR EACH ROW EXECUTE FUNCTION meddles('delete');
SELECT wf_publish_event('Looked', correlation_id => 'd');
DROP TRIGGER meddles ON workflow.instances;

-- So is one on an instance whose start is left for later, or whose activation key is taken up again.
SELECT wf_define('{"definitionId": "nightly", "options": {"activationStrategyType": "Singleton"}, "root": [
    {"type": "Sql", "statement": "SELECT 1 / count(*) FROM public.nights"}]}') \g /dev/null
CREATE TABLE nights (night date);
SELECT wf_schedule_workflow('nightly', '@daily', 'nightly') AS schedule \gset
CREATE TRIGGER meddles AFTER INSERT ON workflow.instances FOR EACH ROW EXECUTE FUNCTION meddles('delete');
SELECT wf_schedule_run_now('nightly');
DROP TRIGGER meddles ON workflow.instances;
SELECT wf_start('nightly') AS nightly \gset
CREATE TRIGGER meddles AFTER UPDATE ON workflow.instances FOR EACH ROW EXECUTE FUNCTION meddles('cancel');
SELECT sub_status FROM wf_retry(:'nightly');
DROP TRIGGER meddles ON workflow.instances;
SELECT sub_status FROM workflow.instances WHERE id = :'nightly';
\set VERBOSITY default

-- What a trigger publishes while an instance is left for later is for others alone, and waits for no lock.
CREATE FUNCTION publishes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.wf_publish_event('Looked');
    RETURN NEW;
END $$;
SELECT wf_cancel(:'nightly');
CREATE TRIGGER publishes BEFORE INSERT ON workflow.instances FOR EACH ROW EXECUTE FUNCTION publishes();
SELECT wf_schedule_run_now('nightly') IS NOT NULL AS started;
SELECT sub_status FROM workflow.instances WHERE correlation_id = 'd';
-- Nor does it where the instance is refused.
\set VERBOSITY terse
SELECT wf_start('nightly');
\set VERBOSITY default
SELECT count(*) AS queued FROM workflow.bookmark_queue;
DROP FUNCTION publishes CASCADE;
SELECT wf_unschedule('nightly');
DROP TABLE nights;

-- Transition tables need a statement, and there is none.
CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE '% rows', (SELECT count(*) FROM new_rows);
    RETURN NULL;
END $$;
CREATE TRIGGER counted AFTER INSERT ON workflow.tasks REFERENCING NEW TABLE AS new_rows FOR EACH ROW EXECUTE FUNCTION counted();
SELECT wf_start('look', correlation_id => 'g');
ALTER TABLE workflow.tasks DISABLE TRIGGER counted;
SELECT sub_status FROM wf_run('look', correlation_id => 'g');
DROP FUNCTION counted CASCADE;
DROP FUNCTION meddles CASCADE;
SELECT count(*) FILTER (WHERE sub_status = 'Suspended') AS waiting, count(*) AS instances FROM workflow.instances WHERE definition_id = 'look';
SELECT problem FROM wf_check();
