//! Instances: starting, resuming, ending and deleting them, their children, and those that continue them.

pub mod abandoned;
pub mod acquire;
pub mod activation;
pub mod admission;
pub mod cancel;
pub mod children;
pub mod continuation;
pub mod create;
pub mod delete;
pub mod indexing;
pub mod message;
pub mod not_found;
pub mod resume;
pub mod start;
pub mod version;
