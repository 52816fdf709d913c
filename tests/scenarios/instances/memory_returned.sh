#!/usr/bin/env bash
# A session returns the memory of a large call to the operating system when the call ends, successfully or not.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

query "SELECT wf_define('{\"definitionId\": \"small\", \"root\": {\"type\": \"Event\", \"eventName\": \"Go\"}}')" >/dev/null

# held: SQL, the megabytes of this session. many N: an object with N small objects.
held="SELECT substring(pg_read_file('/proc/self/status', 0, 10000) FROM 'RssAnon:\s*(\d+)')::int / 1024"
many() { echo "(SELECT jsonb_object_agg(i, '{\"name\": \"Ada\"}'::jsonb) FROM generate_series(1, $1) AS i)"; }

# returned INPUT MESSAGE: after a start with this input, which gives this message, the session holds little more than after a start with a
# small input.
returned() {
    local before after
    read -r before after < <(psql -X -q -At 2>"$WORKFLOW_TMP/messages" <<SQL | xargs
SELECT wf_start('small') \g /dev/null
$held;
SELECT wf_start('small', $1) \g /dev/null
$held;
SQL
    )
    [[ "$(cat "$WORKFLOW_TMP/messages")" == $2 ]] || fail "$(cat "$WORKFLOW_TMP/messages")"
    echo "$before MB before, $after MB after"
    [ "$after" -lt $((before + 16)) ] || fail "the session holds $after MB after the call, $before MB before it"
}
returned "$(many 200000)" ""
returned "$(many 400000)" "ERROR:  JSON value has too many elements*"
