//! `wf_set_variable` and the other functions that alter instances by hand.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::alteration::{Alteration, Changes, InstanceFilter, Target};

use crate::access::{Operation, instance};
use crate::api::{result, usual_on_fault};
use crate::compiled;
use crate::error;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned};
use crate::run::Session;
use crate::run::call::work;
use crate::run::repair::alter;
use crate::run::repair::alter::plan::{self, AlterationPlan};
use crate::run::repair::alter::result::AlterationResult;
use crate::store::instances::InstanceRow;

sql_functions! {
    wf_set_variable(instance_id: Uuid, name: Text, value: Jsonb, activity_instance_id: Uuid, reason: Text) => set_variable;
    wf_cancel_activity(instance_id: Uuid, activity_id: Text, activity_instance_id: Uuid, reason: Text) => cancel_activity;
    wf_schedule_activity(instance_id: Uuid, activity_id: Text, activity_instance_id: Uuid, reason: Text) => schedule_activity;
    wf_alter(alterations: Jsonb, filter: Jsonb, dry_run: Boolean, max: Integer, after: Uuid, reason: Text) => alter_many;
}

/// Instances that one call may alter.
const MOST: u16 = 10_000;

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
    let mut session = Session::begin();
    let alter = |session: &mut Session| alter::alter_named(session, instance_id, alteration, reason, on_fault);
    let (row, former) = work::call(&mut session, alter)?;
    Ok((work::latest(&session, row), former))
}

fn alter_many(call: &Call) -> Result<Returned, PgError> {
    let (alterations, filter): (Value, Value) = (call.required("alterations")?, call.required("filter")?);
    let max = call.required_count("max", MOST)?;
    let plan = AlterationPlan {
        changes: Changes::read(&alterations).map_err(|fault| error::fault(&fault))?,
        filter: InstanceFilter::read(&filter).map_err(|fault| error::fault(&fault))?,
        is_dry_run: call.required("dry_run")?,
        author: alter::author(call.arg("reason")),
    };
    let results = plan::run(&mut Session::begin(), &plan, max, call.arg("after"))?;
    let row = |result: AlterationResult| {
        vec![
            Returned::Uuid(result.instance),
            Returned::Text(result.outcome.name().into()),
            Returned::Texts(result.problems),
        ]
    };
    Ok(Returned::Rows(results.into_iter().map(row).collect()))
}
