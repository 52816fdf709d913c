-- The workflow patterns of docs/patterns.md, as they stand there: each is run, and this is what it does.
\i tests/regress/include/run.sql

-- 1. Sequence
SELECT pg_temp.run($pattern$[{"id": "a", "type": "WriteLine", "text": "a"}, {"id": "b", "type": "WriteLine", "text": "b"}]$pattern$);

-- 2. Parallel split
SELECT pg_temp.run($pattern${"type": "Flowchart",
    "activities": [
        {"id": "a", "type": "WriteLine", "text": "a"},
        {"id": "b", "type": "Event", "eventName": "b"},
        {"id": "c", "type": "Event", "eventName": "c"}],
    "connections": [["a", "b"], ["a", "c"]]}$pattern$);
SELECT pg_temp.resume('c');
SELECT pg_temp.resume('b');

-- 3. Synchronization
SELECT pg_temp.run($pattern${"type": "Flowchart",
    "activities": [
        {"id": "start", "type": "Start"},
        {"id": "a", "type": "Event", "eventName": "a"},
        {"id": "b", "type": "Event", "eventName": "b"},
        {"id": "join", "type": "FlowJoin", "mode": "WaitAll"},
        {"id": "end", "type": "WriteLine", "text": "end"}],
    "connections": [["start", "a"], ["start", "b"], ["a", "join"], ["b", "join"], ["join", "end"]]}$pattern$);
SELECT pg_temp.resume('b');
SELECT pg_temp.resume('a');

-- 4. Exclusive choice
SELECT pg_temp.run($pattern${"type": "Flowchart",
    "activities": [
        {"id": "large", "type": "FlowDecision", "condition": {"js": "7 > 5"}},
        {"id": "yes", "type": "WriteLine", "text": "yes"},
        {"id": "no", "type": "WriteLine", "text": "no"}],
    "connections": [["large", "True", "yes"], ["large", "False", "no"]]}$pattern$);

-- 5. Simple merge
SELECT pg_temp.run($pattern${"type": "Flowchart",
    "activities": [
        {"id": "large", "type": "FlowDecision", "condition": {"js": "7 > 5"}},
        {"id": "yes", "type": "WriteLine", "text": "yes"},
        {"id": "no", "type": "WriteLine", "text": "no"},
        {"id": "end", "type": "WriteLine", "text": "end"}],
    "connections": [["large", "True", "yes"], ["large", "False", "no"], ["yes", "end"], ["no", "end"]]}$pattern$);

-- 6. Multi-choice
SELECT pg_temp.run($pattern${"type": "Flowchart",
    "activities": [
        {"id": "which", "type": "FlowSwitch", "mode": "MatchAny", "cases": [{"label": "A", "condition": true}, {"label": "B", "condition": true}, {"label": "C", "condition": false}]},
        {"id": "a", "type": "WriteLine", "text": "a"},
        {"id": "b", "type": "WriteLine", "text": "b"},
        {"id": "c", "type": "WriteLine", "text": "c"}],
    "connections": [["which", "A", "a"], ["which", "B", "b"], ["which", "C", "c"]]}$pattern$);

-- 7. Structured synchronizing merge
SELECT pg_temp.run($pattern${"type": "Flowchart",
    "activities": [
        {"id": "which", "type": "FlowSwitch", "mode": "MatchAny", "cases": [{"label": "A", "condition": true}, {"label": "B", "condition": true}, {"label": "C", "condition": false}]},
        {"id": "a", "type": "Event", "eventName": "a"},
        {"id": "b", "type": "Event", "eventName": "b"},
        {"id": "c", "type": "Event", "eventName": "c"},
        {"id": "end", "type": "WriteLine", "text": "end"}],
    "connections": [["which", "A", "a"], ["which", "B", "b"], ["which", "C", "c"], ["a", "end"], ["b", "end"], ["c", "end"]]}$pattern$);
SELECT pg_temp.resume('a');
SELECT pg_temp.resume('b');

-- 8. Multi-merge
SELECT pg_temp.run($pattern${"type": "Flowchart", "mode": "token",
    "activities": [
        {"id": "start", "type": "Start"},
        {"id": "a", "type": "WriteLine", "text": "a"},
        {"id": "b", "type": "WriteLine", "text": "b"},
        {"id": "end", "type": "WriteLine", "text": "end", "mergeMode": "Cascade"}],
    "connections": [["start", "a"], ["start", "b"], ["a", "end"], ["b", "end"]]}$pattern$);

-- 9. Structured discriminator
SELECT pg_temp.run($pattern${"type": "Sequence", "variables": {"N": 0}, "activities": [
    {"type": "Parallel", "activities": [
        [{"id": "a", "type": "Event", "eventName": "a"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 1;"}, "then": {"type": "WriteLine", "text": "go on"}}],
        [{"id": "b", "type": "Event", "eventName": "b"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 1;"}, "then": {"type": "WriteLine", "text": "go on"}}],
        [{"id": "c", "type": "Event", "eventName": "c"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 1;"}, "then": {"type": "WriteLine", "text": "go on"}}]]}]}$pattern$);
SELECT pg_temp.resume('b');
SELECT pg_temp.resume('a');
SELECT pg_temp.resume('c');

-- 28. Blocking discriminator
SELECT pg_temp.run($pattern${"type": "For", "start": 1, "end": 2, "body":
    {"type": "Sequence", "variables": {"N": 0}, "activities": [
        {"type": "Parallel", "activities": [
            [{"id": "a", "type": "Event", "eventName": "a"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 1;"}, "then": {"type": "WriteLine", "text": "go on"}}],
            [{"id": "b", "type": "Event", "eventName": "b"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 1;"}, "then": {"type": "WriteLine", "text": "go on"}}],
            [{"id": "c", "type": "Event", "eventName": "c"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 1;"}, "then": {"type": "WriteLine", "text": "go on"}}]]}]}}$pattern$);
SELECT pg_temp.resume('b');
SELECT pg_temp.resume('a');
SELECT pg_temp.resume('c');
SELECT pg_temp.resume('c');
SELECT pg_temp.resume('b');
SELECT pg_temp.resume('a');

-- 29. Cancelling discriminator
SELECT pg_temp.run($pattern${"type": "Flowchart",
    "activities": [
        {"id": "start", "type": "Start"},
        {"id": "a", "type": "Event", "eventName": "a"},
        {"id": "b", "type": "Event", "eventName": "b"},
        {"id": "join", "type": "FlowJoin", "mode": "WaitAny"},
        {"id": "end", "type": "WriteLine", "text": "end"}],
    "connections": [["start", "a"], ["start", "b"], ["a", "join"], ["b", "join"], ["join", "end"]]}$pattern$);
SELECT pg_temp.resume('b');

-- 30. Structured partial join
SELECT pg_temp.run($pattern${"type": "Sequence", "variables": {"N": 0}, "activities": [
    {"type": "Parallel", "activities": [
        [{"id": "a", "type": "Event", "eventName": "a"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 2;"}, "then": {"type": "WriteLine", "text": "go on"}}],
        [{"id": "b", "type": "Event", "eventName": "b"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 2;"}, "then": {"type": "WriteLine", "text": "go on"}}],
        [{"id": "c", "type": "Event", "eventName": "c"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 2;"}, "then": {"type": "WriteLine", "text": "go on"}}]]}]}$pattern$);
SELECT pg_temp.resume('b');
SELECT pg_temp.resume('a');
SELECT pg_temp.resume('c');

-- 31. Blocking partial join
SELECT pg_temp.run($pattern${"type": "For", "start": 1, "end": 2, "body":
    {"type": "Sequence", "variables": {"N": 0}, "activities": [
        {"type": "Parallel", "activities": [
            [{"id": "a", "type": "Event", "eventName": "a"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 2;"}, "then": {"type": "WriteLine", "text": "go on"}}],
            [{"id": "b", "type": "Event", "eventName": "b"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 2;"}, "then": {"type": "WriteLine", "text": "go on"}}],
            [{"id": "c", "type": "Event", "eventName": "c"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 2;"}, "then": {"type": "WriteLine", "text": "go on"}}]]}]}}$pattern$);
SELECT pg_temp.resume('b');
SELECT pg_temp.resume('a');
SELECT pg_temp.resume('c');
SELECT pg_temp.resume('c');
SELECT pg_temp.resume('b');
SELECT pg_temp.resume('a');

-- 32. Cancelling partial join
SELECT pg_temp.run($pattern$[{"type": "Sequence", "variables": {"N": 0}, "activities": [
    {"type": "While", "condition": true, "body": {"type": "Fork", "branches": [
        [{"id": "a", "type": "Event", "eventName": "a"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 2;"}, "then": {"type": "Break"}}],
        [{"id": "b", "type": "Event", "eventName": "b"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 2;"}, "then": {"type": "Break"}}],
        [{"id": "c", "type": "Event", "eventName": "c"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 2;"}, "then": {"type": "Break"}}]]}}]}, {"id": "end", "type": "WriteLine", "text": "end"}]$pattern$);
SELECT pg_temp.resume('c');
SELECT pg_temp.resume('a');

-- 33. Generalised AND-join
SELECT pg_temp.run($pattern${"type": "Flowchart", "mode": "token",
    "activities": [
        {"id": "start", "type": "Start"},
        {"id": "a", "type": "Event", "eventName": "a"},
        {"id": "b", "type": "Event", "eventName": "b"},
        {"id": "both", "type": "WriteLine", "text": "both", "mergeMode": "Merge"}],
    "connections": [["start", "a"], ["start", "b"], ["a", "a"], ["b", "b"], ["a", "both"], ["b", "both"]]}$pattern$);
SELECT pg_temp.resume('a');
SELECT pg_temp.resume('b');
SELECT pg_temp.resume('b');
SELECT pg_temp.resume('a');
SELECT wf_cancel(instance) FROM (SELECT DISTINCT instance FROM workflow.waiting) AS w;

-- 37. Local synchronizing merge
SELECT pg_temp.run($pattern${"type": "Flowchart",
    "activities": [
        {"id": "d", "type": "FlowSwitch", "mode": "MatchAny", "cases": [{"label": "A", "condition": true}, {"label": "B", "condition": false}]},
        {"id": "a", "type": "WriteLine", "text": "a"},
        {"id": "b", "type": "Event", "eventName": "b"},
        {"id": "x", "type": "Event", "eventName": "x"},
        {"id": "y", "type": "WriteLine", "text": "y"},
        {"id": "end", "type": "WriteLine", "text": "end"}],
    "connections": [["d", "A", "a"], ["d", "B", "b"], ["a", "x"], ["b", "y"], ["a", "y"], ["x", "end"], ["y", "end"]]}$pattern$);
SELECT pg_temp.resume('x');

-- 41. Thread merge
SELECT pg_temp.run($pattern$[{"type": "ParallelForEach", "items": [1, 2], "body": {"id": "thread", "type": "Event", "eventName": "thread"}}, {"id": "one", "type": "WriteLine", "text": "one"}]$pattern$);
SELECT pg_temp.resume('thread');
SELECT pg_temp.resume('thread');

-- 42. Thread split
SELECT pg_temp.run($pattern${"type": "Flowchart", "mode": "token",
    "activities": [
        {"id": "fork", "type": "FlowFork", "branches": ["1", "2"]},
        {"id": "thread", "type": "WriteLine", "text": "thread", "mergeMode": "Cascade"},
        {"id": "next", "type": "WriteLine", "text": "next", "mergeMode": "Cascade"}],
    "connections": [["fork", "1", "thread"], ["fork", "2", "thread"], ["thread", "next"]]}$pattern$);

-- 10. Arbitrary cycles
SELECT pg_temp.run($pattern${"type": "Sequence", "variables": {"N": 0}, "activities": [
    {"type": "Flowchart", "mode": "token",
        "activities": [
            {"id": "d", "type": "FlowDecision", "condition": {"js": "getN() === 0"}},
            {"id": "a", "type": "WriteLine", "text": "a"},
            {"id": "b", "type": "WriteLine", "text": "b"},
            {"id": "more", "type": "FlowDecision", "condition": {"js": "setN(getN() + 1); return getN() < 3;"}},
            {"id": "end", "type": "WriteLine", "text": "end"}],
        "connections": [["d", "True", "b"], ["d", "False", "a"], ["a", "b"], ["b", "more"], ["more", "True", "a"], ["more", "False", "end"]]}]}$pattern$);

-- 21. Structured loop
SELECT pg_temp.run($pattern${"type": "Sequence", "variables": {"N": 0}, "activities": [
    {"type": "While", "condition": {"js": "getN() < 2"}, "body": [{"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}, {"type": "WriteLine", "text": {"var": "N"}}]}]}$pattern$);

-- 22. Recursion
SELECT wf_define(jsonb_build_object('definitionId', 'recursion', 'variables', '{"N": 0}'::jsonb, 'root', $pattern$[{"id": "level", "type": "Event", "eventName": "Level", "canStartWorkflow": true, "result": {"var": "N"}},
    {"type": "WriteLine", "text": {"js": "`level ${getN()}`"}},
    {"type": "If", "condition": {"js": "getN() > 1"}, "then": {"type": "PublishEvent", "eventName": "Level", "payload": {"js": "getN() - 1"}}}]$pattern$::jsonb));
SELECT cardinality(started) FROM wf_publish_event('Level', '3');
SELECT data #>> '{}' FROM workflow.journal JOIN workflow.instance_list USING (instance_id) WHERE definition_id = 'recursion' AND event = 'Line' ORDER BY 1 DESC;

-- 11. Implicit termination
SELECT pg_temp.run($pattern${"type": "Flowchart",
    "activities": [
        {"id": "start", "type": "Start"},
        {"id": "a", "type": "Event", "eventName": "a"},
        {"id": "b", "type": "WriteLine", "text": "b"}],
    "connections": [["start", "a"], ["start", "b"]]}$pattern$);
SELECT pg_temp.resume('a');

-- 43. Explicit termination
SELECT pg_temp.run($pattern${"type": "Parallel", "activities": [{"id": "a", "type": "Event", "eventName": "a"}, [{"id": "stop", "type": "Event", "eventName": "stop"}, {"type": "Finish"}]]}$pattern$);
SELECT pg_temp.resume('stop');

-- 12. Multiple instances without synchronization
SELECT wf_define('{"definitionId": "packing", "root": [{"id": "pack", "type": "Event", "eventName": "Pack", "canStartWorkflow": true}, {"type": "WriteLine", "text": {"js": "getLastResult()"}}]}');
SELECT pg_temp.run($pattern${"type": "ForEach", "items": ["tea", "milk"], "body": {"type": "PublishEvent", "eventName": "Pack", "payload": {"var": "CurrentValue"}}}$pattern$);
SELECT data #>> '{}' FROM workflow.journal JOIN workflow.instance_list USING (instance_id) WHERE definition_id = 'packing' AND event = 'Line' ORDER BY 1;

-- 13. Multiple instances with a priori design-time knowledge
SELECT pg_temp.run($pattern$[{"type": "ParallelForEach", "items": [1, 2], "body": {"id": "review", "type": "Event", "eventName": "review"}}, {"id": "end", "type": "WriteLine", "text": "end"}]$pattern$);
SELECT pg_temp.resume('review');
SELECT pg_temp.resume('review');

-- 14. Multiple instances with a priori run-time knowledge
SELECT pg_temp.run($pattern$[{"type": "ParallelForEach", "items": {"sql": "SELECT jsonb_agg(n) FROM generate_series(1, 3) AS n"}, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}, {"id": "end", "type": "WriteLine", "text": "end"}]$pattern$);

-- 15. Multiple instances without a priori run-time knowledge
SELECT pg_temp.run($pattern$[{"type": "Flowchart", "mode": "token",
        "activities": [
            {"id": "more", "type": "Event", "eventName": "more"},
            {"id": "last", "type": "FlowDecision", "condition": {"js": "getInput('last') === true"}},
            {"id": "work", "type": "Event", "eventName": "work", "mergeMode": "Cascade"}],
        "connections": [["more", "work"], ["more", "last"], ["last", "False", "more"]]},
    {"id": "end", "type": "WriteLine", "text": "end"}]$pattern$);
SELECT pg_temp.resume('more');
SELECT pg_temp.resume('work');
SELECT pg_temp.resume('more', '{"last": true}');
SELECT pg_temp.resume('work');

-- 34. Static partial join for multiple instances
SELECT pg_temp.run($pattern${"type": "Sequence", "variables": {"N": 0}, "activities": [
    {"type": "ParallelForEach", "items": [1, 2, 3], "body": [{"id": "review", "type": "Event", "eventName": "review"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 2;"}, "then": {"type": "WriteLine", "text": "go on"}}]}]}$pattern$);
SELECT pg_temp.resume('review');
SELECT pg_temp.resume('review');
SELECT pg_temp.resume('review');

-- 35. Cancelling partial join for multiple instances
SELECT pg_temp.run($pattern${"type": "Sequence", "variables": {"N": 0}, "activities": [
    {"type": "Fork", "joinMode": "WaitAny", "branches": [
        {"type": "ParallelForEach", "items": [1, 2, 3], "body": [{"id": "review", "type": "Event", "eventName": "review"}, {"type": "If", "condition": {"js": "setN(getN() + 1); return getN() === 2;"}, "then": {"type": "PublishEvent", "eventName": "enough", "isLocalEvent": true}}]},
        {"id": "enough", "type": "Event", "eventName": "enough"}]},
    {"id": "end", "type": "WriteLine", "text": "end"}]}$pattern$);
SELECT pg_temp.resume('review');
SELECT pg_temp.resume('review');
SELECT count(*) FROM workflow.waiting;

-- 16. Deferred choice
SELECT pg_temp.run($pattern${"type": "StateMachine", "states": ["Waiting", "Answered", "Refused"], "transitions": [
    {"from": "Waiting", "to": "Answered", "trigger": {"id": "answer", "type": "Event", "eventName": "answer"}, "action": {"id": "a1", "type": "WriteLine", "text": "answered"}},
    {"from": "Waiting", "to": "Refused", "trigger": {"id": "refuse", "type": "Event", "eventName": "refuse"}, "action": {"id": "a2", "type": "WriteLine", "text": "refused"}}]}$pattern$);
SELECT pg_temp.resume('refuse');

-- 17. Interleaved parallel routing
SELECT pg_temp.run($pattern${"type": "ParallelForEach", "items": ["heat", "light"], "degreeOfParallelism": 1, "body": [{"type": "WriteLine", "text": {"var": "CurrentValue"}}, {"id": "checked", "type": "Event", "eventName": "checked"}]}$pattern$);
SELECT pg_temp.resume('checked');
SELECT pg_temp.resume('checked');

-- 18. Milestone
SELECT pg_temp.run($pattern${"type": "StateMachine", "states": ["Open", "Closed"], "transitions": [
    {"from": "Open", "to": "Open", "trigger": {"id": "change", "type": "Event", "eventName": "change"}, "action": {"id": "changed", "type": "WriteLine", "text": "changed"}},
    {"from": "Open", "to": "Closed", "trigger": {"id": "close", "type": "Event", "eventName": "close"}}]}$pattern$);
SELECT pg_temp.resume('change');
SELECT pg_temp.resume('change');
SELECT pg_temp.resume('close');

-- 39. Critical section
SELECT pg_temp.run($pattern${"type": "ParallelForEach", "items": ["left", "right"], "degreeOfParallelism": 1, "body": {"type": "Switch", "cases": [
    {"label": "left", "condition": {"js": "getCurrentValue() === 'left'"}, "activity": [{"id": "l1", "type": "WriteLine", "text": "left"}, {"id": "l2", "type": "Event", "eventName": "l2"}]}],
    "default": [{"id": "r1", "type": "WriteLine", "text": "right"}, {"id": "r2", "type": "Event", "eventName": "r2"}]}}$pattern$);
SELECT pg_temp.resume('l2');
SELECT pg_temp.resume('r2');

-- 19. Cancel task
SELECT pg_temp.run($pattern$[{"type": "Fork", "joinMode": "WaitAny", "branches": [{"id": "task", "type": "Event", "eventName": "task"}, {"id": "cancel", "type": "Event", "eventName": "cancel"}]}, {"id": "end", "type": "WriteLine", "text": "end"}]$pattern$);
SELECT pg_temp.resume('cancel');

-- 20. Cancel case
SELECT pg_temp.run($pattern${"id": "work", "type": "Event", "eventName": "work"}$pattern$);
SELECT wf_cancel(instance) FROM workflow.waiting WHERE activity = 'work';

-- 25. Cancel region
SELECT pg_temp.run($pattern$[{"type": "Fork", "joinMode": "WaitAny", "branches": [{"type": "Parallel", "activities": [{"id": "a", "type": "Event", "eventName": "a"}, [{"id": "b", "type": "WriteLine", "text": "b"}, {"id": "c", "type": "Event", "eventName": "c"}]]}, {"id": "cancel", "type": "Event", "eventName": "cancel"}]}, {"id": "end", "type": "WriteLine", "text": "end"}]$pattern$);
SELECT pg_temp.resume('cancel');
SELECT count(*) FROM workflow.waiting;

-- 26. Cancel multiple instance task
SELECT pg_temp.run($pattern$[{"type": "Fork", "joinMode": "WaitAny", "branches": [{"type": "ParallelForEach", "items": [1, 2, 3], "body": [{"id": "review", "type": "Event", "eventName": "review"}]}, [{"id": "withdraw", "type": "Event", "eventName": "withdraw"}, {"type": "Finish"}]]}, {"id": "end", "type": "WriteLine", "text": "end"}]$pattern$);
SELECT pg_temp.resume('review');
SELECT pg_temp.resume('withdraw');

-- 27. Complete multiple instance task
SELECT pg_temp.run($pattern$[{"type": "Fork", "joinMode": "WaitAny", "branches": [{"type": "ParallelForEach", "items": [1, 2, 3], "body": [{"id": "review", "type": "Event", "eventName": "review"}]}, {"id": "enough", "type": "Event", "eventName": "enough"}]}, {"id": "end", "type": "WriteLine", "text": "end"}]$pattern$);
SELECT pg_temp.resume('review');
SELECT pg_temp.resume('enough');

-- 23. Transient trigger
SELECT cardinality(resumed) FROM wf_publish_event('door');
SELECT pg_temp.run($pattern${"id": "door", "type": "Event", "eventName": "door"}$pattern$);
SELECT cardinality(resumed) FROM wf_publish_event('door');

-- 24. Persistent trigger
SELECT cardinality(resumed), queued_id IS NOT NULL AS kept FROM wf_publish_event('door', keep_for => '1 hour');
SELECT pg_temp.run($pattern${"id": "door", "type": "Event", "eventName": "door"}$pattern$);
SELECT count(*) FROM workflow.waiting WHERE activity = 'door';

SELECT * FROM wf_check();
