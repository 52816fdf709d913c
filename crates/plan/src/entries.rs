//! The optional entries of the phases of a burst.

/// An optional entry of a phase: a call that most bursts pass by. The phases are those of `src/run/burst.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// *Answer*: the response to the HTTP request that the burst serves.
    Response,
    /// *Answer*: a fault is raised to the caller.
    Raise,
    /// *Read* and *follow-ups*: child workflows for which nothing waits any more.
    Abandoned,
    /// *Prepare*: the bookmark that an act concerns, if no event names it.
    Subject,
    /// *Prepare*: the key by which the instance excludes others.
    ActivationKey,
    /// *Prepare*: removal of old journal rows.
    Trim,
    /// *Clear*: the task whose last lease has ended.
    LeaseEnd,
    /// *Clear*: bookmarks that the burst ended in addition to the resumed one.
    EndedBookmarks,
    /// *Clear*: a new correlation id for bookmarks and tasks that stay.
    Correlation,
    /// *Clear*: open tasks that get a higher priority.
    RaisedTasks,
    /// *Write*: the task whose answer the burst took.
    TaskEnd,
    /// *Stored*: lanes of new tasks that have limits.
    Lanes,
    /// *Stored*: the due time of a bookmark that fired and stays.
    FiredTimer,
    /// *Stored*: due times and tasks of a paused instance are held.
    Pause,
    /// *Stored*: this database is recorded as the one that gives out the tasks.
    Identity,
    /// *Stored*: the NOTIFY for new tasks.
    Notify,
    /// *Stored*: incidents, new and resolved.
    Incidents,
    /// *Stored*: values by which the instance is found.
    SearchAttributes,
    /// *Stored*: the end of an instance makes room for another one.
    Admission,
    /// *Stored*: the response to an HTTP request that waits for the instance.
    WaitingRequest,
    /// *Stored*: the schedule that started the instance records its end.
    Schedule,
    /// *Follow-ups*: the instance that replaces this one.
    Successor,
    /// *Follow-ups*: the WARNING that the instance is faulted.
    Warning,
    /// *Follow-ups*: the NOTICE that only workers or `wf_run_due` fire timers.
    TimerNotice,
    /// *Follow-ups*: workers reconsider the due bookmarks of an instance that was faulted.
    RetryWakeup,
    /// *Follow-ups*: stimuli in the queue for the new bookmarks, or for those of an instance that was held.
    Queue,
    /// *Follow-ups*: stimuli that were sent to the instance during its burst.
    Deferred,
    /// *Follow-ups*: the report to the parent.
    Report,
    /// *Follow-ups*: children to start and stimuli to send.
    Sent,
}

impl Entry {
    /// All of them, in the order of the phases.
    pub const ALL: [Self; 29] = [
        Self::Response,
        Self::Raise,
        Self::Abandoned,
        Self::Subject,
        Self::ActivationKey,
        Self::Trim,
        Self::LeaseEnd,
        Self::EndedBookmarks,
        Self::Correlation,
        Self::RaisedTasks,
        Self::TaskEnd,
        Self::Lanes,
        Self::FiredTimer,
        Self::Pause,
        Self::Identity,
        Self::Notify,
        Self::Incidents,
        Self::SearchAttributes,
        Self::Admission,
        Self::WaitingRequest,
        Self::Schedule,
        Self::Successor,
        Self::Warning,
        Self::TimerNotice,
        Self::RetryWakeup,
        Self::Queue,
        Self::Deferred,
        Self::Report,
        Self::Sent,
    ];
}

/// A set of entries.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Entries(u32);

impl Entries {
    /// Whether the set contains an entry.
    #[inline]
    pub fn contains(self, entry: Entry) -> bool {
        self.0 & Self::bit(entry) != 0
    }

    /// Adds an entry if `is_used`.
    #[inline]
    pub(crate) fn add_if(&mut self, is_used: bool, entry: Entry) {
        self.0 |= u32::from(is_used) << entry as u32;
    }

    /// Removes an entry.
    pub fn remove(&mut self, entry: Entry) {
        self.0 &= !Self::bit(entry);
    }

    /// The entries of the set, in the order of the phases.
    pub fn iter(self) -> impl Iterator<Item = Entry> {
        Entry::ALL.into_iter().filter(move |entry| self.contains(*entry))
    }

    fn bit(entry: Entry) -> u32 {
        1 << entry as u32
    }
}

impl std::fmt::Debug for Entries {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}
