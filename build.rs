//! Compares the functions of PostgreSQL that `src/pg` declares by hand with the headers of the target server.

use std::env;
use std::error::Error;

use pgrx_pg_config::{PgConfig, Pgrx};

const DECLARATIONS: &str = "src/pg/declarations.c";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={DECLARATIONS}");
    for variable in ["DOCS_RS", "PGRX_HOME", "PGRX_PG_CONFIG_PATH", "PGRX_PG_CONFIG_AS_ENV"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    // This build only checks the Rust code against the bindings that pgrx ships: there are no headers.
    if env::var("DOCS_RS").is_ok_and(|value| value == "1") {
        return Ok(());
    }
    let status = cc::Build::new()
        .cargo_metadata(false)
        // PostgreSQL's headers cause warnings of their own.
        .warnings(false)
        .include(pg_config()?.includedir_server()?)
        .get_compiler()
        .to_command()
        .args(["-fsyntax-only", DECLARATIONS])
        .status()?;
    if !status.success() {
        return Err(format!("{DECLARATIONS} is not what the headers of this server say").into());
    }
    Ok(())
}

/// The configuration of the server that pgrx builds for.
fn pg_config() -> Result<PgConfig, Box<dyn Error>> {
    if let Ok(given) = PgConfig::from_env() {
        return Ok(given);
    }
    let major = (13..100).find(|major| env::var_os(format!("CARGO_FEATURE_PG{major}")).is_some());
    let major = major.ok_or("none of the features pg15, pg16, … is set")?;
    Ok(Pgrx::from_config()?.get(&format!("pg{major}"))?)
}
