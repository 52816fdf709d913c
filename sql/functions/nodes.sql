CREATE FUNCTION wf_partition(key text, count integer)
RETURNS integer LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_partition';

COMMENT ON FUNCTION wf_partition(text, integer) IS
    'partition of a correlation id out of count, a power of two: the one in which PL/Proxy finds it by hashtext(key)';

CREATE FUNCTION wf_add_partitions(partitions integer[], count integer)
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_add_partitions';

COMMENT ON FUNCTION wf_add_partitions(integer[], integer) IS
    'add partitions of correlation ids to this node, out of the count of all nodes; returns how many it did not have';

CREATE FUNCTION wf_remove_partitions(partitions integer[])
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_remove_partitions';

COMMENT ON FUNCTION wf_remove_partitions(integer[]) IS
    'remove partitions from this node, after the calls that use their keys; returns how many it had';

CREATE FUNCTION wf_export_instances(keys text[] DEFAULT NULL, predicate regprocedure DEFAULT NULL, remove boolean DEFAULT false)
RETURNS SETOF bytea LANGUAGE c AS 'MODULE_PATHNAME', 'wf_export_instances';

COMMENT ON FUNCTION wf_export_instances(text[], regprocedure, boolean) IS
    'pack the instances of correlation ids, given or selected by f(key text), with everything that belongs to them, for wf_import_instances on another node; remove deletes them here';

CREATE FUNCTION wf_import_instances(bundle bytea[])
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_import_instances';

COMMENT ON FUNCTION wf_import_instances(bytea[]) IS
    'import what wf_export_instances has packed on another node; returns the number of instances';

CREATE FUNCTION wf_keep_instances(predicate regprocedure, max integer DEFAULT 10000, keyless boolean DEFAULT true, dry_run boolean DEFAULT false,
                                  max_percent integer DEFAULT 10)
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_keep_instances';

COMMENT ON FUNCTION wf_keep_instances(regprocedure, integer, boolean, boolean, integer) IS
    'remove the instances whose correlation ids do not belong to this node, about max at a time; returns how many, 0 when none are left; dry_run counts all of them, and max_percent limits their part of all instances';

CREATE FUNCTION workflow._check_route()
RETURNS TABLE (problem text, detail text) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_check_route';

COMMENT ON FUNCTION workflow._check_route() IS 'keys that workflow.route_check gives to another node, for wf_check';
