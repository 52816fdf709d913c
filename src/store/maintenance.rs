//! Maintenance: retention, removing and erasing, adoption, and the identity of the database.

pub mod adoption;
pub mod erasure;
pub mod identity;
pub mod removal;
pub mod retention;
pub mod testing;
