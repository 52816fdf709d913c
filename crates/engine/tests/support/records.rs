//! What happened to the records of a world's instance: the calls of the host, compared with the journal.

use std::collections::{BTreeMap, BTreeSet};

use workflow_engine::NodeIx;
use workflow_engine::execution::COMPENSATION_DROPPED;
use workflow_engine::instance::compensation::{HELD_BY_INTERRUPTION, Record};
use workflow_engine::journal::{Event, EventKind};

use super::World;

/// Maximum number of activities named in incidents and messages.
const NAMED: usize = 10;

/// The records that the host received, and what happened to them.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// All that were ever stored, by number.
    stored: BTreeMap<u32, Stored>,
    /// Those removed one by one, in order.
    handled: Vec<u32>,
    /// Those removed together with all remaining ones.
    rest: Vec<u32>,
    /// The holders of the last move.
    moved: Option<(u32, u32)>,
}

#[derive(Clone, Debug)]
struct Stored {
    node: NodeIx,
    /// The execution that created it.
    execution: u32,
    is_interrupted: bool,
    /// The records among which it was found, if it was.
    among: Option<BTreeSet<u32>>,
}

impl Recorded {
    pub fn moved(&mut self, from: u32, to: u32) {
        self.moved = Some((from, to));
    }

    pub fn stored(&mut self, record: &Record) {
        let held = self.moved.filter(|(_, to)| *to == record.number);
        let (execution, _) = held.expect("a record takes over what its execution has held");
        let (node, is_interrupted) = (record.kept.node, record.holder == HELD_BY_INTERRUPTION);
        let before = self.stored.insert(record.number, Stored { node, execution, is_interrupted, among: None });
        assert!(before.is_none(), "no number is given twice");
    }

    /// A record was found among those requested.
    pub fn found(&mut self, number: u32, among: BTreeSet<u32>) {
        if let Some(stored) = self.stored.get_mut(&number) {
            stored.among = Some(match stored.among.take() {
                Some(before) => &before & &among,
                None => among,
            });
        }
    }

    pub fn handled(&mut self, number: u32) {
        self.handled.push(number);
    }

    pub fn dropped(&mut self, rest: impl IntoIterator<Item = u32>) {
        self.rest.extend(rest);
    }
}

impl World {
    /// Asserts that each completed `Compensable` was compensated, or confirmed, or named when the remaining ones were
    /// dropped, that no other was, and that all this happened in order. For an instance that has ended.
    pub fn check_handled(&self) {
        let Recorded { stored, handled, rest, .. } = &self.host.recorded;
        self.check_left();
        let mut gone: Vec<u32> = handled.iter().chain(rest).copied().collect();
        gone.sort_unstable();
        assert_eq!(gone, stored.keys().copied().collect::<Vec<_>>(), "each is handled or dropped, and once");
        let is_told = |event: &&Event| {
            matches!(event.kind, EventKind::Compensated | EventKind::Confirmed | EventKind::CancellationHandled)
        };
        let told: Vec<&Event> = self.trail.iter().filter(is_told).collect();
        assert_eq!(told.len(), handled.len(), "each that was handled is told of");
        for (number, event) in handled.iter().zip(told) {
            let record = &stored[number];
            assert_eq!(self.program.node(record.node).id, event.activity_id);
            assert_eq!(record.is_interrupted, event.kind == EventKind::CancellationHandled, "record {number}");
            let among = record.among.as_ref().expect("it was asked for");
            let first = if event.kind == EventKind::Confirmed { among.first() } else { among.last() };
            assert_eq!(first, Some(number), "{:?} out of turn among {among:?}", event.kind);
        }
        self.check_dropped();
    }

    /// Each execution of a completed `Compensable` has created one record. Their numbers have the order of completion.
    fn check_left(&self) {
        let is_one = |node: NodeIx| self.program.node(node).type_name == "Workflow.Compensable";
        let mut left = BTreeMap::new();
        let stored = self.host.recorded.stored.iter();
        for (number, record) in stored.filter(|(_, record)| !record.is_interrupted && is_one(record.node)) {
            assert!(left.insert(record.execution, *number).is_none(), "{} left two", record.execution);
        }
        let completed = self
            .trail
            .iter()
            .filter(|event| event.kind == EventKind::Completed && event.activity_type == "Compensable");
        let execution = |event: &Event| event.execution.expect("events of an activity have it");
        let numbers: Vec<u32> = completed
            .map(|event| left.remove(&execution(event)).expect("what has completed has left a record"))
            .collect();
        assert!(numbers.is_sorted_by(|before, after| before < after), "{numbers:?}");
        // The activity that ends the run has an event; the enclosing ones end with it.
        let nodes: BTreeSet<NodeIx> = left.values().map(|number| self.host.recorded.stored[number].node).collect();
        assert_eq!(nodes.len(), left.len());
        assert!(nodes.is_empty() || self.are_around_an_end(&nodes), "{left:?}");
    }

    /// Whether these are the `Compensable`s around an activity that ended the run: a handler of what it has ended may
    /// also end the run.
    fn are_around_an_end(&self, nodes: &BTreeSet<NodeIx>) -> bool {
        let ends = |event: &&Event| {
            event.kind == EventKind::Completed && ["Complete", "Finish"].contains(&event.activity_type.as_str())
        };
        self.trail.iter().filter(ends).any(|end| {
            let around = std::iter::successors(self.program.find(&end.activity_id), |ix| self.program.node(*ix).parent);
            let around = around.filter(|ix| self.program.node(*ix).type_name == "Workflow.Compensable");
            around.collect::<BTreeSet<_>>() == *nodes
        })
    }

    /// Dropped records are named in an incident, the newest first. A run that finishes leaves records without a
    /// confirmation handler, without naming them.
    fn check_dropped(&self) {
        let Recorded { stored, rest, .. } = &self.host.recorded;
        let is_it = |code: Option<&str>| code == Some(COMPENSATION_DROPPED);
        let mut incidents = self.incidents.iter().filter(|incident| is_it(incident.fault.code.as_deref()));
        let Some(incident) = incidents.next() else {
            let may_stay = !self.program.compensation().has_confirmation
                && self.trail.iter().any(|event| event.kind == EventKind::WorkflowFinished);
            assert!(rest.is_empty() || may_stay, "{rest:?} dropped");
            return;
        };
        assert_eq!(incidents.next(), None);
        let newest = rest.iter().rev().map(|number| format!("\"{}\"", self.program.node(stored[number].node).id));
        let names = newest.take(NAMED).collect::<Vec<_>>().join(", ");
        let more = match rest.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        assert_eq!(incident.fault.detail, Some(format!("Not compensated: {names}{more}.")));
    }
}
