#!/usr/bin/env bash
# Servers that sleep in wf_wait_http_responses: the commit of a response wakes the server whose request it answers, and no other. Nothing is
# lost or given twice if sessions or the server are killed.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE ROLE other LOGIN;
SELECT wf_grant_usage('other');
SELECT wf_define('{"definitionId": "ask", "root": [{"type": "HttpEndpoint", "path": "ask/{n}", "canStartWorkflow": true},
    {"type": "RunTask", "taskName": "Ask"}, {"type": "WriteHttpResponse", "content": "answer"}]}');
CREATE FUNCTION get(n integer, server text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN wait_until IS NULL THEN status::text ELSE 'waits' END FROM wf_begin_http_request(
        ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, server, 'GET', '/ask/' || n, timeout => '1 day') $$;
CREATE FUNCTION work() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r $$;
CREATE FUNCTION take(server text) RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM wf_take_http_responses(server, 1000) $$;
CREATE VIEW sleepers AS
SELECT a.application_name AS name FROM pg_stat_activity a
WHERE a.query LIKE 'CALL wf_wait_http_responses%' AND a.state = 'active' AND a.wait_event_type = 'Extension'
  AND a.backend_xmin IS NULL AND a.backend_xid IS NULL
  AND NOT EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype <> 'virtualxid');
SQL

# waits SESSION SERVER [OPTION...]: a session that sleeps without a snapshot, a transaction id, or a table lock.
declare -A waiting
waits() {
    local name=$1 server=$2
    shift 2
    PGAPPNAME=$name psql -X -q -At -d "$PGDATABASE" "$@" -c "CALL wf_wait_http_responses('$server', '1 day')" >"$WORKFLOW_TMP/$name.ready" 2>&1 &
    waiting[$name]=$!
    sleeps "$name"
}
sleeps() { await "$1" "SELECT name FROM sleepers WHERE name = '$1'"; }
answers() { # SESSION ANSWER
    wait "${waiting[$1]}" || true
    grep -qF -- "$2" "$WORKFLOW_TMP/$1.ready" || fail "line ${BASH_LINENO[0]}: $1: expected '$2', got '$(cat "$WORKFLOW_TMP/$1.ready")'"
    unset "waiting[$1]"
}

# Only the commit of a response wakes, and only the server and the role that began the request.
waits ann one
waits ben two
waits eve one -U other
is waits "SELECT get(1, 'one')"
sleeps ann
query "BEGIN; SELECT work(); ROLLBACK" >>"$WORKFLOW_TMP/steps.out"
sleeps ann
is 1 "SELECT work()"
answers ann t
sleeps ben
sleeps eve
is 1 "SELECT take('one')"
is 0 "SELECT take('one')"

# A session of a server that did not take what it was woken for: the next one finds it at once.
is waits "SELECT get(2, 'two')"
is 1 "SELECT work()"
answers ben t
is t "CALL wf_wait_http_responses('two')"
is 1 "SELECT take('two')"

# A wait that ends in a kill, of the client or of the session, leaves no waiter behind that would be woken in place of another.
waits ann one
kill -9 "${waiting[ann]}"
await 0 "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ann'"
{ wait "${waiting[ann]}" || true; } 2>/dev/null
unset 'waiting[ann]'
waits ann one
query "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ann'" >>"$WORKFLOW_TMP/steps.out"
{ wait "${waiting[ann]}" || true; } 2>/dev/null
unset 'waiting[ann]'
waits ann one
is waits "SELECT get(3, 'one')"
is 1 "SELECT work()"
answers ann t

# Sessions that begin, respond, wait and take at the same time: each response is taken once, and none is left.
ROUNDS=${WORKFLOW_TEST_SECONDS:-10}
is 1 "SELECT take('one')"
begin_requests() {
    local n
    for n in $(seq 1 "$((ROUNDS * 5))"); do echo "SELECT get(1000 + $1 * 1000 + $n, 'many');"; done | psql -X -q -At >"$WORKFLOW_TMP/begun.$1"
}
respond() {
    while [ ! -e "$WORKFLOW_TMP/stop" ]; do psql -X -q -At -c "SELECT work()" >/dev/null 2>&1 || true; done
}
take_all() {
    local left=$1 taken
    while [ "$left" -gt 0 ]; do
        [ "$(query "CALL wf_wait_http_responses('many', '1 day')")" = t ]
        taken=$(query "SELECT take('many')")
        left=$((left - taken))
    done
}
respond & responder=$!
take_all "$((ROUNDS * 10))" & taker=$!
begin_requests 1 & first=$!
begin_requests 2 & second=$!
wait "$first" "$second" "$taker"
touch "$WORKFLOW_TMP/stop"
wait "$responder"
is 0 "SELECT count(*) FROM workflow.http_requests WHERE server = 'many'"

# A crash of the server: what had committed is there, open requests get their response later.
is waits "SELECT get(4, 'one')"
is 1 "SELECT work()"
is waits "SELECT get(5, 'one')"
kill_server
start_server
is 1 "SELECT take('one')"
waits ann one
is 1 "SELECT work()"
answers ann t
is 1 "SELECT take('one')"
is 0 "SELECT count(*) FROM workflow.http_requests"
is "" "SELECT problem FROM wf_check()"
