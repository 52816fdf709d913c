#!/usr/bin/env bash
# add-node.sh NAME: starts a node with everything deployed on the others. It serves no keys until partitions are moved to it.
# In this order: create roles and tables, set the guard, deploy all versions in the order of their numbers, compare `digest` with another node.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
new_node "$1"
digests="SELECT definition_id, version, digest FROM workflow.definition_list ORDER BY 1, 2"
other=$(nodes | head -n 1)
[ "$(ask "$1" "$digests")" = "$(ask "$other" "$digests")" ] || die "the definitions of $1 differ from those of $other"
say "$1 has the definitions of $other; move.sh gives it partitions"
