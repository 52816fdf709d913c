-- Mallory at the tables themselves, at settings, and at wf_validate: she gets nothing, changes nothing, and runs nothing.
\i tests/regress/include/security.sql

-- security.md#default-access: no right on a table, and workflow.now is a superuser's to set
-- The tables themselves.
\connect - regress_security_mallory
\set VERBOSITY terse
SELECT count(*) FROM workflow.instances;
SELECT count(*) FROM workflow.definitions;
UPDATE workflow.owners SET role = '1:1:regress_security_mallory';
DELETE FROM workflow.grants;
INSERT INTO workflow.grants VALUES ('x', 1, 'start');
UPDATE workflow.bookmarks SET callback = 'x';
CREATE FUNCTION workflow.mine() RETURNS int LANGUAGE sql AS 'SELECT 1';
SET workflow.now = '2000-01-01';
SET workflow.max_steps = 100000000;
-- security.md#default-access: SQL in a document that wf_validate is given is parsed and never run
SELECT * FROM wf_validate('{"definitionId": "x", "root": [
    {"type": "Sql", "statement": "INSERT INTO loot (how) VALUES (''validated'')"}, {"type": "WriteLine", "text": {"sql": "SELEC 1"}}]}', 'warning');
SELECT * FROM loot;
\set VERBOSITY default
