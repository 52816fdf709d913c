-- Mail for those who are asked: when a task is opened, assigned, reminded and escalated, and once a day a list of what waits.
-- It sets the clock: run it as a superuser, in a database that was marked with ALTER DATABASE … SET workflow.testing = on:   psql -X -q < examples/task-mails.sql
-- It makes a schema "office" and roles "office_…" of its own, names the directory, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_delete_instance(instance_id, force => true)) FROM workflow.instance_list WHERE definition_id IN ('holiday', 'task-mail', 'daily-digest') \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id IN ('holiday', 'task-mail', 'daily-digest')) AS d \g /dev/null
SELECT wf_set_directory(NULL) \g /dev/null
SELECT count(wf_revoke_usage(rolname)) FROM pg_roles WHERE rolname LIKE 'office\_%' \g /dev/null
DROP SCHEMA IF EXISTS office CASCADE;
DROP ROLE IF EXISTS office_ada, office_ben, office_heads;
SET TIME ZONE 'UTC';
\set ECHO queries

\echo
\echo '== 1. Who is who ==============================================================================='
\echo
CREATE ROLE office_heads;
CREATE ROLE office_ada LOGIN IN ROLE office_heads;
CREATE ROLE office_ben LOGIN IN ROLE office_heads;
SELECT count(wf_grant_usage(role)) FROM unnest('{office_heads,office_ada,office_ben}'::text[]) AS role;
CREATE SCHEMA office;
CREATE TABLE office.staff (
    person   text PRIMARY KEY,    -- as tasks name people
    name     text NOT NULL,
    mail     text,
    language text NOT NULL DEFAULT 'en',
    manager  text
);
INSERT INTO office.staff VALUES ('role:office_ada', 'Ada', 'ada@example.com', 'en', 'grace'), ('role:office_ben', 'Ben', NULL, 'de', 'grace'),
    ('grace', 'Grace', 'grace@example.com', 'en', NULL), ('role:office_heads', 'The heads', NULL, 'en', 'grace');
CREATE FUNCTION office.directory(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text)
STABLE LANGUAGE sql AS 'SELECT s.name, s.mail, NULL, s.language, s.manager FROM office.staff AS s WHERE s.person = $1';
SELECT wf_set_directory('office.directory(text)');

\echo
\echo '== 2. The mail: a definition that each notice starts ==========================================='
\echo
\echo 'Nobody gets a mail about what they did themselves. A worker (wf work) sends the mails.'
\echo
SELECT * FROM wf_define($json${
    "definitionId": "task-mail", "name": "Mail about a task",
    "root": {"type": "ParallelForEach", "items": {"js": "getInput('people').filter(p => p.mail && p.person !== getInput('by'))"},
        "body": {"type": "SendEmail", "to": {"js": "[getCurrentValue().mail]"},
            "subject": {"js": "({opened: '', assigned: 'For you: ', reminded: 'Reminder: ', escalated: 'Overdue: '})[getInput('reason')] + getInput('subject')"},
            "body": {"liquid": "<p>Dear {{ Variables.CurrentValue.name | escape }},</p><p>{{ Input.subject | escape }}{% if Input.due %}, until {{ Input.due | date: '%e %B' }}{% endif %}</p>"}}}
}$json$);

\echo
\echo '== 3. The workflow: reminders, and the manager at the deadline ================================='
\echo
SELECT * FROM wf_define($json${
    "definitionId": "holiday", "name": "Holiday",
    "options": {"notify": {"workflow": "task-mail"}},
    "outputs": [{"name": "Decision"}],
    "root": {"id": "Approve", "type": "Approve", "by": ["role:office_heads"], "not": ["starter"],
        "subject": {"liquid": "{{ Input.name }} asks for {{ Input.days }} days"},
        "reminders": ["1 day", {"before": "4 hours"}],
        "deadline": "3 days", "onDeadline": "escalate", "escalateTo": "manager",
        "result": {"output": "Decision"}}
}$json$);
CREATE VIEW office.mails AS
    SELECT t.payload #>> '{To,0}' AS to, t.payload ->> 'Subject' AS subject, t.payload ->> 'Body' AS body
    FROM workflow.open_tasks AS t WHERE t.name = 'Elsa.SendEmail' ORDER BY t.task_id;

\echo
\echo '== 4. Dan asks for leave ======================================================================='
\echo
\echo 'The mail is sent if the transaction commits, and only then. Ben has no address; that is on record.'
\echo
SET workflow.now = '2026-03-02 08:00:00+00';
SELECT wf_start('holiday', '{"name": "Dan", "days": 3}', correlation_id => 'H-1') AS instance \gset
SELECT wf_run_due();
SELECT * FROM office.mails;
SELECT line FROM wf_explain(:'instance') AS line WHERE line LIKE '%no mail%';

\echo
\echo '== 5. Nobody answers: a reminder, and on the third day the manager ============================='
\echo
SET workflow.now = '2026-03-03 08:00:00+00';
SELECT wf_run_due();
SET workflow.now = '2026-03-05 08:00:00+00';
SELECT wf_run_due();
SELECT "to", subject FROM office.mails;
SELECT name, candidates FROM workflow.open_tasks WHERE correlation_id = 'H-1';

\echo
\echo '== 6. What waits, once a day ==================================================================='
\echo
\echo 'A digest is a workflow on a schedule. It reads the open tasks as any query does.'
\echo
CREATE VIEW office.waiting AS
    SELECT s.mail, s.name, count(*) AS tasks, jsonb_agg(jsonb_build_object('subject', coalesce(t.payload ->> 'subject', t.name),
               'due', to_char(t.deadline, 'FMDD FMMonth'), 'late', t.deadline < workflow_now.at) ORDER BY t.deadline, t.task_id) AS list
    FROM (SELECT coalesce(nullif(current_setting('workflow.now', true), '')::timestamptz, now()) AS at) AS workflow_now,
        workflow.open_tasks AS t, unnest(CASE WHEN t.assignee IS NULL THEN t.candidates ELSE ARRAY[t.assignee] END) AS asked
        JOIN office.staff AS s ON s.person = asked OR EXISTS (
            SELECT FROM pg_roles AS member, pg_roles AS role
            WHERE 'role:' || member.rolname = s.person AND 'role:' || role.rolname = asked AND pg_has_role(member.oid, role.oid, 'USAGE'))
    WHERE s.mail IS NOT NULL
    GROUP BY s.person;
SELECT * FROM wf_define($json${
    "definitionId": "daily-digest", "name": "What waits",
    "root": [
        {"type": "Cron", "cronExpression": "0 7 * * 1-5", "timeZone": "Europe/Berlin", "canStartWorkflow": true},
        {"type": "ParallelForEach", "items": {"sql": "SELECT coalesce(jsonb_agg(to_jsonb(w)), '[]') FROM office.waiting AS w"},
            "body": {"type": "SendEmail", "to": {"js": "[getCurrentValue().mail]"},
                "subject": {"js": "getCurrentValue().tasks + ' waiting'"},
                "body": {"liquid": "<ul>{% for task in Variables.CurrentValue.list %}<li>{{ task.subject | escape }}{% if task.late %}, late{% endif %}</li>{% endfor %}</ul>"}}}]
}$json$);
SELECT count(wf_start('holiday', '{"name": "Eva", "days": 5}', correlation_id => 'H-2')) AS started;
SET workflow.now = '2026-03-06 06:00:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT "to", subject, body FROM office.mails WHERE subject LIKE '%waiting';
