-- wf_erase(actor => …) begins anew in each call: neither a rollback nor another role of the session leaves something out.
SET client_min_messages = warning;
CREATE ROLE regress_pooled_owner;
CREATE ROLE regress_pooled_other;
SELECT wf_grant_usage(r) FROM unnest('{regress_pooled_owner,regress_pooled_other}'::name[]) AS r \g /dev/null
GRANT SET ON PARAMETER workflow.actor TO regress_pooled_other;
SET ROLE regress_pooled_owner;
SELECT wf_define('{"definitionId": "done", "root": {"type": "WriteLine", "text": "x"}}') \g /dev/null
SELECT count(wf_start('done', '{"by": "zelda"}')) FROM generate_series(1, 3);

-- An application repeats its transaction.
BEGIN;
SELECT table_name, erased FROM wf_erase(actor => 'zelda', max => 1);
ROLLBACK;
BEGIN;
SAVEPOINT a;
SELECT table_name, erased FROM wf_erase(actor => 'zelda', max => 1);
ROLLBACK TO a;
SELECT table_name, erased FROM wf_erase(actor => 'zelda', max => 1);
COMMIT;
SELECT DISTINCT input ->> 'by' ~ '^erased-' AS erased FROM workflow.instance_list;

-- Another role in the same session has erased the same name.
RESET ROLE;
SET ROLE regress_pooled_other;
SELECT wf_define('{"definitionId": "other", "root": {"type": "WriteLine", "text": "x"}}') \g /dev/null
RESET ROLE;
SET ROLE regress_pooled_owner;
SELECT count(wf_start('done', '{"by": "zack"}')) FROM generate_series(1, 3);
RESET ROLE;
SET ROLE regress_pooled_other;
SELECT wf_start('other', '{"by": "zack"}') \g /dev/null
SELECT table_name, erased FROM wf_erase(actor => 'zack', pseudonym => 'erased-bob', max => 1);
SELECT wf_start('other', '{"by": "zack"}') \g /dev/null
SELECT table_name, erased FROM wf_erase(actor => 'zack', max => 1);
RESET ROLE;
SET ROLE regress_pooled_owner;
SELECT table_name, erased FROM wf_erase(actor => 'zack');
RESET ROLE;
SELECT definition_id, count(*), count(DISTINCT input ->> 'by') AS names, bool_or(input ->> 'by' = 'zack') AS left
FROM workflow.instances GROUP BY 1 ORDER BY 1;
SELECT count(*) AS shared FROM workflow.instances AS a JOIN workflow.instances AS b USING (input) WHERE a.definition_id = 'done' AND b.definition_id = 'other';
REVOKE SET ON PARAMETER workflow.actor FROM regress_pooled_other;
