-- wf_run says whether the instance is new.
SELECT * FROM wf_define('{"definitionId": "order", "root": {"id": "paid", "type": "Event", "eventName": "Paid"}}');
SELECT is_new, sub_status FROM wf_run('order', '{"n": 1}', instance_id => '01900000-0000-7000-8000-0000000c0003');
SELECT is_new, sub_status FROM wf_run('order', '{"n": 2}', instance_id => '01900000-0000-7000-8000-0000000c0003');
SELECT is_new, sub_status FROM wf_run('order');
SELECT is_new, sub_status FROM wf_resume((SELECT bookmark_id FROM workflow.waiting WHERE instance = '01900000-0000-7000-8000-0000000c0003'));
SELECT * FROM wf_resume('01900000-0000-7000-8000-00000000dead', missing_ok => true);

-- One of them waits still.
SELECT count(wf_cancel(instance)) FROM workflow.waiting WHERE activity = 'paid';
