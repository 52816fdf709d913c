//! What a call does, in order: load and lock, run a burst, save, and then whatever the burst set off.
//!
//! A [`Session`] is one call. Bursts never nest inside it: what a burst sets off (a queued stimulus that meets
//! its new bookmark, a published event) becomes [`Work`] and is worked off after the burst. Only SQL of the
//! user inside a burst can begin another call, with a session of its own; [`running`] knows the instances
//! whose bursts are further up in this backend.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use chrono::{DateTime, Utc};
use pgrx::pg_sys::Oid;
use serde_json::Value;
use uuid::Uuid;
use workflow_engine::child::NewChild;
use workflow_engine::execution::{Limits, Published};
use workflow_engine::expression::shared_time::SharedTime;
use workflow_engine::http::{Request, Response};
use workflow_engine::program::Activation;

use crate::pg::error::{notice, warning};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc, process, role, session};
use crate::program::Compiled;
use crate::store::owners;
use crate::store::queue::Item;
use crate::{clock, wake};

pub mod adoption;
pub mod apart;
pub mod burst;
pub mod cancel;
pub mod children;
pub mod command;
pub mod deliver;
pub mod fire;
pub mod gone;
mod host;
pub mod http;
pub mod link;
pub mod missed;
pub mod ownership;
pub mod paths;
pub mod publish;
pub mod queued;
pub mod replay;
pub mod resume;
pub mod retention;
mod save;
pub mod schedule;
pub mod scheduled;
pub mod start;
pub mod sweep;
pub mod timing;
pub mod unheard;

/// One call.
pub struct Session {
    /// The present, the same for all bursts of the call.
    pub now: DateTime<Utc>,
    /// Limits of each burst.
    pub limits: Limits,
    /// The role that called.
    pub caller: Oid,
    /// Whether an instance lock was waited for; every further one is taken only if it is free.
    pub has_waited: bool,
    /// What is still to be done.
    pub work: VecDeque<Work>,
    /// Whether anything of it was done.
    pub has_worked: bool,
    /// Whether this fires whatever is due or queued, instead of doing what a caller asked for.
    pub is_pass: bool,
    /// Children that were started and run in this call, and how many of their ancestors were.
    pub inline: HashMap<Uuid, u32>,
    /// The HTTP request that the call serves.
    pub exchange: Exchange,
    /// Time that the scripts of other owners share in this call.
    pub time_of_others: SharedTime,
    bursts: u64,
}

/// An HTTP request and what came of it.
#[derive(Debug, Default)]
pub struct Exchange {
    /// The request.
    pub request: Option<Rc<Request>>,
    /// The instance that serves it: that of the call's first burst.
    pub instance: Option<Uuid>,
    /// The response that one of its bursts wrote.
    pub response: Option<Response>,
    /// The response of an endpoint that turned the request away: nothing of the burst was saved.
    pub refusal: Option<Response>,
    /// The first fault of its bursts.
    pub fault: Option<Faulted>,
}

impl Exchange {
    /// The request that a burst of this instance serves: the first one of the call, and those in which it goes on while
    /// nothing is answered yet, as after a child that ended at once.
    pub fn request_for(&mut self, instance: Uuid) -> Option<Rc<Request>> {
        let request = self.request.clone()?;
        let is_served = *self.instance.get_or_insert(instance) == instance && self.response.is_none();
        is_served.then_some(request)
    }
}

/// A fault, as the answer to a request tells it.
#[derive(Debug)]
pub struct Faulted {
    /// Instance.
    pub instance_id: Uuid,
    /// Activity.
    pub activity_id: String,
    /// What went wrong.
    pub message: String,
}

/// Something that a burst set off.
#[derive(Debug)]
pub enum Work {
    /// A kept or deferred stimulus whose bookmark is there now.
    Item(Box<Item>),
    /// A stimulus that a burst published, and the instance that did.
    Published(Box<Published>, Publisher),
    /// A child workflow that a burst asked for, and the instance that did.
    Child(Box<NewChild>, Publisher),
    /// News of a child for its parent.
    News(Box<children::News>),
}

/// The instance that published a stimulus. It is sent with its owner's rights: a caller that reaches an instance by
/// an event does not lend it theirs.
#[derive(Clone, Debug)]
pub struct Publisher {
    /// Instance.
    pub instance: Uuid,
    /// Its owner.
    pub owner: owners::Owner,
}

impl Session {
    /// Begins a call.
    pub fn begin() -> Self {
        session::refuse_parallel();
        let limits = guc::limits();
        Self {
            now: clock::now(),
            // A call from within a burst has what that one has left.
            time_of_others: SharedTime::in_force().unwrap_or_else(|| SharedTime::of(limits.script.time)),
            limits,
            caller: role::current(),
            has_waited: running::any(),
            work: VecDeque::new(),
            has_worked: false,
            is_pass: false,
            inline: HashMap::new(),
            exchange: Exchange::default(),
            bursts: 0,
        }
    }

    /// Begins a pass over what is due or queued. It waits for no lock.
    pub fn pass() -> Self {
        Self { has_waited: true, is_pass: true, ..Self::begin() }
    }

    /// Whether a session asked for what runs here, if only for all that is due for its role. A worker's pass has no caller.
    pub fn has_caller(&self) -> bool {
        !self.is_pass || process::connected_as().is_none()
    }

    /// The present in PostgreSQL's form.
    pub fn timestamp(&self) -> Timestamp {
        self.now.into()
    }

    /// A new id.
    pub fn new_id(&mut self) -> Uuid {
        new_id(self.now)
    }

    /// Counts a burst; workflows that set each other off without end are stopped (54000).
    fn count_burst(&mut self) -> Result<(), PgError> {
        self.bursts += 1;
        if self.bursts <= self.limits.max_steps {
            return Ok(());
        }
        Err(PgError::new("54000", format!("one call ran more than {} bursts", self.limits.max_steps)).hint(
            "Workflows that set each other off without waiting do not end. Raise workflow.max_steps if these do.",
        ))
    }

    /// The caller as a sender of stimuli.
    pub fn sender(&self) -> owners::Owner {
        self.caller_as_owner(None)
    }

    /// The caller as an owner, with their id if it is known.
    pub fn caller_as_owner(&self, id: Option<i32>) -> owners::Owner {
        owners::Owner {
            id: id.unwrap_or_else(|| owners::id_of(self.caller)),
            oid: Some(self.caller),
            name: String::new(),
        }
    }
}

/// A UUID version 7 of this instant. Ids that a backend makes in one millisecond are in order, by a counter in the
/// bits after the time: "oldest first" is by id.
pub fn new_id(now: DateTime<Utc>) -> Uuid {
    let millis = now.timestamp_millis().max(0).unsigned_abs();
    let (last, count) = LAST_ID.get();
    let count = if last == millis { count.wrapping_add(1) } else { 0 };
    LAST_ID.set((millis, count));
    let mut tail = [0; 10];
    tail.copy_from_slice(&Uuid::new_v4().as_bytes()[6..]);
    // Twelve bits after the version, then fourteen after the variant; the rest stays random.
    tail[..2].copy_from_slice(&((count >> 14) as u16 & 0x0FFF).to_be_bytes());
    tail[2..4].copy_from_slice(&(count as u16 & 0x3FFF).to_be_bytes());
    uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid()
}

thread_local! {
    static LAST_ID: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
}

/// What an instance with this correlation id excludes others by.
/// Definitions of different owners do not exclude each other; those of one do, also where different roles start them: a
/// definition's id is its owner's.
pub fn activation_key(compiled: &Compiled, correlation_id: Option<&str>) -> Option<String> {
    let Compiled { program, row } = compiled;
    let (id, owner) = (&program.definition_id, row.owner.id);
    match (program.options.activation, correlation_id) {
        (Activation::Singleton, _) => Some(format!("singleton:{id}")),
        (Activation::Correlated, Some(correlation)) => Some(format!("correlated:{owner}:{correlation}")),
        (Activation::CorrelatedSingleton, Some(correlation)) => {
            Some(format!("correlated-singleton:{}:{id}:{correlation}", id.len()))
        }
        (Activation::Always | Activation::Correlated | Activation::CorrelatedSingleton, _) => None,
    }
}

/// The instances whose bursts are running further up in this backend.
pub mod running {
    use super::{Cell, PgError, RefCell, Uuid};

    thread_local! {
        static STACK: RefCell<Vec<Uuid>> = const { RefCell::new(Vec::new()) };
        static CALLED_INSIDE: Cell<bool> = const { Cell::new(false) };
    }

    /// Marks an instance as running while it lives, also on unwinding.
    pub struct Mark;

    impl Mark {
        /// Marks an instance.
        pub fn set(instance: Uuid) -> Self {
            STACK.with_borrow_mut(|stack| stack.push(instance));
            Self
        }
    }

    impl Drop for Mark {
        fn drop(&mut self) {
            STACK.with_borrow_mut(Vec::pop);
        }
    }

    /// Whether this instance's burst is running.
    pub fn contains(instance: Uuid) -> bool {
        STACK.with_borrow(|stack| stack.contains(&instance))
    }

    /// Whether any burst is running.
    pub fn any() -> bool {
        STACK.with_borrow(|stack| !stack.is_empty())
    }

    /// All of them.
    pub fn all() -> Vec<Uuid> {
        STACK.with_borrow(Clone::clone)
    }

    /// Remembers that something may have been deferred until a burst ends.
    pub fn note_deferral() {
        CALLED_INSIDE.set(true);
    }

    /// Whether that happened; forgotten when no burst is left.
    pub fn may_have_deferred() -> bool {
        let noted = CALLED_INSIDE.get();
        if noted && !any() {
            CALLED_INSIDE.set(false);
        }
        noted
    }

    /// Refuses a call that would run an instance inside its own burst (55006).
    pub fn refuse(instance: Uuid) -> Result<(), PgError> {
        if !contains(instance) {
            return Ok(());
        }
        Err(PgError::new("55006", format!("workflow instance {instance} is running further up in this session"))
            .detail("SQL that runs inside a burst cannot run the same instance again.")
            .hint("Send a stimulus instead: it is delivered in the same transaction when the burst has ended."))
    }
}

thread_local! {
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// Tells a session once that what it left due or queued needs a worker or a call to fire it.
pub fn tell_how_to_fire() {
    if !TOLD.get() && !wake::has_workers() {
        TOLD.set(true);
        notice(PgError::new("00000", "something is left for later, and no worker runs in this database").hint(
            "Add workflow to shared_preload_libraries, run wf_worker_start(), or call wf_run_due() from time to time.",
        ));
    }
}

/// Warns that a call left an instance faulted.
pub fn warn_faulted(instance: Uuid, activity: &str, error: &PgError) {
    warning(PgError {
        sqlstate: "01000".into(),
        message: format!("workflow instance {instance} is faulted"),
        detail: Some(format!("Activity \"{activity}\": {} (SQLSTATE {}).", error.message, error.sqlstate)),
        hint: Some("wf_retry runs the faulted activities again.".into()),
        ..PgError::default()
    });
}

/// The value under a JSON key, NULL as `None`.
pub fn not_null(value: Option<Value>) -> Option<Value> {
    value.filter(|value| !value.is_null())
}
