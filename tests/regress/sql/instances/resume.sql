-- wf_resume goes on at a bookmark. A bookmark is used up by it, once.
CREATE FUNCTION pg_temp.error_of(statement text, OUT code text, OUT message text, OUT detail text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    detail := regexp_replace(detail, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*[+-]\d\d', '<time>', 'g');
END $$;
\pset null '(null)'

SELECT * FROM wf_define('{"definitionId": "steps", "variables": {"First": null, "Second": null}, "root": [
    {"id": "first", "type": "Event", "eventName": "First", "result": {"var": "First"}},
    {"id": "second", "type": "Event", "eventName": "Second", "result": {"var": "Second"}}]}');
SELECT wf_start('steps') AS instance \gset
SELECT bookmark_id AS first FROM workflow.waiting WHERE instance = :'instance' \gset

-- The result says where it stands now: it waits at the second step, at another bookmark.
SELECT status, sub_status, jsonb_array_length(bookmarks) AS bookmarks, bookmarks -> 0 ->> 'activity_id' AS waits_at
  FROM wf_resume(:'first', '{"approved": true}');
SELECT bookmark_id AS second FROM workflow.waiting WHERE instance = :'instance' \gset

-- The same bookmark again: 55000, and when it was used.
SELECT * FROM pg_temp.error_of(format('SELECT wf_resume(%L)', :'first')) \gx

-- One that never was: 42704.
SELECT * FROM wf_resume('01900000-0000-7000-8000-00000000dead');
\echo :SQLSTATE

-- missing_ok: no error, a result of nulls.
SELECT * FROM wf_resume(:'first', missing_ok => true);
SELECT * FROM wf_resume('01900000-0000-7000-8000-00000000dead', missing_ok => true);

-- A resume that is rolled back can be repeated.
BEGIN;
SELECT sub_status FROM wf_resume(:'second', '"twice"');
ROLLBACK;
SELECT activity FROM workflow.waiting WHERE instance = :'instance';

-- Savepoints count like transactions.
BEGIN;
SAVEPOINT s;
SELECT sub_status FROM wf_resume(:'second', '"undone"');
ROLLBACK TO s;
SELECT sub_status FROM wf_resume(:'second', '"kept"');
COMMIT;

-- Any JSON value may be given; whole, it is the result of the activity.
SELECT status, sub_status, variables FROM workflow.instance_list WHERE instance_id = :'instance';

-- Nothing given is null.
SELECT wf_start('steps') AS instance \gset
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.instance = :'instance';
SELECT variables FROM workflow.instance_list WHERE instance_id = :'instance';

-- For the rest of the burst the members of a resume's input come before the start's; the start's stay what they were.
SELECT * FROM wf_define('{"definitionId": "inputs", "variables": {"Before": null, "During": null, "After": null}, "root": [
    {"type": "SetVariable", "variable": "Before", "value": {"input": "who"}},
    {"type": "Event", "eventName": "Go"},
    {"type": "SetVariable", "variable": "During", "value": {"js": "getInput(''who'') + '' at '' + getInput(''place'')"}},
    {"type": "Event", "eventName": "Go"},
    {"type": "SetVariable", "variable": "After", "value": {"input": "who"}}]}');
SELECT wf_start('inputs', '{"who": "Ada", "place": "home"}') AS instance \gset
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{"who": "Grace"}') AS r WHERE w.instance = :'instance';
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.instance = :'instance';
SELECT input, variables FROM workflow.instance_list WHERE instance_id = :'instance';

-- A bookmark goes with its instance.
SELECT wf_start('steps') AS instance \gset
SELECT bookmark_id AS bookmark FROM workflow.waiting WHERE instance = :'instance' \gset
SELECT wf_cancel(:'instance');
SELECT * FROM pg_temp.error_of(format('SELECT wf_resume(%L)', :'bookmark')) \gx

-- A bookmark made and used in one transaction is known, too.
BEGIN;
SELECT wf_start('steps') AS instance \gset
SELECT bookmark_id AS bookmark FROM workflow.waiting WHERE instance = :'instance' \gset
SELECT sub_status FROM wf_resume(:'bookmark');
SELECT * FROM pg_temp.error_of(format('SELECT wf_resume(%L)', :'bookmark')) \gx
COMMIT;

-- Several in one statement: each row sees what the rows before it did.
SELECT count(wf_start('steps', correlation_id => 'many')) FROM generate_series(1, 3);
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.correlation_id = 'many';

-- Errors.
SELECT * FROM wf_resume(NULL);
\echo :SQLSTATE
SELECT * FROM wf_resume(:'bookmark', missing_ok => NULL);
\echo :SQLSTATE
SELECT * FROM wf_resume(:'bookmark', on_fault => 'other');
\echo :SQLSTATE
SELECT * FROM wf_resume('nonsense');
\echo :SQLSTATE
SELECT * FROM wf_check();
