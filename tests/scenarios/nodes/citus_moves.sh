#!/usr/bin/env bash
# examples/scale/citus with stand-ins for Citus's functions (citus_standin.sql), since Citus cannot be had here: a coordinator and two nodes.
# A shard moves with its instances while one of the three is killed at each statement, at each PREPARE and at each COMMIT PREPARED. Each
# instance and each order is then on exactly one node, no node answers for a key whose instances are elsewhere, and the next call of
# shop.move_shard ends the move. Then calls and a second session during a move, a tree of two shards, a rebalancer that moves a shard alone, a split, check, repair,
# rebalance, a drain and the return of the node.
# Long: `make test` leaves it to `make test-all`.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/nodes.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
coordinator=$WORKFLOW_TMP/coordinator coordinator_data=$WORKFLOW_TMP/coordinator/data
follow second
follow coordinator
trap 'for one in second coordinator; do on $one stop_server immediate || true; done' EXIT

# Nothing passes on DDL here, so the files are run on each node, and last, by citus.sh, on the coordinator.
group=0
for node in first second coordinator; do
    group=$(((group + 1) % 3))
    on $node psql -X -q -v ON_ERROR_STOP=1 -v group=$group -v first="$first" -v second="$second" -f "$here/citus_standin.sql"
    [ $node != coordinator ] || break
    for file in install deploy move add-node check repair rebalance; do
        on $node psql -X -q -v ON_ERROR_STOP=1 -f "$scale/citus/$file.sql" >"$WORKFLOW_TMP/setup.out"
    done
done
on coordinator "$scale/citus/citus.sh" >"$WORKFLOW_TMP/citus.out" 2>&1 || fail "citus.sh: $(cat "$WORKFLOW_TMP/citus.out")"
grep -q "all nodes are well" "$WORKFLOW_TMP/citus.out" || fail "$(cat "$WORKFLOW_TMP/citus.out")"
both is 1 "SELECT count(*) FROM workflow.definition_list"
both is 64 "SELECT count(*) FROM shop.home"
echo "ok: citus.sh runs each function once"

ask() { on coordinator query "$1"; }
ok() { local said; said=$(ask "SELECT * FROM shop.check()"); [ -z "$said" ] || fail "shop.check(): $said"; }
settle() { ask "SELECT recover_prepared_transactions()" >/dev/null; }

define='{"definitionId": "order", "root": [{"id": "paid", "type": "Event", "eventName": "OrderPaid"},
    {"id": "ship", "type": "Sql", "statement": "INSERT INTO shop.steps VALUES ($1, $2)", "parameters": [{"js": "getCorrelationId()"}, {"sql": "'"'shipped'"'"}]}]}'
ask "SELECT shop.deploy(\$s\$SELECT wf_define('${define//\'/\'\'}')\$s\$)" >/dev/null
settle
both is 2 "SELECT count(*) FROM workflow.definition_list"
# A definition that one node rejects is on none.
on second query "CREATE ROLE shop_there"
if ask "SELECT shop.deploy(\$s\$SELECT wf_define('{\"definitionId\": \"half\", \"root\": []}'), 'shop_there'::regrole\$s\$)" 2>"$WORKFLOW_TMP/said"; then fail "half a deployment succeeded"; fi
settle
both is 0 "SELECT count(*) FROM workflow.definition_list WHERE definition_id = 'half'"
ok
both query "CREATE ROLE shop_app LOGIN"
may_start="SELECT bool_or(has_function_privilege('shop_app', oid, 'EXECUTE')) FROM pg_proc WHERE proname = 'wf_start'"
both is f "$may_start"
ask "SELECT shop.deploy('SELECT wf_grant_usage(''shop_app'')')" >/dev/null
settle
both is t "$may_start"
echo "ok: definitions and grants are on all nodes, or on none"

# Calls of one key and of several. A call on the coordinator is no 40001, which drivers would repeat.
for n in {11..50}; do ask "SELECT shop.begin_order('A-$n', 'begin')" >/dev/null; done
settle
home=$(ask "SELECT CASE standin.group_of('shop.orders', 'A-17') WHEN 1 THEN 'first' ELSE 'second' END")
call="INSERT INTO shop.wf_call (key, message, kind, name) VALUES ('A-17', 'bank', 'event', 'Other') ON CONFLICT (key, message) DO UPDATE SET result = excluded.result RETURNING result"
[ "$(on "$home" query "$call")" = "$(on "$home" query "$call")" ] || fail "a repeated message has another answer"
both query "SELECT shop.trim_calls('0')" >/dev/null
both is 0 "SELECT count(*) FROM shop.wf_call"
said=$(ask "SELECT wf_publish_event('OrderPaid', correlation_id => 'A-17')" 2>&1) && fail "the coordinator answered"
[[ $said == *"cannot be called on the coordinator"* ]] || fail "$said"
said=$(on first query "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT wf_publish_event('OrderPaid', correlation_id => 'A-17')" 2>&1) && fail "an old snapshot was admitted"
[[ $said == *"READ COMMITTED"* ]] || fail "$said"
echo "ok: calls of one key and of several"

# More for the shard of A-17: keys enough for several exports, a tree with two keys, and keys that have no instance but a schedule, a stored
# event, or a dead letter.
shard=$(ask "SELECT shop.shard_of('A-17')")
# same_shard PREFIX [NUMBER]: keys of that shard, in the half of it that A-17 is in: the shard is split later, and a tree moves as a whole.
same_shard() {
    ask "SELECT k FROM (SELECT '$1-' || n AS k FROM generate_series(1, 100000) AS n) AS v CROSS JOIN pg_dist_shard AS s
         WHERE s.shardid = $shard AND shop.shard_of(k) = $shard AND (hashtext(k) > s.low + (s.high - s.low) / 2) = (hashtext('A-17') > s.low + (s.high - s.low) / 2)
         LIMIT ${2:-1}"
}
for key in $(same_shard P 12); do ask "SELECT shop.begin_order('$key', 'begin')" >/dev/null; done
parent='{"definitionId": "parent", "root": {"type": "DispatchWorkflow", "workflowDefinitionId": "order", "correlationId": {"input": "child"}, "waitForCompletion": true}}'
ask "SELECT shop.deploy(\$s\$SELECT wf_define('$parent')\$s\$)" >/dev/null
settle
on "$home" query "SELECT wf_start('parent', '{\"child\": \"$(same_shard child)\"}', correlation_id => '$(same_shard parent)');
    SELECT wf_schedule_workflow('daily', '1 day', 'order', correlation_id => '$(same_shard schedule)');
    SELECT wf_publish_event('Early', correlation_id => '$(same_shard kept)', keep_for => '1 day');
    SELECT wf_publish_event('Lost', correlation_id => '$(same_shard dead)', keep_for => '1 millisecond')" >/dev/null
expires() { on "$home" query "SELECT wf_run_due()" >/dev/null && [ "$(on "$home" query "SELECT count(*) FROM workflow.dead_letters WHERE instance_id IS NULL")" = 1 ]; }
eventually expires

# contents: all instances, orders and messages of both nodes.
contents() {
    local node
    for node in first second; do
        on $node query "SELECT 'instance ' || id || ' of ' || correlation_id FROM workflow.instances UNION ALL SELECT 'order ' || order_id FROM shop.orders UNION ALL SELECT 'message ' || key || ' ' || message FROM workflow.messages
            UNION ALL SELECT 'schedule of ' || correlation_id FROM workflow.triggers WHERE schedule_name IS NOT NULL
            UNION ALL SELECT 'event ' || id FROM workflow.bookmark_queue UNION ALL SELECT 'dead letter ' || id FROM workflow.dead_letters"
    done | sort
}
all=$(contents)
of_shard() { on "$1" query "SELECT count(*) FROM workflow.instances AS i WHERE shop.shard_of(i.correlation_id) = $shard"; }
keys=$(of_shard "$home")
[ "$keys" -ge 15 ] || fail "only $keys instances"
# once: everything is somewhere, and nothing is twice. A key is answered by at most one node, which has its instance.
once() {
    local node said answered=0
    [ "$(contents)" = "$all" ] || fail "$1: $(diff <(echo "$all") <(contents))"
    for node in first second; do
        if said=$(on $node query "BEGIN; SELECT cardinality(resumed) FROM wf_publish_event('OrderPaid', correlation_id => 'A-17'); ROLLBACK" 2>&1); then
            [ "$said" = 1 ] || fail "$1: $node answers for a key whose instance it does not have: $said"
            answered=$((answered + 1))
        else
            [[ $said == *"belongs to another node"* ]] || fail "$1: $said"
        fi
    done
    [ "$answered" -le 1 ] || fail "$1: both nodes answer for a key"
}

# move TARGET [STOP_AT]: with an export of its own for a few keys each.
move() {
    PGAPPNAME=mover PGOPTIONS="-c standin.stop_at=${2:-0}" on coordinator psql -X -q -At -v ON_ERROR_STOP=1 \
        -c "CALL shop.move_shard($shard, '${!1}', 5432, most_bytes => 1)" -c "SELECT recover_prepared_transactions()"
}
stops() { [ "$(ask "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'mover' AND wait_event = 'advisory'")" = 1 ] || ! kill -0 "$mover" 2>/dev/null; }
target=$([ "$home" = first ] && echo second || echo first)
event=0 kills=0
victims=(coordinator first second)
while true; do
    event=$((event + 1)) victim=${victims[event % 3]}
    on coordinator begin holder "SELECT pg_advisory_lock(42)"
    move $target $event >"$WORKFLOW_TMP/mover.out" 2>&1 &
    mover=$!
    eventually stops
    if ! kill -0 "$mover" 2>/dev/null; then
        wait "$mover" || fail "$(cat "$WORKFLOW_TMP/mover.out")"
        finish holder "ROLLBACK"
        break
    fi
    on $victim kill_server
    kills=$((kills + 1))
    if [ $victim = coordinator ]; then
        pipe=${pipes[holder]}
        printf '\\q\n' >&"$pipe"
        wait "${sessions[holder]}" || true
        exec {pipe}>&-
        rm -f "$WORKFLOW_TMP/holder"
    else
        finish holder "ROLLBACK"
    fi
    wait "$mover" || true
    on $victim start_server
    settle
    once "event $event, $victim killed"
    # Ended by the next call.
    move $target >/dev/null
    once "event $event, $victim killed, and moved again"
    is_there=$(of_shard $target)
    [ "$is_there" = "$keys" ] || fail "event $event: $is_there of $keys instances are on $target"
    ok
    target=$([ $target = first ] && echo second || echo first)
done
[ "$kills" -gt 15 ] || fail "only $kills kills"
echo "ok: $kills kills, one at each statement of a move: each instance on exactly one node"

# During a move, calls fail at once, also those of a transaction that the move waits for. A second session cannot move the shard.
move first >/dev/null
on first begin caller "SELECT cardinality(resumed) FROM wf_publish_event('Other', correlation_id => 'A-17', keep_for => '0')"
move second >"$WORKFLOW_TMP/mover.out" 2>&1 &
mover=$!
on first await 1 "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'"
on coordinator query "CALL shop.move_shard($shard, '$second', 5432)" 2>"$WORKFLOW_TMP/said" && fail "two sessions move a shard"
grep -q "another session moves shard $shard" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
on first query "SELECT wf_publish_event('Other', correlation_id => 'A-17')" 2>"$WORKFLOW_TMP/said" && fail "a call was admitted during a move"
grep -q "belongs to another node" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
finish caller "DO \$\$ BEGIN PERFORM wf_publish_event('Other', correlation_id => 'A-17'); RAISE 'admitted'; EXCEPTION WHEN serialization_failure THEN NULL; END \$\$; ROLLBACK"
wait "$mover" || fail "$(cat "$WORKFLOW_TMP/mover.out")"
once "a move beside calls"
[ "$(of_shard second)" = "$keys" ] || fail "the shard has not moved"
# A move that another session has taken over does not continue.
ask "SELECT shop.lock_move($shard, 1)" 2>"$WORKFLOW_TMP/said" && fail "an old move continued"
grep -q "another session has taken over the move of shard $shard" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
ok
echo "ok: during a move calls fail at once, and no other session moves the shard"

# A tree with correlation ids of two shards cannot move: the call says so before it closes the shard, and a rebalance passes over it. The
# export alone rejects it as well.
root=$(same_shard root)
child=$(on second query "SELECT k FROM (SELECT 'O-' || n AS k FROM generate_series(1, 10000) AS n) AS v WHERE shop.is_here(k) AND shop.shard_of(k) <> $shard LIMIT 1")
tree=$(on second query "SELECT wf_start('parent', '{\"child\": \"$child\"}', correlation_id => '$root')")
if move first >"$WORKFLOW_TMP/said" 2>&1; then fail "a tree of two shards moved"; fi
grep -q "a tree of instances has correlation ids of shard $shard and of another one" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
grep -q "They are \"$root\" of shard $shard and \"$child\" of shard" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
settle
ok
if on second query "SELECT shop.export_some($shard, 2, '$root', 1)" 2>"$WORKFLOW_TMP/said"; then fail "a tree of two shards was exported"; fi
grep -q "\"$child\" is of shard" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
ask "UPDATE pg_dist_node SET shouldhaveshards = false WHERE groupid = 2"
ask "CALL shop.rebalance()" 2>"$WORKFLOW_TMP/said"
ask "UPDATE pg_dist_node SET shouldhaveshards = true WHERE groupid = 2"
settle
grep -q "shard $shard cannot move" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
on second query "SELECT wf_delete_instance('$tree')" >/dev/null
once "a tree that cannot move"
echo "ok: a tree of two shards is not torn"

# bare FROM TO: Citus moves the shard alone.
bare() {
    ask "SELECT citus_move_shard_placement($shard, '${!1}', 5432, '${!2}', 5432, 'block_writes')" >/dev/null
    settle
}
# A move after that brings the instances as well, whether to where the rows are or elsewhere.
for target in second first; do
    move first >/dev/null
    bare first second
    move $target >/dev/null
    once "a move to $target after a bare one"
    [ "$(of_shard $target)" = "$keys" ] || fail "the instances are not on $target"
    ok
done
echo "ok: a move after a bare one brings the instances"

# A bare move, as of the rebalancer: the key is closed on both nodes, the check names it, and the repair mends it.
move first >/dev/null
bare first second
once "a bare move"
said=$(ask "SELECT problem, shard FROM shop.check() ORDER BY 1")
[ "$said" = "closed shard|$shard
misplaced keys|$shard" ] || fail "$said"
on first is 1 "SELECT count(*) FROM wf_check() WHERE problem = 'instances of a key that belongs to another node' AND detail LIKE 'A-17:%'"
# The tables that belong to a key without an instance count as well.
for key in $(same_shard schedule) $(same_shard kept) $(same_shard dead); do
    on first is 1 "SELECT count(*) FROM wf_check() WHERE problem = 'rows of a key that belongs to another node' AND detail = '$key'"
done
[ "$(ask "SELECT detail FROM shop.check() WHERE problem = 'misplaced keys'")" = "$keys instances of $((keys + 3)) keys" ] || fail "$(ask "SELECT * FROM shop.check()")"
if ask "CALL shop.rebalance()" 2>"$WORKFLOW_TMP/said"; then fail "a broken cluster was rebalanced"; fi
ask "CALL shop.repair()" 2>"$WORKFLOW_TMP/said"
grep -q "shard $shard of .*misplaced keys .*: $keys instances of" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
[ "$(ask "SELECT count(*) FROM shop.check()")" = 2 ] || fail "a dry run changed something"
ask "CALL shop.repair(dry_run => false)" 2>/dev/null
settle
once "a repair"
ok
echo "ok: a shard that was moved alone is closed, and repaired"

# Shards that Citus makes by a split are closed, and opened by a repair.
ask "SELECT citus_split_shard_by_split_points($shard, ARRAY[(low + (high - low) / 2)::text], ARRAY[2, 2], 'block_writes') FROM pg_dist_shard WHERE shardid = $shard" >/dev/null
settle
once "a split"
[ "$(ask "SELECT problem, detail, count(*) FROM shop.check() GROUP BY 1, 2")" = "closed shard|Citus has made it by a split|2" ] || fail "$(ask "SELECT * FROM shop.check()")"
ask "CALL shop.repair(dry_run => false)" 2>/dev/null
settle
once "the repair of a split"
ok
shard=$(ask "SELECT shop.shard_of('A-17')")
keys=$(of_shard second)
move first >/dev/null
once "a move of a part of a split shard"
[ "$(of_shard first)" = "$keys" ] || fail "not all instances of the part moved"
ok
echo "ok: shards that were split are closed, and repaired"

# All shards are pinned for Citus's rebalancer. Ours moves them with their instances: a drain, and back.
not_as_wished="SELECT count(*) FROM pg_dist_shard AS s JOIN pg_dist_placement AS p USING (shardid) CROSS JOIN pg_dist_node AS n
    WHERE shop.allows_node(s.shardid, n.nodeid) <> (n.groupid = p.groupid OR s.logicalrelid = 'shop.deployment'::regclass) AND s.low IS NOT NULL"
[ "$(ask "$not_as_wished")" = 0 ] || fail "a shard of shop.orders is not pinned, or another one is"
[ "$(ask "SELECT allowed FROM standin.strategies WHERE is_default")" = shop.allows_node ] || fail "the strategy is not the default"
spread() { ask "SELECT string_agg(n::text, ' ' ORDER BY g) FROM (SELECT p.groupid AS g, count(*) AS n FROM pg_dist_placement AS p JOIN pg_dist_shard AS s USING (shardid) WHERE s.logicalrelid = 'shop.orders'::regclass GROUP BY 1) AS v"; }
rebalance() {
    ask "CALL shop.rebalance(${1:-})" 2>"$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
    settle
}
before=$(spread)
ask "SELECT citus_drain_node('$second', 5432)" >/dev/null
settle
[ "$(spread)" = "$before" ] || fail "a drain moved shards without their instances"
rebalance
[ "$(spread)" = "$before" ] || fail "a dry run moved something"
rebalance "dry_run => false"
[ "$(spread)" = 65 ] || fail "$(spread)"
on second is 0 "SELECT count(*) FROM workflow.instances"
[ "$(ask "SELECT count(*) FROM pg_dist_placement AS p JOIN pg_dist_shard AS s USING (shardid) WHERE p.groupid = 2 AND s.low IS NOT NULL")" = 0 ] || fail "the node is not drained"
# A drained node gets what was deployed meanwhile when it returns.
late='{"definitionId": "late", "root": []}'
ask "SELECT shop.deploy(\$s\$SELECT wf_define('$late')\$s\$)" >/dev/null
settle
ok
on second is 0 "SELECT count(*) FROM workflow.definition_list WHERE definition_id = 'late'"
# Having nothing, it does not hinder a repair.
ask "SELECT shop.close_shard($shard)" >/dev/null
settle
ask "CALL shop.repair(dry_run => false)" 2>/dev/null
settle
ok
ask "UPDATE pg_dist_node SET shouldhaveshards = true WHERE groupid = 2"
rebalance "dry_run => false"
[ "$(spread)" = "33 32" ] || fail "$(spread)"
[ "$(ask "SELECT problem FROM shop.check() ORDER BY 1")" = "definitions differ
deployments are missing" ] || fail "$(ask "SELECT * FROM shop.check()")"
ask "CALL shop.add_node('$second', 5432)"
settle
both is 1 "SELECT count(*) FROM workflow.definition_list WHERE definition_id = 'late'"
ok
once "a rebalance"
for n in {11..50}; do ask "SELECT shop.pay_order('A-$n', 'pay', 1)" >/dev/null; done
settle
[ "$(sum "SELECT count(*) FROM shop.steps")" = 40 ] || fail "not all orders were shipped"
both is 0 "SELECT count(*) FROM workflow.instances WHERE correlation_id ~ '^A-[0-9]{2}' AND sub_status <> 'Finished'"
both is "" "SELECT * FROM wf_check()"
echo "ok: a rebalance and a drain move shards with their instances"

# While a session holds the lock of one shard, background workers fire the timers of the others.
ask "SELECT shop.deploy(\$s\$SELECT wf_define('{\"definitionId\": \"later\", \"root\": {\"type\": \"Delay\", \"timeSpan\": \"100 milliseconds\"}}')\$s\$)" >/dev/null
settle
here=$(on first query "SELECT array_agg(k) FROM (SELECT 'T-' || n AS k FROM generate_series(1, 1000) AS n) AS v WHERE shop.is_here(k)")
held=$(on first query "SELECT ('$here'::text[])[1]")
shard=$(ask "SELECT get_shard_id_for_distribution_column('shop.orders', '$held'::text)")
others="SELECT k FROM unnest('$here'::text[]) AS k WHERE get_shard_id_for_distribution_column('shop.orders', k) <> $shard LIMIT 200"
on first query "SELECT wf_start('later', correlation_id => '$held')" >/dev/null
on first begin holder "SELECT pg_advisory_xact_lock($shard)"
on first query "SELECT count(wf_start('later', correlation_id => k)) FROM ($others) AS v" >/dev/null
on first setting "workflow.launch_workers = on"
is_open="SELECT count(*) FROM workflow.instances WHERE definition_id = 'later' AND sub_status = 'Suspended'"
on first await 1 "$is_open"
on first is "$held" "SELECT correlation_id FROM workflow.instances WHERE definition_id = 'later' AND sub_status = 'Suspended'"
finish holder "ROLLBACK"
on first await 0 "$is_open"
echo "ok: a shard whose lock is held keeps no timer of another shard"

# The test runner makes an extension there to check the storage.
on first query "DROP EVENT TRIGGER reject"
