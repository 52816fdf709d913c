# shellcheck shell=bash
# An approval with the build of another commit: the cost of later changes to workflows that do not use them. Sourced by bench/run.

before_do() { PGHOST=$BEFORE_HOST "$@"; }
event_before() { before_do event; }
task_before() { before_do task; }

before() {
    local hand kind rounds=$((3 * rounds))
    before_do prepare_server
    before_do prepare_rows
    title "An approval, the commit before : now" ratio
    compare "Event" 1.02 '<=' event_before event
    compare "RunTask" 1.02 '<=' task_before task
    before_do query "$PGDATABASE" 'CREATE EXTENSION pg_walinspect'
    query "$PGDATABASE" 'CREATE EXTENSION IF NOT EXISTS pg_walinspect'
    title "WAL of an approval, without full-page images, the commit before : now" bytes
    for kind in event task; do
        hand=
        before_do least_written "$kind, before" '' "$kind"
        least_written "$kind" 1.02 "$kind"
    done
}
