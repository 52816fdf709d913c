-- A fault that a retry policy covers is followed by another attempt, and is no incident.
CREATE TABLE payments (id integer PRIMARY KEY, amount integer CHECK (amount > 0));
CREATE TABLE service (up boolean);
INSERT INTO service VALUES (false);
CREATE FUNCTION charge(id integer, amount integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payments VALUES (charge.id, charge.amount);
    IF NOT (SELECT up FROM service) THEN
        RAISE 'the service is down' USING ERRCODE = 'P0001';
    END IF;
END $$;
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';

SELECT * FROM wf_define('{
    "definitionId": "pay",
    "root": [
        {"id": "charge", "type": "Sql", "statement": "SELECT charge($1, 10)", "parameters": [{"input": "id"}],
         "retry": {"maxAttempts": 4, "delay": "1 minute", "backoff": "exponential", "on": ["P0001"]}},
        {"id": "thank", "type": "WriteLine", "text": "thanks"}]
}');

-- The call succeeds. What the attempt did is undone; the instance waits, and has no incident.
SELECT wf_start('pay', '{"id": 1}', correlation_id => 'p1') AS instance \gset
SELECT sub_status, incident_count FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT count(*) FROM payments;
SELECT activity, waits_for, since, due FROM workflow.waiting;

-- Before it is due nothing fires. Then it is tried again, each time later.
SELECT wf_run_due();
SET workflow.now = '2026-03-01 09:01:00+00';
SELECT wf_run_due();
SELECT due FROM workflow.waiting;
SET workflow.now = '2026-03-01 09:03:00+00';
SELECT wf_run_due();
SELECT due FROM workflow.waiting;
UPDATE service SET up = true;
SET workflow.now = '2026-03-01 09:07:00+00';
SELECT wf_run_due();
SELECT sub_status, incident_count FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT * FROM payments;
SELECT event, activity, data FROM workflow.journal WHERE instance_id = :'instance' ORDER BY seq, number;

-- Attempts that are used up are an incident. wf_retry counts anew.
UPDATE service SET up = false;
SELECT wf_start('pay', '{"id": 2}') AS instance \gset
SET workflow.now = '2026-03-01 09:08:00+00';
SELECT wf_run_due();
SET workflow.now = '2026-03-01 09:10:00+00';
SELECT wf_run_due();
SET workflow.now = '2026-03-01 09:14:00+00';
SELECT wf_run_due();
SELECT sqlstate, message, attempts FROM workflow.open_incidents;
SELECT count(*) FROM workflow.waiting;
SELECT sub_status FROM wf_retry(:'instance');
SELECT count(*) FROM workflow.open_incidents;
SELECT due FROM workflow.waiting;

-- The story says what it waits for.
SELECT line FROM wf_explain(:'instance') AS line OFFSET 1;

-- The bookmark can be resumed before it is due, by its id.
UPDATE service SET up = true;
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r;
SELECT count(*) FROM payments;

-- What the policy does not cover is an incident at once.
SELECT r.sub_status, r.incidents -> 0 ->> 'sqlstate' AS sqlstate FROM wf_run('pay', '{"id": 1}', on_fault => 'store') AS r;

-- on_fault => 'raise' raises what becomes an incident, and not what is tried again.
UPDATE service SET up = false;
SELECT r.sub_status FROM wf_run('pay', '{"id": 3}', on_fault => 'raise') AS r;
SELECT wf_run('pay', '{"id": 1}', on_fault => 'raise');
\echo :SQLSTATE

-- A session can turn retries off: the fault is an incident at once.
SET workflow.retry = off;
SELECT r.sub_status FROM wf_run('pay', '{"id": 4}', on_fault => 'store') AS r;
SELECT wf_run('pay', '{"id": 4}', on_fault => 'raise');
\echo :SQLSTATE
RESET workflow.retry;

-- within bounds the time of all attempts, from the beginning of the first.
SELECT * FROM wf_define('{
    "definitionId": "hurry",
    "root": {"id": "charge", "type": "Sql", "statement": "SELECT charge(5, 10)", "retry": {"maxAttempts": 100, "delay": "1 minute", "within": "90 s"}}
}');
SELECT wf_start('hurry') AS instance \gset
SET workflow.now = '2026-03-01 09:15:00+00';
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT data ->> 'attempt' AS attempt FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Retrying';
-- wf_retry begins this time anew, too.
SELECT sub_status FROM wf_retry(:'instance');
SELECT waits_for, due FROM workflow.waiting WHERE instance = :'instance';
SET workflow.now = '2026-03-01 09:20:00+00';
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';

-- jitter leaves a random part of the delay out.
SELECT * FROM wf_define('{
    "definitionId": "scatter",
    "root": {"id": "charge", "type": "Sql", "statement": "SELECT charge(6, 10)", "retry": {"maxAttempts": 2, "delay": "1 minute", "jitter": 0.5}}
}');
SELECT wf_start('scatter') AS instance FROM generate_series(1, 20) \g /dev/null
SELECT count(DISTINCT due) > 10 AS scattered, min(due - since) >= '30 s' AS not_too_early, max(due - since) <= '60 s' AS not_too_late
FROM workflow.waiting WHERE definition_id = 'scatter';
