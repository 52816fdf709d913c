//! Events and other stimuli: delivering them, keeping them for later, and replaying dead letters.

pub mod deliver;
pub mod queued;
pub mod replay;
pub mod stimuli;
pub mod undelivered;
