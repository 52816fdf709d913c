-- People are notified of tasks by an event and by a workflow. A directory knows their names and addresses.
\set VERBOSITY default
SET client_min_messages = error;
CREATE ROLE regress_notify_author;
CREATE ROLE regress_notify_hr;
CREATE ROLE regress_notify_team;
CREATE ROLE regress_notify_ada LOGIN IN ROLE regress_notify_team;
CREATE ROLE regress_notify_ben LOGIN IN ROLE regress_notify_team;
SELECT wf_grant_usage(r) FROM unnest('{regress_notify_author,regress_notify_team,regress_notify_ada,regress_notify_ben}'::name[]) AS r \g /dev/null
CREATE SCHEMA hr AUTHORIZATION regress_notify_hr;
GRANT USAGE ON SCHEMA hr TO regress_notify_author;
SET ROLE regress_notify_hr;
CREATE TABLE hr.staff (person text PRIMARY KEY, name text, mail text, zone text, language text, manager text, secret text);
INSERT INTO hr.staff VALUES ('role:regress_notify_ada', 'Ada', 'ada@example.com', 'Europe/Berlin', 'de', 'cleo', 'ahem'),
    ('cleo', 'Cleo', 'cleo@example.com', NULL, NULL, NULL, 'ahem'), ('dan', 'Dan', NULL, NULL, NULL, 'role:nobody_at_all', 'ahem');
CREATE FUNCTION hr.find(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE sql AS $$
    SELECT s.name, s.mail, s.zone, s.language, s.manager FROM hr.staff AS s WHERE s.person = find.person OR 1 / (CASE find.person WHEN 'broken' THEN 0 ELSE 1 END) = 0
$$;
RESET ROLE;

-- What cannot be a directory.
SET ROLE regress_notify_author;
SELECT wf_set_directory(0);
RESET ROLE;
SELECT wf_set_directory('hr.find(text)');
SET ROLE regress_notify_hr;
CREATE FUNCTION hr.wrong(person jsonb) RETURNS hr.staff LANGUAGE sql STABLE AS 'SELECT NULL::hr.staff';
CREATE FUNCTION hr.short(person text) RETURNS TABLE (name text, mail text) LANGUAGE sql STABLE AS 'SELECT $1, $1';
CREATE FUNCTION hr.volatile(person text) RETURNS hr.staff LANGUAGE sql AS 'SELECT NULL::hr.staff';
CREATE FUNCTION hr.row(person text) RETURNS hr.staff LANGUAGE sql STABLE AS 'SELECT s FROM hr.staff AS s WHERE s.person = $1';
RESET ROLE;
SELECT wf_set_directory('hr.wrong(jsonb)');
SELECT wf_set_directory('hr.short(text)');
SELECT wf_set_directory('hr.volatile(text)');
SELECT wf_set_directory(0::oid::regprocedure);
SELECT wf_set_directory('hr.row(text)'), wf_set_directory('hr.find(text)');
SELECT function FROM workflow.directory;
SELECT kind, detail FROM workflow.audit WHERE kind = 'set directory' ORDER BY at, detail::text;

-- What is refused when a definition is stored.
SET ROLE regress_notify_author;
SELECT wf_define('{"definitionId": "bad", "options": {"notify": {"mail": "x"}}, "root": {"type": "RunTask", "taskName": "t", "notify": "x"}}');
SELECT wf_define('{"definitionId": "bad", "options": {"notify": {"workflow": "bad"}}, "root": {"type": "RunTask", "taskName": "t", "reminders": "1 day"}}');
SELECT wf_define('{"definitionId": "bad", "root": [{"type": "RunTask", "taskName": "t", "notify": {"js": "({event: ''E''})"}, "reminders": ["soon"]},
    {"type": "RunTask", "taskName": "t", "deadline": "1 day", "onDeadline": "escalate", "escalateTo": "boss"}]}');
SELECT wf_define('{"definitionId": "bad", "root": [{"type": "RunTask", "taskName": "t", "reminders": ["1 day"]},
    {"type": "RunTask", "taskName": "t", "notify": {"event": "E"}, "reminders": {"before": "1 day"}},
    {"type": "RunTask", "taskName": "t", "notify": {"event": "E"}, "deadline": "1 day", "onDeadline": "expire", "reminders": {"after": "1 day"}},
    {"type": "Approve", "by": "ada", "subject": "s", "notify": {"event": "E"}, "deadline": "1 day", "reminders": {"after": "1 day"}},
    {"type": "RunTask", "taskName": "t", "deadline": "1 day", "onDeadline": "raise"},
    {"type": "Approve", "by": "ada", "subject": "s", "deadline": "1 day", "onDeadline": "event"}]}');

-- An event and a workflow, once for each task that is opened, assigned, reminded or escalated.
SELECT wf_define('{"definitionId": "tell", "root": {"type": "WriteLine", "text": {"js": "getInput(''reason'')"}}}') \g /dev/null
SELECT wf_define('{"definitionId": "heard", "variables": {"It": null}, "outputs": [{"name": "It"}], "root":
    {"type": "Event", "eventName": "Task", "canStartWorkflow": true, "result": {"output": "It"}}}') \g /dev/null
SELECT wf_define('{"definitionId": "ask", "options": {"notify": {"event": "Task", "workflow": "tell"}}, "root":
    {"id": "ask", "type": "RunTask", "taskName": "Ask", "payload": {"object": {"subject": "a raise", "salary": 9}},
     "candidates": ["role:regress_notify_team", "dan", "broken", "cleo"], "not": [], "deadline": "2 days", "onDeadline": "escalate", "escalateTo": "manager",
     "reminders": ["1 day", {"before": "1 hour"}, {"after": "1 day"}]}}') \g /dev/null
RESET ROLE;
CREATE VIEW told AS SELECT i.output -> 'It' AS it FROM workflow.instances AS i WHERE definition_id = 'heard' ORDER BY id;
SET workflow.now = '2030-01-01 08:00+00';
SET ROLE regress_notify_author;
BEGIN;
SELECT wf_start('ask', correlation_id => 'rolled back') \g /dev/null
ROLLBACK;
SELECT wf_start('ask', correlation_id => 'A-1') AS instance \gset
RESET ROLE;
SELECT it - 'task' - 'instance' - 'people' AS it, it ->> 'instance' = :'instance' AS is_it FROM told;
SELECT p FROM told, jsonb_array_elements(it -> 'people') AS p;
SELECT definition_id, sub_status, input ->> 'reason' AS reason, input ->> 'ParentInstanceId' = :'instance' AS is_child FROM workflow.instances WHERE definition_id = 'tell';
SELECT line FROM wf_explain(:'instance') AS line WHERE line ~ 'mail address|started tell|published|reminds at';

SET ROLE regress_notify_ben;
SELECT task_id FROM workflow.open_tasks \gset
SELECT wf_assign_task(:'task_id', 'role:regress_notify_ben');
RESET ROLE;
SELECT it ->> 'reason' AS reason, it ->> 'by' AS by, it ->> 'notTold' AS not_told FROM told OFFSET 1;
SELECT wf_unassign_task(:'task_id');
SELECT due_at, name FROM workflow.bookmarks WHERE instance_id = :'instance' ORDER BY due_at;
SELECT wf_resume(id) FROM workflow.bookmarks WHERE name = 'Workflow.Reminder' AND instance_id = :'instance' LIMIT 1;
SET workflow.now = '2030-01-02 08:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT it ->> 'reason' AS reason, it ->> 'due' AS due FROM told OFFSET 2;
-- Reminders wait for the end of a pause.
SELECT wf_pause(:'instance');
SET workflow.now = '2030-01-03 07:30+00';
SELECT wf_run_due() AS fired;
SELECT count(*) FROM told;
SELECT wf_unpause(:'instance') \g /dev/null
SELECT wf_run_due() > 0 AS fired;
SELECT it ->> 'reason' AS reason FROM told OFFSET 3;
SET workflow.now = '2030-01-05 09:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT it ->> 'reason' AS reason, it #> '{people,0,name}' AS first, it ->> 'due' AS due FROM told OFFSET 4;
SELECT candidates, deadline FROM workflow.open_tasks WHERE correlation_id = 'A-1';
SELECT input ->> 'reason' AS reason FROM workflow.instances WHERE definition_id = 'tell' ORDER BY id;
-- Nobody is known to have a manager, and the directory failed for one: the task stays with those who were asked until the next hour. Its last reminder came.
SELECT line FROM wf_explain(:'instance') AS line WHERE line ~ 'no manager|reminds|has its deadline';

-- A directory that is gone, belongs to another role, or that the author may not execute: notices have no addresses, and nothing faults.
CREATE FUNCTION not_told() RETURNS jsonb LANGUAGE sql AS $$
    SELECT j.data - 'task' FROM workflow.journal AS j JOIN workflow.instances AS i ON i.id = j.instance_id
    WHERE i.correlation_id = 'B' AND j.event = 'Note' ORDER BY j.seq DESC LIMIT 1
$$;
SET ROLE regress_notify_author;
SELECT wf_define('{"definitionId": "one", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["cleo"], "notify": {"workflow": "missing"}}}') \g /dev/null
RESET ROLE;
SET client_min_messages = warning;
SELECT sub_status FROM wf_run('one', correlation_id => 'B');
SELECT not_told();
SET client_min_messages = error;
SET ROLE regress_notify_author;
SELECT wf_define('{"definitionId": "one", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["cleo"], "notify": {"event": "Other"}}}') \g /dev/null
RESET ROLE;
CREATE PROCEDURE ask() LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wf_delete_instance(id, force => true) FROM workflow.instances WHERE correlation_id = 'B';
    PERFORM wf_start('one', correlation_id => 'B');
END $$;
CALL ask();
SELECT not_told();
REVOKE EXECUTE ON FUNCTION hr.find FROM PUBLIC;
CALL ask();
SELECT not_told();
GRANT EXECUTE ON FUNCTION hr.find TO PUBLIC;
REVOKE USAGE ON SCHEMA hr FROM regress_notify_author;
CALL ask();
SELECT not_told();
GRANT USAGE ON SCHEMA hr TO regress_notify_author;
ALTER FUNCTION hr.find OWNER TO regress_notify_ada;
CALL ask();
SELECT not_told();
SELECT * FROM wf_check() WHERE problem LIKE 'directory%';
DROP FUNCTION hr.find;
CALL ask();
SELECT not_told();
SELECT * FROM wf_check() WHERE problem LIKE 'directory%';
SELECT wf_set_directory(NULL);
CALL ask();
SELECT not_told();

-- security.md#the-directory-of-people: it has the rights of its owner and the server's settings, and leaves nothing behind
CREATE FUNCTION hr.sly(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT current_user::text, session_user::text, current_setting('search_path'), set_config('work_mem', '99MB', false), current_setting('IntervalStyle');
END $$;
ALTER FUNCTION hr.sly OWNER TO regress_notify_hr;
SELECT wf_set_directory('hr.sly(text)');
CREATE FUNCTION hr.escape(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT set_config('role', 'none', false), NULL, NULL, NULL, NULL;
END $$;
ALTER FUNCTION hr.escape OWNER TO regress_notify_hr;
SET ROLE regress_notify_author;
SELECT wf_define('{"definitionId": "one", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["cleo"], "notify": {"event": "Task"}}}') \g /dev/null
RESET ROLE;
-- Only events of the author start the author's definition "heard".
CREATE VIEW last_told AS SELECT i.output -> 'It' AS it FROM workflow.instances AS i WHERE definition_id = 'heard' ORDER BY id DESC LIMIT 1;
SET workflow.now = '2030-01-06 09:00+00';
SET IntervalStyle = iso_8601;
SET ROLE regress_notify_author;
SELECT wf_start('one') \g /dev/null
RESET ROLE;
RESET IntervalStyle;
SELECT it #> '{people,0}' AS it, current_setting('work_mem') <> '99MB' AS is_undone FROM last_told;
SELECT wf_set_directory('hr.escape(text)');
CALL ask();
SELECT not_told();
-- It cannot change the instance about which it is asked.
CREATE FUNCTION hr.meddle(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.wf_complete_task(task_id) FROM workflow.open_tasks WHERE correlation_id = 'B';
END $$;
SELECT wf_set_directory('hr.meddle(text)');
SELECT wf_assign_task(task_id, 'dora') FROM workflow.open_tasks WHERE correlation_id = 'B';
SELECT not_told();
-- What it does is not the act of the person whose call asks it.
SELECT wf_grant_usage('regress_notify_hr') \g /dev/null
SET ROLE regress_notify_hr;
SELECT wf_define('{"definitionId": "noted", "root": []}') \g /dev/null
CREATE FUNCTION hr.noting(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.wf_start('noted');
END $$;
RESET ROLE;
SELECT wf_set_directory('hr.noting(text)');
SELECT wf_start('one') FROM wf_set_actor('ada') \g /dev/null
SELECT o.name AS owner, i.started_actor FROM workflow.instances AS i JOIN workflow.owners AS o ON o.id = i.owner WHERE i.definition_id = 'noted';

-- At the deadline: a priority, an event.
SELECT wf_set_directory(NULL);
SET ROLE regress_notify_author;
SELECT wf_define('{"definitionId": "raise", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["cleo"], "priority": 2, "deadline": "1 day", "onDeadline": "raise", "raiseTo": 9}}') \g /dev/null
SELECT wf_define('{"definitionId": "late", "root": {"id": "ask", "type": "Approve", "by": ["cleo", "dan"], "subject": "s", "deadline": "1 day", "onDeadline": "event", "deadlineEvent": "Task"}}') \g /dev/null
SELECT wf_start('raise', correlation_id => 'C'), wf_start('late', correlation_id => 'D') \g /dev/null
RESET ROLE;
CREATE TEMP TABLE seen AS SELECT count(*) AS n FROM told;
SET workflow.now = '2030-02-01 09:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT correlation_id, name, priority FROM workflow.open_tasks WHERE correlation_id IN ('C', 'D') ORDER BY 1, 2;
SELECT it ->> 'reason' AS reason, it ->> 'subject' AS subject, it #>> '{people,0,person}' AS person FROM (SELECT it FROM told OFFSET (SELECT n FROM seen)) AS t ORDER BY 3;
SELECT count(*) FROM workflow.incidents;

-- Substitutes are notified as well, and nobody who has voted is notified of another vote of the same approval.
CREATE ROLE regress_notify_cy LOGIN;
CREATE ROLE regress_notify_spy;
SELECT wf_grant_usage(r) FROM unnest('{regress_notify_cy,regress_notify_spy}'::name[]) AS r \g /dev/null
SELECT wf_set_substitute('role:regress_notify_ada', 'role:regress_notify_cy', '2031-01-01');
SET ROLE regress_notify_spy;
SELECT wf_define('{"definitionId": "own", "root": []}') \g /dev/null
SELECT wf_set_substitute('dan', 'mallory', '2031-01-01');
SET ROLE regress_notify_author;
SELECT wf_set_substitute('dan', 'dora', '2031-01-01');
SELECT wf_define('{"definitionId": "votes", "root": {"id": "ask", "type": "Approve", "by": ["role:regress_notify_team", "role:regress_notify_team", "dan"], "order": "serial",
    "subject": "s", "notify": {"event": "Task"}}}') \g /dev/null
RESET ROLE;
UPDATE seen SET n = (SELECT count(*) FROM told);
CREATE PROCEDURE answer() LANGUAGE sql AS $$
    SELECT wf_complete_task(task_id, result => 'true') FROM workflow.open_tasks WHERE correlation_id = 'V'
$$;
SET workflow.now = '2030-02-02 09:00+00';
SET ROLE regress_notify_author;
SELECT wf_start('votes', correlation_id => 'V') \g /dev/null
RESET ROLE;
SET workflow.now = '2030-02-02 10:00+00';
SET ROLE regress_notify_ada;
CALL answer();
RESET ROLE;
SET workflow.now = '2030-02-02 11:00+00';
SET ROLE regress_notify_ben;
CALL answer();
RESET ROLE;
SELECT t.number, p ->> 'person' AS person, p ->> 'inPlaceOf' AS in_place_of
  FROM (SELECT row_number() OVER () AS number, it FROM (SELECT it FROM told OFFSET (SELECT n FROM seen)) AS new) AS t, jsonb_array_elements(it -> 'people') AS p;

-- Only the first row counts, and a value that is no name or address is left out.
CREATE FUNCTION hr.many(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT 'Cleo ' || g, E'cleo@example.com\nBcc: mallory@example.com', repeat('x', 501), ' ', NULL FROM generate_series(1, 100000) AS g;
END $$;
SELECT wf_set_directory('hr.many(text)');
SET workflow.now = '2030-02-03 09:00+00';
SET ROLE regress_notify_author;
SELECT wf_start('one') \g /dev/null
RESET ROLE;
SELECT it #> '{people,0}' AS it FROM last_told;
SELECT wf_set_directory(NULL);

-- security.md#notices: they have the rights of the definition's owner, not those of the role that starts it.
CREATE FUNCTION hr.small(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE sql AS $$
    SELECT 'N', person || '@example.com', NULL, NULL, NULL
$$;
SELECT wf_set_directory('hr.small(text)');
CREATE ROLE regress_notify_eve;
SELECT wf_grant_usage('regress_notify_eve') \g /dev/null
SET ROLE regress_notify_author;
SELECT wf_define('{"definitionId": "open", "variables": {"x": 0}, "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["cleo"],
    "notify": {"event": "Task", "workflow": "tell"}}}') \g /dev/null
SELECT wf_define('{"definitionId": "computed", "variables": {"x": 0}, "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["cleo"],
    "deadline": "1 day", "onDeadline": "event", "deadlineEvent": {"input": "event"}}}') \g /dev/null
SELECT wf_grant(d, 'regress_notify_eve', '{start}'), wf_grant(d, 'regress_notify_ben', '{alter}') FROM unnest('{open,computed}'::text[]) AS d \g /dev/null
RESET ROLE;
SET workflow.now = '2030-02-04 09:00+00';
SET ROLE regress_notify_eve;
SELECT wf_define(format('{"definitionId": "%s", "outputs": [{"name": "It"}], "root":
    {"type": "Event", "eventName": "%s", "canStartWorkflow": true, "result": {"output": "It"}}}', d, e)::jsonb) FROM (VALUES ('spy', 'Task'), ('mine', 'Mine')) AS t (d, e) \g /dev/null
SELECT wf_start('open') AS instance \gset
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'tell';
RESET ROLE;
CREATE VIEW notices AS
    SELECT i.definition_id, o.name AS owner, s.name AS starter, i.sub_status, i.input #>> '{people,0,mail}' AS mail
    FROM workflow.instances AS i JOIN workflow.owners AS o ON o.id = i.owner LEFT JOIN workflow.owners AS s ON s.id = i.started_by
    WHERE i.created_at = current_setting('workflow.now')::timestamptz AND i.definition_id <> 'open' ORDER BY i.definition_id;
SELECT * FROM notices;
-- The engine passes a cancel on to a notice that has not begun.
SET ROLE regress_notify_eve;
SELECT wf_cancel(:'instance');
RESET ROLE;
SELECT definition_id, sub_status FROM notices;
-- The author names an event by a constant. One that is computed may be the starter's choice: it contains nothing of the directory.
SET ROLE regress_notify_eve;
SELECT wf_start('computed', '{"event": "Mine"}') AS computed, wf_start('open') AS open \gset
SET ROLE regress_notify_ben;
SELECT 'wf_set_variable' = ANY (workflow.instance_calls(:'computed')) AS computed, 'wf_set_variable' = ANY (workflow.instance_calls(:'open')) AS open;
RESET ROLE;
SET workflow.now = '2030-02-06 09:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT definition_id, output #> '{It,people}' AS people FROM workflow.instances WHERE definition_id IN ('spy', 'mine');
-- The author's right to start the workflow counts, not the starter's.
SET ROLE regress_notify_spy;
SELECT wf_define('{"definitionId": "far", "root": []}') \g /dev/null
SELECT wf_grant('far', 'regress_notify_eve', '{start}') \g /dev/null
SET ROLE regress_notify_author;
SELECT wf_define('{"definitionId": "open", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["cleo"], "notify": {"workflow": "far"}}}') \g /dev/null
SET ROLE regress_notify_eve;
SELECT wf_start('open', correlation_id => 'far') \g /dev/null
RESET ROLE;
SELECT j.data ->> 'notSent' AS not_sent FROM workflow.journal AS j JOIN workflow.instances AS i ON i.id = j.instance_id WHERE i.correlation_id = 'far' AND j.event = 'Note';
SELECT wf_set_directory(NULL);

-- security.md#the-directory-of-people: who may execute it is reported.
CREATE FUNCTION everyones(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE sql AS 'SELECT $1, $1, $1, $1, $1';
SET client_min_messages = warning;
SELECT wf_set_directory('everyones(text)');
REVOKE EXECUTE ON FUNCTION everyones FROM PUBLIC;
SELECT wf_set_directory('everyones(text)');
SELECT wf_set_directory(NULL);
SET client_min_messages = error;

-- security.md#the-directory-of-people: an error makes a person unknown, except for one that ends any call.
CREATE FUNCTION hr.failing(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE plpgsql AS $$
BEGIN
    IF person = 'cleo' THEN
        RETURN QUERY SELECT 'Cleo'::text, 'cleo@example.com'::text, NULL::text, NULL::text, NULL::text;
        RETURN;
    ELSIF person = 'slow' THEN
        PERFORM pg_sleep(600);
    END IF;
    RAISE EXCEPTION 'it fails' USING ERRCODE = person;
END $$;
SELECT wf_set_directory('hr.failing(text)');
SET ROLE regress_notify_author;
SELECT wf_define('{"definitionId": "failing", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": {"js": "getInput(''who'')"}, "notify": {"event": "Other"}}}') \g /dev/null
SELECT wf_start('failing', jsonb_build_object('who', jsonb_build_array(who)), correlation_id => who) FROM unnest('{55P03,58030,XX000,slow}'::text[]) AS who \g /dev/null
SELECT wf_define('{"definitionId": "two", "root": {"type": "Parallel", "activities": [
    {"id": "broken", "type": "RunTask", "taskName": "Ask", "candidates": ["55P03"], "notify": {"event": "Other"}},
    {"id": "known", "type": "RunTask", "taskName": "Ask", "candidates": ["cleo"], "notify": {"event": "Other"}}]}}') \g /dev/null
SELECT wf_start('two', correlation_id => 'two') \g /dev/null
\set VERBOSITY sqlstate
SELECT wf_start('failing', '{"who": ["40001"]}');
\set VERBOSITY default
RESET ROLE;
SELECT i.correlation_id AS who, j.data ->> 'why' AS why FROM workflow.journal AS j JOIN workflow.instances AS i ON i.id = j.instance_id
WHERE i.definition_id = 'failing' AND j.event = 'Note' ORDER BY i.correlation_id COLLATE "C";
-- The failure of one person is no reason for another one.
SELECT j.activity, j.data ->> 'notTold' AS not_told FROM workflow.journal AS j JOIN workflow.instances AS i ON i.id = j.instance_id WHERE i.correlation_id = 'two' AND j.event = 'Note';
SELECT wf_set_directory(NULL);

-- A workflow that allows one instance at a time would lose notices.
SET ROLE regress_notify_author;
SELECT wf_define('{"definitionId": "single", "options": {"activationStrategy": "Singleton"}, "root": []}') \g /dev/null
SELECT wf_define('{"definitionId": "one", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["cleo"], "notify": {"workflow": "single"}}}') \g /dev/null
SELECT wf_start('one', correlation_id => 'single') \g /dev/null
RESET ROLE;
SELECT j.data ->> 'notSent' AS not_sent FROM workflow.journal AS j JOIN workflow.instances AS i ON i.id = j.instance_id WHERE i.correlation_id = 'single' AND j.event = 'Note';

-- Workflows that notify people of each other's tasks do not start one another without end.
SET ROLE regress_notify_author;
SELECT wf_define(format('{"definitionId": "%s", "root": {"type": "RunTask", "taskName": "Ask", "candidates": ["cleo"], "notify": {"workflow": "%s"}}}', a, b)::jsonb)
FROM (VALUES ('ping', 'pong'), ('pong', 'ping')) AS t (a, b) \g /dev/null
SELECT wf_define(format('{"definitionId": "%s", "root": [{"type": "Event", "eventName": "%1$s", "canStartWorkflow": true},
    {"type": "RunTask", "taskName": "Ask", "candidates": ["cleo"], "notify": {"event": "%s"}}]}', a, b)::jsonb) FROM (VALUES ('tick', 'tock'), ('tock', 'tick')) AS t (a, b) \g /dev/null
SELECT wf_start('ping') \g /dev/null
SELECT wf_publish_event('tick') \g /dev/null
RESET ROLE;
SELECT count(wf_run_due()) FROM generate_series(1, 30) \g /dev/null
SELECT definition_id, count(*), count(*) FILTER (WHERE sub_status = 'Suspended') AS waiting FROM workflow.instances WHERE definition_id IN ('ping', 'pong', 'tick', 'tock') GROUP BY 1 ORDER BY 1;
SELECT i.definition_id, j.data ->> 'notSent' AS not_sent FROM workflow.journal AS j JOIN workflow.instances AS i ON i.id = j.instance_id
WHERE i.definition_id IN ('ping', 'pong', 'tick', 'tock') AND j.data ? 'notSent' ORDER BY 1;

-- A person whom the task excludes is not notified of it; dora is dan's substitute.
SET ROLE regress_notify_author;
SELECT wf_define('{"definitionId": "others", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["cleo", "dan"], "not": ["starter"], "notify": {"event": "Task"}}}') \g /dev/null
RESET ROLE;
SET workflow.now = '2030-02-07 09:00+00';
SELECT wf_start('others') FROM wf_set_actor('cleo') \g /dev/null
SELECT jsonb_path_query_array(it, '$.people[*].person') AS people FROM last_told;

-- A directory of one session, or without texts; and one that has become VOLATILE.
CREATE FUNCTION pg_temp.here(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE sql AS 'SELECT $1, $1, $1, $1, $1';
CREATE FUNCTION hr.numbers(person text) RETURNS TABLE (name text, mail text, zone integer, language text, manager text) STABLE LANGUAGE sql AS 'SELECT $1, $1, 1, $1, $1';
\set VERBOSITY sqlstate
SELECT wf_set_directory('pg_temp.here(text)');
\set VERBOSITY default
SELECT wf_set_directory('hr.numbers(text)');
SELECT wf_set_directory('hr.small(text)');
ALTER FUNCTION hr.small VOLATILE;
SELECT * FROM wf_check() WHERE problem LIKE 'directory%';
SELECT wf_set_directory(NULL);
