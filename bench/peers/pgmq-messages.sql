SELECT pgmq.send('bench', '{"by": "Ada"}'::jsonb);
SELECT msg_id AS id FROM pgmq.read('bench', 60, 1) \gset
SELECT pgmq.archive('bench', :id::bigint);
