\set ECHO none
-- Roles that have schedules, and tables for their commands. The clock is set by workflow.now.
CREATE ROLE regress_sched_ada LOGIN;
CREATE ROLE regress_sched_eve LOGIN;
CREATE ROLE regress_sched_robot NOLOGIN;
SELECT wf_grant_usage(role) FROM unnest('{regress_sched_ada,regress_sched_eve,regress_sched_robot}'::name[]) AS role;
GRANT CREATE ON SCHEMA public TO regress_sched_ada;
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
SET ROLE regress_sched_ada;
CREATE TABLE sales (day date, amount numeric);
INSERT INTO sales VALUES ('2029-12-30', 10), ('2029-12-31', 20), ('2030-01-01', 30);
CREATE TABLE archive (LIKE sales);
\set ECHO all
