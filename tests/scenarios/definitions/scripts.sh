#!/usr/bin/env bash
# A script is stopped by workflow.javascript_timeout, statement_timeout, cancel, terminate and a fast shutdown, whatever it spends its time
# in. How long it takes to stop is measured in CPU time of its backend, because the machine may be busy.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# Ticks of CPU time, of which there are 100 in a second. A script that does not stop uses any number. One that is stopped uses some 20 to 50
# on an idle machine, and many times that on a slow or busy one.
readonly BOUND=1000
scripts=(
    'let x = (1n << 65000n) - 1n; for (;;) x.toString().length'
    'let a = new Uint8Array(3e7); for (;;) a.lastIndexOf(1)'
    'let s = "a".repeat(44000), t = "a".repeat(22000) + "b"; for (;;) s.indexOf(t)'
    'let a = new Uint8Array(3e7); for (;;) { a.copyWithin(1, 0); a.reverse() }'
    'let a = new Array(2e6).fill(1); for (;;) a.includes(2)'
    'let s = "a".repeat(1e7); for (;;) s.toUpperCase()'
    'let a = Array.from({ length: 1e5 }, (_, at) => at); for (;;) JSON.stringify(a)'
    'let s = "9".repeat(19000); for (;;) BigInt(s)'
    'for (;;) setVariable("V", "x".repeat(1e6))'
    'let a = "a".repeat(2e7), b = "a".repeat(2e7 - 1) + "b"; for (;;) { try { for (;;) a === b } catch { } finally { continue } }'
    'for (;;) { try { for (;;) { } } catch { } finally { continue } }'
)
for at in "${!scripts[@]}"; do
    psql -X -q -v ON_ERROR_STOP=1 -v id="script$at" -v script="${scripts[at]}" >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SELECT wf_define(jsonb_build_object('definitionId', :'id', 'variables', '{"V": null}'::jsonb, 'root', jsonb_build_array(
    jsonb_build_object('type', 'SetVariable', 'variable', 'V', 'value', jsonb_build_object('js', :'script')))));
SQL
done
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
-- User and system time of a process; what the kernel writes behind the name of the program, which is in parentheses.
CREATE FUNCTION ticks(pid text) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT s[12]::bigint + s[13]::bigint
    FROM regexp_split_to_array(substring(pg_read_file('/proc/' || pid || '/stat', 0, 4096) FROM '\) (.*)'), ' ') AS s
$$;
CREATE PROCEDURE ends_at(setting text, expected text, definition text, bound bigint) LANGUAGE plpgsql AS $$
DECLARE begun bigint := ticks('self'); code text; message text; took bigint;
BEGIN
    BEGIN
        SELECT incidents -> -1 ->> 'sqlstate' INTO code FROM wf_run(definition);
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
    END;
    took := ticks('self') - begun;
    IF code IS DISTINCT FROM expected OR took > bound THEN RAISE '% at %: %, % (% ticks)', definition, setting, code, message, took; END IF;
END $$;
SQL

# security.md#what-an-input-can-do: a script ends at workflow.javascript_timeout, statement_timeout, cancel, terminate and a fast shutdown
for at in "${!scripts[@]}"; do
    query "SET workflow.javascript_timeout = '200ms'; CALL ends_at('javascript_timeout', '54000', 'script$at', $BOUND)" >>"$WORKFLOW_TMP/out"
done
echo "ok: workflow.javascript_timeout"

# The limit of the statement is reached inside PL/pgSQL, whose exception handler must not catch it. It holds for that statement only: any
# other may take longer on a busy machine.
for at in "${!scripts[@]}"; do
    got=$(psql -X -q -At -v VERBOSITY=sqlstate 2>&1 <<SQL
SET workflow.javascript_timeout = '1h';
SELECT ticks('self') AS begun \gset
BEGIN;
SET LOCAL statement_timeout = '300ms';
SELECT wf_start('script$at');
ROLLBACK;
SELECT ticks('self') - :begun <= $BOUND;
SQL
    )
    [ "$got" = "ERROR:  57014
t" ] || fail "statement_timeout, ${scripts[at]}: $got"
done
echo "ok: statement_timeout"

# run_script NUMBER: starts it in the background and waits until it runs; sets pid (of the backend) and client.
run_script() {
    psql -X -q -At -v VERBOSITY=sqlstate >"$WORKFLOW_TMP/run$1" 2>&1 <<SQL &
SET application_name = 'run$1';
SET workflow.javascript_timeout = '1h';
SELECT wf_start('script$1');
SELECT 'ticks ' || ticks('self');
SQL
    client=$!
    # The start of a session alone may use as many ticks.
    await t "SELECT ticks(pid::text) > 20 FROM pg_stat_activity
        WHERE application_name = 'run$1' AND state = 'active' AND query LIKE 'SELECT wf_start%'"
    pid=$(query "SELECT pid FROM pg_stat_activity WHERE application_name = 'run$1'")
}

for at in "${!scripts[@]}"; do
    run_script "$at"
    begun=$(query "SELECT ticks('$pid') FROM pg_cancel_backend($pid)")
    await f "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid)"
    wait "$client" || true
    grep -q '57014' "$WORKFLOW_TMP/run$at" || fail "cancel, ${scripts[at]}: $(cat "$WORKFLOW_TMP/run$at")"
    took=$(($(sed -n 's/^ticks //p' "$WORKFLOW_TMP/run$at") - begun))
    [ "$took" -le "$BOUND" ] || fail "cancel, ${scripts[at]}: $took ticks"
done
echo "ok: pg_cancel_backend"

# What is left of the process when it is seen last; it may be gone at any time.
for at in "${!scripts[@]}"; do
    run_script "$at"
    begun=$(query "SELECT ticks('$pid') FROM pg_terminate_backend($pid)")
    while now=$(query "SELECT ticks('$pid')" 2>>"$WORKFLOW_TMP/gone"); do
        [ $((now - begun)) -le "$BOUND" ] || fail "terminate, ${scripts[at]}: $((now - begun)) ticks"
    done
    wait "$client" || true
done
echo "ok: pg_terminate_backend"

for at in 0 1 4 8 9; do run_script "$at"; done
stop_server fast
start_server
is 0 "SELECT count(*) FROM workflow.instances WHERE definition_id LIKE 'script%' AND status <> 'Running' AND sub_status <> 'Faulted'"
! grep -qE 'terminated by signal|PANIC' "$PGHOST/log" || fail "the server crashed"
echo "ok: a fast shutdown"
