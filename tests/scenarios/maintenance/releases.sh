#!/usr/bin/env bash
# Instances that any release since 0.2.0 left waiting continue here: its dump is restored under its version of the extension, which is then
# updated. The same for instances of this version, waiting at every kind of bookmark. The install script of a release never changes.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
releases=$tree/sql/releases
export PGOPTIONS="-c client_min_messages=error"

# The install scripts of older releases are added to this one's.
own_files
for script in "$releases"/workflow--*.sql; do
    if [ -e "$files/${script##*/}" ]; then
        diff "$script" "$files/${script##*/}" || fail "${script##*/} has been released: changes need another version"
    else
        cp "$script" "$files"
    fi
done
start_server
waiting=$WORKFLOW_TMP/waiting.sql
current=$(query "SELECT default_version FROM pg_available_extensions WHERE name = 'workflow'" postgres)

# at NAME: the bookmark of the instance that waits in this activity. finished NAME: that instance has ended, with the name that its last
# activity sets.
at() { echo "(SELECT b.id FROM workflow.bookmarks AS b WHERE b.correlation_id = '$1')"; }
finished() { is "Finished|done" "SELECT sub_status, name FROM workflow.instances WHERE correlation_id = '$1'"; }

# kinds: all kinds of bookmarks. The engine lists the built-in stimuli; activities that wait have a frozen sample.
kinds() {
    {
        grep -vE 'Workflow\.(Cancel|Act)"' "$tree/crates/http/src/stimulus/built_in.rs" | grep -oE '"((Elsa|Workflow)\.[A-Za-z]+|BackgroundActivity)"'
        sed -n 's/^"bookmarks": //p' "$tree"/crates/engine/tests/frozen/*.json | grep -oE '"(name|TaskName)":"(Elsa|Workflow)\.[A-Za-z]+"' | sed 's/.*://'
    } | tr -d '"' | LC_ALL=C sort -u
}

# dump_waiting: a dump of waiting instances of this version, as scripts/release/release makes it for a release. Background workers are off.
dump_waiting() {
    query "CREATE DATABASE waiting" postgres
    query "CREATE EXTENSION workflow" waiting
    psql -X -q -v ON_ERROR_STOP=1 -d waiting -f "$tree/tests/scenarios/waiting.sql" >"$WORKFLOW_TMP/waiting.out" 2>&1 || fail "$(tail -n 5 "$WORKFLOW_TMP/waiting.out")"
    kinds >"$WORKFLOW_TMP/kinds"
    [ "$(wc -l <"$WORKFLOW_TMP/kinds")" -gt 20 ] || fail "the engine names only these kinds: $(cat "$WORKFLOW_TMP/kinds")"
    query "SELECT name FROM workflow.bookmarks UNION SELECT name FROM workflow.tasks WHERE status = 'Open'" waiting | LC_ALL=C sort >"$WORKFLOW_TMP/waits"
    LC_ALL=C comm -23 "$WORKFLOW_TMP/kinds" "$WORKFLOW_TMP/waits" >"$WORKFLOW_TMP/missing"
    [ ! -s "$WORKFLOW_TMP/missing" ] || fail "nothing in waiting.sql waits for: $(cat "$WORKFLOW_TMP/missing")"
    # The formats of stored states.
    sed -n 's/^const FORMAT.* u8 = \([0-9]*\);/\1/p' "$tree/crates/core/src/instance/codec.rs" >"$WORKFLOW_TMP/formats"
    query "SELECT DISTINCT get_byte(state, 0) FROM workflow.instances ORDER BY 1" waiting | diff "$WORKFLOW_TMP/formats" - ||
        fail "nothing in waiting.sql has a state of some format"
    pg_dump -f "$waiting" waiting
    unused waiting
    query "DROP DATABASE waiting" postgres
    echo "ok: something waits for each of $(wc -l <"$WORKFLOW_TMP/kinds") reasons, and a state is stored in each format"
}

# load VERSION DATABASE DUMP: under that version.
load() {
    export PGDATABASE=$2
    query "CREATE DATABASE \"$2\"" postgres
    query "CREATE EXTENSION workflow VERSION '$1'"
    psql -X -q -v ON_ERROR_STOP=1 -f "$3" >"$WORKFLOW_TMP/restore.out" 2>&1 || fail "$(tail -n 5 "$WORKFLOW_TMP/restore.out")"
}

# restore VERSION DATABASE DUMP: under that version, which is then updated.
restore() {
    load "$@"
    updated
}

# Updates the extension. No waiting instance is lost, continues or faults because of it.
updated() {
    query "ALTER EXTENSION workflow UPDATE"
    is "" "SELECT * FROM wf_check()"
    # Only these have ended, and nothing has run. Children that are to be started are pending.
    is "Faulted|Faulted
past|Finished" "SELECT correlation_id, sub_status FROM workflow.instances WHERE sub_status NOT IN ('Suspended', 'Pending') ORDER BY 1"
    is 0 "SELECT count(*) FROM notes"
    # Kinds of 0.2.0 that are missing in this dump.
    is "" "SELECT unnest('{Elsa.Event,Elsa.RunTask,Elsa.Delay,Elsa.StartAt,Elsa.Timer,Elsa.Cron,Elsa.HttpEndpoint,Workflow.ScheduledCommand,BackgroundActivity,
        Elsa.ExecuteWorkflow,Elsa.DispatchWorkflow,Elsa.BulkDispatchWorkflows,Acme.Ask,Acme.Bell}'::text[]) EXCEPT SELECT name FROM workflow.bookmarks"
    is "1|1|1|2" "SELECT (SELECT count(*) FROM workflow.bookmark_queue), (SELECT count(*) FROM workflow.dead_letters), (SELECT count(*) FROM workflow.event_grants),
        (SELECT count(*) FROM workflow.schedules)"
}

# Kinds of 0.3.0 that need no time. The events that resume the others have resumed these as well.
go_on_at_once() {
    local name

    for name in RunTimeout Compensate Compensable CancellationScope Try Catch Finally; do finished "$name"; done
    is "ContinueAs|Finished|
next|Finished|done" "SELECT definition_id, sub_status, name FROM workflow.instances WHERE correlation_id = 'ContinueAs' ORDER BY id"
    is t "SELECT min(seq) FILTER (WHERE seq > 0) > 20 FROM workflow.execution_log AS l JOIN workflow.instances AS i ON i.id = l.instance_id WHERE i.correlation_id = 'Trimmed'"
    query "SELECT wf_publish_event('Tick', '\"enough\"')" >/dev/null
    finished Trimmed
    query "SET ROLE clerk; SELECT wf_complete_task(task_id, '\"yes\"') FROM workflow.open_tasks WHERE name = 'Assigned'" >/dev/null
    finished Assigned
    query "SET ROLE clerk; SELECT wf_complete_task(task_id, 'true') FROM workflow.open_tasks WHERE name = 'Approve'" >/dev/null
    finished Approve
    is '"Approved"' "SELECT variables -> 'Answer' FROM workflow.instances WHERE correlation_id = 'Approve'"
    # Its reminder and its deadline are stored, and end with it.
    is "Workflow.Deadline,Workflow.Reminder" "SELECT string_agg(b.name, ',' ORDER BY b.name COLLATE \"C\") FROM workflow.bookmarks AS b JOIN workflow.instances AS i ON i.id = b.instance_id
        WHERE i.correlation_id = 'Reminded' AND b.due_at > now() + interval '10 days'"
    query "SET ROLE clerk; SELECT wf_complete_task(task_id, '\"yes\"') FROM workflow.open_tasks WHERE name = 'Reminded'" >/dev/null
    finished Reminded
    is 0 "SELECT count(*) FROM workflow.bookmarks AS b JOIN workflow.instances AS i ON i.id = b.instance_id WHERE i.correlation_id = 'Reminded'"
    # The service's response selects the outcome.
    query "SELECT wf_complete_task(id, '{\"statusCode\": 200, \"content\": \"YQ==\"}') FROM workflow.tasks WHERE name LIKE 'Elsa.%Http%' AND status = 'Open'" >/dev/null
    is 200,200 "SELECT string_agg(variables ->> 'Answer', ',') FROM workflow.instances WHERE correlation_id IN ('SendHttpRequest', 'FlowSendHttpRequest')"
    is '"a.csv"' "SELECT variables #> '{Answer,fileName}' FROM workflow.instances WHERE correlation_id = 'DownloadHttpFile'"
    query "SELECT wf_complete_task(id) FROM workflow.tasks WHERE name = 'Elsa.SendEmail' AND status = 'Open'" >/dev/null
    query "SELECT wf_publish_event('Received')" >/dev/null
    for name in SendHttpRequest FlowSendHttpRequest DownloadHttpFile SendEmail; do finished "$name"; done
    # A paused instance receives nothing.
    is 1 "SELECT count(*) FROM wf_publish_event('Pause') WHERE cardinality(resumed) = 0 AND queued_id IS NOT NULL"
    query "SELECT wf_publish_event('Turn'), wf_publish_event('Requested')" >/dev/null
    finished Turn
    finished Requested
    is Pending "SELECT sub_status FROM workflow.instances WHERE correlation_id = 'Limit'"
}

# The rest, once background workers may fire.
go_on_later() {
    local name

    for name in Retry Timeout StartTimeout Lease Answer SubmitAlterationPlan MigrateInstances; do
        await "Finished|done" "SELECT sub_status, name FROM workflow.instances WHERE correlation_id = '$name'"
    done
    is '"yes"' "SELECT variables -> 'Answer' FROM workflow.instances WHERE correlation_id = 'Answer'"
    await Cancelled "SELECT sub_status FROM workflow.instances WHERE correlation_id = 'Compensation'"
    is "answer
compensation" "SELECT what FROM notes WHERE what IN ('answer', 'compensation') ORDER BY 1"
    # A lease of the copied database is no longer valid; the limit is.
    is "1|2" "SELECT count(*), max(attempt) FROM wf_claim_tasks('{Leased}', max => 2)"
    is 1 "SELECT concurrency FROM workflow.task_limits WHERE name = 'Leased'"
    query "SELECT wf_complete_task(id, token => token) FROM workflow.bookmarks WHERE correlation_id = 'Leased'" >/dev/null
    finished Leased
    # The number of attempts comes from the strategy computed when the task was opened.
    is "1|3" "SELECT attempt, max_attempts FROM wf_claim_tasks('{Strategy}')"
    query "SELECT wf_complete_task(id, token => token) FROM workflow.bookmarks WHERE correlation_id = 'Strategy'" >/dev/null
    finished Strategy
    is Suspended "SELECT sub_status FROM workflow.instances WHERE correlation_id = 'Paused'"
    query "SELECT wf_unpause(id) FROM workflow.instances WHERE correlation_id = 'Paused'" >/dev/null
    await "Finished|done" "SELECT sub_status, name FROM workflow.instances WHERE correlation_id = 'Paused'"
    await Suspended "SELECT sub_status FROM workflow.instances WHERE correlation_id = 'Limit'"
    query "SELECT wf_publish_event('Turn')" >/dev/null
    finished Limit
    await "timeout" "SELECT n.code FROM workflow.incidents AS n JOIN workflow.instances AS i ON i.id = n.instance_id WHERE i.correlation_id = 'RunOver'"
    # Instances that have not ended, and never will.
    query "SELECT wf_delete_instance(id) FROM workflow.instances WHERE correlation_id IN ('Compensation', 'RunOver')" >/dev/null
}

# Every waiting instance can continue, and does so here.
go_on() {
    local name

    is 'Completed|"yes"' "SELECT status, result FROM workflow.tasks WHERE correlation_id = 'past'"
    query "SELECT wf_publish_event('Go', '{\"by\": \"Ada\"}')" >/dev/null
    finished Event
    is '{"by": "Ada"}' "SELECT variables -> 'Answer' FROM workflow.instances WHERE correlation_id = 'Event'"
    query "SELECT wf_complete_task(id, '{\"by\": \"Grace\"}') FROM workflow.tasks WHERE name = 'Sign' AND status = 'Open'" >/dev/null
    finished RunTask
    is '{"by": "Grace"}' "SELECT variables -> 'Answer' FROM workflow.instances WHERE correlation_id = 'RunTask'"
    is 200 "SELECT status FROM wf_http_request('POST', '/sign')"
    finished HttpEndpoint
    is Finished "SELECT (wf_resume($(at Acme.Ask), '{\"by\": \"Edsger\"}')).sub_status"
    is '"Edsger"' "SELECT variables -> 'Answer' FROM workflow.instances WHERE correlation_id = 'Acme.Ask'"
    is 1 "SELECT cardinality(resumed) FROM wf_send_stimulus('Acme.Bell', '{\"bell\": 1}')"
    finished Acme.Bell
    query "SELECT wf_publish_event('Part'), wf_publish_event('Inside', '1')" >/dev/null
    for name in WorkflowDefinitionActivity Composite If Switch While For ForEach ParallelForEach Parallel Fork Flowchart StateMachine; do finished "$name"; done
    # Its task was opened by the event.
    query "SELECT wf_complete_task(id) FROM workflow.tasks WHERE correlation_id = 'FlowchartTokens' AND status = 'Open'" >/dev/null
    finished FlowchartTokens
    [ "$1" = 0.2.0 ] || go_on_at_once
    query "INSERT INTO notes VALUES ('repaired')"
    is Finished "SELECT (wf_retry(id)).sub_status FROM workflow.instances WHERE correlation_id = 'Faulted'"

    # Nothing fires in a copy before wf_adopt_database declares it the live one.
    is 0 "SELECT wf_run_due()"
    query "SELECT wf_adopt_database()" >/dev/null
    await 0 "SELECT count(*) FROM workflow.bookmarks WHERE due_at < now()"
    for name in Delay StartAt Timer Cron ScheduledCommand BackgroundActivity; do
        await "Finished|done" "SELECT sub_status, name FROM workflow.instances WHERE correlation_id = '$name'"
    done
    await "background
command
report
seldom" "SELECT what FROM notes WHERE what NOT IN ('repaired', 'answer', 'compensation') ORDER BY 1"
    await 4 "SELECT count(*) FROM workflow.tasks WHERE name = 'Child' AND status = 'Open'"
    query "SELECT wf_complete_task(id, '1') FROM workflow.tasks WHERE name = 'Child' AND status = 'Open'" >/dev/null
    for name in ExecuteWorkflow DispatchWorkflow BulkDispatchWorkflows; do
        await "Finished|done" "SELECT sub_status, name FROM workflow.instances WHERE correlation_id = '$name'"
    done

    [ "$1" = 0.2.0 ] || go_on_later

    [[ $(query "SELECT wf_start('single')" 2>&1) == *"allows no further instance"* ]] || fail "a second instance of a singleton"
    is 1 "SELECT cardinality(resumed) FROM wf_publish_event('Single')"
    is 1 "SET ROLE clerk; SELECT cardinality(started) FROM wf_send_stimulus('Event', '{\"EventName\": \"Alarm\"}')"
    is 1 "SET ROLE clerk; SELECT cardinality(resumed) FROM wf_publish_event('Clerk')"
    finished Clerk
    is Hello "SELECT convert_from(body, 'UTF8') FROM wf_http_request('GET', '/site/one')"
    query "SELECT wf_define('{\"definitionId\": \"kept\", \"root\": [{\"id\": \"kept\", \"type\": \"Event\", \"eventName\": \"Kept\"}, {\"type\": \"SetName\", \"value\": \"done\"}]}')" >/dev/null
    is Finished "SELECT sub_status FROM wf_run('kept', correlation_id => 'to-come')"
    is Suspended "SELECT sub_status FROM wf_run('kept', correlation_id => 'dead')"
    query "SELECT wf_replay(dead_letter_id) FROM workflow.dead_letter_list" >/dev/null
    is Finished "SELECT sub_status FROM workflow.instances WHERE correlation_id = 'dead'"
    is 2 "SELECT count(*) FROM workflow.schedules WHERE next_run > now()"

    await 0 "SELECT count(*) FROM workflow.instances WHERE sub_status <> 'Finished'"
    is 0 "SELECT count(*) FROM workflow.bookmarks"
    is "" "SELECT * FROM wf_check()"
    check_storage
    echo "ok: what version $1 left waiting goes on"
}

# starters_of OWNER DUMP: rewrites the dump as if this owner had started all instances and sent all stored stimuli. In both tables the owner
# is the fourth column.
starters_of() {
    awk -v owner="$1" 'BEGIN { FS = OFS = "\t" } /^COPY / { table = $0 ~ /^COPY workflow\.(instances|bookmark_queue) / } table && NF > 3 { $4 = owner } { print }' "$2"
}

# In 0.2.0 a role that had started instances of another role's definitions could do everything with them. Before the update, the query of
# docs/security.md lists each such role with the grants that let everything continue. Without these grants nothing faults, and timers fire.
foreign_starters() {
    local grants faulted

    starters_of "$(sed -n 's/^\([0-9]*\)\t.*:clerk\t.*/\1/p' "$releases/waiting--0.2.0.sql")" "$releases/waiting--0.2.0.sql" >"$WORKFLOW_TMP/foreign.sql"
    load 0.2.0 foreign "$WORKFLOW_TMP/foreign.sql"
    query "GRANT ALL ON notes TO clerk"
    sed -n '/^### Before an upgrade from 0.2.0/,/^### Roles/{/^```sql/,/^```/p}' "$tree/docs/security.md" | grep -v '^```' >"$WORKFLOW_TMP/before.sql"
    psql -X -q -At -f "$WORKFLOW_TMP/before.sql" >"$WORKFLOW_TMP/before" || fail "the query of docs/security.md"
    grants=$(cut -d '|' -f 4 "$WORKFLOW_TMP/before")
    is "clerk's" "SELECT DISTINCT definition_id FROM workflow.instances EXCEPT SELECT unnest('{$(cut -d '|' -f 2 "$WORKFLOW_TMP/before" | paste -sd ,)}'::text[])"
    updated
    faulted=$(query "SELECT id FROM workflow.instances WHERE correlation_id = 'Faulted'")
    [[ $(query "SET ROLE clerk; SELECT wf_retry('$faulted')" 2>&1) == *"permission denied for workflow instance"* ]] || fail "clerk retries"
    is 0 "SET ROLE clerk; SELECT cardinality(resumed) FROM wf_publish_event('Go')"
    query "$grants" >/dev/null
    query "SELECT wf_adopt_database()" >/dev/null
    await 0 "SELECT count(*) FROM workflow.bookmarks WHERE due_at < now()"
    is Faulted "SELECT correlation_id FROM workflow.instances WHERE sub_status = 'Faulted'"
    query "INSERT INTO notes VALUES ('repaired'); SET ROLE clerk; SELECT wf_publish_event('Go'), wf_retry('$faulted')" >/dev/null
    finished Event
    finished Faulted
    is "" "SELECT * FROM wf_check()"
    echo "ok: what a foreign starter of version 0.2.0 left waiting goes on with the grants that the query names"
}

dump_waiting
setting "workflow.launch_workers = on"
query "CREATE DATABASE fresh" postgres
query "CREATE EXTENSION workflow" fresh
objects fresh >"$WORKFLOW_TMP/fresh"
[ "$(wc -l <"$WORKFLOW_TMP/fresh")" -gt 1000 ] || fail "pg_dump shows no objects"

for dump in "$releases"/waiting--*.sql; do
    version=${dump##*--} version=${version%.sql}
    query "CREATE DATABASE updated" postgres
    query "CREATE EXTENSION workflow VERSION '$version'" updated
    query "ALTER EXTENSION workflow UPDATE" updated
    objects updated | diff "$WORKFLOW_TMP/fresh" - || fail "what was updated from $version differs from what is new"
    unused updated
    query "DROP DATABASE updated" postgres
    echo "ok: the schema of version $version is updated to what a new one is, rights included"
    restore "$version" "$version" "$dump"
    go_on "$version"
done
foreign_starters
restore "$current" current "$waiting"
go_on "$current"

# Again with a next release, whose schema has another number: the library does not match the restored schema.
stop_server
library=$(pg_config --pkglibdir)/workflow.so
sed 's/schema_2\x00/schema_3\x00/g' "$library" >"$library.new"
mv -f "$library.new" "$library"
printf '%s\n' "ALTER TABLE workflow.schema_2 RENAME TO schema_3;" "CALL workflow._set_rights();" >"$files/workflow--$current--$current.1.sql"
sed -i "s/^default_version = .*/default_version = '$current.1'/" "$files/workflow.control"
start_server
restore "$current" next "$waiting"
is "3|3" "SELECT library_schema, database_schema FROM wf_version()"
go_on "$current"
