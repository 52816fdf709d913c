//! The frame of a call: its session, the follow-ups of its bursts, and what it tells its caller.

pub mod isolated;
pub mod notices;
pub mod running;
pub mod session;
pub mod work;
