//! The PostgreSQL extension `workflow`: the shell around `workflow-engine`.
//!
//! A call goes one way: [`api`] decodes it, [`run`] orders what happens, [`store`] loads and locks, the engine
//! computes, [`store`] saves, [`api`] encodes. `api` knows no statement, `store` no activity, and nothing outside
//! [`pg`] touches PostgreSQL's C side.
#![deny(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

#[global_allocator]
static ALLOCATOR: pg::memory::Counting<std::alloc::System> = pg::memory::Counting::of(std::alloc::System);

mod access;
mod api;
mod clock;
mod compiled;
mod error;
mod functions;
mod hooks;
#[allow(unsafe_code)]
mod pg;
mod rounds;
mod run;
mod store;
mod wake;
mod worker;

// How PostgreSQL finds and loads us; the macros are the unsafe ones of pgrx and of `pg`.
#[allow(unsafe_code)]
mod module {
    use pgrx::prelude::*;

    ::pgrx::pg_module_magic!(name, version);

    extension_sql_file!("../sql/schema.sql", name = "schema", bootstrap);
    extension_sql_file!("../sql/api.sql", name = "api", requires = ["schema"]);
    extension_sql_file!("../sql/exposure.sql", name = "exposure", requires = ["api"]);
    extension_sql_file!("../sql/views.sql", name = "views", requires = ["exposure"]);
    extension_sql_file!("../sql/rights.sql", name = "rights", finalize);

    /// Called once per backend, or by the postmaster with `shared_preload_libraries`.
    #[pg_guard]
    pub extern "C-unwind" fn _PG_init() {
        crate::pg::guc::define();
        crate::hooks::install();
        if crate::pg::is_preloaded() {
            crate::worker::register();
        }
    }

    crate::pg::process::entry_points! {
        /// Entry point of the launcher.
        workflow_launcher => crate::worker::launcher::run;
        /// Entry point of a scheduler.
        workflow_scheduler => crate::worker::scheduler::run;
        /// Entry point of an executor.
        workflow_executor => crate::worker::executor::run;
    }
}
