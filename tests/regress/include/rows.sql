\set ECHO none
-- A workflow that asks for forty notes, each a task: for the sessions about the rows that the engine writes without plans of SQL.
SELECT wf_define('{"definitionId": "claim", "variables": {"Notes": [], "Note": null, "Report": null}, "root": [
    {"type": "SetVariable", "variable": "Report", "value": {"input": "report"}},
    {"type": "While", "condition": true, "body": [
        {"id": "note", "type": "RunTask", "taskName": "Note", "result": {"var": "Note"}},
        {"type": "SetVariable", "variable": "Notes", "value": {"js": "getNotes().concat([getNote()])"}},
        {"type": "If", "condition": {"js": "getNotes().length >= 40"}, "then": {"type": "Finish"}}]}]}') \g /dev/null
\set ECHO all
