//! Scripts share a time limit: when they exceed it, when that is a fault, and which scripts are exempt.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

use super::*;
use crate::tests_support::TestScope;
use crate::{javascript, liquid};

const ENDLESS: &str = "while (true) {}";

fn scope(time: Duration) -> TestScope {
    let mut scope = TestScope::with(json!({"items": (0..3000).collect::<Vec<_>>()}));
    scope.limits.time = time;
    scope
}

/// Whether the host was asked to end the burst: its check unwinds.
fn ends_the_burst<R>(body: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(body)).is_err()
}

#[test]
fn without_shared_time_a_script_that_takes_too_long_is_a_fault() {
    let fault = javascript::evaluate(ENDLESS, &mut scope(Duration::from_millis(20))).unwrap_err();
    assert_eq!(fault.sqlstate, "54000");
    assert!(!is_short());
}

#[test]
fn the_first_script_has_its_whole_time_and_the_next_one_does_not_fit() {
    let time = SharedTime::of(Duration::from_millis(20));
    let mut scope = scope(Duration::from_millis(20));
    {
        let _in_force = time.begin();
        assert_eq!(javascript::evaluate(ENDLESS, &mut scope).unwrap_err().sqlstate, "54000");
        assert!(!is_short(), "it is its own fault");
        assert!(ends_the_burst(|| javascript::evaluate("1 + 1", &mut scope)));
        assert!(is_short());
    }
    assert!(!is_short(), "outside nothing is in force");
    assert!(time.was_short());
    assert!(!time.was_short(), "told once");
    assert_eq!(javascript::evaluate("1 + 1", &mut scope).unwrap(), json!(2), "not of another owner");
    let _in_force = time.begin();
    assert!(!is_short(), "another burst may be without scripts");
    assert!(ends_the_burst(|| javascript::evaluate("1 + 1", &mut scope)));
}

#[test]
fn many_short_scripts_use_it_up_together() {
    let time = SharedTime::of(Duration::from_millis(30));
    let mut scope = scope(Duration::from_millis(30));
    let _in_force = time.begin();
    let mut rounds = 0u32;
    let script = "for (let i = 0; i < 20000; i++); 1";
    while !ends_the_burst(|| drop(javascript::evaluate(script, &mut scope))) {
        rounds += 1;
        assert!(rounds < 100_000, "it never ends");
    }
    assert!(is_short());
}

#[test]
fn templates_share_it_as_well() {
    let time = SharedTime::of(Duration::from_millis(20));
    let mut scope = scope(Duration::from_millis(20));
    let _in_force = time.begin();
    assert!(javascript::evaluate(ENDLESS, &mut scope).is_err());
    let template = liquid::LiquidTemplate::compile("{{ 1 }}").unwrap();
    assert!(ends_the_burst(|| liquid::evaluate(&template, &mut scope)));
}

#[test]
fn a_script_inside_another_one_is_not_counted_twice() {
    let time = SharedTime::of(Duration::from_secs(5));
    let mut scope = scope(Duration::from_secs(5));
    let _in_force = time.begin();
    let turn = Turn::begin(&mut ScriptLimits::default(), &mut scope).unwrap();
    std::thread::sleep(Duration::from_millis(2));
    drop(Turn::begin(&mut ScriptLimits::default(), &mut scope).unwrap());
    assert_eq!(time.0.left.get(), Duration::from_secs(5), "the outer one has not ended");
    drop(turn);
    let used = Duration::from_secs(5) - time.0.left.get();
    assert!(used >= Duration::from_millis(2), "{used:?}");
}
