SELECT wf_start('job', '{"by": "Ada"}');
SELECT task_id AS task, token FROM wf_claim_tasks('{job}') \gset
SELECT wf_complete_task(:task::uuid, token => :token::uuid);
