#!/usr/bin/env bash
# SQL in the engine's own session calls the engine again: SQL of a role that may not log in reaches an instance of another such role, a
# definer's SQL starts another definer's instance, and a row trigger on a table of the engine publishes an event. Each time the SQL that
# follows sees its own role as `session_user`, and only a call's own role is served inside the call.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SET client_min_messages = error;
CREATE ROLE nolog;
CREATE ROLE apart;
SELECT wf_grant_usage('nolog'), wf_grant_usage('apart');
-- What SQL sees, and in which transaction of which process it runs.
CREATE TABLE seen (who text, as_session text, as_current text, process text, xact xid8);
GRANT INSERT ON seen TO PUBLIC;
CREATE FUNCTION see(who text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO public.seen
        SELECT who || coalesce(current_setting('my.secret', true), ''), session_user, current_user, backend_type, pg_current_xact_id()
        FROM pg_stat_get_activity(pg_backend_pid())
$$;
-- Everything that SQL can do to run what waits for others.
CREATE FUNCTION reach(who text, event text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.see(who), set_config('my.secret', ' leaked', true);
    PERFORM public.wf_publish_event(event);
    PERFORM public.wf_run_due();
    PERFORM set_config('my.secret', '', true);
END $$;
-- define(NAME, FIRST, STATEMENT, OPTIONS): a first activity, then SQL.
CREATE FUNCTION define(name text, first jsonb, statement text, options jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT FROM wf_define(jsonb_build_object('definitionId', name, 'options', options,
        'root', jsonb_build_array(first, jsonb_build_object('type', 'Sql', 'statement', statement))))
$$;

SET SESSION AUTHORIZATION apart;
SELECT define('hears', '{"type": "Event", "eventName": "Across"}', 'SELECT public.see(''hears'')', '{}');
SELECT wf_grant('hears', 'nolog', '{resume}'), wf_start('hears');
SELECT define('ticked', '{"type": "Event", "eventName": "Ticked"}', 'SELECT public.see(''ticked'')', '{}'), wf_start('ticked');

SET SESSION AUTHORIZATION nolog;
SELECT wf_grant_events('apart');
SELECT define('sends', '{"type": "Delay", "timeSpan": {"input": "wait"}}', 'SELECT public.reach(''sends'', ''Across'')', '{}');
SELECT define('inner', '{"type": "SetName", "value": "inner"}', 'SELECT public.see(''inner'')', '{"security": "definer"}');
SELECT wf_start('sends', '{"wait": "1 ms"}');

RESET SESSION AUTHORIZATION;
SELECT wf_grant_events('apart');
SELECT define('outer', '{"type": "Delay", "timeSpan": {"input": "wait"}}',
    'SELECT public.see(''outer''), public.wf_start(''inner''), public.see(''outer, after it'')', '{"security": "definer"}');
SELECT wf_start('outer', '{"wait": "1 ms"}');
CREATE FUNCTION ticked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.wf_publish_event('Ticked'); RETURN NULL; END $$;
SELECT wf_define('{"definitionId": "ticker", "root": [{"type": "Timer", "interval": "1 second"}]}');
CREATE TRIGGER ticked AFTER INSERT ON workflow.instances FOR EACH ROW EXECUTE FUNCTION ticked();
SQL

setting "workflow.launch_workers = on"
await "hears|1
inner|1
outer|1
outer, after it|1
sends|1
ticked|1" "SELECT who, count(*) FROM seen GROUP BY 1 ORDER BY 1"
is "hears|apart|apart
inner|nolog|nolog
outer|postgres|postgres
outer, after it|postgres|postgres
sends|nolog|nolog
ticked|apart|apart" "SELECT who, as_session, as_current FROM seen ORDER BY 1"
echo "ok: SQL sees the role whose rights it has, in nested calls as well"
is "2" "SELECT count(DISTINCT xact) FROM seen WHERE who IN ('sends', 'hears')"
echo "ok: SQL of a role runs in no transaction of another one"
is "" "SELECT who, process FROM seen WHERE process NOT LIKE '%executor%'"
echo "ok: what a row trigger reaches does not run in the scheduler"
