CREATE FUNCTION wf_complete_task(task_id uuid, result jsonb DEFAULT NULL, on_fault text DEFAULT NULL, token uuid DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_complete_task';

COMMENT ON FUNCTION wf_complete_task(uuid, jsonb, text, uuid) IS 'complete a task of workflow.tasks and resume its instance';

CREATE FUNCTION wf_claim_tasks(names text[] DEFAULT NULL, worker text DEFAULT NULL, max integer DEFAULT 1, lease interval DEFAULT '5 min')
RETURNS TABLE (task_id uuid, token uuid, name text, payload jsonb, correlation_id text, instance_id uuid, definition_id text,
               activity_id text, owner name, attempt integer, max_attempts integer, priority integer, deadline timestamptz, lease_until timestamptz, progress jsonb, traceparent text)
LANGUAGE c ROWS 10 AS 'MODULE_PATHNAME', 'wf_claim_tasks';

COMMENT ON FUNCTION wf_claim_tasks(text[], text, integer, interval) IS
    'claim open tasks for a task worker, those with a higher priority first, then older ones; a token proves the claim until the lease expires';

CREATE FUNCTION wf_claim_task(task uuid, worker text DEFAULT NULL, lease interval DEFAULT '5 min')
RETURNS TABLE (task_id uuid, token uuid, name text, payload jsonb, correlation_id text, instance_id uuid, definition_id text,
               activity_id text, owner name, attempt integer, max_attempts integer, priority integer, deadline timestamptz, lease_until timestamptz, progress jsonb, traceparent text)
LANGUAGE c ROWS 1 AS 'MODULE_PATHNAME', 'wf_claim_task';

COMMENT ON FUNCTION wf_claim_task(uuid, text, interval) IS 'claim an open task by its id; 55000 says why it cannot be claimed now';

CREATE FUNCTION wf_extend_task(task_id uuid, token uuid, lease interval DEFAULT '5 min', progress jsonb DEFAULT NULL)
RETURNS timestamptz LANGUAGE c AS 'MODULE_PATHNAME', 'wf_extend_task';

COMMENT ON FUNCTION wf_extend_task(uuid, uuid, interval, jsonb) IS
    'prolong the lease of a claimed task and record the progress; NULL: the task worker no longer holds the task';

CREATE FUNCTION wf_release_task(task_id uuid, token uuid, retry_in interval DEFAULT NULL)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_release_task';

COMMENT ON FUNCTION wf_release_task(uuid, uuid, interval) IS
    'return a claimed task, as if it had not been claimed, at once or to be claimed later; false if the task worker no longer holds it';

CREATE FUNCTION wf_assign_task(task_id uuid, assignee text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_assign_task';

COMMENT ON FUNCTION wf_assign_task(uuid, text) IS
    'assign an open task to a person: role:NAME, or a name that the application knows; false if it already is theirs';

CREATE FUNCTION wf_unassign_task(task_id uuid)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_unassign_task';

COMMENT ON FUNCTION wf_unassign_task(uuid) IS 'remove the assignee of an open task; false if it has none';

CREATE FUNCTION wf_comment_task(task_id uuid, comment text DEFAULT NULL, attachments jsonb DEFAULT NULL)
RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_comment_task';

COMMENT ON FUNCTION wf_comment_task(uuid, text, jsonb) IS 'comment an open task, with references to attachments [{"name", "uri"}]';

CREATE FUNCTION workflow.may_reassign(task_id uuid)
RETURNS boolean LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_may_reassign';

COMMENT ON FUNCTION workflow.may_reassign(uuid) IS 'whether the caller may assign an open task to others';

CREATE FUNCTION wf_set_substitute(person text, substitute text, until timestamptz, since timestamptz DEFAULT NULL)
RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_substitute';

COMMENT ON FUNCTION wf_set_substitute(text, text, timestamptz, timestamptz) IS
    'let one person answer tasks in place of another until an instant, from now or from another one on; both are role:NAME, or names that the application knows';

CREATE FUNCTION wf_remove_substitute(person text, substitute text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_remove_substitute';

COMMENT ON FUNCTION wf_remove_substitute(text, text) IS 'end what wf_set_substitute set; false if there was nothing';

CREATE PROCEDURE wf_wait_tasks(
    names       text[]   DEFAULT NULL,
    timeout     interval DEFAULT '30 s',
    INOUT ready boolean  DEFAULT NULL
) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_wait_tasks';

COMMENT ON PROCEDURE wf_wait_tasks(text[], interval, boolean) IS
    'sleep until a claim of tasks of these names would return one (ready), or the timeout expires; outside a transaction block';

CREATE FUNCTION wf_limit_tasks(
    name        text,
    concurrency integer  DEFAULT NULL,
    rate        integer  DEFAULT NULL,
    per         interval DEFAULT '1 s',
    key         text     DEFAULT NULL
) RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_limit_tasks';

COMMENT ON FUNCTION wf_limit_tasks(text, integer, integer, interval, text) IS
    'limit how many tasks of a name are claimed at once and begun in a period, also for each value of a member of the payload; neither: removes the limit';

CREATE FUNCTION wf_fail_task(
    task_id  uuid,
    token    uuid,
    message  text,
    detail   text     DEFAULT NULL,
    code     text     DEFAULT NULL,
    retry_in interval DEFAULT NULL,
    retry    boolean  DEFAULT true,
    on_fault text     DEFAULT NULL
) RETURNS text LANGUAGE c AS 'MODULE_PATHNAME', 'wf_fail_task';

COMMENT ON FUNCTION wf_fail_task(uuid, uuid, text, text, text, interval, boolean, text) IS
    'report that an attempt of a claimed task failed; Open: it can be claimed again, Failed: its activity has faulted';

CREATE FUNCTION wf_override_task(task_id uuid, reason text, result jsonb DEFAULT NULL, on_fault text DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_override_task';

COMMENT ON FUNCTION wf_override_task(uuid, text, jsonb, text) IS 'complete a task in place of the people whom it is for, and say why';

CREATE FUNCTION wf_complete_tasks(answers jsonb)
RETURNS TABLE (task_id uuid, outcome text, sub_status text, message text)
LANGUAGE c ROWS 10 AS 'MODULE_PATHNAME', 'wf_complete_tasks';

COMMENT ON FUNCTION wf_complete_tasks(jsonb) IS
    'answers [{"taskId", "token", "result" | "error"}] for claimed tasks; a rejected one does not stop the others';

CREATE FUNCTION workflow.task_calls(task_id uuid)
RETURNS text[] LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_task_calls';

COMMENT ON FUNCTION workflow.task_calls(uuid) IS 'functions that the caller may call for an open task';

CREATE FUNCTION workflow._grant_worker(role text, names text[], definition_id text)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_grant_worker';

COMMENT ON FUNCTION workflow._grant_worker(text, text[], text) IS 'stores which role may work on which tasks, for wf_grant_worker';

CREATE FUNCTION workflow._revoke_worker(role text, names text[], definition_id text)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_revoke_worker';

COMMENT ON FUNCTION workflow._revoke_worker(text, text[], text) IS 'removes such grants, for wf_revoke_worker';

CREATE FUNCTION wf_grant_worker(role name, names text[] DEFAULT NULL, definition_id text DEFAULT NULL)
RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._grant_worker(role::text, names, definition_id);
END;

COMMENT ON FUNCTION wf_grant_worker(name, text[], text) IS
    'let a role claim and answer tasks, of one definition or of all that the current role may manage, and nothing else; returns the number of new grants';

CREATE FUNCTION wf_revoke_worker(role name, names text[] DEFAULT NULL, definition_id text DEFAULT NULL)
RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._revoke_worker(role::text, names, definition_id);
END;

COMMENT ON FUNCTION wf_revoke_worker(name, text[], text) IS 'revoke grants of wf_grant_worker; returns how many there were';

CREATE FUNCTION wf_accept_tasks(owner name, worker name DEFAULT NULL)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_accept_tasks';

COMMENT ON FUNCTION wf_accept_tasks(name, name) IS
    'let claims of a task worker, by default the current role, return tasks of definitions of an owner and its members; false if they did already';

CREATE FUNCTION wf_refuse_tasks(owner name, worker name DEFAULT NULL)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_refuse_tasks';

COMMENT ON FUNCTION wf_refuse_tasks(name, name) IS 'revoke what wf_accept_tasks accepted; false if there was nothing';
