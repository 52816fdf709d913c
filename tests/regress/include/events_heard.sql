\set ECHO none
-- For the sessions about who hears a stimulus that names neither an instance nor a bookmark.
-- (docs/security.md: "Who hears a stimulus")

-- How it was searched: each way to send (three calls, an instance, its child, a function with its owner's rights) against each
-- way to be matched (trigger, bookmark, kept item; by name, type, activity and correlation id). Closed is hearing without
-- consent of the sender's side; docs/security.md lists what is consent.
-- Bob and Alice are honest, Mallory is not: she grants whom she likes the right to start and resume what is hers.
CREATE ROLE regress_events_alice LOGIN;
CREATE ROLE regress_events_bob LOGIN;
CREATE ROLE regress_events_mallory LOGIN CREATEROLE;
SELECT wf_grant_usage(role) FROM unnest('{regress_events_alice, regress_events_bob, regress_events_mallory}'::name[]) AS role;
GRANT CREATE ON SCHEMA public TO regress_events_bob, regress_events_mallory;

-- Mallory's listeners: a trigger, a waiting instance, a type of her own, a bookmark by correlation id and by activity.
\connect - regress_events_mallory
CREATE FUNCTION regress_events_handler(context jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT CASE WHEN context ? 'bookmark' THEN '{}'::jsonb ELSE '{"bookmarks": [{"name": "Mallory.Ear", "payload": 1}]}' END $$;
SELECT wf_register_activity('Mallory.Ear', 'regress_events_handler(jsonb)', kind => 'trigger');
SELECT * FROM wf_define('{"definitionId": "ear", "variables": {"P": null}, "root": [
    {"id": "start", "type": "Event", "eventName": "Salary", "canStartWorkflow": true, "result": {"var": "P"}}]}');
SELECT * FROM wf_define('{"definitionId": "ear2", "variables": {"P": null}, "root": [
    {"id": "wait", "type": "Event", "eventName": "Salary", "result": {"var": "P"}}]}');
\set ECHO all
