#!/usr/bin/env bash
# examples/http_server.py in front of the database: what a web client sees of workflows.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

command -v curl >/dev/null || fail "curl is missing"

query "SELECT wf_define('{\"definitionId\": \"leave\", \"root\": [
    {\"id\": \"in\", \"type\": \"HttpEndpoint\", \"path\": \"leave/{who}\", \"supportedMethods\": [\"POST\"], \"canStartWorkflow\": true},
    {\"type\": \"Correlate\", \"correlationId\": {\"js\": \"getOutputFrom(''in'', ''RouteData'').who\"}},
    {\"type\": \"WriteHttpResponse\", \"statusCode\": \"Accepted\", \"responseHeaders\": {\"Set-Cookie\": [\"a=1\", \"b=2\"]},
        \"content\": {\"object\": {\"days\": {\"js\": \"getOutputFrom(''in'', ''ParsedContent'').days\"}}}},
    {\"id\": \"approve\", \"type\": \"RunTask\", \"taskName\": \"approve\"},
    {\"id\": \"paper\", \"type\": \"Event\", \"eventName\": \"Paper arrived\"},
    {\"id\": \"next\", \"type\": \"Event\", \"eventName\": \"Next\"},
    {\"type\": \"HttpEndpoint\", \"path\": \"leave/{who}/paper\", \"supportedMethods\": [\"GET\", \"HEAD\"]},
    {\"type\": \"WriteHttpResponse\", \"content\": \"<b>granted</b>\", \"contentType\": \"text/html\"}]}')" >/dev/null

server=$(dirname "${BASH_SOURCE[0]}")/../../../examples/http_server.py
"$server" 0 >"$WORKFLOW_TMP/url" 2>"$WORKFLOW_TMP/requests" &
server_id=$!
trap 'kill "$server_id"' EXIT
says_where() {
    kill -0 "$server_id" || fail "the web server does not start: $(cat "$WORKFLOW_TMP/requests")"
    [ -s "$WORKFLOW_TMP/url" ]
}
eventually says_where
url=$(cat "$WORKFLOW_TMP/url")
root=${url%workflows/}

# answers EXPECTED CURL_ARGUMENT...: status, content type and body are these.
answers() {
    local expected=$1 got
    shift
    got=$(curl -sS -w ' %{http_code} %{content_type}' "$@") || fail "curl $*"
    [ "$got" = "$expected" ] || fail "expected '$expected', got '$got' from: curl $*"
}

json=(-H "Content-Type: application/json")

# A request starts the workflow, which answers and then continues to wait.
answers '{"days":3} 202 application/json' "${json[@]}" -d '{"days": 3}' "${url}leave/ada"
is 'Suspended|ada' "SELECT sub_status, correlation_id FROM workflow.instance_list"
cookies=$(curl -sS -i "${json[@]}" -d '{}' "${url}leave/bob" | grep -ci '^set-cookie: [ab]=[12]')
[ "$cookies" -eq 2 ] || fail "expected two cookies, got $cookies"

# Errors in a request are reported with HTTP status codes.
answers '{"message":"No workflow waits for this request."} 404 application/json' "${url}nothing"
answers '{"message":"The path is known, but not with this method."} 405 application/json' "${url}leave/ada"
curl -sS -i "${url}leave/ada" | grep -qi '^allow: POST' || fail "the methods are not said"
answers '{"message":"invalid JSON text: \"{\". It is wrong at position 2."} 400 application/json' "${json[@]}" -d '{' "${url}leave/ada"
answers ' 411 ' "${json[@]}" -H 'Transfer-Encoding: chunked' -d '{"days": 3}' "${url}leave/ada"
is 2 "SELECT count(*) FROM workflow.instance_list"

# A task is completed by its id, an event published by its name, a bookmark resumed by its id.
task=$(query "SELECT task_id FROM workflow.open_tasks WHERE correlation_id = 'ada'")
[ "$(curl -sS "${json[@]}" -d '"yes"' "${root}tasks/$task/complete" | python3 -c 'import json, sys; print(json.load(sys.stdin)["sub_status"])')" = Suspended ] ||
    fail "the task is not completed"
answers ' 409 ' -d '"yes"' "${root}tasks/$task/complete"
answers ' 404 ' -X POST "${root}tasks/00000000-0000-0000-0000-000000000000/complete"
answers ' 400 ' -X POST "${root}tasks/1/complete"
answers ' 400 ' -d 'no JSON' "${root}events/Next"
answers ' 404 ' "${root}tasks/$task"
resumed=$(curl -sS "${json[@]}" -d '{}' "${root}events/Paper%20arrived?correlationId=ada" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["resumed"]))')
[ "$resumed" = 1 ] || fail "the event resumed $resumed"
bookmark=$(query "SELECT bookmark_id FROM workflow.waiting WHERE activity = 'next'")
curl -sS -f -o /dev/null -X POST "${root}bookmarks/$bookmark/resume" || fail "the bookmark is not resumed"

# And the next request resumes what waits for it.
curl -sS -I "${url}leave/nobody/paper" | grep -q '^HTTP/1.1 200' || fail "HEAD is not answered"
is 'Finished' "SELECT sub_status FROM workflow.instance_list WHERE correlation_id = 'ada'"
answers '{"message":"No workflow waits for this request."} 404 application/json' "${url}leave/ada/paper"

# Twenty at once, each with its own answer.
for i in {1..20}; do curl -sS "${json[@]}" -d "{\"days\": $i}" "${url}leave/many" >"$WORKFLOW_TMP/answer-$i" & pids[i]=$!; done
for i in {1..20}; do
    wait "${pids[i]}" || fail "request $i"
    [ "$(cat "$WORKFLOW_TMP/answer-$i")" = "{\"days\":$i}" ] || fail "answer $i is $(cat "$WORKFLOW_TMP/answer-$i")"
done
is 20 "SELECT count(*) FROM workflow.instance_list WHERE correlation_id = 'many'"

# An unreachable database is not reported as an answer of a workflow.
query "ALTER DATABASE workflow ALLOW_CONNECTIONS false" postgres
answers ' 500 ' "${url}leave/ada/paper"
query "ALTER DATABASE workflow ALLOW_CONNECTIONS true" postgres
