-- security.md#definer: its events carry the name of the definition's owner, and the sender is that owner
-- A definition with the rights of its owner publishes in the name of that owner, as SQL of it does: who starts it lends it
-- nothing. What it published in the starter's name before would resume and start what listens to the starter.
SET client_min_messages = warning;
CREATE ROLE events_service;
CREATE ROLE events_user;
SELECT wf_grant_usage('events_service'), wf_grant_usage('events_user');
SET ROLE events_service;
SELECT wf_define('{"definitionId": "service", "options": {"security": "definer"}, "root": [{"type": "PublishEvent", "eventName": "Pay"}]}');
SELECT wf_define('{"definitionId": "plain", "root": [{"type": "PublishEvent", "eventName": "Pay"}]}');
SELECT wf_define('{"definitionId": "audit", "root": [{"type": "Event", "eventName": "Pay"}]}');
SELECT wf_grant(definition, 'events_user', '{start}') FROM unnest(ARRAY['service', 'plain', 'audit']) AS definition;
SELECT instance_id AS own FROM wf_run('audit') \gset
SET ROLE events_user;
SELECT wf_define('{"definitionId": "payment", "root": [{"type": "Event", "eventName": "Pay"}]}');
SELECT instance_id AS payment FROM wf_run('payment') \gset
SELECT instance_id AS started FROM wf_run('audit') \gset
RESET ROLE;
PREPARE waiting AS SELECT definition_id, owner FROM workflow.instance_list WHERE sub_status = 'Suspended' AND instance_id IN (:'own', :'payment', :'started') ORDER BY 1, 2;
EXECUTE waiting;
SET ROLE events_user;
SELECT status FROM wf_run('service');
RESET ROLE;
EXECUTE waiting;

-- With the rights of the caller it is the caller who publishes: do not start what you do not trust.
SET ROLE events_user;
SELECT status FROM wf_run('plain');
RESET ROLE;
EXECUTE waiting;

DEALLOCATE waiting;
TRUNCATE workflow.instances, workflow.bookmarks, workflow.bookmark_queue, workflow.definitions, workflow.grants;
SELECT wf_revoke_usage('events_service'), wf_revoke_usage('events_user');
DROP ROLE events_service, events_user;
