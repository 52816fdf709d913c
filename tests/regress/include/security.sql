\set ECHO none
-- Alice is honest, Mallory is not; both may use the extension. For the sessions that attack paths to another role's rights.
CREATE ROLE regress_security_alice LOGIN;
CREATE ROLE regress_security_mallory LOGIN;
SELECT wf_grant_usage('regress_security_alice');
SELECT wf_grant_usage('regress_security_mallory');
GRANT CREATE ON SCHEMA public TO regress_security_alice, regress_security_mallory;
-- A role whose rights Mallory's SQL gets hold of leaves a row here.
CREATE TABLE loot (who name DEFAULT current_user, how text);
GRANT INSERT, SELECT ON loot TO PUBLIC;
\set ECHO all
