//! The burst: from one reason to run until every branch waits or ends.
//!
//! [`start`], [`resume`] and [`retry`](fn@retry) put the first items into a FIFO queue and process it. Activities act
//! on the instance through [`Execution`] and never see the queue. Each call of an activity is a unit: if it faults, the
//! burst undoes all effects of the call, including those in the database. The [`Delta`] contains what the extension has
//! to store.

use serde_json::Value;
use uuid::Uuid;

use crate::bookmark::{Bookmark, Resumed};
use crate::child::NewChild;
use crate::host::Host;
use crate::instance::compensation::Ending;
use crate::instance::continuation::Continuation;
use crate::instance::{Instance, SubStatus};
use crate::journal::{Event, EventKind};
use crate::program::Program;
use workflow_http::http::Response;
use workflow_http::stimulus::RUN_TIMEOUT;
use workflow_value::fault::{Error, Fault};
use workflow_value::value::copy_or_null;

mod alter;
mod ancestry;
mod background;
mod bookmarks;
pub(crate) mod burst;
pub(crate) mod callback;
mod children;
mod compensation;
mod context;
mod continuation;
mod ending;
mod faults;
mod flow;
mod for_people;
mod http_context;
mod ids;
mod inputs;
mod interruption;
mod items;
mod limits;
mod migrated;
mod notices;
mod outputs;
mod retry;
mod runner;
mod scope;
mod tasks;
mod timeout;
mod undo;
mod unwind;
mod variables;
pub(crate) mod visible_outputs;

use crate::node_ix::NodeIx;
pub use alter::{alter, try_alterations};
use burst::Scratch;
pub use children::StartChild;
pub use compensation::COMPENSATION_DROPPED;
pub use context::Execution;
pub use for_people::ForPeople;
pub use ids::{activity_instance_id, sequence_of};
pub(crate) use inputs::{default_of, one_of};
pub use limits::Limits;
pub use migrated::{AfterMigration, Orphan, cancel_executions, continue_migrated};
use runner::Runner;
pub use tasks::{
    add_lease, count_attempts, drop_lease, end_time_limit, failed_attempt, faults_at_last, first_attempt, limits_start,
    move_clocks, retry_policy, task_event,
};

/// The changes of a burst that the extension has to store, in addition to the instance itself.
#[derive(Debug, Default, PartialEq)]
pub struct Delta {
    /// New bookmarks that still exist at the end.
    pub created: Vec<Bookmark>,
    /// Stored bookmarks that were burned.
    pub burned: Vec<Uuid>,
    /// The resumed activity faulted in its own handler, so its bookmark stays.
    pub keep_resumed: bool,
    /// Executions that ended while they had stored bookmarks; the extension deletes these bookmarks.
    pub cleared: Vec<Uuid>,
    /// The extension deletes all stored bookmarks of the instance.
    pub clear_all: bool,
    /// Tasks to open; their bookmarks are in `created`.
    pub tasks: Vec<NewTask>,
    /// Open tasks that ended without an answer because their activity had an outcome.
    pub ended_tasks: Vec<EndedTasks>,
    /// Open tasks that get a higher priority.
    pub raised_tasks: Vec<RaisedTasks>,
    /// Faults to store as incidents.
    pub incidents: Vec<Incident>,
    /// What happened, in order, for the journal.
    pub events: Vec<Event>,
    /// The instance that replaces this one, which has ended.
    pub continuation: Option<Box<Continuation>>,
    /// Child workflows to start after the burst.
    pub children: Vec<NewChild>,
    /// Executions that no longer wait for children they have started: the extension cancels the child workflows for
    /// whose end their stored bookmarks wait.
    pub abandoned: Vec<Uuid>,
    /// Stimuli to send after the burst.
    pub stimuli: Vec<Published>,
    /// The response to the HTTP request that the burst serves.
    pub response: Option<Response>,
    /// The execution of `HttpEndpoint` that received this request.
    pub received_by: Option<Uuid>,
    /// Responses to requests that earlier bursts have served, each with the execution that received the request.
    pub responses: Vec<(Uuid, Response)>,
    /// The response with which the burst rejected the HTTP request; the extension then discards everything else of the
    /// burst.
    pub refusal: Option<Response>,
    /// Which columns of the instance changed.
    pub changed: Changed,
}

/// A task that the burst opened, for a person or a task worker.
#[derive(Debug, PartialEq)]
pub struct NewTask {
    /// Id of the bookmark at which the activity waits; also the id of the task.
    pub bookmark_id: Uuid,
    /// Id within the definition of the activity that opened it.
    pub activity_id: String,
    /// The task name, by which workers claim it.
    pub name: String,
    /// Data for the worker or person, if any.
    pub payload: Option<Value>,
    /// Priority: workers claim tasks with a higher one first.
    pub priority: i32,
    /// Number of attempts of the activity that failed before it opened the task.
    pub attempts: u32,
    /// The data for an inbox for people, if any.
    pub for_people: Option<Box<ForPeople>>,
}

/// Open tasks that ended without an answer.
#[derive(Debug, PartialEq)]
pub struct EndedTasks {
    /// Their ids.
    pub tasks: Vec<Uuid>,
    /// The outcome that made them needless.
    pub outcome: String,
}

/// Open tasks that get a higher priority.
#[derive(Debug, PartialEq)]
pub struct RaisedTasks {
    /// Their ids.
    pub tasks: Vec<Uuid>,
    /// The priority of those that have a lower one.
    pub priority: i32,
}

/// A fault that no ancestor handled, to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Incident {
    /// Id within the definition of the activity that faulted.
    pub activity_id: String,
    /// Full type name of that activity.
    pub activity_type: String,
    /// Path of the activity's node.
    pub node_id: String,
    /// The execution that faulted, which a retry repeats.
    pub activity_instance_id: Uuid,
    /// Number of attempts of this execution; the last one faulted.
    pub attempts: u32,
    /// Message, SQLSTATE and the other fields of the error.
    pub fault: Fault,
}

/// A stimulus that the workflow itself publishes.
#[derive(Debug, PartialEq)]
pub struct Published {
    /// Stimulus name; that of `Elsa.Event` for an event.
    pub name: String,
    /// The payload for matching bookmarks and triggers, in addition to the name.
    pub payload: Option<Value>,
    /// Input for the instances that the stimulus starts or resumes.
    pub input: Option<Value>,
    /// Only instances with this correlation id receive the stimulus.
    pub correlation_id: Option<String>,
    /// Only the publishing instance receives the stimulus.
    pub local: bool,
    /// It is sent with the rights of the definition's owner, who has named it: a notice of a task. Any other stimulus is
    /// sent with the rights of the instance's owner.
    pub by_author: bool,
}

/// Which columns of the instance a burst changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Variables of the workflow scope.
    pub variables: bool,
    /// Outputs of the workflow.
    pub output: bool,
    /// The name that the workflow gives its instance.
    pub name: bool,
    /// The correlation id, which open bookmarks and tasks copy.
    pub correlation_id: bool,
}

/// A child execution as its parent sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// The activity that it executes.
    pub node: NodeIx,
    /// Sequence number of the execution.
    pub sequence: u32,
    /// Tag that the parent gave it.
    pub tag: u32,
    /// Whether its activity ends the enclosing sequence or flowchart.
    pub terminal: bool,
}

/// A fault of an execution, as it is offered to its ancestors.
#[derive(Clone, Copy, Debug)]
pub struct Faulted<'a> {
    /// The error, by which an ancestor decides whether to handle it.
    pub fault: &'a Fault,
    /// Id within the definition of the activity in which it happened.
    pub activity_id: &'a str,
    /// Number of the attempts of that execution, the faulted one included.
    pub attempts: u32,
}

/// How an activity completed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcomes {
    /// With the outcome `Done`, as most activities do.
    #[default]
    Done,
    /// With these outcomes, whose connections a flowchart follows.
    Named(Vec<String>),
    /// The activity did not run; the flowchart follows no connection.
    Empty,
}

impl Outcomes {
    /// Whether a flowchart follows a connection from this port.
    pub fn contains(&self, port: &str) -> bool {
        match self {
            Self::Done => port == "Done",
            Self::Named(names) => names.iter().any(|name| name == port),
            Self::Empty => false,
        }
    }
}

/// A message from an activity to its ancestors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Leave the nearest loop.
    Break,
    /// Complete the nearest composite with these outcomes.
    CompleteComposite(Outcomes),
    /// The first branch has reached this `WaitAny` join: the flowchart cancels everything that still runs before it.
    CancelInbound(NodeIx),
}

/// The outcome of an activity whose deadline has passed.
pub const EXPIRED: &str = "Expired";

/// Runs a new instance, from its first activity or as if one of its triggers had fired. [`Host`] has an example.
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
    let mut runner = Runner::begin(program, instance, host, limits, &mut scratch);
    runner.burst.scratch.trigger_input = stimulus_input.map(copy_or_null);
    runner.burst.scratch.run_until = ending::run_until(program, runner.burst.scratch.now);
    runner.set_executing(EventKind::WorkflowStarted);
    if !program.nodes.is_empty() {
        runner.burst.enqueue_root();
    }
    runner.drain()?;
    Ok(runner.conclude())
}

/// Resumes at a bookmark. A faulted instance can be resumed as well, as long as the execution of the bookmark is open.
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

/// Resumes at a bookmark once for each input, in one burst, with the effect of separate resumes. Inputs are left over
/// if a resume burns the bookmark or ends the execution that waits at it.
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
    if bookmark.name == RUN_TIMEOUT {
        return ending::run_out(program, instance, bookmark, host, limits);
    }
    let sequence = waiting(instance, bookmark)?;
    let mut scratch = Scratch::default();
    let mut runner = Runner::begin(program, instance, host, limits, &mut scratch);
    runner.set_executing(EventKind::WorkflowResumed);
    for input in inputs {
        runner.burst.scratch.resume_input = input.map(copy_or_null);
        runner.resume(sequence, bookmark)?;
        runner.drain()?;
        if bookmark.auto_burn || runner.burst.context(sequence).is_none_or(|context| context.waits() == 0) {
            break;
        }
    }
    Ok(runner.conclude())
}

/// The open execution that waits at a bookmark.
fn waiting(instance: &Instance, bookmark: &Resumed) -> Result<u32, Error> {
    let sequence = sequence_of(instance.id, bookmark.activity_instance_id);
    let open = sequence.filter(|sequence| instance.state.contexts.contains_key(sequence));
    open.ok_or_else(|| Error::LostActivity(bookmark.activity_instance_id.to_string()))
}

/// Burns a bookmark with a fault of the waiting activity. The activity's own policy does not repeat it, because its
/// `attempts` were counted by the caller.
///
/// # Errors
/// As [`resume`].
pub fn fail(
    program: &Program,
    instance: &mut Instance,
    bookmark: &Resumed,
    attempts: u32,
    fault: Fault,
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<Delta, Error> {
    let sequence = waiting(instance, bookmark)?;
    let mut scratch = Scratch::default();
    let mut runner = Runner::begin(program, instance, host, limits, &mut scratch);
    runner.set_executing(EventKind::WorkflowResumed);
    runner.fail(sequence, bookmark, attempts, fault);
    runner.drain()?;
    Ok(runner.conclude())
}

/// Runs faulted activities again, all of them or those with the given ids.
///
/// # Errors
/// [`Error::HasFailed`], [`Error::IsEnding`], [`Error::NothingFaulted`]; [`Error::NotFaulted`] for one of the ids;
/// [`Error::TooManySteps`].
pub fn retry(
    program: &Program,
    instance: &mut Instance,
    activity_ids: Option<&[String]>,
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<Delta, Error> {
    if instance.has_failed() {
        return Err(cannot_retry(program));
    }
    let faulted = retry::faulted(program, instance, activity_ids)?;
    let mut scratch = Scratch::default();
    let mut runner = Runner::begin(program, instance, host, limits, &mut scratch);
    runner.set_executing(EventKind::WorkflowRetried);
    runner.retry(&faulted);
    runner.drain()?;
    Ok(runner.conclude())
}

/// Why an instance that ended with a fault cannot be retried.
pub fn cannot_retry(program: &Program) -> Error {
    Error::HasFailed { is_compensated: program.compensation().is_used }
}

/// Cancels an instance and all its open executions. Does nothing if it is finished or cancelled already, or about to be
/// cancelled. If compensation handlers must run first, it is left suspended with a bookmark that is due immediately;
/// with `force` an incident lists the work that they would have handled.
///
/// # Errors
/// None at present; the signature matches that of `start`, `resume` and `retry`.
pub fn cancel(
    program: &Program,
    instance: &mut Instance,
    reason: Option<&str>,
    force: bool,
    host: &mut dyn Host,
) -> Result<Delta, Error> {
    let is_cancelling = !force && instance.state.ending() == Ending::Cancelled;
    if is_cancelling || matches!(instance.sub_status, SubStatus::Finished | SubStatus::Cancelled) {
        return Ok(Delta::default());
    }
    let limits = Limits::default();
    let mut scratch = Scratch::default();
    let mut runner = Runner::begin(program, instance, host, &limits, &mut scratch);
    if !force && runner.begin_cancelling(reason) {
        return Ok(runner.conclude());
    }
    runner.cancel(reason);
    Ok(runner.into_delta())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_outcomes_follow_done_only() {
        assert!(Outcomes::Done.contains("Done"));
        assert!(!Outcomes::Done.contains("True") && !Outcomes::Empty.contains("Done"));
        assert!(Outcomes::Named(vec!["a".into(), "b".into()]).contains("b"));
    }
}
