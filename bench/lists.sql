-- A million instances as after a week of work, and procedures that measure lists of them. psql -v rows=1000000
--
-- bench_lists_all may read every instance. bench_lists_some owns five of 500 definitions, which have 1 % of the instances. bench_lists_few
-- has started ten instances of definitions that it may not read.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
DO $$ BEGIN
    DROP ROLE IF EXISTS bench_lists_all, bench_lists_some, bench_lists_few, bench_lists_many;
END $$;
CREATE ROLE bench_lists_all;
CREATE ROLE bench_lists_some;
CREATE ROLE bench_lists_few;
CREATE ROLE bench_lists_many;
GRANT pg_read_all_data TO bench_lists_all;
SELECT wf_grant_usage(r::name) FROM unnest('{bench_lists_all, bench_lists_some, bench_lists_few, bench_lists_many}'::text[]) AS r;

CREATE FUNCTION pg_temp.define(n integer) RETURNS void LANGUAGE sql AS $$
    SELECT wf_define(jsonb_build_object('definitionId', 'listed-' || n,
        'root', '[{"id": "wait", "type": "Event", "eventName": "Go"}]'::jsonb)) $$;
SET ROLE bench_lists_some;
SELECT count(pg_temp.define(n)) FROM generate_series(0, 4) AS n;
SET ROLE bench_lists_many;
SELECT count(pg_temp.define(n)) FROM generate_series(5, 499) AS n;
RESET ROLE;

SELECT wf_start('listed-0', name => 'one') AS instance \gset

-- One instance per second until now. The id contains the millisecond, and a number that makes it unique.
CREATE TEMPORARY TABLE made AS
SELECT n, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8000'
           || lpad(to_hex(n), 12, '0'))::uuid AS id, at,
       CASE WHEN n % 1000 = 7 THEN 'Faulted' WHEN n % 20 = 1 THEN 'Suspended' WHEN n % 20 = 2 THEN 'Cancelled' ELSE 'Finished' END AS sub_status,
       d.id AS version_id, d.definition_id, CASE WHEN n % (:rows / 10) = 9 THEN f.id ELSE d.owner END AS owner
FROM (SELECT n, date_trunc('milliseconds', now()) - (:rows - n) * interval '1 s' AS at FROM generate_series(1, :rows) AS n) AS m
JOIN workflow.definitions AS d ON d.definition_id = 'listed-' || (CASE WHEN n % 500 = 499 AND n % (:rows / 10) <> 499 THEN 498 ELSE n % 500 END)
CROSS JOIN (SELECT id FROM workflow.owners WHERE name = 'bench_lists_few') AS f;

INSERT INTO workflow.instances (id, definition_version_id, created_at, owner, version, definition_id, correlation_id, name, input,
    status, sub_status, incident_count, updated_at, finished_at, state, variables, output)
SELECT m.id, m.version_id, m.at, m.owner, 1, m.definition_id, 'C-' || m.n, 'Order ' || m.n::bigint * 7919 % 1000003, '{"employee": "Ada", "days": 3}',
       CASE WHEN m.sub_status = 'Suspended' THEN 'Running' ELSE 'Finished' END, m.sub_status, (m.sub_status = 'Faulted')::integer,
       m.at + m.n % 600 * interval '1 s',
       CASE WHEN m.sub_status IN ('Finished', 'Cancelled') THEN m.at + m.n % 600 * interval '1 s' END, i.state, i.variables, '{}'
FROM made AS m CROSS JOIN workflow.instances AS i WHERE i.id = :'instance' ORDER BY m.n;

INSERT INTO workflow.execution_log (instance_id, seq, created_at, events)
SELECT m.id, 0, m.at + m.n % 600 * interval '1 s', l.events
FROM made AS m CROSS JOIN workflow.execution_log AS l WHERE l.instance_id = :'instance' ORDER BY m.n;

INSERT INTO workflow.bookmarks (id, instance_id, activity_instance_id, created_at, hash, activity_id, node_id, activity_type, name, correlation_id, payload, hash_key, correlation_key, kind_key)
SELECT m.id, m.id, m.id, m.at, b.hash, b.activity_id, b.node_id, b.activity_type, b.name, 'C-' || m.n, b.payload, b.hash_key, hashtext('C-' || m.n), b.kind_key
FROM made AS m CROSS JOIN workflow.bookmarks AS b WHERE b.instance_id = :'instance' AND m.sub_status = 'Suspended' ORDER BY m.n;

INSERT INTO workflow.incidents (id, instance_id, activity_id, node_id, activity_type, activity_instance_id, created_at, sqlstate, message)
SELECT m.id, m.id, 'wait', 'Workflow1:wait', 'Elsa.Event', m.id, m.at + m.n % 600 * interval '1 s', '22012', 'division by zero'
FROM made AS m WHERE m.sub_status = 'Faulted' ORDER BY m.n;

CREATE SCHEMA IF NOT EXISTS bench;
GRANT USAGE ON SCHEMA bench TO PUBLIC;
-- The filters of Elsa's list, each alone: conditions that many, few, and no instances satisfy.
CREATE TABLE bench.filters AS
SELECT name, filter::jsonb FROM (VALUES
    ('none', '{}'),
    ('definitionId, 1 of 500', '{"definitionId": "listed-3"}'),
    ('definitionId, 10 instances', '{"definitionId": "listed-499"}'),
    ('definitionIds, half of all', (SELECT jsonb_build_object('definitionIds', jsonb_agg('listed-' || n)) FROM generate_series(0, 498, 2) AS n)::text),
    ('correlationId', '{"correlationId": "C-' || :rows / 2 || '"}'),
    ('correlationId, none', '{"correlationId": "X"}'),
    ('version 1', '{"version": 1}'),
    ('version 2, none', '{"version": 2}'),
    ('hasIncidents', '{"hasIncidents": true}'),
    ('no incidents', '{"hasIncidents": false}'),
    ('status Running', '{"status": "Running"}'),
    ('status Finished', '{"status": "Finished"}'),
    ('subStatus Suspended', '{"subStatus": "Suspended"}'),
    ('subStatus Finished', '{"subStatus": "Finished"}'),
    ('subStatus Faulted', '{"subStatus": "Faulted"}'),
    ('subStatus Cancelled', '{"subStatus": "Cancelled"}'),
    ('subStatus Pending, none', '{"subStatus": "Pending"}'),
    ('name', '{"name": "Order 7919"}'),
    ('searchTerm, all', '{"searchTerm": "order"}'),
    ('searchTerm, correlation id', '{"searchTerm": "C-' || :rows / 2 || '"}'),
    ('searchTerm, definition', '{"searchTerm": "listed-49"}'),
    ('searchTerm, none', '{"searchTerm": "no such thing"}'),
    ('CreatedAt, last hour', jsonb_build_object('timestampFilters', jsonb_build_array(jsonb_build_object('column', 'CreatedAt', 'operator', 'GreaterThan', 'timestamp', now() - interval '1 h')))::text),
    ('CreatedAt, first hour', jsonb_build_object('timestampFilters', jsonb_build_array(jsonb_build_object('column', 'CreatedAt', 'operator', 'LessThan', 'timestamp', now() - (:rows - 3600) * interval '1 s')))::text),
    ('FinishedAt, last hour', jsonb_build_object('timestampFilters', jsonb_build_array(jsonb_build_object('column', 'FinishedAt', 'operator', 'GreaterThanOrEqual', 'timestamp', now() - interval '1 h')))::text),
    ('FinishedAt, first half', jsonb_build_object('timestampFilters', jsonb_build_array(jsonb_build_object('column', 'FinishedAt', 'operator', 'LessThanOrEqual', 'timestamp', now() - :rows / 2 * interval '1 s')))::text),
    ('UpdatedAt, is', jsonb_build_object('timestampFilters', jsonb_build_array(jsonb_build_object('column', 'UpdatedAt', 'operator', 'Is', 'timestamp', date_trunc('milliseconds', now()) - :rows / 2 * interval '1 s')))::text),
    ('UpdatedAt, is not', jsonb_build_object('timestampFilters', jsonb_build_array(jsonb_build_object('column', 'UpdatedAt', 'operator', 'IsNot', 'timestamp', now())))::text)
) AS f (name, filter);
CREATE TABLE bench.list_times (role text, filter text, order_by text, page integer, ms double precision, total integer, is_exact boolean);
GRANT SELECT ON bench.filters TO PUBLIC;
GRANT INSERT ON bench.list_times TO PUBLIC;

-- Requests pages 1, 10 and 100 (counted from 0: 0, 9, 99) of each filter in each order, as the current role.
CREATE PROCEDURE bench.measure_lists(runs integer) LANGUAGE plpgsql AS $$
DECLARE
    f record;
    began timestamptz;
    first record;
BEGIN
    FOR f IN SELECT * FROM bench.filters, unnest('{Created, Finished, Name, LastExecuted}'::text[]) AS order_by, unnest('{0, 9, 99}'::integer[]) AS page,
                           generate_series(1, runs) LOOP
        began := clock_timestamp();
        SELECT p.total_count, p.is_exact INTO first FROM workflow.instance_page(f.filter, f.order_by, page => f.page) AS p LIMIT 1;
        INSERT INTO bench.list_times VALUES (current_role, f.name, f.order_by, f.page, extract(epoch FROM clock_timestamp() - began) * 1000, first.total_count, first.is_exact);
    END LOOP;
END $$;

-- The time of wf_metrics(), which takes no notice of the role.
CREATE PROCEDURE bench.measure_metrics(runs integer) LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz;
BEGIN
    FOR i IN 1 .. runs LOOP
        began := clock_timestamp();
        PERFORM count(*) FROM wf_metrics();
        INSERT INTO bench.list_times (filter, ms) VALUES ('wf_metrics()', extract(epoch FROM clock_timestamp() - began) * 1000);
    END LOOP;
END $$;
