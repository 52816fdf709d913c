//! Elsa's resilience strategies: which policy an activity gets from them.

use chrono::TimeDelta;
use serde_json::{Value, json};
use workflow_engine::definition::{ActivityTypes, CustomType, Judged, ReadLimits, judge};
use workflow_engine::retry::{Backoff, Cause, RetryPolicy};

/// A host that knows a strategy for all definitions.
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

fn judged(root: Value) -> Judged {
    let own = json!({"own": {"maxRetryAttempts": 0, "delay": "00:00:05", "backoffType": "Linear", "useJitter": true}});
    let document = json!({"definitionId": "test", "options": {"resilienceStrategies": own}, "root": root});
    judge(&document, &Common, &ReadLimits { is_new: true, ..ReadLimits::default() }, false)
}

/// An activity with this strategy: its policy, and the warnings.
fn policy(kind: Value, strategy: Value) -> (Option<RetryPolicy>, Vec<String>) {
    let mut root = kind;
    root["customProperties"] = json!({ "resilienceStrategy": strategy });
    let judged = judged(root);
    let program = judged.program.expect("a program");
    let warnings = judged.warnings.into_iter().map(|warning| format!("{}: {}", warning.path, warning.message));
    (program.nodes[0].retry.as_deref().cloned(), warnings.collect())
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
    // Those of the definition come first.
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
    let (found, warnings) = computed(json!({"type": "JavaScript", "value": "getS()"}));
    assert_eq!(found, None);
    let place = "/root/customProperties/resilienceStrategy";
    assert_eq!(
        warnings,
        [format!("{place}: a resilience strategy is not computed here: the activity runs without it")]
    );
    let (found, warnings) = computed(json!({"type": "Object", "value": {"backoffType": "Sometimes"}}));
    assert_eq!((found, warnings.len()), (None, 1));
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
        judged(root).program.expect("a program").nodes[0].retry.as_ref().map(|policy| policy.max_attempts),
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
            "\"delay\" must be an interval such as \"00:00:01\", without months and not negative",
        ),
        (json!({"a": {"useJitter": 1}}), "\"useJitter\" must be a boolean"),
    ] {
        let document =
            json!({"definitionId": "test", "options": {"resilienceStrategies": strategies}, "root": event()});
        let judged = judge(&document, &(), &ReadLimits { is_new: true, ..ReadLimits::default() }, false);
        assert_eq!(judged.program.expect_err("a problem")[0].message, message);
    }
}
