\set n :n + 1
SELECT resumed FROM wf_publish_event('Go', '{"by": "Ada"}', 'go-' || :n);
