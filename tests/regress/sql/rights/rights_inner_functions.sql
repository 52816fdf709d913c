-- The functions behind the views, which every role can execute, tell a role no more than the views show it.
\pset null '(null)'
CREATE ROLE regress_inner_owner;
CREATE ROLE regress_inner_reader;
CREATE ROLE regress_inner_stranger;
CREATE ROLE regress_inner_candidate;
CREATE ROLE regress_inner_gone;
SELECT wf_grant_usage('regress_inner_owner');

-- security.md#default-access: all of them. Each one that is written in C, or runs with the rights of its owner, is asked below, or reads only its argument and the catalogue.
SELECT p.oid::regprocedure AS function, l.lanname AS language, p.prosecdef AS definer
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE p.pronamespace = 'workflow'::regnamespace AND has_function_privilege('regress_inner_stranger', p.oid, 'EXECUTE')
ORDER BY p.proname COLLATE "C";

SET ROLE regress_inner_owner;
SELECT wf_define('{"definitionId": "secret", "root": {"id": "plan", "type": "Sequence", "activities": [{"id": "say", "type": "WriteLine", "text": "hush"}, {"id": "ask", "type": "RunTask", "taskName": "Ask", "assignee": "role:regress_inner_owner", "candidates": ["role:regress_inner_candidate", "role:regress_inner_gone", "ada"]}]}}') \g /dev/null
SELECT wf_start('secret') AS secret \gset
SELECT version_id AS secret_version FROM workflow.definition_list WHERE definition_id = 'secret' \gset
SELECT wf_grant('secret', 'regress_inner_reader', '{read}');
-- Node ids, to who may read the instance, by its id. The id of the version, which documents and children tell, is of no use.
SELECT workflow._node_id(:'secret', 'say') AS own, workflow._node_id(:'secret', 'nowhere') AS unknown,
       workflow._node_id(:'secret_version', 'say') AS by_version, workflow._node_id(NULL, 'say') AS none;
SET ROLE regress_inner_reader;
SELECT workflow._node_id(:'secret', 'say') AS granted, workflow._node_id(:'secret_version', 'say') AS by_version;
SET ROLE regress_inner_stranger;
SELECT workflow._node_id(i.id, 'say') AS by_instance, workflow._node_id(:'secret_version', 'say') AS by_version
FROM (VALUES (:'secret'::uuid)) AS i (id);
SELECT count(*) FROM workflow.journal WHERE instance_id = :'secret';
SELECT workflow.instance_state(:'secret');
SELECT * FROM workflow.activity_executions(:'secret');
SELECT workflow._accepts_tasks('regress_inner_candidate'::regrole, 'regress_inner_owner'::regrole) AS of_others;
RESET ROLE;
-- It is asked once for the events of an instance, but again for another instance, another role and another statement.
SELECT wf_define('{"definitionId": "open", "root": {"id": "all", "type": "Sequence", "activities": [{"id": "say", "type": "WriteLine", "text": "hello"}]}}') \g /dev/null
SELECT wf_start('open') AS open \gset
SELECT wf_grant('open', 'regress_inner_stranger', '{read}');
SET ROLE regress_inner_stranger;
SELECT i.number, workflow._node_id(i.id, 'say') AS node_id
FROM (VALUES (1, :'open'::uuid), (2, :'open'), (3, :'secret'), (4, :'open'), (5, :'secret'), (6, :'secret')) AS i (number, id)
ORDER BY i.number;
RESET ROLE;
BEGIN;
DECLARE rows CURSOR FOR SELECT workflow._node_id(:'secret', 'say') AS node_id FROM generate_series(1, 3);
FETCH rows;
SET LOCAL ROLE regress_inner_stranger;
FETCH rows;
SET LOCAL ROLE regress_inner_reader;
FETCH rows;
COMMIT;

CREATE TEMPORARY TABLE ids AS SELECT id FROM workflow.owners;
GRANT SELECT ON ids TO PUBLIC;
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'secret' \gset
DROP ROLE regress_inner_gone;
-- Names of roles that own something here, or did, come with a task that the role sees, and not for the asking: a stranger learns its own.
SET ROLE regress_inner_stranger;
SELECT assignee, candidates FROM workflow.open_tasks;
SELECT DISTINCT workflow._person(:'task', concat('role:', id)) AS person, workflow._people(:'task', jsonb_build_array(concat('role:', id))) AS people
FROM ids ORDER BY person;
SET ROLE regress_inner_reader;
SELECT assignee, candidates FROM workflow.open_tasks;
-- Whoever sees one task learns of the roles that it names, and of no others.
SELECT DISTINCT workflow._person(:'task', concat('role:', id)) AS person
FROM ids ORDER BY person;
-- A candidate sees the other candidates. A name that is no role's is a value of the caller's own.
SET ROLE regress_inner_candidate;
SELECT assignee, candidates FROM workflow.open_tasks;
SELECT workflow._person(:'task', 'ada') AS person, workflow._people(:'task', '["ada", "role:0"]') AS people;
RESET ROLE;

-- What the workers do in other databases is for members of pg_monitor. The launcher, which every server here has, is of none.
SELECT count(*) > 0 AS launcher FROM jsonb_array_elements(workflow._worker_status()) AS w (row) WHERE row ->> 'worker' = 'launcher';
SET ROLE regress_inner_stranger;
SELECT count(*) FROM jsonb_array_elements(workflow._worker_status()) AS w (row)
WHERE (row ->> 'database')::oid IS DISTINCT FROM (SELECT oid FROM pg_database WHERE datname = current_database());
RESET ROLE;
GRANT pg_monitor TO regress_inner_stranger;
SET ROLE regress_inner_stranger;
SELECT count(*) > 0 AS launcher FROM jsonb_array_elements(workflow._worker_status()) AS w (row) WHERE row ->> 'worker' = 'launcher';
RESET ROLE;

SELECT wf_cancel(:'secret') \g /dev/null
SELECT wf_delete_instance(:'secret'), wf_delete_instance(:'open');
SELECT wf_delete_definition('secret'), wf_delete_definition('open');
SELECT wf_revoke_usage('regress_inner_owner');
DROP ROLE regress_inner_owner, regress_inner_reader, regress_inner_stranger, regress_inner_candidate;
