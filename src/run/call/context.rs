//! One call: what its bursts share, and what they set off.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use chrono::{DateTime, Utc};
use pgrx::pg_sys::Oid;
use serde_json::Value;
use uuid::Uuid;
use workflow_engine::child::NewChild;
use workflow_engine::execution::{Incident, Limits, Published};
use workflow_engine::expression::shared_time::SharedTime;
use workflow_engine::http::{Request, Response};
use workflow_engine::journal::{Act, ActKind, Identity};
use workflow_engine::traceparent::Traceparent;

use crate::access::lending::Serves;
use crate::access::person;
use crate::clock;
use crate::pg::error::throw;
use crate::pg::spi::Timestamp;
use crate::pg::subtransaction::subtransaction_if;
use crate::pg::{PgError, guc, interrupt, process, role, session, shared};
use crate::run::BACKEND;
use crate::run::call::running;
use crate::store::events::queue::Item;
use crate::store::http::requests::EndpointGuard;
use crate::store::instances::Starter;
use crate::store::rights::owners;

/// The context of a call: its time, limits and role, and what its bursts share.
pub struct CallContext {
    /// The present time, the same for all bursts of the call.
    pub now: DateTime<Utc>,
    /// Limits of each burst.
    pub limits: Limits,
    /// The role that called.
    pub caller: Oid,
    /// Its id among the owners, where the call has looked it up outside of all subtransactions.
    pub caller_id: Option<i32>,
    /// For whom the call may run SQL of instances that it does not name.
    pub serves: Serves,
    /// Whether the call may not wait for an instance lock (any more), because it is about to wait for its first one or
    /// has done so. It takes every further lock only if that is free.
    pub has_waited: bool,
    /// Follow-ups that are still to be run.
    pub follow_ups: VecDeque<FollowUp>,
    /// Whether a follow-up was run.
    pub has_followed_up: bool,
    /// Whether this is a pass, which fires whatever is due or queued instead of what a caller named.
    pub is_pass: bool,
    /// Whether a background worker began it by itself, and no SQL that the worker runs.
    pub is_workers: bool,
    /// Children that this call started and ran, with the depth to which they are nested in it.
    pub inline: HashMap<Uuid, u32>,
    /// Bookmarks of activities that were given up while they waited for child workflows.
    pub abandoned: HashSet<Uuid>,
    /// How many notices of tasks have led to the bursts that run now, each one by the one before it.
    pub generation: u32,
    /// The trace that instances join which are started now: that of the setting, of the HTTP request, or of the
    /// instance that sends an event.
    pub traceparent: Option<Traceparent>,
    /// The HTTP request that the call serves.
    pub http: HttpContext,
    /// Time that the scripts of other owners share in this call.
    pub time_of_others: SharedTime,
    bursts: u32,
    max_bursts: u32,
}

/// An HTTP request and what came of it.
#[derive(Debug, Default)]
pub struct HttpContext {
    /// The request with the values of its route; `None`: the call serves none.
    pub request: Option<Rc<Request>>,
    /// The instance that serves it: that of the call's first burst, unless the burst was undone.
    pub instance: Option<Uuid>,
    /// Who may call the endpoint that the request has reached.
    pub guard: EndpointGuard,
    /// The execution of this endpoint that received the request.
    pub received_by: Option<Uuid>,
    /// The response that one of its bursts wrote.
    pub response: Option<Response>,
    /// The response of an endpoint that turned the request away: nothing of the burst was saved.
    pub refusal: Option<Response>,
    /// The first fault of its bursts.
    pub fault: Option<RequestFault>,
    /// The server that passed the request on, if it lets its client wait.
    pub server: Option<WaitingServer>,
    /// The wait of the request: the instance has suspended before it responded.
    pub wait: Option<RequestWait>,
}

/// The wait of a request for the response of a later burst.
#[derive(Clone, Copy, Debug)]
pub struct RequestWait {
    /// Until when the client waits.
    pub until: Timestamp,
    /// The instance that is to respond, if the role that passed the request on may read it.
    pub instance: Option<Uuid>,
}

impl HttpContext {
    /// The request that a burst of this instance serves. The first burst of the call serves it, and so do later bursts
    /// of the same instance until one has answered, such as the burst after a child that ended at once.
    pub fn request_for(&mut self, instance: Uuid) -> Option<Rc<Request>> {
        let request = self.request.clone()?;
        let is_served = *self.instance.get_or_insert(instance) == instance && self.response.is_none();
        is_served.then_some(request)
    }
}

/// A server that lets its client wait for a response.
#[derive(Debug)]
pub struct WaitingServer {
    /// The id that it gave the request.
    pub request: Uuid,
    /// Its name, by which it asks for responses.
    pub name: String,
    /// How long it lets the client wait, in microseconds.
    pub timeout: i64,
    /// The `Idempotency-Key` of the request, and a hash of its content.
    pub key: Option<RequestKey>,
}

/// What identifies a request that a client may repeat.
#[derive(Clone, Debug)]
pub struct RequestKey {
    /// The text that the client chose.
    pub key: String,
    /// SHA-256 of the request: another one with the same key is an error.
    pub content: Vec<u8>,
}

/// A fault, as the answer to a request tells it.
#[derive(Debug)]
pub struct RequestFault {
    /// Id of the instance that faulted.
    pub instance_id: Uuid,
    /// Id within the definition of the activity that faulted.
    pub activity_id: String,
    /// What went wrong.
    pub message: String,
}

/// Something that a burst set off.
#[derive(Debug)]
pub enum FollowUp {
    /// A kept or deferred stimulus whose bookmark exists now.
    Item(Box<Item>),
    /// A stimulus that a burst published, and the publisher.
    Published(Box<Published>, Publisher),
    /// A child workflow that a burst asked for, and the parent.
    Child(Box<NewChild>, Publisher),
    /// An instance that begins in place of one that has ended.
    Continue(Uuid),
    /// The report of a child to its parent.
    Report(Box<ChildReport>),
    /// A child to be cancelled because its parent does not wait for it any more, and the parent's owner.
    Cancel(Uuid, owners::Owner),
}

/// The report of a child to its parent.
#[derive(Debug)]
pub struct ChildReport {
    /// Id of the instance that started the child.
    pub parent: Uuid,
    /// The bookmark of the parent that waits for the report.
    pub bookmark: Uuid,
    /// Status and output of the child.
    pub report: Value,
    /// The child's owner, with whose rights the parent is resumed.
    pub owner: owners::Owner,
}

/// The instance that published a stimulus. The stimulus is sent with the rights of the instance's owner: a caller that
/// reaches an instance by an event must not lend its rights to it.
#[derive(Clone, Debug)]
pub struct Publisher {
    /// Id of the instance whose burst published it.
    pub instance: Uuid,
    /// The owner of that instance, with whose rights the stimulus is sent.
    pub owner: owners::Owner,
    /// Who started that instance.
    pub starter: Starter,
    /// What instances join that it starts, if that instance belongs to a trace.
    pub traceparent: Option<Traceparent>,
    /// How many notices had led to that burst.
    pub generation: u32,
}

impl RequestFault {
    /// The fault of an incident.
    pub fn of(instance_id: Uuid, incident: &Incident) -> Self {
        let (activity_id, message) = (incident.activity_id.clone(), incident.fault.message.clone());
        Self { instance_id, activity_id, message }
    }
}

impl CallContext {
    /// Begins a call.
    pub fn begin() -> Self {
        session::refuse_parallel();
        // The end of this transaction is reported to sessions that wait for a lock which the call takes.
        shared::ensure();
        let limits = guc::limits(interrupt::pending);
        Self {
            now: clock::now(),
            // A call from within a burst shares the time that the outer call has left.
            time_of_others: SharedTime::in_force().unwrap_or_else(|| SharedTime::of(limits.script.time)),
            limits,
            caller: role::current(),
            caller_id: None,
            serves: Serves::of_new_call(),
            has_waited: running::any(),
            follow_ups: VecDeque::new(),
            has_followed_up: false,
            is_pass: false,
            is_workers: false,
            inline: HashMap::new(),
            abandoned: HashSet::new(),
            generation: 0,
            traceparent: guc::traceparent(),
            http: HttpContext::default(),
            bursts: 0,
            max_bursts: guc::max_bursts(),
        }
    }

    /// Begins a pass over what is due or queued. It claims only instances that are free, and waits for none.
    pub fn pass() -> Self {
        Self { has_waited: true, is_pass: true, ..Self::begin() }
    }

    /// Begins a pass of a background worker.
    pub fn worker_pass() -> Self {
        Self { is_workers: true, ..Self::pass() }
    }

    /// Whether a session asked for what runs here, be it by wf_run_due. A worker's pass has no caller.
    pub fn has_caller(&self) -> bool {
        !self.is_pass || process::connected_as().is_none()
    }

    /// Who acts.
    ///
    /// # Errors
    /// 55000 if the actor is set for longer than the transaction.
    pub fn identity(&self) -> Result<Identity, PgError> {
        person::current()
    }

    /// An act of the caller, to be recorded.
    ///
    /// # Errors
    /// As of [`Self::identity`].
    pub fn act(&self, kind: ActKind) -> Result<Act, PgError> {
        self.identity().map(|by| Self::act_of(kind, by))
    }

    /// An act at this instant, even if tests have set another one.
    pub fn act_of(kind: ActKind, by: Identity) -> Act {
        Act { at: clock::real_unless_now(), ..Act::new(kind, by) }
    }

    /// The present time in PostgreSQL's form.
    pub fn timestamp(&self) -> Timestamp {
        self.now.into()
    }

    /// An id for a new row. It is higher than those that this backend has made in the same millisecond.
    pub fn new_id(&mut self) -> Uuid {
        new_id(self.now)
    }

    /// Counts a burst; workflows that set each other off without end are stopped (54000).
    pub fn count_burst(&mut self) -> Result<(), PgError> {
        self.bursts += 1;
        if self.bursts <= self.max_bursts {
            return Ok(());
        }
        Err(PgError::new("54000", format!("workflow call ran more than {} bursts", self.max_bursts)).hint(
            "Workflows that set each other off without waiting do not end. Raise workflow.max_bursts if these do.",
        ))
    }

    /// The caller as a sender of stimuli.
    pub fn sender(&self) -> owners::Owner {
        self.caller_as_owner(None)
    }

    /// The caller as an owner, with its id if that is known.
    pub fn caller_as_owner(&self, id: Option<i32>) -> owners::Owner {
        owners::Owner {
            id: id.or(self.caller_id).unwrap_or_else(|| owners::id_of(self.caller)),
            oid: Some(self.caller),
            name: String::new(),
        }
    }

    /// Runs `body` in a subtransaction of its own. If it fails, the follow-ups that it added are dropped as well.
    ///
    /// # Errors
    /// What `body` failed with; nothing of it is left.
    pub fn isolated<R>(&mut self, body: impl FnOnce(&mut Self) -> Result<R, PgError>) -> Result<R, PgError> {
        self.isolated_if(body, |_| true)
    }

    /// The same; nothing is left of what `is_kept` does not want either.
    ///
    /// # Errors
    /// What `body` failed with.
    pub fn isolated_if<R>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<R, PgError>,
        is_kept: impl Fn(&R) -> bool,
    ) -> Result<R, PgError> {
        let pending = self.follow_ups.len();
        let outcome = subtransaction_if(|| body(self).unwrap_or_else(|error| throw(error)), &is_kept);
        if !outcome.as_ref().is_ok_and(is_kept) {
            self.follow_ups.truncate(pending);
        }
        outcome
    }
}

/// A UUID version 7 of this instant. Ids that a backend makes in one millisecond are in order, by a counter in the
/// bits after the time: "oldest first" is by id.
pub fn new_id(now: DateTime<Utc>) -> Uuid {
    let millis = now.timestamp_millis().max(0).unsigned_abs();
    let (last, count) = BACKEND.last_id.get();
    let count = if last == millis { count.wrapping_add(1) } else { 0 };
    BACKEND.last_id.set((millis, count));
    let mut tail = [0; 10];
    tail.copy_from_slice(&Uuid::new_v4().as_bytes()[6..]);
    // Twelve bits after the version, then fourteen after the variant; the rest stays random.
    tail[..2].copy_from_slice(&((count >> 14) as u16 & 0x0FFF).to_be_bytes());
    tail[2..4].copy_from_slice(&(count as u16 & 0x3FFF).to_be_bytes());
    uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid()
}
