//! `wf_set_variable` and the other functions that alter instances by hand, `wf_migrate` and `wf_migrate_all`.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::alteration::{Alteration, Changes, InstanceFilter, Target};
use workflow_engine::migration::{self, Problem, Timers};

use crate::access::{Operation, instance};
use crate::api::{result, usual_on_fault};
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned};
use crate::run::CallContext;
use crate::run::call::frame;
use crate::run::repair::alter::plan::{self, AlterationPlan};
use crate::run::repair::alter::result::AlterationResult;
use crate::run::repair::alter::{self};
use crate::run::repair::migrate::batch::{All, MigrationResult};
use crate::run::repair::migrate::{self, MigrationOptions};
use crate::store::instances::InstanceRow;
use crate::{compiled, error};

sql_functions! {
    wf_set_variable(instance_id: Uuid, name: Text, value: Jsonb, activity_instance_id: Uuid, reason: Text) => set_variable;
    wf_cancel_activity(instance_id: Uuid, activity_id: Text, activity_instance_id: Uuid, reason: Text) => cancel_activity;
    wf_schedule_activity(instance_id: Uuid, activity_id: Text, activity_instance_id: Uuid, reason: Text) => schedule_activity;
    wf_alter(alterations: Jsonb, filter: Jsonb, dry_run: Boolean, max: Integer, after: Uuid, reason: Text) => alter_many;
}

/// Instances that one call may alter.
const MAX_INSTANCES: u16 = 10_000;

fn set_variable(call: &Call) -> Result<Returned, PgError> {
    let alteration = Alteration::ModifyVariable {
        name: call.required("name")?,
        value: call.arg("value").unwrap_or_default(),
        scope: call.arg("activity_instance_id"),
    };
    let (row, former) = alter_named(call, alteration)?;
    let compiled = compiled::of_instance(&row)?;
    // Who may alter the instance and not read it is not told what was there.
    let former = former.filter(|_| instance::allows(Operation::Read, &row, &compiled));
    Ok(Returned::of(former, Returned::Json))
}

fn cancel_activity(call: &Call) -> Result<Returned, PgError> {
    let (row, _) = alter_named(call, Alteration::CancelActivity(target(call)?))?;
    result(Some(row), false)
}

fn schedule_activity(call: &Call) -> Result<Returned, PgError> {
    let (row, _) = alter_named(call, Alteration::ScheduleActivity(target(call)?))?;
    result(Some(row), false)
}

fn target(call: &Call) -> Result<Target, PgError> {
    Target::new(call.arg("activity_id"), call.arg("activity_instance_id")).map_err(|fault| error::fault(&fault))
}

fn alter_named(call: &Call, alteration: Alteration) -> Result<(InstanceRow, Option<Value>), PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let (reason, on_fault) = (call.arg("reason"), usual_on_fault());
    frame::begin_for_instance(|context| alter::alter_named(context, instance_id, alteration, reason, on_fault))
}

fn alter_many(call: &Call) -> Result<Returned, PgError> {
    let (alterations, filter): (Value, Value) = (call.required("alterations")?, call.required("filter")?);
    let max = call.required_count("max", MAX_INSTANCES)?;
    let plan = AlterationPlan {
        changes: Changes::read(&alterations).map_err(|fault| error::fault(&fault))?,
        filter: InstanceFilter::read(&filter).map_err(|fault| error::fault(&fault))?,
        is_dry_run: call.required("dry_run")?,
        author: alter::author(call.arg("reason")),
    };
    let results = plan::run(&mut CallContext::begin(), &plan, max, call.arg("after"))?;
    let row = |result: AlterationResult| {
        vec![
            Returned::Uuid(result.instance),
            Returned::Text(result.outcome.name().into()),
            Returned::Texts(result.problems),
        ]
    };
    Ok(Returned::Rows(results.into_iter().map(row).collect()))
}

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
    let problems = frame::begin(|context| migrate::migrate(context, instance_id, &wanted))?;
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
    let results = frame::begin(|context| migrate::batch::migrate_all(context, &all, wanted))?;
    let row = |one: &MigrationResult| {
        let problems = one.problems.iter().map(ToString::to_string).collect();
        vec![Returned::Uuid(one.instance), Returned::Text(one.outcome.name().into()), Returned::Texts(problems)]
    };
    Ok(Returned::Rows(results.iter().map(row).collect()))
}

fn migrate_batch(call: &Call) -> Result<Returned, PgError> {
    let (definition_id, version): (String, i32) = (call.required("definition_id")?, call.required("version")?);
    let progress = call.required("progress")?;
    let batch = |context: &mut CallContext| migrate::publication::batch(context, &definition_id, version, progress);
    let done = frame::begin(batch)?;
    let pause = Returned::of(done.pause, Returned::BigInt);
    let row = vec![Returned::Json(done.next), Returned::BigInt(done.moved), Returned::BigInt(done.refused), pause];
    Ok(Returned::Rows(vec![row]))
}
