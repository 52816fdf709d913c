//! The PostgreSQL extension `workflow`: the shell around `workflow-engine`.
//!
//! A call takes one path: [`api`] decodes it, [`run`] directs it, [`store`] loads and locks, the engine computes,
//! [`store`] saves, [`api`] encodes. `api` contains no statements, `store` knows no activities, and only [`pg`] calls
//! PostgreSQL's C functions.
#![deny(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

#[global_allocator]
static ALLOCATOR: pg::memory::Counting<std::alloc::System> = pg::memory::Counting::of(std::alloc::System);

mod access;
mod api;
mod clock;
mod compiled;
mod error;
mod hooks;
#[allow(unsafe_code)]
mod pg;
mod retention_progress;
mod run;
mod store;
mod user_functions;
mod wake;
mod worker;

// The module magic and the entry points; these macros of pgrx and of `pg` use unsafe code.
#[allow(unsafe_code)]
mod module {
    use pgrx::prelude::*;

    ::pgrx::pg_module_magic!(name, version);

    extension_sql_file!("../sql/tables/schema.sql", name = "tables_schema", bootstrap);
    extension_sql_file!("../sql/tables/rights.sql", name = "tables_rights", requires = ["tables_schema"]);
    extension_sql_file!("../sql/tables/definitions.sql", name = "tables_definitions", requires = ["tables_rights"]);
    extension_sql_file!("../sql/tables/instances.sql", name = "tables_instances", requires = ["tables_definitions"]);
    extension_sql_file!("../sql/tables/events.sql", name = "tables_events", requires = ["tables_instances"]);
    extension_sql_file!("../sql/tables/tasks.sql", name = "tables_tasks", requires = ["tables_events"]);
    extension_sql_file!("../sql/tables/http.sql", name = "tables_http", requires = ["tables_tasks"]);
    extension_sql_file!("../sql/tables/history.sql", name = "tables_history", requires = ["tables_http"]);
    extension_sql_file!("../sql/tables/repair.sql", name = "tables_repair", requires = ["tables_history"]);
    extension_sql_file!("../sql/tables/nodes.sql", name = "tables_nodes", requires = ["tables_repair"]);
    extension_sql_file!("../sql/tables/maintenance.sql", name = "tables_maintenance", requires = ["tables_nodes"]);
    extension_sql_file!(
        "../sql/functions/definitions.sql",
        name = "functions_definitions",
        requires = ["tables_maintenance"]
    );
    extension_sql_file!(
        "../sql/functions/instances.sql",
        name = "functions_instances",
        requires = ["functions_definitions"]
    );
    extension_sql_file!("../sql/functions/events.sql", name = "functions_events", requires = ["functions_instances"]);
    extension_sql_file!("../sql/functions/tasks.sql", name = "functions_tasks", requires = ["functions_events"]);
    extension_sql_file!("../sql/functions/timers.sql", name = "functions_timers", requires = ["functions_tasks"]);
    extension_sql_file!("../sql/functions/http.sql", name = "functions_http", requires = ["functions_timers"]);
    extension_sql_file!("../sql/functions/history.sql", name = "functions_history", requires = ["functions_http"]);
    extension_sql_file!("../sql/functions/repair.sql", name = "functions_repair", requires = ["functions_history"]);
    extension_sql_file!("../sql/functions/nodes.sql", name = "functions_nodes", requires = ["functions_repair"]);
    extension_sql_file!("../sql/functions/rights.sql", name = "functions_rights", requires = ["functions_nodes"]);
    extension_sql_file!(
        "../sql/functions/maintenance.sql",
        name = "functions_maintenance",
        requires = ["functions_rights"]
    );
    extension_sql_file!("../sql/exposure.sql", name = "exposure", requires = ["functions_maintenance"]);
    extension_sql_file!("../sql/views/rights.sql", name = "views_rights", requires = ["exposure"]);
    extension_sql_file!("../sql/views/definitions.sql", name = "views_definitions", requires = ["views_rights"]);
    extension_sql_file!("../sql/views/instances.sql", name = "views_instances", requires = ["views_definitions"]);
    extension_sql_file!("../sql/views/events.sql", name = "views_events", requires = ["views_instances"]);
    extension_sql_file!("../sql/views/tasks.sql", name = "views_tasks", requires = ["views_events"]);
    extension_sql_file!("../sql/views/timers.sql", name = "views_timers", requires = ["views_tasks"]);
    extension_sql_file!("../sql/views/http.sql", name = "views_http", requires = ["views_timers"]);
    extension_sql_file!("../sql/views/history.sql", name = "views_history", requires = ["views_http"]);
    extension_sql_file!("../sql/views/repair.sql", name = "views_repair", requires = ["views_history"]);
    extension_sql_file!("../sql/views/people.sql", name = "views_people", requires = ["views_repair"]);
    extension_sql_file!("../sql/views/maintenance.sql", name = "views_maintenance", requires = ["views_people"]);
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
