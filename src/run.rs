//! What a call does, in order: load and lock the instance, run a burst, save it, and then run the burst's follow-ups.
//!
//! A [`Session`] is one call, and [`work::call`] its frame. Bursts of one call never nest: what a burst sets off (a
//! queued stimulus that matches its new bookmark, a published event) becomes a [`FollowUp`](session::FollowUp), which
//! `call` runs after the burst. Only user SQL inside a burst can begin another call, which has a session of its own.
//! [`running`] knows the instances whose bursts are further up in this backend.
//!
//! The files import each other in one direction, so none of them leads back to itself. What two files need of each
//! other stands in a third one below both.

pub mod abandoned;
pub mod acceptance;
pub mod activation;
pub mod acts;
pub mod admission;
pub mod adoption;
pub mod alter;
mod alteration;
pub mod answer;
pub mod answers;
pub mod assign;
pub mod built_in;
pub mod burst;
pub mod cancel;
mod cancel_abandoned;
pub mod child_report;
pub mod children;
pub mod claim;
pub mod command;
pub mod consume;
pub mod continued;
mod create;
pub mod delete;
pub mod deliver;
pub mod due_bookmark;
pub mod erase;
pub mod fire;
mod front;
pub mod gone;
mod host;
pub mod http;
pub mod isolated;
pub mod kept_act;
pub mod kept_answer;
pub mod lease;
pub mod limits;
pub mod link;
pub mod lists;
pub mod message;
pub mod migrate;
pub mod missed;
mod moved_clock;
pub mod moving;
pub mod notices;
mod opener;
pub mod ownership;
pub mod paths;
pub mod pause;
mod paused;
mod pending;
pub mod publish;
pub mod queue_item;
pub mod queued;
mod queued_act;
pub mod replay;
pub mod resume;
pub mod retention;
pub mod running;
pub mod save;
pub mod schedule;
pub mod scheduled;
pub mod session;
pub mod start;
pub mod stimuli;
mod successor;
pub mod sweep;
pub mod timing;
mod trim;
pub mod unheard;
pub mod version;
pub mod wait;
pub mod work;

pub use session::Session;
