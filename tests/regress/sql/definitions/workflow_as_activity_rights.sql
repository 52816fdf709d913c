-- Who may use a workflow of another role as an activity, who passes a new version on, and whose rights its SQL has then.
\i tests/regress/include/workflow_as_activity.sql

SELECT * FROM wf_define('{"definitionId": "atom", "name": "Atom", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true}, "root": {"type": "WriteLine", "text": "atom 1"}}');
SELECT * FROM wf_define('{"definitionId": "atom", "name": "Atom", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true}, "root": {"type": "WriteLine", "text": "atom 2"}}', publish => false);
SELECT wf_publish('atom');

-- Rights. Who uses a workflow needs the right to start it.
\connect - regress_use_other
SELECT * FROM wf_define('{"definitionId": "mine", "root": [{"workflowDefinitionId": "atom"}]}');
\echo :SQLSTATE
\connect - regress_use_author
SELECT wf_grant('atom', 'regress_use_other', '{start}');
\connect - regress_use_other
SELECT * FROM wf_define('{"definitionId": "mine", "root": [{"workflowDefinitionId": "atom"}]}');
-- security.md#workflows-used-as-activities: autoUpdateConsumingWorkflows exchanges it only where the publishing role may manage the consumer
-- What another role's definition uses stays as it is when a new version is published.
\connect - regress_use_author
SELECT * FROM wf_define('{"definitionId": "atom", "name": "Atom", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true}, "root": {"type": "WriteLine", "text": "atom 3"}}');
-- security.md#workflows-used-as-activities: a definer workflow can be used only by workflows of the same owner
-- A workflow with the rights of its owner cannot have them inside a workflow of another.
SELECT * FROM wf_define('{"definitionId": "vault", "options": {"security": "definer"}, "root": {"type": "WriteLine", "text": {"sql": "current_user"}}}');
SELECT * FROM wf_define('{"definitionId": "vault-too", "root": {"workflowDefinitionId": "vault"}}');
SELECT wf_grant('vault', 'regress_use_other', '{start}');
\connect - regress_use_other
SELECT * FROM wf_define('{"definitionId": "theft", "root": {"workflowDefinitionId": "vault"}}');
\echo :SQLSTATE

-- security.md#workflows-used-as-activities: inside another workflow its SQL has the rights of the workflow that uses it
\connect - regress_use_author
SELECT * FROM wf_define('{"definitionId": "who", "outputs": [{"name": "role"}], "root": {"type": "SetOutput", "outputName": "role", "outputValue": {"sql": "current_user"}}}');
SELECT wf_grant('who', 'regress_use_other', '{start}');
\connect - regress_use_other
SELECT * FROM wf_define('{"definitionId": "asks", "options": {"security": "definer"}, "outputs": [{"name": "role"}], "root": {"workflowDefinitionId": "who", "role": {"output": "role"}}}');
SELECT wf_grant('asks', 'regress_use_author', '{start,read}');
\connect - regress_use_author
SELECT output FROM wf_run('asks');
