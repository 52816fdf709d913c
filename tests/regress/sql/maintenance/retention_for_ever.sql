-- A retention of thousands of years was an error of every wf_run_due(). As long as can be said is for ever.
SET timezone = 'UTC';
SET workflow.retention = '1min';
SET workflow.now = '2034-02-20 13:00:00+00';
SELECT definition_id FROM wf_define('{"definitionId": "for ever", "options": {"retention": "290000 years"}, "root": {"type": "WriteLine", "text": "kept"}}');
SELECT wf_start('for ever') IS NOT NULL AS started;
SET workflow.now = '2035-02-20 13:00:00+00';
SELECT wf_run_due();
SELECT count(*) FROM workflow.instances WHERE definition_id = 'for ever';
