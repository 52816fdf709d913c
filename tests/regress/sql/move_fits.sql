-- What comes from another node has its place here, also beyond a limit, and no path that is another owner's.
SET client_min_messages = error;
CREATE ROLE regress_fits_ada;
CREATE ROLE regress_fits_bob;
SELECT wf_grant_usage('regress_fits_ada');
SELECT wf_grant_usage('regress_fits_bob');
SELECT wf_define('{"definitionId": "single", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "Event", "eventName": "On"}}') \g /dev/null
SELECT wf_start('single', correlation_id => 'first') IS NOT NULL AS is_started;
CREATE TABLE bundle AS SELECT piece FROM wf_export_instances('{first}', remove => true) AS piece;
SELECT wf_start('single', correlation_id => 'second') IS NOT NULL AS is_started;
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
SELECT count(*) AS places_taken FROM workflow.admissions WHERE instance_id IS NOT NULL;
-- Both run; a third one waits until both have ended.
SELECT wf_start('single', correlation_id => 'third') IS NOT NULL AS is_started;
SELECT cardinality(resumed) FROM wf_publish_event('On', correlation_id => 'second');
SELECT wf_run_due();
SELECT correlation_id, sub_status, (SELECT string_agg(b.name, ' ') FROM workflow.bookmarks AS b WHERE b.instance_id = i.id) AS waits_for FROM workflow.instances AS i ORDER BY 1;
SELECT cardinality(resumed) FROM wf_publish_event('On', correlation_id => 'first');
SELECT wf_run_due();
SELECT correlation_id, sub_status, (SELECT string_agg(b.name, ' ') FROM workflow.bookmarks AS b WHERE b.instance_id = i.id) AS waits_for FROM workflow.instances AS i ORDER BY 1;

-- An endpoint at which an instance waits.
SET ROLE regress_fits_ada;
SELECT wf_define('{"definitionId": "page", "root": [{"type": "Event", "eventName": "On"}, {"type": "HttpEndpoint", "path": "shared/page"}]}') \g /dev/null
SELECT wf_start('page', correlation_id => 'page') IS NOT NULL AS is_started;
SELECT cardinality(resumed) FROM wf_publish_event('On', correlation_id => 'page');
RESET ROLE;
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{page}', remove => true);
SELECT segment, (SELECT name FROM workflow.owners AS o WHERE o.id = p.owner) AS owner FROM workflow.paths AS p;
SELECT wf_grant_path('shared', 'regress_fits_bob');
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
SELECT count(*) FROM workflow.instances WHERE correlation_id = 'page';
SELECT wf_grant_path('shared', 'regress_fits_ada');
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
SELECT * FROM wf_check();

-- Instances that are large in memory are looked at one by one.
SELECT wf_define('{"definitionId": "large", "inputs": [{"name": "Rows"}], "root": {"type": "Event", "eventName": "On"}}') \g /dev/null
SELECT count(wf_start('large', jsonb_build_object('Rows', (SELECT jsonb_agg('{"a": 1}'::jsonb) FROM generate_series(1, 20000))), correlation_id => 'large')) FROM generate_series(1, 8);
TRUNCATE bundle;
INSERT INTO bundle SELECT wf_export_instances('{large}', remove => true);
SET workflow.memory_limit = '64MB';
SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle));
