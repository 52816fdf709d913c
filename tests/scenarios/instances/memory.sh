#!/usr/bin/env bash
# What a call may read and hold, on a server whose sessions get little more memory from the operating system: all input is read or rejected,
# and no session ends because of it, least of all another one.
#
# Covered: every place where text, bytes or a datum becomes a value of the engine (docs/security.md lists them) has a line below, read at
# its limit, at twice and at a hundred times its limit, in many small pieces and in one large one.
# Long: `make test` leaves it to `make test-all`.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# restart_within MEGABYTES: restarts the server with this limit on the address space of each process.
restart_within() {
    stop_server
    (
        ulimit -v "$(($1 * 1024))"
        start_server
    )
}

# A session that has used everything once: its memory is where the limit begins.
query "SELECT wf_define('{\"definitionId\": \"warm\", \"root\": [
    {\"type\": \"SetOutput\", \"outputName\": \"a\", \"outputValue\": {\"js\": \"[1].length\"}},
    {\"type\": \"SetOutput\", \"outputName\": \"b\", \"outputValue\": {\"liquid\": \"{{ CorrelationId }}\"}},
    {\"type\": \"SetOutput\", \"outputName\": \"c\", \"outputValue\": {\"sql\": \"1\"}}]}')" >/dev/null
stop_server
start_server
peak=$(query "SELECT sub_status FROM wf_run('warm'); SELECT substring(pg_read_file('/proc/self/status', 0, 10000) FROM 'VmPeak:\s*(\d+)')::int / 1024 + 1" |
    tail -n 1)
echo "a warm session has $peak MB of addresses"

# watch: another, idle session, which would end if the server restarted.
watch() {
    rm -f "$WORKFLOW_TMP/bystander"
    mkfifo "$WORKFLOW_TMP/bystander"
    PGAPPNAME=bystander psql -X -q -f "$WORKFLOW_TMP/bystander" >"$WORKFLOW_TMP/bystander.out" 2>&1 &
    exec 7>"$WORKFLOW_TMP/bystander"
    echo "SELECT 'here';" >&7
    await 1 "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bystander'"
    bystander=$(query "SELECT pid FROM pg_stat_activity WHERE application_name = 'bystander'")
}

# still_there: it is, and no process died of a signal.
still_there() {
    is "$bystander" "SELECT pid FROM pg_stat_activity WHERE application_name = 'bystander'"
    if grep -n 'terminated by signal\|memory allocation of' "$PGHOST/log"; then fail "a process died"; fi
}

endpoint='SELECT wf_define($${"definitionId": "endpoint", "variables": {"V": null}, "root": [
    {"type": "HttpEndpoint", "path": "in", "supportedMethods": ["POST"], "canStartWorkflow": true, "parsedContent": {"var": "V"}}]}$$)'

# A cheap call needs little memory: a script returns a value of 1 MB.
query "SELECT wf_define('{\"definitionId\": \"long\", \"root\": {\"type\": \"SetOutput\", \"outputName\": \"a\", \"outputValue\": {\"js\": \"\\\"x\\\".repeat(1 << 20)\"}}}')" >/dev/null
restart_within $((peak + 128))
is "Finished|1048576" "SELECT sub_status, length(output ->> 'a') FROM wf_run('long')"

# security.md#memory: a call asks before it takes; no session ends for another one's call
# With default settings: a body of 40 MB whose values would take two gigabytes, and one within the limits.
restart_within $((peak + 512 + 256))
watch
query "$endpoint" >/dev/null
is 413 "SELECT status FROM wf_http_request('POST', '/in', '{\"Content-Type\": \"application/json\"}', '{}',
    convert_to('[' || repeat('1,', 20000000) || '1]', 'UTF8'))"
is 413 "SELECT status FROM wf_http_request('POST', '/in', '{\"Content-Type\": \"application/json\"}', '{}',
    convert_to('[' || repeat('1,', 4000000) || '1]', 'UTF8'))"
is 200 "SELECT status FROM wf_http_request('POST', '/in', '{\"Content-Type\": \"application/json\"}', '{}',
    convert_to('[' || repeat('1,', 900000) || '1]', 'UTF8'))"
still_there

# The largest values allowed, of the kind with the most overhead for their text: objects with one member each, in definitions. Parsing and
# compiling them either fails at the limit or has enough memory.
psql -X -q -At -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/largest" 2>&1 <<'SQL' || fail "$(tail -n 5 "$WORKFLOW_TMP/largest")"
SET client_min_messages = error;
CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    given text;
BEGIN
    EXECUTE statement INTO given;
    RETURN coalesce(given, '00000');
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
CREATE TABLE large AS SELECT jsonb_agg('{"type": "End"}'::jsonb) AS v FROM generate_series(1, 320000);
INSERT INTO large SELECT jsonb_agg(jsonb_build_object('type', 'Unknown' || n)) FROM generate_series(1, 320000) AS n;
SELECT 'validate', outcome(format('SELECT NULL FROM (SELECT count(*) FROM large, wf_validate(jsonb_build_object(''definitionId'', ''large'', ''root'', v)) WHERE v @> ''[{"type": "%s"}]'') AS v', type))
FROM (VALUES ('End'), ('Unknown1')) AS t (type);
SELECT 'define', outcome($$ SELECT NULL FROM large, wf_define(jsonb_build_object('definitionId', 'large', 'root', v)) WHERE v @> '[{"type": "End"}]' $$);
SQL
cat "$WORKFLOW_TMP/largest"
! grep '|' "$WORKFLOW_TMP/largest" | grep -v '|00000$\||53200$\||54000$' || fail "the largest values"
still_there

# security.md#memory: a copy is made within the limit, or ends the call
# As an input it is copied whole by each sort of expression, and more than once: a copy is made within the limit, or ends
# the call. A second call begins with what the first left of the addresses.
psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/copied" 2>&1 <<'SQL' || fail "$(tail -n 5 "$WORKFLOW_TMP/copied")"
SET client_min_messages = error;
CREATE TABLE given AS SELECT jsonb_agg('{"a": 1}'::jsonb) AS v FROM generate_series(1, 320000);
-- A definition that takes the values of its input v into so many variables.
CREATE FUNCTION takes(id text, number int, expression jsonb, first jsonb = '[]') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', id,
        'variables', (SELECT jsonb_object_agg('V' || n, null) FROM generate_series(0, number) AS n),
        'root', first || (SELECT jsonb_agg(jsonb_build_object('type', 'SetVariable', 'variable', 'V' || n, 'value', expression)) FROM generate_series(1, number) AS n)));
END $$;
SELECT takes('input', 4, '{"input": "v"}'),
    takes('variable', 4, '{"var": "V0"}', '[{"type": "SetVariable", "variable": "V0", "value": {"input": "v"}}]'),
    takes('object', 2, '{"object": [{"input": "v"}, {"input": "v"}]}'),
    takes('plain-js', 4, '{"js": "getInput(''v'')"}'),
    takes('js', 4, '{"js": "[getInput(''v'')][0]"}'),
    takes('js-reads', 4, '{"js": "getInput(''v'').length"}'),
    takes('liquid', 4, '{"liquid": "{{ Input.v | size }}"}'),
    takes('liquid-text', 4, '{"liquid": "{{ Input.v | json }}"}'),
    takes('sql', 4, '{"sql": "(SELECT input -> ''v'')"}'),
    takes('sql-reads', 4, '{"sql": "(SELECT jsonb_array_length(input -> ''v''))"}'),
    takes('sql-variables', 4, '{"sql": "(SELECT variables -> ''V0'')"}', '[{"type": "SetVariable", "variable": "V0", "value": {"input": "v"}}]');
-- Definitions that do one thing with it several times.
CREATE FUNCTION repeats(id text, activity jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT NULL FROM wf_define(jsonb_build_object('definitionId', id, 'variables', '{"V": null}'::jsonb, 'root', (SELECT jsonb_agg(activity) FROM generate_series(1, 4)))) $$;
SELECT wf_define('{"definitionId": "echo", "root": {"type": "SetOutput", "outputName": "v", "outputValue": {"input": "v"}}}'),
    repeats('child', '{"type": "ExecuteWorkflow", "workflowDefinitionId": "echo", "input": {"object": {"v": {"input": "v"}}}, "result": {"var": "V"}}'),
    repeats('publish', '{"type": "PublishEvent", "eventName": "nobody", "payload": {"object": {"v": {"input": "v"}}}}'),
    repeats('parameter-json', '{"type": "Sql", "statement": "SELECT pg_catalog.json_array_length($1::pg_catalog.json)", "parameters": [{"input": "v"}]}'),
    repeats('parameter-array', '{"type": "Sql", "statement": "SELECT pg_catalog.cardinality($1::text[])", "parameters": [{"input": "v"}]}');
SQL
# repeated WAYS NUMBER: one session runs these statements one after another, this many times; each run ends as expected.
repeated() {
    local outcomes
    outcomes=$(PGOPTIONS="-c client_min_messages=error" query "SELECT way, outcome(format('SELECT incidents -> 0 ->> ''sqlstate'' FROM given, wf_run(%L, jsonb_build_object(''v'', v))', way))
        FROM generate_series(1, $2) AS n, unnest('{$1}'::text[]) WITH ORDINALITY AS t (way, place) ORDER BY n, place" 2>&1) || true
    echo "$outcomes"
    ! grep -v '|00000$\||53200$\||54000$' <<<"$outcomes" || fail "copies by $1"
    still_there
}

ways=input,variable,object,plain-js,js,js-reads,liquid,liquid-text,sql,sql-reads,sql-variables,child,publish,parameter-json,parameter-array
for way in ${ways//,/ }; do repeated "$way" 2; done
repeated "$ways" 2
repeated input,plain-js,js,liquid,sql 2

# A smaller value fits.
query "UPDATE given SET v = jsonb_path_query_array(v, '\$[0 to 29999]')"
for way in ${ways//,/ }; do is 00000 "SELECT outcome(format('SELECT incidents -> 0 ->> ''sqlstate'' FROM given, wf_run(%L, jsonb_build_object(''v'', v))', '$way'))"; done
still_there

# The rest with small limits: 64 kB for a body, twice as much text in any other value, 5000 values, 32 MB in total.
exec 7>&-
restart_within $((peak + 32 + 256))
watch
setting "workflow.max_request_size = '64kB'" "workflow.max_nodes = 5000" "workflow.memory_limit = '32MB'" "workflow.max_definition_size = '128kB'"
await '32MB|5000' "SELECT current_setting('workflow.memory_limit'), current_setting('workflow.max_nodes')"

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/out" <<'SQL' || fail "$(tail -n 20 "$WORKFLOW_TMP/out")"
SET client_min_messages = error;
CREATE TABLE outcomes (entry text, size int, kind text, outcome text);
CREATE FUNCTION give(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('outputs', jsonb_build_object('V', $1 -> 'inputs' -> 'v')) $$;
CREATE FUNCTION many(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('outputs', jsonb_build_object('V', current_setting('t.v')::jsonb)) $$;
CREATE FUNCTION payloads(jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ SELECT current_setting('t.v')::jsonb $$;
SELECT wf_register_activity('Give', 'give(jsonb)'), wf_register_activity('Many', 'many(jsonb)'), wf_register_activity('Offer', 'give(jsonb)', 'trigger', 'payloads(jsonb)');
-- What does one thing with the input v.
CREATE FUNCTION does(id text, activity jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', id, 'variables', '{"V": null, "W": null}'::jsonb, 'root', activity));
END $$;
SELECT does('nothing', '[]'),
    does('task', '[{"type": "RunTask", "taskName": "t"}]'),
    does('event', '[{"type": "Event", "eventName": "e"}]'),
    does('hear', '[{"type": "Event", "eventName": "h", "canStartWorkflow": true, "result": {"var": "V"}}]'),
    does('sql', '{"type": "SetVariable", "variable": "V", "value": {"sql": "(SELECT pg_catalog.current_setting(''t.v'')::jsonb)"}}'),
    does('sql-text', '{"type": "SetVariable", "variable": "V", "value": {"sql": "(SELECT pg_catalog.current_setting(''t.v''))"}}'),
    does('sql-rows', '{"type": "Sql", "statement": "SELECT jsonb_array_elements(CASE jsonb_typeof(s) WHEN ''array'' THEN public.third(s) ELSE jsonb_build_array(s) END) AS v FROM pg_catalog.to_jsonb(pg_catalog.current_setting(''t.v'')::jsonb) AS s", "result": {"var": "V"}}'),
    does('sql-query', '{"type": "SqlQuery", "query": "SELECT pg_catalog.current_setting(''t.v'')::jsonb AS v", "results": {"var": "V"}}'),
    does('handler', '{"type": "Many"}'),
    does('js', '{"type": "SetVariable", "variable": "V", "value": {"js": "const n = getInput(''n''); getInput(''kind'') === ''text'' ? ''x''.repeat(n) : Array(n - 1).fill(1)"}}'),
    does('js-set', '{"type": "WriteLine", "text": {"js": "const n = getInput(''n''); setVariable(''V'', getInput(''kind'') === ''text'' ? ''x''.repeat(n) : Array(n - 1).fill(1)); 1"}}'),
    does('js-shared', '{"type": "SetVariable", "variable": "V", "value": {"js": "const n = getInput(''n''); let a = getInput(''kind'') === ''text'' ? ''x''.repeat(n / 100 - 1) : Array(n / 100 - 1).fill(1); Array(99).fill(a)"}}'),
    does('liquid', '{"type": "SetVariable", "variable": "V", "value": {"liquid": "{% for i in (1..Input.n) %}x{% endfor %}"}}'),
    does('object', '{"type": "SetVariable", "variable": "V", "value": {"object": {"a": {"input": "v"}, "b": [{"input": "v"}, {"input": "v"}]}}}'),
    does('publish', '{"type": "PublishEvent", "eventName": "nobody", "payload": {"object": [{"input": "v"}, {"input": "v"}, {"input": "v"}]}}');
SELECT wf_define('{"definitionId": "parse", "variables": [{"name": "T", "type": "JsonArray"}], "root": {"type": "SetVariable", "variable": "T",
    "value": {"js": "const n = getInput(''n''); getInput(''kind'') === ''text'' ? ''[\"'' + ''x''.repeat(n - 4) + ''\"]'' : ''['' + ''1,''.repeat(n - 2) + ''1]''"}}}');
SELECT wf_define('{"definitionId": "endpoint", "variables": {"V": null}, "root": [
    {"type": "HttpEndpoint", "path": "in", "supportedMethods": ["POST"], "canStartWorkflow": true, "parsedContent": {"var": "V"}, "files": {"var": "V"}}]}');

-- What a statement gives: 00000, what it was refused with, or the incident that it left.
CREATE FUNCTION outcome(entry text, v jsonb, n int, kind text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    given text;
BEGIN
    EXECUTE entry INTO given USING v, n, kind;
    RETURN coalesce(given, '00000');
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
CREATE FUNCTION run(id text, v jsonb, n int, kind text) RETURNS text LANGUAGE sql AS
    $$ SELECT incidents -> 0 ->> 'sqlstate' FROM wf_run(id, jsonb_build_object('n', n, 'kind', kind) || coalesce(jsonb_build_object('v', v), '{}')) $$;
CREATE FUNCTION http(type text, body text, path text = '/in', headers jsonb = '{}', query jsonb = '{}') RETURNS text LANGUAGE sql AS $$
    SELECT nullif(status, 200)::text FROM wf_http_request('POST', path, headers || jsonb_build_object('Content-Type', type), query, convert_to(body, 'UTF8')) $$;
-- What is put into a value three times, and so may have a third of the size only.
CREATE FUNCTION third(v jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT CASE jsonb_typeof(v) WHEN 'array' THEN jsonb_path_query_array(v, ('$[0 to ' || greatest(jsonb_array_length(v) / 3 - 10, 0) || ']')::jsonpath)
        ELSE to_jsonb(left(v #>> '{}', length(v #>> '{}') / 3)) END $$;
-- A packed journal of so many events that have nothing but their kind: five bytes each.
CREATE FUNCTION events(n int) RETURNS bytea LANGUAGE sql AS $$
    SELECT decode('02' || lpad(to_hex(n & 127 | 128), 2, '0') || lpad(to_hex(n >> 7 & 127 | 128), 2, '0') || lpad(to_hex(n >> 14), 2, '0') || repeat('0000000000', n), 'hex') $$;
-- A form of many fields, or of one large one.
CREATE FUNCTION form(n int, kind text) RETURNS text LANGUAGE sql AS $$ SELECT CASE kind WHEN 'text' THEN 'a=' || repeat('x', n - 2) ELSE repeat('a&', n / 2 - 1) || 'a' END $$;

-- $1: a value, $2: how many nodes or bytes it has, $3: which of both. Bodies of requests may have half as much text.
CREATE TABLE entries (name text, halved boolean, statement text, kinds text[] DEFAULT '{nodes,text,digits}');
INSERT INTO entries (name, halved, statement) VALUES
    ('wf_define', false, $$ SELECT NULL FROM wf_define(jsonb_build_object('definitionId', 'd', 'root', '[]'::jsonb, 'customProperties', $1)) $$),
    ('wf_validate', false, $$ SELECT NULL FROM (SELECT count(*) FROM wf_validate(jsonb_build_object('definitionId', 'd', 'root', '[]'::jsonb, 'customProperties', $1))) AS v $$),
    ('wf_start', false, $$ SELECT NULL FROM (SELECT wf_start('nothing', jsonb_build_object('v', $1))) AS v $$),
    ('wf_start name', true, $$ SELECT NULL FROM (SELECT wf_start('nothing', name => left($1::text, $2))) AS v $$),
    ('wf_run', false, $$ SELECT run('nothing', $1, 1, '') $$),
    ('wf_resume', false, $$ SELECT e.incidents -> 0 ->> 'sqlstate' FROM wf_run('event') AS r, wf_resume((r.bookmarks -> 0 ->> 'id')::uuid, $1) AS e $$),
    ('wf_complete_task', false, $$ SELECT c.incidents -> 0 ->> 'sqlstate' FROM wf_run('task') AS r, wf_complete_task((r.bookmarks -> 0 ->> 'id')::uuid, $1) AS c $$),
    ('wf_enqueue_bookmark', false, $$ SELECT NULL FROM wf_enqueue_bookmark('none', $1, keep_for => '1 minute') $$),
    ('wf_enqueue_bookmark input', false, $$ SELECT NULL FROM wf_enqueue_bookmark('none', input => $1, keep_for => '1 minute') $$),
    ('wf_send_stimulus', false, $$ SELECT NULL FROM wf_send_stimulus('none', $1, $1) $$),
    ('wf_publish_event', false, $$ SELECT NULL FROM wf_publish_event('h', $1) $$),
    ('wf_cancel', true, $$ SELECT NULL FROM (SELECT wf_cancel(wf_start('event'), left($1::text, $2))) AS v $$),
    ('wf_schedule_workflow', false, $$ SELECT NULL FROM (SELECT wf_schedule_workflow('s', '1 hour', 'nothing', jsonb_build_object('v', $1))) AS v $$),
    ('wf_schedule', true, $$ SELECT NULL FROM (SELECT wf_schedule('c', '1 hour', 'SELECT ' || quote_literal(left($1::text, $2)))) AS v $$),
    ('wf_register_activity', false, $$ SELECT NULL FROM (SELECT wf_register_activity('Large', 'give(jsonb)', inputs => jsonb_build_array(jsonb_build_object('name', 'i', 'description', $1)))) AS v $$),
    ('wf_register_activity outcomes', false, $$ SELECT NULL FROM (SELECT wf_register_activity('Large', 'give(jsonb)', outcomes => ARRAY(SELECT 'x' || n FROM generate_series(1, $2) AS n))) AS v $$),
    ('json', true, $$ SELECT http('application/json', $1::text) $$),
    ('form', true, $$ SELECT http('application/x-www-form-urlencoded', form($2, $3)) $$),
    ('multipart', true, $$ SELECT http('multipart/form-data; boundary=b', E'--b\r\nContent-Disposition: form-data; name="a"; filename="f"\r\n\r\n' || left($1::text, $2) || E'\r\n--b--\r\n') $$),
    ('text body', true, $$ SELECT http('text/plain', left($1::text, $2)) $$),
    ('file body', true, $$ SELECT http('image/png', left($1::text, $2)) $$),
    ('query', true, $$ SELECT http('text/plain', 'x', '/in?' || form($2, $3)) $$),
    ('path', true, $$ SELECT NULLIF(status, 404) FROM wf_http_request('POST', CASE $3 WHEN 'text' THEN '/' || left($1::text, $2) ELSE repeat('/a', $2 / 2 - 1) END) $$),
    ('headers', false, $$ SELECT http('text/plain', 'x', headers => jsonb_build_object('X', $1)) $$),
    ('query argument', false, $$ SELECT http('text/plain', 'x', query => jsonb_build_object('X', $1)) $$),
    ('_events', false, $$ SELECT NULL FROM (SELECT jsonb_array_length(workflow._events(gen_random_uuid(), events($2))) AS n) AS v WHERE n > 0 $$),
    ('sql', false, $$ SELECT run('sql', NULL, 1, '') $$),
    ('sql-text', true, $$ SELECT run('sql-text', NULL, 1, '') $$),
    ('sql-rows', false, $$ SELECT run('sql-rows', NULL, 1, '') $$),
    ('sql-query', false, $$ SELECT run('sql-query', NULL, 1, '') $$),
    ('handler', false, $$ SELECT run('handler', NULL, 1, '') $$),
    ('payloads', false, $$ SELECT NULL FROM wf_define('{"definitionId": "offers", "root": [{"type": "Offer", "canStartWorkflow": true}]}'), wf_refresh('offers') $$),
    ('js', false, $$ SELECT run('js', NULL, $2, $3) $$),
    ('js-set', false, $$ SELECT run('js-set', NULL, $2, $3) $$),
    ('js-shared', false, $$ SELECT run('js-shared', NULL, $2, $3) $$),
    ('parse', false, $$ SELECT run('parse', NULL, $2, $3) $$),
    ('liquid', false, $$ SELECT run('liquid', NULL, $2, $3) WHERE $3 = 'text' $$),
    ('object', false, $$ SELECT run('object', third($1), 1, '') $$),
    ('publish', false, $$ SELECT run('publish', third($1), 1, '') $$);
UPDATE entries SET kinds = '{nodes,text}' WHERE statement !~ '\$1|sql|handler|payloads' OR name IN ('json', 'path', 'object', 'publish');
UPDATE entries SET kinds = '{text}' WHERE name IN ('wf_start name', 'wf_cancel', 'wf_schedule', 'multipart', 'text body', 'file body', 'sql-text', 'liquid');
UPDATE entries SET kinds = '{nodes}' WHERE name IN ('wf_register_activity outcomes', '_events');
SQL

# Values at a limit, twice and a hundred times it. Each is made by a session of its own, and read by that session.
for factor in 1 2 100; do
    for kind in nodes text digits; do
        psql -X -q -v ON_ERROR_STOP=1 -v factor="$factor" -v kind="$kind" >>"$WORKFLOW_TMP/out" 2>&1 <<'SQL' || fail "$(tail -n 5 "$WORKFLOW_TMP/out")"
SET client_min_messages = error;
SELECT CASE :'kind' WHEN 'nodes' THEN 4900 ELSE 128 * 1024 - 200 END * :factor AS n \gset
-- A numeric is short where its text is long: 1e120000 takes some ten bytes.
SELECT CASE :'kind' WHEN 'nodes' THEN jsonb_build_array() || (SELECT jsonb_agg(1) FROM generate_series(1, :n - 10))
    WHEN 'text' THEN to_jsonb(repeat('x', :n))
    ELSE (SELECT jsonb_agg(1e120000::numeric) FROM generate_series(1, :factor)) END AS v \gset
SELECT set_config('t.v', :'v', false) IS NULL AS set \gset
INSERT INTO outcomes SELECT name, :factor, :'kind',
    outcome(statement, CASE WHEN halved AND :'kind' = 'text' THEN to_jsonb(repeat('x', :n / 2)) ELSE :'v'::jsonb END,
        CASE WHEN halved AND :'kind' = 'text' THEN :n / 2 ELSE :n END, :'kind')
FROM entries WHERE :'kind' = ANY (kinds);
SQL
        still_there
    done
done

# security.md#memory: each line of the table: what is beyond its bound is refused with its SQLSTATE
# Values within the limits are read, values far beyond are not, and each refusal has the right message.
query "SELECT entry, kind, string_agg(outcome, ' ' ORDER BY size) FROM outcomes GROUP BY 1, 2 ORDER BY 1, 2"
is '' "SELECT * FROM outcomes WHERE outcome NOT IN ('00000', '54000', '53200', '413', '414')"
is '' "SELECT * FROM outcomes WHERE size = 1 AND outcome <> '00000'"
is '' "SELECT * FROM outcomes WHERE size = 100 AND outcome = '00000'"

# A burst that fills its memory fails the call with nothing stored: no incident, no instance.
psql -X -q -At -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/filled" 2>&1 <<'SQL' || fail "$(tail -n 3 "$WORKFLOW_TMP/filled")"
SET client_min_messages = error;
SELECT count(wf_define(jsonb_build_object('definitionId', 'fills', 'variables', (SELECT jsonb_object_agg('V' || n, null) FROM generate_series(1, 400) AS n),
    'root', (SELECT jsonb_agg(jsonb_build_object('type', 'SetVariable', 'variable', 'V' || n, 'value', '{"js": "`x`.repeat(100000)"}'::jsonb)) FROM generate_series(1, 400) AS n))));
SELECT 'fills ' || outcome($$ SELECT run('fills', NULL, 1, '') $$, NULL, 1, '');
SELECT 'kept ' || count(*) FROM workflow.instance_list WHERE definition_id = 'fills';
SQL
[ "$(grep -v '^1$' "$WORKFLOW_TMP/filled" | tr '\n' ' ')" = "fills 53200 kept 0 " ] || fail "a full burst: $(cat "$WORKFLOW_TMP/filled")"
still_there

# security.md#memory: what was stored is read again whatever the bounds are by then
# An instance that grows until no more fits is as it was before the call that was refused, and can be loaded. What it holds
# takes six times as much when it is packed.
psql -X -q -At >"$WORKFLOW_TMP/grown" 2>&1 <<'SQL'
\set VERBOSITY sqlstate
SET client_min_messages = error;
SELECT count(wf_define(jsonb_build_object('definitionId', 'grows', 'root', jsonb_build_object('type', 'Sequence',
    'variables', '{"E": null}'::jsonb || (SELECT jsonb_object_agg('V' || n, null) FROM generate_series(1, 200) AS n),
    'activities', '[{"type": "While", "condition": true, "body": [{"type": "Event", "eventName": "more", "result": {"var": "E"}},
        {"type": "If", "condition": {"js": "getE().n > 0"}, "then": {"type": "WriteLine", "text": {"js": "for (let i = 0; i < 5; i++) setVariable(`V${getE().n * 5 - i}`, \"\\u0001\".repeat(100000)); 1"}}}]}]'::jsonb))));
SELECT wf_start('grows') AS instance \gset
SELECT format('SELECT cardinality(resumed) FROM wf_publish_event(''more'', ''{"n": %s}'', instance_id => %L)', n, :'instance') FROM generate_series(1, 20) AS n \gexec
SELECT 'faults ' || count(*) FROM workflow.open_incidents WHERE instance_id = :'instance';
SELECT 'goes on ' || cardinality(resumed) FROM wf_publish_event('more', '{"n": 0}', instance_id => :'instance');
SELECT 'explained ' || (count(*) > 10) FROM wf_explain(:'instance');
SELECT 'drawn ' || (length(wf_svg(instance => :'instance')) > 0);
-- However small the bounds are by now.
SET workflow.max_nodes = 100;
SET workflow.max_request_size = '1kB';
SELECT 'goes on ' || cardinality(resumed) FROM wf_publish_event('more', '{"n": 0}', instance_id => :'instance');
SELECT 'cancelled ' || wf_cancel(:'instance');
SQL
refused=$(grep -c '^ERROR:  53200$' "$WORKFLOW_TMP/grown") || fail "it grew without end"
echo "$((20 - refused)) times five values fit, $refused times they did not"
[ "$refused" -lt 16 ] || fail "hardly a value fits"
[ "$(grep -v '^1$\|^ERROR:  53200$' "$WORKFLOW_TMP/grown" | tr '\n' ' ')" = "faults 0 goes on 1 explained true drawn true goes on 1 cancelled true " ] ||
    fail "an instance that has grown: $(grep -v '^1$' "$WORKFLOW_TMP/grown" | sort | uniq -c)"
still_there

# security.md#memory: a call asks for large pieces, and ends with 53200 where the operating system refuses them
# Without limits of its own a call still asks the operating system for large pieces before it needs them.
psql -X -q -At >"$WORKFLOW_TMP/unbounded" 2>&1 <<'SQL'
\set VERBOSITY sqlstate
SET client_min_messages = error;
SET workflow.memory_limit = '1TB';
SET workflow.max_request_size = '512MB';
SET workflow.max_nodes = 1000000000;
SELECT status FROM wf_http_request('POST', '/in', '{"Content-Type": "application/json"}', '{}', convert_to('[' || repeat('1,', 10000000) || '1]', 'UTF8'));
SQL
[ "$(cat "$WORKFLOW_TMP/unbounded")" = "ERROR:  53200" ] || fail "memory that the operating system refuses: $(cat "$WORKFLOW_TMP/unbounded")"
still_there
exec 7>&-
