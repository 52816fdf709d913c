#!/usr/bin/env bash
# replica.sh NODE: gives a node a synchronous replica, NODE-replica: committed data is on both.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
follow "$1" "$1-replica"
ask "$1" "ALTER SYSTEM SET synchronous_standby_names = '\"$1-replica\"'" postgres
ask "$1" "SELECT pg_reload_conf()" postgres >/dev/null
await "$1" sync "SELECT sync_state FROM pg_stat_replication WHERE application_name = '$1-replica'"
say "$1-replica has what $1 has"
