\set n random(1, 1000000000)
SELECT bench.begin('begin-' || :n);
