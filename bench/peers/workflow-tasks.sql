SELECT coalesce(jsonb_agg(jsonb_build_object('taskId', task_id, 'token', token)), '[]') AS answers FROM wf_claim_tasks('{job}', max => 10) \gset
SELECT count(*) FROM wf_complete_tasks(:answers::jsonb);
