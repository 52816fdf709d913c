\set n random(1, 1000000000)
BEGIN;
SET LOCAL workflow.actor = 'ada@shop.example.com';
SELECT bookmarks #>> '{0,id}' AS bookmark FROM wf_run('approval-task', '{"employee": "Ada", "days": 3}', 'LR-' || :n) \gset
COMMIT;
BEGIN;
SET LOCAL workflow.actor = 'bob@shop.example.com';
SELECT bookmarks #>> '{0,id}' AS bookmark FROM wf_resume(:bookmark, '{"approved": true, "by": "Edsger"}') \gset
COMMIT;
BEGIN;
SET LOCAL workflow.actor = 'cyd@shop.example.com';
SELECT sub_status FROM wf_resume(:bookmark, '{"approved": true, "by": "Grace"}');
COMMIT;
