//! What the extension stores of a burst, decided without a database.
//!
//! A burst of `workflow-core` leaves a changed instance and a [`Delta`]. [`Plan::new`] decides from these and from the
//! row before the burst what happens to the bookmark that was resumed, which other bookmarks go, which numbers the
//! journal rows get, which incidents are resolved, and which of the optional [entries](Entry) the burst uses. The
//! extension carries the plan out: it has the statements, the locks, and their order (`src/run/burst.rs`).
//!
//! The plan does not copy what the delta says already, such as new bookmarks, tasks and events. Whatever needs a look
//! into the database stays with the extension: whether an activation key is taken, roles that a task is assigned to,
//! limits of tasks, the age of journal rows, and whether anything is in the queue. So the crate makes no ids and has no
//! clock.
//!
//! # Examples
//!
//! ```
//! use serde_json::json;
//! use workflow_engine::definition::{ReadLimits, compile};
//! use workflow_engine::execution::{Limits, start};
//! use workflow_engine::Instance;
//! use workflow_plan::{Before, Entry, Outcome, Plan, ResumedRow};
//!
#![cfg_attr(any(doc, doctest), doc = include_str!("../../engine/tests/support/alone.rs"))]
//!
//! let leave = json!({"definitionId": "leave", "root": {"id": "ask", "type": "RunTask", "taskName": "approve"}});
//! let program = compile(&leave, &(), &ReadLimits::default(), false).expect("acceptable");
//! let mut instance = Instance::new(Uuid::nil(), &program, 1, None, None, Map::new()).expect("no input is needed");
//! let before = Before::of(&instance, None);
//! let mut host = Alone::default();
//! let delta = start(&program, &mut instance, None, None, &mut host, &Limits::default()).expect("the burst ends");
//!
//! let plan = Plan::new(&Outcome::new(&program, &before, &instance, &delta, host.now()));
//! assert_eq!((plan.journal.clone(), plan.resumed), (0..1, ResumedRow::Stays));
//! assert!(plan.uses(Entry::Identity) && !plan.uses(Entry::Incidents));
//! ```
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(unsafe_code)]
#![warn(missing_docs)]

use std::ops::Range;

use chrono::{DateTime, Utc};
use uuid::Uuid;
use workflow_core::instance::{Status, SubStatus};
use workflow_core::journal::{Act, ActKind, EventKind};
use workflow_core::program::SearchValue;
use workflow_core::{Bookmark, Delta, Instance, Program};

mod before;
mod bookmark_kind;
mod entries;
mod incidents;
mod journal;

pub use before::{Before, activation_key};
pub use bookmark_kind::BookmarkKind;
pub use entries::{Entries, Entry};
pub use incidents::Resolved;
pub use journal::{EVENTS_PER_ROW, Trim, journal_rows, trim};

/// The bookmark that a burst resumes.
#[derive(Clone, Copy, Debug)]
pub struct Resumed<'a> {
    /// The bookmark as it was read under the lock of its instance.
    pub bookmark: &'a Bookmark,
    /// What it waits for.
    pub kind: BookmarkKind,
    /// Whether its row is locked.
    pub is_locked: bool,
    /// Whether it is resumed because it was due.
    pub by_time: bool,
    /// Whether its row is gone already. Otherwise the burst takes the row if it has `auto_burn`, and leaves any other.
    pub is_taken: bool,
}

/// The outcome of a burst, with what has to be known of its instance and its call.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// The version that the instance runs.
    pub program: &'a Program,
    /// Id of the owner of its definition.
    pub definition_owner: i32,
    /// The row before the burst.
    pub before: &'a Before,
    /// The instance after the burst.
    pub instance: &'a Instance,
    /// What else the burst changed.
    pub delta: &'a Delta,
    /// The bookmark that it resumed.
    pub resumed: Option<Resumed<'a>>,
    /// What someone did; `None`: the engine ran the burst.
    pub act: Option<&'a Act>,
    /// Whether it served an HTTP request.
    pub is_served: bool,
    /// Whether the instance has received HTTP requests before the burst, so that some may wait for it.
    pub has_requests: bool,
    /// Those to which it could respond then ([`open_requests`](workflow_core::instance::State::open_requests)).
    pub open_requests: &'a [u32],
    /// The values by which the instance was found before the burst.
    pub searched_by: &'a [(&'a str, SearchValue)],
    /// Whether its caller wants a fault as an error.
    pub raises_faults: bool,
    /// Whether the instance is paused.
    pub is_paused: bool,
    /// Whether a schedule started the instance.
    pub is_scheduled: bool,
    /// Whether a parent waits for the end of the instance.
    pub has_waiting_parent: bool,
    /// The time of the call.
    pub now: DateTime<Utc>,
}

impl<'a> Outcome<'a> {
    /// The outcome of a burst that resumed no bookmark, in an instance with none of the features.
    pub fn new(
        program: &'a Program,
        before: &'a Before,
        instance: &'a Instance,
        delta: &'a Delta,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            program,
            definition_owner: 0,
            before,
            instance,
            delta,
            resumed: None,
            act: None,
            is_served: false,
            has_requests: false,
            open_requests: &[],
            searched_by: &[],
            raises_faults: false,
            is_paused: false,
            is_scheduled: false,
            has_waiting_parent: false,
            now,
        }
    }
}

/// What happens to the row of the resumed bookmark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResumedRow {
    /// Nothing: there is none, it stays, or it is gone already.
    #[default]
    Stays,
    /// It is deleted with the other ended bookmarks, before new ones are inserted.
    DeletedFirst,
    /// It is deleted with the rest of what the burst writes.
    Deleted,
    /// It was deleted, and is inserted as it was, because its activity faulted.
    Restored,
    /// The same without its lease. The row was not locked, so a worker may have claimed the task since it was read, and
    /// given it back: an older token must not count again.
    RestoredUnclaimed,
}

/// What the extension does with a burst. Its phases consult the plan, and change nothing that it says.
#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    entries: Entries,
    /// The act's bookmark ([`Entry::Subject`]).
    pub subject: Option<Uuid>,
    /// The key of the instance from now on ([`Entry::ActivationKey`]).
    pub activation_key: Option<String>,
    /// The numbers of the journal rows that are written.
    pub journal: Range<u32>,
    /// The journal rows that are removed ([`Entry::Trim`]).
    pub trim: Option<Trim>,
    /// The row of the resumed bookmark.
    pub resumed: ResumedRow,
    /// Other bookmarks that are deleted by id ([`Entry::EndedBookmarks`]).
    pub burned: Vec<Uuid>,
    /// Whether all bookmarks of the instance are deleted ([`Entry::EndedBookmarks`]).
    pub clears_all: bool,
    /// The incidents that are resolved ([`Entry::Incidents`]).
    pub resolved: Resolved,
    /// Whether stimuli in the queue are delivered to older bookmarks as well ([`Entry::Queue`]).
    pub meets_all: bool,
}

impl Plan {
    /// Decides what is stored of a burst.
    pub fn new(outcome: &Outcome<'_>) -> Self {
        let mut plan = Self::default();
        plan.answer(outcome);
        plan.prepare(outcome);
        plan.clear(outcome);
        plan.write(outcome);
        plan.stored(outcome);
        plan.follow_up(outcome);
        plan
    }

    /// Whether the burst uses an entry.
    #[inline]
    pub fn uses(&self, entry: Entry) -> bool {
        self.entries.contains(entry)
    }

    /// The entries that the burst uses.
    pub fn entries(&self) -> Entries {
        self.entries
    }

    /// The plan of an extension that lacks an entry.
    #[must_use]
    pub fn without(mut self, entry: Entry) -> Self {
        self.entries.remove(entry);
        self
    }

    fn answer(&mut self, outcome: &Outcome<'_>) {
        let delta = outcome.delta;
        self.entries.add_if(outcome.is_served, Entry::Response);
        self.entries.add_if(outcome.raises_faults && !delta.incidents.is_empty(), Entry::Raise);
        self.entries.add_if(!delta.abandoned.is_empty(), Entry::Abandoned);
    }

    fn prepare(&mut self, outcome: &Outcome<'_>) {
        self.subject = subject(outcome);
        self.entries.add_if(self.subject.is_some(), Entry::Subject);
        let first = outcome.instance.state.next_journal;
        let next = first + journal_rows(outcome.act.is_some(), outcome.delta.events.len());
        self.journal = first..next;
        self.activation_key = before::key_after(outcome);
        self.entries.add_if(self.activation_key != outcome.before.activation_key, Entry::ActivationKey);
        self.trim = trim(outcome.program, outcome.instance, first..next, outcome.now);
        self.entries.add_if(self.trim.is_some(), Entry::Trim);
    }

    fn clear(&mut self, outcome: &Outcome<'_>) {
        let (delta, resumed) = (outcome.delta, outcome.resumed);
        let own = resumed.map(|resumed| resumed.bookmark.id);
        // If the only stored bookmark is the one that the resume uses up, there is nothing to clear.
        let uses_up = resumed.is_some_and(|resumed| resumed.bookmark.auto_burn);
        let has_others = outcome.before.bookmarks > u32::from(uses_up);
        self.burned = delta.burned.iter().copied().filter(|id| Some(*id) != own).collect();
        self.clears_all = delta.clear_all && has_others;
        let ends_others = self.clears_all || !self.burned.is_empty() || !delta.cleared.is_empty();
        let correlates = delta.changed.correlation_id && has_others;
        self.entries.add_if(resumed.is_some_and(|resumed| resumed.kind == BookmarkKind::Lease), Entry::LeaseEnd);
        self.entries.add_if(ends_others, Entry::EndedBookmarks);
        self.entries.add_if(correlates, Entry::Correlation);
        self.entries.add_if(!delta.raised_tasks.is_empty(), Entry::RaisedTasks);
        if let Some(resumed) = resumed {
            self.resumed = resumed_row(resumed, delta.keep_resumed, ends_others || correlates);
        }
    }

    fn write(&mut self, outcome: &Outcome<'_>) {
        let is_answered = |resumed: Resumed<'_>| resumed.kind.is_task() && !outcome.delta.keep_resumed;
        self.entries.add_if(outcome.resumed.is_some_and(is_answered), Entry::TaskEnd);
    }

    fn stored(&mut self, outcome: &Outcome<'_>) {
        let (instance, delta) = (outcome.instance, outcome.delta);
        let opens_tasks = !delta.tasks.is_empty();
        self.entries.add_if(opens_tasks, Entry::Lanes);
        self.entries.add_if(outcome.resumed.is_some_and(|resumed| has_fired(resumed, outcome)), Entry::FiredTimer);
        self.entries.add_if(outcome.is_paused, Entry::Pause);
        self.entries.add_if(opens_tasks, Entry::Identity);
        self.entries.add_if(opens_tasks, Entry::Notify);
        self.resolved = Resolved::by(outcome);
        self.entries.add_if(outcome.before.faulted || !delta.incidents.is_empty(), Entry::Incidents);
        self.entries.add_if(is_found_otherwise(outcome), Entry::SearchAttributes);
        let is_limited = outcome.program.options.max_concurrency.is_some();
        self.entries.add_if(is_limited && instance.has_ended(), Entry::Admission);
        self.entries.add_if(may_answer(outcome), Entry::WaitingRequest);
        let is_finished = instance.sub_status.status() == Status::Finished;
        self.entries.add_if(outcome.is_scheduled && is_finished, Entry::Schedule);
        // The parent of an instance that is replaced receives the report of the successor only.
        let reports = outcome.has_waiting_parent && is_finished && delta.continuation.is_none();
        self.entries.add_if(reports, Entry::Report);
    }

    fn follow_up(&mut self, outcome: &Outcome<'_>) {
        let (before, delta) = (outcome.before, outcome.delta);
        let is_faulted = outcome.instance.sub_status == SubStatus::Faulted;
        self.entries.add_if(delta.continuation.is_some(), Entry::Successor);
        // The caller of a burst in which no activity ran knows what it has altered.
        let warns = is_faulted && delta.events.iter().any(|event| event.kind != EventKind::Altered);
        self.entries.add_if(warns, Entry::Warning);
        self.entries.add_if(delta.created.iter().any(|bookmark| bookmark.due_at.is_some()), Entry::TimerNotice);
        self.entries.add_if(before.was_held && !is_faulted, Entry::RetryWakeup);
        self.meets_all = delta.changed.correlation_id || before.faulted;
        // Stimuli for a faulted or paused instance stay in the queue until it continues or ends.
        let meets = !is_faulted && !outcome.is_paused && (self.meets_all || !delta.created.is_empty());
        let ends_paused = outcome.is_paused && outcome.instance.has_ended();
        self.entries.add_if(meets || ends_paused, Entry::Queue);
        // Only the call knows whether there are any.
        self.entries.add_if(true, Entry::Deferred);
        self.entries.add_if(!delta.children.is_empty() || !delta.stimuli.is_empty(), Entry::Sent);
    }
}

/// Whether the burst changed a value by which the instance is found. The first one stores all of them.
fn is_found_otherwise(outcome: &Outcome<'_>) -> bool {
    !outcome.program.options.search_attributes.is_empty()
        && (outcome.before.is_first
            || outcome.program.search_values(outcome.instance).as_slice() != outcome.searched_by)
}

/// Whether a burst may answer a request that an earlier one has served: by a response, by a fault, by its end, or
/// because nothing leads to a response any more.
fn may_answer(outcome: &Outcome<'_>) -> bool {
    let (instance, delta) = (outcome.instance, outcome.delta);
    if !outcome.has_requests {
        return false;
    }
    let has_ended = instance.sub_status.status() == Status::Finished;
    has_ended || !delta.responses.is_empty() || !delta.incidents.is_empty() || {
        let open = instance.state.open_requests(outcome.program);
        outcome.open_requests.iter().any(|request| !open.contains(request))
    }
}

/// The resumed bookmark, for an act whose row has no event that names it.
fn subject(outcome: &Outcome<'_>) -> Option<Uuid> {
    let act = outcome.act.filter(|act| act.kind != ActKind::Start);
    let bookmark = act.and(outcome.resumed)?.bookmark.id;
    let is_named = outcome.delta.events.iter().any(|event| event.bookmark_id == Some(bookmark));
    (!is_named).then_some(bookmark)
}

/// An execution that ran again may have new bookmarks, so the resumed one goes with those that are cleared before.
fn resumed_row(resumed: Resumed<'_>, is_kept: bool, is_cleared: bool) -> ResumedRow {
    match (is_kept, resumed.is_taken) {
        (false, false) if resumed.bookmark.auto_burn && is_cleared => ResumedRow::DeletedFirst,
        (false, false) if resumed.bookmark.auto_burn => ResumedRow::Deleted,
        (true, true) if resumed.is_locked => ResumedRow::Restored,
        (true, true) => ResumedRow::RestoredUnclaimed,
        _ => ResumedRow::Stays,
    }
}

/// Whether a bookmark that time resumed stays: it has fired, and waits for a call from now on. A bookmark of a faulted
/// instance stays due, in case the instance is retried.
fn has_fired(resumed: Resumed<'_>, outcome: &Outcome<'_>) -> bool {
    let stays = outcome.delta.keep_resumed || !resumed.bookmark.auto_burn;
    resumed.by_time && stays && outcome.instance.sub_status != SubStatus::Faulted
}
