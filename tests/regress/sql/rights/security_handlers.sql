-- Only its owner replaces an activity type, and no role calls through one what it may not call itself.
\i tests/regress/include/security.sql

\connect - regress_security_mallory
CREATE FUNCTION mallory_handler(context jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO loot (how) VALUES ('a handler: ' || coalesce(context #>> '{bookmark,name}', 'start'));
    RETURN CASE WHEN context ? 'bookmark' OR (context -> 'isTrigger')::boolean THEN '{}' ELSE '{"bookmarks": [{"name": "Alarm", "payload": 1, "callback": "mallory_handler"}]}' END;
END $$;

-- security.md#owners-and-grants: only members of its owner replace an activity type
-- Handlers: only the owner replaces a type; no role calls through it what it may not call itself.
\connect - regress_security_alice
CREATE FUNCTION alices_handler(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
REVOKE EXECUTE ON FUNCTION alices_handler(jsonb) FROM PUBLIC;
SELECT wf_register_activity('Alice.Work', 'alices_handler(jsonb)');
\connect - regress_security_mallory
SELECT wf_register_activity('Alice.Work', 'mallory_handler(jsonb)');
\echo :SQLSTATE
SELECT wf_register_activity('Mallory.Borrowed', 'alices_handler(jsonb)');
\echo :SQLSTATE
SELECT * FROM wf_define('{"definitionId": "borrowed", "root": {"id": "w", "type": "Alice.Work"}}');
SET client_min_messages = error;
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('borrowed');
RESET client_min_messages;
