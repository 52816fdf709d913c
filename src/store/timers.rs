//! Timers: due bookmarks, and schedules.

pub mod due;
pub mod named_schedules;
pub mod schedules;
pub mod zones;
