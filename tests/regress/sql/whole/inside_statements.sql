-- Triggers and foreign keys of a business on the tables: what they meet inside statements of the engine.
CREATE ROLE inside_owner LOGIN;
CREATE ROLE inside_caller LOGIN;
SELECT wf_grant_usage('inside_owner'), wf_grant_usage('inside_caller');
CREATE TABLE noted (what text, who text, seqscan text, jit text);
GRANT SELECT, INSERT ON noted TO PUBLIC;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.noted VALUES (TG_TABLE_NAME || ' ' || TG_OP, current_user, current_setting('enable_seqscan'), current_setting('jit'));
    RETURN NULL;
END $$;

-- The engine plans its own statements without sequential scans and without compiling them, and only those: what the function
-- of a trigger plans, and PL/pgSQL keeps, is planned as anywhere else.
SET jit = on;
CREATE TRIGGER note AFTER INSERT OR DELETE ON workflow.bookmark_queue FOR EACH ROW EXECUTE FUNCTION note();
SELECT queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark(activity_id => 'nobody', keep_for => '1 hour');
SELECT what, seqscan, jit FROM noted;
SHOW enable_seqscan;
SHOW jit;
DROP TRIGGER note ON workflow.bookmark_queue;
-- In a session that makes all its plans over small tables, none reads a table whole.
\c -
SET client_min_messages = error;
SELECT * FROM wf_define('{"definitionId": "wait", "root": [{"id": "e", "type": "Event", "eventName": "Go"}, {"id": "t", "type": "RunTask", "taskName": "t"}]}');
BEGIN;
SELECT wf_start('wait', correlation_id => 'c') AS instance \gset
SELECT cardinality(resumed) FROM wf_publish_event('Go', correlation_id => 'c');
SELECT cardinality(resumed) FROM wf_publish_event('Go');
SELECT cardinality(resumed) FROM wf_enqueue_bookmark(activity_id => 't', correlation_id => 'c');
SELECT queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark(activity_id => 'nobody');
SELECT wf_cancel(wf_start('wait'));
SELECT wf_run_due();
SELECT relname, seq_scan FROM pg_stat_xact_user_tables
 WHERE schemaname = 'workflow' AND relname IN ('instances', 'bookmarks', 'tasks', 'bookmark_queue', 'execution_log') AND seq_scan > 0;
COMMIT;
RESET client_min_messages;

-- SQL of a definer runs as a security-restricted operation, in which nothing can be deferred. What it sets off in the engine
-- can: a deferred trigger or foreign key on the tables is not the definer's.
TRUNCATE noted;
CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON workflow.instances DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
CREATE TABLE requests (id int PRIMARY KEY, instance uuid REFERENCES workflow.instances DEFERRABLE INITIALLY DEFERRED);
GRANT SELECT, INSERT, UPDATE, DELETE ON requests TO inside_owner;
SET SESSION AUTHORIZATION inside_owner;
SELECT * FROM wf_define('{"definitionId": "child", "root": {"id": "e", "type": "Event", "eventName": "Child"}}');
SELECT * FROM wf_define('{"definitionId": "parent", "options": {"security": "definer"}, "root": [
    {"id": "s", "type": "Sql", "statement": "SELECT public.wf_start(''child'')"},
    {"id": "d", "type": "Sql", "statement": "SELECT public.wf_delete_instance(instance) FROM workflow.waiting WHERE activity = ''e'' AND definition_id = ''child''"}]}');
SELECT wf_grant('parent', 'inside_caller', '{start,read}');
SET SESSION AUTHORIZATION inside_caller;
SELECT sub_status, incidents FROM wf_run('parent');
RESET SESSION AUTHORIZATION;
SELECT what, count(*) FROM noted GROUP BY 1 ORDER BY 1;
-- security.md#definer: no deferred triggers, from an instance that its SQL starts either
-- Its own it still cannot defer: they would run as the role that commits.
CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.noted VALUES ('mine', current_user); RETURN NULL; END $$;
CREATE TABLE owned (id int);
ALTER TABLE owned OWNER TO inside_owner;
SET SESSION AUTHORIZATION inside_owner;
CREATE CONSTRAINT TRIGGER mine AFTER INSERT ON owned DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mine();
SELECT * FROM wf_define('{"definitionId": "attack", "options": {"security": "definer"}, "root": {"id": "s", "type": "Sql", "statement": "INSERT INTO public.owned VALUES (1)"}}');
-- Not from the SQL of an instance either that it starts.
SELECT * FROM wf_define('{"definitionId": "inner", "root": {"id": "i", "type": "Sql", "statement": "INSERT INTO public.owned VALUES (2)"}}');
SELECT * FROM wf_define('{"definitionId": "around", "options": {"security": "definer"}, "root": {"id": "s", "type": "Sql", "statement": "SELECT public.wf_start(''inner'', on_fault => ''raise'')"}}');
SELECT wf_grant('attack', 'inside_caller', '{start,read}'), wf_grant('around', 'inside_caller', '{start,read}');
SET SESSION AUTHORIZATION inside_caller;
SELECT incidents -> 0 ->> 'message' AS message FROM wf_run('attack');
SELECT incidents -> 0 ->> 'message' AS message FROM wf_run('around');
RESET SESSION AUTHORIZATION;
SELECT count(*) FROM owned;

-- security.md#definer: what it sets is undone after it
-- After an error of a definer's SQL nothing has its rights, path or settings: not what the same burst runs next.
SET SESSION AUTHORIZATION inside_owner;
SELECT * FROM wf_define('{"definitionId": "faulty", "options": {"security": "definer", "incidentStrategy": "ContinueWithIncidents"}, "root": {"id": "f", "type": "Fork", "branches": [
    {"id": "bad", "type": "Sql", "statement": "SELECT pg_catalog.set_config(''work_mem'', ''77MB'', false), 1/0"},
    {"id": "good", "type": "PublishEvent", "eventName": "Faulty"}]}}');
SELECT wf_grant('faulty', 'inside_caller', '{start,read}'), wf_grant_events('inside_caller');
SET SESSION AUTHORIZATION inside_caller;
SELECT * FROM wf_define('{"definitionId": "listener", "root": [{"id": "e", "type": "Event", "eventName": "Faulty"},
    {"id": "s", "type": "Sql", "statement": "SELECT current_user::text AS who, current_setting(''work_mem'') AS mem, current_setting(''search_path'') AS path", "result": {"output": "R"}}], "outputs": [{"name": "R"}]}');
SELECT wf_grant('listener', 'inside_owner', '{resume}');
SELECT wf_start('listener') AS instance \gset
SELECT sub_status FROM wf_run('faulty');
SELECT output, current_user, current_setting('work_mem') AS mem FROM workflow.instance_list WHERE instance_id = :'instance';
RESET SESSION AUTHORIZATION;
DROP TABLE requests;
DROP TRIGGER note ON workflow.instances;
SELECT * FROM wf_check();
