-- Declared inputs are checked when a workflow starts; a definition that declares none accepts any.
SELECT * FROM wf_define('{"definitionId": "order",
    "inputs": [
        {"name": "Number", "type": "Int32", "required": true, "schema": {"minimum": 1}},
        {"name": "Customer", "type": "String", "default": "nobody"},
        {"name": "Lines", "type": "List", "schema": {"minItems": 1, "items": {"$ref": "#/$defs/line"}, "$defs": {"line": {
            "type": "object", "required": ["sku"],
            "properties": {"sku": {"pattern": "^[A-Z]{2}-[0-9]+$"}, "quantity": {"type": "integer", "minimum": 1}}}}}}],
    "outputs": [{"name": "Label", "type": "String", "schema": {"maxLength": 20}}],
    "root": {"type": "SetOutput", "outputName": "Label", "outputValue": {"js": "`${getNumber()} for ${getCustomer()}`"}}}');

-- What is given is converted to its type; what is not given has its default.
SELECT output FROM wf_run('order', '{"Number": "7"}');
SELECT output FROM wf_run('order', '{"Number": 8, "Customer": "Ada", "Lines": [{"sku": "AB-1", "quantity": 2}]}');
SELECT input FROM workflow.instances ORDER BY id;

-- Errors name the input. Null is as good as not given.
SELECT wf_start('order');
SELECT wf_start('order', '{"Number": null}');
SELECT wf_start('order', '{"Number": "seven"}');
SELECT wf_start('order', '{"Number": 0}');
SELECT wf_start('order', '{"Number": 1, "Custmer": "Ada"}');
SELECT wf_start('order', '{"Number": 1, "remark": "urgent"}');
SELECT wf_start('order', '{"Number": 1, "Lines": "AB-1"}');

-- Violations of a schema are listed with their places.
SELECT wf_start('order', '{"Number": 1, "Lines": []}');
SELECT wf_start('order', '{"Number": 1, "Lines": [{"sku": "AB-1"}, {"sku": "ab", "quantity": 0}, {"quantity": 1.5}]}');
SELECT count(*) FROM workflow.instances;

-- An output is converted and checked when it is set. One that is not declared is set as it is.
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('order', '{"Number": 1, "Customer": "a rather long-winded customer"}');
SELECT * FROM wf_define('{"definitionId": "outputs", "outputs": [{"name": "Count", "type": "Int32"}], "root": [
    {"type": "SetOutput", "outputName": "Count", "outputValue": "3"}, {"type": "SetOutput", "outputName": "Other", "outputValue": "3"}]}');
SELECT output FROM wf_run('outputs');

-- A schema of the whole input sees defaults.
SELECT * FROM wf_define('{"definitionId": "span", "inputs": [{"name": "From", "type": "Int32", "default": 0}, {"name": "To", "type": "Int32"}],
    "inputSchema": {"dependentRequired": {"From": ["To"]}}, "root": []}');
SELECT wf_start('span');
SELECT sub_status FROM wf_run('span', '{"To": 1}');
SELECT wf_export('span') -> 'inputSchema' AS exported;

-- Who sends an event does not know whom it starts: it may bring more than is declared. What does not fit starts nothing.
SELECT * FROM wf_define('{"definitionId": "paid", "inputs": [{"name": "order", "type": "Int32", "required": true}], "root": [
    {"id": "paid", "type": "Event", "eventName": "Paid", "canStartWorkflow": true}, {"type": "WriteLine", "text": {"input": "order"}}]}');
SELECT array_length(started, 1) AS started FROM wf_publish_event('Paid', '{"order": "4711", "by": "card"}');
SELECT array_length(started, 1) AS started FROM wf_publish_event('Paid', '{"by": "card"}');
SELECT activity, data FROM workflow.journal WHERE event = 'Start refused';
-- By name, the same is an error; what the engine itself gives to a run is never unknown.
SELECT wf_start('paid', '{"order": 1, "by": "card"}');
SELECT sub_status FROM wf_run('paid', '{"order": 1, "ScheduledAt": "2030-01-01T00:00:00Z"}', trigger_activity_id => 'paid');
-- A schedule that could start nothing is refused at once.
SELECT wf_schedule_workflow('nightly', '0 0 * * *', 'paid', '{"odrer": 1}');

-- A definition is refused if its schema is wrong, leads out of the document, or has no end.
SELECT * FROM wf_validate('{"definitionId": "x", "root": [], "inputSchema": {"$ref": "#"}, "inputs": [
    {"name": "A", "schema": {"properties": {"b": {"type": "strin"}}}},
    {"name": "B", "schema": {"$ref": "https://example.org/b.json"}},
    {"name": "C", "schema": {"pattern": "^(?=a)b"}},
    {"name": "D", "type": "Int32", "default": 3, "schema": {"minimum": 5}},
    {"name": "E", "required": "yes"},
    {"name": "F", "defualt": 1}]}');
-- A pattern that would take for ever elsewhere takes a moment, and what is too much is said to be.
SELECT * FROM wf_define('{"definitionId": "hostile", "inputs": [
    {"name": "Text", "schema": {"pattern": "^(a+)+$"}},
    {"name": "Tree", "schema": {"properties": {"next": {"$ref": "#"}}}}], "root": []}');
\set VERBOSITY terse
SELECT wf_start('hostile', jsonb_build_object('Text', repeat('a', 50000) || 'b'));
SELECT wf_start('hostile', jsonb_build_object('Tree', (repeat('{"next":', 500) || '1' || repeat('}', 500))::jsonb));
