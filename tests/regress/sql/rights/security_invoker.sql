-- A role that names a definition runs its SQL with its own rights, as it would a function.
\i tests/regress/include/security.sql

-- security.md#invoker-the-default: where the caller named the definition its SQL has the caller's rights
-- Invoker: a role that names a definition runs its SQL with its own rights, as it would a function. That is no attack but
-- what PostgreSQL does everywhere: do not start what you do not trust.
\connect - regress_security_mallory
SELECT * FROM wf_define('{"definitionId": "invoker", "root": {"id": "s", "type": "Sql", "statement": "INSERT INTO loot (how) VALUES (''named'')"}}');
SELECT wf_grant('invoker', 'regress_security_alice', '{start}');
\connect - regress_security_alice
SELECT sub_status FROM wf_run('invoker');
SELECT * FROM loot;
