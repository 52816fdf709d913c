-- State machines: states, and transitions between them that wait for their triggers.
\i tests/regress/include/run.sql

-- An order: paid and shipped, or withdrawn as long as it is not paid.
CREATE FUNCTION pg_temp.orders() RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"id": "order", "type": "StateMachine", "initialState": "Open", "state": {"var": "State"},
    "states": [
        {"name": "Open", "entry": {"type": "WriteLine", "text": "open"}, "exit": {"type": "WriteLine", "text": "no longer open"}},
        "Paid", "Shipped",
        {"name": "Withdrawn", "entry": {"type": "WriteLine", "text": "withdrawn"}}],
    "transitions": [
        {"name": "pay", "from": "Open", "to": "Paid", "trigger": {"id": "paid", "type": "Event", "eventName": "Paid"},
            "condition": {"js": "getLastResult().amount >= 10"}, "action": {"type": "WriteLine", "text": "thank you"}},
        {"name": "withdraw", "from": "Open", "to": "Withdrawn", "trigger": {"id": "withdraw", "type": "Event", "eventName": "Withdraw"}},
        {"name": "ship", "from": "Paid", "to": "Shipped", "trigger": {"id": "shipped", "type": "RunTask", "taskName": "Ship"}}]}'::jsonb $$;

-- Entering a state runs its entry and arms the triggers of all transitions that leave it.
SELECT pg_temp.run(pg_temp.orders(), '{"State": null}');
-- The condition does not hold: the trigger is armed again, the other one still is.
SELECT pg_temp.resume('paid', '{"amount": 5}');
-- It holds: the other trigger is cancelled; action, exit, entry.
SELECT pg_temp.resume('paid', '{"amount": 10}');
SELECT variables FROM workflow.instance_list;
SELECT pg_temp.resume('shipped');
-- The journal says which states it was in.
SELECT data ->> 'state' AS state FROM workflow.journal WHERE activity = 'order' AND event = 'Note' ORDER BY seq, number;
-- The other way.
SELECT pg_temp.run(pg_temp.orders(), '{"State": null}');
SELECT pg_temp.resume('withdraw');

-- A deadline is a trigger like any other: whichever comes first. The clock is moved past it.
SELECT pg_temp.run('{"type": "StateMachine", "states": ["Asked", {"name": "Answered", "entry": {"type": "WriteLine", "text": "answered"}}, {"name": "Expired", "entry": {"type": "WriteLine", "text": "expired"}}],
    "transitions": [{"from": "Asked", "to": "Answered", "trigger": {"id": "answer", "type": "Event", "eventName": "Answer"}},
        {"from": "Asked", "to": "Expired", "trigger": {"id": "deadline", "type": "Delay", "timeSpan": "00:00:00.001"}}]}');
SET workflow.now = '2100-01-01 00:00:00+00';
SELECT wf_run_due();
RESET workflow.now;
SELECT count(*) FROM workflow.journal WHERE event = 'Line' AND data = '"expired"';

-- A transition without a trigger is taken at once, if its condition holds.
CREATE FUNCTION pg_temp.sorted(amount integer) RETURNS SETOF text LANGUAGE sql AS $$ SELECT pg_temp.run('{"type": "StateMachine",
    "states": ["New", {"name": "Small", "entry": {"type": "WriteLine", "text": "small"}}, {"name": "Large", "entry": {"type": "WriteLine", "text": "large"}}],
    "transitions": [{"from": "New", "to": "Large", "condition": {"input": "large"}}, {"from": "New", "to": "Small", "trigger": {"id": "wait", "type": "Event", "eventName": "Checked"}}]}',
    input => jsonb_build_object('large', amount > 100)) $$;
SELECT pg_temp.sorted(500);
SELECT pg_temp.sorted(50);

-- A circle of those in which nothing runs is a fault.
SELECT pg_temp.run('{"id": "circle", "type": "StateMachine", "states": ["A", "B"], "transitions": [{"from": "A", "to": "B"}, {"from": "B", "to": "A"}]}');

-- What does not fit together is refused, all of it at once.
SELECT path, message FROM wf_validate('{"definitionId": "test", "root": {"type": "StateMachine", "initialState": "Opne", "states": ["Open", "Paid", "Open", {}],
    "transitions": [{"from": "Open", "to": "Piad"}, {"to": "Paid"}, {"from": "Open", "to": "Paid", "triger": {"type": "Event", "eventName": "Paid"}}]}}');

-- In Elsa's form, as its designer writes it; and so it is exported.
SELECT pg_temp.run('{"id": "StateMachine1", "nodeId": "Workflow1:StateMachine1", "type": "Elsa.StateMachine", "version": 1, "metadata": {}, "customProperties": {}, "initialState": "Draft", "currentState": null,
    "states": [{"name": "Draft", "entry": null, "exit": null}, {"name": "Final", "entry": {"id": "line", "type": "Elsa.WriteLine", "version": 1, "text": {"typeName": "String", "expression": {"type": "Literal", "value": "final"}}}, "exit": null}],
    "transitions": [{"name": "publish", "displayName": "Publish", "from": "Draft", "to": "Final", "action": null,
        "trigger": {"id": "published", "type": "Elsa.Event", "version": 1, "eventName": {"typeName": "String", "expression": {"type": "Literal", "value": "Published"}}},
        "condition": {"typeName": "Boolean", "expression": {"type": "JavaScript", "value": "getLastResult() === 42"}}}]}');
SELECT pg_temp.resume('published', '42');
SELECT jsonb_pretty(wf_export('test') #> '{root,transitions,0,condition}');
SELECT * FROM wf_check();

-- Elsa's designer writes the state in which a machine is to begin as currentState. One that is unknown has no effect.
SELECT pg_temp.run('{"type": "StateMachine", "initialState": "A", "currentState": "B", "states": ["A", {"name": "B", "entry": {"type": "WriteLine", "text": "in B"}}, {"name": "C", "entry": {"type": "WriteLine", "text": "in C"}}],
    "transitions": [{"from": "A", "to": "C"}, {"from": "B", "to": "C"}]}');
SELECT pg_temp.run('{"type": "StateMachine", "initialState": "A", "currentState": "Z", "states": ["A", {"name": "C", "entry": {"type": "WriteLine", "text": "in C"}}], "transitions": [{"from": "A", "to": "C"}]}');
