#!/usr/bin/env python3
"""Each optional entry of a burst is removed in turn. Whatever does not use it stays as it is.

`workflow.without_entry` names an entry of the plan that a burst leaves out (crates/plan/src/entries.rs). Only a build with debug assertions
has this setting, so the test is skipped for the build that is shipped. Each case below runs as it is and once without each entry, in a
transaction that is rolled back. Its rows and messages are compared: an entry must make a difference to the cases that EXPECTED lists, and to
no other. So a call of a phase that does more than its entry says, or that another one relies on, is found.
"""
import difflib
import re
import subprocess
import sys

SETUP = r"""
ALTER DATABASE workflow SET workflow.testing = on;
SET workflow.testing = on;
CREATE FUNCTION rows() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE name text;
BEGIN
    -- What is packed or hashed contains ids.
    FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'workflow'::regnamespace AND (relkind = 'r' OR relname = 'journal')
            AND relname NOT IN ('definitions', 'definition_ids', 'owners', 'schema_2', 'audit_log') ORDER BY 1 LOOP
        RETURN QUERY EXECUTE format('SELECT %1$L || l.line FROM (SELECT regexp_replace(
            (to_jsonb(r) - ''{state,events,hash,hash_key}''::text[])::text, ''[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'', ''#'', ''g'') AS line
            FROM workflow.%1$I AS r) AS l ORDER BY l.line', name);
    END LOOP;
    -- The times of the audit are those of the server's clock.
    RETURN QUERY SELECT format('audit %s %s %s', kind, activity, CASE WHEN bookmark_id IS NOT NULL THEN '#' END) FROM workflow.audit ORDER BY 1;
END $$;
CREATE FUNCTION recur(context jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('bookmarks', jsonb_build_array(jsonb_build_object('dueAt', '2020-01-01T00:00:00+00:00', 'autoBurn', false,
        'callback', 'public.recurs'))) $$;
CREATE FUNCTION recurs(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"complete": false}'::jsonb $$;
CREATE TABLE service (up boolean);
INSERT INTO service VALUES (false);
SELECT wf_register_activity('Acme.Recur', 'recur(jsonb)');
SELECT wf_define(d) FROM jsonb_array_elements($$[
    {"definitionId": "order", "root": [{"type": "Event", "eventName": "Paid"}, {"type": "Event", "eventName": "Sent"}]},
    {"definitionId": "ask", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask"}},
    {"definitionId": "limited", "root": {"type": "RunTask", "taskName": "Limited"}},
    {"definitionId": "mail", "root": {"type": "RunTask", "taskName": "Send", "retry": {"maxAttempts": 1, "delay": "10 s"}}},
    {"definitionId": "race", "root": [{"type": "Fork", "joinMode": "WaitAny", "branches": [{"type": "Event", "eventName": "Go"},
        {"type": "RunTask", "taskName": "Ask"}]}, {"type": "Event", "eventName": "Then"}]},
    {"definitionId": "named", "root": {"type": "Parallel", "activities": [{"type": "RunTask", "taskName": "Ask"},
        [{"type": "Event", "eventName": "Name"}, {"type": "Correlate", "correlationId": "n1"}]]}},
    {"definitionId": "short", "root": {"type": "WriteLine", "text": "short"}},
    {"definitionId": "tells", "root": {"type": "PublishEvent", "eventName": "Paid"}},
    {"definitionId": "parent", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "short", "waitForCompletion": true}},
    {"definitionId": "leaves", "root": {"type": "Try", "body": {"type": "ExecuteWorkflow", "workflowDefinitionId": "order",
        "waitForCompletion": true, "timeout": "1 min"}, "catch": [{"body": {"type": "Event", "eventName": "Wait"}}]}},
    {"definitionId": "meter", "inputs": [{"name": "n", "type": "Int32"}], "root": [{"type": "Event", "eventName": "Tick"},
        {"type": "If", "condition": {"js": "getInput(\"n\") > 0"}, "then": {"type": "ContinueAs", "input": {"js": "({n: 0})"}}}]},
    {"definitionId": "timer", "root": [{"type": "Delay", "timeSpan": "10 min"}, {"type": "Event", "eventName": "Wait"}]},
    {"definitionId": "recur", "root": {"type": "Acme.Recur"}},
    {"definitionId": "fails", "root": [{"type": "Event", "eventName": "Fail"},
        {"type": "If", "condition": {"sql": "SELECT 1 / up::integer = 1 FROM public.service"}}]},
    {"definitionId": "single", "options": {"activationStrategy": "Singleton"}, "root": {"type": "Event", "eventName": "Done"}},
    {"definitionId": "turn", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "Event", "eventName": "Turn"}},
    {"definitionId": "ping", "root": [{"type": "HttpEndpoint", "path": "ping", "canStartWorkflow": true},
        {"type": "WriteHttpResponse", "content": "pong"}]},
    {"definitionId": "later", "root": [{"type": "HttpEndpoint", "path": "later", "canStartWorkflow": true},
        {"type": "Event", "eventName": "Later"}, {"type": "WriteHttpResponse", "content": "later"}]},
    {"definitionId": "quiet", "options": {"journal": {"level": "none"}}, "root": [{"type": "Event", "eventName": "Go"},
        {"type": "Event", "eventName": "Then"}]},
    {"definitionId": "long", "options": {"journal": {"keep": 5}}, "root": {"type": "While", "condition": true,
        "body": {"type": "Event", "eventName": "Round"}}},
    {"definitionId": "inside", "root": {"type": "Parallel", "activities": [{"type": "Event", "eventName": "Inside"},
        [{"type": "Event", "eventName": "Go"}, {"type": "Sql", "statement": "SELECT FROM wf_publish_event('Inside')"}]]}},
    {"definitionId": "raised", "root": {"type": "RunTask", "taskName": "Ask", "candidates": ["ada"], "deadline": "10 min", "onDeadline": "raise", "raiseTo": 5}},
    {"definitionId": "found", "options": {"searchAttributes": {"order": {"input": "order"}}}, "root": {"type": "Event", "eventName": "Found"}}
]$$) AS d;
SELECT wf_limit_tasks('Limited', 1);
"""

# What each case does. A case without an entry of its own is one that no removal may touch.
CASES = {
    "line": "SELECT wf_start('short');",
    "event": "SELECT wf_start('order'); SELECT sub_status FROM workflow.waiting, wf_resume(bookmark_id);",
    "published": "SELECT wf_start('order'); SELECT wf_start('tells');",
    "kept": "SELECT FROM wf_publish_event('Paid', keep_for => '1 day'); SELECT wf_start('order');",
    "task": "SELECT wf_start('ask'); SELECT sub_status FROM workflow.open_tasks, wf_complete_task(task_id);",
    "notified": "SET LOCAL workflow.notify_tasks = on; SELECT wf_start('ask');",
    "limited": "SELECT wf_start('limited');",
    "lease": """SELECT wf_start('mail'); SELECT FROM wf_claim_tasks('{Send}', 'w1', lease => '1 min');
        SET LOCAL workflow.now = '2026-03-01 09:15:00+00'; SELECT wf_run_due();""",
    "race": "SELECT wf_start('race'); SELECT cardinality(resumed) FROM wf_publish_event('Go');",
    "named": "SELECT wf_start('named'); SELECT cardinality(resumed) FROM wf_publish_event('Name');",
    "parent": "SELECT wf_start('parent');",
    "leaves": "SELECT wf_start('leaves'); SET LOCAL workflow.now = '2026-03-01 09:15:00+00'; SELECT wf_run_due();",
    "meter": "SELECT wf_start('meter', input => '{\"n\": 1}'); SELECT cardinality(resumed) FROM wf_publish_event('Tick');",
    "timer": "SELECT wf_start('timer'); SET LOCAL workflow.now = '2026-03-01 09:15:00+00'; SELECT wf_run_due();",
    "recur": "SELECT wf_start('recur'); SELECT wf_run_due(); SELECT wf_run_due();",
    "fails": """SELECT wf_start('fails'); SELECT cardinality(resumed) FROM wf_publish_event('Fail');
        UPDATE service SET up = true; SELECT sub_status FROM workflow.instance_list, wf_retry(instance_id);""",
    "raise": "SELECT wf_start('fails'); SELECT sub_status FROM workflow.waiting, wf_resume(bookmark_id, on_fault => 'raise');",
    "single": "SELECT wf_start('single'); SELECT cardinality(resumed) FROM wf_publish_event('Done'); SELECT wf_start('single');",
    "turn": "SELECT wf_start('turn'); SELECT wf_start('turn'); SELECT cardinality(resumed) FROM wf_publish_event('Turn');",
    "paused": "SELECT wf_start('ask') AS id \\gset\nSELECT wf_pause(:'id'); SELECT wf_cancel(:'id');",
    "scheduled": """SELECT wf_schedule_workflow('minute', '* * * * *', 'order', overlap => 'queue');
        SET LOCAL workflow.now = '2026-03-01 09:01:00+00'; SELECT wf_run_due();
        SET LOCAL workflow.now = '2026-03-01 09:02:00+00'; SELECT wf_run_due();
        SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE definition_id = 'order';""",
    "ping": "SELECT status, body FROM wf_http_request('GET', '/ping');",
    "later": """SELECT status FROM wf_begin_http_request('01a00000-0000-7000-8000-000000000001', 'server', 'GET', '/later');
        SELECT cardinality(resumed) FROM wf_publish_event('Later'); SELECT status, body FROM wf_take_http_responses('server');""",
    "quiet": "SELECT wf_start('quiet'); SELECT sub_status FROM workflow.waiting, wf_resume(bookmark_id);",
    "long": "SELECT wf_start('long'); DO $$ BEGIN FOR i IN 1..20 LOOP PERFORM FROM wf_publish_event('Round'); END LOOP; END $$;",
    "inside": "SELECT wf_start('inside'); SELECT cardinality(resumed) FROM wf_publish_event('Go');",
    "found": "SELECT wf_start('found', input => '{\"order\": 1}');",
    "raised": "SELECT wf_start('raised'); SET LOCAL workflow.now = '2026-03-01 09:15:00+00'; SELECT wf_run_due();",
}

# A notification is sent at the commit; but a transaction that has one cannot be prepared.
ENDINGS = {"notified": "PREPARE TRANSACTION 'notified'; ROLLBACK PREPARED 'notified';"}

# The cases to which an entry makes a difference.
EXPECTED = {
    "Response": ["ping", "later"],
    "Raise": ["raise"],
    "Abandoned": ["leaves"],
    "Subject": ["quiet"],
    "ActivationKey": ["single"],
    "Trim": ["long"],
    "LeaseEnd": ["lease"],
    "EndedBookmarks": ["lease", "race", "leaves", "paused", "scheduled"],
    "Correlation": ["named"],
    "RaisedTasks": ["raised"],
    "TaskEnd": ["task"],
    "Lanes": ["limited"],
    "FiredTimer": ["recur"],
    "Pause": ["paused"],
    "Identity": ["task", "notified", "limited", "race", "named", "paused"],
    "Notify": ["notified"],
    "Incidents": ["lease", "fails"],
    "SearchAttributes": ["found"],
    "Admission": [],
    "WaitingRequest": ["later"],
    "Schedule": ["scheduled"],
    "Successor": ["meter"],
    "Warning": ["lease", "fails"],
    "TimerNotice": ["leaves", "timer", "recur", "raised"],
    "RetryWakeup": [],
    "Queue": ["kept"],
    "Deferred": ["inside"],
    "Report": ["parent"],
    "Sent": ["published", "parent", "leaves"],
}

# They only wake background workers: no row and no message shows that.
WAKEUPS = {"Admission", "RetryWakeup"}


def psql(script, *options):
    command = ["psql", "-X", "-q", "-At", *options]
    return subprocess.run(command, input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def run_all(entries):
    """The output of each case without each entry."""
    script = []
    for case, statements in CASES.items():
        for entry in ["", *entries]:
            # A new session: some messages come once.
            script.append("\\c -\nSET client_min_messages = notice; SET timezone = 'UTC'; SET workflow.now = '2026-03-01 09:00:00+00';")
            script.append(f"\\echo @@ {case} {entry}\nBEGIN; SET LOCAL workflow.without_entry = '{entry}';\n{statements}")
            script.append(f"SELECT rows();\n{ENDINGS.get(case, 'ROLLBACK;')}")
    found = {}
    for part in re.split(r"^@@ ", psql("\n".join(script), "-v", "ON_ERROR_ROLLBACK=on"), flags=re.MULTILINE)[1:]:
        head, _, output = part.partition("\n")
        case, _, entry = head.partition(" ")
        found[case, entry.strip()] = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "#", output)
    return found


def main():
    said = psql(SETUP, "-v", "ON_ERROR_STOP=on")
    if "ERROR" in said:
        sys.exit(said)
    if psql("SHOW workflow.without_entry").startswith("ERROR"):
        print("skipped: this build has no setting to remove an entry")
        sys.exit(75)
    listed = re.search(r"The entries are (.*)\.", psql("SET workflow.without_entry = '?'; SELECT wf_start('short')"))
    entries = listed[1].split(", ")
    found = run_all(entries)
    differs = {entry: [case for case in CASES if found[case, entry] != found[case, ""]] for entry in entries}
    for entry in entries:
        for case in {*differs[entry]} ^ {*EXPECTED.get(entry, [])}:
            print(f"{case} without {entry}:")
            pair = found[case, ""].splitlines(), found[case, entry].splitlines()
            print(*difflib.unified_diff(*pair, lineterm="", n=0), sep="\n")
    if differs != EXPECTED:
        print(*[f"    {entry!r}: {cases!r}," for entry, cases in differs.items()], sep="\n")
        sys.exit(1)
    unseen = {entry for entry, cases in differs.items() if not cases}
    if unseen != WAKEUPS:
        print(f"no case uses {unseen - WAKEUPS}")
        sys.exit(1)


if __name__ == "__main__":
    main()
