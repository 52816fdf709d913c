/*
 * The tables of workflow.
 *
 * A definition is a versioned document. Publishing a version indexes its triggers. Starting it creates an
 * instance, pinned to that version. The engine runs an instance in the caller's transaction until every
 * branch waits or ends; a branch waits at a bookmark. A stimulus (name and payload, hashed) finds the
 * triggers that it starts and the bookmarks that it resumes; one that no instance waits for may be stored in the
 * queue until a matching bookmark is created or it expires.
 *
 *   definition_ids --< definitions          an id keeps its owner after its versions are removed
 *   definitions --< triggers                what a stimulus or a due time starts
 *   definitions --< instances --< bookmarks what an instance waits for
 *                   instances --< tasks     work for people and task workers; a task's id is its bookmark's id
 *                   instances --< incidents, execution_log
 *                   instances --< compensations records of work that can be compensated
 *                   instances --- pauses        who paused it, and why
 *                   instances --< search_attributes values by which it is found
 *                   instances --< http_requests HTTP requests that wait for a response
 *   limits --< slots                        how many tasks workers may hold, and their holders
 *   bookmark_queue, dead_letters            stimuli that no instance waited for yet, or that failed
 *   messages                                answered calls of wf_call
 *   partitions                              the correlation ids of this node
 *   imports                                 bundles that the current transaction is importing
 *
 * Tables that calls write have no foreign keys and no CHECK constraints: one foreign key costs more than ten per cent
 * of the throughput, and PostgreSQL reads and compiles the checks of a table for each statement. Only the engine
 * writes these tables. wf_check() reports every row that breaks a rule, and the tests run it after each session.
 *
 * All objects belong to the extension's owner. No other role has rights on a table; if one is granted all the same,
 * row-level security (see sql/exposure.sql) prevents most of its effects. Functions check rights, and views show each
 * role its own rows. Each table has a primary key: without a replica identity, updates and deletes would fail under a
 * publication of all tables. Lock order: the instance's row first, see src/store.
 */

DO $$
BEGIN
    IF pg_catalog.getdatabaseencoding() OPERATOR(pg_catalog.<>) 'UTF8' THEN
        RAISE EXCEPTION 'extension "workflow" needs a database with encoding UTF8'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = pg_catalog.format('The encoding of this database is %s.', pg_catalog.getdatabaseencoding());
    END IF;
END
$$;

CREATE SCHEMA workflow;

COMMENT ON SCHEMA workflow IS 'tables and views of the extension workflow';

-- The name contains the number of this schema, for which the library looks; see src/pg/schema_number.rs. An upgrade script
-- after which an older library must not run, or without which a newer one cannot, begins by renaming it: ALTER TABLE
-- workflow.schema_2 RENAME TO schema_3. The constraints' names omit the number, so that they stay valid (from PostgreSQL 18 on,
-- NOT NULL has a name as well).
CREATE TABLE workflow.schema_2 (
    number integer CONSTRAINT schema_number_not_null NOT NULL CONSTRAINT schema_number_pkey PRIMARY KEY
);

COMMENT ON TABLE workflow.schema_2 IS 'number of the schema, by its name; calls hold a lock on it, so that an upgrade script that renames it waits for them';
