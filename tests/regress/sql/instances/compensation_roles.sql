-- Handlers of an instance that another role cancels run as its owner. Until they have ended it keeps its place.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE ROLE regress_undo_ann;
CREATE ROLE regress_undo_clerk;
SELECT wf_grant_usage('regress_undo_ann'), wf_grant_usage('regress_undo_clerk');
CREATE TABLE ran (what text NOT NULL, who name NOT NULL DEFAULT current_user);
GRANT INSERT, SELECT, TRUNCATE ON ran TO regress_undo_ann, regress_undo_clerk;
SET ROLE regress_undo_ann;
SELECT * FROM wf_define('{"definitionId": "trip", "options": {"activationStrategy": "Singleton"}, "root": [
    {"id": "A", "type": "Compensable", "body": {"type": "Sql", "statement": "INSERT INTO public.ran VALUES (''do'')"},
     "compensation": {"type": "Sql", "statement": "INSERT INTO public.ran VALUES (''undo'')"}},
    {"id": "Wait", "type": "Event", "eventName": "E"}]}');
SELECT wf_grant('trip', 'regress_undo_clerk', '{resume,read}');
SELECT wf_start('trip') AS first \gset
SET ROLE regress_undo_clerk;
-- The clerk ends what is open, and no more: the handlers wait for the owner of the instance.
SELECT wf_cancel(:'first', 'not needed');
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'first';
SET ROLE regress_undo_ann;
SELECT what, who FROM ran;
-- The place is taken until they have run.
SELECT wf_start('trip');
\echo :SQLSTATE
SELECT wf_run_due();
SELECT what, who FROM ran;
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'first';
SELECT wf_start('trip') IS NOT NULL AS started;

-- A role that fires them by the id of their bookmark does not run them with its own rights either.
TRUNCATE ran;
SET ROLE regress_undo_clerk;
SELECT count(wf_cancel(instance_id)) FROM workflow.instance_list WHERE sub_status = 'Suspended';
SELECT bookmark_id, waits_for FROM workflow.waiting WHERE waits_for = 'Workflow.Compensation' \gset
\echo :waits_for
SELECT sub_status FROM wf_resume(:'bookmark_id');
SELECT what, who FROM ran;
SET ROLE regress_undo_ann;
SELECT wf_run_due();
SELECT what, who FROM ran;

-- An instance that had faulted before the cancel has lost its place, and does not get it back.
SET ROLE regress_undo_ann;
SELECT * FROM wf_define('{"definitionId": "fall", "options": {"activationStrategy": "Singleton"}, "root": [
    {"id": "A", "type": "Compensable", "compensation": {"type": "WriteLine", "text": "undo"}}, {"type": "Fault", "message": "no"}]}');
SELECT wf_start('fall') AS fallen \gset
SELECT wf_cancel(:'fallen');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'fallen';
SELECT wf_start('fall') IS NOT NULL AS started;
RESET ROLE;
SELECT * FROM wf_check();
DROP OWNED BY regress_undo_ann, regress_undo_clerk;
SELECT wf_revoke_usage('regress_undo_ann'), wf_revoke_usage('regress_undo_clerk');
DROP ROLE regress_undo_ann, regress_undo_clerk;
