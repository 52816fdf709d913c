//! The frame of a call: its context, the follow-ups of its bursts, and its notices.

pub mod context;
pub mod frame;
pub mod isolated;
pub mod notices;
pub mod running;
pub mod waiter;
