-- wf_adopt_database says whose things are whose, decides what names cannot, and lets pass what is overdue if it is asked to.
\set VERBOSITY terse
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
CREATE ROLE regress_adopt_ann;
CREATE ROLE regress_adopt_ben;
SELECT wf_grant_usage('regress_adopt_ann'), wf_grant_usage('regress_adopt_ben');
SELECT * FROM wf_define('{"definitionId": "later", "root": {"type": "Delay", "timeSpan": "01:00:00"}}');
SELECT * FROM wf_define('{"definitionId": "hourly", "root": [{"id": "t", "type": "Timer", "interval": "01:00:00", "canStartWorkflow": true}]}');
SELECT * FROM wf_define('{"definitionId": "once", "root": [{"id": "at", "type": "StartAt", "dateTime": "2030-01-01T00:30:00Z", "canStartWorkflow": true}]}');
SELECT wf_grant('later', 'regress_adopt_ann', '{start,resume,read}'), wf_grant('later', 'regress_adopt_ben', '{start}');
SET ROLE regress_adopt_ann;
SELECT sub_status FROM wf_run('later', correlation_id => 'a1');
SELECT sub_status FROM wf_run('later', correlation_id => 'a2');
SELECT wf_schedule('tick', '1 hour', 'SELECT 1') IS NOT NULL AS scheduled;
SET ROLE regress_adopt_ben;
SELECT sub_status FROM wf_run('later', correlation_id => 'b1');
RESET ROLE;

-- security.md#renamed-and-dropped-roles: in another cluster the name decides
-- As a dump of another cluster leaves it: the oids mean nothing here, the names do.
UPDATE workflow.owners SET role = ('1:42:' || name)::workflow.stored_role;
UPDATE workflow.identity SET database = 0;
SET workflow.now = '2030-01-01 05:30:00+00';
SELECT * FROM wf_adopt_database(dry_run => true);
SELECT count(*) FROM workflow.owners WHERE role_oid IS NOT NULL;
SELECT wf_run_due();
SET ROLE regress_adopt_ann;
SELECT correlation_id FROM workflow.instance_list WHERE owner = current_user ORDER BY 1;
RESET ROLE;

-- security.md#renamed-and-dropped-roles: an owner without a name, or with one that another owner has, is no role until wf_adopt_database says so
-- A name that two rows have is no role's, as is one of a role that has a row of its own.
INSERT INTO workflow.owners (role) VALUES ('2:43:regress_adopt_ann');
SET ROLE regress_adopt_ann;
SELECT correlation_id FROM workflow.instance_list ORDER BY 1;
RESET ROLE;
SELECT regexp_replace(owner, '^\d+:\d+:', 'x:y:') AS owner, role, instances, overdue FROM wf_adopt_database(dry_run => true);
UPDATE workflow.owners SET role = ((SELECT system_identifier FROM pg_control_system()) || ':' || 'regress_adopt_ann'::regrole::oid || ':')::workflow.stored_role
WHERE role::text = '2:43:regress_adopt_ann' RETURNING name IS NULL AS has_no_name;
SELECT regexp_replace(owner, '^\d+:\d+:', 'x:y:') AS owner, role, instances, overdue FROM wf_adopt_database(dry_run => true);
DELETE FROM workflow.owners WHERE role_oid IS NOT NULL;
SELECT correlation_id FROM workflow.instance_list WHERE owner = 'regress_adopt_ann' ORDER BY 1;

-- What is no answer.
\set VERBOSITY default
SELECT * FROM wf_adopt_database(overdue => 'drop');
SELECT * FROM wf_adopt_database(overdue => NULL);
SELECT * FROM wf_adopt_database(owners => '[]');
SELECT * FROM wf_adopt_database(owners => '{"regress_adopt_ann": 1}');
SELECT * FROM wf_adopt_database(owners => '{"regress_adopt_ann": "regress_adopt_nobody"}');
SELECT * FROM wf_adopt_database(owners => '{"regress_adopt_nobody": "regress_adopt_ann"}');
\set VERBOSITY terse

-- security.md#renamed-and-dropped-roles: wf_adopt_database(owners => …) gives all at once, also by the name of an owner of this cluster
-- Two owners for one role: it has what both had. Overdue timers of instances wait for a call that resumes them, schedules go on
-- at their next instant, what is over is over.
-- The dump is of a machine of another byte order, on which hashtext gives other keys.
UPDATE workflow.bookmarks SET correlation_key = correlation_key + 1, kind_key = kind_key + 1 WHERE hash IS NOT NULL RETURNING name;
SELECT * FROM wf_adopt_database(overdue => 'skip', owners => '{"regress_adopt_ben": "regress_adopt_ann"}');
SELECT count(*) FROM wf_check();
SELECT count(*) FROM workflow.identity WHERE system_identifier <> 0 AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
SELECT name, definition_id, next_run, missed FROM workflow.schedules ORDER BY name;
SELECT wf_run_due();
SET ROLE regress_adopt_ann;
SELECT wf_run_due();
SELECT correlation_id, owner, sub_status FROM workflow.instance_list ORDER BY 1;
SELECT correlation_id, due FROM workflow.waiting ORDER BY 1;
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.correlation_id = 'b1';
SELECT wf_schedule('tick', '2 hours', 'SELECT 1') IS NOT NULL AS scheduled;
SELECT name, count(*) FROM workflow.schedules GROUP BY name ORDER BY 1;
SET ROLE regress_adopt_ben;
SELECT count(*) FROM workflow.instance_list;
SELECT wf_start('later');
RESET ROLE;
SELECT * FROM wf_adopt_database();
SELECT * FROM wf_check();

-- Swapped, and a schedule of the same name on both sides.
SET ROLE regress_adopt_ben;
SELECT wf_schedule('tick', '1 day', 'SELECT 1') IS NOT NULL AS scheduled;
RESET ROLE;
SELECT * FROM wf_adopt_database(owners => '{"regress_adopt_ann": "regress_adopt_ben"}');
SELECT * FROM wf_adopt_database(owners => '{"regress_adopt_ann": "regress_adopt_ben", "regress_adopt_ben": "regress_adopt_ann"}');
SELECT name, owner FROM workflow.schedules ORDER BY 1, 2;
SELECT DISTINCT owner FROM workflow.instance_list;

-- A replica has the rows, but not what the sequence gave out.
SELECT setval('workflow.owners_id_seq', 1, false);
SELECT count(*) > 0 FROM wf_adopt_database();
CREATE ROLE regress_adopt_new;
SELECT wf_grant_usage('regress_adopt_new');
SELECT max(id) = (SELECT last_value FROM workflow.owners_id_seq) FROM workflow.owners;

-- A role's row is made by wf_grant_usage, not by its first call.
SELECT count(*) FROM workflow.owners WHERE name = 'regress_adopt_new';
SELECT wf_grant_usage('public');
SELECT wf_revoke_usage('public');
-- security.md#default-access: wf_grant_usage does not give what is the administrator's
SET ROLE regress_adopt_new;
SELECT wf_adopt_database();
RESET ROLE;

DROP OWNED BY regress_adopt_ann, regress_adopt_ben, regress_adopt_new;
DROP ROLE regress_adopt_ann, regress_adopt_ben, regress_adopt_new;
