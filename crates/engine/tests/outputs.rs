//! Outputs and results that an execution reads, compared with a model.
//!
//! Random trees of sequences, parallel bodies, loops and flowcharts, with waits that end in any order. Each activity
//! that produces a result includes the rounds of the enclosing loops in the value, so a value shows in which round it
//! was produced. `PROPTEST_CASES` sets the number of cases.

mod support;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use support::World;
use workflow_engine::instance::SubStatus;

/// A part of a random workflow.
#[derive(Clone, Debug)]
enum Part {
    /// Produces a result.
    Make,
    /// Writes what it can read.
    Read,
    Wait,
    Sequence(Vec<Part>),
    Parallel(Vec<Part>),
    /// A flowchart whose branches start at a fork and end at a join.
    Chart(Vec<Part>),
    /// A loop over this many items, whose bodies run in parallel or one after another.
    Loop(bool, u8, Box<Part>),
}

fn part() -> impl Strategy<Value = Part> {
    let leaf = prop_oneof![3 => Just(Part::Make), 3 => Just(Part::Read), 2 => Just(Part::Wait)];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 1..5).prop_map(Part::Sequence),
            2 => prop::collection::vec(inner.clone(), 1..4).prop_map(Part::Parallel),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(Part::Chart),
            3 => (any::<bool>(), 1u8..4, inner).prop_map(|(beside, items, body)| Part::Loop(beside, items, body.into())),
        ]
    })
}

/// What a reader must see of one activity that produces results.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Nothing,
    /// The result of this round: the value ends with this path after that of the reader.
    Exactly(String),
    /// Nothing, or the result of the same round of this many loops around both.
    Own(usize),
}

/// The model: the results produced before an activity starts, as far as the order is certain.
#[derive(Clone, Default)]
struct Model {
    made: Vec<(String, Seen)>,
    /// The latest result: `None` where the order of branches decides.
    last: Option<Seen>,
}

/// Builds the document, and records what each reader must see.
#[derive(Default)]
struct Builder {
    next: usize,
    /// Number of enclosing loops.
    depth: usize,
    readers: Vec<(String, Model)>,
}

impl Builder {
    fn id(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn build(&mut self, part: &Part, model: &mut Model) -> Value {
        match part {
            Part::Make => {
                let id = self.id("m");
                let value =
                    json!({"id": id, "type": "RunJavaScript", "script": format!("return '{id}' + getCurrentValue()")});
                model.set(&id, Seen::Exactly(String::new()));
                model.last = Some(Seen::Exactly(id));
                value
            }
            Part::Read => {
                let id = self.id("r");
                self.readers.push((id.clone(), model.clone()));
                json!({"id": id, "type": "WriteLine", "text": {"js": format!("JSON.stringify(['{id}', getCurrentValue(), getLastResult() ?? null, READ])")}})
            }
            Part::Wait => {
                let id = self.id("w");
                json!({"id": id, "type": "Delay", "timeSpan": "01:00:00"})
            }
            Part::Sequence(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.build(part, model)).collect();
                json!({"id": self.id("s"), "type": "Sequence", "activities": parts})
            }
            Part::Parallel(parts) => {
                let parts = self.beside(parts, model);
                json!({"id": self.id("p"), "type": "Parallel", "activities": parts})
            }
            Part::Chart(parts) => {
                let parts = self.beside(parts, model);
                let (fork, join) = (self.id("f"), self.id("j"));
                let branch = |part: &Value| part["id"].clone();
                let mut connections: Vec<Value> = parts.iter().map(|part| json!([fork, branch(part)])).collect();
                connections.extend(parts.iter().map(|part| json!([branch(part), join])));
                let ends =
                    [json!({"id": fork, "type": "Start"}), json!({"id": join, "type": "FlowJoin", "mode": "WaitAll"})];
                json!({"id": self.id("c"), "type": "Flowchart", "activities": ends.into_iter().chain(parts).collect::<Vec<_>>(),
                    "connections": connections})
            }
            Part::Loop(beside, items, body) => {
                let mut inside = model.clone();
                // A later round starts with the result of the previous one.
                if !beside {
                    inside.last = None;
                }
                let (known, before) = (inside.made.len(), inside.last.clone());
                self.depth += 1;
                let body = self.build(body, &mut inside);
                self.depth -= 1;
                let path = |at: u8| format!("/{at}");
                for (id, seen) in inside.made.drain(known..) {
                    let seen = match (seen, beside) {
                        (Seen::Exactly(rest), false) => Seen::Exactly(path(items - 1) + &rest),
                        (Seen::Exactly(rest), true) if *items == 1 => Seen::Exactly(path(0) + &rest),
                        _ => Seen::Own(self.depth),
                    };
                    model.set(&id, seen);
                }
                model.last = before.filter(|before| inside.last.as_ref() == Some(before));
                let kind = if *beside { "ParallelForEach" } else { "ForEach" };
                let items = format!("return [...Array({items}).keys()].map(at => getCurrentValue() + '/' + at)");
                json!({"id": self.id("l"), "type": kind, "items": {"js": items}, "body": body})
            }
        }
    }

    /// Parallel branches: the results of one may or may not be visible to the others.
    fn beside(&mut self, parts: &[Part], model: &mut Model) -> Vec<Value> {
        let before = model.clone();
        let reader = self.readers.len();
        let (mut built, mut after) = (Vec::new(), Vec::new());
        for part in parts {
            let mut inside = before.clone();
            built.push(self.build(part, &mut inside));
            after.push(inside);
        }
        for inside in &after {
            let made = inside.made[before.made.len()..].iter().map(|(id, _)| id);
            for id in made {
                for (_, seen) in &mut self.readers[reader..] {
                    if !seen.made.iter().any(|(known, _)| known == id) {
                        seen.made.push((id.clone(), Seen::Own(self.depth)));
                    }
                }
            }
        }
        // A branch that makes no result leaves the latest one as it was, which need not be known.
        let changed: Vec<&Model> = after.iter().filter(|inside| inside.made.len() > before.made.len()).collect();
        model.last = match changed[..] {
            [] => before.last.clone(),
            // The one result that is later than all others.
            [only] => only.last.clone(),
            _ => None,
        };
        for inside in &after {
            model.made.extend_from_slice(&inside.made[before.made.len()..]);
        }
        built
    }
}

impl Model {
    fn set(&mut self, id: &str, seen: Seen) {
        self.made.push((id.to_owned(), seen));
    }
}

/// Compares what a reader has written with the model.
fn check(line: &str, readers: &[(String, Model)], all: &[String]) {
    let line: Value = serde_json::from_str(line).expect("what a reader writes");
    let (reader, path) = (line[0].as_str().expect("an id"), line[1].as_str().expect("a path"));
    let model = &readers.iter().find(|(id, _)| id == reader).expect("a reader").1;
    for (id, value) in all.iter().zip(line[3].as_array().expect("a list")) {
        let known = model.made.iter().find(|(known, _)| known == id).map_or(&Seen::Nothing, |(_, seen)| seen);
        let made = value.as_str().map(|text| text.strip_prefix(id.as_str()).expect("its own value"));
        match known {
            Seen::Nothing => assert_eq!(made, None, "{reader}{path} reads {id}"),
            Seen::Exactly(rest) => {
                let made = made.unwrap_or_else(|| panic!("{reader}{path} reads nothing of {id}"));
                let around = made.strip_suffix(rest.as_str()).unwrap_or_else(|| panic!("{reader}{path} reads {value}"));
                assert!(path == around || path.starts_with(&format!("{around}/")), "{reader}{path} reads {value}");
            }
            Seen::Own(depth) => {
                let round = |path: &str| path.split('/').take(depth + 1).map(str::to_owned).collect::<Vec<_>>();
                assert!(made.is_none_or(|made| round(made) == round(path)), "{reader}{path} reads {value}");
            }
        }
    }
    if let Some(Seen::Exactly(id)) = &model.last {
        let last = line[2].as_str().and_then(|text| text.strip_prefix(id.as_str()));
        let last = last.unwrap_or_else(|| panic!("{reader}{path} sees {} instead of {id}", line[2]));
        assert!(path.starts_with(last), "{reader}{path} sees {}", line[2]);
    }
    if model.last == Some(Seen::Nothing) {
        assert_eq!(line[2], Value::Null, "{reader}{path}");
    }
}

/// Runs a workflow. The waits end in the given order.
fn run(part: &Part, order: &[Index]) {
    let mut builder = Builder::default();
    let mut model = Model { last: Some(Seen::Nothing), ..Model::default() };
    let root = builder.build(&Part::Sequence(vec![part.clone(), Part::Read]), &mut model);
    let all: Vec<String> = model.made.iter().map(|(id, _)| id.clone()).collect();
    let reads: Vec<String> = all.iter().map(|id| format!("getOutputFrom('{id}') ?? null")).collect();
    let root = root.to_string().replace("READ", &format!("[{}]", reads.join(", ")));
    let root: Value = serde_json::from_str(&root).expect("a document");
    let mut world = World::started(json!({"variables": {"CurrentValue": ""}, "root": root}));
    let mut order = order.iter().cycle();
    while !world.bookmarks.is_empty() {
        let next = order.next().expect("an order").index(world.bookmarks.len());
        world.resume_at(next, None);
    }
    assert_eq!(world.status(), SubStatus::Finished, "{:?}", world.incidents);
    assert!(!world.lines().is_empty());
    for line in world.lines() {
        check(line, &builder.readers, &all);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn every_reader_sees_what_was_made_around_it(part in part(), order in prop::collection::vec(any::<Index>(), 1..40)) {
        run(&part, &order);
    }
}
