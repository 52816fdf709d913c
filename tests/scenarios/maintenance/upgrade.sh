#!/usr/bin/env bash
# pg_upgrade with the library preloaded and background workers on: nothing fires meanwhile, all data is there afterwards, and timers stay
# stopped in the new cluster until the administrator declares it the live one.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

noted="SELECT count(*), count(DISTINCT instance) FROM happened"
old=$PGDATA
new=$WORKFLOW_TMP/new

time_books
setting "workflow.launch_workers = on" "workflow.worker_idle_timeout = '1h'"
query "CREATE DATABASE plain" postgres
# pg_upgrade wants to connect to every database.
query "DROP DATABASE IF EXISTS workflow_template" postgres
start 3 noted "1 ms"
await "3|3" "$noted"
start 5 pure "1 year"
query "SELECT wf_define('{\"definitionId\": \"event\", \"root\": [{\"type\": \"Event\", \"eventName\": \"Go\"}, {\"type\": \"WriteLine\", \"text\": \"gone\"}]}'), wf_start('event')" >/dev/null
setting "workflow.enabled = off"
start 5 noted "1 second"
start 5 pure "1 second"
await_due 10
woken scheduler workflow
is 0 "SELECT count(*) FROM workflow.workers WHERE state = 'firing'"
is "3|3" "$noted"
is 16 "SELECT count(*) FROM workflow.bookmarks"
# As far as our settings are concerned, both servers that pg_upgrade starts may fire.
query "ALTER SYSTEM RESET workflow.enabled"
stop_server

initdb -D "$new" -U postgres -A trust -E UTF8 --locale=C.UTF-8 -N >/dev/null
cat "$old/postgresql.conf" "$old/postgresql.auto.conf" >>"$new/postgresql.conf"
cd "$WORKFLOW_TMP" || exit
pg_upgrade -b "$PGBIN" -B "$PGBIN" -d "$old" -D "$new" -U postgres -s "$WORKFLOW_TMP" >"$WORKFLOW_TMP/upgrade.out" 2>&1 ||
    fail "$(tail -n 30 "$WORKFLOW_TMP/upgrade.out")"
echo "ok: pg_upgrade"

PGDATA=$new start_server
await foreign "SELECT state FROM workflow.workers WHERE worker = 'scheduler'"
# A timer of another database fires, by workers that are started after those of this one would have been.
query "CREATE EXTENSION workflow" plain
time_books plain
start 1 noted "1 ms" plain
await "1|1" "$noted" plain
is "3|3" "$noted"
is 16 "SELECT count(*) FROM workflow.bookmarks"
is "Finished|3
Suspended|16" "SELECT sub_status, count(*) FROM workflow.instances GROUP BY 1 ORDER BY 1"
PGOPTIONS="-c client_min_messages=error" is 0 "SELECT wf_run_due()"
is 1 "SELECT count((r).instance_id) FROM (SELECT wf_resume(id) AS r FROM workflow.bookmarks WHERE due_at IS NULL) AS resumed"
is "" "SELECT * FROM wf_check()"
eventually has_logged 1 'WARNING:  this database is a copy, and its timers belong to the original'
echo "ok: nothing has fired, all is there, and people can go on"

query "SELECT wf_adopt_database()" >/dev/null
await "8|8" "$noted"
await 5 "SELECT count(*) FROM workflow.bookmarks"
is "Finished|14
Suspended|5" "SELECT sub_status, count(*) FROM workflow.instances GROUP BY 1 ORDER BY 1"
start 2 noted "1 ms"
await "10|10" "$noted"
check_storage
echo "ok: adopted, it fires what is due, once"
PGDATA=$new stop_server
