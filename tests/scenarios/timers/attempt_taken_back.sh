#!/usr/bin/env bash
# The first fire of an executor counts the attempt before it makes it, in case the server crashes. If a client has locked the row by then, the
# attempt is not made, and the count is taken back when the client is done. Otherwise clients that come at such a moment would use up the
# attempts of a timer that nothing is wrong with.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

time_books
# hold NAME SQL: in a transaction that stays open until COMMIT is told to it.
# tell NAME SQL: to that session.
declare -A holders
hold() {
    mkfifo "$WORKFLOW_TMP/$1"
    psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/$1.out" 2>&1 <"$WORKFLOW_TMP/$1" &
    exec {holders[$1]}>"$WORKFLOW_TMP/$1"
    tell "$1" "BEGIN; $2"
}
tell() { echo "$2" >&"${holders[$1]}"; }

start 1 pure "1 ms"
await_due 1
# The fire waits for the lock of the table before it finds the instance locked; counting the attempt does not need this table.
hold instance "SELECT FROM workflow.instances FOR UPDATE; SAVEPOINT before; LOCK TABLE workflow.instances IN EXCLUSIVE MODE;"
await 1 "SELECT count(*) FROM pg_locks WHERE relation = 'workflow.instances'::regclass AND mode = 'ExclusiveLock' AND granted"
setting "workflow.launch_workers = on"
await 1 "SELECT attempts FROM workflow.bookmarks"
await 1 "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'workflow executor' AND wait_event = 'relation'"
hold bookmark "SELECT FROM workflow.bookmarks FOR UPDATE;"
await 1 "SELECT count(*) FROM pg_locks WHERE relation = 'workflow.bookmarks'::regclass AND mode = 'RowShareLock' AND granted"
tell instance "ROLLBACK TO before;"
# The fire is not made. The executor waits for the row of the bookmark.
await 1 "SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
tell bookmark "COMMIT;"
await t "SELECT attempts IS NULL FROM workflow.bookmarks"
tell instance "COMMIT;"
await Finished "SELECT sub_status FROM workflow.instances"
is "" "SELECT * FROM wf_check()"
