-- Instances that wait at a task, and versions to which they can be migrated.
SELECT wf_define('{"definitionId": "moving", "variables": {"N": 1}, "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "first", "type": "RunTask", "taskName": "first"}, {"id": "second", "type": "RunTask", "taskName": "second"}]}}');
SELECT wf_define('{"definitionId": "moving", "variables": {"N": 1}, "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "new", "type": "WriteLine", "text": "new"}, {"id": "first", "type": "RunTask", "taskName": "first"}, {"id": "second", "type": "RunTask", "taskName": "second"}]}}');
SELECT wf_define('{"definitionId": "moving", "variables": {"N": 1}, "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "third", "type": "RunTask", "taskName": "first"}, {"id": "second", "type": "RunTask", "taskName": "second"}]}}');

CREATE FUNCTION bench.open_moving(count integer) RETURNS bigint LANGUAGE sql
RETURN (SELECT count(wf_start('moving', version => 1)) FROM generate_series(1, count));

-- Migrates all of them, a thousand in each transaction.
CREATE PROCEDURE bench.migrate(dry_run boolean, from_version integer, version integer) LANGUAGE plpgsql AS $$
DECLARE
    last uuid;
    refused bigint;
    mapping jsonb = CASE WHEN from_version = 3 THEN '{"third": "first"}' WHEN version = 3 THEN '{"first": "third"}' ELSE '{}' END;
BEGIN
    LOOP
        SELECT max(m.instance_id::text)::uuid, count(*) FILTER (WHERE m.outcome <> 'Migrated') INTO last, refused
          FROM wf_migrate_all('moving', from_version, version, mapping, after => last, dry_run => migrate.dry_run) AS m;
        EXIT WHEN last IS NULL;
        ASSERT refused = 0;
        COMMIT;
    END LOOP;
END $$;
