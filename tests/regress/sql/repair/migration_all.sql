-- Many instances are moved in the order of their ids, a batch in each call; one's problem stops no other.
SELECT wf_define('{"definitionId": "order", "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "pay", "type": "Event", "eventName": "Paid"}, {"id": "check", "type": "RunTask", "taskName": "check"}, {"id": "end", "type": "WriteLine", "text": "done"}]}}');
SELECT count(wf_start('order', correlation_id => n::text)) FROM generate_series(1, 10) AS n;
SELECT cardinality(resumed) FROM wf_publish_event('Paid', correlation_id => '3');
SELECT cardinality(resumed) FROM wf_publish_event('Paid', correlation_id => '7');
SELECT count(wf_cancel(instance_id)) FROM workflow.instance_list WHERE correlation_id = '9';
-- The new version checks nothing.
SELECT wf_define('{"definitionId": "order", "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "pay", "type": "Event", "eventName": "Paid"}, {"id": "end", "type": "WriteLine", "text": "done"}, {"id": "thank", "type": "WriteLine", "text": "thank you"}]}}');
CREATE TABLE migrated (n int GENERATED ALWAYS AS IDENTITY, instance_id uuid, outcome text, problems text[]);
-- A dry run gives the same rows, and changes nothing.
SELECT i.correlation_id, m.outcome, m.problems FROM wf_migrate_all('order', dry_run => true) AS m JOIN workflow.instance_list AS i USING (instance_id) ORDER BY m.instance_id;
SELECT version, count(*) FROM workflow.instance_list WHERE definition_id = 'order' GROUP BY 1;
-- Batches of four.
DO $$
DECLARE last uuid;
BEGIN
    LOOP
        INSERT INTO migrated (instance_id, outcome, problems)
        SELECT * FROM wf_migrate_all('order', max => 4, after => last);
        EXIT WHEN NOT FOUND;
        SELECT m.instance_id INTO last FROM migrated AS m ORDER BY n DESC LIMIT 1;
    END LOOP;
END $$;
SELECT i.correlation_id, m.outcome, i.version FROM migrated AS m JOIN workflow.instance_list AS i USING (instance_id) ORDER BY m.n;
-- Once more: instances that were moved are unchanged, refused ones are refused. With a mapping its step is given up.
SELECT outcome, count(*) FROM wf_migrate_all('order') GROUP BY 1 ORDER BY 1;
SELECT outcome, problems, count(*) FROM wf_migrate_all('order', from_version => 1, mapping => '{"check": null}') GROUP BY 1, 2;
SELECT version, sub_status, count(*) FROM workflow.instance_list WHERE definition_id = 'order' GROUP BY 1, 2 ORDER BY 1, 2;
-- Back to version 1, one of them by its version.
SELECT outcome, count(*) FROM wf_migrate_all('order', 2, 1) GROUP BY 1;
SELECT count(*) FROM wf_migrate_all('order', 2, 1);
-- The instance goes on in the version that it is in now.
SELECT cardinality(resumed) FROM wf_publish_event('Paid', correlation_id => '1');
SELECT activity_id FROM workflow.open_tasks;
-- The new version has fewer activities than the old one, and what is open there is given up.
SELECT wf_define('{"definitionId": "short", "root": {"id": "main", "type": "Sequence", "activities": [{"id": "a", "type": "Event", "eventName": "A"}, {"id": "b", "type": "RunTask", "taskName": "B"}]}}');
SELECT count(wf_start('short')) FROM generate_series(1, 2);
SELECT wf_define('{"definitionId": "short", "root": {"id": "main", "type": "Sequence", "activities": []}}');
SELECT outcome, problems FROM wf_migrate_all('short', mapping => '{"a": null}');
SELECT version, sub_status FROM workflow.instance_list WHERE definition_id = 'short';
-- A version that an instance was moved to cannot be deleted while it runs; the other one can.
\set VERBOSITY default
SELECT wf_delete_definition('order', 2);
SELECT wf_delete_definition('order', 1);
DROP TABLE migrated;
