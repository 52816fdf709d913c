#!/usr/bin/env bash
# The first fire of an executor counts the attempt before it makes it, in case the server crashes. If a client has locked the row by then, the
# attempt is not made, and the count is taken back when the client is done. Otherwise clients that come at such a moment would use up the
# attempts of a timer that nothing is wrong with.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

time_books
attempts="SELECT attempts FROM workflow.bookmarks"
gave_up="workflow could not take back an attempt"
# An executor waits for the client for a few seconds only, and logs that it gave up. The client may be slower on a busy machine.
has_given_up() { has_logged $((before + 1)) "$gave_up"; }
waits() { [ "$(query "SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted")" -eq 1 ] || has_given_up; }
is_over() { [ -z "$(query "$attempts")" ] || has_given_up; }

left=1
while [ -n "$left" ]; do
    before=$(logged "$gave_up")
    start 1 pure "1 ms"
    await_due 1
    # The fire waits for the lock of the table before it finds the instance locked; counting the attempt does not need this table.
    begin instance "SELECT FROM workflow.instances WHERE status = 'Running' FOR UPDATE\; SAVEPOINT before\; LOCK TABLE workflow.instances IN EXCLUSIVE MODE"
    setting "workflow.launch_workers = on" "workflow.enabled = on"
    await 1 "$attempts"
    await 1 "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'workflow executor' AND wait_event = 'relation'"
    begin bookmark "SELECT FROM workflow.bookmarks FOR UPDATE"
    printf 'ROLLBACK TO before;\n' >&"${pipes[instance]}"
    # The fire is not made. The executor waits for the row of the bookmark.
    eventually waits
    finish bookmark COMMIT
    eventually is_over
    left=$(query "$attempts")
    finish instance COMMIT
    await Finished "SELECT DISTINCT sub_status FROM workflow.instances"
    is "" "SELECT * FROM wf_check()"
    # In another round, again the first fire of an executor.
    setting "workflow.enabled = off"
    query "SELECT pg_terminate_backend(pid, 600000) FROM workflow.workers WHERE worker = 'executor'" >/dev/null
done
