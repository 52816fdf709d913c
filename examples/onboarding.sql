-- Onboarding: several departments work at the same time, and the first day waits for all of them.
-- It sets the clock: run it as a superuser, in a database that was marked with ALTER DATABASE … SET workflow.testing = on:   psql -X -q < examples/onboarding.sql
-- It makes a schema "hr" of its own, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id IN ('onboarding') \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id IN ('onboarding')) AS d \g /dev/null
DROP SCHEMA IF EXISTS hr CASCADE;
SET TIME ZONE 'UTC';
\set ECHO queries

\echo
\echo '== 1. The business: people, and what is prepared for them ======================================'
\echo
CREATE SCHEMA hr;
CREATE TABLE hr.people (
    id        integer GENERATED ALWAYS AS IDENTITY (START WITH 41) PRIMARY KEY,
    name      text    NOT NULL,
    first_day date    NOT NULL,
    status    text    NOT NULL DEFAULT 'Hired' CHECK (status IN ('Hired', 'Ready', 'Started'))
);
CREATE TABLE hr.equipment (
    person     integer NOT NULL REFERENCES hr.people,
    department text    NOT NULL,
    what       text    NOT NULL,
    PRIMARY KEY (person, department)
);

\echo
\echo '== 2. The workflow: three branches that meet ==================================================='
\echo
\echo 'Parallel runs its activities side by side and goes on when the last one is done. An array is a sequence,'
\echo 'so a branch may have steps of its own: no mail without an account.'
\echo
SELECT * FROM wf_define($json${
    "definitionId": "onboarding", "name": "Onboarding",
    "options": {"activationStrategy": "CorrelatedSingleton"},
    "variables": {"Laptop": null, "Account": null, "Desk": null},
    "root": [
        {"id": "Prepare", "type": "Parallel", "activities": [
            {"id": "Laptop", "type": "RunTask", "taskName": "IT: laptop",
             "payload": {"object": {"for": {"input": "name"}}}, "result": {"var": "Laptop"}},
            [{"id": "Account", "type": "RunTask", "taskName": "IT: account",
              "payload": {"object": {"for": {"input": "name"}}}, "result": {"var": "Account"}},
             {"id": "Mail", "type": "RunTask", "taskName": "IT: mailbox",
              "payload": {"object": {"for": {"js": "getAccount().what"}}}}],
            {"id": "Desk", "type": "RunTask", "taskName": "Facilities: desk",
             "payload": {"object": {"for": {"input": "name"}}}, "result": {"var": "Desk"}}]},
        {"id": "Ready", "type": "Sql", "parameters": [{"input": "person"}],
         "statement": "UPDATE hr.people SET status = 'Ready' WHERE id = ($1)::integer"},
        {"id": "FirstDay", "type": "StartAt", "dateTime": {"js": "getInput('firstDay') + ' 09:00'"}, "timeZone": "Europe/Berlin"},
        {"id": "Welcome", "type": "Sql", "parameters": [{"input": "person"}],
         "statement": "UPDATE hr.people SET status = 'Started' WHERE id = ($1)::integer"}
    ]
}$json$);

\echo
\echo '== 3. Barbara is hired ========================================================================='
\echo
SET workflow.now = '2026-11-23 10:00:00+00';
BEGIN;
INSERT INTO hr.people (name, first_day) VALUES ('Barbara', '2026-12-01') RETURNING id AS person \gset
SELECT wf_start('onboarding', jsonb_build_object('person', id, 'name', name, 'firstDay', first_day), correlation_id => id::text) AS instance
  FROM hr.people WHERE id = :person \gset
COMMIT;
SELECT name, payload FROM workflow.open_tasks WHERE instance_id = :'instance' ORDER BY name;

\echo
\echo '== 4. Each department does its part, in any order =============================================='
\echo
\echo 'The row of the business and the step of the workflow belong to one transaction.'
\echo
CREATE FUNCTION hr.deliver(a_person integer, task text, item text) RETURNS text
LANGUAGE sql AS $$
    INSERT INTO hr.equipment (person, department, what) VALUES (a_person, task, item);
    SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, jsonb_build_object('what', item)) AS r
     WHERE t.correlation_id = a_person::text AND t.name = task
$$;
SELECT hr.deliver(:person, 'Facilities: desk', 'room 4, window');
SELECT hr.deliver(:person, 'IT: account', 'barbara');
SELECT name, payload FROM workflow.open_tasks WHERE instance_id = :'instance' ORDER BY name;

\echo
\echo 'A second desk is refused by the primary key; the workflow has not moved either.'
\echo
\set VERBOSITY terse
SELECT hr.deliver(:person, 'Facilities: desk', 'room 5');
\set VERBOSITY default
SELECT hr.deliver(:person, 'IT: laptop', 'no. 1815');
SELECT status FROM hr.people;
SELECT hr.deliver(:person, 'IT: mailbox', 'barbara@example.com');
SELECT status FROM hr.people;

\echo
\echo '== 5. And then it waits for the first day ======================================================'
\echo
SELECT activity, due FROM workflow.waiting WHERE instance = :'instance';
SET workflow.now = '2026-12-01 08:00:00+00';
SELECT wf_run_due();
SELECT name, status FROM hr.people;
SELECT department, what FROM hr.equipment ORDER BY department;
