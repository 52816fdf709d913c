//! `SubmitAlterationPlan`: alters other instances in batches, each a transaction of its own.
//!
//! The memory of the activity contains the plan. Each batch is a burst that a timer starts immediately, so background
//! workers run it in a session of the instance's owner, like any other SQL of a workflow.

use serde_json::{Value, json};

use crate::activities::timing::wait_seconds;
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, InputDescriptor, OutputDescriptor, WaitKind};
use crate::alteration::{Changes, InstanceFilter};
use crate::bookmark::Resumed;
use crate::execution::Execution;
use crate::instance::Memory;
use workflow_value::fault::Fault;
use workflow_value::spelling::spelled_as;
use workflow_value::value::{Json, copy_or_null, parse_json};

/// Alters other instances.
#[derive(Debug)]
pub struct SubmitAlterationPlan;

/// Instances that one batch processes.
const BATCH: i64 = 500;
/// Number of attempts for instances that another session had locked.
const ROUNDS: i64 = 5;
/// Seconds from one round to the next.
const PAUSE: i64 = 10;

const STATEMENT: &str = "SELECT a.instance_id, a.outcome \
     FROM workflow._alter($1::jsonb, $2::jsonb, false, $3::integer, $4::uuid, $5::text) AS a";

inputs! {
    PARAMS: Value = InputDescriptor::new(
        "params", "AlterationPlanParams", "The plan: an object with the alterations, the filter of instances and optionally the reason.").required(),
}

outputs! {
    RESULT =
        OutputDescriptor::new("result", "Object", "How many instances were altered, refused and busy."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.SubmitAlterationPlan",
    category: "Alterations",
    description: "Alters the instances that a filter selects, in batches that background workers run in transactions of their own, and completes when all are done.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    uses_sql: true,
    example: r#"{"type": "SubmitAlterationPlan", "params": {"alterations": [{"type": "ModifyVariable", "variableId": "Approver", "value": "Grace"}], "filter": {"definitionIds": ["leave"]}, "reason": "Ada has left"}, "result": {"var": "Total"}}"#,
    waits: WaitKind::Always,
    ..Descriptor::BASE
};

impl Activity for SubmitAlterationPlan {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        // A retry continues where a batch failed, since the earlier batches have committed.
        if let Memory::Json(_) = cx.memory() {
            return wait_seconds(cx, 0);
        }
        let (alterations, filter, reason) = read(cx.take(PARAMS))?;
        let reason = reason.unwrap_or_else(|| format!("plan of workflow instance {}", cx.instance_id()));
        cx.set_memory(Memory::Json(Json(json!({
            "alterations": alterations, "filter": filter, "reason": reason, "after": null,
            "altered": 0, "refused": 0, "busy": [], "round": 1,
        }))));
        wait_seconds(cx, 0)
    }

    fn remembers(&self) -> bool {
        true
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, _input: Option<&Value>) -> Result<(), Fault> {
        let Memory::Json(Json(plan)) = cx.memory() else {
            return Err(Fault::new("XX001", "the plan is lost"));
        };
        let mut plan = copy_or_null(plan);
        let given = ["alterations", "filter"].map(|name| copy_or_null(&plan[name]));
        let [alterations, filter] = given;
        let parameters =
            [alterations, filter, json!(BATCH), copy_or_null(&plan["after"]), copy_or_null(&plan["reason"])];
        let rows = cx.sql(STATEMENT, &parameters)?;
        let outcomes = rows.rows.as_slice();
        count(&mut plan, outcomes);
        let is_last = (outcomes.len() as i64) < BATCH;
        plan["after"] =
            outcomes.last().filter(|_| !is_last).map(|last| copy_or_null(&last["instance_id"])).unwrap_or_default();
        let wait = if is_last { next_round(&mut plan) } else { Some(0) };
        match wait {
            Some(seconds) => {
                cx.set_memory(Memory::Json(Json(plan)));
                wait_seconds(cx, seconds)
            }
            None => {
                let busy = plan["busy"].as_array().map_or(0, Vec::len);
                cx.set_output(RESULT, json!({"altered": plan["altered"], "refused": plan["refused"], "busy": busy}))?;
                cx.complete()
            }
        }
    }
}

/// Counts the outcomes of a batch, and keeps the instances that were busy.
fn count(plan: &mut Value, outcomes: &[Value]) {
    let number = |name: &str| outcomes.iter().filter(|one| one["outcome"] == name).count() as i64;
    for (name, added) in [("altered", number("Altered")), ("refused", number("Refused"))] {
        plan[name] = json!(plan[name].as_i64().unwrap_or_default() + added);
    }
    let busy = outcomes.iter().filter(|one| one["outcome"] == "Busy").map(|one| copy_or_null(&one["instance_id"]));
    if let Some(kept) = plan["busy"].as_array_mut() {
        kept.extend(busy);
    }
}

/// Starts the next attempt for the busy instances. Returns the seconds until then; `None`: the plan is done.
fn next_round(plan: &mut Value) -> Option<i64> {
    let round = plan["round"].as_i64().unwrap_or(ROUNDS);
    let is_any_busy = plan["busy"].as_array().is_some_and(|busy| !busy.is_empty());
    if round >= ROUNDS || !is_any_busy {
        return None;
    }
    let busy = std::mem::replace(&mut plan["busy"], json!([]));
    if let Some(filter) = plan["filter"].as_object_mut() {
        filter.retain(|name, _| !spelled_as(name, "workflowInstanceIds"));
        filter.insert("workflowInstanceIds".to_owned(), busy);
    }
    plan["round"] = json!(round + 1);
    Some(PAUSE)
}

/// Reads a plan, which may be JSON text.
fn read(params: Value) -> Result<(Value, Value, Option<String>), Fault> {
    let params = match params {
        Value::String(text) => parse_json(&text).map_err(|_| invalid("must be an object"))?,
        other => other,
    };
    let Value::Object(members) = params else { return Err(invalid("must be an object")) };
    let (mut alterations, mut filter, mut reason) = (Value::Null, Value::Null, None);
    for (name, value) in members {
        match value {
            Value::Null => {}
            _ if spelled_as(&name, "id") => {}
            value if spelled_as(&name, "alterations") => alterations = value,
            value if spelled_as(&name, "filter") => filter = value,
            Value::String(text) if spelled_as(&name, "reason") => reason = Some(text),
            _ => {
                return Err(invalid(&format!(
                    "has the unknown member \"{}\"",
                    workflow_value::fault::shorten(&name, 60)
                )));
            }
        }
    }
    Changes::read(&alterations)?;
    InstanceFilter::read(&filter)?;
    Ok((alterations, filter, reason))
}

fn invalid(what: &str) -> Fault {
    Fault::new("22023", format!("input \"params\" {what}")).hint("Its members are alterations, filter and reason.")
}
