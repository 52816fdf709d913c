//! Elsa's resilience strategies: the retry policy that an activity gets from them.

use chrono::TimeDelta;
use serde_json::{Value, json};
use workflow_engine::definition::{ActivityTypes, CustomType, ReadLimits, Validated, validate};
use workflow_engine::fault::Fault;
use workflow_engine::instance::SubStatus;
use workflow_engine::retry::{Backoff, Cause, RetryPolicy};

use crate::support::{World, line, program};

/// A host with a strategy for all definitions.
struct Common;

impl ActivityTypes for Common {
    fn custom(&self, _type_name: &str) -> Option<CustomType> {
        None
    }

    fn resilience_strategies(&self) -> Option<Value> {
        Some(
            json!([{"id": "usual"}, {"id": "wrong", "delay": 5}, {"maxRetryAttempts": 5}, {"id": "own", "maxRetryAttempts": 7}]),
        )
    }
}

fn validated(root: Value) -> Validated {
    let own = json!({"own": {"maxRetryAttempts": 0, "delay": "00:00:05", "backoffType": "Linear", "useJitter": true}});
    let document = json!({"definitionId": "test", "options": {"resilienceStrategies": own}, "root": root});
    validate(&document, &Common, &ReadLimits { is_new: true, ..ReadLimits::default() }, false)
}

/// An activity with this strategy: its policy, and the warnings.
fn policy(kind: Value, strategy: Value) -> (Option<RetryPolicy>, Vec<String>) {
    let mut root = kind;
    root["customProperties"] = json!({ "resilienceStrategy": strategy });
    let validated = validated(root);
    let program = validated.program.expect("a program");
    let warnings = validated.warnings.into_iter().map(|warning| format!("{}: {}", warning.path, warning.message));
    (program.nodes[0].retry_policy(None).as_deref().cloned(), warnings.collect())
}

fn event() -> Value {
    json!({"type": "Event", "eventName": "E"})
}

fn named(name: &str) -> Value {
    json!({"mode": "Identifier", "strategyId": name})
}

#[test]
fn a_strategy_is_a_policy_with_one_attempt_more() {
    let (found, warnings) = policy(event(), named("usual"));
    let usual = RetryPolicy {
        max_attempts: 4,
        delay: TimeDelta::seconds(1),
        backoff: Backoff::Exponential { factor: 2.0 },
        ..RetryPolicy::default()
    };
    assert_eq!((found.as_ref(), warnings.len()), (Some(&usual), 0));
    // Strategies of the definition take precedence.
    let own = RetryPolicy {
        max_attempts: 1,
        delay: TimeDelta::seconds(5),
        backoff: Backoff::Linear,
        jitter: 0.5,
        ..RetryPolicy::default()
    };
    assert_eq!(policy(event(), named("own")).0, Some(own));
}

#[test]
fn activities_that_send_requests_repeat_what_may_pass() {
    let call = json!({"type": "SendHttpRequest", "url": "https://a.example", "enableResiliency": true});
    let found = policy(call, named("usual")).0.expect("a policy");
    assert_eq!((found.max_attempts, found.on.len()), (4, 8));
    assert!(found.on.contains(&Cause::Code("http_503".into())) && found.on.contains(&Cause::Code("connect".into())));
}

#[test]
fn an_expression_is_a_constant_strategy_or_name() {
    let computed = |expression: Value| policy(event(), json!({"mode": "Expression", "expression": expression}));
    let attempts = |expression: Value| computed(expression).0.map(|policy| policy.max_attempts);
    assert_eq!(attempts(json!({"type": "Literal", "value": "usual"})), Some(4));
    assert_eq!(attempts(json!({"type": "Object", "value": "{\"maxRetryAttempts\": 9}"})), Some(10));
    assert_eq!(attempts(json!({"type": "Object", "value": {"maxRetryAttempts": 9}})), Some(10));
    let (found, warnings) = computed(json!({"type": "Object", "value": {"backoffType": "Sometimes"}}));
    assert_eq!((found, warnings.len()), (None, 1));
    // An unreadable strategy is ignored.
    let place = "/root/customProperties/resilienceStrategy/expression";
    for unreadable in [json!({"type": "CSharp", "value": "Pick(3)"}), json!({"js": "getS("}), json!({"var": "S"})] {
        let (found, warnings) = computed(unreadable);
        assert_eq!((found, warnings.len()), (None, 1), "{warnings:?}");
        assert!(warnings[0].starts_with(place), "{warnings:?}");
        assert!(warnings[0].ends_with(": the activity runs without a resilience strategy"), "{warnings:?}");
    }
}

/// A world whose activity type `Approval` fails with this code. Its strategy is the value of the variable `S`.
fn failing(strategy: Value, expression: Value) -> World {
    let known = json!({"once": {"maxRetryAttempts": 1, "delay": "00:00:05"}});
    let mut world =
        World::new(json!({"options": {"resilienceStrategies": known}, "variables": {"S": strategy}, "root": [
        {"id": "call", "type": "Approval", "customProperties":
            {"resilienceStrategy": {"mode": "Expression", "expression": expression}}}]}));
    world.host.functions.insert("Approval".into(), |_| Err(Fault::new("ZB001", "the bank is closed")));
    world.start();
    world
}

fn of_variable() -> Value {
    json!({"type": "JavaScript", "value": "getS()"})
}

#[test]
fn an_expression_is_computed_for_each_attempt() {
    let small = json!({"maxRetryAttempts": 1, "delay": "00:00:05", "displayName": "small"});
    for strategy in [json!("once"), small.clone(), json!(small.to_string())] {
        for expression in [of_variable(), json!({"var": "S"}), json!({"type": "Variable", "value": "S"})] {
            let mut world = failing(strategy.clone(), expression);
            assert_eq!(world.bookmarks[0].due_at.expect("a due time").to_rfc3339(), "2027-01-15T08:00:05+00:00");
            world.resume_at(0, None);
            assert_eq!(world.status(), SubStatus::Faulted);
            assert_eq!(
                (world.last.incidents[0].attempts, world.last.incidents[0].fault.sqlstate.as_str()),
                (2, "ZB001")
            );
        }
    }
    // The next attempt computes it again.
    let mut world = failing(json!("once"), of_variable());
    world.instance.variables.insert("S".into(), Value::Null);
    world.resume_at(0, None);
    assert_eq!((world.status(), world.last.incidents[0].attempts), (SubStatus::Faulted, 2));
    world.instance.variables.insert("S".into(), json!({"maxRetryAttempts": 7}));
    world.retry(None).expect("it is faulted");
    assert_eq!(world.status(), SubStatus::Suspended);
}

#[test]
fn an_expression_without_a_strategy_gives_no_attempt() {
    for none in [json!(null), json!("other"), json!("")] {
        let world = failing(none, of_variable());
        assert_eq!((world.status(), world.last.incidents[0].attempts), (SubStatus::Faulted, 1));
        assert_eq!(world.last.incidents[0].fault.sqlstate, "ZB001");
    }
    for (wrong, message) in [
        (json!(7), "a resilience strategy must be an object, not a number"),
        (json!([]), "a resilience strategy must be an object, not an array"),
        (json!({"useJitter": 3}), "\"useJitter\" must be a boolean"),
    ] {
        let world = failing(wrong, of_variable());
        let fault = &world.last.incidents[0].fault;
        assert_eq!((fault.sqlstate.as_str(), fault.message.as_str()), ("22023", message));
        assert_eq!(fault.context.as_deref(), Some("input \"resilienceStrategy\""));
    }
    let world = failing(json!("once"), json!({"js": "nothing.there"}));
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 0));
}

/// A world whose activity type `Approval` fails, with these options and this root.
fn world(options: Value, root: Value) -> World {
    let mut world = World::new(json!({"options": options, "variables": {"S": null}, "root": root}));
    world.host.functions.insert("Approval".into(), |_| Err(Fault::new("ZB001", "the bank is closed")));
    world.start();
    world
}

fn computed(expression: &str) -> Value {
    json!({"resilienceStrategy": {"mode": "Expression", "expression": {"type": "JavaScript", "value": expression}}})
}

#[test]
fn without_a_strategy_the_policy_of_all_activities_counts() {
    let options = json!({"retry": {"maxAttempts": 3, "delay": "00:00:07"}});
    for (expression, due) in [("null", "07"), ("'unknown'", "07"), ("({delay: '00:00:09'})", "09")] {
        let call = json!({"id": "call", "type": "Approval", "customProperties": computed(expression)});
        let world = world(options.clone(), call);
        let due_at = world.bookmarks[0].due_at.expect("a due time").to_rfc3339();
        assert_eq!(due_at, format!("2027-01-15T08:00:{due}+00:00"), "{expression}");
    }
    let call = json!({"type": "SendHttpRequest", "url": "https://a.example", "enableResiliency": true, "customProperties": computed("null")});
    assert_eq!(program(json!({ "root": call })).nodes[0].retry_policy(None).map(|policy| policy.max_attempts), Some(9));
}

#[test]
fn a_container_begins_again_by_what_it_has_computed() {
    let call = json!({"id": "call", "type": "Approval"});
    let root = json!({"id": "all", "type": "Sequence", "activities": [line("first"), call], "customProperties":
        computed("({maxRetryAttempts: 1, delay: '00:00:05'})")});
    let mut world = world(json!({}), root);
    assert_eq!((world.status(), world.waiting()), (SubStatus::Suspended, vec!["all"]));
    world.resume_at(0, None);
    assert_eq!((world.status(), world.lines()), (SubStatus::Faulted, vec!["first", "first"]));
}

#[test]
fn an_activity_in_the_background_computes_it_when_it_begins() {
    let call = json!({"id": "call", "type": "Approval", "runAsynchronously": true, "customProperties": computed("({delay: '00:00:05'})")});
    let mut world = world(json!({}), call);
    assert_eq!(world.bookmarks[0].due_at.expect("a due time").to_rfc3339(), "2027-01-15T08:00:00+00:00");
    world.resume_at(0, None);
    assert_eq!(world.bookmarks[0].due_at.expect("a due time").to_rfc3339(), "2027-01-15T08:00:05+00:00");
}

#[test]
fn a_catch_takes_the_fault_of_an_expression() {
    let root = json!({"type": "Try", "body": {"type": "Approval", "customProperties": computed("7")},
        "catch": [{"on": ["22023"], "body": line("caught")}]});
    let world = world(json!({}), root);
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["caught"]));
}

#[test]
fn an_activity_without_a_known_one_runs_without_it() {
    for none in [json!(null), json!({}), json!({"mode": "Identifier"}), json!({"strategyId": ""})] {
        assert_eq!(policy(event(), none), (None, vec![]));
    }
    for unreadable in [json!("usual"), json!({"strategyId": 7}), json!({"strategyid": "usual"})] {
        let (found, warnings) = policy(event(), unreadable);
        assert_eq!((found, warnings.len()), (None, 1));
    }
    for unknown in ["other", "wrong"] {
        let (found, warnings) = policy(event(), named(unknown));
        assert_eq!((found, warnings.len()), (None, 1));
        assert!(
            warnings[0].ends_with(&format!("unknown resilience strategy \"{unknown}\": the activity runs without it"))
        );
    }
}

#[test]
fn a_policy_of_the_activity_comes_before_it() {
    let mut root = event();
    root["retry"] = json!({"maxAttempts": 2});
    root["customProperties"] = json!({ "resilienceStrategy": named("usual") });
    assert_eq!(
        validated(root).program.expect("a program").nodes[0].retry_policy(None).map(|policy| policy.max_attempts),
        Some(2)
    );
}

#[test]
fn what_a_strategy_of_a_definition_cannot_be() {
    for (strategies, message) in [
        (json!(7), "\"resilienceStrategies\" must be an object or a list, not a number"),
        (json!([{"maxRetryAttempts": 3}]), "a resilience strategy needs an \"id\""),
        (json!({"a": 3}), "a resilience strategy must be an object, not a number"),
        (json!({"a": {"maxRetryAttempts": -1}}), "\"maxRetryAttempts\" must be a whole number from 0 to 999999"),
        (json!({"a": {"backoffType": 3}}), "\"backoffType\" must be \"Constant\", \"Linear\" or \"Exponential\""),
        (
            json!({"a": {"delay": "soon"}}),
            "\"delay\" must be an interval such as \"00:00:01\", without months, not negative and at most 100 years",
        ),
        (
            json!({"a": {"delay": "36526 days"}}),
            "\"delay\" must be an interval such as \"00:00:01\", without months, not negative and at most 100 years",
        ),
        (json!({"a": {"useJitter": 1}}), "\"useJitter\" must be a boolean"),
    ] {
        let document =
            json!({"definitionId": "test", "options": {"resilienceStrategies": strategies}, "root": event()});
        let validated = validate(&document, &(), &ReadLimits { is_new: true, ..ReadLimits::default() }, false);
        assert_eq!(validated.program.expect_err("a problem")[0].message, message);
    }
}
