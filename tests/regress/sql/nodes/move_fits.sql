-- What comes from another node has its place here, also beyond a limit, and no path that is another owner's.
SET client_min_messages = warning;
CREATE ROLE regress_fits_ada;
CREATE ROLE regress_fits_bob;
SELECT wf_grant_usage('regress_fits_ada');
SELECT wf_grant_usage('regress_fits_bob');
SELECT wf_define('{"definitionId": "single", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "Event", "eventName": "On"}}') \g /dev/null
SELECT wf_start('single', correlation_id => 'first') IS NOT NULL AS is_started;
CREATE TABLE bundle AS SELECT piece FROM wf_export_instances('{first}', remove => true) AS piece;
SELECT wf_start('single', correlation_id => 'second') IS NOT NULL AS is_started;
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
SELECT count(*) AS places_taken FROM workflow.admissions WHERE instance_id IS NOT NULL;
-- Both run; a third one waits until both have ended.
SELECT wf_start('single', correlation_id => 'third') IS NOT NULL AS is_started;
SELECT cardinality(resumed) FROM wf_publish_event('On', correlation_id => 'second');
SELECT wf_run_due();
SELECT correlation_id, sub_status, (SELECT string_agg(b.name, ' ') FROM workflow.bookmarks AS b WHERE b.instance_id = i.id) AS waits_for FROM workflow.instances AS i ORDER BY 1;
SELECT cardinality(resumed) FROM wf_publish_event('On', correlation_id => 'first');
SELECT wf_run_due();
SELECT correlation_id, sub_status, (SELECT string_agg(b.name, ' ') FROM workflow.bookmarks AS b WHERE b.instance_id = i.id) AS waits_for FROM workflow.instances AS i ORDER BY 1;

-- An endpoint at which an instance waits.
SET ROLE regress_fits_ada;
SELECT wf_define('{"definitionId": "page", "root": [{"type": "Event", "eventName": "On"}, {"type": "HttpEndpoint", "path": "shared/page"}]}') \g /dev/null
SELECT wf_start('page', correlation_id => 'page') IS NOT NULL AS is_started;
SELECT cardinality(resumed) FROM wf_publish_event('On', correlation_id => 'page');
RESET ROLE;
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{page}', remove => true);
SELECT segment, (SELECT name FROM workflow.owners AS o WHERE o.id = p.owner) AS owner FROM workflow.paths AS p;
SELECT wf_grant_path('shared', 'regress_fits_bob');
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
SELECT count(*) FROM workflow.instances WHERE correlation_id = 'page';
SELECT wf_grant_path('shared', 'regress_fits_ada');
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
SELECT * FROM wf_check();

-- Instances that are large in memory are looked at one by one.
SELECT wf_define('{"definitionId": "large", "inputs": [{"name": "Rows"}], "root": {"type": "Event", "eventName": "On"}}') \g /dev/null
SELECT count(wf_start('large', jsonb_build_object('Rows', (SELECT jsonb_agg('{"a": 1}'::jsonb) FROM generate_series(1, 20000))), correlation_id => 'large')) FROM generate_series(1, 8);
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{large}', remove => true);
SET workflow.memory_limit = '64MB';
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
RESET workflow.memory_limit;

-- An instance that comes back has one place, as before.
SELECT wf_define('{"definitionId": "alone", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "Event", "eventName": "On"}}') \g /dev/null
SELECT wf_start('alone', correlation_id => 'back') IS NOT NULL AS is_started;
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{back}', remove => true);
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
SELECT count(*) AS places_taken FROM workflow.admissions AS a JOIN workflow.instances AS i ON i.id = a.instance_id WHERE i.correlation_id = 'back';

-- One that has ended, and whose definition has been deleted.
SELECT wf_define('{"definitionId": "gone", "root": {"type": "WriteLine", "text": "done"}}') \g /dev/null
SELECT wf_start('gone', correlation_id => 'gone') IS NOT NULL AS is_started;
SELECT wf_delete_definition('gone');
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{gone}', remove => true);
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));

-- No instance goes on without its definition.
SELECT wf_define('{"definitionId": "late", "root": {"type": "Event", "eventName": "On"}}') \g /dev/null
SELECT wf_start('late', correlation_id => 'late') IS NOT NULL AS is_started;
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{late}', remove => true);
SELECT wf_delete_definition('late');
DO $$
BEGIN
    PERFORM wf_import_instances(ARRAY(SELECT piece FROM bundle));
EXCEPTION WHEN OTHERS THEN
    DECLARE
        told text;
    BEGIN
        GET STACKED DIAGNOSTICS told = PG_EXCEPTION_DETAIL;
        RAISE WARNING '% %: %', sqlstate, sqlerrm, regexp_replace(told, '[0-9a-f-]{36}', 'ID');
    END;
END $$;

-- Stimuli and dead letters that name what waits, and nothing else.
SET workflow.now = '2030-01-01 00:00:00+00';
SELECT wf_define('{"definitionId": "named", "root": {"type": "Parallel", "activities": [{"type": "Event", "eventName": "On"}, {"type": "Fault", "message": "no"}]}}') \g /dev/null
SELECT wf_start('named', correlation_id => 'named') IS NOT NULL AS is_started;
SELECT id AS bookmark, activity_instance_id AS execution FROM workflow.bookmarks WHERE correlation_id = 'named' AND name = 'Elsa.Event' \gset
SELECT wf_enqueue_bookmark(bookmark_id => :'bookmark', keep_for => '1 second') IS NOT NULL AS is_kept, wf_enqueue_bookmark(activity_instance_id => :'execution', keep_for => '1 second') IS NOT NULL AS is_kept_too;
SET workflow.now = '2030-01-01 00:00:02+00';
SELECT wf_run_due() \g /dev/null
SELECT wf_enqueue_bookmark(bookmark_id => :'bookmark', keep_for => '1 day') IS NOT NULL AS is_kept, wf_enqueue_bookmark(activity_instance_id => :'execution', keep_for => '1 day') IS NOT NULL AS is_kept_too;
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{named}', remove => true);
SELECT (SELECT count(*) FROM workflow.bookmark_queue) AS kept, (SELECT count(*) FROM workflow.dead_letters) AS dead;
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
SELECT (SELECT count(*) FROM workflow.bookmark_queue) AS kept, (SELECT count(*) FROM workflow.dead_letters) AS dead;
RESET workflow.now;
SELECT * FROM wf_check();

-- A row trigger sees an instance before it is whole: a stimulus waits for the end of the import, and a call that would run it is refused.
SELECT wf_define('{"definitionId": "heard", "root": {"type": "Event", "eventName": "On"}}') \g /dev/null
SELECT wf_start('heard', correlation_id => 'heard') IS NOT NULL AS is_started;
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{heard}', remove => true);
CREATE FUNCTION tells() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.wf_publish_event('On', instance_id => NEW.id); RETURN NULL; END $$;
CREATE FUNCTION cancels() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.wf_cancel(NEW.id); RETURN NULL; END $$;
CREATE TRIGGER cancels AFTER INSERT ON workflow.instances FOR EACH ROW EXECUTE FUNCTION cancels();
DO $$
BEGIN
    PERFORM wf_import_instances(ARRAY(SELECT piece FROM bundle));
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING '% %', sqlstate, regexp_replace(sqlerrm, '[0-9a-f-]{36}', 'ID');
END $$;
DROP TRIGGER cancels ON workflow.instances;
CREATE TRIGGER tells AFTER INSERT ON workflow.instances FOR EACH ROW EXECUTE FUNCTION tells();
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
DROP TRIGGER tells ON workflow.instances;
SELECT sub_status, (SELECT count(*) FROM workflow.bookmarks AS b WHERE b.instance_id = i.id) AS bookmarks FROM workflow.instances AS i WHERE correlation_id = 'heard';
-- So does one to all.
SELECT wf_start('heard', correlation_id => 'all') IS NOT NULL AS is_started FROM generate_series(1, 3);
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{all}', remove => true);
CREATE FUNCTION tells_all() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.wf_publish_event('On'); RETURN NULL; END $$;
CREATE TRIGGER tells_all AFTER INSERT ON workflow.bookmarks FOR EACH ROW EXECUTE FUNCTION tells_all();
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
DROP TRIGGER tells_all ON workflow.bookmarks;
SELECT sub_status, count(*) FROM workflow.instances WHERE correlation_id = 'all' GROUP BY 1;
SELECT count(*) AS kept FROM workflow.bookmark_queue WHERE deferred_for IS NOT NULL;
-- What comes while the rest leaves undoes the export, and so does a trigger that sends something to what leaves.
SELECT wf_start('heard', correlation_id => 'torn') IS NOT NULL AS is_started;
CREATE FUNCTION sends() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.wf_publish_event('Late', correlation_id => OLD.correlation_id, keep_for => '1 day'); RETURN OLD; END $$;
CREATE TRIGGER sends BEFORE DELETE ON workflow.instances FOR EACH ROW EXECUTE FUNCTION sends();
SELECT count(*) FROM wf_export_instances('{torn}', remove => true);
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER sends ON workflow.instances;
CREATE FUNCTION tells_leaving() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.wf_publish_event('On', instance_id => OLD.id); RETURN OLD; END $$;
CREATE FUNCTION cancels_leaving() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.wf_cancel(OLD.id); RETURN OLD; END $$;
CREATE TRIGGER tells BEFORE DELETE ON workflow.instances FOR EACH ROW EXECUTE FUNCTION tells_leaving();
SELECT count(*) FROM wf_export_instances('{torn}', remove => true);
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER tells ON workflow.instances;
SELECT k.queued_id IS NOT NULL AS is_kept FROM workflow.instances AS i, wf_publish_event('Other', instance_id => i.id, keep_for => '1 day') AS k WHERE i.correlation_id = 'torn';
CREATE FUNCTION tells_early() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.wf_publish_event('On', instance_id => OLD.instance_id); RETURN OLD; END $$;
CREATE TRIGGER tells BEFORE DELETE ON workflow.bookmark_queue FOR EACH ROW EXECUTE FUNCTION tells_early();
SELECT count(*) FROM wf_export_instances('{torn}', remove => true);
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER tells ON workflow.bookmark_queue;
CREATE TRIGGER cancels BEFORE DELETE ON workflow.instances FOR EACH ROW EXECUTE FUNCTION cancels_leaving();
DO $$
BEGIN
    PERFORM wf_export_instances('{torn}', remove => true);
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING '% %', sqlstate, regexp_replace(sqlerrm, '[0-9a-f-]{36}', 'ID');
END $$;
DROP TRIGGER cancels ON workflow.instances;
-- Also while rows leave that belong to no instance.
CREATE FUNCTION moves() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.wf_export_instances('{torn}'); RETURN OLD; END $$;
BEGIN;
SELECT wf_publish_event('Late', correlation_id => 'alone', keep_for => '1 day') \g /dev/null
CREATE TRIGGER moves BEFORE DELETE ON workflow.bookmark_queue FOR EACH ROW EXECUTE FUNCTION moves();
SELECT count(*) FROM wf_export_instances('{alone}', remove => true);
ROLLBACK;
-- No trigger keeps what is packed: it would be on both nodes.
SELECT wf_call('torn', 'once', 'event', 'Early') IS NOT NULL AS is_called;
CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER stays BEFORE DELETE ON workflow.bookmarks FOR EACH ROW EXECUTE FUNCTION stays();
SELECT count(*) FROM wf_export_instances('{torn}', remove => true);
DROP TRIGGER stays ON workflow.bookmarks;
CREATE TRIGGER stays BEFORE DELETE ON workflow.messages FOR EACH ROW EXECUTE FUNCTION stays();
SELECT count(*) FROM wf_export_instances('{torn}', remove => true);
DROP TRIGGER stays ON workflow.messages;
SELECT count(*) FROM wf_export_instances('{torn}', remove => true);
-- No trigger keeps an instance that belongs elsewhere without a word.
SELECT wf_start('heard', correlation_id => 'foreign') IS NOT NULL AS is_started;
CREATE FUNCTION is_here(key text) RETURNS boolean LANGUAGE sql RETURN key <> 'foreign';
CREATE TRIGGER stays BEFORE DELETE ON workflow.instances FOR EACH ROW EXECUTE FUNCTION stays();
SELECT wf_keep_instances('is_here(text)', keyless => true, max_percent => 100);
DROP TRIGGER stays ON workflow.instances;
SELECT wf_keep_instances('is_here(text)', keyless => true, max_percent => 100);
-- Statement triggers do not fire where rows are written without a statement.
SELECT wf_start('heard', correlation_id => 'quiet') IS NOT NULL AS is_started, wf_call('quiet', 'once', 'event', 'Early') IS NOT NULL AS is_called;
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{quiet}', remove => true);
CREATE FUNCTION refuses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a statement on %', TG_TABLE_NAME; END $$;
CREATE TRIGGER refuses BEFORE INSERT ON workflow.instances FOR EACH STATEMENT EXECUTE FUNCTION refuses();
CREATE TRIGGER refuses BEFORE INSERT ON workflow.messages FOR EACH STATEMENT EXECUTE FUNCTION refuses();
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle)), wf_call('quiet', 'twice', 'event', 'Early') IS NOT NULL AS is_called;
DROP TRIGGER refuses ON workflow.instances;
DROP TRIGGER refuses ON workflow.messages;
-- Pieces that do not fit into the memory of a call.
SELECT count(wf_start('heard', correlation_id => 'many')) FROM generate_series(1, 20000);
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{many}', remove => true);
SET workflow.memory_limit = '16MB';
\set VERBOSITY terse
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle)) \g /dev/null
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY default
RESET workflow.memory_limit;
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
-- No trigger suppresses what an import writes, or what wf_call remembers.
SELECT wf_start('heard', correlation_id => 'whole') IS NOT NULL AS is_started;
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{whole}', remove => true);
CREATE TRIGGER stays BEFORE INSERT ON workflow.execution_log FOR EACH ROW EXECUTE FUNCTION stays();
CREATE TRIGGER stays BEFORE INSERT ON workflow.messages FOR EACH ROW EXECUTE FUNCTION stays();
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle)) \g /dev/null
\echo :LAST_ERROR_SQLSTATE
SELECT wf_call('whole', 'm1', 'event', 'On') \g /dev/null
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER stays ON workflow.execution_log;
DROP TRIGGER stays ON workflow.messages;
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
SELECT * FROM wf_check();
