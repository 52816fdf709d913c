//! Scenarios from Elsa's own tests: definitions, and what they write and wait for in each burst (`flows/SUBJECT.json`).
//!
//! Each burst passes the codec and the invariants of `support`.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use support::World;

mod support;

/// A definition, the input of its start, and its bursts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Flow {
    claim: String,
    root: Value,
    #[serde(default = "empty")]
    variables: Value,
    #[serde(default = "empty")]
    options: Value,
    #[serde(default = "empty")]
    input: Value,
    steps: Vec<Step>,
}

/// A burst: the start, or the resume of an activity's bookmark.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    resume: Option<String>,
    #[serde(default)]
    input: Value,
    lines: Vec<String>,
    status: String,
    /// The activities with bookmarks, sorted.
    #[serde(default)]
    waits: Vec<String>,
    /// Activity and message of each incident so far.
    #[serde(default)]
    incidents: Vec<(String, String)>,
}

fn empty() -> Value {
    json!({})
}

fn check(subject: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/flows/{subject}.json"));
    let flows: Vec<Flow> = serde_json::from_str(&std::fs::read_to_string(&file).expect("the flows")).expect("flows");
    assert!(!flows.is_empty());
    for flow in flows {
        let definition = json!({"root": flow.root, "variables": flow.variables, "options": flow.options});
        let mut world = World::with_input(definition, flow.input);
        for (number, step) in flow.steps.into_iter().enumerate() {
            let at = format!("{subject}, step {number}: {}", flow.claim);
            match step.resume {
                None => world.start(),
                Some(activity) => world.resume(&activity, step.input),
            }
            assert_eq!(world.take_lines(), step.lines, "{at}");
            assert_eq!(format!("{:?}", world.status()), step.status, "{at}");
            let mut waits: Vec<&str> = world.bookmarks.iter().map(|bookmark| &*bookmark.activity_id).collect();
            waits.sort_unstable();
            assert_eq!(waits, step.waits, "{at}");
            let incidents = world.incidents.iter();
            let mut incidents: Vec<_> = incidents.map(|i| (i.activity_id.clone(), i.fault.message.clone())).collect();
            incidents.sort_unstable();
            assert_eq!(incidents, step.incidents, "{at}");
        }
    }
}

#[test]
fn sequences_and_what_ends_them() {
    check("sequence");
}

#[test]
fn loops_over_items_and_what_changes_meanwhile() {
    check("loops");
}

#[test]
fn branches() {
    check("branching");
}

#[test]
fn waiting_and_leaving_what_waits() {
    check("blocking");
}
