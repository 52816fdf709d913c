//! What a call does, in order: load and lock the instance, run a burst, save it, and then run the burst's follow-ups.
//!
//! A [`CallContext`] is one call, and [`call::frame::run`] its frame. Bursts of one call never nest: what a burst sets
//! off (a queued stimulus that matches its new bookmark, a published event) becomes a
//! [`FollowUp`](call::context::FollowUp), which `call` runs after the burst. Only user SQL inside a burst can begin
//! another call, which has a session of its own. [`call::running`] knows the instances whose bursts are further up in
//! this backend.
//!
//! The folders are subjects. `api`, `store` and the tests have the same words for them.

use std::cell::{Cell, LazyCell, RefCell};

use crate::pg::state::ProcessLocal;
use crate::retention_progress::Rounds;
use call::running::Running;
use instances::message::MessageName;
use maintenance::erase::Pseudonym;
use tasks::lease::front::FrontCache;
use tasks::lease::withheld::Withheld;
use tasks::limits::lanes::Lanes;

pub mod burst;
pub mod call;
pub mod definitions;
pub mod events;
pub mod history;
pub mod http;
pub mod instances;
pub mod maintenance;
pub mod nodes;
pub mod repair;
pub mod rights;
pub mod tasks;
pub mod timers;

pub use call::context::CallContext;

/// Backend: what calls of this session note for later calls.
static BACKEND: ProcessLocal<Backend> = ProcessLocal::new(Backend {
    last_id: Cell::new((0, 0)),
    has_noticed_no_worker: Cell::new(false),
    told_of_stimulus_at: Cell::new(0),
    front: FrontCache::nothing(),
    lanes: RefCell::new(None),
    withheld: LazyCell::new(RefCell::default),
    waits_in: Cell::new(None),
    frees_wait_at_exit: Cell::new(false),
    keep_after: RefCell::new((String::new(), String::new())),
    retention: LazyCell::new(RefCell::default),
    pseudonym: RefCell::new(None),
});

struct Backend {
    /// The millisecond of the last id, and how many ids of it came before.
    last_id: Cell<(u64, u32)>,
    /// Whether the session was told that no worker fires what it leaves due or queued.
    has_noticed_no_worker: Cell<bool>,
    /// The start time of the statement that got the last NOTICE of a stimulus: it reached nothing, or is left to an owner.
    told_of_stimulus_at: Cell<i64>,
    front: FrontCache,
    lanes: RefCell<Option<Lanes>>,
    withheld: LazyCell<RefCell<Withheld>>,
    /// The slot in shared memory in which this session waits.
    waits_in: Cell<Option<usize>>,
    /// Whether the end of the process frees that slot.
    frees_wait_at_exit: Cell<bool>,
    /// Where the next wf_keep_instances continues, if it makes the same query.
    keep_after: RefCell<(String, String)>,
    /// How far calls of wf_run_due came with retention.
    retention: LazyCell<RefCell<Rounds>>,
    /// The pseudonym that this session has made last. It holds for one role, as a session may act for many.
    pseudonym: RefCell<Option<Pseudonym>>,
}

/// Call: calls and bursts that are running, one inside the other by SQL of users.
static CALL: ProcessLocal<Call> = ProcessLocal::new(Call {
    messages: RefCell::new(Vec::new()),
    running: RefCell::new(Vec::new()),
    may_have_deferred: Cell::new(false),
});

struct Call {
    /// Messages whose calls are being made.
    messages: RefCell<Vec<MessageName>>,
    running: RefCell<Vec<Running>>,
    /// Whether a call may have deferred a stimulus until a burst ends.
    may_have_deferred: Cell<bool>,
}
