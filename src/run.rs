//! What a call does, in order: load and lock, run a burst, save, and then whatever the burst set off.
//!
//! A [`Session`] is one call, [`work::call`] its frame. Bursts never nest inside it: what a burst sets off (a queued
//! stimulus that meets its new bookmark, a published event) becomes a [`FollowUp`](session::FollowUp), which `call` does
//! after the burst. Only SQL of the user inside a burst can begin another call, with a session of its own; [`running`] knows
//! the instances whose bursts are further up in this backend.

pub mod activation;
pub mod adoption;
pub mod burst;
pub mod cancel;
pub mod child_report;
pub mod children;
pub mod claim;
pub mod command;
pub mod deliver;
pub mod fire;
pub mod gone;
mod host;
pub mod http;
pub mod isolated;
pub mod link;
pub mod missed;
pub mod notices;
pub mod ownership;
pub mod paths;
pub mod publish;
pub mod queued;
pub mod replay;
pub mod resume;
pub mod retention;
pub mod running;
pub mod save;
pub mod schedule;
pub mod scheduled;
pub mod session;
pub mod start;
pub mod sweep;
pub mod timing;
pub mod unheard;
pub mod version;
pub mod work;

pub use session::Session;
