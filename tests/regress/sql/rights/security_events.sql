-- Mallory waits for an event with SQL, a handler and a payload function of hers, and a superuser publishes it: none runs with the
-- superuser's rights.
\i tests/regress/include/security.sql

-- security.md#invoker-the-default: a call that did not name an instance runs no SQL of another owner
-- The other way round: Mallory waits for an event with SQL of hers, and the superuser publishes it.
\connect - regress_security_mallory
SELECT * FROM wf_define('{"definitionId": "trap", "root": [
    {"id": "wait", "type": "Event", "eventName": "Alarm"}, {"type": "Sql", "statement": "INSERT INTO loot (how) VALUES (''resumed by an event'')"}]}');
SELECT * FROM wf_define('{"definitionId": "trap2", "root": [
    {"id": "start", "type": "Event", "eventName": "Alarm", "canStartWorkflow": true}, {"type": "Sql", "statement": "INSERT INTO loot (how) VALUES (''started by an event'')"}]}');
SELECT * FROM wf_define('{"definitionId": "trap3", "variables": {"V": null}, "root": [
    {"id": "wait", "type": "Event", "eventName": "Alarm"}, {"type": "SetVariable", "variable": "V", "value": {"sql": "WITH x AS (INSERT INTO loot (how) VALUES (''an expression'') RETURNING how) SELECT how FROM x"}}]}');
CREATE FUNCTION mallory_handler(context jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO loot (how) VALUES ('a handler: ' || coalesce(context #>> '{bookmark,name}', 'start'));
    RETURN CASE WHEN context ? 'bookmark' OR (context -> 'isTrigger')::boolean THEN '{}' ELSE '{"bookmarks": [{"name": "Alarm", "payload": 1, "callback": "mallory_handler"}]}' END;
END $$;
-- security.md#whose-rights-sql-in-a-workflow-has: payload functions have the rights of the definition's owner on publish and refresh
-- It runs with the rights of the definition's owner, also when others publish: its names are qualified, as in definer SQL.
CREATE FUNCTION mallory_payloads(context jsonb) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.loot (how) VALUES ('a payload function');
    RETURN NEXT '1'::jsonb;
END $$;
SELECT wf_register_activity('Mallory.Trap', 'mallory_handler(jsonb)', kind => 'trigger', payloads => 'mallory_payloads(jsonb)');
SELECT * FROM wf_define('{"definitionId": "trap4", "root": {"id": "t", "type": "Mallory.Trap", "canStartWorkflow": true}}');
SELECT wf_start('trap') IS NOT NULL, wf_start('trap3') IS NOT NULL, wf_start('trap4') IS NOT NULL;
\connect - postgres
TRUNCATE loot;
-- Without a word of the superuser's they hear nothing (events_heard_withheld.sql). With it they do, and still run nothing as another.
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, withheld FROM wf_publish_event('Alarm');
SELECT wf_grant_events('regress_security_mallory');
SELECT cardinality(resumed) >= 0 AS published FROM wf_publish_event('Alarm');
SELECT cardinality(resumed) >= 0 AS sent FROM wf_send_stimulus('Alarm', '1');
SELECT cardinality(resumed) >= 0 AS sent FROM wf_send_stimulus('Mallory.Trap', '1');
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(activity_type => 'Mallory.Trap');
SELECT wf_run_due() >= 0 AS swept;
SELECT * FROM wf_refresh('trap4');
SELECT wf_publish('trap4');
SELECT wf_retract('trap4');
SELECT DISTINCT who, how FROM loot;
SELECT who, how FROM loot WHERE who <> 'regress_security_mallory';
-- security.md#invoker-the-default: what was left is delivered by wf_run_due() of the owner
-- It is due for her: in her session it goes on.
\connect - regress_security_mallory
SELECT wf_run_due() > 0 AS ran;
SELECT who, how FROM loot ORDER BY how;
