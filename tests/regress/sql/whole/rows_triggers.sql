-- Row triggers of one's own on the tables: what they see, change, refuse and defer of the rows that the engine writes itself.
\i tests/regress/include/rows.sql

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
