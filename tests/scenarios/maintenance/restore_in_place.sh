#!/usr/bin/env bash
# A dump is loaded into a database that already has the extension: its timers fire if they come from this database; otherwise the state of
# the database reports that they do not.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SELECT wf_define('{"definitionId": "timer", "root": [
    {"type": "Delay", "timeSpan": {"input": "wait"}}, {"type": "SetName", "value": "fired"}]}');
SELECT wf_define('{"definitionId": "listener", "root": {"type": "Event", "eventName": "News"}}');
SELECT wf_start('timer', '{"wait": "1 ms"}') FROM generate_series(1, 50);
SELECT wf_start('timer', '{"wait": "8 seconds"}') FROM generate_series(1, 50);
SELECT wf_start('timer', '{"wait": "1 year"}');
SELECT wf_start('listener');
SQL
pg_dump -Fc --data-only -f "$WORKFLOW_TMP/data" "$PGDATABASE" 2>>"$WORKFLOW_TMP/dump.out"
pg_dump -Fc --clean -f "$WORKFLOW_TMP/all" "$PGDATABASE"
setting "workflow.launch_workers = on" "workflow.worker_idle_timeout = '1s'"
finished="SELECT count(*) FROM workflow.instances WHERE sub_status = 'Finished'"
state() { echo "SELECT state FROM workflow.workers WHERE worker = 'scheduler' AND database = '$1'"; }
await 100 "$finished"

# asleep DATABASE: waits until no background worker checks that database any more.
asleep() { await asleep "$(state "$1")" "$1"; }
renew() { # DATABASE
    query "DROP EXTENSION workflow CASCADE; CREATE EXTENSION workflow" "$1" 2>/dev/null
    asleep "$1"
}
renew "$PGDATABASE"
is 0 "SELECT count(*) FROM workflow.instances"
pg_restore -d "$PGDATABASE" --data-only --disable-triggers "$WORKFLOW_TMP/data"
await 100 "$finished"
echo "ok: timers of a data-only restore fire"
renew "$PGDATABASE"
pg_restore -d "$PGDATABASE" --data-only -j 2 "$WORKFLOW_TMP/data"
await 100 "$finished"
echo "ok: in several sessions, too"
asleep "$PGDATABASE"
pg_restore -d "$PGDATABASE" --clean --if-exists "$WORKFLOW_TMP/all"
await 100 "$finished"
echo "ok: and those of a restore that drops everything first"

# Elsewhere it is a copy, however it was restored.
warning="this database is a copy, and its timers belong to the original"
turn=0
for how in "--data-only $WORKFLOW_TMP/data" "--data-only -j 2 $WORKFLOW_TMP/data" "--clean --if-exists $WORKFLOW_TMP/all"; do
    turn=$((turn + 1))
    query "CREATE DATABASE copy$turn" postgres
    query "CREATE EXTENSION workflow" "copy$turn"
    asleep "copy$turn"
    before=$(logged "$warning")
    # shellcheck disable=SC2086
    pg_restore -d "copy$turn" $how
    await foreign "$(state "copy$turn")" "copy$turn"
    eventually has_logged $((before + 1)) "$warning"
    is foreign "$(state "copy$turn")"
done
# When all of their timers are due and their schedulers have exited, new ones check again, which the log shows. Then a timer of the original
# fires in an executor that is as new as one of a copy would be.
for turn in 1 2 3; do
    await_due 100 "copy$turn"
    await 1 "SELECT count(*) FROM workflow.workers WHERE worker = 'scheduler' AND database = 'copy$turn' AND pid IS NULL" "copy$turn"
done
before=$(logged "$warning")
query "SELECT pg_reload_conf()" >/dev/null
eventually has_logged $((before + 3)) "$warning"
await 0 "SELECT count(*) FROM workflow.workers WHERE worker = 'executor' AND database = '$PGDATABASE'"
query "SELECT wf_start('timer', '{\"wait\": \"1 ms\"}')" >/dev/null
await 101 "$finished"
for turn in 1 2 3; do
    [ "$(query "$finished" "copy$turn")" = 0 ] || fail "copy$turn fires"
done
echo "ok: a copy says that it is one, and fires nothing"
query "SELECT wf_adopt_database()" copy1 >/dev/null
await 100 "$finished" copy1
[ "$(query "$finished" copy2)" = 0 ] || fail "copy2 fires"
echo "ok: until it is adopted"
