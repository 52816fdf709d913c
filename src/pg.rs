//! The one unsafe room: everything that touches PostgreSQL's C side.
//!
//! The rest of the extension sees safe functions on owned Rust values. Two rules hold here. An error of
//! PostgreSQL below us arrives as a Rust panic (pgrx turns the `longjmp` into one) and is turned back into
//! an ERROR at the border, [`entry`], with everything it carried. And no Rust value with a destructor is
//! alive in a frame that PostgreSQL's `longjmp` leaves.

pub mod args;
mod builtin;
pub mod cluster;
pub mod error;
pub mod interrupt;
pub mod jsonb;
pub mod parse;
pub mod role;
pub mod spi;
pub mod subtransaction;
pub mod user_sql;
pub mod version;
pub mod zone;

pub use args::{Call, Returned};
pub use error::PgError;
