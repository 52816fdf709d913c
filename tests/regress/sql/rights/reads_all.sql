-- security.md#owners-and-grants: members of pg_read_all_data see, and may do no more
-- Calls show a member of pg_read_all_data what the views show it, and let it do no more than that.
CREATE ROLE reads_all IN ROLE pg_read_all_data;
CREATE ROLE reads_nothing;
SELECT wf_grant_usage('reads_all'), wf_grant_usage('reads_nothing');
SELECT wf_define('{"definitionId": "seen", "root": [{"id": "wait", "type": "Event", "eventName": "Never"}]}');
SELECT wf_start('seen') AS instance \gset
SET ROLE reads_nothing;
SELECT count(*) FROM wf_explain(:'instance');
SET ROLE reads_all;
SELECT count(*) FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT count(*) > 0 AS explained FROM wf_explain(:'instance');
SELECT wf_diagram('seen') IS NOT NULL AS drawn;
SELECT wf_cancel(:'instance');
SELECT wf_start('seen');

RESET ROLE;
TRUNCATE workflow.instances, workflow.bookmarks, workflow.definitions;
SELECT wf_revoke_usage('reads_all'), wf_revoke_usage('reads_nothing');
DROP ROLE reads_all, reads_nothing;
