-- Arguments that signatures have for a later version do nothing yet, and say so.
\set VERBOSITY verbose
SET client_min_messages = warning;
SELECT wf_define('{"definitionId": "ask", "root": [{"type": "RunTask", "taskName": "Ask"}]}') \g /dev/null
SELECT wf_start('ask') AS id \gset
SELECT wf_cancel(:'id', force => true);
SELECT wf_delete_instance(:'id', force => true);
SELECT wf_cancel(:'id', force => NULL);
SELECT sub_status FROM workflow.instance_list;

-- Without them the calls are what they were.
SELECT wf_cancel(:'id', force => false);
SELECT wf_delete_instance(:'id', force => false);
