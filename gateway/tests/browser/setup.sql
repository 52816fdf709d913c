-- What the scenarios find: a definition of ada's that was made by SQL, which ben may read and start, and not change.
-- The roles are those of gateway/tests/api/support.rs, which may have made them.
SELECT format('CREATE ROLE %I LOGIN %s PASSWORD %L', name, attribute, password)
  FROM (VALUES ('workflow_gateway', 'NOINHERIT', 'gateway'), ('ada', '', 'lovelace'), ('ben', '', 'franklin')) AS wanted (name, attribute, password)
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
GRANT ada, ben TO workflow_gateway;
SELECT wf_grant_usage('ada'), wf_grant_usage('ben');
SET ROLE ada;
SELECT wf_define('{"id": "greeting", "name": "Greeting", "root": {"type": "Elsa.Flowchart", "id": "flow",
    "activities": [
        {"type": "Elsa.WriteLine", "id": "hello", "text": "Hello", "metadata": {"designer": {"position": {"x": 0, "y": 0}}}},
        {"type": "Elsa.RunTask", "id": "ask", "taskName": "Ask", "metadata": {"designer": {"position": {"x": 250, "y": 0}}}},
        {"type": "Elsa.WriteLine", "id": "bye", "text": "Bye", "metadata": {"designer": {"position": {"x": 500, "y": 0}}}}],
    "connections": [{"source": "hello", "target": "ask"}, {"source": "ask", "target": "bye"}]}}');
SELECT wf_grant('greeting', 'ben', '{start,read}');
