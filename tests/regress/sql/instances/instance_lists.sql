-- workflow.instance_page and workflow.instance_count: pages of instances, and how many there are.
SET timezone = 'UTC';
SET client_min_messages = error;
CREATE ROLE regress_lists_ann LOGIN;
CREATE ROLE regress_lists_bob LOGIN;
CREATE ROLE regress_lists_all LOGIN;
CREATE ROLE regress_lists_none LOGIN;
GRANT pg_read_all_data TO regress_lists_all;
GRANT SET ON PARAMETER workflow.now TO regress_lists_ann;
SELECT wf_grant_usage(r::name) FROM unnest('{regress_lists_ann, regress_lists_bob}'::text[]) AS r \g /dev/null

\connect - regress_lists_ann
SET timezone = 'UTC';
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "order", "root": {"id": "wait", "type": "Event", "eventName": "Go"}}') \g /dev/null
SELECT wf_define('{"definitionId": "quick", "root": {"id": "say", "type": "WriteLine", "text": "hello"}}') \g /dev/null
SELECT wf_define('{"definitionId": "wrong", "root": {"id": "stop", "type": "Fault", "message": "no way"}}') \g /dev/null
SELECT wf_grant('order', 'regress_lists_bob', '{start}') \g /dev/null
-- Two that wait, three that have finished, one that was cancelled, one that has faulted, one of another version.
SET workflow.now = '2026-03-01 09:00:00+00';
SELECT wf_start('order', name => 'Ada', correlation_id => 'O-1') \g /dev/null
SELECT wf_start('order', name => 'bert', correlation_id => 'O-2') \g /dev/null
SET workflow.now = '2026-03-01 10:00:00+00';
SELECT wf_start('quick', name => 'Cleo', correlation_id => 'O-1') \g /dev/null
SELECT wf_start('quick') \g /dev/null
SET workflow.now = '2026-03-01 11:00:00+00';
SELECT wf_start('order', name => 'Dora') AS dora \gset
SELECT wf_start('wrong', name => 'Emil', on_fault => 'store') \g /dev/null
SET workflow.now = '2026-03-01 12:00:00+00';
SELECT wf_cancel(:'dora') \g /dev/null
SELECT wf_define('{"definitionId": "order", "description": "again", "root": {"id": "wait", "type": "Event", "eventName": "Go"}}') \g /dev/null
SELECT wf_start('order', name => 'Finn') AS finn \gset
SET workflow.now = '2026-03-01 13:00:00+00';
SELECT wf_resume(bookmark_id) FROM workflow.open_bookmarks WHERE instance_id = :'finn' \g /dev/null
RESET workflow.now;

-- Newest first, ten of them, with everything that a list shows.
SELECT name, definition_id, version, correlation_id, status, sub_status, incident_count, owner, created_at, updated_at, finished_at, total_count, is_exact
FROM workflow.instance_page();
-- It shows what the view shows.
SELECT count(*) AS pages, count(l) AS views FROM workflow.instance_page() AS p LEFT JOIN workflow.instance_list AS l
    ON (l.instance_id, l.definition_id, l.version, l.definition_version_id, l.status, l.sub_status, l.incident_count, l.owner, l.created_at, l.updated_at)
     = (p.instance_id, p.definition_id, p.version, p.definition_version_id, p.status, p.sub_status, p.incident_count, p.owner, p.created_at, p.updated_at)
   AND (l.name, l.correlation_id, l.parent_instance_id, l.finished_at, l.paused_at) IS NOT DISTINCT FROM (p.name, p.correlation_id, p.parent_instance_id, p.finished_at, p.paused_at);
SELECT * FROM workflow.instance_count();

-- Each order, both ways. What has no name, or has not ended, comes last.
SELECT o AS order_by, d AS descending, (SELECT string_agg(coalesce(p.name, '-'), ' ' ORDER BY p.n) FROM ROWS FROM (workflow.instance_page('{}', o, d)) WITH ORDINALITY
    AS p (i, di, v, dv, name, c, s, ss, ic, ow, pa, ca, ua, fa, pau, t, e, n)) AS names
FROM unnest('{Created, LastExecuted, UpdatedAt, Finished, Name, name}'::text[]) AS o, unnest('{t, f}'::boolean[]) AS d ORDER BY 1, 2;

-- Pages have no gaps and nothing twice, also where many have the same value.
SELECT o AS order_by, d AS descending, count(*), count(DISTINCT p.instance_id), max(p.total_count) AS total
FROM unnest('{Created, LastExecuted, Finished, Name}'::text[]) AS o, unnest('{t, f}'::boolean[]) AS d, generate_series(0, 3) AS page,
     workflow.instance_page('{}', o, d, page, 3) AS p GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(*) AS behind_the_end FROM workflow.instance_page(page => 1);
SELECT count(*) AS behind_the_end FROM workflow.instance_page(page => 9999, page_size => 1);

-- Each filter alone, and what it counts.
CREATE FUNCTION pg_temp.names(filter jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(': ', (SELECT total_count || CASE WHEN is_exact THEN '' ELSE '+' END FROM workflow.instance_count(filter)),
        (SELECT string_agg(coalesce(p.name, '-'), ' ' ORDER BY coalesce(p.name, '-')) FROM workflow.instance_page(filter) AS p)) $$;
SELECT filter, pg_temp.names(filter::jsonb) FROM unnest(ARRAY[
    '{"searchTerm": "ADA"}', '{"searchTerm": "o-1"}', '{"searchTerm": "uic"}', '{"searchTerm": "%"}', '{"searchTerm": ""}',
    '{"definitionId": "order"}', '{"definitionIds": ["quick", "wrong"]}', '{"definitionIds": []}', '{"definitionId": "none"}',
    '{"definitionId": "quick", "definitionIds": ["order"]}', '{"correlationId": "O-1"}', '{"correlationId": "o-1"}',
    '{"version": 1}', '{"version": 2}', '{"version": null}', '{"hasIncidents": true}', '{"hasIncidents": false}',
    '{"status": "Running"}', '{"statuses": ["Finished"]}', '{"status": "Running", "statuses": ["Finished"]}',
    '{"subStatus": "Suspended"}', '{"subStatus": "Faulted"}', '{"subStatus": "Cancelled"}', '{"subStatus": "Pending"}',
    '{"subStatuses": ["Finished", "Cancelled"]}', '{"subStatuses": ["Suspended", "Faulted"]}', '{"name": "Ada"}', '{"names": ["Ada", "Finn"]}',
    '{"isSystem": false}', '{"isSystem": true}',
    '{"definitionId": "order", "status": "Finished", "searchTerm": "o"}', '{"Version": 2, "Status": "Finished"}']) AS filter;
SELECT concat_ws(' ', c, o, t) AS condition, pg_temp.names(jsonb_build_object('timestampFilters', jsonb_build_array(jsonb_build_object('column', c, 'operator', o, 'timestamp', t))))
FROM (VALUES ('CreatedAt'), ('UpdatedAt'), ('FinishedAt')) AS c (c),
     (VALUES (1, 'Is'), (2, 'IsNot'), (3, 'LessThan'), (4, 'LessThanOrEqual'), (5, 'GreaterThan'), (6, 'GreaterThanOrEqual')) AS o (n, o),
     (VALUES ('2026-03-01T10:00:00Z'), ('2026-03-01T13:00:00+01:00')) AS t (t) ORDER BY c, n, t;
-- Two conditions on times are one range.
SELECT pg_temp.names('{"timestampFilters": [{"column": "CreatedAt", "operator": "GreaterThan", "timestamp": "2026-03-01T09:00:00Z"}, {"column": "CreatedAt", "operator": "LessThan", "timestamp": "2026-03-01T12:00:00Z"}]}');
-- By its id, as a term or as a list.
SELECT pg_temp.names(jsonb_build_object('searchTerm', :'finn')), pg_temp.names(jsonb_build_object('workflowInstanceIds', jsonb_build_array(:'finn')));
-- An id that a caller chose tells no time: the instance is in its place nevertheless.
SELECT wf_start('quick', name => 'first id', instance_id => '00000000-0000-0000-0000-000000000000'), wf_start('quick', name => 'last id', instance_id => 'ffffffff-ffff-ffff-ffff-ffffffffffff');
SET workflow.now = '2026-03-01 08:00:00+00';
SELECT wf_start('quick', name => 'oldest', instance_id => 'fffffffe-ffff-4fff-bfff-ffffffffffff');
RESET workflow.now;
SELECT p.name FROM workflow.instance_page(descending => false, page_size => 1) AS p;
SELECT pg_temp.names('{"timestampFilters": [{"column": "CreatedAt", "operator": "LessThan", "timestamp": "2026-03-01T09:00:00Z"}]}');
SELECT string_agg(p.name, ', ') FROM workflow.instance_page(page_size => 2) AS p;

-- Rights: a role sees, and counts, what it started and what it may read. (docs/security.md)
-- security.md#owners-and-grants: lists and counts are of what the role may read
\connect - regress_lists_bob
SELECT wf_start('order', name => 'Gus', correlation_id => 'O-1') \g /dev/null
SELECT p.name, p.owner, p.total_count, p.is_exact FROM workflow.instance_page() AS p;
CREATE TABLE pg_temp.asked AS SELECT filter::jsonb FROM unnest(ARRAY['{"definitionId": "order"}', '{"definitionId": "quick"}', '{"correlationId": "O-1"}', '{"searchTerm": "o-1"}', '{"searchTerm": "quick"}', '{"hasIncidents": true}',
    '{"status": "Running"}', '{"subStatus": "Faulted"}', '{"version": 1}', '{"name": "Ada"}', '{"workflowInstanceIds": ["00000000-0000-0000-0000-000000000000"]}', '{"searchTerm": "00000000-0000-0000-0000-000000000000"}',
    '{"timestampFilters": [{"column": "CreatedAt", "operator": "LessThan", "timestamp": "2026-03-01T11:00:00Z"}]}']) AS filter;
SELECT filter, c.*, (SELECT string_agg(p.name, ' ') FROM workflow.instance_page(filter) AS p) FROM pg_temp.asked, workflow.instance_count(filter) AS c;
\connect - regress_lists_ann
SELECT wf_grant('quick', 'regress_lists_bob', '{read}') \g /dev/null
-- The owner of a definition reads what others started.
SELECT p.name, p.owner FROM workflow.instance_page('{"correlationId": "O-1"}') AS p;
\connect - regress_lists_bob
-- Granted read: all instances of this definition, and still nothing else.
SELECT total_count, (SELECT string_agg(coalesce(p.name, '-'), ' ' ORDER BY p.name) FROM workflow.instance_page() AS p) FROM workflow.instance_count();
\connect - regress_lists_none
SELECT *, (SELECT count(*) FROM workflow.instance_page()) FROM workflow.instance_count();
\connect - regress_lists_all
-- pg_read_all_data reads all; so does a superuser.
SELECT total_count = (SELECT count(*) FROM workflow.instance_list) AS all_of_them FROM workflow.instance_count();
\connect - postgres
SELECT total_count = (SELECT count(*) FROM workflow.instance_list) AS all_of_them FROM workflow.instance_count();

-- What is refused.
\set VERBOSITY default
SELECT * FROM workflow.instance_page(NULL);
SELECT * FROM workflow.instance_page('{"page": 3}');
SELECT * FROM workflow.instance_page('[]');
SELECT * FROM workflow.instance_page('"order"');
SELECT * FROM workflow.instance_count(NULL);
SELECT * FROM workflow.instance_count('{"definitionID": "order"}');
SELECT * FROM workflow.instance_count('{"defnitionId": "order"}');
SELECT * FROM workflow.instance_count('{"emptyFilterSelectsAll": true}');
SELECT * FROM workflow.instance_count('{"definitionId": 1}');
SELECT * FROM workflow.instance_count('{"definitionIds": "order"}');
SELECT * FROM workflow.instance_count('{"definitionIds": [1]}');
SELECT * FROM workflow.instance_count('{"version": "1"}');
SELECT * FROM workflow.instance_count('{"version": 1.5}');
SELECT * FROM workflow.instance_count('{"version": 99999999999}');
SELECT * FROM workflow.instance_count('{"hasIncidents": "yes"}');
SELECT * FROM workflow.instance_count('{"status": "Waiting"}');
SELECT * FROM workflow.instance_count('{"status": 1}');
SELECT * FROM workflow.instance_count('{"subStatuses": ["Suspended", "Sleeping"]}');
SELECT * FROM workflow.instance_count('{"workflowInstanceIds": ["x"]}');
SELECT * FROM workflow.instance_count(jsonb_build_object('names', (SELECT jsonb_agg('N' || n) FROM generate_series(1, 1001) AS n)));
SELECT * FROM workflow.instance_count('{"timestampFilters": {}}');
SELECT * FROM workflow.instance_count('{"timestampFilters": [1]}');
SELECT * FROM workflow.instance_count('{"timestampFilters": [{"column": "Created", "operator": "Is", "timestamp": "2026-03-01T10:00:00Z"}]}');
SELECT * FROM workflow.instance_count('{"timestampFilters": [{"column": "CreatedAt", "operator": "Like", "timestamp": "2026-03-01T10:00:00Z"}]}');
SELECT * FROM workflow.instance_count('{"timestampFilters": [{"column": "CreatedAt", "operator": "Is", "timestamp": "yesterday"}]}');
SELECT * FROM workflow.instance_count('{"timestampFilters": [{"column": "CreatedAt", "operator": "Is"}]}');
SELECT * FROM workflow.instance_page(order_by => 'Status');
SELECT * FROM workflow.instance_page(order_by => NULL);
SELECT * FROM workflow.instance_page(descending => NULL);
SELECT * FROM workflow.instance_page(page => -1);
SELECT * FROM workflow.instance_page(page => NULL);
SELECT * FROM workflow.instance_page(page_size => 0);
SELECT * FROM workflow.instance_page(page_size => -1);
SELECT * FROM workflow.instance_page(page_size => 1001);
SELECT * FROM workflow.instance_page(page => 1000);
SELECT * FROM workflow.instance_page(page => 2147483647, page_size => 1000);
-- The extremes of time are times.
SELECT * FROM workflow.instance_count('{"timestampFilters": [{"column": "CreatedAt", "operator": "GreaterThan", "timestamp": "9999-12-31T23:59:59Z"}]}');
SELECT total_count > 0 AS some, is_exact FROM workflow.instance_count('{"timestampFilters": [{"column": "CreatedAt", "operator": "GreaterThan", "timestamp": "0001-01-01T00:00:00Z"}]}');

-- More than 10,000: the newest are ordered and counted. Rows are copied, which no call would do.
SELECT id AS model FROM workflow.instances WHERE name = 'Finn' \gset
INSERT INTO workflow.instances (id, definition_version_id, created_at, owner, version, definition_id, name, input, status, sub_status, incident_count, updated_at, finished_at, state, variables)
SELECT (lpad(to_hex(1767225600000 + n), 12, '0') || '70008000000000000000')::uuid, i.definition_version_id, '2026-01-01'::timestamptz + n * interval '1 ms', i.owner, i.version, i.definition_id,
       'N' || lpad(((n * 7) % 40009)::text, 6, '0'), i.input, 'Finished', CASE WHEN n = 5 THEN 'Cancelled' ELSE 'Finished' END, 0, i.updated_at, i.finished_at, i.state, i.variables
FROM workflow.instances AS i, generate_series(1, 40000) AS n WHERE i.id = :'model';
\connect - regress_lists_ann
SET timezone = 'UTC';
SELECT * FROM workflow.instance_count();
SELECT * FROM workflow.instance_count('{"definitionId": "order", "version": 2}');
-- All pages of the window together: nothing twice, and newer than whatever is left out.
SELECT count(*), count(DISTINCT p.instance_id), min(p.created_at) FROM generate_series(0, 9) AS page, workflow.instance_page('{"version": 2}', 'Name', page => page, page_size => 1000) AS p;
SELECT string_agg(p.name, ' ') AS oldest FROM workflow.instance_page('{"version": 2}', descending => false, page_size => 3) AS p;
-- A key finds what lies far back, and so does a range of time; a condition that no key knows does not, and says so.
SELECT p.name, p.total_count, p.is_exact FROM workflow.instance_page('{"correlationId": "O-2"}') AS p;
SELECT p.name, p.total_count, p.is_exact FROM workflow.instance_page('{"timestampFilters": [{"column": "CreatedAt", "operator": "LessThan", "timestamp": "2026-01-01T00:00:00.003Z"}]}') AS p;
SELECT p.name, p.total_count, p.is_exact FROM workflow.instance_page('{"subStatus": "Cancelled"}') AS p;
SELECT * FROM workflow.instance_count('{"name": "none"}');
SELECT * FROM workflow.instance_count('{"subStatus": "Faulted"}');
\connect - regress_lists_none
SELECT * FROM workflow.instance_count();
\connect - postgres
SET client_min_messages = error;
DELETE FROM workflow.instances WHERE created_at < '2026-02-01';
SELECT count(*) FILTER (WHERE wf_delete_instance(instance_id, force => true)) > 0 AS deleted FROM workflow.instance_list WHERE owner LIKE 'regress_lists%';
REVOKE SET ON PARAMETER workflow.now FROM regress_lists_ann;
