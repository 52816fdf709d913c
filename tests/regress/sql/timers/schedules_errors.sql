-- What the functions for schedules refuse, and how they say so.
\i tests/regress/include/schedules.sql

SELECT wf_schedule('archive', '0 3 * * *', 'DELETE FROM sales') AS id \gset
SELECT * FROM wf_define('{"definitionId": "greet", "inputs": [{"name": "who", "type": "String"}], "root": {"type": "WriteLine", "text": {"js": "`hello ${getInput(''who'')}`"}}}');
SELECT wf_schedule_workflow('greet', '*/30 * * * *', 'greet', '{"who": "Ada"}', correlation_id => 'g') IS NOT NULL AS scheduled;
RESET ROLE;

-- Mistakes.
SELECT wf_schedule('x', '61 * * * *', 'SELECT 1');
\echo :SQLSTATE
SELECT wf_schedule('x', '@daily', 'SELEC 1');
\echo :SQLSTATE
SELECT wf_schedule('x', '@daily', ' -- nothing');
SELECT wf_schedule('x', '@daily', 'VACUUM; SELECT 1');
\echo :SQLSTATE
SELECT wf_schedule('x', '@daily', 'BEGIN; SELECT 1; COMMIT');
SELECT wf_schedule('x', '@daily', 'COMMIT');
SELECT wf_schedule('x', '@daily', 'begin', top_level => true);
SELECT wf_schedule('x', '@daily', 'SELECT 1', timezone => 'Mars/Phobos');
\echo :SQLSTATE
SELECT wf_schedule('x', '@daily', 'SELECT 1', misfire => 'never');
SELECT wf_schedule('x', '@daily', 'SELECT 1', misfire_cap => 0);
SELECT wf_schedule('x', '@daily', 'SELECT 1', overlap => 'no');
SELECT wf_schedule('x', '@daily', 'SELECT 1', jitter => '-1 s');
SELECT wf_schedule('', '@daily', 'SELECT 1');
SELECT wf_schedule(NULL, '@daily', 'SELECT 1');
\echo :SQLSTATE
SELECT wf_schedule('x', '@daily', NULL);
SELECT wf_schedule_workflow('x', '@daily', 'nothing');
\echo :SQLSTATE
SELECT wf_schedule_workflow('x', '@daily', 'greet', '[1]');
SELECT wf_retract('greet');
SELECT wf_schedule_workflow('x', '@daily', 'greet');
\echo :SQLSTATE
SELECT wf_alter_schedule('nothing', active => true);
\echo :SQLSTATE
SELECT wf_alter_schedule('greet', command => 'SELECT 1');
\echo :SQLSTATE
SELECT wf_alter_schedule('archive', input => '{}');
SELECT wf_alter_schedule('archive', command => 'SELECT 1', input => '{}');
SELECT wf_unschedule('nothing');
SELECT wf_schedule_run_now('nothing');
\echo :SQLSTATE
