-- ContinueAs is refused where something would be lost. What is wrong is a fault of the activity.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = error;
CREATE VIEW runs AS SELECT i.definition_id, i.sub_status FROM workflow.instance_list i ORDER BY i.instance_id;
CREATE VIEW told AS SELECT i.activity_id, i.sqlstate, i.message, i.detail, i.hint FROM workflow.incidents i ORDER BY i.id DESC LIMIT 1;
CREATE FUNCTION try(root text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE it uuid;
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', 'it', 'root', root::jsonb));
    it := wf_start('it');
    RETURN (SELECT i.sub_status FROM workflow.instance_list i WHERE i.instance_id = it);
END $$;

-- A definition that is not there, that is not published, input that is no object or does not fit.
SELECT try('[{"id": "on", "type": "ContinueAs", "definitionId": "nowhere"}]');
TABLE told;
SELECT wf_define('{"definitionId": "draft", "root": []}', publish => false) \g /dev/null
SELECT try('[{"id": "on", "type": "ContinueAs", "definitionId": "draft"}]');
TABLE told;
SELECT try('[{"id": "on", "type": "ContinueAs", "input": [1]}]');
TABLE told;
SELECT wf_define('{"definitionId": "strict", "inputs": [{"name": "n", "type": "Int32", "required": true}], "root": []}') \g /dev/null
SELECT try('[{"id": "on", "type": "ContinueAs", "definitionId": "strict", "input": {}}]');
TABLE told;
SELECT try('[{"id": "on", "type": "ContinueAs", "definitionId": "strict", "input": {"n": "many"}}]');
TABLE told;
-- Such a fault can be caught.
SELECT try('[{"type": "Try", "body": {"type": "ContinueAs", "definitionId": "nowhere"}, "catch": [{"on": ["42704"], "body": {"type": "WriteLine", "text": "caught"}}]}]');

-- Running child workflows: those that were waited for, those that were not, and those that begin after this burst.
SELECT wf_define('{"definitionId": "child", "root": [{"type": "Event", "eventName": "Grown"}]}') \g /dev/null
SELECT try('[{"type": "Fork", "branches": [{"type": "ExecuteWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true}, [{"type": "Event", "eventName": "On"}, {"id": "on", "type": "ContinueAs", "definitionId": "draft"}]]}]');
SELECT wf_publish_event('On') \g /dev/null
TABLE told;
SELECT try('[{"type": "DispatchWorkflow", "workflowDefinitionId": "child"}, {"id": "on", "type": "ContinueAs", "definitionId": "draft"}]');
TABLE told;
SELECT try('[{"type": "DispatchWorkflow", "workflowDefinitionId": "child"}, {"type": "Event", "eventName": "Later"}, {"id": "on", "type": "ContinueAs", "definitionId": "child"}]');
SELECT wf_run_due();
SELECT wf_publish_event('Later') \g /dev/null
TABLE told;
-- When they have ended the activity can be retried.
SELECT i.instance_id AS it FROM workflow.instance_list i WHERE definition_id = 'it' ORDER BY instance_id DESC LIMIT 1 \gset
SELECT wf_publish_event('Grown') \g /dev/null
SELECT sub_status FROM wf_retry(:'it');
SELECT definition_id, sub_status FROM workflow.instance_list WHERE continued_from = :'it';

-- Work that could be compensated.
SELECT try('[{"id": "pay", "type": "Compensable", "body": {"type": "WriteLine", "text": "paid"}, "compensation": {"type": "WriteLine", "text": "paid back"}}, {"id": "on", "type": "ContinueAs", "definitionId": "child"}]');
TABLE told;
-- With confirm it stays for good. A confirmation may wait: the new run begins when it has ended.
SELECT wf_define('{"definitionId": "confirms", "root": [
    {"id": "pay", "type": "Compensable", "body": {"type": "WriteLine", "text": "paid"}, "compensation": {"type": "WriteLine", "text": "paid back"},
     "confirmation": [{"type": "Event", "eventName": "Booked"}, {"type": "WriteLine", "text": "booked"}]},
    {"id": "on", "type": "ContinueAs", "definitionId": "child", "confirm": true}]}') \g /dev/null
SELECT wf_start('confirms') AS confirms \gset
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'confirms';
SELECT count(*) FROM workflow.instance_list WHERE continued_from = :'confirms';
SELECT wf_publish_event('Booked') \g /dev/null
SELECT e.* FROM wf_explain(:'confirms') AS e;
SELECT definition_id, sub_status FROM workflow.instance_list WHERE continued_from = :'confirms';
-- Meanwhile the version that it goes on with may be deleted. It then takes the one that is published at the end, and ends when there is one.
SELECT wf_define('{"definitionId": "next", "root": [{"type": "WriteLine", "text": "first"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "confirms-next", "root": [
    {"id": "book", "type": "Compensable", "body": {"type": "WriteLine", "text": "book"}, "confirmation": [{"id": "wait", "type": "Event", "eventName": "Next"}]},
    {"id": "on", "type": "ContinueAs", "definitionId": "next", "confirm": true}]}') \g /dev/null
SELECT wf_start('confirms-next') AS before \gset
SELECT wf_delete_definition('next');
SELECT cardinality(resumed) FROM wf_publish_event('Next');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'before';
SELECT wf_define('{"definitionId": "next", "root": [{"type": "WriteLine", "text": "second"}]}') \g /dev/null
SELECT cardinality(resumed) FROM wf_publish_event('Next');
SELECT definition_id, version, sub_status FROM workflow.instance_list WHERE instance_id = :'before' OR continued_from = :'before' ORDER BY 1;
-- One that is cancelled meanwhile does not go on.
SELECT wf_start('confirms') AS cancelled \gset
SELECT wf_cancel(:'cancelled', force => true);
SELECT count(*) FROM workflow.instance_list WHERE continued_from = :'cancelled';
-- Inside a handler there is nothing to go on from.
SELECT try('[{"id": "pay", "type": "Compensable", "body": {"type": "WriteLine", "text": "paid"}, "compensation": {"id": "on", "type": "ContinueAs"}}, {"type": "Compensate"}]');
TABLE told;

-- The owner of the instance needs the right to start the definition.
CREATE ROLE regress_other;
CREATE ROLE regress_runner;
SELECT wf_grant_usage('regress_other'), wf_grant_usage('regress_runner') \g /dev/null
-- Of another role's definition that has got the id meanwhile it is asked the same as when the activity runs.
SELECT wf_start('confirms-next') AS before \gset
SELECT wf_delete_instance(instance_id) FROM workflow.instance_list WHERE definition_id = 'next';
SELECT wf_delete_definition('next');
DELETE FROM workflow.definitions WHERE definition_id = 'next';
SELECT wf_set_owner('definition', 'next', 'regress_other'), wf_grant_events('regress_other') \g /dev/null
SET ROLE regress_other;
SELECT wf_define('{"definitionId": "next", "root": [{"type": "Sql", "statement": "CREATE ROLE regress_made SUPERUSER"}]}') \g /dev/null
RESET ROLE;
SELECT cardinality(resumed) FROM wf_publish_event('Next');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'before';
SELECT wf_cancel(:'before', force => true);

-- At the start.
SET ROLE regress_other;
SELECT wf_define('{"definitionId": "theirs", "root": []}') \g /dev/null
RESET ROLE;
SET ROLE regress_runner;
SELECT wf_define('{"definitionId": "mine", "root": [{"id": "on", "type": "ContinueAs", "definitionId": "theirs"}]}') \g /dev/null
SELECT wf_start('mine') IS NOT NULL AS started;
RESET ROLE;
TABLE told;
-- And the definition of another owner must not borrow the rights of this one.
SET ROLE regress_other;
SELECT wf_define('{"definitionId": "theirs", "root": [{"type": "Sql", "statement": "SELECT 1"}]}') \g /dev/null
SELECT wf_grant('theirs', 'regress_runner', '{start}') \g /dev/null
RESET ROLE;
SET ROLE regress_runner;
SELECT wf_start('mine') IS NOT NULL AS started;
RESET ROLE;
TABLE told;
DROP VIEW told, runs;
DROP OWNED BY regress_other, regress_runner;
DROP ROLE regress_other, regress_runner;

SELECT * FROM wf_check();
