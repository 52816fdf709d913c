-- The usual set-up: a role deploys, an application publishes, and what hears it runs inside the application's transaction.
-- (docs/security.md: "Who hears a stimulus")
CREATE ROLE regress_events_deploy LOGIN;
CREATE ROLE regress_events_app LOGIN;
CREATE ROLE regress_events_web LOGIN;
SELECT wf_grant_usage(role) FROM unnest('{regress_events_deploy,regress_events_app,regress_events_web}'::name[]) AS role;
CREATE TABLE orders (id text, status text);
GRANT ALL ON orders TO PUBLIC;

-- security.md#who-may-receive-a-stimulus: definitions of the owner of the database, and of its members, hear inside the sender's transaction
-- 1. The deploying role owns the database and grants what is its own.
SELECT current_database() AS db, pg_get_userbyid(datdba) AS dba FROM pg_database WHERE datname = current_database() \gset
ALTER DATABASE :"db" OWNER TO regress_events_deploy;
\connect - regress_events_deploy
SELECT * FROM wf_define('{"definitionId": "order", "variables": {"P": null}, "root": [
    {"id": "placed", "type": "Event", "eventName": "OrderPlaced", "canStartWorkflow": true},
    {"id": "paid", "type": "Event", "eventName": "OrderPaid", "result": {"var": "P"}}, {"type": "PublishEvent", "eventName": "OrderDone"}]}');
SELECT * FROM wf_define('{"definitionId": "audit", "root": [
    {"id": "done", "type": "Event", "eventName": "OrderDone", "canStartWorkflow": true}, {"id": "check", "type": "RunTask", "taskName": "Check"}]}');
SELECT wf_grant('order', 'regress_events_app', '{start,resume,read}');
\connect - regress_events_app
BEGIN;
INSERT INTO orders VALUES ('o1', 'placed');
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('OrderPlaced', correlation_id => 'o1');
SELECT activity, correlation_id FROM workflow.waiting ORDER BY correlation_id;
SELECT cardinality(resumed) AS resumed, withheld FROM wf_publish_event('OrderPaid', '{"eur": 1}', correlation_id => 'o1');
SELECT sub_status, variables FROM workflow.instance_list ORDER BY correlation_id;
ROLLBACK;
SELECT count(*) FROM workflow.instance_list;
-- An instance of the application's own hears it as well, and the superuser's events are heard.
SELECT wf_start('order', correlation_id => 'o2', trigger_activity_id => 'placed') IS NOT NULL AS started;
SELECT cardinality(resumed) AS resumed, withheld FROM wf_publish_event('OrderPaid', correlation_id => 'o2');
SELECT wf_start('order', correlation_id => 'o3', trigger_activity_id => 'placed') IS NOT NULL AS started;
\connect - postgres
SELECT cardinality(resumed) AS resumed, withheld FROM wf_publish_event('OrderPaid', correlation_id => 'o3');
-- security.md#owners-and-grants: an instance that a trigger started belongs to the owner of the definition
-- What an order publishes that an event started, the audit hears: their owner is the same. The session is the application's.
\connect - regress_events_app
SELECT cardinality(started) AS started FROM wf_publish_event('OrderPlaced', correlation_id => 'o1');
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('OrderPaid', correlation_id => 'o1');
\connect - regress_events_deploy
SELECT definition_id, sub_status, owner, count(*) FROM workflow.instance_list GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list;
-- A member of the owner of the database deploys as well.
\connect - postgres
GRANT regress_events_deploy TO regress_events_web;
\connect - regress_events_web
SELECT * FROM wf_define('{"definitionId": "mail", "root": {"id": "placed", "type": "Event", "eventName": "OrderPlaced", "canStartWorkflow": true}}');
SELECT wf_grant('mail', 'regress_events_app', '{start}');
\connect - regress_events_app
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('OrderPlaced', correlation_id => 'o4');

-- security.md#who-may-receive-a-stimulus: the usual set-up: a superuser's grants, or wf_grant_events
-- 2. The deploying role is one of many: without more, what it grants itself is no consent of the application's …
\connect - postgres
REVOKE regress_events_deploy FROM regress_events_web;
ALTER DATABASE :"db" OWNER TO :"dba";
\connect - regress_events_app
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('OrderPlaced', correlation_id => 'o5');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_publish_event('OrderPaid', correlation_id => 'o4');
-- … and README's statements by a superuser are.
\connect - postgres
SELECT wf_grant('order', 'regress_events_app', '{start,resume,read}') AS new;
\connect - regress_events_app
BEGIN;
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('OrderPlaced', correlation_id => 'o5');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_publish_event('OrderPaid', correlation_id => 'o5');
SELECT sub_status FROM workflow.instance_list WHERE correlation_id = 'o5';
COMMIT;
-- So is the application's own word.
\connect - postgres
SELECT wf_revoke('order', 'regress_events_app', '{start,resume,read}');
\connect - regress_events_deploy
SELECT wf_grant('order', 'regress_events_app', '{start,resume,read}');
\connect - regress_events_app
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('OrderPlaced', correlation_id => 'o6');
SELECT wf_grant_events('regress_events_deploy');
SELECT cardinality(started) AS started, withheld FROM wf_publish_event('OrderPlaced', correlation_id => 'o6');
SELECT cardinality(resumed) AS resumed, withheld FROM wf_publish_event('OrderPaid', correlation_id => 'o6');

-- security.md#who-may-receive-a-stimulus: scripts of other owners share one workflow.javascript_timeout in a call; a burst that does not fit is left
-- 3. Scripts of others share one workflow.javascript_timeout in a call. What does not fit is its owner's to run.
\connect - regress_events_deploy
SELECT d.definition_id FROM generate_series(1, 5) AS n, wf_define(jsonb_build_object('definitionId', 'spin' || n, 'variables', '{"V": null}'::jsonb, 'root',
    '[{"id": "go", "type": "Event", "eventName": "Go", "canStartWorkflow": true},
      {"id": "spin", "type": "SetVariable", "variable": "V", "value": {"js": "while (true) {}"}}]'::jsonb)) AS d;
-- One without scripts, one whose scripts are short and many, one that waits, one that starts a child.
SELECT * FROM wf_define('{"definitionId": "still", "root": {"id": "go", "type": "Event", "eventName": "Go", "canStartWorkflow": true}}');
SELECT * FROM wf_define('{"definitionId": "spin6", "variables": {"V": null}, "root": [{"id": "go", "type": "Event", "eventName": "Go", "canStartWorkflow": true},
    {"type": "While", "condition": {"js": "true"}, "body": {"type": "SetVariable", "variable": "V", "value": {"js": "for (let i = 0; i < 1e5; i++); 1"}}}]}');
SELECT * FROM wf_define('{"definitionId": "wait7", "variables": {"V": null}, "root": [{"id": "wait", "type": "Event", "eventName": "Go"},
    {"id": "spin", "type": "SetVariable", "variable": "V", "value": {"js": "1 + 1"}}]}');
SELECT * FROM wf_define('{"definitionId": "zchild", "root": {"type": "WriteLine", "text": {"js": "1 + 1"}}}');
SELECT * FROM wf_define('{"definitionId": "zparent", "root": [{"id": "go", "type": "Event", "eventName": "Go", "canStartWorkflow": true},
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "zchild", "waitForCompletion": true}, {"id": "after", "type": "RunTask", "taskName": "After"}]}');
SELECT wf_start('wait7') IS NOT NULL AS waits;
SELECT count(wf_grant(definition_id, 'regress_events_app', '{start,resume,read}')) FROM workflow.definition_list;
\connect - regress_events_app
SET workflow.javascript_timeout = '200ms';
SET workflow.max_steps = 100000000;
SET client_min_messages = error;
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, queued_id IS NOT NULL AS left, withheld FROM wf_publish_event('Go');
SELECT definition_id, sub_status, incident_count FROM workflow.instance_list
WHERE definition_id ~ '^(spin|still|wait7|zchild|zparent)' ORDER BY definition_id;
-- security.md#who-may-receive-a-stimulus: wf_run_due does not run them for a role whose own stimulus would not have reached them
\connect - regress_events_web
SET client_min_messages = error;
SELECT wf_run_due() AS ran;
-- Their owner runs them, each script within a time of its own.
\connect - regress_events_deploy
SET workflow.javascript_timeout = '1s';
SET workflow.max_steps = 1000;
SET client_min_messages = error;
SELECT wf_run_due() > 0 AS ran;
SELECT definition_id, sub_status, incident_count FROM workflow.instance_list
WHERE definition_id ~ '^(spin[1-5]|still|wait7|zchild|zparent)' ORDER BY definition_id;

\connect - postgres
SELECT * FROM wf_check();
