-- A payload function has the path of wf_define's session, also where another role refreshes.
\i tests/regress/include/search_path.sql

SET ROLE path_app;

-- security.md#where-names-are-looked-up: payload functions have the path of wf_define's session where another role refreshes
SET search_path = app, public;
CREATE FUNCTION app.payloads(context jsonb) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT to_jsonb(o.found || ' for ' || current_user) FROM orders AS o; END $$;
CREATE FUNCTION app.handles(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Path.Listen', 'app.handles(jsonb)', kind => 'trigger', payloads => 'app.payloads(jsonb)');
SELECT * FROM wf_define('{"definitionId": "listens", "root": {"id": "l", "type": "Path.Listen", "canStartWorkflow": true}}');
RESET ROLE;
SET search_path = elsewhere, public;
SELECT * FROM wf_refresh('listens');
SELECT payload FROM workflow.trigger_list WHERE definition_id = 'listens';
