//! Records of executions: what the journal of a run contains about each execution of an activity. Elsa: activity
//! execution record.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use workflow_core::NodeIx;
use workflow_core::journal::{Event, EventKind};
use workflow_core::program::{ExecutionTracker, Program, begins};
use workflow_value::value::copy_or_null;

/// The status of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionStatus {
    /// Started and not ended.
    Running,
    /// It completed by itself, with outcomes.
    Completed,
    /// Ended by something else.
    Canceled,
    /// Stopped by a fault, which can be retried.
    Faulted,
}

impl ExecutionStatus {
    /// The name in Elsa's API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Completed => "Completed",
            Self::Canceled => "Canceled",
            Self::Faulted => "Faulted",
        }
    }
}

/// One execution of an activity.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionRecord {
    /// Its number in the instance; see [`activity_instance_id`](workflow_core::execution::activity_instance_id).
    pub number: u32,
    /// The number of the parent execution; `None`: it is the root's or a handler's, or the journal does not say.
    pub parent: Option<u32>,
    /// The activity; `None`: the current version of the definition does not have it.
    pub node: Option<NodeIx>,
    /// Id of the activity within the definition, as recorded in the journal.
    pub activity_id: String,
    /// Activity type without the `Elsa.` prefix.
    pub activity_type: String,
    /// How far it has come.
    pub status: ExecutionStatus,
    /// Time of the burst in which it started, as far back as the journal is kept.
    pub started_at: DateTime<Utc>,
    /// Time of the burst in which it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// The outcomes with which it completed; empty until then.
    pub outcomes: Vec<String>,
    /// Evaluated inputs by name, if the journal keeps values.
    pub inputs: Option<Map<String, Value>>,
    /// Outputs by name, if the journal keeps values.
    pub outputs: Option<Map<String, Value>>,
    /// Its last fault: sqlstate and message.
    pub fault: Option<Value>,
}

/// Collects the records of a run from its journal.
#[derive(Debug)]
pub struct ExecutionRecords<'p> {
    executions: ExecutionTracker<'p>,
    records: Vec<ExecutionRecord>,
    by_number: HashMap<u32, usize>,
}

impl<'p> ExecutionRecords<'p> {
    /// The state before the first burst.
    pub fn new(program: &'p Program) -> Self {
        Self { executions: ExecutionTracker::new(program), records: Vec::new(), by_number: HashMap::new() }
    }

    /// Processes the events of the next burst.
    pub fn burst(&mut self, at: DateTime<Utc>, events: &[Event]) {
        events.iter().for_each(|event| self.event(at, event));
    }

    /// The records in the order in which the executions started.
    pub fn end(self) -> Vec<ExecutionRecord> {
        self.records
    }

    fn event(&mut self, at: DateTime<Utc>, event: &Event) {
        if matches!(
            event.kind,
            EventKind::WorkflowFinished | EventKind::WorkflowCancelled | EventKind::WorkflowContinued
        ) {
            self.records.iter_mut().for_each(|record| record.end(at, ExecutionStatus::Canceled));
        }
        let Some(number) = event.execution else { return };
        let subject = self.executions.next(event);
        let known = self.by_number.get(&number).copied();
        if known.is_none() && !begins(event.kind) {
            return;
        }
        let parent = subject.and_then(|subject| subject.parent).or(event.parent);
        let ix = known.unwrap_or_else(|| {
            self.by_number.insert(number, self.records.len());
            self.records.push(ExecutionRecord {
                number,
                parent: parent.filter(|parent| self.by_number.contains_key(parent)),
                node: subject.map(|subject| subject.node),
                activity_id: event.activity_id.clone(),
                activity_type: event.activity_type.clone(),
                status: ExecutionStatus::Running,
                started_at: at,
                ended_at: None,
                outcomes: Vec::new(),
                inputs: None,
                outputs: None,
                fault: None,
            });
            self.records.len() - 1
        });
        self.records[ix].add_event(at, event);
    }
}

impl ExecutionRecord {
    fn add_event(&mut self, at: DateTime<Utc>, event: &Event) {
        let data = event.data.as_ref().map(|data| &data.0);
        match event.kind {
            EventKind::Completed => {
                self.end(at, ExecutionStatus::Completed);
                self.outcomes = match data.and_then(Value::as_array) {
                    Some(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                    None => vec!["Done".to_owned()],
                };
            }
            EventKind::Canceled => self.end(at, ExecutionStatus::Canceled),
            EventKind::Faulted => {
                self.status = ExecutionStatus::Faulted;
                self.fault = data.map(copy_or_null);
            }
            // The bookmark of a timeout is created whether or not the activity has faulted.
            EventKind::BookmarkCreated if data.is_some() => {}
            EventKind::Started | EventKind::BookmarkCreated | EventKind::Resumed | EventKind::Retrying
                if self.ended_at.is_none() =>
            {
                self.status = ExecutionStatus::Running;
            }
            EventKind::InputsEvaluated => self.inputs = data.and_then(Value::as_object).cloned(),
            EventKind::OutputsSet => self.outputs = data.and_then(Value::as_object).cloned(),
            _ => {}
        }
    }

    fn end(&mut self, at: DateTime<Utc>, status: ExecutionStatus) {
        if self.ended_at.is_none() {
            (self.status, self.ended_at) = (status, Some(at));
        }
    }
}
