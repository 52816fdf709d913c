-- The partitions of correlation ids that this node has, if several nodes share them.
CREATE TABLE workflow.partitions (
    partition integer CONSTRAINT partitions_pkey PRIMARY KEY,
    count     integer NOT NULL
);

COMMENT ON TABLE workflow.partitions IS 'partitions of correlation ids that this node has, for workflow.route_check = partitions';
COMMENT ON COLUMN workflow.partitions.count IS 'number of partitions of all nodes, the same in each row';

-- Pieces of bundles that the current transaction has imported with wf_import_instances. Before it commits, each set must be
-- complete, and the rows are removed: no other transaction ever sees one.
CREATE TABLE workflow.imports (
    set_id      uuid    NOT NULL,
    piece       integer NOT NULL,
    digest      bytea   NOT NULL,
    last_digest bytea,
    CONSTRAINT imports_pkey PRIMARY KEY (set_id, piece)
);

COMMENT ON TABLE workflow.imports IS 'pieces of sets of instances that the running transaction has imported';
COMMENT ON COLUMN workflow.imports.last_digest IS 'of the last piece: SHA-256 of the digests of the pieces before it';

CREATE FUNCTION workflow._end_import()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM workflow.imports i WHERE i.set_id = NEW.set_id) AND NOT EXISTS (
        SELECT FROM workflow.imports l
        WHERE l.set_id = NEW.set_id AND l.last_digest = (
            SELECT sha256(coalesce(string_agg(i.digest, '' ORDER BY i.piece) FILTER (WHERE i.piece < l.piece), ''))
            FROM workflow.imports i WHERE i.set_id = NEW.set_id HAVING count(*) = l.piece)) THEN
        RAISE EXCEPTION 'instances of another node are not complete'
            USING ERRCODE = '55000', DETAIL = 'The transaction has not taken in all pieces that one call of wf_export_instances has returned.',
                  HINT = 'Pass all of them to wf_import_instances, in one transaction.';
    END IF;
    DELETE FROM workflow.imports WHERE set_id = NEW.set_id;
    RETURN NULL;
END $$;

COMMENT ON FUNCTION workflow._end_import() IS 'prevents the commit of a set of instances with missing pieces';

CREATE CONSTRAINT TRIGGER end_import AFTER INSERT ON workflow.imports DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION workflow._end_import();
SELECT pg_catalog.pg_extension_config_dump('workflow.partitions', '');
