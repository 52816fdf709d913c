#!/usr/bin/env bash
# What every release from 0.2.0 on left waiting goes on here: its dump is restored under its version of the extension, which is then
# updated. The install script of a release stays as it was.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

releases=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../sql/releases" && pwd)
export PGOPTIONS="-c client_min_messages=error"

# The scenario's files of the server, into which the install scripts of older releases come.
copy=$WORKFLOW_TMP/prefix
cp -a "${PGBIN%/lib/postgresql/*}" "$copy"
stop_server
PGBIN=$copy${PGBIN#"${PGBIN%/lib/postgresql/*}"}
export PATH=$PGBIN:$PATH
files=$(pg_config --sharedir)/extension
for script in "$releases"/workflow--*.sql; do
    if [ -e "$files/${script##*/}" ]; then
        diff "$script" "$files/${script##*/}" || fail "${script##*/} has been released: changes need another version"
    else
        cp "$script" "$files"
    fi
done
start_server
query "CREATE ROLE clerk LOGIN" postgres
current=$(query "SELECT default_version FROM pg_available_extensions WHERE name = 'workflow'" postgres)

# at NAME: the bookmarks of what waits in this activity. open NAME: its sub-status, and the name that its last activity gives it.
at() { echo "(SELECT b.id FROM workflow.bookmarks AS b WHERE b.correlation_id = '$1')"; }
finished() { is "Finished|done" "SELECT sub_status, name FROM workflow.instances WHERE correlation_id = '$1'"; }

# restore VERSION: into a database of that name.
restore() {
    export PGDATABASE=$1
    query "CREATE DATABASE \"$1\"" postgres
    query "CREATE EXTENSION workflow VERSION '$1'"
    psql -X -q -v ON_ERROR_STOP=1 -f "$releases/waiting--$1.sql" >"$WORKFLOW_TMP/restore.out" 2>&1 || fail "$(tail -n 5 "$WORKFLOW_TMP/restore.out")"
    [ "$1" = "$current" ] || query "ALTER EXTENSION workflow UPDATE"
    is "" "SELECT * FROM wf_check()"
    is Faulted "SELECT correlation_id FROM workflow.instances WHERE sub_status = 'Faulted'"
}

# Everything that waits has a way on, which is tried here.
go_on() {
    local name

    # A kind of bookmark that this release knew and the dump lacks.
    is "" "SELECT type FROM wf_activities() WHERE kind = 'Trigger' AND type NOT IN (SELECT activity_type FROM workflow.bookmarks) AND '$1' = '$current'"

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
    query "INSERT INTO notes VALUES ('repaired')"
    is Finished "SELECT (wf_retry(id)).sub_status FROM workflow.instances WHERE correlation_id = 'Faulted'"

    # Nothing fires in a copy before somebody says that it is the one to fire.
    is 0 "SELECT wf_run_due()"
    query "SELECT wf_adopt_database()" >/dev/null
    await 0 "SELECT wf_run_due() + (SELECT count(*) FROM workflow.bookmarks WHERE due_at < '2100-01-01')"
    for name in Delay StartAt Timer Cron ScheduledCommand BackgroundActivity; do finished "$name"; done
    is "background
command" "SELECT what FROM notes WHERE what <> 'repaired' ORDER BY 1"
    query "SELECT wf_complete_task(id, '1') FROM workflow.tasks WHERE name = 'Child' AND status = 'Open'" >/dev/null
    await 0 "SELECT wf_run_due()"
    for name in ExecuteWorkflow DispatchWorkflow BulkDispatchWorkflows; do finished "$name"; done

    if query "SELECT wf_start('single')" >/dev/null 2>&1; then fail "a second instance of a singleton"; fi
    is 1 "SELECT cardinality(resumed) FROM wf_publish_event('Single')"
    is 1 "SET ROLE clerk; SELECT cardinality(started) FROM wf_send_stimulus('Event', '{\"EventName\": \"Alarm\"}')"
    is 1 "SET ROLE clerk; SELECT cardinality(resumed) FROM wf_publish_event('Clerk')"
    finished Clerk
    is Hello "SELECT convert_from(body, 'UTF8') FROM wf_http_request('GET', '/site/one')"
    query "SELECT wf_define('{\"definitionId\": \"kept\", \"root\": [{\"id\": \"kept\", \"type\": \"Event\", \"eventName\": \"Kept\"}, {\"type\": \"SetName\", \"value\": \"done\"}]}')" >/dev/null
    is Finished "SELECT sub_status FROM wf_run('kept', correlation_id => 'to-come')"
    is 2 "SELECT count(*) FROM workflow.schedules WHERE next_run IS NOT NULL"

    is 0 "SELECT count(*) FROM workflow.instances WHERE sub_status <> 'Finished'"
    is 0 "SELECT count(*) FROM workflow.bookmarks"
    is "" "SELECT * FROM wf_check()"
    check_storage
    echo "ok: what version $1 left waiting goes on"
}

for dump in "$releases"/waiting--*.sql; do
    version=${dump##*--}
    restore "${version%.sql}"
    go_on "${version%.sql}"
done
