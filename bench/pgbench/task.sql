\set n random(1, 1000000000)
SELECT bookmarks #>> '{0,id}' AS bookmark FROM wf_run('approval-task', '{"employee": "Ada", "days": 3}', 'LR-' || :n) \gset
SELECT bookmarks #>> '{0,id}' AS bookmark FROM wf_resume(:bookmark, '{"approved": true, "by": "Edsger"}') \gset
SELECT sub_status FROM wf_resume(:bookmark, '{"approved": true, "by": "Grace"}');
