//! The burst: from one reason to run until every branch waits or ends.
//!
//! [`start`], [`resume`] and [`retry`] put the first items into a FIFO queue and work it off; activities
//! act on the instance through [`Execution`] and never see the queue. Each call of an activity is a
//! unit: if it faults, everything it did is undone, its effects in the database included. What the
//! shell has to store is in the [`Delta`].

use serde_json::Value;
use uuid::Uuid;

use crate::bookmark::{Bookmark, Resumed};
use crate::child::NewChild;
use crate::expression::ScriptLimits;
use crate::fault::{Error, Fault};
use crate::host::Host;
use crate::http::Response;
use crate::instance::{Instance, SubStatus};
use crate::journal::{Event, EventKind};
use crate::program::Program;
use crate::value::copy_or_null;

mod ancestry;
mod background;
mod bookmarks;
mod burst;
pub(crate) mod callback;
mod children;
mod context;
pub(crate) mod core;
mod faults;
mod flow;
mod http_context;
mod inputs;
mod items;
mod outputs;
mod scope;
mod undo;
mod variables;

use crate::node_ix::NodeIx;
use burst::BurstState;
pub use children::StartChild;
pub use context::Execution;
use core::Scratch;
pub(crate) use inputs::one_of;

/// Bounds of a burst.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls of activities in one burst.
    pub max_steps: u64,
    /// Nesting of activities.
    pub max_nesting: u32,
    /// Bounds of scripts.
    pub script: ScriptLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_steps: 1_000_000, max_nesting: 500, script: ScriptLimits::default() }
    }
}

/// What a burst leaves for the shell to store, beside the instance itself.
#[derive(Debug, Default, PartialEq)]
pub struct Delta {
    /// New bookmarks that still exist at the end.
    pub created: Vec<Bookmark>,
    /// Stored bookmarks that were used up.
    pub burned: Vec<Uuid>,
    /// The resumed activity faulted in its own handler: its bookmark stays.
    pub keep_resumed: bool,
    /// Executions that ended while bookmarks of theirs were stored: those go.
    pub cleared: Vec<Uuid>,
    /// All stored bookmarks of the instance go.
    pub clear_all: bool,
    /// Tasks to open.
    pub tasks: Vec<NewTask>,
    /// Faults to store as incidents.
    pub incidents: Vec<Incident>,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// Child workflows to start after the burst.
    pub children: Vec<NewChild>,
    /// Stimuli to send after the burst.
    pub stimuli: Vec<Published>,
    /// The answer to the request that the burst serves.
    pub response: Option<Response>,
    /// The request was turned away with this answer: nothing of the burst may be kept.
    pub refusal: Option<Response>,
    /// Which columns of the instance changed.
    pub changed: Changed,
}

/// A task for the outside.
#[derive(Debug, PartialEq)]
pub struct NewTask {
    /// Its id, which is its bookmark's.
    pub bookmark_id: Uuid,
    /// Activity that opened it.
    pub activity_id: String,
    /// Name.
    pub name: String,
    /// Payload.
    pub payload: Option<Value>,
}

/// A fault of an activity.
#[derive(Clone, Debug, PartialEq)]
pub struct Incident {
    /// Activity that faulted.
    pub activity_id: String,
    /// Its type.
    pub activity_type: String,
    /// Path of its node.
    pub node_id: String,
    /// The execution that faulted.
    pub activity_instance_id: Uuid,
    /// What went wrong.
    pub fault: Fault,
}

/// A stimulus that the workflow itself sends.
#[derive(Debug, PartialEq)]
pub struct Published {
    /// Stimulus name.
    pub name: String,
    /// Stimulus.
    pub payload: Option<Value>,
    /// Input of those that it reaches.
    pub input: Option<Value>,
    /// Only instances with this correlation id.
    pub correlation_id: Option<String>,
    /// Only this instance.
    pub local: bool,
}

/// Which columns of the instance a burst changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Variables of the workflow scope.
    pub variables: bool,
    /// Workflow outputs.
    pub output: bool,
    /// Name.
    pub name: bool,
    /// Correlation id.
    pub correlation_id: bool,
}

/// A child as its parent sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// What it executes.
    pub node: NodeIx,
    /// Which execution it is.
    pub sequence: u32,
    /// Mark that the parent gave it.
    pub tag: u32,
    /// Whether its type ends the enclosing sequence or flowchart.
    pub terminal: bool,
}

/// How an activity completed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcomes {
    /// Plainly.
    #[default]
    Done,
    /// With these outcomes.
    Named(Vec<String>),
    /// It did not run; no connection is followed.
    Empty,
}

impl Outcomes {
    /// Whether a connection from this port is followed.
    pub fn contains(&self, port: &str) -> bool {
        match self {
            Self::Done => port == "Done",
            Self::Named(names) => names.iter().any(|name| name == port),
            Self::Empty => false,
        }
    }
}

/// What an activity tells those around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Leave the nearest loop.
    Break,
    /// Complete the nearest composite with these outcomes.
    CompleteComposite(Outcomes),
    /// This join of a flowchart was reached by its winner: cancel what still runs before it.
    CancelInbound(NodeIx),
}

/// Runs a new instance, from its first activity or as if one of its triggers had fired.
///
/// # Errors
/// [`Error::UnknownTrigger`] if `trigger` is no trigger of the program; [`Error::TooManySteps`].
pub fn start(
    program: &Program,
    instance: &mut Instance,
    trigger: Option<&str>,
    stimulus_input: Option<&Value>,
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<Delta, Error> {
    if let Some(id) = trigger {
        let node = program.nodes.iter().position(|node| node.id == id && node.can_start_workflow);
        let Some(node) = node else {
            return Err(Error::UnknownTrigger(id.to_owned()));
        };
        instance.state.trigger = Some(NodeIx(node as u32));
    }
    let mut scratch = Scratch::default();
    let mut burst = BurstState::begin(program, instance, host, limits, &mut scratch);
    burst.core.scratch.trigger_input = stimulus_input.map(copy_or_null);
    burst.core.workflow_event(EventKind::WorkflowStarted, None);
    burst.core.instance.sub_status = SubStatus::Executing;
    if !program.nodes.is_empty() {
        burst.core.enqueue_root();
    }
    burst.drain()?;
    Ok(burst.conclude())
}

/// Goes on at a bookmark. Works on a faulted instance too, as long as the bookmark's activity is open.
///
/// # Errors
/// [`Error::LostActivity`] if the bookmark's execution is not open; [`Error::TooManySteps`].
pub fn resume(
    program: &Program,
    instance: &mut Instance,
    bookmark: &Resumed,
    input: Option<&Value>,
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<Delta, Error> {
    resume_each(program, instance, bookmark, [input], host, limits)
}

/// Goes on at a bookmark once for each input, as if one resume had followed the other, in one burst. Inputs are left
/// over where one resume has used the bookmark up, or ended what waits at it.
///
/// # Errors
/// As [`resume`].
pub fn resume_each<'i>(
    program: &Program,
    instance: &mut Instance,
    bookmark: &Resumed,
    inputs: impl IntoIterator<Item = Option<&'i Value>>,
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<Delta, Error> {
    let sequence = sequence_of(instance.id, bookmark.activity_instance_id)
        .filter(|sequence| instance.state.contexts.contains_key(sequence));
    let Some(sequence) = sequence else {
        return Err(Error::LostActivity(bookmark.activity_instance_id.to_string()));
    };
    let mut scratch = Scratch::default();
    let mut burst = BurstState::begin(program, instance, host, limits, &mut scratch);
    burst.core.workflow_event(EventKind::WorkflowResumed, None);
    burst.core.instance.sub_status = SubStatus::Executing;
    for input in inputs {
        burst.core.scratch.resume_input = input.map(copy_or_null);
        burst.resume(sequence, bookmark)?;
        burst.drain()?;
        if bookmark.auto_burn || burst.core.context(sequence).is_none_or(|context| context.bookmarks == 0) {
            break;
        }
    }
    Ok(burst.conclude())
}

/// Runs faulted activities again, all of them or those with the given ids.
///
/// # Errors
/// [`Error::NotFaulted`] for an id that no faulted activity has; [`Error::TooManySteps`].
pub fn retry(
    program: &Program,
    instance: &mut Instance,
    activity_ids: Option<&[String]>,
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<Delta, Error> {
    let faulted = burst::faulted(program, instance, activity_ids)?;
    let mut scratch = Scratch::default();
    let mut burst = BurstState::begin(program, instance, host, limits, &mut scratch);
    burst.core.workflow_event(EventKind::WorkflowRetried, None);
    burst.core.instance.sub_status = SubStatus::Executing;
    burst.retry(&faulted);
    burst.drain()?;
    Ok(burst.conclude())
}

/// Cancels an instance: everything open in it goes. Nothing happens if it has ended for good.
///
/// # Errors
/// None at present; the signature is that of its siblings.
pub fn cancel(
    program: &Program,
    instance: &mut Instance,
    reason: Option<&str>,
    host: &mut dyn Host,
) -> Result<Delta, Error> {
    if matches!(instance.sub_status, SubStatus::Finished | SubStatus::Cancelled) {
        return Ok(Delta::default());
    }
    let limits = Limits::default();
    let mut scratch = Scratch::default();
    let mut burst = BurstState::begin(program, instance, host, &limits, &mut scratch);
    burst.cancel(reason);
    Ok(burst.into_delta())
}

/// The id of an activity execution: the instance's with the sequence number mixed into its end.
pub fn activity_instance_id(instance_id: Uuid, sequence: u32) -> Uuid {
    Uuid::from_u128(instance_id.as_u128() ^ u128::from(sequence))
}

/// The sequence number of an activity execution, if it belongs to the instance.
pub fn sequence_of(instance_id: Uuid, activity_instance_id: Uuid) -> Option<u32> {
    u32::try_from(instance_id.as_u128() ^ activity_instance_id.as_u128()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_instance_ids_are_reversible_and_belong_to_one_instance() {
        let instance = Uuid::from_u128(0x0193_4567_89ab_7def_8123_4567_89ab_cdef);
        for sequence in [0, 1, 0x89ab_cdef, u32::MAX] {
            let id = activity_instance_id(instance, sequence);
            assert_eq!(sequence_of(instance, id), Some(sequence));
        }
        let other = Uuid::from_u128(instance.as_u128() ^ (1 << 40));
        assert_eq!(sequence_of(instance, other), None);
    }

    #[test]
    fn default_outcomes_follow_done_only() {
        assert!(Outcomes::Done.contains("Done"));
        assert!(!Outcomes::Done.contains("True"));
        assert!(!Outcomes::Empty.contains("Done"));
        assert!(Outcomes::Named(vec!["a".into(), "b".into()]).contains("b"));
    }
}
