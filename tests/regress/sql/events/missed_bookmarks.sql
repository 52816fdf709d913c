-- A resume or stimulus that was stored for a bookmark becomes a dead letter of its sender if that bookmark ends first.
\pset null '(null)'
SET client_min_messages = warning;
CREATE ROLE regress_missed_eve LOGIN;
CREATE ROLE regress_missed_ada LOGIN;
SELECT wf_grant_usage(role) FROM unnest('{regress_missed_eve, regress_missed_ada}'::name[]) AS role;
CREATE TABLE regress_missed_ran (what text);
GRANT INSERT, SELECT ON regress_missed_ran TO PUBLIC;

\connect - regress_missed_eve
SET client_min_messages = warning;
SELECT wf_define('{"definitionId": "door", "variables": {"Who": null}, "root": [
    {"id": "knock", "type": "Event", "eventName": "Knock", "result": {"var": "Who"}},
    {"id": "open", "type": "Sql", "statement": "INSERT INTO public.regress_missed_ran VALUES ($1 #>> ''{}'')", "parameters": [{"var": "Who"}]}]}');
SELECT wf_grant('door', 'regress_missed_ada', '{resume,read}');
SELECT wf_start('door') AS door \gset
SELECT bookmark_id AS knock FROM workflow.open_bookmarks \gset

-- Two resumes are stored: the first wins, and the second is reported.
\connect - regress_missed_ada
SET client_min_messages = warning;
SELECT sub_status FROM wf_resume(:'knock', '"first"');
SELECT sub_status FROM wf_resume(:'knock', '"second"');
SELECT resumed, queued_id IS NOT NULL AS is_queued FROM wf_enqueue_bookmark(bookmark_id => :'knock', input => '"third"', keep_for => '0');
SELECT resumed, queued_id IS NOT NULL AS is_queued FROM wf_publish_event('Knock', '"fourth"', instance_id => :'door');
SELECT count(*) FROM workflow.dead_letter_list;
\connect - regress_missed_eve
SELECT wf_run_due();
SELECT what FROM regress_missed_ran;
\connect - regress_missed_ada
SELECT reason, sender, name, input, replace(replace(last_error, :'knock', 'KNOCK'), :'door', 'DOOR') AS last_error FROM workflow.dead_letter_list ORDER BY created_at, dead_letter_id;
\set VERBOSITY terse
\set ON_ERROR_STOP 0
SELECT wf_replay(dead_letter_id) IS NULL AS replayed FROM workflow.dead_letter_list WHERE input = '"second"' \gset
\set VERBOSITY default
SELECT :'LAST_ERROR_SQLSTATE' AS sqlstate;
\connect - postgres
SELECT count(*) AS queued FROM workflow.bookmark_queue;
TRUNCATE workflow.dead_letters;

-- While the instance is faulted, the event waits. A cancel ends what it waits for.
SET client_min_messages = warning;
SELECT wf_define('{"definitionId": "pair", "root": {"type": "Fork", "joinMode": "WaitAll", "branches": [
    {"id": "bell", "type": "Event", "eventName": "Bell"}, {"id": "bad", "type": "Fault", "message": "bad"}]}}');
SELECT wf_start('pair') AS pair \gset
SELECT resumed, queued_id IS NOT NULL AS is_queued FROM wf_publish_event('Bell', '"ding"');
SELECT wf_run_due();
SELECT count(*) AS dead FROM workflow.dead_letters;
SELECT wf_cancel(:'pair');
SELECT wf_run_due();
SELECT reason, name, input, instance_id = :'pair' AS is_pair FROM workflow.dead_letters;
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SELECT * FROM wf_check();

-- The same for an instance that is cancelled while it is paused.
TRUNCATE workflow.dead_letters;
SELECT wf_define('{"definitionId": "gong", "root": {"id": "gong", "type": "Event", "eventName": "Gong"}}');
SELECT wf_start('gong') AS gong \gset
SELECT wf_pause(:'gong');
SELECT resumed, queued_id IS NOT NULL AS is_queued FROM wf_publish_event('Gong', '"dong"');
SELECT wf_run_due();
SELECT count(*) AS queued, (SELECT count(*) FROM workflow.dead_letters) AS dead FROM workflow.bookmark_queue;
SELECT wf_cancel(:'gong');
SELECT wf_run_due();
SELECT reason, name, input, instance_id = :'gong' AS is_gong FROM workflow.dead_letters;
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SELECT * FROM wf_check();
