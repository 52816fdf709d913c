#!/usr/bin/env bash
# A fire fails while somebody waits for its row, and gets it before the failure can be noted: it is looked for again.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

time_books
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
-- Fails as a deadlock would, late enough for somebody to wait for the row. Its advisory locks are released after the
-- row, so whoever waits comes before the executor, which has thousands to release first.
CREATE FUNCTION public.fail_late() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT is_open FROM public.gate) THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(n) FROM generate_series(1, 6000) AS n;
    FOR i IN 1 .. 500 LOOP
        EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)));
        PERFORM pg_sleep(0.01);
    END LOOP;
    RAISE EXCEPTION 'a conflict' USING ERRCODE = 'serialization_failure';
END $$;
SELECT wf_define('{"definitionId": "unlucky", "root": [
    {"type": "Delay", "timeSpan": "1 ms"},
    {"type": "Sql", "statement": "SELECT public.fail_late()"}]}');
SQL
setting "workflow.launch_workers = on"

# unlucky: a client waits for the row of a fire, and has it for a while when the fire has failed. Prints whether that was
# before the failure could be noted.
unlucky() {
    local bookmark
    query "SELECT wf_start('unlucky')" >/dev/null
    bookmark=$(query "SELECT id FROM workflow.bookmarks")
    await 1 "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND backend_type = 'workflow executor'"
    psql -X -q -At -v ON_ERROR_STOP=1 <<SQL
BEGIN;
SELECT due_at AS due FROM workflow.bookmarks WHERE id = '$bookmark' \gset
SELECT count(*) AS mine FROM (SELECT FROM workflow.bookmarks WHERE id = '$bookmark' FOR UPDATE) AS b \gset
SELECT pg_sleep(2) \gset
SELECT :mine = 1 AND due_at = :'due' FROM workflow.bookmarks WHERE id = '$bookmark';
UPDATE public.gate SET is_open = true;
COMMIT;
SQL
}

# The first fire of an executor counts its attempt before it is made, the next ones do not.
held=0
for turn in {1..8}; do
    query "UPDATE public.gate SET is_open = false"
    was_held=$(unlucky)
    await "0|$turn" "SELECT (SELECT count(*) FROM workflow.bookmarks), (SELECT count(*) FROM workflow.instances WHERE sub_status = 'Finished')"
    [ "$was_held" != t ] || held=$((held + 1))
    [ "$held" -lt 3 ] || break
done
[ "$held" -eq 3 ] || fail "of $turn times $held times somebody had the row before the failure was noted"
is 0 "SELECT count(*) FROM workflow.dead_letters"
echo "ok: a fire that failed, whose row somebody else had before that was noted, was found again"
