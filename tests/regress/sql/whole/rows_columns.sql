-- Columns of one's own on the tables: triggers on columns, and columns that PostgreSQL computes.
\i tests/regress/include/rows.sql

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
