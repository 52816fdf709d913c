-- A document goes back and forth between author and reviewer, three rounds at most.
-- It sets the clock: run it as a superuser, in a database that was marked with ALTER DATABASE … SET workflow.testing = on:   psql -X -q < examples/document-review.sql
-- It makes a schema "papers" of its own, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id IN ('document-review') \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id IN ('document-review')) AS d \g /dev/null
DROP SCHEMA IF EXISTS papers CASCADE;
SET TIME ZONE 'UTC';
\set ECHO queries

\echo
\echo '== 1. The business: documents and their versions ==============================================='
\echo
CREATE SCHEMA papers;
CREATE TABLE papers.documents (
    id     integer GENERATED ALWAYS AS IDENTITY (START WITH 1) PRIMARY KEY,
    title  text    NOT NULL UNIQUE,
    status text    NOT NULL DEFAULT 'Draft' CHECK (status IN ('Draft', 'Published', 'Withdrawn'))
);
CREATE TABLE papers.versions (
    document integer NOT NULL REFERENCES papers.documents,
    number   integer NOT NULL,
    body     text    NOT NULL,
    remarks  text,
    PRIMARY KEY (document, number)
);

\echo
\echo '== 2. The workflow: a flowchart with a way back ================================================'
\echo
\echo 'What a decision says no to goes back to the author, until the rounds are used up.'
\echo
SELECT * FROM wf_define($json${
    "definitionId": "document-review", "name": "Document review",
    "variables": {"Round": 0, "Review": null},
    "root": {"type": "Flowchart",
        "activities": [
            {"id": "Begin", "type": "Start"},
            {"id": "Count", "type": "SetVariable", "variable": "Round", "value": {"js": "getRound() + 1"}},
            {"id": "Write", "type": "RunTask", "taskName": "Write",
             "payload": {"object": {"round": {"var": "Round"}, "remarks": {"js": "getReview() ? getReview().remarks : null"}}}},
            {"id": "Review", "type": "RunTask", "taskName": "Review",
             "payload": {"object": {"round": {"var": "Round"}}}, "result": {"var": "Review"}},
            {"id": "Good", "type": "FlowDecision", "condition": {"js": "getReview().good"}},
            {"id": "Publish", "type": "Sql", "parameters": [{"input": "document"}],
             "statement": "UPDATE papers.documents SET status = 'Published' WHERE id = ($1)::integer"},
            {"id": "RoundsLeft", "type": "FlowDecision", "condition": {"js": "getRound() < 3"}},
            {"id": "Withdraw", "type": "Sql", "parameters": [{"input": "document"}],
             "statement": "UPDATE papers.documents SET status = 'Withdrawn' WHERE id = ($1)::integer"}
        ],
        "connections": [["Begin", "Count"], ["Count", "Write"], ["Write", "Review"], ["Review", "Good"],
            ["Good", "True", "Publish"], ["Good", "False", "RoundsLeft"],
            ["RoundsLeft", "True", "Count"], ["RoundsLeft", "False", "Withdraw"]]}
}$json$);

\echo
\echo 'What the two of them call. Whoever answers a task that is not there is told so, and nothing is written.'
\echo
CREATE FUNCTION papers.done(a_document integer, task text, result jsonb DEFAULT '{}') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    this_task uuid;
BEGIN
    SELECT task_id INTO this_task FROM workflow.open_tasks WHERE correlation_id = 'document-' || a_document AND name = task;
    IF this_task IS NULL THEN
        RAISE EXCEPTION 'document % does not wait for task "%"', a_document, task USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN (SELECT sub_status FROM wf_complete_task(this_task, result));
END $$;
CREATE FUNCTION papers.hand_in(a_document integer, a_body text) RETURNS text
LANGUAGE sql AS $$
    INSERT INTO papers.versions (document, number, body)
    SELECT a_document, count(*) + 1, a_body FROM papers.versions WHERE document = a_document;
    SELECT papers.done(a_document, 'Write')
$$;
CREATE FUNCTION papers.judge(a_document integer, is_good boolean, some_remarks text) RETURNS text
LANGUAGE sql AS $$
    UPDATE papers.versions SET remarks = some_remarks
     WHERE document = a_document AND number = (SELECT max(number) FROM papers.versions WHERE document = a_document);
    SELECT papers.done(a_document, 'Review', jsonb_build_object('good', is_good, 'remarks', some_remarks))
$$;

\echo
\echo '== 3. Two rounds ==============================================================================='
\echo
BEGIN;
INSERT INTO papers.documents (title) VALUES ('On bookmarks') RETURNING id AS document \gset
SELECT wf_start('document-review', jsonb_build_object('document', :document), correlation_id => 'document-' || :document) AS instance \gset
COMMIT;
SELECT papers.hand_in(:document, 'A bookmark is a place.');
SELECT papers.judge(:document, false, 'Which place?');
SELECT name, payload FROM workflow.open_tasks WHERE instance_id = :'instance';

\echo
\echo 'The reviewer is too early: the new version is not there yet. The remark is not kept either.'
\echo
\set VERBOSITY terse
SELECT papers.judge(:document, true, 'Better.');
\set VERBOSITY default
SELECT papers.hand_in(:document, 'A bookmark is a place where an instance waits.');
SELECT papers.judge(:document, true, 'Better.');
SELECT * FROM papers.versions ORDER BY document, number;
SELECT title, status FROM papers.documents;

\echo
\echo 'The picture of it, as text that GitHub draws. wf_svg() gives the same as an image.'
\echo
\pset tuples_only on
\pset format unaligned
SELECT wf_diagram('document-review');
\pset format aligned
\pset tuples_only off

\echo
\echo '== 4. Three rounds are enough =================================================================='
\echo
INSERT INTO papers.documents (title) VALUES ('On everything') RETURNING id AS document \gset
SELECT wf_start('document-review', jsonb_build_object('document', :document), correlation_id => 'document-' || :document) AS instance \gset
SELECT n, papers.hand_in(:document, 'Everything, part ' || n), papers.judge(:document, false, 'Too long.')
  FROM generate_series(1, 3) AS n;
SELECT title, status FROM papers.documents ORDER BY id;
