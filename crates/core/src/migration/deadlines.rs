//! Deadlines: a deadline of the old version keeps its span, or ends if the new version does not have that timeout.

use chrono::TimeDelta;

use crate::execution::burst::NO_EXECUTION;
use crate::instance::{ActivityStatus, Context, DeadlineKey, Memory, State};
use crate::migration::executions::ExecutionMigration;
use crate::migration::{Migration, Moved, Problem, Timers};
use crate::node_ix::NodeIx;

/// A timeout in both versions.
struct Bound<'b> {
    /// The path for a problem.
    path: &'b str,
    /// What is limited, for a message.
    what: String,
    key: DeadlineKey,
    old: Option<TimeDelta>,
    new: Option<TimeDelta>,
    is_armed: bool,
    /// Whether the limited period has already started, so that the new version starts no timer for it.
    has_begun: bool,
}

impl ExecutionMigration<'_> {
    /// Compares the timeouts of an open execution with those of the new version.
    pub(super) fn compare_deadlines(&mut self, sequence: u32, context: &Context, new: NodeIx) {
        let of = self.of;
        let (old, there) = (of.old.node(context.node), of.new.node(new));
        let is_handling = matches!(context.memory, Memory::Unwinding(_));
        if context.status != ActivityStatus::Running || is_handling {
            return;
        }
        let timeout = context.attempts.as_ref().and_then(|attempts| attempts.timeout);
        let is_between = self.waits.retries.contains(&sequence);
        let begins_again = of.timers == Timers::Anew && (timeout.is_some() || there.timeout.is_some() && !is_between);
        if begins_again {
            self.instance.state.armed_spans.remove(&(sequence, false));
        } else {
            let bound = Bound {
                path: &old.node_id,
                what: format!("the timeout of activity \"{}\"", old.id),
                key: (sequence, false),
                old: old.timeout,
                new: there.timeout,
                is_armed: timeout.is_some(),
                has_begun: !is_between && context.memory != Memory::Deferred,
            };
            let is_over = of.compare(bound, &mut self.instance.state, self.problems);
            self.moved.after.disarmed.extend(timeout.filter(|_| is_over).map(|timeout| (sequence, timeout.bookmark)));
        }
        let claim = self.waits.claims.get(&sequence);
        let bound = Bound {
            path: &old.node_id,
            what: format!("the time to claim the task of activity \"{}\"", old.id),
            key: (sequence, true),
            old: old.start_timeout,
            new: there.start_timeout,
            is_armed: claim.is_some(),
            // In a version with such a timeout, it has ended with the first claim.
            has_begun: context.waits() > 0 && !is_between && old.start_timeout.is_none(),
        };
        let is_over = of.compare(bound, &mut self.instance.state, self.problems);
        self.moved.after.disarmed.extend(claim.filter(|_| is_over).map(|bookmark| (sequence, *bookmark)));
    }
}

impl Migration {
    /// Compares the timeout of the run with that of the new version.
    pub(super) fn compare_run(&self, state: &mut State, moved: &mut Moved, problems: &mut Vec<Problem>) {
        let has_begun = !state.contexts.is_empty();
        if self.timers == Timers::Anew && has_begun {
            state.armed_spans.remove(&(NO_EXECUTION, false));
            return;
        }
        let deadline = state.deadline;
        let bound = Bound {
            path: "",
            what: "the timeout of the run".to_owned(),
            key: (NO_EXECUTION, false),
            old: self.old.options.timeout,
            new: self.new.options.timeout,
            is_armed: deadline.is_some(),
            has_begun,
        };
        if self.compare(bound, state, problems) {
            moved.after.disarmed.extend(deadline.map(|deadline| (NO_EXECUTION, deadline.bookmark)));
        }
    }

    /// Reports how a timeout differs in the new version. Returns whether the armed timer has to end.
    fn compare(&self, bound: Bound<'_>, state: &mut State, problems: &mut Vec<Problem>) -> bool {
        let Bound { path, what, key, old, new, is_armed, has_begun } = bound;
        let armed = state.armed_spans.remove(&key).map(TimeDelta::microseconds).or(old);
        let mut warn = |message: String| problems.push(Problem::warning(path, message));
        let version = self.version;
        match (is_armed, new) {
            (true, None) => warn(format!("{what} ends: version {version} has none")),
            (true, Some(span)) if armed != Some(span) => {
                warn(format!("{what} stays as it is; in version {version} it is another one"));
                state.armed_spans.extend(armed.and_then(|armed| Some((key, armed.num_microseconds()?))));
            }
            (false, Some(_)) if has_begun && armed.is_none() => {
                warn(format!("{what} of version {version} does not apply: it began without one"));
            }
            _ => {}
        }
        is_armed && new.is_none()
    }
}
