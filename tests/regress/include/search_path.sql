\set ECHO none
-- Schemas of two roles, and one open to all, with a table of the same name: for the sessions that ask where SQL of a workflow looks up
-- the names that have no schema.
CREATE ROLE path_app LOGIN;
CREATE ROLE path_other;
CREATE SCHEMA app AUTHORIZATION path_app;
CREATE SCHEMA elsewhere AUTHORIZATION path_app;
CREATE SCHEMA "open to all" AUTHORIZATION path_app;
GRANT CREATE, USAGE ON SCHEMA "open to all" TO PUBLIC;
CREATE SCHEMA others AUTHORIZATION path_other;
GRANT USAGE ON SCHEMA app, elsewhere TO path_other;
GRANT USAGE ON SCHEMA others TO path_app;
SELECT wf_grant_usage('path_app'), wf_grant_usage('path_other');
CREATE TABLE app.orders AS SELECT 'app' AS found;
CREATE TABLE elsewhere.orders AS SELECT 'elsewhere' AS found;
GRANT SELECT ON app.orders, elsewhere.orders TO path_app, path_other;
ALTER TABLE app.orders OWNER TO path_app;
\set ECHO all
