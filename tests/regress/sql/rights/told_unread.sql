-- What a sender is told of definitions that it may not read.
CREATE ROLE told_owner;
CREATE ROLE told_sender;
SELECT wf_grant_usage('told_owner'), wf_grant_usage('told_sender');
SET ROLE told_owner;
SELECT wf_define('{"definitionId": "secret-id", "inputs": [{"name": "secret", "required": true}], "root": [{"id": "secret-activity", "type": "Event", "eventName": "Go", "canStartWorkflow": true}]}');
SELECT wf_grant('secret-id', 'told_sender', '{start}');
SET ROLE told_sender;
SELECT wf_grant_events('told_owner');
SELECT cardinality(started) AS started FROM wf_publish_event('Go');
SET ROLE told_owner;
SELECT wf_grant('secret-id', 'told_sender', '{read}');
SET ROLE told_sender;
SELECT cardinality(started) AS started FROM wf_publish_event('Go');

RESET ROLE;
TRUNCATE workflow.instances, workflow.bookmarks, workflow.triggers, workflow.definitions, workflow.grants, workflow.event_grants;
SELECT wf_revoke_usage('told_owner'), wf_revoke_usage('told_sender');
DROP ROLE told_owner, told_sender;
