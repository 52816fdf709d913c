\set ECHO none
-- For the sessions about child workflows: instances of their own, started by a parent, that report to it when they end.
CREATE FUNCTION pg_temp.lines() RETURNS TABLE (definition text, line text) LANGUAGE sql
BEGIN ATOMIC
    SELECT i.definition_id, j.data #>> '{}' FROM workflow.journal AS j JOIN workflow.instance_list AS i USING (instance_id)
    WHERE event = 'Line' ORDER BY i.instance_id, j.seq, j.number;
END;
CREATE FUNCTION pg_temp.instances() RETURNS TABLE (definition text, sub_status text, correlation_id text, output jsonb, child_of text) LANGUAGE sql
BEGIN ATOMIC
    SELECT i.definition_id, i.sub_status, i.correlation_id, i.output, p.definition_id
    FROM workflow.instance_list AS i LEFT JOIN workflow.instance_list AS p ON p.instance_id = i.parent_instance_id ORDER BY i.instance_id;
END;
CREATE FUNCTION pg_temp.forget() RETURNS bigint LANGUAGE sql
BEGIN ATOMIC
    SELECT count(*) FILTER (WHERE wf_delete_instance(instance_id)) FROM workflow.instance_list;
END;

-- A workflow with an input and an output, and one that asks a person.
SELECT wf_define('{"definitionId": "double", "inputs": [{"name": "n", "type": "Int32"}], "root": [
    {"type": "WriteLine", "text": {"js": "`doubling ${getN()}`"}},
    {"type": "SetOutput", "outputName": "Twice", "outputValue": {"js": "getN() * 2"}}]}');
SELECT wf_define('{"definitionId": "ask", "root": [
    {"type": "RunTask", "taskName": "answer"},
    {"type": "SetOutput", "outputName": "Answer", "outputValue": {"js": "getLastResult()"}}]}');
\set ECHO all
