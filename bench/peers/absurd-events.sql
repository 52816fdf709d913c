\set n :n + 1
SELECT absurd.emit_event('bench', 'go-' || :n, '{"by": "Ada"}');
SELECT run_id AS run, task_id AS task FROM absurd.claim_task('bench', 'worker', 60, 1) \gset
SELECT payload FROM absurd.await_event('bench', :task::uuid, :run::uuid, '$awaitEvent', 'go-' || :n);
SELECT absurd.complete_run('bench', :run::uuid, 'null');
