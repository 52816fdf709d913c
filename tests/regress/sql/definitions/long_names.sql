-- Texts of users that are parts of index entries have a length, and one that is longer is refused wherever it comes in.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SET client_min_messages = warning;
-- A text that does not compress: an index holds long texts compressed.
CREATE FUNCTION pg_temp.text_of(bytes integer) RETURNS text LANGUAGE sql AS $$
    SELECT left(string_agg(md5(i::text), ''), bytes) FROM generate_series(1, 100) AS i
$$;
SELECT pg_temp.text_of(1000) AS longest, pg_temp.text_of(1001) AS too_long, pg_temp.text_of(501) AS long_type \gset

-- Correlation ids.
SELECT wf_define('{"definitionId": "wait", "root": {"id": "Wait", "type": "Event", "eventName": "E"}}');
SELECT wf_start('wait', correlation_id => :'longest') IS NOT NULL AS started;
SELECT wf_start('wait', correlation_id => :'too_long');
SELECT wf_publish_event('E', correlation_id => :'too_long', keep_for => '1 hour');
SELECT wf_send_stimulus('Acme.Any', correlation_id => :'too_long');
SELECT wf_enqueue_bookmark('Event', '{"EventName": "E"}', correlation_id => :'too_long');
SELECT wf_schedule_workflow('s', '1 hour', 'wait', correlation_id => :'too_long');
SELECT wf_call(:'too_long', 'm', 'event', 'E');
SELECT wf_call('k', :'too_long', 'event', 'E');
SELECT wf_define('{"definitionId": "correlate", "inputs": [{"name": "id"}], "root": {"type": "Correlate", "correlationId": {"input": "id"}}}');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate FROM wf_run('correlate', jsonb_build_object('id', :'too_long'));
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('E', correlation_id => :'longest');

-- Names and ids.
SELECT wf_define(jsonb_build_object('definitionId', :'too_long', 'root', '[]'::jsonb));
SELECT wf_save_draft(jsonb_build_object('definitionId', :'too_long', 'root', '[]'::jsonb));
SELECT path, left(message, 60) AS message FROM wf_validate(jsonb_build_object('definitionId', :'too_long', 'root', '[]'::jsonb));
SELECT wf_define(jsonb_build_object('definitionId', 'ids', 'root', jsonb_build_object('type', 'Sequence', 'id', :'too_long')));
SELECT wf_define(jsonb_build_object('definitionId', 'ids', 'root', jsonb_build_object('type', 'Sequence', 'id', :'longest', 'activities',
    jsonb_build_array(jsonb_build_object('type', 'Event', 'id', 'e' || :'long_type', 'eventName', 'E', 'canStartWorkflow', true)))));
SELECT wf_define(jsonb_build_object('definitionId', 'task', 'root', jsonb_build_object('type', 'RunTask', 'taskName', :'too_long')));
SELECT wf_define(jsonb_build_object('definitionId', 'type', 'name', :'long_type', 'options', '{"usableAsActivity": true}'::jsonb, 'root', '[]'::jsonb));
SELECT wf_schedule(:'too_long', '1 hour', 'SELECT 1');
SELECT wf_send_stimulus(:'too_long');
SELECT wf_limit_tasks(:'too_long', 1);
CREATE ROLE regress_long_worker;
SELECT wf_grant_worker('regress_long_worker', ARRAY[:'too_long']);
CREATE FUNCTION handler(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('bookmarks', jsonb_build_array(jsonb_build_object('name', context -> 'inputs' ->> 'bookmark'))) $$;
SELECT wf_register_activity('Acme.' || :'long_type', 'handler(jsonb)'::regprocedure);
SELECT wf_register_activity('Acme.Wait', 'handler(jsonb)'::regprocedure);
SELECT wf_define('{"definitionId": "named", "inputs": [{"name": "name"}], "root": {"type": "Acme.Wait", "bookmark": {"input": "name"}}}');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate FROM wf_run('named', jsonb_build_object('name', :'too_long'));

-- A version number that is the highest leaves none for a next version.
SELECT wf_define('{"definitionId": "last", "version": 2147483647, "root": []}');
SELECT wf_define('{"definitionId": "last", "root": [{"type": "WriteLine", "text": "x"}]}');
