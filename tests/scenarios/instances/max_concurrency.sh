#!/usr/bin/env bash
# Pending instances that background workers admit: never more than maxConcurrency allows run at the same time, and none stays pending for
# ever, whatever starts, ends and is rolled back meanwhile.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SET client_min_messages = error;
CREATE TABLE spans (run text, key integer, began timestamptz DEFAULT clock_timestamp(), ended timestamptz);
-- An instance counts from before its first activity until its last transaction has committed.
SELECT wf_define('{"definitionId": "load", "options": {"maxConcurrency": {"max": 3, "key": "key"}}, "root": [
    {"type": "Sql", "statement": "INSERT INTO public.spans (run, key) SELECT $1, $2", "parameters": [{"input": "run"}, {"input": "key"}]},
    {"type": "Delay", "timeSpan": "00:00:00.02"},
    {"type": "Sql", "statement": "UPDATE public.spans SET ended = clock_timestamp() WHERE run = $1", "parameters": [{"input": "run"}]}]}');
-- One whose time is over, or that compensates after a fault, has ended for good.
SELECT wf_define('{"definitionId": "timed", "options": {"maxConcurrency": {"max": 2}, "timeout": "200 milliseconds"}, "root": {"type": "Event", "eventName": "Never"}}');
SELECT wf_define('{"definitionId": "strict", "options": {"maxConcurrency": {"max": 2}, "compensateOn": ["cancel", "fault"]}, "root": [
    {"type": "Delay", "timeSpan": "00:00:00.02"}, {"type": "Fault", "message": "torn"}]}');
SQL
setting "workflow.launch_workers = on"

# Four sessions start 25 instances each, with two keys, and roll back every fifth start a moment later.
starts() {
    local n end
    for ((n = 0; n < 25; n++)); do
        [ $((n % 5)) = 0 ] && end=ROLLBACK || end=COMMIT
        echo "BEGIN; SET LOCAL client_min_messages = error; SELECT wf_start('load', '{\"run\": \"$1.$n\", \"key\": $((n % 2))}') IS NULL; SELECT pg_sleep(0.01); $end;"
    done | psql -X -q -At -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/starts.out"
}
for session in 1 2 3 4; do starts "$session" & done
wait
await 80 "SELECT count(*) FROM workflow.instances WHERE sub_status = 'Finished'"
is 80 "SELECT count(*) FROM workflow.instances"
is t "SELECT max(beside) <= 3 FROM (SELECT (SELECT count(*) FROM spans o WHERE o.key = s.key AND o.began <= s.began AND o.ended > s.began) AS beside FROM spans s) b"
echo "ok: never more than three of a key ran at the same time, and all have run"

# A crash of the server: the scheduler checks for pending instances when it starts.
query "SELECT count(wf_start('load', jsonb_build_object('run', 'crash ' || n, 'key', 2))) FROM generate_series(1, 20) AS n" >>"$WORKFLOW_TMP/starts.out"
kill_server
start_server
await 100 "SELECT count(*) FROM workflow.instances WHERE sub_status = 'Finished'"
echo "ok: those that waited when the server was killed begin after it"

# Instances that end for good by a fault also free their admission, before and after a crash, and also if the crash rolls back the fire that
# ended them.
query "SET client_min_messages = error; SELECT count(wf_start(d)) FROM unnest('{timed,strict}'::text[]) AS d, generate_series(1, 20)" >>"$WORKFLOW_TMP/starts.out"
await t "SELECT count(*) > 2 FROM workflow.instances WHERE definition_id = 'timed' AND sub_status = 'Faulted'"
kill_server
start_server
await "strict|Faulted|20
timed|Faulted|20" "SELECT definition_id, sub_status, count(*) FROM workflow.instances WHERE definition_id <> 'load' GROUP BY 1, 2 ORDER BY 1"
is 0 "SELECT count(*) FROM workflow.instances WHERE finished_at IS NULL"
echo "ok: instances that a fault has ended for good make room for the next ones, also after a crash"
