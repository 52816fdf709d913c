-- C# and Python do not run in the database. What only returns a value is translated; the rest is refused.
\pset null '(null)'
SET client_min_messages = error;
CREATE FUNCTION pg_temp.value(language text, code text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', 'code', 'variables', '{"A": 1.50, "B": "b", "Flag": true, "List": [1, 2]}'::jsonb,
        'outputs', '[{"name": "V"}]'::jsonb, 'root', jsonb_build_object('id', 'v', 'type', 'SetOutput', 'outputName', 'V',
            'outputValue', jsonb_build_object('typeName', 'Object', 'expression', jsonb_build_object('type', language, 'value', code)))));
    result := wf_run('code', '{"city": "Zürich"}', correlation_id => 'corr');
    RETURN result.output -> 'V';
END $$;

SELECT code, pg_temp.value('CSharp', code) FROM unnest(ARRAY[
    'return "Foo";', 'return 1.50m;', 'true', 'return Variables.List;', 'return Variables.A.ToString();',
    'return $"{Variables.A}{Variables.B} {Variables.Flag}";', 'return Input.Get<string>("city");', 'return CorrelationId;',
    'return Variables.List[0];', 'Variables.List.Count', 'return Variables.A >= 1.5 && Variables.B != "a";', 'return !Variables.Flag;']) AS code;
SELECT code, pg_temp.value('Python', code) FROM unnest(ARRAY[
    'return "Foo"', '1.50', 'variables.List', 'str(variables.A)', 'f"{variables.A}{variables.B}"', 'input["city"]',
    'variables.List[1]', 'variables.B is not None and not variables.A < 1']) AS code;

-- security.md#what-an-input-can-do: C# and Python are translated or refused when the definition is read
-- Other code: the place, the reason, the alternatives.
SELECT * FROM wf_validate('{"definitionId": "x", "variables": {"A": 1}, "root": [
    {"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "CSharp", "value": "return Variables.A + 1;"}}},
    {"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "Python", "value": "import os"}}},
    {"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "CSharp", "value": "return Variables.Nobody;"}}},
    {"type": "RunCSharp", "script": "Outcome.Set(\"Approved\");"}]}');

-- RunCSharp and RunPython give what their script returns. The text is kept for Elsa.
SELECT definition_id FROM wf_define('{"definitionId": "run-code", "variables": {"A": 1, "R": null}, "outputs": [{"name": "R"}], "root": [
    {"id": "cs", "type": "RunCSharp", "script": "return $\"a is {Variables.A}\";", "result": {"var": "R"}},
    {"type": "SetOutput", "outputName": "R", "outputValue": {"var": "R"}},
    {"id": "py", "type": "RunPython", "script": "return variables.A"}]}');
SELECT output FROM wf_run('run-code');
SELECT wf_export('run-code') #> '{root,activities,0,script}' AS script;
SELECT * FROM wf_check();
