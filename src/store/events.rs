//! Events and other stimuli: the bookmarks that they match, those that are kept, and dead letters.

pub mod dead_letters;
pub mod matching;
pub mod queue;
pub mod undelivered;
