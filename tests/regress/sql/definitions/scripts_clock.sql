-- What reads texts of users without asking whether to stop has bounds on them.
-- security.md#what-an-input-can-do: texts of times are bounded
-- A cron expression has at most 1000 bytes, wherever it is written.
SELECT count(*) FROM wf_cron_preview('0 ' || repeat('1,', 490) || '2 * *' || ' *');
SELECT count(*) FROM wf_cron_preview(repeat('0-59,', 1000000) || '1 * * * *', 10);
SELECT count(*) FROM wf_cron_preview(repeat('x ', 1000000), 10);
SELECT wf_schedule('long', repeat('0-59,', 1000) || '1 * * * *', 'SELECT 1');
SELECT wf_define(('{"definitionId": "long", "root": [{"type": "Cron", "canStartWorkflow": true, "cronExpression": "' || repeat('0-59,', 1000) || '1 * * * *"}]}')::jsonb);
-- Integers of a script are bounded, too: what turns them into digits takes time that grows with the square.
SELECT wf_define('{"definitionId": "digits", "variables": {"V": null}, "root": [
    {"type": "SetVariable", "variable": "V", "value": {"js": "(2n ** 65000n).toString().length"}},
    {"type": "SetVariable", "variable": "V", "value": {"js": "2n ** 66000n"}}]}');
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('digits', on_fault => 'store');
