-- What time has given up says so: where it waits, and in its story, with the call that tries again.
SET timezone = 'UTC';
SELECT * FROM wf_define('{"definitionId": "nap", "root": {"id": "nap", "type": "Delay", "timeSpan": "00:00:01"}}');
SET workflow.now = '2030-01-01 00:00:00+00';
SELECT wf_start('nap') AS instance \gset
SELECT activity, attempts, dead_letter_id, last_error FROM workflow.waiting WHERE instance = :'instance';
SELECT replace(line, :'instance', '(instance)') AS line FROM wf_explain(:'instance') AS line;
-- A state that cannot be read fails each fire. Two attempts, and the third.
CREATE TABLE kept AS SELECT state FROM workflow.instances WHERE id = :'instance';
UPDATE workflow.instances SET state = '\x00' WHERE id = :'instance';
SET client_min_messages = error;
SET workflow.now = '2030-01-01 00:01:00+00';
SELECT wf_run_due();
SELECT attempts, due IS NOT NULL AS is_due, dead_letter_id, last_error FROM workflow.waiting WHERE instance = :'instance';
SET workflow.now = '2030-01-01 00:02:00+00';
SELECT wf_run_due();
UPDATE workflow.instances SET state = (SELECT state FROM kept) WHERE id = :'instance';
SELECT line FROM wf_explain(:'instance') AS line WHERE line LIKE '%failed%';
UPDATE workflow.instances SET state = '\x00' WHERE id = :'instance';
SET workflow.now = '2030-01-01 00:03:00+00';
SELECT wf_run_due();
RESET client_min_messages;
UPDATE workflow.instances SET state = (SELECT state FROM kept) WHERE id = :'instance';
SELECT w.activity, w.due, w.attempts, w.dead_letter_id = d.dead_letter_id AS names_it, w.last_error = d.last_error AS says_why
  FROM workflow.waiting AS w, workflow.dead_letter_list AS d WHERE w.instance = :'instance';
SELECT dead_letter_id AS letter FROM workflow.waiting WHERE instance = :'instance' \gset
SELECT replace(replace(line, :'instance', '(instance)'), :'letter', '(letter)') AS line FROM wf_explain(:'instance') AS line;
-- The call that it names goes on from there.
SELECT wf_replay(:'letter');
SELECT attempts, due IS NOT NULL AS is_due, dead_letter_id FROM workflow.waiting WHERE instance = :'instance';
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
-- A state that can be read and names an activity that the definition does not have.
SELECT wf_start('nap') AS damaged \gset
UPDATE workflow.instances SET state = set_byte(state, 3, 100) WHERE id = :'damaged';
\set VERBOSITY terse
SELECT workflow.instance_state(:'damaged');
\echo :SQLSTATE
SELECT * FROM wf_explain(:'damaged');
SELECT wf_svg(instance => :'damaged');
SELECT wf_cancel(:'damaged');
SELECT sub_status FROM workflow.bookmarks AS b, wf_resume(b.id) WHERE b.instance_id = :'damaged';
\set VERBOSITY default
DELETE FROM workflow.bookmarks WHERE instance_id = :'damaged';
DELETE FROM workflow.instances WHERE id = :'damaged';
-- No other role sees it.
CREATE ROLE given_up_stranger;
SET ROLE given_up_stranger;
SELECT count(*) FROM workflow.waiting;
RESET ROLE;
DROP TABLE kept;
SELECT * FROM wf_check();
