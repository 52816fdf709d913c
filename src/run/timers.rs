//! Timers: due bookmarks, triggers that time fires, schedules, and the commands that they run.

pub mod command;
pub mod due_bookmark;
pub mod fire;
pub mod moved_clock;
pub mod schedule;
pub mod scheduled;
pub mod sweep;
pub mod timing;
