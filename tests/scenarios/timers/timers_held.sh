#!/usr/bin/env bash
# A fire fails while a client waits for its row, and the client gets the row before the failure can be recorded: the timer is fired again.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

time_books
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
-- Fails as a deadlock would, late enough for a client to wait for the row.
CREATE FUNCTION public.fail_late() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT is_open FROM public.gate) THEN RETURN; END IF;
    LOOP
        EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)));
        PERFORM pg_sleep(0.01);
    END LOOP;
    RAISE EXCEPTION 'a conflict' USING ERRCODE = 'serialization_failure';
END $$;
SELECT wf_define('{"definitionId": "unlucky", "root": [
    {"type": "Delay", "timeSpan": "1 ms"},
    {"type": "Sql", "statement": "SELECT public.fail_late()"}]}');
SQL
failures="SELECT failed FROM workflow.workers WHERE worker = 'scheduler'"
setting "workflow.max_executors = 1" "workflow.worker_idle_timeout = '1h'" "workflow.launch_workers = on"
await 0 "$failures"

# guard: blocks writes to the table until the client has locked the row, which it signals by an advisory lock. The executor that counts the
# failure waits here; the client, which only locks the row, does not. If the attempt was counted before it was made, the executor may lock
# the row first: then the client waits for the executor, which waits for the guard, and the guard gives up.
guard() {
    psql -X -q -v ON_ERROR_STOP=1 <<'SQL'
BEGIN;
LOCK TABLE workflow.bookmarks IN SHARE MODE;
DO $$ BEGIN
    LOOP
        EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711)
            OR EXISTS (SELECT FROM pg_locks AS l, unnest(pg_blocking_pids(l.pid)) AS blocker
                WHERE NOT l.granted AND pg_backend_pid() = ANY (pg_blocking_pids(blocker)));
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;
COMMIT;
SQL
}

# unlucky: a client waits for the row of a fire, and holds it from the failure of the fire until the executor is done with it. Prints
# whether it got the row before the failure could be recorded.
unlucky() {
    local bookmark failed
    failed=$(query "$failures")
    query "SELECT wf_start('unlucky')" >/dev/null
    bookmark=$(query "SELECT id FROM workflow.bookmarks")
    await 1 "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND backend_type = 'workflow executor'"
    guard >>"$WORKFLOW_TMP/guard.out" &
    await 1 "SELECT count(*) FROM pg_locks WHERE relation = 'workflow.bookmarks'::regclass AND mode = 'ShareLock' AND granted"
    psql -X -q -At -v ON_ERROR_STOP=1 <<SQL
BEGIN;
SELECT due_at AS due FROM workflow.bookmarks WHERE id = '$bookmark' \gset
SELECT count(*) AS mine FROM (SELECT FROM workflow.bookmarks WHERE id = '$bookmark' FOR UPDATE) AS b \gset
SELECT pg_advisory_xact_lock(4711) \gset
DO \$\$ BEGIN WHILE ($failures) = $failed LOOP PERFORM pg_sleep(0.01); END LOOP; END \$\$;
SELECT :mine = 1 AND due_at = :'due' FROM workflow.bookmarks WHERE id = '$bookmark';
UPDATE public.gate SET is_open = true;
COMMIT;
SQL
    wait
}

# The first fire of an executor counts its attempt in advance, the next ones do not.
held=0
turn=0
while [ "$held" -lt 3 ]; do
    turn=$((turn + 1))
    query "UPDATE public.gate SET is_open = false"
    was_held=$(unlucky)
    await "0|$turn" "SELECT (SELECT count(*) FROM workflow.bookmarks), (SELECT count(*) FROM workflow.instances WHERE sub_status = 'Finished')"
    [ "$was_held" != t ] || held=$((held + 1))
done
is 0 "SELECT count(*) FROM workflow.dead_letters"
echo "ok: a fire that failed, whose row a client had before that was noted, was found again"
