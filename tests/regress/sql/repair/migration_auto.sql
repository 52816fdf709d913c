-- Publishing a version with the option migrate moves the instances of other versions to it, in batches that workers or wf_run_due run.
SET client_min_messages = error;
CREATE FUNCTION define(steps jsonb, options jsonb DEFAULT '{"migrate": "auto"}', id text DEFAULT 'order', publish boolean DEFAULT true) RETURNS integer LANGUAGE sql
    RETURN (SELECT version FROM wf_define(jsonb_build_object('definitionId', id, 'options', options, 'root', jsonb_build_object('id', 'main', 'type', 'Sequence', 'activities', steps)), publish));
CREATE VIEW versions AS SELECT definition_id, version, sub_status, count(*) FROM workflow.instance_list WHERE definition_id IN ('order', 'other') GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
CREATE VIEW migrations AS SELECT i.sub_status, i.owner, i.correlation_id, i.input, i.output FROM workflow.instance_list AS i
    WHERE i.definition_id = 'Workflow.MigrateInstances' ORDER BY i.instance_id;
\set pay '{"id": "pay", "type": "Event", "eventName": "Paid"}'
\set check '{"id": "check", "type": "RunTask", "taskName": "check"}'
-- The first version has nothing to move.
SELECT define(format('[%s, %s]', :'pay', :'check')::jsonb);
SELECT count(*) FROM migrations;
SELECT count(wf_start('order', correlation_id => n::text)) FROM generate_series(1, 1200) AS n;
SELECT count(wf_publish_event('Paid', correlation_id => n::text)) FROM generate_series(1, 3) AS n;
SELECT count(wf_cancel(instance_id)) FROM workflow.instance_list WHERE correlation_id = '9';
-- The same rights and clock as any other call. The second version does not have the task.
SELECT define(format('[%s, {"id": "end", "type": "WriteLine", "text": "done"}]', :'pay')::jsonb);
SELECT * FROM migrations;
SELECT version, is_published, migrating FROM workflow.definition_list WHERE definition_id = 'order' ORDER BY 1;
-- One fire is a batch.
SELECT wf_run_due(2);
SELECT version, is_published, migrating FROM workflow.definition_list WHERE definition_id = 'order' ORDER BY 1;
SELECT wf_run_due();
SELECT * FROM migrations;
SELECT * FROM versions;
SELECT version, is_published, migrating FROM workflow.definition_list WHERE definition_id = 'order' ORDER BY 1;
-- Why three stay.
SELECT problems, count(*) FROM wf_migrate_all('order', dry_run => true) WHERE outcome = 'Refused' GROUP BY 1;
SELECT data FROM workflow.journal JOIN workflow.instance_list AS i USING (instance_id) WHERE i.correlation_id = '4' AND event = 'Migrated';
-- The same content again is no publication. wf_publish tries once more; nothing else has changed.
SELECT define(format('[%s, {"id": "end", "type": "WriteLine", "text": "done"}]', :'pay')::jsonb);
SELECT count(*) FROM migrations;
SELECT wf_publish('order');
SELECT wf_run_due();
SELECT sub_status, output FROM migrations;
-- A newer publication takes the place of one that is not through: the older one moves nothing more.
SELECT define(format('[%s, {"id": "end", "type": "WriteLine", "text": "three"}]', :'pay')::jsonb);
SELECT wf_run_due(2);
SELECT define(format('[%s, %s, {"id": "end", "type": "WriteLine", "text": "four"}]', :'pay', :'check')::jsonb);
SELECT wf_run_due();
SELECT sub_status, input -> 'version' AS version, output FROM migrations OFFSET 2;
SELECT * FROM versions;
-- So does one without the option, and wf_retract: what has not been moved stays.
SELECT define(format('[%s, {"id": "end", "type": "WriteLine", "text": "five"}]', :'pay')::jsonb);
SELECT define(format('[%s, {"id": "end", "type": "WriteLine", "text": "six"}]', :'pay')::jsonb, '{"migrate": "manual"}');
SELECT wf_run_due();
SELECT sub_status, input -> 'version' AS version, output FROM migrations OFFSET 4;
SELECT wf_publish('order', 5), wf_retract('order');
SELECT wf_run_due();
SELECT sub_status, input -> 'version' AS version, output FROM migrations OFFSET 5;
SELECT * FROM versions;
SELECT version, migrating FROM workflow.definition_list WHERE definition_id = 'order' ORDER BY 1;
-- Each publication takes the place of the migrations before, and wf_retract ends them all.
SELECT count(wf_publish('order', v)) FROM unnest(ARRAY[5, 4, 5, 4]) AS v;
SELECT sub_status, count(*) FROM migrations GROUP BY 1 ORDER BY 1;
SELECT wf_retract('order');
SELECT sub_status, count(*) FROM migrations GROUP BY 1 ORDER BY 1;
SELECT data FROM workflow.journal JOIN workflow.instance_list AS i USING (instance_id) WHERE i.definition_id = 'Workflow.MigrateInstances' AND event = 'Workflow cancelled' LIMIT 1;
-- A version that is only stored moves nothing; its publication does, also backward.
SELECT define('[{"id": "a", "type": "Event", "eventName": "A"}]', id => 'other'), wf_start('other') IS NOT NULL AS started;
SELECT define('[{"id": "a", "type": "Event", "eventName": "A"}, {"id": "b", "type": "Event", "eventName": "B"}]', id => 'other', publish => false);
SELECT wf_run_due();
SELECT wf_publish('other', 2);
SELECT wf_run_due();
SELECT wf_publish('other', 1);
SELECT wf_run_due();
SELECT sub_status, input -> 'version' AS version, output FROM migrations WHERE correlation_id = 'other';
SELECT * FROM versions WHERE definition_id = 'other';
-- An instance that waits while all of this happens goes on where it is now.
SELECT cardinality(resumed) FROM wf_publish_event('A');
SELECT * FROM versions WHERE definition_id = 'other';

-- The migration belongs to the owner of the definition, has that role's rights, and tells every reader how far it is.
CREATE ROLE regress_auto_owner LOGIN;
CREATE ROLE regress_auto_user;
GRANT CREATE ON SCHEMA public TO regress_auto_owner;
SELECT wf_grant_usage('regress_auto_owner'), wf_grant_usage('regress_auto_user');
SET SESSION AUTHORIZATION regress_auto_owner;
SELECT version FROM wf_define('{"definitionId": "leave", "root": {"id": "s", "type": "Sequence", "activities": [{"id": "a", "type": "Event", "eventName": "A"}]}}');
SELECT wf_grant('leave', 'regress_auto_user', '{start,read}');
SET SESSION AUTHORIZATION regress_auto_user;
SELECT wf_start('leave') IS NOT NULL AS started;
SET SESSION AUTHORIZATION regress_auto_owner;
-- SQL of invokers would be brought into another role's instance.
SELECT wf_start('leave') IS NOT NULL AS started;
SELECT version FROM wf_define('{"definitionId": "leave", "options": {"migrate": "auto"}, "root": {"id": "s", "type": "Sequence", "activities": [{"id": "a", "type": "Event", "eventName": "A"}, {"type": "Sql", "statement": "SELECT 1"}]}}');
SET SESSION AUTHORIZATION regress_auto_user;
SELECT version, migrating FROM workflow.definition_list WHERE definition_id = 'leave' ORDER BY 1;
SELECT wf_run_due();
-- The lock of a definition is for its managers only.
SELECT * FROM workflow._migrate_batch('leave', 1, '{}');
SELECT * FROM workflow._migrate_batch('leave', 2, '{}');
SET SESSION AUTHORIZATION regress_auto_owner;
SELECT wf_run_due();
SELECT owner, sub_status, output FROM workflow.instance_list WHERE definition_id = 'Workflow.MigrateInstances';
RESET SESSION AUTHORIZATION;
SELECT owner, version FROM workflow.instance_list WHERE definition_id = 'leave' ORDER BY 1;

-- An instance that moves those of its own definition stays where it is, and ends. xids of another cluster mean nothing here.
SELECT version FROM wf_define('{"definitionId": "own", "outputs": [{"name": "total"}], "root": {"id": "m", "type": "MigrateInstances", "definitionId": "own", "version": 2, "result": {"output": "total"}}}');
SELECT wf_start('own') IS NOT NULL AS started;
SELECT version FROM wf_define('{"definitionId": "own", "outputs": [{"name": "total"}], "root": {"id": "m", "type": "MigrateInstances", "definitionId": "own", "version": 2, "result": {"output": "total"}, "name": "again"}}');
SELECT wf_run_due();
SELECT version, sub_status, output FROM workflow.instance_list WHERE definition_id = 'own';
SELECT pause, moved FROM workflow._migrate_batch('own', 2, '{"began": 1000000000000, "pass": 3}');

-- Migrations are instances of the system, as the runs of commands are.
SELECT count(*) > 0 AS of_the_system FROM wf_alter('[{"type": "Cancel"}]', '{"isSystem": true, "definitionIds": ["Workflow.MigrateInstances"]}', dry_run => true);
SELECT count(*) FROM wf_alter('[{"type": "Cancel"}]', '{"isSystem": false, "definitionIds": ["Workflow.MigrateInstances"]}', dry_run => true);

-- Bad input.
\set VERBOSITY default
SELECT define('[]', '{"migrate": "always"}');
SELECT define('[]', '{"migrate": true}');
SELECT wf_define('{"definitionId": "Workflow.MigrateInstances", "root": {"type": "WriteLine", "text": "mine"}}');
SELECT wf_set_owner('definition', 'Workflow.MigrateInstances', 'regress_auto_owner');
SELECT * FROM workflow._migrate_batch('order', 1, '[]');
SELECT * FROM workflow._migrate_batch('order', 1, '{"after": 1}');
SELECT * FROM workflow._migrate_batch('nothing', 1, '{}');
\set VERBOSITY terse
SELECT wf_delete_instance(instance_id, force => true) IS NOT NULL AS deleted FROM workflow.instance_list WHERE definition_id = 'leave';
SELECT wf_delete_definition('leave') > 0 AS deleted;
SELECT wf_revoke_usage('regress_auto_owner'), wf_revoke_usage('regress_auto_user');
DROP OWNED BY regress_auto_owner, regress_auto_user;
DROP ROLE regress_auto_owner, regress_auto_user;
DROP VIEW versions, migrations;
DROP FUNCTION define;
