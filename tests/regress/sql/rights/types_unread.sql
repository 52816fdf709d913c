-- A workflow that is usable as an activity exists only for roles that may start or read it. Once it is another role's that a
-- definition did not know before, wf_define says so.
SET client_min_messages = warning;
CREATE ROLE types_owner;
CREATE ROLE types_other;
SELECT wf_grant_usage('types_owner'), wf_grant_usage('types_other');

SET ROLE types_owner;
SELECT wf_define('{"definitionId": "hidden-id", "name": "hidden thing", "options": {"usableAsActivity": true}, "root": []}');
SET ROLE types_other;
SELECT * FROM wf_validate('{"definitionId": "consumer", "root": [{"id": "use", "type": "HiddenThing"}]}');
SELECT wf_define('{"definitionId": "consumer", "root": [{"id": "use", "type": "HiddenThing"}]}');
SELECT wf_define('{"definitionId": "consumer", "root": [{"id": "use", "type": "HiddenThing"}]}', allow_unknown => true);

SET ROLE types_owner;
SELECT wf_grant('hidden-id', 'types_other', '{start}');
SET ROLE types_other;
SELECT wf_define('{"definitionId": "consumer", "root": [{"id": "use", "type": "HiddenThing"}]}', allow_unknown => true);

RESET ROLE;
TRUNCATE workflow.definitions, workflow.grants;
SELECT wf_revoke_usage('types_owner'), wf_revoke_usage('types_other');
DROP ROLE types_owner, types_other;
