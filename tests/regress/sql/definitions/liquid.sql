-- {"liquid": "…"} is a Liquid template with Elsa's names and filters; the value is its text, converted to the wanted type.
\pset null '(null)'
CREATE FUNCTION pg_temp.liquid(template text, input jsonb DEFAULT '{}', type text DEFAULT 'Object') RETURNS TABLE (value jsonb, incident text) LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', 'liquid', 'name', 'Templates',
        'variables', '{"Name": "Ada", "Total": 12345678901234567890.10, "Lines": [{"Sku": "a", "Count": 2}, {"Sku": "b", "Count": 1}]}'::jsonb,
        'outputs', jsonb_build_array(jsonb_build_object('name', 'V', 'type', type)), 'root', jsonb_build_array(
            jsonb_build_object('id', 'v', 'type', 'SetOutput', 'outputName', 'V', 'outputValue', jsonb_build_object('liquid', template)))));
    result := wf_run('liquid', input, correlation_id => 'corr', name => 'inst', instance_id => '01900000-0000-7000-8000-000000000001');
    PERFORM wf_delete_instance(result.instance_id);
    RETURN QUERY SELECT result.output -> 'V', (result.incidents -> 0 ->> 'sqlstate') || ' ' || (result.incidents -> 0 ->> 'message');
END $$;
SET client_min_messages = error;

-- What Elsa's templates see, members in any letter case. What is not there is empty. Decimals keep their digits.
SELECT * FROM pg_temp.liquid('Hello {{ Variables.Name }} of {{ Input.city }}!', '{"city": "Zürich"}');
SELECT * FROM pg_temp.liquid('{{ variables.name }} {{ Variables.Lines[1].sku }} {{ Variables.Total }}[{{ Variables.Nobody }}]');
SELECT * FROM pg_temp.liquid('{{ CorrelationId }} {{ WorkflowInstanceId }} {{ WorkflowInstanceName }} {{ WorkflowDefinitionId }}');

-- Tags and filters.
SELECT * FROM pg_temp.liquid('{% for line in Variables.Lines %}{{ forloop.index }}. {{ line.Sku | upcase }} x {{ line.Count }}{% unless forloop.last %}, {% endunless %}{% endfor %}');
SELECT * FROM pg_temp.liquid('{% if Input.amount > 100 %}large{% else %}small{% endif %}', '{"amount": 250}');
SELECT * FROM pg_temp.liquid('{% assign n = Variables.Name | append: "!" %}{% capture c %}<{{ n }}>{% endcapture %}{{ c | escape }}');
SELECT * FROM pg_temp.liquid('{{ Variables.Lines | json }} {{ Variables.Lines[0] | keys | join: "," }} {{ "hi" | base64 }}');

-- now is the burst's, like everything else that is time.
SET workflow.now = '2026-11-21 01:23:45+00';
SELECT * FROM pg_temp.liquid('{{ "now" | date: "%d.%m.%Y %H:%M" }}');
RESET workflow.now;

-- The text is converted.
SELECT * FROM pg_temp.liquid('{{ Variables.Lines.size | plus: 40 }}', type => 'Int32');
SELECT * FROM pg_temp.liquid('{{ Variables.Total }}', type => 'Decimal');
SELECT * FROM pg_temp.liquid('{{ Variables.Name }}', type => 'Int32');

-- What goes wrong is an incident of the activity.
SELECT * FROM pg_temp.liquid('{{ 1 | divided_by: 0 }}');

-- security.md#what-an-input-can-do: a template counts its steps and sizes
-- A template that never ends is stopped, and so is one that wants all memory.
SET workflow.javascript_timeout = '200ms';
SELECT * FROM pg_temp.liquid('{% for i in (1..9000000000000) %}{% endfor %}');
RESET workflow.javascript_timeout;
SET workflow.javascript_memory = '1MB';
SELECT * FROM pg_temp.liquid('{% assign s = "aaaaaaaaaaaaaaaa" %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}');
RESET workflow.javascript_memory;

-- It answers to a cancel.
\set SHOW_CONTEXT never
SET statement_timeout = '200ms';
SELECT * FROM pg_temp.liquid('{% for i in (1..9000000000000) %}{% endfor %}');
\echo :SQLSTATE
\set SHOW_CONTEXT errors
RESET statement_timeout;

-- A template that is none is a problem of the definition, with its place.
SELECT * FROM wf_validate('{"definitionId": "x", "root": [
    {"type": "WriteLine", "text": {"liquid": "a\n{{ Variables.X | nothing }}"}},
    {"type": "WriteLine", "text": {"liquid": "{% if a %}"}},
    {"type": "WriteLine", "text": {"liquid": "{% include \"other\" %}"}},
    {"type": "WriteLine", "text": {"liquid": 5}}]}');

-- Elsa's form, and back.
SELECT definition_id, version FROM wf_define('{"definitionId": "elsa-liquid", "root": {"id": "w", "type": "Elsa.WriteLine", "version": 1,
    "text": {"typeName": "String", "expression": {"type": "Liquid", "value": "order {{ Input.id }}"}}}}');
SELECT wf_export('elsa-liquid') #> '{root,text}' AS text;
SELECT * FROM wf_check();
