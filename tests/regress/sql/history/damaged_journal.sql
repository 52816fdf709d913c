-- A reader of a damaged row of the journal is told which instance it belongs to; the instance goes on.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT wf_define('{"definitionId": "go", "root": [{"type": "Event", "eventName": "Go"}]}') \g /dev/null
SELECT wf_start('go', instance_id => '01900000-0000-7000-8000-000000000001') AS id \gset
UPDATE workflow.execution_log SET events = '\xff00';
SELECT event FROM workflow.journal;
SELECT * FROM wf_explain(:'id');
SELECT wf_svg(instance => :'id');
UPDATE workflow.execution_log SET events = '';
SELECT event FROM workflow.journal;
SELECT cardinality(resumed) FROM wf_publish_event('Go');
SELECT sub_status FROM workflow.instance_list;
-- The audit says that an act may be missing, and a damaged row does not keep the instance from being removed.
SELECT kind, role, detail FROM workflow.audit WHERE instance_id = :'id' ORDER BY at;
SELECT wf_delete_instance(:'id');
SELECT kind, role, detail FROM workflow.audit WHERE instance_id = :'id' ORDER BY at, kind;
