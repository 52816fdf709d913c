SELECT coalesce(array_agg(msg_id), '{}') AS ids FROM pgmq.read('bench', 60, 10) \gset
SELECT count(*) FROM pgmq.archive('bench', :ids::bigint[]);
