-- What has completed and what is interrupted can be compensated in the new version, with its handlers and the values of then.
\i tests/regress/include/migration.sql
CREATE FUNCTION trip(book text, word text) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object('definitionId', 'trip', 'variables', '{"Seat": 0}'::jsonb, 'root', jsonb_build_array(
    jsonb_build_object('id', 'each', 'type', 'ForEach', 'items', '[1, 2]'::jsonb, 'body', jsonb_build_object('id', 'steps', 'type', 'Sequence', 'activities', jsonb_build_array(
        jsonb_build_object('id', 'seat', 'type', 'SetVariable', 'variable', 'Seat', 'value', '{"js": "getCurrentValue() + 10"}'::jsonb),
        jsonb_build_object('id', book, 'type', 'Compensable', 'body', '{"id": "booked", "type": "WriteLine", "text": "booked"}'::jsonb,
            'compensation', jsonb_build_object('id', 'undo', 'type', 'WriteLine', 'text', jsonb_build_object('js', format('`%s ${getSeat()}`', word))))))),
    jsonb_build_object('id', 'hotel', 'type', 'Compensable', 'body', '{"id": "ask", "type": "RunTask", "taskName": "Ask the hotel"}'::jsonb,
        'compensation', '{"id": "leave", "type": "WriteLine", "text": "left"}'::jsonb,
        'cancellation', jsonb_build_object('id', 'forget', 'type', 'WriteLine', 'text', 'forgotten by ' || word))));
SELECT wf_define(trip('book', 'old'));
SELECT wf_start('trip') AS moved \gset
SELECT wf_start('trip') AS stays \gset
SELECT wf_define(trip('reserve', 'new'));
SELECT * FROM wf_migrate(:'moved', dry_run => true);
SELECT * FROM wf_migrate(:'moved', mapping => '{"book": "reserve"}');
SELECT instance_id = :'moved' AS moved, activity_id, number FROM workflow.open_compensations ORDER BY 1, 3;
SELECT wf_cancel(:'moved'), wf_cancel(:'stays');
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'moved';
SELECT pg_temp.lines(:'stays') AS stays, pg_temp.lines(:'moved') AS moved;
-- Handlers that are due run in the version in which the instance is then.
SELECT wf_start('trip', version => 1) AS moved \gset
SELECT wf_cancel(:'moved');
SELECT * FROM wf_migrate(:'moved', mapping => '{"book": "reserve"}');
SELECT wf_run_due();
SELECT sub_status, version FROM workflow.instance_list WHERE instance_id = :'moved';
SELECT pg_temp.lines(:'moved');
DROP FUNCTION trip;
SELECT * FROM wf_check();
