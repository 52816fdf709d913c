//! The progress of a run, from its journal and from its open executions.

use std::collections::{BTreeSet, HashMap, HashSet};

use workflow_core::NodeIx;
use workflow_core::instance::compensation::Unwinding;
use workflow_core::instance::{ActivityStatus, Context, Memory, State};
use workflow_core::journal::{Event, EventKind};
use workflow_core::program::{ExecutionTracker, Program, Subject};
use workflow_value::value::Json;

/// Maximum number of outcomes that are kept for one activity; more cannot be drawn.
const MAX_OUTCOMES: usize = 100;
/// Maximum length in bytes of the remarks on one activity, after which none is added: a tooltip shows no more.
const MAX_REMARKS: usize = 400;

/// The standing of an activity: how far a run has come with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The run has not reached it.
    Unreached,
    /// Started, and something inside it waits.
    Open,
    /// Ended, this number of times.
    Ran(u64),
    /// Ended, and can be compensated.
    Compensable,
    /// Ended, and was compensated.
    Compensated,
    /// Waits to be resumed.
    Waits,
    /// Waits, and nothing resumes it before the pause of the run ends.
    Paused,
    /// A fault stopped it.
    Faulted,
    /// Started and cancelled.
    Cancelled,
}

/// The standing of each activity in a run.
#[derive(Debug)]
pub struct Progress<'p> {
    nodes: Vec<Trace>,
    executions: ExecutionTracker<'p>,
    /// The states in which each state machine has been.
    machines: HashMap<NodeIx, States>,
    is_paused: bool,
    has_failed: bool,
}

/// The states in which a machine has been.
#[derive(Clone, Debug, Default)]
struct States {
    visits: HashMap<String, u64>,
    moves: HashSet<(String, String)>,
    /// The last of them, and the execution of the machine that entered it: another execution did not come from there.
    last: Option<(Option<u32>, String)>,
}

impl States {
    fn enter(&mut self, execution: Option<u32>, name: &str) {
        *self.visits.entry(name.to_owned()).or_default() += 1;
        if let Some((before, from)) = self.last.replace((execution, name.to_owned()))
            && before == execution
        {
            self.moves.insert((from, name.to_owned()));
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Trace {
    begun: u64,
    ended: u64,
    waits: bool,
    faulted: bool,
    is_open: bool,
    is_compensable: bool,
    is_compensated: bool,
    /// Its last execution had a fault.
    had_fault: bool,
    outcomes: BTreeSet<String>,
    remarks: String,
}

impl<'p> Progress<'p> {
    /// A run without any event yet.
    pub fn new(program: &'p Program) -> Self {
        let machines = (0u32..).zip(&program.nodes).filter(|(_, node)| node.machine.is_some());
        Self {
            nodes: vec![Trace::default(); program.nodes.len()],
            executions: ExecutionTracker::new(program),
            machines: machines.map(|(ix, _)| (NodeIx(ix), States::default())).collect(),
            is_paused: false,
            has_failed: false,
        }
    }

    /// Records the next event of the journal.
    pub fn event(&mut self, event: &Event) {
        let Some(Subject { node, is_new, .. }) = self.executions.next(event) else { return };
        let trace = &mut self.nodes[node.0 as usize];
        trace.begun += u64::from(is_new);
        trace.had_fault &= !is_new;
        match event.kind {
            EventKind::Faulted => trace.had_fault = true,
            EventKind::Compensated => trace.is_compensated = true,
            EventKind::Completed => {
                trace.ended += 1;
                (trace.had_fault, trace.is_compensated) = (false, false);
                note_outcomes(&mut trace.outcomes, event.data.as_ref());
            }
            EventKind::Note => {
                let state = event.data.as_ref().and_then(|data| data.0.get("state")?.as_str());
                if let (Some(machine), Some(state)) = (self.machines.get_mut(&node), state) {
                    machine.enter(event.execution, state);
                }
            }
            _ => {}
        }
    }

    /// Records the executions that are open now.
    pub fn open(&mut self, state: &State) {
        let is_of_instance = |context: &Context| matches!(context.memory, Memory::Unwinding(Unwinding::Instance(_)));
        for context in state.contexts.values().filter(|context| !is_of_instance(context)) {
            if let Some(trace) = self.nodes.get_mut(context.node.0 as usize) {
                trace.begun = trace.begun.max(1);
                trace.is_open = true;
                trace.waits |= context.waits() > 0;
                trace.faulted |= context.status == ActivityStatus::Faulted;
            }
        }
    }

    /// Records that the run is paused.
    pub fn paused(&mut self) {
        self.is_paused = true;
    }

    /// Records that a fault has ended the run for good: the activity that had it is shown as faulted, although it
    /// was cancelled with all others.
    pub fn failed(&mut self) {
        self.has_failed = true;
    }

    /// Records the activities that can be compensated, by their paths.
    pub fn compensable<'a>(&mut self, program: &Program, node_ids: impl Iterator<Item = &'a str>) {
        let node_ids: HashSet<&str> = node_ids.collect();
        for (node, trace) in program.nodes.iter().zip(&mut self.nodes) {
            trace.is_compensable = node_ids.contains(&*node.node_id);
        }
    }

    /// Records a remark on an activity.
    pub fn remark(&mut self, node: NodeIx, remark: &str) {
        let Some(Trace { remarks, .. }) = self.nodes.get_mut(node.0 as usize) else { return };
        if remarks.len() < MAX_REMARKS {
            remarks.push_str(if remarks.is_empty() { "" } else { ", " });
            remarks.push_str(remark);
        }
    }

    /// The remarks on an activity; empty if there are none.
    pub(super) fn remarks(&self, node: NodeIx) -> &str {
        self.nodes.get(node.0 as usize).map_or("", |trace| &trace.remarks)
    }

    /// The standing of an activity in this run.
    pub fn standing(&self, node: NodeIx) -> Standing {
        match self.nodes.get(node.0 as usize) {
            Some(trace) if trace.faulted => Standing::Faulted,
            Some(trace) if trace.waits && self.is_paused => Standing::Paused,
            Some(trace) if trace.waits => Standing::Waits,
            Some(trace) if trace.is_open => Standing::Open,
            Some(trace) if trace.is_compensable => Standing::Compensable,
            Some(trace) if trace.had_fault && self.has_failed => Standing::Faulted,
            Some(trace) if trace.is_compensated => Standing::Compensated,
            Some(trace) if trace.ended > 0 => Standing::Ran(trace.ended),
            Some(trace) if trace.begun > 0 => Standing::Cancelled,
            Some(_) | None => Standing::Unreached,
        }
    }

    /// How often it started.
    pub(super) fn begun(&self, node: NodeIx) -> u64 {
        self.nodes.get(node.0 as usize).map_or(0, |trace| trace.begun)
    }

    /// Whether it ended at least once.
    pub(super) fn has_ended(&self, node: NodeIx) -> bool {
        self.nodes.get(node.0 as usize).is_some_and(|trace| trace.ended > 0)
    }

    /// Whether it ended with this outcome at least once.
    pub(super) fn had_outcome(&self, node: NodeIx, outcome: &str) -> bool {
        self.nodes.get(node.0 as usize).is_some_and(|trace| trace.outcomes.contains(outcome))
    }

    /// How often a machine entered a state.
    pub(super) fn visits(&self, machine: NodeIx, state: &str) -> u64 {
        self.machines.get(&machine).and_then(|states| states.visits.get(state)).copied().unwrap_or_default()
    }

    /// Whether a machine went from one state to another.
    pub(super) fn has_moved(&self, machine: NodeIx, from: &str, to: &str) -> bool {
        let moved = (from.to_owned(), to.to_owned());
        self.machines.get(&machine).is_some_and(|states| states.moves.contains(&moved))
    }

    /// The state that a machine entered last.
    pub(super) fn last_state(&self, machine: NodeIx) -> Option<&str> {
        self.machines.get(&machine)?.last.as_ref().map(|(_, state)| state.as_str())
    }
}

fn note_outcomes(outcomes: &mut BTreeSet<String>, data: Option<&Json>) {
    let Some(names) = data.and_then(|data| data.0.as_array()) else {
        if data.is_none() && outcomes.len() < MAX_OUTCOMES {
            outcomes.insert("Done".to_owned());
        }
        return;
    };
    for name in names.iter().filter_map(|name| name.as_str()) {
        if outcomes.len() < MAX_OUTCOMES {
            outcomes.insert(name.to_owned());
        }
    }
}
