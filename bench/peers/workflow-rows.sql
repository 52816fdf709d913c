SELECT coalesce(array_agg(id), '{}') AS ids FROM bench.claim_rows() AS id \gset
SELECT bench.complete_rows(:ids::uuid[]);
