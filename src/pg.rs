//! Everything that touches PostgreSQL's C code; the only module with `unsafe`.
//!
//! The rest of the extension sees safe functions on owned Rust values. Two rules hold here. First, an error that
//! PostgreSQL raises below us arrives as a Rust panic (pgrx converts the `longjmp`); [`entry`] converts it back into an
//! ERROR with all its fields at the boundary. Second, no Rust value with a destructor is alive in a frame that
//! PostgreSQL's `longjmp` leaves.

pub mod actor;
pub mod args;
pub mod boundary;
pub mod catalog;
pub mod cluster;
pub mod deadline;
pub mod entry;
pub mod error;
pub mod function;
pub mod guc;
pub mod hooks;
pub mod interrupt;
pub mod json;
pub mod jsonb;
pub mod membership;
pub mod memory;
pub mod object_lock;
pub mod parse;
pub mod planner;
pub mod procedure;
pub mod process;
mod raw;
mod returned;
pub mod role;
pub mod rows;
pub mod schema_number;
pub mod server_settings;
pub mod session;
pub mod settings;
pub mod shared;
pub mod signature;
pub mod spi;
pub mod state;
pub mod stored_role;
pub mod subtransaction;
pub mod symbols;
pub mod top_level;
pub mod user_sql;
mod varlena;
pub mod version;
pub mod zone;

pub use args::Call;
pub use error::PgError;
pub use returned::Returned;

/// PostgreSQL's `hashtext` of a text under a deterministic collation.
pub fn hashtext(text: &str) -> u32 {
    // SAFETY: reads as many bytes as the text has.
    unsafe { raw::hash_bytes(text.as_ptr(), text.len() as i32) }
}

/// Whether the library is preloaded, so that background workers may be registered.
pub fn is_preloaded() -> bool {
    // SAFETY: flags that the postmaster sets while it starts.
    let (is_preloaded, is_upgrade) =
        unsafe { (pgrx::pg_sys::process_shared_preload_libraries_in_progress, pgrx::pg_sys::IsBinaryUpgrade) };
    // pg_upgrade starts both servers: nothing may fire there.
    is_preloaded && !is_upgrade
}
