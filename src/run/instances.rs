//! Instances: starting, resuming, ending and deleting them, their children, and those that continue them.

pub mod abandoned;
pub mod activation;
pub mod admission;
pub mod cancel;
pub mod children;
pub mod claim;
pub mod continued;
pub mod create;
pub mod delete;
pub mod gone;
pub mod message;
pub mod resume;
pub mod start;
pub mod version;
