#!/usr/bin/env bash
# examples/payment.sql with three of examples/payment_worker.py, under a role that may do nothing else, and a provider (payment_provider.py)
# that fails, or charges without confirming. Workers are killed while they hold a task and the provider is processing their call. In the end
# each good card was charged once, each order records it, and no task is left.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if ! /usr/bin/python3 -c 'import psycopg' 2>/dev/null; then
    echo "there is no psycopg: scripts/lib/setup --docs could not install it"
    exit 75
fi
export no_proxy=127.0.0.1
/usr/bin/python3 "$here/payment_provider.py" "$WORKFLOW_TMP" >"$WORKFLOW_TMP/provider.log" 2>&1 &
provider=$!
eventually test -s "$WORKFLOW_TMP/port"
url=http://127.0.0.1:$(cat "$WORKFLOW_TMP/port")/charges

# While the provider keeps calls open, each that a worker gives up is an attempt, and on a busy machine that takes long.
sed 's/"maxAttempts": 8/"maxAttempts": 1000/' "$here/../../../examples/payment.sql" >"$WORKFLOW_TMP/payment.sql"
grep -q '"maxAttempts": 1000' "$WORKFLOW_TMP/payment.sql" || fail "the example has another policy"
psql -X -q -f "$WORKFLOW_TMP/payment.sql" >"$WORKFLOW_TMP/setup.out" 2>&1
query "TRUNCATE pay.orders"
# The steps after an answer of this role run in the background.
setting "workflow.launch_workers = on"

# hire WORKER: it waits three seconds for the provider, so its leases expire after four.
hire() {
    PGUSER=pay_worker /usr/bin/python3 "$here/../../../examples/payment_worker.py" "$url" 3 >>"$WORKFLOW_TMP/worker$1.log" 2>&1 &
    workers[$1]=$!
}
for worker in 0 1 2; do hire "$worker"; done
trap 'kill "$provider" "${workers[@]}" 2>/dev/null || true; cat "$WORKFLOW_TMP"/worker*.log' EXIT

# is_charging WORKER: it holds a task, and the provider is processing its call of this round. Sets `task` and `attempt`.
is_charging() {
    IFS='|' read -r task attempt < <(query "SELECT task_id, attempt FROM workflow.open_tasks WHERE worker LIKE '%:${workers[$1]}'") || return 1
    grep -qxF "$round $task" "$WORKFLOW_TMP/held"
}

killed=()
for round in {1..5}; do
    echo "$round" >"$WORKFLOW_TMP/hold"
    query "SELECT count(pay.place(n, CASE WHEN n % 10 = 0 THEN 'stolen' ELSE 'good' END)) FROM generate_series(1, 40) AS n" >/dev/null
    worker=$((round % 3))
    eventually is_charging "$worker"
    kill -9 "${workers[worker]}"
    wait "${workers[worker]}" || true
    killed+=("('$task', $attempt)")
    rm "$WORKFLOW_TMP/hold"
    hire "$worker"
done

await 0 "SELECT count(*) FROM workflow.instance_list WHERE status <> 'Finished'"
for worker in 0 1 2; do kill -0 "${workers[worker]}" || fail "worker $worker has ended"; done
is Finished "SELECT DISTINCT sub_status FROM workflow.instance_list"
is 0 "SELECT count(*) FROM workflow.open_tasks"
is $'Declined|20\nPaid|180' "SELECT status, count(*) FROM pay.orders GROUP BY 1 ORDER BY 1"
# The provider has charged each order once, and the order has that receipt.
diff <(sort "$WORKFLOW_TMP/charges") <(query "SELECT id, receipt FROM pay.orders WHERE status = 'Paid'" | sort) || fail "charges and orders differ"
# The work of a killed worker took another attempt. The provider fails no call that it has kept open, so nothing else causes one.
is 5 "SELECT count(*) FROM (VALUES $(IFS=, && echo "${killed[*]}")) AS k (task, attempt)
    JOIN workflow.tasks AS t ON t.id = k.task::uuid JOIN pay.orders AS o ON o.id::text = t.correlation_id AND o.attempts > k.attempt"

kill "$provider" "${workers[@]}"
trap - EXIT
