-- What an activity type means that was unknown when the definition was stored, and names that look like built-in ones.
\set VERBOSITY terse
CREATE ROLE regress_types_alice;
CREATE ROLE regress_types_mallory;
SELECT wf_grant_usage('regress_types_alice'), wf_grant_usage('regress_types_mallory');
GRANT CREATE ON SCHEMA public TO regress_types_alice, regress_types_mallory;
CREATE TABLE loot (who name DEFAULT current_user, how text);
GRANT INSERT, SELECT ON loot TO PUBLIC;

SELECT * FROM wf_define('{"definitionId": "late", "root": [{"id": "a", "type": "LaterMail"}]}', allow_unknown => true);
SET ROLE regress_types_alice;
SELECT * FROM wf_define('{"definitionId": "alice_late", "options": {"security": "definer"}, "root": [{"id": "a", "type": "LaterMail"}]}', allow_unknown => true);
SELECT * FROM wf_define('{"definitionId": "alice_inner", "options": {"usableAsActivity": true}, "name": "alice inner", "root": [{"id": "a", "type": "LaterMail"}]}', allow_unknown => true);

-- security.md#functions-replaced-by-another-role: an unknown type can become only one of the definition's owner or of a superuser
-- Mallory's type of that name is not meant.
SET ROLE regress_types_mallory;
CREATE FUNCTION mallory_mail(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ INSERT INTO loot (how) VALUES (context -> 'instance' ->> 'definitionId'); SELECT '{}'::jsonb $$;
SELECT wf_register_activity('LaterMail', 'mallory_mail(jsonb)');
RESET ROLE;
SET client_min_messages = error;
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('late');
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('alice_late');
SELECT * FROM wf_define('{"definitionId": "outer", "root": [{"type": "AliceInner", "workflowDefinitionId": "alice_inner"}]}');
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('outer');
RESET client_min_messages;
SELECT * FROM loot;

-- security.md#functions-replaced-by-another-role: stored again, the definition means the type as it is then
-- A role that stores the definition again, now that the type is known, has chosen it.
SELECT * FROM wf_define('{"definitionId": "late", "root": [{"id": "a", "type": "LaterMail"}]}', allow_unknown => true);
SELECT * FROM wf_define('{"definitionId": "late", "root": [{"id": "a", "type": "LaterMail"}]}', allow_unknown => true);
SELECT sub_status FROM wf_run('late');
SELECT * FROM loot;
TRUNCATE loot;

-- The type of the same owner, or of a superuser, is meant: sessions that ran the definition before notice.
SET ROLE regress_types_alice;
SELECT * FROM wf_define('{"definitionId": "own", "root": [{"id": "a", "type": "Own"}, {"id": "b", "type": "House"}]}', allow_unknown => true);
CREATE FUNCTION own_type(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Own', 'own_type(jsonb)');
RESET ROLE;
CREATE FUNCTION house(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('House', 'house(jsonb)');
SELECT sub_status FROM wf_run('own');
SELECT wf_set_owner('activity type', 'Own', 'regress_types_mallory');
SET client_min_messages = error;
SELECT sub_status, incidents -> 0 ->> 'activity_id' AS activity FROM wf_run('own');
RESET client_min_messages;
SELECT wf_set_owner('activity type', 'Own', 'regress_types_alice');
SELECT sub_status FROM wf_run('own');

-- security.md#functions-replaced-by-another-role: names that look like built-in ones are refused
-- Names that a reader takes for built-in ones.
\set VERBOSITY default
SET ROLE regress_types_mallory;
SELECT wf_register_activity('WriteLine', 'mallory_mail(jsonb)');
SELECT wf_register_activity('writeline', 'mallory_mail(jsonb)');
\set VERBOSITY verbose
SELECT wf_register_activity('elsa.writeline', 'mallory_mail(jsonb)');
\set VERBOSITY terse
SELECT wf_register_activity('ELSA.WRITELINE', 'mallory_mail(jsonb)');
SELECT wf_register_activity(' WriteLine', 'mallory_mail(jsonb)');
SELECT wf_register_activity('Workflow.writeline', 'mallory_mail(jsonb)');
SELECT wf_register_activity('runtask', 'mallory_mail(jsonb)');
SELECT wf_register_activity('foreach<String>', 'mallory_mail(jsonb)');
SELECT wf_register_activity('elsa.Mine', 'mallory_mail(jsonb)');
SELECT wf_register_activity('workflow.Mine', 'mallory_mail(jsonb)');
SELECT wf_define('{"definitionId": "x", "root": [{"type": "writeline", "text": "x"}]}');
SELECT * FROM wf_define('{"definitionId": "look", "name": "write line", "options": {"usableAsActivity": true}, "root": []}');
SELECT * FROM wf_define('{"definitionId": "look", "name": "Writeline", "options": {"usableAsActivity": true}, "root": []}');
SELECT wf_register_activity('WriteLines', 'mallory_mail(jsonb)');
RESET ROLE;

DROP OWNED BY regress_types_alice, regress_types_mallory CASCADE;
DROP ROLE regress_types_alice, regress_types_mallory;
