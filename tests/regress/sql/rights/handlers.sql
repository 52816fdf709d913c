-- Handlers, payload functions and callbacks are names. A name that has become another role's is not called: Alice's schema is
-- dropped, and Mallory, who may create schemas, makes it anew.
-- security.md#functions-replaced-by-another-role: functions that became another role's are not called, 42501
\set VERBOSITY terse
CREATE ROLE regress_handlers_alice;
CREATE ROLE regress_handlers_bob;
CREATE ROLE regress_handlers_mallory;
SELECT wf_grant_usage('regress_handlers_alice'), wf_grant_usage('regress_handlers_bob'), wf_grant_usage('regress_handlers_mallory');
GRANT CREATE ON DATABASE workflow TO regress_handlers_alice, regress_handlers_mallory;
CREATE TABLE loot (who name DEFAULT current_user, how text);
GRANT INSERT, SELECT ON loot TO PUBLIC;

SET ROLE regress_handlers_alice;
CREATE SCHEMA tools;
GRANT USAGE ON SCHEMA tools TO PUBLIC;
CREATE FUNCTION tools.mail(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"bookmarks": [{"callback": "sent"}]}'::jsonb $$;
CREATE FUNCTION tools.sent(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
CREATE FUNCTION tools.listens(context jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ SELECT '{"on": 1}'::jsonb $$;
SELECT wf_register_activity('Tools.Mail', 'tools.mail(jsonb)');
SELECT wf_register_activity('Tools.Listen', 'tools.mail(jsonb)', 'trigger', 'tools.listens(jsonb)');
RESET ROLE;
SELECT * FROM wf_define('{"definitionId": "mail", "root": [{"id": "m", "type": "Tools.Mail"}]}');
SELECT * FROM wf_define('{"definitionId": "listen", "root": [{"id": "l", "type": "Tools.Listen", "canStartWorkflow": true}]}');
SELECT wf_start('mail') AS waiting \gset
SELECT callback FROM workflow.open_bookmarks WHERE instance_id = :'waiting';
SELECT wf_start('mail', correlation_id => 'same owner') AS same \gset
SELECT sub_status FROM workflow.open_bookmarks AS b, wf_resume(b.bookmark_id) AS r WHERE b.instance_id = :'same';

-- As it was: the same role makes all of it again, and all goes on.
SET ROLE regress_handlers_alice;
DROP SCHEMA tools CASCADE;
CREATE SCHEMA tools;
GRANT USAGE ON SCHEMA tools TO PUBLIC;
CREATE FUNCTION tools.mail(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"bookmarks": [{"callback": "sent"}]}'::jsonb $$;
CREATE FUNCTION tools.sent(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
RESET ROLE;
SELECT sub_status FROM wf_run('mail');

SET ROLE regress_handlers_alice;
DROP SCHEMA tools CASCADE;
SET ROLE regress_handlers_mallory;
CREATE SCHEMA tools;
GRANT USAGE ON SCHEMA tools TO PUBLIC;
CREATE FUNCTION tools.mail(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ INSERT INTO loot (how) VALUES ('handler'); SELECT '{}'::jsonb $$;
CREATE FUNCTION tools.sent(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ INSERT INTO loot (how) VALUES ('callback'); SELECT '{}'::jsonb $$;
CREATE FUNCTION tools.listens(context jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ INSERT INTO loot (how) VALUES ('payloads'); SELECT '{"on": 2}'::jsonb $$;
RESET ROLE;
\set VERBOSITY default
SET client_min_messages = error;
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message, incidents -> 0 ->> 'detail' AS detail FROM wf_run('mail');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message, incidents -> 0 ->> 'detail' AS detail
FROM workflow.open_bookmarks AS b, wf_resume(b.bookmark_id) AS r WHERE b.instance_id = :'waiting';
SELECT * FROM wf_refresh('listen');
RESET client_min_messages;
SELECT * FROM loot;

-- An overload of the same name is no substitute for the function that was registered.
SET ROLE regress_handlers_mallory;
DROP FUNCTION tools.mail(jsonb);
CREATE FUNCTION tools.mail(context anyelement) RETURNS jsonb LANGUAGE sql AS $$ INSERT INTO loot (how) VALUES ('overload'); SELECT '{}'::jsonb $$;
RESET ROLE;
SET client_min_messages = error;
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('mail');
RESET client_min_messages;
SELECT * FROM loot;

-- security.md#functions-replaced-by-another-role: the present owner may have the rights of who registered the type
-- A function of a role that has the registrant's rights is called: a superuser's, or a member's.
ALTER SCHEMA tools OWNER TO regress_handlers_alice;
DROP FUNCTION tools.mail(anyelement), tools.sent(jsonb);
CREATE FUNCTION tools.mail(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"bookmarks": [{"callback": "sent"}]}'::jsonb $$;
CREATE FUNCTION tools.sent(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT sub_status FROM wf_run('mail');
GRANT regress_handlers_alice TO regress_handlers_bob;
ALTER FUNCTION tools.mail(jsonb) OWNER TO regress_handlers_bob;
SELECT sub_status FROM wf_run('mail');
REVOKE regress_handlers_alice FROM regress_handlers_bob;
SET client_min_messages = error;
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate FROM wf_run('mail');
RESET client_min_messages;

-- security.md#renamed-and-dropped-roles: after REASSIGN OWNED functions are called again when their new owner has the type
-- REASSIGN OWNED gives functions away: who gets them registers the type again, or gets the type as well.
REASSIGN OWNED BY regress_handlers_alice TO regress_handlers_bob;
SELECT wf_set_owner('activity type', 'Tools.Mail', 'regress_handlers_bob');
SELECT sub_status FROM wf_run('mail');

DROP OWNED BY regress_handlers_alice, regress_handlers_bob, regress_handlers_mallory CASCADE;
DROP ROLE regress_handlers_alice, regress_handlers_bob, regress_handlers_mallory;
