//! What a call does, in order: load and lock the instance, run a burst, save it, and then run the burst's follow-ups.
//!
//! A [`Session`] is one call, and [`call::work::call`] its frame. Bursts of one call never nest: what a burst sets off (a
//! queued stimulus that matches its new bookmark, a published event) becomes a
//! [`FollowUp`](call::session::FollowUp), which `call` runs after the burst. Only user SQL inside a burst can begin
//! another call, which has a session of its own. [`call::running`] knows the instances whose bursts are further up in
//! this backend.
//!
//! The folders are subjects. `api`, `store` and the tests have the same words for them.

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

pub use call::session::Session;
