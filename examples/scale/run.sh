#!/usr/bin/env bash
# run.sh [ORDERS] [NAME]: a client of the proxy starts and pays this many orders. It records those with an answer in SCALE_DIR/orders. A
# call without an answer (the node is lost, or the key has just moved) is sent again, with the same message.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
orders=${1:-20} name=${2:-client}

# send CALL
send() {
    local end=$((SECONDS + patience))
    until ask proxy "SELECT $1" proxy >/dev/null 2>>"$SCALE_DIR/$name.log"; do
        [ "$SECONDS" -lt "$end" ] || die "$name: no answer for $patience seconds: $(tail -n 3 "$SCALE_DIR/$name.log")"
        sleep 0.1
    done
}
for ((n = 1; n <= orders; n++)); do
    send "begin_order('$name-$n', 'begin')"
    send "pay_order('$name-$n', 'pay', $n)"
    echo "$name-$n" >>"$SCALE_DIR/orders"
done
say "$name: $orders orders; calls that were sent again: $(grep -c ERROR "$SCALE_DIR/$name.log" || true)"
