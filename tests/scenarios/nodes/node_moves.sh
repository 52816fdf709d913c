#!/usr/bin/env bash
# Partitions move from one server to another by two-phase commit: rolled back, completed, with both servers or either of them killed between
# the phases, and repeatedly while clients use the keys. No order is lost, duplicated or misplaced, and each timer fires once.
# Long: `make test` leaves it to `make test-all`.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/nodes.sh"
make_nodes

# key PARTITION [NUMBER]: correlation ids of a partition.
key() { query "SELECT k FROM (SELECT 'order-' || n AS k FROM generate_series(1, 1000) AS n) AS v WHERE wf_partition(k, 8) = $1 LIMIT 1 OFFSET ${2:-0}"; }
three=$(key 3) other=$(key 4)

on first query "$(begin_order "$three" "1 second")" >/dev/null
on first query "$(begin_order "$other" "1 second")" >/dev/null
on first query "SET ROLE shop; SELECT wf_publish_event('Early', correlation_id => '$three', keep_for => '1 hour')" >/dev/null
on first query "SET ROLE shop; SELECT wf_call('$three', 'm1', 'event', 'Noted')" >"$WORKFLOW_TMP/answer"

# contents: the rows of the moving key on a node.
contents="SELECT id, sub_status FROM workflow.instances WHERE correlation_id = '$three' UNION ALL SELECT id, name FROM workflow.bookmark_queue WHERE correlation_id = '$three' ORDER BY 1"
before=$(on first query "$contents")

move 3 first second
undo_move first second
on first is "$before" "$contents"
on second is "" "$contents"
on second is 0 "SELECT count(*) FROM workflow.partitions"
echo "ok: a move that is undone leaves everything where it was"

# Both have prepared it.
move 3 first second
both kill_server
both start_server
both is "$move" "SELECT gid FROM pg_prepared_xacts"
# Its keys wait on the old node, and do not exist on the new one; other keys are served.
if on first query "SET lock_timeout = '200ms'; SET ROLE shop; SELECT wf_publish_event('Paid', correlation_id => '$three')" 2>"$WORKFLOW_TMP/said"; then fail "the key was not held"; fi
grep -q "lock timeout" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
on first is 1 "SET ROLE shop; SELECT cardinality(resumed) FROM wf_publish_event('Paid', correlation_id => '$other')"
on second query "COMMIT PREPARED '$move'"
both kill_server
both start_server
on first is "$move" "SELECT gid FROM pg_prepared_xacts"
on second is 1 "SET ROLE shop; SELECT cardinality(resumed) FROM wf_publish_event('Paid', correlation_id => '$three')"
"$scale/move.sh" --end 3 first second
on first is "" "$contents"
on second await "shipped|1" "SELECT step, count(*) FROM steps WHERE id = '$three' GROUP BY 1"
on first await "shipped|1" "SELECT step, count(*) FROM steps WHERE id = '$other' GROUP BY 1"
# Messages of wf_call are answered there as before, and the owner is the same role under another number.
on second is "$(cat "$WORKFLOW_TMP/answer")" "SET ROLE shop; SELECT wf_call('$three', 'm1', 'event', 'Noted')"
on second is "shop" "SELECT owner FROM workflow.instance_list WHERE correlation_id = '$three'"
[ "$(on first query "SELECT owner FROM workflow.instances WHERE correlation_id = '$other'")" != "$(on second query "SELECT id FROM workflow.owners WHERE name = 'shop' AND same_as IS NULL")" ] ||
    fail "the owners have the same number, so nothing was translated"
on second query "SET ROLE shop; SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r WHERE t.correlation_id = '$three'" >/dev/null
on second is "Finished" "SELECT sub_status FROM workflow.instance_list WHERE correlation_id = '$three'"
# The old node now rejects the key.
if on first query "SET ROLE shop; SELECT wf_start('order', correlation_id => '$three')" 2>"$WORKFLOW_TMP/said"; then fail "it was not refused"; fi
grep -q "belongs to another node" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
both is 0 "$misplaced"
echo "ok: a move is whole, also where both servers are killed before and between the two commits"

# The same with one of them killed between the two commits: nothing is decided while it does not answer.
for killed in first second; do
    partition=$([ $killed = first ] && echo 6 || echo 7)
    key=$(key "$partition")
    on first query "$(begin_order "$key" "1 second")" >/dev/null
    move "$partition" first second
    on second query "COMMIT PREPARED '$move'"
    on $killed kill_server
    if "$scale/move.sh" --end "$partition" first second 2>"$WORKFLOW_TMP/said"; then fail "a move ended without $killed"; fi
    grep -q "$killed does not say what it has promised" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
    on $killed start_server
    "$scale/move.sh" --end "$partition" first second
    on first is 0 "SELECT count(*) FROM workflow.instances WHERE correlation_id = '$key'"
    on second query "$(pay_order "$key")" >/dev/null
    on second await "shipped|1" "SELECT step, count(*) FROM steps WHERE id = '$key' GROUP BY 1"
    both is "" "SELECT gid FROM pg_prepared_xacts"
    both is 0 "$misplaced"
done
echo "ok: either of them is killed between the two commits"

# A bundle that does not match is rejected, and leaves nothing behind.
on first query "SET ROLE shop; SELECT wf_define('{\"definitionId\": \"later\", \"root\": {\"type\": \"Event\", \"eventName\": \"Later\"}}'); SELECT wf_start('later', correlation_id => '$(key 5)')" >/dev/null
if move 5 first second 2>"$WORKFLOW_TMP/said"; then fail "a version that is not there was taken in"; fi
grep -q "is not on this node" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
# Only one of the two transactions is prepared, so it is rolled back.
"$scale/move.sh" --end 5 first second
on first is 1 "SELECT count(*) FROM workflow.instances WHERE definition_id = 'later'"
on second query "SET ROLE shop; SELECT wf_define('{\"definitionId\": \"later\", \"root\": {\"type\": \"Event\", \"eventName\": \"Later\"}}')" >/dev/null
on first query "SET my.partition = '5'; SELECT encode(piece, 'hex') FROM wf_export_instances(predicate => 'moves(text)') AS piece" >"$WORKFLOW_TMP/bundle.pieces"
move 5 first second
finish_move first second
# The same rows once more.
sed "s/.*/SELECT wf_import_instances(ARRAY[decode('&', 'hex')])/" "$WORKFLOW_TMP/bundle.pieces" >"$WORKFLOW_TMP/again.sql"
if on second psql -X -q -v ON_ERROR_STOP=1 -f "$WORKFLOW_TMP/again.sql" 2>"$WORKFLOW_TMP/said"; then fail "rows were taken in twice"; fi
grep -q "is on this node already" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
if on first psql -X -q -v ON_ERROR_STOP=1 -f "$WORKFLOW_TMP/again.sql" 2>"$WORKFLOW_TMP/said"; then fail "a key of another node was taken in"; fi
grep -q "belongs to another node" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
both is 0 "$misplaced"
echo "ok: what does not fit is refused"

# Under load: a client looks up the node of a key in the map, and looks it up again if the key has just moved.
map=$WORKFLOW_TMP/map
mkdir "$map"
# place PARTITION NODE: updates the map atomically for its readers.
place() {
    echo "$2" >"$map/.$1"
    mv "$map/.$1" "$map/$1"
}
for partition in 0 1 2 4; do place "$partition" first; done
for partition in 3 5 6 7; do place "$partition" second; done
# routed PARTITION COMMAND: repeats the command until it has taken effect.
routed() {
    local said
    until said=$(on "$(cat "$map/$1")" query "$2" 2>&1); do
        # A client that has changed a business row can deadlock with a move that waits for it: one of them is rolled back, and repeated.
        [[ $said == *"belongs to another node"* || $said == *"deadlock detected"* ]] || { echo "client: $said" >>"$WORKFLOW_TMP/clients.failed"; return 1; }
        sleep 0.02
    done
}
client() { # NUMBER
    local n=0 key partition end=$((SECONDS + WORKFLOW_TEST_SECONDS))
    while [ "$SECONDS" -lt "$end" ] || [ "$n" -lt 2 ] || [ "$(wc -l <"$WORKFLOW_TMP/moves")" -lt 2 ]; do
        n=$((n + 1)) key=client-$1-$n
        partition=$(query "SELECT wf_partition('$key', 8)")
        routed "$partition" "$(begin_order "$key" "300 milliseconds")" || return 0
        routed "$partition" "$(pay_order "$key")" || return 0
        echo "$key" >>"$WORKFLOW_TMP/client.$1"
    done
}
: >"$WORKFLOW_TMP/moves"
for number in {1..8}; do client "$number" & done
while [ -n "$(jobs -r)" ]; do
    partition=$((RANDOM % 8)) from=$(cat "$map/$partition")
    to=$([ "$from" = first ] && echo second || echo first)
    if ! move "$partition" "$from" "$to" 2>"$WORKFLOW_TMP/said"; then
        grep -q "deadlock detected" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
        continue
    fi
    finish_move "$from" "$to"
    place "$partition" "$to"
    echo "$partition" >>"$WORKFLOW_TMP/moves"
done
wait
[ ! -e "$WORKFLOW_TMP/clients.failed" ] || fail "$(head -n 5 "$WORKFLOW_TMP/clients.failed")"
orders=$(cat "$WORKFLOW_TMP"/client.* | wc -l)
shipped() { [ "$(sum "SELECT count(*) FROM steps WHERE id LIKE 'client-%'")" -ge "$orders" ]; }
eventually shipped
[ "$(sum "SELECT count(*) FROM steps WHERE id LIKE 'client-%'")" = "$orders" ] || fail "some orders were shipped twice"
[ "$(sum "SELECT count(DISTINCT id) FROM steps WHERE id LIKE 'client-%'")" = "$orders" ] || fail "some orders were shipped twice, and others never"
[ "$(sum "SELECT count(*) FROM orders WHERE id LIKE 'client-%' AND amount = 1")" = "$orders" ] || fail "business rows were lost or written twice"
[ "$(sum "SELECT count(*) FROM workflow.instances WHERE correlation_id LIKE 'client-%'")" = "$orders" ] || fail "instances were lost or doubled"
both is 0 "SELECT count(*) FROM workflow.instances AS i WHERE correlation_id LIKE 'client-%' AND (SELECT count(*) FROM workflow.bookmarks AS b WHERE b.instance_id = i.id AND b.activity_id = 'check') <> 1"
both is 0 "$misplaced"
both is "" "SELECT * FROM wf_check()"
on second check_storage
echo "ok: $(wc -l <"$WORKFLOW_TMP/moves") moves while 8 clients had $orders orders: none lost, none doubled, none misplaced"
