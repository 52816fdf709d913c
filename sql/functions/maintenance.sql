CREATE TYPE wf_adopted AS (
    owner     text,
    role      name,
    instances bigint,
    overdue   bigint
);

COMMENT ON TYPE wf_adopted IS
    'an owner as it is stored, the role that it stands for, the number of its instances, and the number of its overdue times';

CREATE FUNCTION wf_erase(correlation_id text DEFAULT NULL, actor text DEFAULT NULL, pseudonym text DEFAULT NULL, force boolean DEFAULT false, max integer DEFAULT 1000)
RETURNS TABLE (table_name text, erased bigint, kept bigint) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_erase';

COMMENT ON FUNCTION wf_erase(text, text, text, boolean, integer) IS
    'remove everything with a correlation id, or replace an actor by a pseudonym, about max instances at a time; returns the numbers of rows, none when nothing is left';

CREATE FUNCTION wf_version(OUT library text, OUT library_schema integer, OUT database_schema integer, OUT postgresql text)
LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_version';

COMMENT ON FUNCTION wf_version() IS
    'version of the loaded library, the schema number that it requires, that of this database, and the PostgreSQL for which it was compiled';

CREATE FUNCTION wf_worker_start()
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_worker_start';

COMMENT ON FUNCTION wf_worker_start() IS
    'start the background workers until the next restart of a server that does not preload the library; false if they are already running';

CREATE FUNCTION workflow._adopt_database(dry_run boolean, overdue text, owners jsonb)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_adopt_database';

COMMENT ON FUNCTION workflow._adopt_database(boolean, text, jsonb) IS 'owners and what they own as a JSON array, for wf_adopt_database';

CREATE FUNCTION wf_adopt_database(dry_run boolean DEFAULT false, overdue text DEFAULT 'fire', owners jsonb DEFAULT NULL)
RETURNS SETOF wf_adopted LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.owner, a.role, a.instances, a.overdue
    FROM pg_catalog.jsonb_to_recordset(workflow._adopt_database(dry_run, overdue, owners))
         AS a (owner text, role name, instances bigint, overdue bigint);
END;

COMMENT ON FUNCTION wf_adopt_database(boolean, text, jsonb) IS
    'let this database fire its due work after it was copied, restored or upgraded; returns the owners and their roles';

CREATE FUNCTION workflow._worker_status()
RETURNS jsonb LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'wf_worker_status';

COMMENT ON FUNCTION workflow._worker_status() IS 'state of the background workers in shared memory, for the view workflow.workers';

CREATE FUNCTION workflow._counts()
RETURNS jsonb LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'wf_counts';

COMMENT ON FUNCTION workflow._counts() IS 'counters of this database in shared memory as a JSON array, for wf_metrics';
