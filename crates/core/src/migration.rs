//! Migration: an instance of one version of a definition continues in another version.
//!
//! A [`Migration`] pairs the activities of two versions, once for all instances that move from one to the other. For
//! one instance it computes the state in the new version, or reports the obstacles. It runs no activity and uses no
//! host: the remaining work is in the [`Moved`], and [`continue_migrated`](crate::execution::continue_migrated) runs
//! it.
//!
//! Waiting bookmarks and tasks stay unchanged: they keep payload, hash and name, even if the new version would create
//! different ones. The position in a container becomes that of the open child in the new version.
//!
//! # Examples
//!
//! ```
//! use std::sync::Arc;
//!
//! use serde_json::{Map, Value, json};
//! use workflow_engine::definition::{ReadLimits, compile};
//! use workflow_engine::migration::{Migration, Timers, Waits, is_refused, read_mapping};
//! # use workflow_engine::{Instance, Limits, execution::start};
//! # mod host { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/tests/support/alone.rs")); }
//!
//! let version = |task: &str| {
//!     let leave = json!({"definitionId": "leave", "root": [{"id": task, "type": "RunTask", "taskName": "approve"}]});
//!     Arc::new(compile(&leave, &(), &ReadLimits::default(), false).expect("acceptable"))
//! };
//! let (old, new) = (version("ask"), version("decide"));
//! let migrate = |mapping: Value| {
//!     // An instance that waits at "ask".
//!     # let instance = Instance::new(uuid::Uuid::nil(), &old, 1, None, None, Map::new());
//!     # let (mut instance, mut host) = (instance.expect("no input is needed"), host::Alone::default());
//!     # start(&old, &mut instance, None, None, &mut host, &Limits::default()).expect("the burst ends");
//!     let mapping = read_mapping(&mapping).expect("a mapping");
//!     let migration = Migration::new(old.clone(), new.clone(), 2, &mapping, Timers::Keep, &mut || {});
//!     let (_, problems) = migration.migrate(&mut instance, &mut [], &Waits::default(), &mut || {});
//!     (instance.version, problems)
//! };
//!
//! let (_, problems) = migrate(json!({}));
//! assert!(is_refused(&problems));
//! assert_eq!(problems[0].message, "activity \"ask\" waits, and version 2 does not have it");
//! assert_eq!(migrate(json!({"ask": "decide"})), (2, vec![]));
//! ```

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::execution::AfterMigration;
use crate::execution::burst::NO_EXECUTION;
use crate::instance::compensation::Record;
use crate::instance::{Context, Instance};
use crate::node_ix::NodeIx;
use crate::program::Program;

pub use crate::alteration::{Mapping, Timers, read_mapping};

mod cancelled;
mod containers;
mod counterparts;
mod deadlines;
mod executions;
mod flow;
mod machine;
mod outputs;
mod records;
mod variables;

use counterparts::Counterparts;
use executions::ExecutionMigration;
use flow::FlowPairs;
use variables::Variables;

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The instance cannot continue in the new version.
    Error,
    /// It can, but it will differ from an instance that started there.
    Warning,
}

impl Severity {
    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// An obstacle to a migration, or a warning for the operator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    /// Where: the node id of an activity of the old version, or `/variables/NAME`, `/inputs/NAME`, `/mapping/KEY`;
    /// empty for the instance as a whole.
    pub path: String,
    /// Its severity.
    pub severity: Severity,
    /// The problem, in the style of a primary message.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (severity, path, message) = (self.severity.name(), &self.path, &self.message);
        match path.as_str() {
            "" => write!(out, "{severity}: {message}"),
            path => write!(out, "{severity}: {path}: {message}"),
        }
    }
}

impl Problem {
    /// An obstacle.
    pub fn error(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), severity: Severity::Error, message: message.into() }
    }

    /// A warning for the operator.
    pub fn warning(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, message) }
    }
}

/// Whether one of these problems prevents the migration.
pub fn is_refused(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.severity == Severity::Error)
}

/// The transition from one version of a definition to another.
#[derive(Debug)]
pub struct Migration {
    old: Arc<Program>,
    new: Arc<Program>,
    /// Number of the new version, for messages.
    version: i32,
    timers: Timers,
    counterparts: Counterparts,
    variables: Variables,
    flows: FlowPairs,
    /// Problems of the mapping itself.
    problems: Vec<Problem>,
}

/// What executions of an instance wait for, as far as only their bookmarks show it.
#[derive(Debug, Default)]
pub struct Waits {
    /// Executions that wait for their next attempt.
    pub retries: BTreeSet<u32>,
    /// Executions whose task must be claimed in time, with the bookmark of that timeout.
    pub claims: BTreeMap<u32, Uuid>,
}

/// A migrated instance.
#[derive(Debug, Default)]
pub struct Moved {
    /// Executions whose activity has another id or path in the new version, with that activity: stored rows about them
    /// have to be updated. `u32::MAX`, which no execution has, stands for the time limit of the run; 0 in a pending
    /// instance, which has no execution, for its start.
    pub renamed: Vec<(u32, NodeIx)>,
    /// Whether a variable of the workflow changed.
    pub variables_changed: bool,
    /// What must run before the instance waits again.
    pub after: AfterMigration,
}

impl Migration {
    /// Pairs the activities of two versions of a definition. `version` is the number of the new one. The computation
    /// calls `check` regularly.
    pub fn new(
        old: Arc<Program>,
        new: Arc<Program>,
        version: i32,
        mapping: &Mapping,
        timers: Timers,
        check: &mut dyn FnMut(),
    ) -> Self {
        let (counterparts, problems) = Counterparts::pair(&old, &new, version, mapping, check);
        let variables = Variables::compare(&old, &new);
        let flows = FlowPairs::pair(&old, &new, &counterparts, check);
        Self { old, new, version, timers, counterparts, variables, flows, problems }
    }

    /// The program of the new version.
    pub fn target(&self) -> &Program {
        &self.new
    }

    /// The activities whose id is another one in the new version, with that id. An id that several activities share is
    /// among them only if all of them go over to the same one.
    pub fn renamed_ids(&self) -> Vec<(String, String)> {
        let mut renamed: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for (at, node) in (0..).zip(&self.old.nodes) {
            let to = self.counterparts.at(NodeIx(at)).map(|to| self.new.node(to).id.as_str());
            renamed
                .entry(node.id.as_str())
                .and_modify(|known| *known = known.filter(|id| to == Some(*id)))
                .or_insert(to);
        }
        let pairs = renamed.into_iter().filter_map(|(from, to)| Some((from.to_owned(), to?.to_owned())));
        pairs.filter(|(from, to)| from != to).collect()
    }

    /// Whether compensation records may name anything of an instance.
    pub fn needs_records(&self) -> bool {
        self.old.compensation().is_used
    }

    /// Whether an execution of an instance may wait for its next attempt, which only its bookmark shows.
    pub fn may_wait_for_retry(instance: &Instance) -> bool {
        let has_failed = |context: &Context| context.attempts.as_ref().is_some_and(|attempts| attempts.failed > 0);
        instance.state.contexts.values().any(|context| context.waits() > 0 && has_failed(context))
    }

    /// Whether an execution of an instance may have a deadline for the first claim, which only its bookmark shows.
    pub fn may_wait_for_claim(&self, instance: &Instance) -> bool {
        let is_bounded = |context: &Context| self.old.node(context.node).start_timeout.is_some();
        let has_kept = instance.state.armed_spans.keys().any(|(_, is_start)| *is_start);
        has_kept || instance.state.contexts.values().any(|context| context.bookmarks > 0 && is_bounded(context))
    }

    /// Migrates an instance and its compensation records to the new version. If [`is_refused`] returns true for the
    /// problems, instance and records are partly migrated, and the caller must discard them.
    pub fn migrate(
        &self,
        instance: &mut Instance,
        records: &mut [Record],
        waits: &Waits,
        check: &mut dyn FnMut(),
    ) -> (Moved, Vec<Problem>) {
        let mut moved = Moved::default();
        let mut problems = self.problems.clone();
        self.variables.migrate(self, instance, &mut moved, &mut problems);
        let places: BTreeMap<u32, NodeIx> =
            instance.state.contexts.iter().map(|(sequence, context)| (*sequence, context.node)).collect();
        let executions = ExecutionMigration::of(self, instance, waits, &mut moved, &mut problems, check);
        executions.migrate(records);
        for record in records {
            self.migrate_record(record, &mut problems);
        }
        if !is_refused(&problems) {
            self.migrate_outputs(&mut instance.state, &places);
        }
        self.migrate_rest(instance, &mut moved, &mut problems);
        instance.version = self.version;
        // Executions and records of one activity have the same problems, and a loop may have left many.
        let mut told = HashSet::new();
        problems.retain(|problem| told.insert(problem.clone()));
        (moved, problems)
    }

    /// Migrates the trigger and the time limit of the run.
    fn migrate_rest(&self, instance: &mut Instance, moved: &mut Moved, problems: &mut Vec<Problem>) {
        let state = &mut instance.state;
        let to = |ix: NodeIx| self.counterparts.of_same_type(&self.old, &self.new, ix);
        if let Some(trigger) = state.trigger {
            state.trigger = to(trigger).filter(|ix| state.trigger_used || self.new.node(*ix).can_start_workflow);
            if state.trigger.is_none() && !state.trigger_used {
                let node = self.old.node(trigger);
                problems.push(self.no_trigger(&node.node_id, &node.id));
            }
        }
        if state.deadline.is_some() && self.is_renamed(NodeIx(0), NodeIx(0)) {
            moved.renamed.push((NO_EXECUTION, NodeIx(0)));
        }
        self.compare_run(state, moved, problems);
        let state = &mut instance.state;
        let is_timed = state.deadline.is_some() || self.new.options.timeout.is_some();
        moved.after.run_time = self.timers == Timers::Anew && is_timed && !state.contexts.is_empty();
    }

    /// Migrates the trigger at which a pending instance is to start.
    pub fn migrate_start(&self, trigger: &str, moved: &mut Moved, problems: &mut Vec<Problem>) {
        let old = self.old.find(trigger);
        let to = old.and_then(|old| Some((old, self.counterparts.of_same_type(&self.old, &self.new, old)?)));
        match to.filter(|(_, new)| self.new.node(*new).can_start_workflow) {
            Some((old, new)) if self.is_renamed(old, new) => moved.renamed.push((0, new)),
            Some(_) => {}
            None => {
                let path = old.map_or("", |old| &self.old.node(old).node_id);
                problems.push(self.no_trigger(path, trigger));
            }
        }
    }

    fn no_trigger(&self, path: &str, id: &str) -> Problem {
        let message = format!("trigger \"{id}\", at which the run begins, is not in version {}", self.version);
        Problem::error(path, message)
    }

    /// Whether stored rows about an activity would have to name it differently.
    fn is_renamed(&self, old: NodeIx, new: NodeIx) -> bool {
        let (old, new) = (self.old.node(old), self.new.node(new));
        (&old.id, &old.node_id) != (&new.id, &new.node_id)
    }
}

/// Variables of the workflow by name.
type WorkflowVariables = Map<String, Value>;
