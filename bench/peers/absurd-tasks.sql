SELECT coalesce(array_agg(run_id), '{}') AS runs FROM absurd.claim_task('bench', 'worker', 60, 10) \gset
SELECT count(absurd.complete_run('bench', run, 'null')) FROM unnest(:runs::uuid[]) AS run;
