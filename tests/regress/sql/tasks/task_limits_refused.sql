-- Limits of tasks that are refused.
SELECT wf_limit_tasks(NULL, 1);
SELECT wf_limit_tasks('', 1);
SELECT wf_limit_tasks('Send mail', 1, key => '');
SELECT wf_limit_tasks('Send mail', 0);
SELECT wf_limit_tasks('Send mail', 10001);
SELECT wf_limit_tasks('Send mail', rate => -1);
SELECT wf_limit_tasks('Send mail', rate => 1, per => NULL);
SELECT wf_limit_tasks('Send mail', rate => 1, per => '-1 s');
SELECT wf_limit_tasks('Send mail', rate => 1, per => '1000 years');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT wf_limit_tasks('Send mail', 1);
ROLLBACK;
