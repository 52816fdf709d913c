-- The partition of a key is that of PL/Proxy.
SELECT bool_and(wf_partition(k, 64) = hashtext(k) & 63) AS agrees, count(DISTINCT wf_partition(k, 64)) AS partitions
FROM (SELECT 'order-' || n FROM generate_series(1, 1000) AS n UNION ALL VALUES (''), ('ü€')) AS v (k);
SELECT wf_partition('A', 3);
SELECT wf_partition('A', 0);
SELECT wf_partition('A', 131072);
SELECT wf_partition(NULL, 2);
