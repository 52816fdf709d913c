/*
 * The tables of workflow.
 *
 * A definition is a versioned document. Publishing a version indexes its triggers. Starting it makes an
 * instance, pinned to that version. The engine runs an instance in the caller's transaction until every
 * branch waits or ends; a branch waits at a bookmark. A stimulus (name and payload, hashed) finds the
 * triggers that it starts and the bookmarks that it resumes; one that no instance waits for may be kept in the
 * queue until a matching bookmark appears or it expires.
 *
 *   definition_ids --< definitions          an id keeps its owner after its versions are gone
 *   definitions --< triggers                what a stimulus or a due time starts
 *   definitions --< instances --< bookmarks what an instance waits for
 *                   instances --< tasks     work for the outside; a task's id is its bookmark's id
 *                   instances --< incidents, execution_log
 *                   instances --< compensations what can be taken back
 *                   instances --- pauses        who paused it, and why
 *   limits --< slots                        how many tasks workers may hold, and who holds them
 *   bookmark_queue, dead_letters            stimuli that no instance waited for yet, or that failed
 *   messages                                calls that were answered
 *   partitions                              whose correlation ids this node has
 *   imports                                 what the running transaction has taken in
 *
 * There are no foreign keys on what a call writes, and no CHECK constraints: one foreign key costs more than ten
 * per cent of the throughput, and PostgreSQL reads and compiles the checks of a table for each statement. Only
 * the engine writes these tables. wf_check() names every row that breaks a rule, and the tests run it after
 * each session.
 *
 * Everything here belongs to the extension's owner. No other role has rights on a table, and row-level security (see
 * sql/exposure.sql) stops most of what a right that was given all the same would allow: functions check rights, views
 * show each role its own. Each table has a primary key: without a replica identity a publication of all tables would
 * refuse what changes or deletes its rows. Lock order: the instance's row first, see src/store.
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

-- Its name is the number of this schema, and what a library looks for; see src/pg/schema_number.rs. An upgrade script
-- after which an older library must not go on, or without which a newer one cannot, begins by giving it the next number:
-- ALTER TABLE workflow.schema_2 RENAME TO schema_3.
-- Constraints have names without the number, which the next one keeps (from PostgreSQL 18 on, NOT NULL has one as well).
CREATE TABLE workflow.schema_2 (
    number integer CONSTRAINT schema_number_not_null NOT NULL CONSTRAINT schema_number_pkey PRIMARY KEY
);

COMMENT ON TABLE workflow.schema_2 IS 'number of the schema, by its name; calls hold a lock on it, so that an upgrade script that renames it waits for them';
