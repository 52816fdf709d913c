/*
 * The functions of workflow. They live in the schema chosen at CREATE EXTENSION, so that wf_start(…) just
 * works; what is internal lives in schema workflow.
 *
 * All of them are VOLATILE and PARALLEL UNSAFE unless they only read, and none is STRICT: a NULL where none
 * makes sense is an error with a name, not a silent NULL.
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

CREATE TYPE wf_result AS (
    instance_id uuid,
    status      text,
    sub_status  text,
    output      jsonb,
    bookmarks   jsonb,
    incidents   jsonb,
    is_new      boolean
);

COMMENT ON TYPE wf_result IS
    'where an instance stands after a call; bookmarks are [{id, name, activity_id, payload}], incidents the open ones; is_new: this call made it';

CREATE TYPE wf_delivery AS (
    started   uuid[],
    resumed   uuid[],
    queued_id uuid,
    withheld  integer
);

COMMENT ON TYPE wf_delivery IS
    'what became of a stimulus: instances that it started and resumed, the queue item that keeps it, and how many matches were passed over because their owners may not hear its sender';

CREATE TYPE wf_adopted AS (
    owner     text,
    role      name,
    instances bigint,
    overdue   bigint
);

COMMENT ON TYPE wf_adopted IS 'an owner as it is stored, the role that it stands for, how many instances it has, and how many due times that are past';

CREATE TYPE wf_http_response AS (
    status  integer,
    headers jsonb,
    body    bytea
);

COMMENT ON TYPE wf_http_response IS 'what an HTTP request is answered with; a header is a text, or a list of texts';

-- Definitions

CREATE FUNCTION wf_define(
    definition    jsonb,
    publish       boolean DEFAULT true,
    allow_unknown boolean DEFAULT false,
    OUT definition_id text,
    OUT version       integer
) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_define';

COMMENT ON FUNCTION wf_define(jsonb, boolean, boolean) IS
    'store a workflow definition, in Elsa''s JSON or the short form; the same content again gives the same version';

CREATE FUNCTION wf_save_draft(
    definition jsonb,
    revision   bigint DEFAULT NULL,
    session    text   DEFAULT NULL,
    OUT definition_id text,
    OUT version       integer,
    OUT version_id    uuid,
    OUT revision      bigint,
    OUT problems      jsonb
) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_save_draft';

COMMENT ON FUNCTION wf_save_draft(jsonb, bigint, text) IS
    'store a definition that is not finished as a draft, which the next save overwrites; returns all that is wrong with it';

CREATE FUNCTION wf_publish(definition_id text, version integer DEFAULT NULL)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_publish';

COMMENT ON FUNCTION wf_publish(text, integer) IS 'publish a version, by default the latest, and index its triggers';

CREATE FUNCTION wf_retract(definition_id text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_retract';

COMMENT ON FUNCTION wf_retract(text) IS 'unpublish a definition: nothing starts it any more, running instances go on';

CREATE FUNCTION wf_export(definition_id text, version integer DEFAULT NULL)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_export';

COMMENT ON FUNCTION wf_export(text, integer) IS 'a definition as Elsa 3 JSON';

CREATE FUNCTION wf_export_version(version_id uuid, arrange boolean DEFAULT false)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_export_version';

COMMENT ON FUNCTION wf_export_version(uuid, boolean) IS 'a version as Elsa 3 JSON, by its id; also a deleted one';

CREATE FUNCTION wf_diagram(definition_id text, version integer DEFAULT NULL)
RETURNS text LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_diagram';

COMMENT ON FUNCTION wf_diagram(text, integer) IS 'a definition as a Mermaid flowchart';

CREATE FUNCTION wf_svg(definition_id text, version integer DEFAULT NULL)
RETURNS text LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_svg_definition';

COMMENT ON FUNCTION wf_svg(text, integer) IS 'a definition as a picture';

CREATE FUNCTION workflow._validate(definition jsonb, severity text)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_validate_json';

COMMENT ON FUNCTION workflow._validate(jsonb, text) IS 'problems of a definition as a JSON array, for wf_validate';

CREATE FUNCTION wf_validate(definition jsonb, severity text DEFAULT 'error')
RETURNS TABLE (path text, severity text, message text)
LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT problem.path, problem.severity, problem.message
    FROM pg_catalog.jsonb_to_recordset(workflow._validate($1, $2)) AS problem (path text, severity text, message text);
END;

COMMENT ON FUNCTION wf_validate(jsonb, text) IS
    'all problems of a definition that are at least so severe, each with the path of its place; no errors: it may be defined';

CREATE FUNCTION wf_delete_definition(definition_id text, version integer DEFAULT NULL)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_delete_definition';

COMMENT ON FUNCTION wf_delete_definition(text, integer) IS
    'delete a version, or all of them, unless an instance runs on it; returns how many';

CREATE FUNCTION wf_refresh(definition_id text, OUT added integer, OUT removed integer, OUT unchanged integer)
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_refresh';

COMMENT ON FUNCTION wf_refresh(text) IS 'evaluate the triggers of the published version anew';

CREATE FUNCTION workflow._activities()
RETURNS jsonb LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_activities_json';

COMMENT ON FUNCTION workflow._activities() IS 'the built-in activities as a JSON array, for wf_activities';

-- Instances

CREATE FUNCTION wf_start(
    definition          text,
    input               jsonb   DEFAULT '{}',
    correlation_id      text    DEFAULT NULL,
    name                text    DEFAULT NULL,
    instance_id         uuid    DEFAULT NULL,
    version             integer DEFAULT NULL,
    trigger_activity_id text    DEFAULT NULL,
    on_fault            text    DEFAULT NULL
) RETURNS uuid LANGUAGE c AS 'MODULE_PATHNAME', 'wf_start';

COMMENT ON FUNCTION wf_start(text, jsonb, text, text, uuid, integer, text, text) IS
    'start an instance and run it until every branch waits or ends; returns its id';

CREATE FUNCTION wf_run(
    definition          text,
    input               jsonb   DEFAULT '{}',
    correlation_id      text    DEFAULT NULL,
    name                text    DEFAULT NULL,
    instance_id         uuid    DEFAULT NULL,
    version             integer DEFAULT NULL,
    trigger_activity_id text    DEFAULT NULL,
    on_fault            text    DEFAULT NULL
) RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_run';

COMMENT ON FUNCTION wf_run(text, jsonb, text, text, uuid, integer, text, text) IS
    'start an instance like wf_start and return where it stands';

CREATE FUNCTION wf_resume(
    bookmark_id uuid,
    input       jsonb   DEFAULT NULL,
    missing_ok  boolean DEFAULT false,
    on_fault    text    DEFAULT NULL
) RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_resume';

COMMENT ON FUNCTION wf_resume(uuid, jsonb, boolean, text) IS 'go on at a bookmark, which is used up';

CREATE FUNCTION wf_complete_task(task_id uuid, result jsonb DEFAULT NULL, on_fault text DEFAULT NULL, token uuid DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_complete_task';

COMMENT ON FUNCTION wf_complete_task(uuid, jsonb, text, uuid) IS 'complete a task of workflow.tasks and go on after it';

CREATE FUNCTION wf_claim_tasks(names text[] DEFAULT NULL, worker text DEFAULT NULL, max integer DEFAULT 1, lease interval DEFAULT '5 min')
RETURNS TABLE (task_id uuid, token uuid, name text, payload jsonb, correlation_id text, instance_id uuid, definition_id text,
               activity_id text, owner name, attempt integer, max_attempts integer, priority integer, deadline timestamptz, lease_until timestamptz, progress jsonb)
LANGUAGE c ROWS 10 AS 'MODULE_PATHNAME', 'wf_claim_tasks';

COMMENT ON FUNCTION wf_claim_tasks(text[], text, integer, interval) IS
    'claim open tasks for a worker, those with a higher priority first, then older ones; a token proves the claim until the lease ends';

CREATE FUNCTION wf_claim_task(task uuid, worker text DEFAULT NULL, lease interval DEFAULT '5 min')
RETURNS TABLE (task_id uuid, token uuid, name text, payload jsonb, correlation_id text, instance_id uuid, definition_id text,
               activity_id text, owner name, attempt integer, max_attempts integer, priority integer, deadline timestamptz, lease_until timestamptz, progress jsonb)
LANGUAGE c ROWS 1 AS 'MODULE_PATHNAME', 'wf_claim_task';

COMMENT ON FUNCTION wf_claim_task(uuid, text, interval) IS 'claim an open task by its id, as wf_claim_tasks claims those that come first; 55000 says why it cannot be claimed now';

CREATE FUNCTION wf_extend_task(task_id uuid, token uuid, lease interval DEFAULT '5 min', progress jsonb DEFAULT NULL)
RETURNS timestamptz LANGUAGE c AS 'MODULE_PATHNAME', 'wf_extend_task';

COMMENT ON FUNCTION wf_extend_task(uuid, uuid, interval, jsonb) IS
    'prolong the lease of a claimed task and note the progress; NULL: the worker does not hold the task any more';

CREATE FUNCTION wf_release_task(task_id uuid, token uuid)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_release_task';

COMMENT ON FUNCTION wf_release_task(uuid, uuid) IS 'give a claimed task back, as if it had not been claimed; false if the worker does not hold it any more';

CREATE FUNCTION wf_assign_task(task_id uuid, assignee text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_assign_task';

COMMENT ON FUNCTION wf_assign_task(uuid, text) IS
    'give an open task to a person: role:NAME, or a name that the application knows; false if it is theirs already';

CREATE FUNCTION wf_unassign_task(task_id uuid)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_unassign_task';

COMMENT ON FUNCTION wf_unassign_task(uuid) IS 'take an open task from the person to whom it is assigned; false if it has no assignee';

CREATE PROCEDURE wf_wait_tasks(
    names       text[]   DEFAULT NULL,
    timeout     interval DEFAULT '30 s',
    INOUT ready boolean  DEFAULT NULL
) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_wait_tasks';

COMMENT ON PROCEDURE wf_wait_tasks(text[], interval, boolean) IS
    'sleep until a claim of tasks of these names would give work (ready), or the time is over; outside a transaction block';

CREATE FUNCTION wf_limit_tasks(
    name        text,
    concurrency integer  DEFAULT NULL,
    rate        integer  DEFAULT NULL,
    per         interval DEFAULT '1 s',
    key         text     DEFAULT NULL
) RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_limit_tasks';

COMMENT ON FUNCTION wf_limit_tasks(text, integer, integer, interval, text) IS
    'limit how many tasks of a name workers hold at once and begin in a period, also for each value of a member of the payload; neither: removes the limit';

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
    'end an attempt of a claimed task with a failure; Open: it is tried again, Failed: its activity has faulted';

CREATE FUNCTION wf_override_task(task_id uuid, reason text, result jsonb DEFAULT NULL, on_fault text DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_override_task';

COMMENT ON FUNCTION wf_override_task(uuid, text, jsonb, text) IS 'complete a task in place of the people whom it is for, and say why';

CREATE FUNCTION wf_complete_tasks(answers jsonb)
RETURNS TABLE (task_id uuid, outcome text, sub_status text, message text)
LANGUAGE c ROWS 10 AS 'MODULE_PATHNAME', 'wf_complete_tasks';

COMMENT ON FUNCTION wf_complete_tasks(jsonb) IS
    'answers [{"taskId", "token", "result" | "error"}] for claimed tasks; one that is refused stops no other';

CREATE FUNCTION wf_cancel(instance_id uuid, reason text DEFAULT NULL, force boolean DEFAULT false)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_cancel';

COMMENT ON FUNCTION wf_cancel(uuid, text, boolean) IS 'cancel an instance and its children; false if it had already ended';

CREATE FUNCTION wf_pause(instance_id uuid, reason text DEFAULT NULL, children boolean DEFAULT false)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_pause';

COMMENT ON FUNCTION wf_pause(uuid, text, boolean) IS
    'let an instance stand still, with its children if they are asked for, until wf_unpause: nothing resumes it, and no task of it is claimed; false if it was paused, or had ended';

CREATE FUNCTION wf_unpause(instance_id uuid)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_unpause';

COMMENT ON FUNCTION wf_unpause(uuid) IS
    'end the pause of an instance and of those paused with it: answers to tasks and stimuli that came meanwhile are delivered, then timers fire';

CREATE FUNCTION wf_retry(instance_id uuid, activity_ids text[] DEFAULT NULL, on_fault text DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_retry';

COMMENT ON FUNCTION wf_retry(uuid, text[], text) IS 'run the faulted activities of an instance again';

CREATE FUNCTION wf_set_variable(instance_id uuid, name text, value jsonb, activity_instance_id uuid DEFAULT NULL, reason text DEFAULT NULL)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_variable';

COMMENT ON FUNCTION wf_set_variable(uuid, text, jsonb, uuid, text) IS 'set a variable of an instance by hand; returns the former value';

CREATE FUNCTION wf_cancel_activity(instance_id uuid, activity_id text, activity_instance_id uuid DEFAULT NULL, reason text DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_cancel_activity';

COMMENT ON FUNCTION wf_cancel_activity(uuid, text, uuid, text) IS 'cancel the open executions of an activity, or one of them; the instance goes on behind it';

CREATE FUNCTION wf_schedule_activity(instance_id uuid, activity_id text, activity_instance_id uuid DEFAULT NULL, reason text DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_schedule_activity';

COMMENT ON FUNCTION wf_schedule_activity(uuid, text, uuid, text) IS 'execute an activity out of turn: an open execution once more, or a new one';

CREATE FUNCTION wf_alter(alterations jsonb, filter jsonb, dry_run boolean DEFAULT false, max integer DEFAULT 1000, after uuid DEFAULT NULL, reason text DEFAULT NULL)
RETURNS TABLE (instance_id uuid, outcome text, problems text[])
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_alter';

COMMENT ON FUNCTION wf_alter(jsonb, jsonb, boolean, integer, uuid, text) IS
    'make Elsa''s alterations in the instances that a filter selects, in order of id behind the id given; all or none of each instance';

-- The same under a name that does not depend on the schema of the extension.
CREATE FUNCTION workflow._alter(alterations jsonb, filter jsonb, dry_run boolean, max integer, after uuid, reason text)
RETURNS TABLE (instance_id uuid, outcome text, problems text[])
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_alter';

COMMENT ON FUNCTION workflow._alter(jsonb, jsonb, boolean, integer, uuid, text) IS 'wf_alter, for the activity SubmitAlterationPlan';

CREATE FUNCTION wf_migrate(
    instance_id uuid,
    version     integer DEFAULT NULL,
    mapping     jsonb   DEFAULT '{}',
    timers      text    DEFAULT 'keep',
    dry_run     boolean DEFAULT false
)
RETURNS TABLE (path text, severity text, message text)
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_migrate';

COMMENT ON FUNCTION wf_migrate(uuid, integer, jsonb, text, boolean) IS
    'let an instance go on in another version of its definition; what waits stays; dry_run only lists what stands against it';

CREATE FUNCTION wf_migrate_all(
    definition_id text,
    from_version  integer DEFAULT NULL,
    version       integer DEFAULT NULL,
    mapping       jsonb   DEFAULT '{}',
    timers        text    DEFAULT 'keep',
    max           integer DEFAULT 1000,
    after         uuid    DEFAULT NULL,
    dry_run       boolean DEFAULT false
)
RETURNS TABLE (instance_id uuid, outcome text, problems text[])
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_migrate_all';

COMMENT ON FUNCTION wf_migrate_all(text, integer, integer, jsonb, text, integer, uuid, boolean) IS
    'migrate instances of a definition, a batch in the order of their ids; repeat with the last id as after until there are no rows';

-- One batch of what publishing with the option migrate sets off.
CREATE FUNCTION workflow._migrate_batch(definition_id text, version integer, progress jsonb)
RETURNS TABLE (next jsonb, moved bigint, refused bigint, pause bigint)
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_migrate_batch';

COMMENT ON FUNCTION workflow._migrate_batch(text, integer, jsonb) IS 'moves some instances to a published version, for the activity MigrateInstances; progress is what the batch before left as next';

CREATE FUNCTION wf_delete_instance(instance_id uuid, force boolean DEFAULT false)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_delete_instance';

COMMENT ON FUNCTION wf_delete_instance(uuid, boolean) IS 'cancel an instance and remove all traces of it; false if there is none';

CREATE FUNCTION wf_erase(correlation_id text DEFAULT NULL, actor text DEFAULT NULL, pseudonym text DEFAULT NULL, force boolean DEFAULT false, max integer DEFAULT 1000)
RETURNS TABLE (table_name text, erased bigint, kept bigint) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_erase';

COMMENT ON FUNCTION wf_erase(text, text, text, boolean, integer) IS
    'remove what has a correlation id, or replace an actor by a pseudonym, in about so many instances; returns the numbers of rows, none when nothing is left';

CREATE FUNCTION wf_run_due(max integer DEFAULT 1000)
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_run_due';

COMMENT ON FUNCTION wf_run_due(integer) IS
    'fire what is due for the current role, join queue and bookmarks, expire what is too old; returns the number of fires';

CREATE FUNCTION wf_version(OUT library text, OUT library_schema integer, OUT database_schema integer, OUT postgresql text)
LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_version';

COMMENT ON FUNCTION wf_version() IS
    'version of the loaded library, the number of the schema that it is for, that of this database, and the PostgreSQL that it was compiled for';

CREATE FUNCTION wf_worker_start()
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_worker_start';

COMMENT ON FUNCTION wf_worker_start() IS
    'start the workers until the next restart of a server that does not preload the library; false if they run already';

CREATE FUNCTION workflow._adopt_database(dry_run boolean, overdue text, owners jsonb)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_adopt_database';

COMMENT ON FUNCTION workflow._adopt_database(boolean, text, jsonb) IS 'owners and what they own as a JSON array, for wf_adopt_database';

CREATE FUNCTION wf_adopt_database(dry_run boolean DEFAULT false, overdue text DEFAULT 'fire', owners jsonb DEFAULT NULL)
RETURNS SETOF wf_adopted LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.owner, a.role, a.instances, a.overdue
    FROM pg_catalog.jsonb_to_recordset(workflow._adopt_database(dry_run, overdue, owners))
         AS a (owner text, role name, instances bigint, overdue bigint);
END;

COMMENT ON FUNCTION wf_adopt_database(boolean, text, jsonb) IS
    'make this database the one that fires what is due in it, after it was copied, restored or upgraded; returns the owners and their roles';

-- Many nodes

CREATE FUNCTION wf_partition(key text, count integer)
RETURNS integer LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_partition';

COMMENT ON FUNCTION wf_partition(text, integer) IS
    'partition of a correlation id among so many, a power of two: that in which PL/Proxy finds it by hashtext(key)';

CREATE FUNCTION wf_add_partitions(partitions integer[], count integer)
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_add_partitions';

COMMENT ON FUNCTION wf_add_partitions(integer[], integer) IS
    'give this node partitions of correlation ids, of so many that all nodes have together; returns how many it did not have';

CREATE FUNCTION wf_remove_partitions(partitions integer[])
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_remove_partitions';

COMMENT ON FUNCTION wf_remove_partitions(integer[]) IS
    'take partitions from this node, after the calls that use their keys; returns how many it had';

CREATE FUNCTION wf_export_instances(keys text[] DEFAULT NULL, predicate regprocedure DEFAULT NULL, remove boolean DEFAULT false)
RETURNS SETOF bytea LANGUAGE c AS 'MODULE_PATHNAME', 'wf_export_instances';

COMMENT ON FUNCTION wf_export_instances(text[], regprocedure, boolean) IS
    'pack the instances of correlation ids, given or selected by f(key text), with all that belongs to them, for wf_import_instances on another node; remove takes them from this one';

CREATE FUNCTION wf_import_instances(bundle bytea[])
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_import_instances';

COMMENT ON FUNCTION wf_import_instances(bytea[]) IS
    'take in what wf_export_instances has packed on another node; returns the number of instances';

CREATE FUNCTION wf_keep_instances(predicate regprocedure, max integer DEFAULT 10000, keyless boolean DEFAULT true)
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_keep_instances';

COMMENT ON FUNCTION wf_keep_instances(regprocedure, integer, boolean) IS
    'remove the instances whose correlation ids do not belong to this node, about so many at a time; returns how many, 0 when no more are left';

CREATE FUNCTION workflow._worker_status()
RETURNS jsonb LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'wf_worker_status';

COMMENT ON FUNCTION workflow._worker_status() IS 'state of the workers in shared memory, for the view workflow.workers';

CREATE FUNCTION workflow.instance_state(instance_id uuid)
RETURNS jsonb LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_instance_state';

COMMENT ON FUNCTION workflow.instance_state(uuid) IS 'the engine''s own state of an instance: open activities, variables of scopes, outputs';

CREATE FUNCTION workflow.instance_calls(instance_id uuid)
RETURNS text[] LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_instance_calls';

COMMENT ON FUNCTION workflow.instance_calls(uuid) IS 'functions that the current role may call to change an instance, in whatever state it is';

CREATE FUNCTION workflow.task_calls(task_id uuid)
RETURNS text[] LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_task_calls';

COMMENT ON FUNCTION workflow.task_calls(uuid) IS 'functions that the caller may call for an open task';

CREATE FUNCTION wf_svg(instance uuid)
RETURNS text LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_svg_instance';

COMMENT ON FUNCTION wf_svg(uuid) IS 'an instance as a picture: what ran, what waits, what faulted';

CREATE FUNCTION workflow._explain(instance uuid)
RETURNS jsonb LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_explain';

COMMENT ON FUNCTION workflow._explain(uuid) IS 'the story of an instance as a JSON array of lines, for wf_explain';

CREATE FUNCTION wf_explain(instance uuid)
RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT line.text FROM pg_catalog.jsonb_array_elements_text(workflow._explain(instance)) AS line (text);
END;

COMMENT ON FUNCTION wf_explain(uuid) IS 'the story of an instance in plain lines: what happened, what it waits for, how to go on';

CREATE FUNCTION workflow._events(instance uuid, events bytea)
RETURNS jsonb LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_events';

COMMENT ON FUNCTION workflow._events(uuid, bytea) IS 'packed journal events as a JSON array, for the view workflow.journal';

CREATE FUNCTION workflow._act(
    events          bytea,
    OUT at          timestamptz,
    OUT kind        text,
    OUT role        integer,
    OUT login       integer,
    OUT actor       text,
    OUT activity    text,
    OUT bookmark_id uuid,
    OUT detail      jsonb
) LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_act';

COMMENT ON FUNCTION workflow._act(bytea) IS 'the act that a row of the journal records, for the view workflow.audit; NULL if it records none';

CREATE FUNCTION workflow._node_id(instance uuid, activity text)
RETURNS text LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'wf_node_id';

COMMENT ON FUNCTION workflow._node_id(uuid, text) IS 'node id of an activity of an instance, for the view workflow.journal; NULL if several have its id, and for a role that may not read the instance';

CREATE FUNCTION workflow.activity_executions(instance_id uuid)
RETURNS TABLE (activity_instance_id uuid, parent_activity_instance_id uuid, activity_id text, activity_name text, node_id text,
               activity_type text, status text, started_at timestamptz, completed_at timestamptz, outcomes text[], inputs jsonb,
               outputs jsonb, fault jsonb, has_bookmarks boolean)
LANGUAGE c STABLE ROWS 100 AS 'MODULE_PATHNAME', 'wf_activity_executions';

COMMENT ON FUNCTION workflow.activity_executions(uuid) IS 'what the journal of an instance tells of each execution of an activity, in the order in which they began';

CREATE FUNCTION workflow.instance_page(
    filter     jsonb   DEFAULT '{}',
    order_by   text    DEFAULT 'Created',
    descending boolean DEFAULT true,
    page       integer DEFAULT 0,
    page_size  integer DEFAULT 10
)
RETURNS TABLE (instance_id uuid, definition_id text, version integer, definition_version_id uuid, name text, correlation_id text,
               status text, sub_status text, incident_count integer, owner text, parent_instance_id uuid, created_at timestamptz,
               updated_at timestamptz, finished_at timestamptz, paused_at timestamptz, total_count integer, is_exact boolean)
LANGUAGE c STABLE ROWS 10 AS 'MODULE_PATHNAME', 'wf_instance_page';

COMMENT ON FUNCTION workflow.instance_page(jsonb, text, boolean, integer, integer) IS
    'a page of the newest 10,000 instances that a filter selects and the current role may read; is_exact: total_count counts all that match';

CREATE FUNCTION workflow.instance_count(filter jsonb DEFAULT '{}', OUT total_count integer, OUT is_exact boolean)
LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_instance_count';

COMMENT ON FUNCTION workflow.instance_count(jsonb) IS
    'how many instances a filter selects that the current role may read, counted to 10,000; is_exact: these are all that match';

-- Stimuli

CREATE FUNCTION wf_enqueue_bookmark(
    name                 text     DEFAULT NULL,
    stimulus             jsonb    DEFAULT NULL,
    instance_id          uuid     DEFAULT NULL,
    correlation_id       text     DEFAULT NULL,
    activity_instance_id uuid     DEFAULT NULL,
    bookmark_id          uuid     DEFAULT NULL,
    activity_type        text     DEFAULT NULL,
    activity_id          text     DEFAULT NULL,
    hash                 bytea    DEFAULT NULL,
    input                jsonb    DEFAULT NULL,
    keep_for             interval DEFAULT NULL
) RETURNS wf_delivery LANGUAGE c AS 'MODULE_PATHNAME', 'wf_enqueue_bookmark';

COMMENT ON FUNCTION wf_enqueue_bookmark(text, jsonb, uuid, text, uuid, uuid, text, text, bytea, jsonb, interval) IS
    'resume whatever matches now, or keep the stimulus until a matching bookmark appears or it expires; NULL matches anything';

CREATE FUNCTION wf_send_stimulus(
    name           text,
    stimulus       jsonb    DEFAULT NULL,
    input          jsonb    DEFAULT NULL,
    correlation_id text     DEFAULT '*',
    instance_id    uuid     DEFAULT NULL,
    keep_for       interval DEFAULT '0'
) RETURNS wf_delivery LANGUAGE c AS 'MODULE_PATHNAME', 'wf_send_stimulus';

COMMENT ON FUNCTION wf_send_stimulus(text, jsonb, jsonb, text, uuid, interval) IS
    'start the triggers and resume the bookmarks that match; kept only if it did neither; correlation_id: * is all, NULL those without one';

CREATE FUNCTION wf_publish_event(
    name           text,
    payload        jsonb    DEFAULT NULL,
    correlation_id text     DEFAULT '*',
    instance_id    uuid     DEFAULT NULL,
    keep_for       interval DEFAULT '0'
) RETURNS wf_delivery LANGUAGE c AS 'MODULE_PATHNAME', 'wf_publish_event';

COMMENT ON FUNCTION wf_publish_event(text, jsonb, text, uuid, interval) IS
    'publish an event: wf_send_stimulus with the name Elsa.Event; correlation_id: * is all, NULL those without one';

CREATE FUNCTION wf_call(key text, message text, kind text, name text, body jsonb DEFAULT NULL)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_call';

COMMENT ON FUNCTION wf_call(text, text, text, text, jsonb) IS
    'start, event, task, stimulus or http for a correlation id, once for each message: the same message again gives the same answer and does nothing';

CREATE FUNCTION wf_replay(dead_letter_id uuid)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_replay';

COMMENT ON FUNCTION wf_replay(uuid) IS
    'give a dead letter another chance; true if it was delivered at once, false if it waits in the queue or for a worker';

-- HTTP

CREATE FUNCTION wf_http_request(
    method  text,
    path    text,
    headers jsonb DEFAULT '{}',
    query   jsonb DEFAULT '{}',
    body    bytea DEFAULT NULL
) RETURNS wf_http_response LANGUAGE c AS 'MODULE_PATHNAME', 'wf_http_request';

COMMENT ON FUNCTION wf_http_request(text, text, jsonb, jsonb, bytea) IS
    'start or resume the one workflow whose endpoint has this path and method, and return its answer';

-- Schedules

CREATE FUNCTION wf_schedule(
    name        text,
    schedule    text,
    command     text,
    timezone    text     DEFAULT NULL,
    misfire     text     DEFAULT 'once',
    misfire_cap integer  DEFAULT 100,
    overlap     text     DEFAULT 'allow',
    jitter      interval DEFAULT NULL,
    active      boolean  DEFAULT true,
    top_level   boolean  DEFAULT NULL,
    retry       boolean  DEFAULT false
) RETURNS uuid LANGUAGE c AS 'MODULE_PATHNAME', 'wf_schedule';

COMMENT ON FUNCTION wf_schedule(text, text, text, text, text, integer, text, interval, boolean, boolean, boolean) IS
    'run a SQL command on a schedule; the same name of the same role again changes it; returns the schedule''s id';

CREATE FUNCTION wf_schedule_workflow(
    name           text,
    schedule       text,
    definition     text,
    input          jsonb    DEFAULT '{}',
    correlation_id text     DEFAULT NULL,
    timezone       text     DEFAULT NULL,
    misfire        text     DEFAULT 'once',
    misfire_cap    integer  DEFAULT 100,
    overlap        text     DEFAULT 'allow',
    jitter         interval DEFAULT NULL,
    active         boolean  DEFAULT true
) RETURNS uuid LANGUAGE c AS 'MODULE_PATHNAME', 'wf_schedule_workflow';

COMMENT ON FUNCTION wf_schedule_workflow(text, text, text, jsonb, text, text, text, integer, text, interval, boolean) IS
    'start a workflow on a schedule, always the version that is published then; returns the schedule''s id';

CREATE FUNCTION wf_alter_schedule(
    name        text,
    schedule    text     DEFAULT NULL,
    command     text     DEFAULT NULL,
    active      boolean  DEFAULT NULL,
    timezone    text     DEFAULT NULL,
    misfire     text     DEFAULT NULL,
    misfire_cap integer  DEFAULT NULL,
    overlap     text     DEFAULT NULL,
    jitter      interval DEFAULT NULL,
    input       jsonb    DEFAULT NULL,
    top_level   boolean  DEFAULT NULL,
    retry       boolean  DEFAULT NULL
) RETURNS uuid LANGUAGE c AS 'MODULE_PATHNAME', 'wf_alter_schedule';

COMMENT ON FUNCTION wf_alter_schedule(text, text, text, boolean, text, text, integer, text, interval, jsonb, boolean, boolean) IS
    'change what is given of a schedule; active => false pauses it; returns its id';

CREATE FUNCTION wf_unschedule(name text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_unschedule';

COMMENT ON FUNCTION wf_unschedule(text) IS 'remove a schedule, runs that it has started go on; false if there is none';

CREATE FUNCTION wf_schedule_run_now(name text)
RETURNS uuid LANGUAGE c AS 'MODULE_PATHNAME', 'wf_schedule_run_now';

COMMENT ON FUNCTION wf_schedule_run_now(text) IS
    'start a run of a schedule beside its own instants; returns the instance, which is due now';

CREATE FUNCTION workflow._cron_preview(expression text, n integer, timezone text, after timestamptz)
RETURNS jsonb LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_cron_preview_json';

COMMENT ON FUNCTION workflow._cron_preview(text, integer, text, timestamptz) IS 'instants of a schedule as a JSON array, for wf_cron_preview';

CREATE FUNCTION wf_cron_preview(
    expression text,
    n          integer     DEFAULT 5,
    timezone   text        DEFAULT NULL,
    after      timestamptz DEFAULT NULL
) RETURNS SETOF timestamptz LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT (instant.at)::pg_catalog.timestamptz
    FROM pg_catalog.jsonb_array_elements_text(workflow._cron_preview(expression, n, timezone, after)) AS instant (at);
END;

COMMENT ON FUNCTION wf_cron_preview(text, integer, text, timestamptz) IS
    'the next instants of a schedule: anything that wf_schedule takes';

-- Activities written in SQL

CREATE FUNCTION wf_register_activity(
    type        text,
    handler     regprocedure,
    kind        text         DEFAULT 'action',
    payloads    regprocedure DEFAULT NULL,
    inputs      jsonb        DEFAULT NULL,
    outputs     jsonb        DEFAULT NULL,
    outcomes    text[]       DEFAULT NULL,
    description text         DEFAULT NULL
) RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_register_activity';

COMMENT ON FUNCTION wf_register_activity(text, regprocedure, text, regprocedure, jsonb, jsonb, text[], text) IS
    'register an activity type whose behaviour is f(context jsonb) RETURNS jsonb';

-- Rights

CREATE FUNCTION wf_set_owner(kind text, id text, role name)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_owner';

COMMENT ON FUNCTION wf_set_owner(text, text, name) IS
    'give a definition, an instance, a schedule or an activity type to another role; false if it has that owner';

CREATE FUNCTION wf_set_role(role name, actor text DEFAULT NULL)
RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_role';

COMMENT ON FUNCTION wf_set_role(name, text) IS
    'take a role until the transaction ends, as SET LOCAL ROLE does, and so that no SQL in the transaction can leave it; with an actor, act for that person';

CREATE FUNCTION wf_set_actor(actor text)
RETURNS text LANGUAGE sql
RETURN pg_catalog.set_config('workflow.actor', actor, true);

COMMENT ON FUNCTION wf_set_actor(text) IS
    'act for a person until the transaction ends, as SET LOCAL workflow.actor does; in a FROM clause, for one statement';

CREATE FUNCTION workflow._make_owner(role name)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_make_owner';

COMMENT ON FUNCTION workflow._make_owner(name) IS 'id of a role among the owners, made if it has none, for wf_grant_usage';

CREATE FUNCTION workflow._grant(definition_id text, role text, privileges text[])
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_grant';

COMMENT ON FUNCTION workflow._grant(text, text, text[]) IS 'stores grants, for wf_grant';

CREATE FUNCTION workflow._revoke(definition_id text, role text, privileges text[])
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_revoke';

COMMENT ON FUNCTION workflow._revoke(text, text, text[]) IS 'removes grants, for wf_revoke';

CREATE FUNCTION wf_grant(definition_id text, role name, privileges text[])
RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._grant(definition_id, role::text, privileges);
END;

COMMENT ON FUNCTION wf_grant(text, name, text[]) IS
    'let a role start, resume or read a definition and its instances; returns how many privileges are new';

CREATE FUNCTION wf_revoke(definition_id text, role name, privileges text[])
RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._revoke(definition_id, role::text, privileges);
END;

COMMENT ON FUNCTION wf_revoke(text, name, text[]) IS 'take privileges back; returns how many there were';

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
    'let a role claim and answer tasks, of one definition or of all that the current role may manage, and nothing else; returns how many grants are new';

CREATE FUNCTION wf_revoke_worker(role name, names text[] DEFAULT NULL, definition_id text DEFAULT NULL)
RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._revoke_worker(role::text, names, definition_id);
END;

COMMENT ON FUNCTION wf_revoke_worker(name, text[], text) IS 'take back what wf_grant_worker gave; returns how many grants there were';

CREATE FUNCTION wf_accept_tasks(owner name, worker name DEFAULT NULL)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_accept_tasks';

COMMENT ON FUNCTION wf_accept_tasks(name, name) IS
    'let claims of a worker, by default the current role, reach tasks of definitions of an owner and its members; false if they did already';

CREATE FUNCTION wf_refuse_tasks(owner name, worker name DEFAULT NULL)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_refuse_tasks';

COMMENT ON FUNCTION wf_refuse_tasks(name, name) IS 'take back what wf_accept_tasks accepted; false if there was nothing';

CREATE FUNCTION workflow._grant_events(listener text, publisher text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_grant_events';

COMMENT ON FUNCTION workflow._grant_events(text, text) IS 'stores which role hears which, for wf_grant_events';

CREATE FUNCTION workflow._revoke_events(listener text, publisher text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_revoke_events';

COMMENT ON FUNCTION workflow._revoke_events(text, text) IS 'removes which role hears which, for wf_revoke_events';

CREATE FUNCTION wf_grant_events(listener name, publisher name DEFAULT NULL)
RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._grant_events(listener::text, publisher::text);
END;

COMMENT ON FUNCTION wf_grant_events(name, name) IS
    'let the workflows of a role hear what another role, by default the current one, publishes; false if they did already';

CREATE FUNCTION wf_revoke_events(listener name, publisher name DEFAULT NULL)
RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._revoke_events(listener::text, publisher::text);
END;

COMMENT ON FUNCTION wf_revoke_events(name, name) IS 'take back what wf_grant_events gave; false if there was nothing';

CREATE FUNCTION workflow._grant_invoker(role text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_grant_invoker';

COMMENT ON FUNCTION workflow._grant_invoker(text) IS 'stores whose workflows borrow the rights of the current role, for wf_grant_invoker';

CREATE FUNCTION workflow._revoke_invoker(role text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_revoke_invoker';

COMMENT ON FUNCTION workflow._revoke_invoker(text) IS 'removes whose workflows borrow the rights of the current role, for wf_revoke_invoker';

CREATE FUNCTION wf_grant_invoker(role name)
RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._grant_invoker(role::text);
END;

COMMENT ON FUNCTION wf_grant_invoker(name) IS
    'lend the rights of the current role to the workflows of another: their SQL runs with these rights where the current role resumes them; false if it did already';

CREATE FUNCTION wf_revoke_invoker(role name)
RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._revoke_invoker(role::text);
END;

COMMENT ON FUNCTION wf_revoke_invoker(name) IS 'take back what wf_grant_invoker gave; false if there was nothing';

CREATE FUNCTION workflow._grant_path(segment text, role text)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_grant_path';

COMMENT ON FUNCTION workflow._grant_path(text, text) IS 'gives a segment of HTTP paths, for wf_grant_path';

CREATE FUNCTION wf_grant_path(segment text, role name)
RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._grant_path(segment, role::text);
END;

COMMENT ON FUNCTION wf_grant_path(text, name) IS
    'give the HTTP paths that begin with a segment to a role, or with NULL to no role; returns how many triggers of the former owner that removed';
