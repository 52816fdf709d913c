-- What a DBA does to the tables themselves holds for the engine: foreign keys, updates, TRUNCATE, partitions, renamed tables, other
-- types and access methods.
\i tests/regress/include/rows.sql

-- A foreign key of one's own on an instance.
CREATE TABLE claims (id integer PRIMARY KEY, instance uuid REFERENCES workflow.instances ON DELETE CASCADE);
INSERT INTO claims SELECT 1, wf_start('claim', '{"report": "short"}');
\set VERBOSITY terse
INSERT INTO claims VALUES (2, '00000000-0000-7000-8000-000000000000');
\set VERBOSITY default
DROP TABLE claims;

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
-- Also in tables that are written anew, where nothing lies as before.
CLUSTER workflow.bookmarks USING bookmarks_pkey;
CLUSTER workflow.instances USING instances_pkey;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '3') WHERE t.correlation_id = 'moved';
COMMIT;
SELECT name, variables -> 'Notes' AS notes FROM workflow.instance_list WHERE instance_id = :'moved';

-- What was taken back is not found where it was: the same id lies elsewhere when it is written again.
BEGIN;
SAVEPOINT before;
SELECT wf_start('claim', '{"report": "first"}', instance_id => '01900000-0000-7000-8000-0000000000aa') \g /dev/null
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"first"') WHERE t.instance_id = '01900000-0000-7000-8000-0000000000aa';
ROLLBACK TO before;
SELECT wf_cancel('01900000-0000-7000-8000-0000000000aa');
ROLLBACK TO before;
SELECT wf_start('claim', '{"report": "second"}', instance_id => '01900000-0000-7000-8000-0000000000aa') \g /dev/null
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"second"') WHERE t.instance_id = '01900000-0000-7000-8000-0000000000aa';
-- A row that the session has deleted by hand is gone, and one in its stead is found.
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = '01900000-0000-7000-8000-0000000000aa' \gset
CREATE TEMP TABLE kept AS SELECT * FROM workflow.instances WHERE id = '01900000-0000-7000-8000-0000000000aa';
DELETE FROM workflow.instances WHERE id = '01900000-0000-7000-8000-0000000000aa';
SAVEPOINT gone;
\set VERBOSITY sqlstate
SELECT wf_cancel('01900000-0000-7000-8000-0000000000aa');
\set VERBOSITY default
ROLLBACK TO gone;
INSERT INTO workflow.instances SELECT * FROM kept;
SELECT sub_status FROM wf_complete_task(:'task', '"third"');
COMMIT;
SELECT input, variables -> 'Notes' AS notes FROM workflow.instance_list WHERE instance_id = '01900000-0000-7000-8000-0000000000aa';

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
ALTER TABLE workflow.instances ALTER COLUMN state TYPE text USING encode(state, 'hex');
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

-- A column of a result is not read as another type than it has.
BEGIN;
ALTER TABLE workflow.identity ALTER COLUMN database TYPE bigint;
\set VERBOSITY terse
SELECT wf_run_due();
\set VERBOSITY default
ROLLBACK;
