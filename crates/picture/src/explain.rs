//! The history of an instance as plain lines: what happened, what it waits for, and the call that continues it.

use std::collections::{HashMap, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::picture::naming;
use crate::picture::text::one_line;
use workflow_core::NodeIx;
use workflow_core::execution::ForPeople;
use workflow_core::instance::{Instance, SubStatus};
use workflow_core::journal::{ActKind, CLAIM_UNTIL, Event, EventKind, LATE_RESPONSE, RUN_UNTIL};
use workflow_core::program::{Node, Program};
use workflow_definition::Appearance;
use workflow_value::calendar::Zone;
use workflow_value::fault::Fault;
use workflow_value::value::json_text;

mod by_hand;
mod changes;
mod ending;
mod pause;
mod remarks;

pub use pause::Pause;
use pause::with_reason;

/// Number of lines kept at the beginning and at the end of a long history.
const KEPT: usize = 200;
/// Maximum number of characters of a value.
const MAX_VALUE: usize = 200;
/// Maximum number of characters of an activity's description.
const MAX_KIND: usize = 60;

/// A current bookmark of the instance, with its task and its failures.
#[derive(Debug, Default)]
pub struct OpenBookmark {
    /// Id of the bookmark; also that of its task.
    pub bookmark_id: Uuid,
    /// Path of the activity that waits.
    pub node_id: String,
    /// Id of that activity within the definition.
    pub activity_id: String,
    /// Name of the stimulus that resumes it.
    pub name: String,
    /// The payload that the stimulus must have in addition to the name.
    pub payload: Option<Value>,
    /// Name of the task, if it belongs to one.
    pub task: Option<String>,
    /// The attempts so far, if there were any.
    pub lease: Option<Lease>,
    /// Assignment and deadline of the task.
    pub for_people: Option<ForPeople>,
    /// Start of the wait.
    pub since: DateTime<Utc>,
    /// When a timer resumes it.
    pub due: Option<DateTime<Utc>>,
    /// How often firing it failed without an outcome.
    pub attempts: u32,
    /// Its dead letter, if the background workers gave up on it.
    pub given_up: Option<GivenUp>,
}

/// The attempts at a task, or of an activity that is being retried.
#[derive(Clone, Debug, Default)]
pub struct Lease {
    /// Number of attempts so far.
    pub attempt: u32,
    /// Name of the worker that claimed it last.
    pub worker: Option<String>,
    /// When this worker's lease expires.
    pub until: Option<DateTime<Utc>>,
    /// The earliest start of the next attempt, if the last one failed.
    pub again_at: Option<DateTime<Utc>>,
    /// The reason that a worker reported for the last failed attempt.
    pub last_error: Option<String>,
}

/// The dead letter of a due bookmark.
#[derive(Clone, Debug, Default)]
pub struct GivenUp {
    /// Id with which `wf_replay` retries it.
    pub dead_letter_id: Uuid,
    /// When its last attempt failed.
    pub at: DateTime<Utc>,
    /// Message of the error with which that attempt failed.
    pub error: String,
}

/// An incident whose execution is still faulted.
#[derive(Clone, Debug, Default)]
pub struct OpenIncident {
    /// Path of the activity that faulted.
    pub node_id: String,
    /// Id of that activity within the definition.
    pub activity_id: String,
    /// Five-character SQLSTATE of its fault.
    pub sqlstate: String,
    /// The code by which policies and catches identify the fault.
    pub code: Option<String>,
    /// Primary message of its fault.
    pub message: String,
    /// DETAIL of its fault, if it has one.
    pub detail: Option<String>,
    /// HINT of its fault, if it has one.
    pub hint: Option<String>,
}

/// Compensation records of an activity that are to be handled.
#[derive(Clone, Debug, Default)]
pub struct OpenRecords {
    /// Path of the activity whose handler they need.
    pub node_id: String,
    /// Id of that activity within the definition.
    pub activity_id: String,
    /// Whether it was interrupted; otherwise it has completed.
    pub interrupted: bool,
    /// Number of the activity's records; a loop leaves one for each round.
    pub count: u64,
}

/// Builds the lines of the history.
pub struct Explanation<'a> {
    program: &'a Program,
    looks: &'a [Appearance],
    instance: &'a Instance,
    zone: &'a dyn Zone,
    by_path: HashMap<&'a str, NodeIx>,
    begin: Vec<String>,
    end: VecDeque<String>,
    left_out: u64,
    /// The execution of the last event; its completion needs no line of its own.
    last: Option<u32>,
    /// The execution that is about to wait, and the end of its wait.
    until: Option<(u32, String)>,
    /// The execution that runs the handlers of a cancelled instance, which is no activity.
    unwinding: Option<u32>,
    /// Whether the last event was that of a cancel.
    is_cancelling: bool,
    pause: Option<Pause>,
    /// The act that caused the last burst.
    act: Option<Caused>,
    /// The bookmarks of time limits.
    limits: HashMap<Uuid, TimeLimit>,
}

/// The act that caused a burst.
#[derive(Clone, Debug)]
pub struct Caused {
    /// What was done.
    pub kind: ActKind,
    /// The actor, or else the role.
    pub by: String,
    /// Whether it was an actor.
    pub has_actor: bool,
    /// The answer, if it answered a task.
    pub answer: Option<GivenAnswer>,
}

/// The answer to a task.
#[derive(Clone, Debug)]
pub struct GivenAnswer {
    /// Id of the task.
    pub task: Uuid,
    /// Id of its activity within the definition.
    pub activity_id: String,
    /// The result, if one was given.
    pub result: Option<Value>,
    /// Whether it took effect, or still may. Otherwise the activity was cancelled first.
    pub is_used: bool,
}

impl GivenAnswer {
    /// The result, as the end of a line.
    fn with_result(&self) -> String {
        let result = self.result.as_ref().filter(|result| !result.is_null());
        result.map(|result| format!(" with {}", value(result))).unwrap_or_default()
    }
}

/// What a bookmark of the engine limits the time of.
#[derive(Clone, Copy, Debug)]
enum TimeLimit {
    Activity,
    FirstClaim,
    Run,
}

impl<'a> Explanation<'a> {
    /// Starts the history of an instance, with times in `zone`.
    pub fn new(program: &'a Program, looks: &'a [Appearance], instance: &'a Instance, zone: &'a dyn Zone) -> Self {
        let by_path = (0u32..).zip(&program.nodes).map(|(ix, node)| (node.node_id.as_str(), NodeIx(ix))).collect();
        let mut story = Self {
            program,
            looks,
            instance,
            zone,
            by_path,
            begin: Vec::new(),
            end: VecDeque::new(),
            left_out: 0,
            last: None,
            until: None,
            unwinding: None,
            is_cancelling: false,
            pause: None,
            act: None,
            limits: HashMap::new(),
        };
        story.head();
        story
    }

    fn head(&mut self) {
        let name = self.program.name.as_deref().unwrap_or(&self.program.definition_id);
        let mut line = format!("{}, version {}", one_line(name, MAX_VALUE), self.instance.version);
        if let Some(name) = &self.instance.name {
            line = format!("{line}, \"{}\"", one_line(name, MAX_VALUE));
        }
        if let Some(id) = &self.instance.correlation_id {
            line = format!("{line}, correlation id {}", one_line(id, MAX_VALUE));
        }
        self.begin.push(format!("{line}: {}", self.instance.sub_status.name()));
    }

    /// Adds the events of a burst, and who caused it.
    pub fn burst(&mut self, at: DateTime<Utc>, act: Option<Caused>, events: &[Event]) {
        self.act = act;
        if let Some(words) = self.unused_answer() {
            self.add_line(format!("{}  {words}", self.time(at)));
        }
        for event in events {
            if event.kind.is_of_values() || self.is_of_handlers(event) {
                continue;
            }
            if let Some(words) = self.describe(event) {
                let line = format!("{}  {words}", self.time(at));
                self.add_line(line);
            }
        }
    }

    /// Whether an event belongs to the execution that runs the instance's handlers, which is no activity.
    fn is_of_handlers(&mut self, event: &Event) -> bool {
        if std::mem::replace(&mut self.is_cancelling, event.kind == EventKind::WorkflowCancelling) {
            self.unwinding = event.execution;
        }
        event.execution.is_some() && event.execution == self.unwinding
    }

    /// Adds the current state of the instance, and returns the lines.
    pub fn end(mut self, waits: &[OpenBookmark], open_incidents: &[OpenIncident]) -> Vec<String> {
        self.ending(waits, open_incidents);
        let mut lines = self.begin;
        if self.left_out > 0 {
            lines.push(format!("… {} more lines; workflow.journal has them all", self.left_out));
        }
        lines.extend(self.end);
        lines
    }

    fn add_line(&mut self, line: String) {
        if self.begin.len() < KEPT {
            return self.begin.push(line);
        }
        self.end.push_back(line);
        if self.end.len() > KEPT {
            self.end.pop_front();
            self.left_out += 1;
        }
    }

    fn describe(&mut self, event: &Event) -> Option<String> {
        let data = event.data.as_ref().map(|data| &data.0);
        let last = std::mem::replace(&mut self.last, event.execution);
        let until = match event.kind {
            EventKind::BookmarkCreated => self.until.take().filter(|(id, _)| Some(*id) == event.execution),
            _ => None,
        };
        let who = || self.who(&event.activity_id, &event.activity_type);
        let text = |name| data.and_then(|data| data.get(name)).and_then(Value::as_str).unwrap_or_default();
        Some(match event.kind {
            EventKind::WorkflowStarted => self.started(),
            EventKind::WorkflowFinished => "finished".into(),
            EventKind::WorkflowContinued => ending::continued(data),
            EventKind::WorkflowFaulted => "stopped by the fault".into(),
            EventKind::WorkflowRetried => "retried".into(),
            EventKind::WorkflowCancelled => with_reason("cancelled", data),
            EventKind::WorkflowCancelling => with_reason("is to be cancelled when its handlers have run", data),
            EventKind::OwnerChanged | EventKind::Migrated => changes::describe(event.kind, &self.by(data), data),
            EventKind::Paused | EventKind::Unpaused => pause::describe(event.kind, &self.by(data), data),
            EventKind::StartRefused => "a start was refused: another instance runs".into(),
            EventKind::Started if self.has_children(event) => return None,
            EventKind::Started => format!("{} began", who()),
            EventKind::Resumed => self.resumed(event),
            EventKind::BookmarkCreated if data.is_some() => self.limited(event, data),
            EventKind::BookmarkCreated => match until {
                Some((_, until)) => format!("{} waits until {until}", who()),
                None => format!("{} waits", who()),
            },
            EventKind::Completed => match named(data) {
                Some(outcomes) => format!("{} → {outcomes}", who()),
                None if last == event.execution || self.has_children(event) => return None,
                None => format!("{} ran", who()),
            },
            EventKind::Canceled if self.has_children(event) => return None,
            EventKind::Canceled => format!("{} was cancelled", who()),
            EventKind::Faulted => {
                format!("{} faulted: {} ({})", who(), one_line(text("message"), MAX_VALUE), text("sqlstate"))
            }
            EventKind::Retrying => self.retrying(event, data),
            EventKind::Caught => {
                let below = one_line(text("activity_id"), MAX_VALUE);
                format!("{} took the fault of \"{below}\" ({})", who(), text("sqlstate"))
            }
            EventKind::Compensated => format!("{} was compensated", who()),
            EventKind::Confirmed => format!("{} was confirmed", who()),
            EventKind::CancellationHandled => format!("{} has handled its cancellation", who()),
            EventKind::Assigned => self.assigned(event, data),
            EventKind::Altered => self.altered(event, data),
            EventKind::LeftWaiting => data.map(remarks::left_waiting).unwrap_or_default(),
            EventKind::Line => format!("{} wrote: {}", who(), data.map(value).unwrap_or_default()),
            EventKind::Logged => {
                format!("{} logged {}: {}", who(), text("level"), one_line(text("message"), MAX_VALUE))
            }
            EventKind::Published => {
                let name = data.and_then(|data| data.get("name")).map(value).unwrap_or_default();
                format!("{} published {name}", who())
            }
            EventKind::ChildStarted => {
                let member = |name| data.and_then(|data| data.get(name)).map(value).unwrap_or_default();
                format!("{} started {}, instance {}", who(), member("definition_id"), member("instance_id"))
            }
            EventKind::Note if data.is_some_and(|data| data.get(LATE_RESPONSE).is_some()) => {
                format!("{} responded too late: the HTTP request had got another response", who())
            }
            EventKind::Note if data.is_some_and(remarks::is_about_people) => {
                format!("{}: {}", who(), data.map(remarks::of_people).unwrap_or_default())
            }
            EventKind::Note => {
                self.until = event.execution.zip(self.instant_in(data));
                return None;
            }
            EventKind::WorkflowResumed | EventKind::WorkflowSuspended => return None,
            EventKind::InputsEvaluated | EventKind::OutputsSet => return None,
        })
    }

    /// Who made a manual change: the actor, or else the role in the event.
    fn by(&self, data: Option<&Value>) -> String {
        match self.act.as_ref().filter(|act| act.has_actor) {
            Some(act) => one_line(&act.by, MAX_VALUE),
            None => data.and_then(|data| data.get("by")).map(value).unwrap_or_default(),
        }
    }

    /// That the time of an activity, of its first claim or of the run is limited.
    fn limited(&mut self, event: &Event, data: Option<&Value>) -> String {
        let has = |member| data.is_some_and(|data| data.get(member).is_some());
        let limit = match () {
            () if has(RUN_UNTIL) => TimeLimit::Run,
            () if has(CLAIM_UNTIL) => TimeLimit::FirstClaim,
            () => TimeLimit::Activity,
        };
        self.limits.extend(event.bookmark_id.map(|id| (id, limit)));
        let (who, until) = (self.who(&event.activity_id, &event.activity_type), self.instant_in(data));
        let until = until.unwrap_or_default();
        match limit {
            TimeLimit::Run => format!("the run may take until {until}"),
            TimeLimit::FirstClaim => format!("{who} must be claimed until {until}"),
            TimeLimit::Activity => format!("{who} may take until {until}"),
        }
    }

    /// How an activity was resumed, and by whom. A role without an actor is named only for answers to tasks.
    fn resumed(&mut self, event: &Event) -> String {
        let who = self.who(&event.activity_id, &event.activity_type);
        let limit = event.bookmark_id.and_then(|id| self.limits.remove(&id));
        let Some(Caused { kind, by, has_actor, answer }) = &self.act else {
            return match limit {
                None => format!("{who} was resumed"),
                Some(TimeLimit::Activity) => format!("{who} timed out"),
                Some(TimeLimit::FirstClaim) => format!("{who} was not claimed in time"),
                Some(TimeLimit::Run) => "the run timed out".to_owned(),
            };
        };
        let by = one_line(by, MAX_VALUE);
        let answer = answer.as_ref().filter(|answer| Some(answer.task) == event.bookmark_id);
        let result = answer.map(GivenAnswer::with_result).unwrap_or_default();
        match kind {
            ActKind::Complete | ActKind::Override => match answer.and_then(|answer| self.last_failure(event, answer)) {
                Some((failure, follows)) => {
                    format!("{who}, the last attempt failed: {failure}, reported by {by}{result}; {follows}")
                }
                None => format!("{who} was answered by {by}{result}"),
            },
            // The fault follows, and tells the reason.
            ActKind::Fail => format!("{who}, the last attempt failed, reported by {by}"),
            _ if *has_actor => format!("{who} was resumed by {by}"),
            _ => format!("{who} was resumed"),
        }
    }

    /// The failure of an attempt that an answer reports, and what follows. It was the last attempt, because the
    /// answer was accepted.
    fn last_failure(&self, event: &Event, answer: &GivenAnswer) -> Option<(String, &'static str)> {
        let ix = self.find_node(event.node_id.as_deref().unwrap_or_default(), &event.activity_id)?;
        let (node, result) = (self.program.node(ix), answer.result.as_ref());
        let Fault { message, sqlstate, .. } = node.activity.validate_answer(&node.inputs, result).ok()??.fault;
        let follows = match node.activity.handles_failure(self.program, ix, result) {
            true => "the workflow handles this failure",
            false => "nothing handles this failure, and the workflow continues",
        };
        Some((format!("{} ({sqlstate})", one_line(&message, MAX_VALUE)), follows))
    }

    /// An answer that was stored for a session of the owner and never took effect: no event tells of it.
    fn unused_answer(&self) -> Option<String> {
        let Caused { kind: ActKind::Complete, by, answer: Some(answer), .. } = self.act.as_ref()? else { return None };
        let who = (!answer.is_used).then(|| self.who(&answer.activity_id, "RunTask"))?;
        let (by, result) = (one_line(by, MAX_VALUE), answer.with_result());
        Some(format!("{who} was answered by {by}{result}, but cancelled before the answer took effect"))
    }

    /// Why an attempt failed, and when the next one starts.
    fn retrying(&mut self, event: &Event, data: Option<&Value>) -> String {
        let member = |name| data.and_then(|data| data.get(name)).map(value).unwrap_or_default();
        let due = data.and_then(|data| data.get("due_at")).and_then(Value::as_str);
        let due = due.and_then(|due| DateTime::parse_from_rfc3339(due).ok()).map(|due| self.time(due.to_utc()));
        // An attempt at a task creates no bookmark.
        self.until = event.execution.filter(|_| event.bookmark_id.is_none()).zip(due);
        let below = data.and_then(|data| data.get("activity_id")).and_then(Value::as_str);
        let at = below.map(|below| format!(" at \"{}\"", one_line(below, MAX_VALUE))).unwrap_or_default();
        let (attempt, of) = (member("attempt"), member("max_attempts"));
        let who = self.who(&event.activity_id, &event.activity_type);
        format!("{who}, attempt {attempt} of {of} failed{at}: {} ({})", member("message"), member("sqlstate"))
    }

    fn started(&self) -> String {
        let mut line = match self.instance.state.trigger {
            Some(node) => format!("started by {}", self.name_of(self.program.node(node), node)),
            None => "started".into(),
        };
        if !self.instance.input.is_empty() {
            line = format!("{line} with {}", members(&self.instance.input));
        }
        line
    }

    /// The name of an activity from the id and type in the journal.
    fn who(&self, activity_id: &str, activity_type: &str) -> String {
        match self.program.find(activity_id) {
            Some(ix) => self.name_of(self.program.node(ix), ix),
            None => format!("{} ({activity_type})", one_line(activity_id, MAX_VALUE)),
        }
    }

    /// Finds an activity by its path, or else by its id.
    fn find_node(&self, node_id: &str, activity_id: &str) -> Option<NodeIx> {
        self.by_path.get(node_id).copied().or_else(|| self.program.find(activity_id))
    }

    /// The title of an activity, found by its path or id.
    fn at(&self, node_id: &str, activity_id: &str) -> String {
        match self.find_node(node_id, activity_id) {
            Some(ix) => one_line(naming::title(self.program.node(ix), self.looks.get(ix.0 as usize)), MAX_VALUE),
            None => one_line(activity_id, MAX_VALUE),
        }
    }

    fn name_of(&self, node: &Node, ix: NodeIx) -> String {
        let title = naming::title(node, self.looks.get(ix.0 as usize));
        format!("{} ({})", one_line(title, MAX_VALUE), one_line(&naming::kind(node), MAX_KIND))
    }

    /// Whether the activity of an event has children.
    fn has_children(&self, event: &Event) -> bool {
        let Some(ix) = self.program.find(&event.activity_id) else { return false };
        let node = self.program.node(ix);
        let parts = node.parts.iter().flatten().flat_map(|part| &part.ports);
        node.flow.is_some() || !node.children.is_empty() || node.ports.iter().chain(parts).any(Option::is_some)
    }

    fn time(&self, at: DateTime<Utc>) -> String {
        let local =
            TimeDelta::try_seconds(self.zone.offset_at(at).into()).and_then(|offset| at.checked_add_signed(offset));
        local.unwrap_or(at).format("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// The instant in the payload of a timing activity.
    fn instant_in(&self, data: Option<&Value>) -> Option<String> {
        let mut texts = data?.as_object()?.values().filter_map(Value::as_str);
        texts.find_map(|text| DateTime::parse_from_rfc3339(text).ok()).map(|at| self.time(at.to_utc()))
    }

    fn is_ended(&self) -> bool {
        matches!(self.instance.sub_status, SubStatus::Finished | SubStatus::Cancelled)
    }
}

/// The outcomes, if there are any other than `Done`.
fn named(data: Option<&Value>) -> Option<String> {
    let names = data?.as_array()?;
    let names: Vec<String> = names.iter().filter_map(Value::as_str).map(|name| one_line(name, MAX_VALUE)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// A value on one line: text unchanged, any other value as JSON.
fn value(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text, MAX_VALUE),
        other => one_line(&json_text(other).unwrap_or_default(), MAX_VALUE),
    }
}

fn members(members: &Map<String, Value>) -> String {
    one_line(&json_text(members).unwrap_or_default(), MAX_VALUE)
}
