//! Open executions: each continues at the counterpart of its activity.

use std::collections::{BTreeMap, BTreeSet};

use crate::instance::compensation::Record;
use crate::instance::{ActivityStatus, Context, Instance, Memory};
use crate::migration::{Migration, Moved, Problem, Timers, Waits, variables};
use crate::node_ix::NodeIx;
use crate::program::Program;
use workflow_http::stimulus;

/// Migrates the executions of one instance to the new version.
pub(super) struct ExecutionMigration<'m> {
    pub(super) of: &'m Migration,
    pub(super) contexts: BTreeMap<u32, Context>,
    pub(super) instance: &'m mut Instance,
    pub(super) waits: &'m Waits,
    pub(super) moved: &'m mut Moved,
    pub(super) problems: &'m mut Vec<Problem>,
    pub(super) check: &'m mut dyn FnMut(),
}

/// An open execution of an activity scheduled by a container.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenChild {
    /// Sequence number of the execution.
    pub sequence: u32,
    /// Its activity in the old version.
    pub old: NodeIx,
    /// Its activity in the new version.
    pub new: NodeIx,
    /// The tag that the container gave it.
    pub tag: u32,
}

/// The execution of a container that is open in the old version.
pub(super) struct Container<'c> {
    /// Sequence number of the execution.
    pub sequence: u32,
    /// Its activity in the old version.
    pub old: NodeIx,
    /// Its activity in the new version.
    pub new: NodeIx,
    /// Its open children, without those that the mapping cancels.
    pub children: &'c [OpenChild],
}

impl<'m> ExecutionMigration<'m> {
    /// Takes the executions out of an instance.
    pub fn of(
        of: &'m Migration,
        instance: &'m mut Instance,
        waits: &'m Waits,
        moved: &'m mut Moved,
        problems: &'m mut Vec<Problem>,
        check: &'m mut dyn FnMut(),
    ) -> Self {
        let contexts = std::mem::take(&mut instance.state.contexts);
        Self { of, contexts, instance, waits, moved, problems, check }
    }

    /// Puts them back, migrated. `records` are the instance's compensation records.
    pub fn migrate(mut self, records: &[Record]) {
        let cancelled = self.cancel(records);
        let counterparts = self.counterparts(&cancelled);
        let mut children: BTreeMap<u32, Vec<OpenChild>> = BTreeMap::new();
        for (sequence, context) in &self.contexts {
            if let (Some(parent), Some(new)) = (context.parent, counterparts.get(sequence)) {
                let child = OpenChild { sequence: *sequence, old: context.node, new: *new, tag: context.tag };
                children.entry(parent).or_default().push(child);
            }
        }
        for (sequence, new) in &counterparts {
            let below = children.get(sequence).map_or(&[][..], Vec::as_slice);
            let Some(mut context) = self.contexts.remove(sequence) else { continue };
            self.migrate_one(*sequence, &mut context, *new, below);
            self.contexts.insert(*sequence, context);
        }
        for (sequence, new) in &counterparts {
            if let Some(context) = self.contexts.get_mut(sequence) {
                context.node = *new;
            }
        }
        self.instance.state.contexts = self.contexts;
    }

    /// The activities of the new version at which the executions continue.
    fn counterparts(&mut self, cancelled: &BTreeSet<u32>) -> BTreeMap<u32, NodeIx> {
        let mut counterparts = BTreeMap::new();
        let mut taken: BTreeMap<NodeIx, NodeIx> = BTreeMap::new();
        let parents: BTreeSet<u32> = self.contexts.values().filter_map(|context| context.parent).collect();
        for (sequence, context) in &self.contexts {
            if cancelled.contains(sequence) {
                continue;
            }
            let (of, old) = (self.of, self.of.old.node(context.node));
            let mut refuse = |message: String| self.problems.push(Problem::error(&old.node_id, message));
            let Some(new) = of.counterparts.at(context.node) else {
                let does = does(context, parents.contains(sequence));
                refuse(format!("activity \"{}\" {does}, and version {} does not have it", old.id, of.version));
                continue;
            };
            let there = of.new.node(new);
            if there.type_name != old.type_name {
                let (was, is) = (&old.type_name, &there.type_name);
                let does = does(context, parents.contains(sequence));
                let id = &old.id;
                refuse(format!(
                    "activity \"{id}\" {does} as {was}, and \"{}\" of version {} is {is}",
                    there.id, of.version
                ));
                continue;
            }
            let other = *taken.entry(new).or_insert(context.node);
            if other != context.node {
                let other = &of.old.node(other).id;
                refuse(format!("\"{other}\" and \"{}\" are both open, and both would be \"{}\"", old.id, there.id));
                continue;
            }
            counterparts.insert(*sequence, new);
        }
        counterparts
    }

    /// Migrates one execution. Its node number is not changed here, because others still read it.
    fn migrate_one(&mut self, sequence: u32, context: &mut Context, new: NodeIx, children: &[OpenChild]) {
        let of = self.of;
        let (old, there) = (of.old.node(context.node), of.new.node(new));
        self.check_parent(context, new);
        let values = std::mem::take(&mut context.variables);
        let declared = (&*old.variables, &*there.variables);
        context.variables = variables::of_container(declared, values, &old.node_id, self.problems);
        self.warn_of_inputs(sequence, context, new);
        self.warn_of_notices(context, new);
        self.compare_deadlines(sequence, context, new);
        self.note_timers(sequence, context, new);
        let is_named = context.bookmarks > 0 || context.status == ActivityStatus::Faulted;
        if is_named && of.is_renamed(context.node, new) {
            self.moved.renamed.push((sequence, new));
        }
        if let Memory::Unwinding(unwinding) = &mut context.memory {
            return of.migrate_unwinding(unwinding, self.problems);
        }
        let container = Container { sequence, old: context.node, new, children };
        for (child, tag) in self.migrate_container(&container, &mut context.memory) {
            if let Some(context) = self.contexts.get_mut(&child) {
                context.tag = tag;
            }
        }
    }

    /// Refuses an execution whose parent in the new version is another activity than that of its parent execution.
    fn check_parent(&mut self, context: &Context, new: NodeIx) {
        let of = self.of;
        let (old, there) = (of.old.node(context.node), of.new.node(new));
        let above = context.parent.and_then(|parent| self.contexts.get(&parent));
        // A handler runs below an execution of the engine, not where the definition has it.
        if old.parent != above.map(|above| above.node) {
            return;
        }
        let expected = above.map(|above| of.counterparts.at(above.node));
        // If the enclosing activity has no counterpart, the enclosing execution is refused for that.
        if expected == Some(None) || there.parent == expected.flatten() {
            return;
        }
        let inside = |program: &Program, parent: Option<NodeIx>| match parent {
            Some(parent) => format!("inside \"{}\"", program.node(parent).id),
            None => "as the root".to_owned(),
        };
        let (was, is) = (inside(&of.old, old.parent), inside(&of.new, there.parent));
        let message = format!("activity \"{}\" is open {was}, and in version {} it is {is}", old.id, of.version);
        self.problems.push(Problem::error(&old.node_id, message));
    }

    /// Warns of an activity that would wait for something else in the new version. The next attempt has the new inputs.
    fn warn_of_inputs(&mut self, sequence: u32, context: &Context, new: NodeIx) {
        let of = self.of;
        let (old, there) = (of.old.node(context.node), of.new.node(new));
        let is_same = old.inputs == there.inputs && old.custom_inputs == there.custom_inputs;
        let begins_anew = of.timers == Timers::Anew && waits_for_time(&old.type_name);
        let is_deferred = context.memory == Memory::Deferred || self.waits.retries.contains(&sequence);
        if context.waits() == 0 || is_same || begins_anew || is_deferred {
            return;
        }
        let message = format!(
            "activity \"{}\" has other inputs in version {}; what it waits for stays as it is",
            old.id, of.version
        );
        self.problems.push(Problem::warning(&old.node_id, message));
    }

    /// Warns of an activity whose open tasks notify people in another way from now on. Past changes of a task
    /// cause no notices.
    fn warn_of_notices(&mut self, context: &Context, new: NodeIx) {
        let of = self.of;
        let (old, there) = (of.old.node(context.node), of.new.node(new));
        if context.waits() == 0 || old.notify == there.notify {
            return;
        }
        let message = format!(
            "activity \"{}\" notifies people otherwise in version {}; that applies from the next notice on",
            old.id, of.version
        );
        self.problems.push(Problem::warning(&old.node_id, message));
    }

    /// Records which waits for time have to start again.
    fn note_timers(&mut self, sequence: u32, context: &Context, new: NodeIx) {
        if self.of.timers == Timers::Keep || context.status != ActivityStatus::Running {
            return;
        }
        let attempts = context.attempts.as_deref();
        let is_between = self.waits.retries.contains(&sequence);
        let is_deferred = context.memory == Memory::Deferred;
        let there = self.of.new.node(new);
        if waits_for_time(&there.type_name) && context.waits() > 0 && !is_between && !is_deferred {
            self.moved.after.timed.push(sequence);
        } else if attempts.is_some_and(|attempts| attempts.timeout.is_some()) || there.timeout.is_some() && !is_between
        {
            self.moved.after.bounded.push(sequence);
        }
    }
}

/// Whether an activity of this type waits only until it is due.
fn waits_for_time(type_name: &str) -> bool {
    [stimulus::DELAY, stimulus::TIMER, stimulus::START_AT, stimulus::CRON].iter().any(|known| known.name == type_name)
}

/// What an open execution does, for a message.
fn does(context: &Context, has_children: bool) -> &'static str {
    match context.status {
        ActivityStatus::Faulted => "is faulted",
        ActivityStatus::Running if has_children => "is open",
        ActivityStatus::Running => "waits",
    }
}
