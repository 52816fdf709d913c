//! Maintenance: retention, erasing, and the adoption of a restored or copied database.

pub mod adoption;
pub mod erase;
pub mod retention;
