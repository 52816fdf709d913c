#!/usr/bin/env bash
# From PostgreSQL 17 on: transaction_timeout ends the session of an executor in the middle of a fire. It counts as an attempt, other fires
# continue meanwhile, and after the third attempt the bookmark is a dead letter.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

ended() { grep -c 'FATAL:  terminating connection due to transaction timeout' "$PGHOST/log"; }

time_books
query "CREATE ROLE slow LOGIN; ALTER ROLE slow SET transaction_timeout = '3s'"
query "SELECT wf_grant_usage('slow')" >/dev/null
query "SET ROLE slow; SELECT wf_define('{\"definitionId\": \"sleep\", \"root\": [
    {\"type\": \"Delay\", \"timeSpan\": \"00:00:00.001\"},
    {\"type\": \"Sql\", \"statement\": \"INSERT INTO public.happened SELECT gen_random_uuid() FROM pg_sleep(600)\"}]}'), wf_start('sleep')" >/dev/null 2>&1
setting "workflow.launch_workers = on"

# The first attempt ends, and the due work of others fires.
eventually has_logged 1 "terminating connection due to transaction timeout"
await t "SELECT EXISTS (SELECT FROM workflow.bookmarks WHERE due_at IS NOT NULL AND attempts > 0) OR EXISTS (SELECT FROM workflow.dead_letters)"
start 3 noted "1 ms"
await "3|3" "SELECT count(*), count(DISTINCT instance) FROM happened"
echo "ok: an executor that transaction_timeout ends counts as an attempt, and others go on"

# The second attempt is due after a second, the third after ten more.
await "Failed|3|the worker exited while firing it" "SELECT reason, attempts, last_error FROM workflow.dead_letters"
# Or a fourth, before its attempt was counted.
[ "$(ended)" -ge 3 ] || fail "$(ended) sessions were ended by transaction_timeout"
is 0 "SELECT count(*) FROM workflow.bookmarks WHERE due_at IS NOT NULL"
is Suspended "SELECT sub_status FROM workflow.instances WHERE definition_id = 'sleep'"
start 2 noted "1 ms"
await "5|5" "SELECT count(*), count(DISTINCT instance) FROM happened"
is "" "SELECT * FROM wf_check()"
echo "ok: after the third attempt it is a dead letter, and nothing of it was kept"
