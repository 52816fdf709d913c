#!/usr/bin/env bash
# User SQL changes the state of the session in which it is fired: none of it reaches the next fire of the same role, or any other role. A
# fire that fails without an outcome has three attempts and becomes a dead letter; no other fire waits for it.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

time_books
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE ROLE joe LOGIN;
CREATE ROLE other LOGIN;
CREATE ROLE slow LOGIN;
CREATE ROLE looper LOGIN;
CREATE ROLE leaver LOGIN;
CREATE ROLE nolog;
CREATE ROLE friend;
GRANT friend TO joe, nolog;
SELECT wf_grant_usage(role) FROM unnest(ARRAY['joe', 'other', 'slow', 'looper', 'leaver', 'nolog']) AS role;
ALTER ROLE slow SET statement_timeout = '3s';
ALTER ROLE looper SET workflow.javascript_timeout = '2s';
-- What is fired must be written, whatever a role has for its own transactions.
ALTER ROLE other SET default_transaction_read_only = on;
ALTER ROLE other SET default_transaction_isolation = serializable;

-- What a session looks like to a fire. Whatever an earlier one left shows in a line that is not like the others.
CREATE TABLE looks (instance uuid NOT NULL, role text NOT NULL, looks text NOT NULL);
GRANT INSERT ON looks TO PUBLIC;
CREATE SEQUENCE counter;
GRANT USAGE ON SEQUENCE counter TO PUBLIC;
CREATE FUNCTION look(instance jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE used text := 'no';
BEGIN
    BEGIN used := currval('public.counter')::text; EXCEPTION WHEN OTHERS THEN NULL; END;
    INSERT INTO public.looks SELECT (instance #>> '{}')::uuid, session_user, concat_ws(' ',
        current_user = session_user, current_setting('role'), current_setting('search_path'),
        CASE session_user WHEN 'slow' THEN '' ELSE current_setting('statement_timeout') END, current_setting('work_mem'),
        coalesce(current_setting('my.secret', true), ''), current_setting('transaction_isolation'), current_setting('transaction_read_only'),
        (SELECT count(*) FROM pg_listening_channels()), (SELECT count(*) FROM pg_prepared_statements),
        (SELECT count(*) FROM pg_cursors WHERE is_holdable), to_regclass('pg_temp.mine'),
        (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()), used);
END $$;
CREATE FUNCTION mess() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_lock(1), pg_advisory_lock_shared(2);
    PERFORM set_config('my.secret', 'leaked', false), nextval('public.counter');
    EXECUTE 'LISTEN gossip';
    EXECUTE 'CREATE TEMPORARY TABLE mine AS SELECT 1 AS one';
    EXECUTE 'PREPARE stale AS SELECT 1';
    EXECUTE 'DECLARE forgotten CURSOR WITH HOLD FOR SELECT 1';
    EXECUTE 'SET search_path = pg_temp';
    EXECUTE 'SET work_mem = ''1MB''';
    EXECUTE 'SET statement_timeout = ''1ms''';
    EXECUTE 'SET default_transaction_isolation = serializable';
    EXECUTE 'SET default_transaction_read_only = on';
    EXECUTE 'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY';
    EXECUTE 'SET ROLE friend';
END $$;
CREATE FUNCTION loop_for_ever(n bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN loop_for_ever(n + 1) + 1; END $$;
CREATE TABLE checked (n integer);
GRANT INSERT ON checked TO PUBLIC;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused at commit by %', current_user; END $$;
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON checked DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$;

-- define(name, activity): waits, does it, has a look.
CREATE FUNCTION define(name text, activity jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT FROM wf_define(jsonb_build_object('definitionId', session_user || '-' || name, 'root', jsonb_build_array(
        '{"type": "Delay", "timeSpan": {"input": "wait"}}'::jsonb, activity,
        '{"type": "Sql", "statement": "SELECT public.look($1)", "parameters": [{"js": "getWorkflowInstanceId()"}]}'::jsonb)))
$$;
CREATE FUNCTION define(name text, statement text) RETURNS void LANGUAGE sql AS $$
    SELECT define(name, jsonb_build_object('type', 'Sql', 'statement', statement))
$$;
SQL

# as ROLE COMMAND: works for NOLOGIN roles as well. Warnings of the call are not tested.
as() {
    psql -X -q -At -v ON_ERROR_STOP=1 -c "SET SESSION AUTHORIZATION $1; SET client_min_messages = error" -c "$2" >>"$WORKFLOW_TMP/as.out"
}
# go ROLE NAME SPAN [NUMBER]
go() { as "$1" "SELECT wf_start('$1-$2', '{\"wait\": \"$3\"}') FROM generate_series(1, ${4:-1})"; }

for role in joe other slow leaver nolog; do
    as "$role" "SELECT define('look', 'SELECT 1'), define('sleeper', 'SELECT pg_sleep(3600)')"
done
as joe "SELECT define('mess', 'SELECT public.mess()'), define('deferred', 'INSERT INTO public.checked VALUES (1)'),
    define('raise', 'SELECT 1/0'), define('suicide', 'SELECT pg_terminate_backend(pg_backend_pid())'),
    define('recursion', 'SELECT public.loop_for_ever(1)'), define('commit', 'CALL public.commits()'),
    define('killed', 'SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(1)')"
# No other role has so short a limit: on a busy machine a short script may take as long.
as looper "SELECT define('script', '{\"type\": \"SetName\", \"value\": {\"js\": \"while (true) {}\"}}'::jsonb)"
as nolog "SELECT define('mess', 'SELECT public.mess()')"
# on_event ROLE STATEMENT: an instance that runs it once the event Go has arrived.
on_event() {
    as "$1" "SELECT wf_define('{\"definitionId\": \"$1-event\", \"root\": [{\"type\": \"Event\", \"eventName\": \"Go\"}, {\"type\": \"Sql\", \"statement\": \"$2\"}]}'), wf_start('$1-event')"
}
on_event slow "SELECT pg_sleep(3600)"
on_event joe "SELECT pg_terminate_backend(pg_backend_pid())"

setting "workflow.launch_workers = on" "workflow.max_executors = 3" "workflow.worker_idle_timeout = '1h'" "workflow.javascript_timeout = '1h'"
go joe suicide "1 ms"
go joe deferred "1 ms"
go joe killed "1 ms"
go slow sleeper "1 ms"
# This is not a session of the owners, so a background worker delivers it.
query "SELECT wf_grant_events('joe'), wf_grant_events('slow')" >/dev/null
query "SELECT cardinality(resumed) FROM wf_publish_event('Go')" >/dev/null
go joe raise "1 ms"
go joe recursion "1 ms"
go joe commit "1 ms"
go looper script "1 ms"
# Each change is followed by checks in the same session, and by checks of other roles.
for _ in 1 2 3; do
    go joe mess "1 ms"
    go joe look "1 ms" 3
    go other look "1 ms"
    go slow look "1 ms"
    go nolog look "1 ms"
    start 2 pure "1 ms"
done
go nolog mess "1 ms"
await "joe-look|9
nolog-look|3
other-look|3
pure|6
slow-look|3" "SELECT definition_id, count(*) FROM workflow.instances WHERE (definition_id LIKE '%-look' OR definition_id = 'pure') AND sub_status = 'Finished' GROUP BY 1 ORDER BY 1"
await 3 "SELECT count(*) FROM workflow.instances WHERE definition_id = 'joe-mess' AND sub_status IN ('Finished', 'Faulted')"
is "" "SELECT definition_id, sub_status, i.message FROM workflow.instances JOIN workflow.incidents i ON i.instance_id = instances.id WHERE definition_id LIKE '%-look'"
# The search path is that of the defining session.
is 't none public, pg_temp 0 4MB  read committed off 0 0 0 0 no|joe|9
t none public, pg_temp 0 4MB  read committed off 0 0 0 0 no|nolog|3
t none public, pg_temp 0 4MB  read committed off 0 0 0 0 no|other|3
t none public, pg_temp  4MB  read committed off 0 0 0 0 no|slow|3' "SELECT looks, role, count(*) FROM looks JOIN workflow.instances i ON i.id = instance WHERE definition_id LIKE '%-look' AND role <> 'postgres' GROUP BY 2, 1 ORDER BY 2"
echo "ok: nothing leaks into the next fire of a role, nor into another's"

await "joe-commit|Faulted|2D000
joe-raise|Faulted|22012
joe-recursion|Faulted|54001
looper-script|Faulted|54000" "SELECT i.definition_id, i.sub_status, n.sqlstate FROM workflow.instances i LEFT JOIN workflow.incidents n ON n.instance_id = i.id WHERE definition_id IN ('joe-raise', 'joe-recursion', 'joe-commit', 'looper-script') ORDER BY 1"
echo "ok: an error of user SQL is an incident of its instance"
await 1 "SELECT count(*) FROM workflow.instances i JOIN workflow.incidents n ON n.instance_id = i.id WHERE definition_id = 'nolog-mess' AND sub_status = 'Faulted'"
echo "ok: a role that may not log in is served, restricted"
# Its SQL starts another instance in the same burst.
as nolog "SELECT wf_define('{\"definitionId\": \"nolog-inner\", \"root\": {\"type\": \"Sql\", \"statement\": \"SELECT 1\"}}')"
as nolog "SELECT define('outer', 'SELECT public.wf_start(''nolog-inner'')')"
go nolog outer "1 ms"
await "nolog-inner|Finished
nolog-outer|Finished" "SELECT definition_id, sub_status FROM workflow.instances WHERE definition_id IN ('nolog-inner', 'nolog-outer') ORDER BY 1"
echo "ok: so is an instance that its SQL starts"

# Others are not delayed meanwhile.
go joe look "1 ms" 3
go other look "1 ms" 3
await "joe-look|12
other-look|6" "SELECT definition_id, count(*) FROM workflow.instances WHERE definition_id IN ('joe-look', 'other-look') AND sub_status = 'Finished' GROUP BY 1 ORDER BY 1"

# security.md#renamed-and-dropped-roles: a due bookmark of a dropped role becomes a dead letter
# The role is dropped while its instances are due.
setting "workflow.enabled = off"
woken scheduler workflow
go leaver look "1 ms" 2
go other look "1 ms" 2
query "REVOKE ALL ON SCHEMA public FROM leaver; DROP OWNED BY leaver; DROP ROLE leaver"
setting "workflow.enabled = on"
await 8 "SELECT count(*) FROM workflow.instances WHERE definition_id = 'other-look' AND sub_status = 'Finished'"
echo "ok: a role is dropped while it has due instances: others go on"

await 'joe-deferred|3|refused at commit by joe
joe-event|3|the worker exited while firing it
joe-killed|3|canceling statement due to user request
joe-suicide|3|the worker exited while firing it
leaver-look|3|role "leaver", the owner of the workflow instance, does not exist
leaver-look|3|role "leaver", the owner of the workflow instance, does not exist
slow-event|3|canceling statement due to statement timeout
slow-sleeper|3|canceling statement due to statement timeout' "SELECT i.definition_id, d.attempts, d.last_error
    FROM workflow.dead_letters d JOIN workflow.instances i ON i.id = d.instance_id WHERE reason = 'Failed' ORDER BY 1"
is 0 "SELECT count(*) FROM workflow.bookmarks WHERE due_at IS NOT NULL"
is "Suspended" "SELECT DISTINCT i.sub_status FROM workflow.dead_letters d JOIN workflow.instances i ON i.id = d.instance_id"
is 0 "SELECT count(*) FROM checked"
is "" "SELECT * FROM wf_check()"
! grep -qE 'terminated by signal|PANIC|reference leak' "$PGHOST/log" || fail "the server crashed"
echo "ok: three attempts, then a dead letter with the error; nothing else waits for it"

# A top-level command terminates its own session each time: it is interrupted, and runs again only when its schedule says so.
query "CREATE TABLE public.tries (who text)"
query "CREATE PROCEDURE public.tries(who text) LANGUAGE plpgsql AS \$\$ BEGIN
    INSERT INTO public.tries VALUES (who); COMMIT; PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); END \$\$"
query "SELECT wf_schedule('once', '0 0 1 1 *', 'CALL public.tries(''once'')'), wf_schedule_run_now('once')" >/dev/null
query "SELECT wf_schedule('again', '0 0 1 1 *', 'CALL public.tries(''again'')', retry => true), wf_schedule_run_now('again')" >/dev/null
await "again|interrupted
once|interrupted" "SELECT name, status FROM workflow.schedule_runs ORDER BY 1"
is "again|3
once|1" "SELECT who, count(*) FROM tries GROUP BY 1 ORDER BY 1"
echo "ok: an interrupted command is run again only with retry, and three times at the most"

# A top-level command runs in a session of its owner, who may not log in here; likewise if the definition has the owner's rights.
as nolog "SELECT wf_schedule('clean', '0 0 1 1 *', 'VACUUM public.happened'), wf_schedule_run_now('clean')"
await "failed|0A000|a command at top level needs a session of its owner" "SELECT status, sqlstate, error FROM workflow.schedule_runs WHERE name = 'clean'"
query "ALTER ROLE nolog LOGIN"
as nolog "SELECT wf_schedule_run_now('clean')"
await "failed|
succeeded|" "SELECT status, NULL FROM workflow.schedule_runs WHERE name = 'clean' ORDER BY 1"
echo "ok: a command at top level needs an owner who may log in"
