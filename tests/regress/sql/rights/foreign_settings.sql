-- What a session sets decides nothing in instances of other roles, and what such instances set stays out of the session.
\pset null '(null)'
SET client_min_messages = warning;
CREATE ROLE regress_set_deploy LOGIN;
CREATE ROLE regress_set_sender LOGIN;
SELECT wf_grant_usage(role) FROM unnest('{regress_set_deploy, regress_set_sender}'::name[]) AS role;
\connect - regress_set_deploy
SELECT wf_define('{"definitionId": "script", "variables": {"n": null}, "options": {"retry": {"maxAttempts": 2, "delay": "1 h"}}, "root": [
    {"id": "wait", "type": "Event", "eventName": "Go"},
    {"id": "much", "type": "SetVariable", "variable": "n", "value": {"js": "new Array(300000).fill(7).length"}},
    {"id": "fail", "type": "Fault", "message": "not yet"}]}');
SELECT wf_define('{"definitionId": "shows", "options": {"security": "definer"}, "outputs": [{"name": "Shown"}], "root": [
    {"id": "show", "type": "SqlSingleValue", "result": {"output": "Shown"}, "command": "SELECT concat_ws('' | '', ''2026-03-01 12:00+00''::timestamptz, ''1 day 2 h''::interval, ''\\x00ff''::bytea, ''01/02/2026''::date, 0.1::float8 + 0.2::float8, current_setting(''row_security''), current_setting(''workflow.retry''))"}]}');
SELECT wf_define('{"definitionId": "work", "root": [{"type": "RunTask", "taskName": "Work", "retry": {"maxAttempts": 2, "delay": "0 s"}}]}');
SELECT wf_define('{"definitionId": "leased", "root": [{"type": "RunTask", "taskName": "Leased"}]}');
SELECT count(wf_start(id)) FROM unnest('{work,leased}'::text[]) AS id;
SELECT wf_grant(id, 'regress_set_sender', '{start,resume,read}') FROM unnest('{script,shows,work,leased}'::text[]) AS id;
SELECT wf_start('script') AS script \gset
SELECT output FROM wf_run('shows');

-- security.md#settings-of-a-session: neither limits nor the formats of PostgreSQL, by SET, by ALTER ROLE or by the client
\connect - regress_set_sender
SELECT output AS usual FROM wf_run('shows') \gset
SET workflow.javascript_memory = '1MB';
SET workflow.retry = off;
SET timezone = 'Asia/Tokyo';
SET datestyle = 'German, DMY';
SET intervalstyle = 'iso_8601';
SET bytea_output = 'escape';
SET extra_float_digits = -10;
SET row_security = off;
SELECT output = :'usual' AS is_usual FROM wf_run('shows');
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go', instance_id => :'script');
SELECT sub_status, incident_count, variables FROM workflow.instance_list WHERE instance_id = :'script';
-- Nor does a worker's session decide which attempt is the last one.
SET workflow.max_leases = 1;
SELECT wf_accept_tasks('regress_set_deploy');
SELECT task_id, token FROM wf_claim_tasks('{Work}') \gset
SELECT wf_fail_task(:'task_id', :'token', 'no');
SELECT attempt FROM wf_claim_tasks('{Leased}');
SELECT count(*) FROM workflow.waiting WHERE waits_for = 'Workflow.Lease';
-- They hold in the session as before.
SELECT current_setting('workflow.retry') AS retry, current_setting('timezone') AS timezone, '01/02/2026'::date AS date, '1 day 2 h'::interval AS interval;
\connect - postgres
ALTER ROLE regress_set_sender SET timezone = 'Asia/Tokyo';
ALTER ROLE regress_set_sender SET datestyle = 'German, DMY';
\connect - regress_set_sender
SELECT current_setting('timezone') AS timezone, current_setting('datestyle') AS datestyle;
SELECT output = :'usual' AS is_usual FROM wf_run('shows');
-- Those of the database do: they are the same for everybody.
\connect - postgres
SELECT format('ALTER DATABASE %I SET intervalstyle = ''iso_8601''', current_database()) \gexec
\connect - regress_set_sender
SELECT output FROM wf_run('shows');
\connect - postgres
SELECT format('ALTER DATABASE %I RESET intervalstyle', current_database()) \gexec

-- In an instance of one's own, one's own settings hold.
\connect - regress_set_sender
SELECT wf_define('{"definitionId": "own", "outputs": [{"name": "Shown"}], "root": [
    {"id": "show", "type": "SqlSingleValue", "result": {"output": "Shown"}, "command": "SELECT current_setting(''timezone'')"}]}');
SELECT output FROM wf_run('own');

-- security.md#settings-of-a-session: a command that wf_run_due runs leaves neither a role nor a setting
\connect - postgres
SET client_min_messages = warning;
SELECT wf_schedule('leak', '1 year', 'SET ROLE pg_read_all_data; SET search_path = pg_catalog; SET timezone = ''Asia/Tokyo''') IS NOT NULL AS scheduled;
SELECT wf_schedule_run_now('leak') IS NOT NULL AS is_due;
SELECT wf_run_due();
SELECT last_status, last_error FROM workflow.schedules WHERE name = 'leak';
SELECT current_user, current_setting('role') AS role, current_setting('search_path') AS search_path, current_setting('timezone') = 'Asia/Tokyo' AS is_tokyo;
SELECT wf_define('{"definitionId": "timer", "root": [{"type": "Delay", "timeSpan": "01:00:00"}, {"type": "Sql", "statement": "SET ROLE pg_read_all_data"}]}');
SELECT wf_start('timer') IS NOT NULL AS started;
SET workflow.now = '2090-01-01 08:00+00';
SELECT wf_run_due();
RESET workflow.now;
SELECT current_user, current_setting('role') AS role;
SELECT * FROM wf_check();
