-- wf_activities() says of each type where a designer lists it, what it is and which ways lead out of it.
SELECT type, version, category, display_name, kind, flags FROM wf_activities() ORDER BY type COLLATE "C";
SELECT type, string_agg(format('%s (%s)', p.port ->> 'name', p.port ->> 'type'), ', ' ORDER BY p.n) AS ports
FROM wf_activities(), jsonb_array_elements(ports) WITH ORDINALITY AS p (port, n)
GROUP BY type HAVING count(*) > 1 ORDER BY type COLLATE "C";
SELECT type FROM wf_activities() WHERE ports = '[]' ORDER BY type COLLATE "C";

-- A registered type, with and without outcomes of its own.
CREATE FUNCTION public.act(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Acme.Plain', 'public.act(jsonb)');
SELECT wf_register_activity('Acme.Choice', 'public.act(jsonb)', kind => 'trigger', outcomes => '{Yes,No}');
SELECT wf_register_activity('Acme.Silent', 'public.act(jsonb)', outcomes => '{}');
SELECT type, version, category, display_name, kind, ports, flags FROM wf_activities() WHERE type LIKE 'Acme.%' ORDER BY type;

-- A workflow that is usable as an activity: of its version, in its category.
SELECT wf_define('{"definitionId": "add", "name": "Add numbers", "outcomes": ["Large"], "options": {"usableAsActivity": true}, "root": []}');
SELECT wf_define('{"definitionId": "add", "name": "Add numbers", "outcomes": ["Large"], "options": {"usableAsActivity": true, "activityCategory": "Sums"}, "root": []}');
SELECT type, version, category, display_name, kind, ports FROM wf_activities() WHERE category = 'Sums';
-- Without a category, and with outcomes that are no texts.
SELECT wf_define('{"definitionId": "odd", "name": "Odd", "outcomes": ["Large", null, 3], "options": {"usableAsActivity": true, "activityCategory": ""}, "root": []}', allow_unknown => true);
SELECT type, category, outcomes, ports FROM wf_activities() WHERE type = 'Odd';

-- What a designer needs to show an input.
SELECT i ->> 'uiHint' AS hint, i ->> 'isWrapped' AS wrapped, i ->> 'language' AS language, i -> 'options' AS options, string_agg(replace(type, 'Elsa.', '') || '.' || (i ->> 'name'), ' ' ORDER BY type COLLATE "C", i ->> 'name') AS inputs
FROM wf_activities(), jsonb_array_elements(inputs) AS i WHERE category <> 'Custom' AND category <> 'Sums' GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;
SELECT type, string_agg(i ->> 'name', ' ' ORDER BY (i ->> 'order')::integer) AS inputs FROM wf_activities(), jsonb_array_elements(inputs) AS i WHERE type IN ('Elsa.SetVariable', 'Elsa.Switch') GROUP BY 1 ORDER BY 1;
SELECT wf_register_activity('Acme.Told', 'public.act(jsonb)', inputs => '["plain", {"name": "flag", "type": "Boolean"}, {"name": "long", "type": "String", "uiHint": "multiline"}]');
SELECT i FROM wf_activities(), jsonb_array_elements(inputs) AS i WHERE type = 'Acme.Told';
-- A version that another definition uses is listed beside the published one, and is not offered for new activities.
SELECT wf_define('{"definitionId": "sum", "root": {"type": "AddNumbers"}}');
SELECT wf_define('{"definitionId": "add", "name": "Add numbers", "inputs": [{"name": "A", "type": "Int32"}], "options": {"usableAsActivity": true}, "root": []}');
SELECT version, inputs, flags -> 'isBrowsable' AS browsable, flags ->> 'definitionId' AS definition FROM wf_activities() WHERE type = 'AddNumbers' ORDER BY version;
-- The digest changes when the list does, and only then.
SELECT wf_activities_digest() AS digest \gset
SELECT wf_define('{"definitionId": "other", "root": []}');
SELECT wf_activities_digest() = :'digest' AS same;
SELECT wf_register_activity('Acme.More', 'public.act(jsonb)');
SELECT wf_activities_digest() = :'digest' AS same;
