-- What a migration does with deadlines: an armed one keeps its span, one that the new version does not have ends.

CREATE FUNCTION pg_temp.define(timeouts jsonb, run text) RETURNS text LANGUAGE sql AS $$
    SELECT wf_define(jsonb_build_object('definitionId', 'ask', 'options', jsonb_build_object('timeout', run),
        'root', jsonb_build_array('{"id": "ask", "type": "RunTask", "taskName": "ask"}'::jsonb || timeouts)))::text $$;

SELECT pg_temp.define('{"timeout": "2 hours", "startTimeout": "1 hour"}', '1 day');
SELECT wf_start('ask') AS i \gset
SELECT wf_start('ask') AS j \gset
SELECT name FROM workflow.open_bookmarks WHERE instance_id = :'i' ORDER BY 1;

-- The dry run says the same as the migration.
SELECT pg_temp.define('{}', NULL);
SELECT * FROM wf_migrate(:'i', dry_run => true);
SELECT * FROM wf_migrate(:'i');
SELECT name FROM workflow.open_bookmarks WHERE instance_id = :'i' ORDER BY 1;

-- The task can still be answered.
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'i';

-- Other spans: the armed ones stay. Bounds that only the new version has are not armed.
SELECT pg_temp.define('{"timeout": "3 hours", "startTimeout": "30 minutes"}', NULL);
SELECT * FROM wf_migrate(:'j', dry_run => true);
SELECT wf_migrate(:'j') IS NOT NULL AS warned;
SELECT pg_temp.define('{"timeout": "3 hours"}', '1 week');
SELECT * FROM wf_migrate(:'j');
SELECT name FROM workflow.open_bookmarks WHERE instance_id = :'j' ORDER BY 1;
