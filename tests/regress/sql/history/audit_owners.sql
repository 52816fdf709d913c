-- Acts on what belongs to a role are for its members, whichever of them acts.
SET client_min_messages = warning;
CREATE ROLE regress_audit_staff;
CREATE ROLE regress_audit_yan IN ROLE regress_audit_staff;
CREATE ROLE regress_audit_zed IN ROLE regress_audit_staff;
SELECT wf_grant_usage('regress_audit_staff');
CREATE FUNCTION twice(jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT $1';
SET ROLE regress_audit_staff;
SELECT wf_schedule('nightly', '0 0 1 1 *', 'SELECT 1') \g /dev/null
SELECT wf_schedule('weekly', '0 0 1 1 *', 'SELECT 1') \g /dev/null
SELECT wf_register_activity('Audit.Twice', 'twice(jsonb)') \g /dev/null
RESET ROLE;
SET ROLE regress_audit_yan;
SELECT wf_alter_schedule('nightly', active => false) \g /dev/null
SELECT wf_schedule_run_now('nightly') \g /dev/null
SELECT wf_unschedule('nightly');
SELECT wf_set_owner('schedule', 'weekly', 'regress_audit_yan');
SELECT wf_register_activity('Audit.Twice', 'twice(jsonb)', description => 'does it twice') \g /dev/null
SELECT wf_set_owner('activity type', 'Audit.Twice', 'regress_audit_yan');
RESET ROLE;
SET ROLE regress_audit_zed;
SELECT kind, role, detail FROM workflow.audit ORDER BY at;
-- What is another member's own stays with that member.
RESET ROLE;
SET ROLE regress_audit_yan;
SELECT wf_unschedule('weekly');
RESET ROLE;
SET ROLE regress_audit_zed;
SELECT count(*) FROM workflow.audit WHERE detail ->> 'schedule' = 'weekly';
RESET ROLE;
DROP FUNCTION twice(jsonb);
