\set n random(1, 1000000000)
SELECT step_id AS step FROM approval.submit('LR-' || :n, '{"employee": "Ada", "days": 3}') \gset
SELECT approval.approve(:step, '{"approved": true, "by": "Edsger"}') AS step \gset
SELECT approval.approve(:step, '{"approved": true, "by": "Grace"}');
