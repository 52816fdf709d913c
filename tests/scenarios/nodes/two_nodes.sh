#!/usr/bin/env bash
# Definitions on two servers by two-phase commit: both servers have a version or neither, even if one is killed between the phases. Digests
# show whether both have the same content.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/nodes.sh"

follow second
trap 'on second stop_server immediate || true' EXIT

# hears EVENT: a definition that begins with this event.
hears() { echo "{\"definitionId\": \"order\", \"root\": {\"id\": \"on\", \"type\": \"Event\", \"eventName\": \"$1\", \"canStartWorkflow\": true}}"; }
# deploy EVENT: the first phase.
deploy() { both query "BEGIN; SET LOCAL workflow.notify_triggers = off; SELECT wf_define('$(hears "$1")'); PREPARE TRANSACTION 'deploy'" >/dev/null; }
latest="SELECT version || ' ' || encode(digest, 'hex') FROM workflow.definition_list WHERE definition_id = 'order' AND is_latest"
# are_alike VERSION: both have it, with the same content.
are_alike() {
    local one two
    one=$(on first query "$latest")
    two=$(on second query "$latest")
    [ "$one" = "$two" ] && [ "${one% *}" = "$1" ] || fail "expected version $1 on both, got '$one' and '$two'"
}
# starts COUNT EVENT: on each server.
starts() { both is "$1" "SELECT cardinality(started) FROM wf_publish_event('$2')"; }

# A transaction that notifies about triggers cannot be prepared.
if query "BEGIN; SELECT wf_define('$(hears Paid)'); PREPARE TRANSACTION 'deploy'" >"$WORKFLOW_TMP/refused" 2>&1; then fail "it was prepared"; fi
grep -q "NOTIFY" "$WORKFLOW_TMP/refused" || fail "$(cat "$WORKFLOW_TMP/refused")"
both is 0 "SELECT count(*) FROM workflow.definition_list"

deploy Paid
both is 0 "SELECT count(*) FROM workflow.definition_list"
both query "COMMIT PREPARED 'deploy'"
are_alike 1
starts 1 Paid
echo "ok: a definition is on both servers at once"

deploy Shipped
both query "ROLLBACK PREPARED 'deploy'"
are_alike 1
starts 0 Shipped
echo "ok: or on neither"

# Both have prepared it, and use the previous version until it is committed.
deploy Shipped
both kill_server
both start_server
both is deploy "SELECT gid FROM pg_prepared_xacts"
starts 1 Paid
starts 0 Shipped
on first query "COMMIT PREPARED 'deploy'"
both kill_server
both start_server
on second is deploy "SELECT gid FROM pg_prepared_xacts"
on second query "COMMIT PREPARED 'deploy'"
are_alike 2
starts 0 Paid
starts 1 Shipped
echo "ok: also where both are killed after the first phase, and between the two of the second"

# The same version number does not imply the same content.
on first query "SELECT wf_define('$(hears Returned)')" >/dev/null
on second query "SELECT wf_define('$(hears Refunded)')" >/dev/null
one=$(on first query "$latest") two=$(on second query "$latest")
[ "${one% *}" = "${two% *}" ] && [ "$one" != "$two" ] || fail "expected other contents, got '$one' and '$two'"
both is "" "SELECT * FROM wf_check()"
on second check_storage
echo "ok: digests tell versions apart that only share their number"
