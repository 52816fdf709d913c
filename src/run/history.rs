//! History: lists of instances, and who did what.

pub mod acts;
pub mod lists;
