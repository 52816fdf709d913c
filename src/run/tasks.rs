//! Tasks: claims and leases of workers, limits, answers, and the people whom a task is for.

pub mod acceptance;
pub mod answer;
pub mod answer_list;
pub mod assign;
pub mod comment;
pub mod lease;
pub mod limits;
pub mod stored_answer;
pub mod substitutes;
pub mod wait;
