-- A type that was unknown stayed unknown to sessions that had compiled it. It is known as soon as it is registered.
\pset null '(null)'
CREATE FUNCTION recurs(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"complete": false}'::jsonb $$;

SELECT count(*) AS versions FROM wf_define('{"definitionId": "unknown yet", "root": {"type": "Acme.Yet"}}', allow_unknown => true);
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate FROM wf_run('unknown yet', instance_id => '01900000-0000-7000-8000-0000000000c1');
SELECT wf_register_activity('Acme.Yet', 'recurs(jsonb)');
CREATE OR REPLACE FUNCTION recurs(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT sub_status FROM wf_retry('01900000-0000-7000-8000-0000000000c1');
