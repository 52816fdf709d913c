#!/usr/bin/env bash
# `wf work` against services on loopback that succeed, fail, stall, redirect, answer nonsense, or are not there; and mail.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
/usr/bin/python3 "$here/services.py" "$WORKFLOW_TMP" >"$WORKFLOW_TMP/services.log" 2>&1 &
services=$!
eventually test -s "$WORKFLOW_TMP/http"
eventually test -s "$WORKFLOW_TMP/smtp"
port=$(cat "$WORKFLOW_TMP/http") mail=$(cat "$WORKFLOW_TMP/smtp") closed=1
url=http://127.0.0.1:$port
cat >"$WORKFLOW_TMP/secrets.toml" <<TOML
bank = {value = "Bearer s3cr3t-of-the-bank", hosts = ["$url"], owners = ["$PGUSER"]}
elsewhere = {value = "Bearer other-token", hosts = ["bank.example"], owners = ["$PGUSER"]}
foreign = {value = "Bearer other-token", hosts = ["$url"], owners = ["nobody"]}
TOML
chmod 600 "$WORKFLOW_TMP/secrets.toml"
cat >"$WORKFLOW_TMP/wf.toml" <<TOML
database = "host=$PGHOST port=$PGPORT user=$PGUSER dbname=$PGDATABASE"
[work]
secrets = "$WORKFLOW_TMP/secrets.toml"
allow-addresses = "127.0.0.1:$port,127.0.0.1:$closed"
timeout-seconds = 300
lease-seconds = 3600
max-body = 1
max-redirects = 3
breaker-failures = 0
smtp-host = "127.0.0.1"
smtp-port = $mail
smtp-tls = "none"
smtp-from = "shop@example.com"
TOML

# One definition for all requests: the instance's name records the outcome, its correlation id the case.
query "SELECT wf_define('{\"definitionId\": \"send\", \"variables\": {\"Content\": null}, \"root\": [
    {\"id\": \"call\", \"type\": \"SendHttpRequest\", \"url\": {\"input\": \"url\"}, \"method\": {\"input\": \"method\"}, \"content\": {\"input\": \"content\"},
     \"contentType\": {\"js\": \"getInput(''content'') ? ''application/json'' : null\"}, \"authorization\": {\"input\": \"authorization\"},
     \"retry\": {\"maxAttempts\": 3, \"delay\": \"10 ms\"}, \"parsedContent\": {\"var\": \"Content\"},
     \"expectedStatusCodes\": [{\"statusCode\": 200, \"activity\": {\"type\": \"SetName\", \"value\": \"200\"}}],
     \"unmatchedStatusCode\": {\"type\": \"SetName\", \"value\": \"unmatched\"}, \"failedToConnect\": {\"type\": \"SetName\", \"value\": \"failed to connect\"},
     \"timeout\": {\"type\": \"SetName\", \"value\": \"timeout\"}}]}'),
  wf_define('{\"definitionId\": \"download\", \"root\": {\"type\": \"Flowchart\", \"activities\": [
    {\"id\": \"get\", \"type\": \"DownloadHttpFile\", \"url\": {\"input\": \"url\"}}, {\"id\": \"there\", \"type\": \"SetName\", \"value\": \"200\"}], \"connections\": [[\"get\", \"200\", \"there\"]]}}'),
  wf_define('{\"definitionId\": \"mail\", \"root\": {\"id\": \"mail\", \"type\": \"SendEmail\", \"to\": {\"input\": \"to\"}, \"subject\": \"Prices\", \"body\": \"<p>Here</p>\",
    \"retry\": {\"maxAttempts\": 3, \"delay\": \"10 ms\"},
    \"attachments\": [{\"fileName\": \"a.csv\", \"contentType\": \"text/csv\", \"content\": \"YTtiCg==\"}], \"error\": {\"type\": \"SetName\", \"value\": \"error\"}}}')" >"$WORKFLOW_TMP/setup.out"

# sends CASE INPUT: starts the request of a case.
sends() { query "SELECT wf_start('send', '{\"url\": \"$url/$1\", \"method\": \"GET\"}'::jsonb || '${2:-{\}}', correlation_id => '$1')" >/dev/null; }
for case in ok busy/1 down missing redirect/ok redirect/redirect/redirect/ok redirect/redirect/redirect/redirect/ok nonsense big odd huge patient; do
    sends "$case"
done
sends ok/post '{"method": "POST", "content": {"n": 1}}'
sends ok/secret '{"authorization": {"secret": "bank"}}'
sends redirect/ok/secret '{"authorization": {"secret": "bank"}}'
sends ok/elsewhere '{"authorization": {"secret": "elsewhere"}}'
sends ok/foreign '{"authorization": {"secret": "foreign"}}'
sends ok/unknown '{"authorization": {"secret": "unknown"}}'
sends ok/injected '{"authorization": "a\r\nX-Injected: b"}'
sends closed "{\"url\": \"http://127.0.0.1:$closed/\"}"
sends scheme '{"url": "file:///etc/passwd"}'
sends metadata '{"url": "http://169.254.169.254/latest"}'
query "SELECT wf_start('download', '{\"url\": \"$url/file\"}', correlation_id => 'file'),
    wf_start('mail', '{\"to\": [\"ada@example.com\", \"ben@example.com\"]}', correlation_id => 'mail'),
    wf_start('mail', '{\"to\": [\"full@example.com\"]}', correlation_id => 'full'),
    wf_start('mail', '{\"to\": [\"gone@example.com\"]}', correlation_id => 'gone'), wf_start('mail', '{\"to\": [\"a\\nb@example.com\"]}', correlation_id => 'no address')" >/dev/null

# work: two workers share the work.
work() {
    local worker
    for worker in 1 2; do
        "$WF" work --config "$WORKFLOW_TMP/wf.toml" >>"$WORKFLOW_TMP/worker$worker.log" 2>&1 &
        workers[worker]=$!
    done
}
# stop: a worker that is asked to stop does so without losing anything. Both have begun.
stop() {
    local worker
    await 2 "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'CALL %wf_wait_tasks(%'"
    for worker in 1 2; do
        kill "${workers[worker]}"
        wait "${workers[worker]}" || fail "a worker ended with status $?: $(cat "$WORKFLOW_TMP/worker$worker.log")"
    done
}
work
trap 'kill "$services" "${workers[@]}" 2>/dev/null || true; cat "$WORKFLOW_TMP"/worker*.log' EXIT
# One service has asked for an hour. More comes while the workers wait.
await "1|429" "SELECT count(*), max(right(last_error, 3)) FROM workflow.open_tasks HAVING min(available_at) > now() + interval '50 minutes'"
sends ok/later
await 1 "SELECT count(*) FROM workflow.open_tasks"
for worker in 1 2; do kill -0 "${workers[worker]}" || fail "a worker has ended"; done

# became CASE WAY [STATUS]: how its instance has ended: through which outcome, or with which fault code.
became() {
    is "$2" "SELECT coalesce(o.code, i.name, '') FROM workflow.instances i LEFT JOIN workflow.incidents o ON o.instance_id = i.id WHERE i.correlation_id = '$1'"
}
# asked CASE: how often the service received it.
asked() { grep -c "\"path\": \"/$1\"" "$WORKFLOW_TMP/requests" || true; }
for case in ok ok/post ok/later busy/1 redirect/ok redirect/redirect/redirect/ok ok/secret redirect/ok/secret odd huge file; do became "$case" 200; done
for case in down missing; do became "$case" unmatched; done
for case in nonsense closed; do became "$case" "failed to connect"; done
became redirect/redirect/redirect/redirect/ok too_many_redirects
became big too_large
for case in ok/elsewhere ok/foreign ok/unknown; do became "$case" secret_denied; done
for case in ok/injected scheme; do became "$case" invalid_request; done
became metadata address_refused
became mail ""
for case in full gone; do became "$case" error; done
became "no address" invalid_message
# Although the policies allow three attempts: the worker reports that another one is pointless.
is "9|1" "SELECT count(*), max(coalesce(attempts, 1)) FROM workflow.incidents"

# Transient failures have three attempts, all others one.
[ "$(asked busy/1) $(asked down) $(asked missing) $(asked ok) $(asked patient)" = "3 3 1 3 1" ] ||
    fail "attempts: $(asked busy/1) $(asked down) $(asked missing) $(asked ok) $(asked patient)"
[ "$(grep -c full@ "$WORKFLOW_TMP/recipients") $(grep -c gone@ "$WORKFLOW_TMP/recipients")" = "3 1" ] || fail "attempts: $(cat "$WORKFLOW_TMP/recipients")"
[ "$(asked ok/elsewhere)$(asked ok/foreign)$(asked ok/injected)" = 000 ] || fail "a request was sent that should not be"
# The idempotency key of a request is the task's id, and content is sent as JSON.
is t "SELECT count(*) = 1 FROM workflow.tasks t JOIN workflow.instances i ON i.id = t.instance_id WHERE i.correlation_id = 'ok/post' AND t.id =
    '$(grep '"/ok/post"' "$WORKFLOW_TMP/requests" | sed 's/.*"idempotency-key": "\([^"]*\)".*/\1/')'"
grep '"/ok/post"' "$WORKFLOW_TMP/requests" | grep -qF '{\"n\":1}' || fail "the content did not arrive"
# A secret is sent to its service, not along a redirect, and appears in neither response.
grep '"/ok/secret"' "$WORKFLOW_TMP/requests" | grep -q 's3cr3t-of-the-bank' || fail "the secret did not arrive"
is 1 "SELECT $(grep -c 's3cr3t-of-the-bank' "$WORKFLOW_TMP/requests") - 1"
is '***bank***' "SELECT result #>> '{content,authorization}' FROM workflow.tasks t JOIN workflow.instances i ON i.id = t.instance_id WHERE i.correlation_id = 'ok/secret'"
is 0 "SELECT count(*) FROM workflow.tasks WHERE result::text LIKE '%s3cr3t%' OR payload::text LIKE '%s3cr3t%'"
is 0 "SELECT count(*) FROM workflow.incidents WHERE message LIKE '%s3cr3t%'"
# A file arrives byte for byte, mail with its parts.
is 00ff613b620a "SELECT encode(decode(result ->> 'content', 'base64'), 'hex') FROM workflow.tasks WHERE name = 'Elsa.DownloadHttpFile'"
is 1 "SELECT $(grep -c . "$WORKFLOW_TMP/mail")"
for part in ada@example.com ben@example.com "Subject: Prices" "From: shop@example.com" "<p>Here</p>" a.csv YTtiCg==; do
    grep -qF -- "$part" "$WORKFLOW_TMP/mail" || fail "the mail has no '$part': $(cat "$WORKFLOW_TMP/mail")"
done

stop
# Services that take too long. A worker that is itself late may send less than three requests.
sed -i "s/^timeout-seconds = .*/timeout-seconds = 2/" "$WORKFLOW_TMP/wf.toml"
work
number=0
while [ "$number" -eq 0 ] || [ "$(asked "silent/$number")" -ne 3 ]; do
    number=$((number + 1))
    sends "silent/$number"
    sends "drip/$number"
    await 1 "SELECT count(*) FROM workflow.open_tasks"
    for case in silent drip; do became "$case/$number" timeout; done
done
stop
trap - EXIT
kill "$services"
