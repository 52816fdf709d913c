//! Tasks: claims and leases of workers, limits, answers, and the people whom a task is for.

pub mod acceptance;
pub mod answer;
pub mod answers;
pub mod assign;
pub mod kept_answer;
pub mod lease;
pub mod limits;
pub mod wait;
