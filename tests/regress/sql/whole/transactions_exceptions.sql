-- An EXCEPTION block takes back the call that fails in it and nothing else: in a transaction, in a loop, and inside a burst.
\i tests/regress/include/transactions.sql

-- An EXCEPTION block takes back the call that fails in it half-way, a timeout and a limit included; the transaction goes on.
SELECT wf_define('{"definitionId": "endless", "root": [
    {"type": "Sql", "statement": "INSERT INTO log VALUES (''began'')"}, {"type": "While", "condition": true, "body": {"type": "WriteLine", "text": "on and on"}}]}') \g /dev/null
SELECT wf_define('{"definitionId": "slow", "root": [{"type": "Sql", "statement": "INSERT INTO log VALUES (''slept'')"}, {"type": "Sql", "statement": "SELECT pg_sleep(10)"}]}') \g /dev/null
BEGIN;
SET LOCAL workflow.max_steps = 1000;
SELECT pg_temp.try('SELECT wf_start(''endless'')');
SET LOCAL statement_timeout = '200ms';
SELECT pg_temp.try('SELECT wf_start(''slow'')');
SET LOCAL statement_timeout = 0;
SELECT wf_start('order', correlation_id => '3') AS three \gset
SELECT pg_temp.try(format('SELECT wf_resume(%L), 1 / 0', bookmark_id)) FROM workflow.waiting;
SELECT pg_temp.try(format('SELECT wf_cancel(%L), 1 / 0', :'three'));
SELECT * FROM pg_temp.stand();
SELECT pg_temp.try(format('SELECT wf_resume(%L)', bookmark_id)) FROM workflow.waiting;
COMMIT;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();

-- In a loop, too: the round that fails is taken back, the others count.
SELECT count(wf_start('order', correlation_id => n::text)) FROM generate_series(1, 3) AS n;
DO $$
DECLARE
    w record;
BEGIN
    FOR w IN SELECT bookmark_id, correlation_id FROM workflow.waiting LOOP
        BEGIN
            PERFORM wf_resume(w.bookmark_id);
            IF w.correlation_id = '2' THEN RAISE 'not this one'; END IF;
        EXCEPTION WHEN raise_exception THEN NULL;
        END;
    END LOOP;
END $$;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();

-- The same inside a burst: a function that catches what it called. The instance of the activity goes on.
SELECT wf_define('{"definitionId": "catching", "variables": {"Said": null}, "root": [
    {"type": "SetVariable", "variable": "Said", "value": {"sql": "pg_temp.try(''SELECT wf_start(''''endless'''')'')"}}, {"id": "next", "type": "Event", "eventName": "Next"}]}') \g /dev/null
SET workflow.max_steps = 1000;
SELECT wf_start('catching') AS catching \gset
RESET workflow.max_steps;
SELECT sub_status, variables FROM workflow.instance_list;
SELECT sub_status FROM workflow.waiting, wf_resume(bookmark_id);
SELECT * FROM pg_temp.forget();
-- What it published to itself and took back is not delivered after the burst; what it did not take back is.
SELECT wf_define('{"definitionId": "two-faced", "variables": {"Heard": null}, "root": {"type": "Parallel", "activities": [
    {"id": "ear", "type": "Event", "eventName": "Word", "result": {"var": "Heard"}}, {"id": "mouth", "type": "Sql", "statement": "SELECT pg_temp.speak($1)", "parameters": [{"input": "words"}]}]}}') \g /dev/null
CREATE FUNCTION pg_temp.speak(words jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        PERFORM wf_publish_event('Word', words -> 0);
        RAISE 'no';
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
    IF words -> 1 IS NOT NULL THEN PERFORM wf_publish_event('Word', words -> 1); END IF;
END $$;
SELECT wf_start('two-faced', '{"words": ["unsaid", "said"]}', correlation_id => 'two words') \g /dev/null
SELECT wf_start('two-faced', '{"words": ["unsaid"]}', correlation_id => 'one word') \g /dev/null
SELECT correlation_id, sub_status, variables FROM workflow.instance_list ORDER BY correlation_id;
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SELECT * FROM pg_temp.forget();
