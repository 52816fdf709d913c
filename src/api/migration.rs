//! `wf_migrate` and `wf_migrate_all`.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::migration::{self, Problem, Timers};

use crate::error;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned};
use crate::run::Session;
use crate::run::call::work;
use crate::run::repair::migrate::batch::{All, MigrationResult};
use crate::run::repair::migrate::{self, MigrationOptions};

sql_functions! {
    wf_migrate(instance_id: Uuid, version: Integer, mapping: Jsonb, timers: Text, dry_run: Boolean) => migrate_one;
    wf_migrate_all(definition_id: Text, from_version: Integer, version: Integer, mapping: Jsonb, timers: Text, max: Integer, after: Uuid, dry_run: Boolean) => migrate_all;
    wf_migrate_batch(definition_id: Text, version: Integer, progress: Jsonb) => migrate_batch;
}

fn wanted(call: &Call) -> Result<MigrationOptions, PgError> {
    let mapping: Value = call.required("mapping")?;
    let mapping = migration::read_mapping(&mapping).map_err(|fault| error::fault(&fault))?;
    let timers: String = call.required("timers")?;
    let timers = Timers::named(&timers).ok_or_else(|| {
        PgError::new("22023", format!("argument \"timers\" must be \"keep\" or \"anew\", not \"{timers}\""))
    })?;
    let dry_run = call.required("dry_run")?;
    Ok(MigrationOptions { version: call.arg("version"), mapping, timers, dry_run, reason: None, by: None })
}

fn migrate_one(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let wanted = wanted(call)?;
    let problems = work::call(&mut Session::begin(), |session| migrate::migrate(session, instance_id, &wanted))?;
    let row = |Problem { path, severity, message }| {
        vec![Returned::Text(path), Returned::Text(severity.name().into()), Returned::Text(message)]
    };
    Ok(Returned::Rows(problems.into_iter().map(row).collect()))
}

fn migrate_all(call: &Call) -> Result<Returned, PgError> {
    let all = All {
        definition_id: call.required("definition_id")?,
        from_version: call.arg("from_version"),
        except_version: None,
        max: call.required("max")?,
        after: call.arg("after"),
    };
    let wanted = wanted(call)?;
    let results = work::call(&mut Session::begin(), |session| migrate::batch::migrate_all(session, &all, wanted))?;
    let row = |one: &MigrationResult| {
        let problems = one.problems.iter().map(ToString::to_string).collect();
        vec![Returned::Uuid(one.instance), Returned::Text(one.outcome.name().into()), Returned::Texts(problems)]
    };
    Ok(Returned::Rows(results.iter().map(row).collect()))
}

fn migrate_batch(call: &Call) -> Result<Returned, PgError> {
    let (definition_id, version): (String, i32) = (call.required("definition_id")?, call.required("version")?);
    let progress = call.required("progress")?;
    let batch = |session: &mut Session| migrate::publication::batch(session, &definition_id, version, progress);
    let done = work::call(&mut Session::begin(), batch)?;
    let pause = Returned::of(done.pause, Returned::BigInt);
    let row = vec![Returned::Json(done.next), Returned::BigInt(done.moved), Returned::BigInt(done.refused), pause];
    Ok(Returned::Rows(vec![row]))
}
