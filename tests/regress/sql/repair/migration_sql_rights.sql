-- security.md#whose-rights-sql-in-a-workflow-has: whose rights the SQL of an instance has, the version says in which it is. Ann owns the definition, Ben the instances.
SET timezone = 'UTC';
SET client_min_messages = error;
CREATE ROLE regress_mig_ann;
CREATE ROLE regress_mig_ben;
SELECT wf_grant_usage(role) FROM unnest('{regress_mig_ann, regress_mig_ben}'::name[]) AS role;
CREATE FUNCTION waiting(options jsonb, step jsonb) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object('definitionId', 'whose', 'options', options, 'variables', '{"Who": null}'::jsonb, 'root', jsonb_build_array(
    '{"id": "wait", "type": "Delay", "timeSpan": "1:00:00"}'::jsonb, step));
\set who '{"id": "who", "type": "Sql", "statement": "SELECT current_user AS who", "result": {"var": "Who"}}'
SET workflow.now = '2030-01-03 00:00:00+00';
SET ROLE regress_mig_ann;
SELECT wf_define(waiting('{}', '{"id": "who", "type": "SetVariable", "variable": "Who", "value": "no SQL"}'));
SELECT wf_grant('whose', 'regress_mig_ben', '{start, read}');
SET ROLE regress_mig_ben;
SELECT count(wf_start('whose', correlation_id => name)) FROM unnest('{plain, invoker, definer, back}'::text[]) AS name;
SET ROLE regress_mig_ann;
SELECT wf_define(waiting('{}', :'who'));
SELECT wf_define(waiting('{"security": "definer"}', :'who'));
-- A member of both owners moves them, here a superuser.
RESET ROLE;
SELECT count(*) FROM workflow.instance_list AS i, wf_migrate(i.instance_id, CASE i.correlation_id WHEN 'definer' THEN 3 ELSE 2 END) WHERE i.definition_id = 'whose' AND i.correlation_id <> 'plain';
SELECT count(*) FROM workflow.instance_list AS i, wf_migrate(i.instance_id, 1) WHERE i.correlation_id = 'back';
SELECT correlation_id, version FROM workflow.instance_list WHERE definition_id = 'whose' ORDER BY 1;
-- No session of Ann's runs what is Ben's now, nor the other way round.
RESET ROLE;
SET workflow.now = '2030-01-03 01:00:00+00';
SET ROLE regress_mig_ann;
SELECT wf_run_due();
SELECT correlation_id, sub_status, variables FROM workflow.instance_list WHERE definition_id = 'whose' ORDER BY 1;
SET ROLE regress_mig_ben;
SELECT wf_run_due();
SELECT correlation_id, sub_status, variables FROM workflow.instance_list WHERE definition_id = 'whose' ORDER BY 1;
RESET ROLE;
DROP OWNED BY regress_mig_ann, regress_mig_ben;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id = 'whose';
SELECT wf_delete_definition('whose') > 0 AS deleted;
DROP ROLE regress_mig_ann, regress_mig_ben;
DROP FUNCTION waiting;
SELECT * FROM wf_check();
