#!/usr/bin/env bash
# What every release from 0.2.0 on left waiting goes on here: its dump is restored under its version of the extension, which is then
# updated. The install script of a release stays as it was.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

releases=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../sql/releases" && pwd)
export PGOPTIONS="-c client_min_messages=error"

# The install scripts of older releases come beside this one's.
own_files
for script in "$releases"/workflow--*.sql; do
    if [ -e "$files/${script##*/}" ]; then
        diff "$script" "$files/${script##*/}" || fail "${script##*/} has been released: changes need another version"
    else
        cp "$script" "$files"
    fi
done
start_server
setting "workflow.launch_workers = on"
query "CREATE ROLE clerk LOGIN" postgres
current=$(query "SELECT default_version FROM pg_available_extensions WHERE name = 'workflow'" postgres)

# at NAME: the bookmark of what waits in this activity. finished NAME: that has ended, with the name that its last activity gives it.
at() { echo "(SELECT b.id FROM workflow.bookmarks AS b WHERE b.correlation_id = '$1')"; }
finished() { is "Finished|done" "SELECT sub_status, name FROM workflow.instances WHERE correlation_id = '$1'"; }

# restore VERSION DATABASE: under that version, which is then updated.
restore() {
    export PGDATABASE=$2
    query "CREATE DATABASE \"$2\"" postgres
    query "CREATE EXTENSION workflow VERSION '$1'"
    psql -X -q -v ON_ERROR_STOP=1 -f "$releases/waiting--$1.sql" >"$WORKFLOW_TMP/restore.out" 2>&1 || fail "$(tail -n 5 "$WORKFLOW_TMP/restore.out")"
    query "ALTER EXTENSION workflow UPDATE"
    is "" "SELECT * FROM wf_check()"
    # Nothing but these has ended, and nothing has been done. Children that are to start are pending.
    is "Faulted|Faulted
past|Finished" "SELECT correlation_id, sub_status FROM workflow.instances WHERE sub_status NOT IN ('Suspended', 'Pending') ORDER BY 1"
    is 0 "SELECT count(*) FROM notes"
    # What can wait, and does not in this dump.
    is "" "SELECT unnest('{Elsa.Event,Elsa.RunTask,Elsa.Delay,Elsa.StartAt,Elsa.Timer,Elsa.Cron,Elsa.HttpEndpoint,Workflow.ScheduledCommand,BackgroundActivity,
        Elsa.ExecuteWorkflow,Elsa.DispatchWorkflow,Elsa.BulkDispatchWorkflows,Acme.Ask,Acme.Bell}'::text[]) EXCEPT SELECT name FROM workflow.bookmarks"
    is "1|1|1|2" "SELECT (SELECT count(*) FROM workflow.bookmark_queue), (SELECT count(*) FROM workflow.dead_letters), (SELECT count(*) FROM workflow.event_grants),
        (SELECT count(*) FROM workflow.schedules)"
}

# Everything that waits has a way on, which is tried here.
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
    query "INSERT INTO notes VALUES ('repaired')"
    is Finished "SELECT (wf_retry(id)).sub_status FROM workflow.instances WHERE correlation_id = 'Faulted'"

    # Nothing fires in a copy before wf_adopt_database says that it is the one to fire.
    is 0 "SELECT wf_run_due()"
    query "SELECT wf_adopt_database()" >/dev/null
    await 0 "SELECT count(*) FROM workflow.bookmarks WHERE due_at < now()"
    for name in Delay StartAt Timer Cron ScheduledCommand BackgroundActivity; do
        await "Finished|done" "SELECT sub_status, name FROM workflow.instances WHERE correlation_id = '$name'"
    done
    await "background
command
report
seldom" "SELECT what FROM notes WHERE what <> 'repaired' ORDER BY 1"
    await 4 "SELECT count(*) FROM workflow.tasks WHERE name = 'Child' AND status = 'Open'"
    query "SELECT wf_complete_task(id, '1') FROM workflow.tasks WHERE name = 'Child' AND status = 'Open'" >/dev/null
    for name in ExecuteWorkflow DispatchWorkflow BulkDispatchWorkflows; do
        await "Finished|done" "SELECT sub_status, name FROM workflow.instances WHERE correlation_id = '$name'"
    done

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
    query "DROP DATABASE updated" postgres
    echo "ok: the schema of version $version is updated to what a new one is, rights included"
    restore "$version" "$version"
    go_on "$version"
done

# And once more with a next release, whose schema has another number: the library is not for what is restored.
stop_server
library=$(pg_config --pkglibdir)/workflow.so
sed 's/schema_2\x00/schema_3\x00/g' "$library" >"$library.new"
mv -f "$library.new" "$library"
printf '%s\n' "ALTER TABLE workflow.schema_2 RENAME TO schema_3;" "CALL workflow._set_rights();" >"$files/workflow--$current--$current.1.sql"
sed -i "s/^default_version = .*/default_version = '$current.1'/" "$files/workflow.control"
start_server
restore "$version" next
is "3|3" "SELECT library_schema, database_schema FROM wf_version()"
go_on "$version"
