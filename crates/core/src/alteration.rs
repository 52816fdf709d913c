//! Manual changes of a running instance by an operator, and Elsa's plans of such changes in JSON.
//!
//! A member of a plan is written in camelCase or in PascalCase. An unknown member is an error, so that a misspelt one
//! is never silently ignored.
//!
//! # Examples
//!
//! ```
//! use serde_json::json;
//! use workflow_engine::alteration::{Author, Changes};
//! use workflow_engine::execution::alter;
//! # use workflow_engine::{Instance, Limits, definition::compile, execution::start};
//! # mod host { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/tests/support/alone.rs")); }
//! # let leave = json!({"definitionId": "leave", "variables": {"Days": 3}, "root": [
//! #     {"id": "ask", "type": "RunTask", "taskName": "approve"}]});
//! # let program = compile(&leave, &(), &Default::default(), false).expect("acceptable");
//! # let map = serde_json::Map::new();
//! # let mut instance = Instance::new(uuid::Uuid::nil(), &program, 1, None, None, map).expect("no input is needed");
//! # let (mut host, limits) = (host::Alone::default(), Limits::default());
//! # start(&program, &mut instance, None, None, &mut host, &limits).expect("the burst ends");
//!
//! // The instance waits at the task "ask".
//! let plan = json!([
//!     {"type": "ModifyVariable", "variableId": "Days", "value": 5},
//!     {"type": "CancelActivity", "activityId": "ask"}]);
//! let Ok(Changes::Alter(alterations)) = Changes::read(&plan) else { panic!("no alterations") };
//! let author = Author { role: "ann".to_owned(), reason: None };
//! alter(&program, &mut instance, &alterations, &author, &mut host, &limits).expect("both can be made");
//! assert_eq!(instance.variables["Days"], 5);
//! assert!(instance.state.contexts.is_empty());
//!
//! let fault = Changes::read(&json!([{"type": "Cancel", "reson": "late"}])).unwrap_err();
//! assert!(fault.message.contains("\"reson\""));
//! ```

use serde_json::{Map, Value, json};
use uuid::Uuid;

use workflow_value::fault::Fault;
use workflow_value::value::copy_or_null;

mod filter;
mod members;
mod target_version;

pub use filter::{InstanceFilter, Moment, Relation, SearchCondition, SearchFilter, TimeFilter};
use members::Members;
pub use target_version::{Mapping, TargetVersion, Timers, read_mapping};

/// Maximum number of alterations in a plan.
pub const MAX_ALTERATIONS: usize = 1_000;

/// One change of an instance.
#[derive(Debug, PartialEq)]
pub enum Alteration {
    /// Sets a variable, converted to its declared type.
    ModifyVariable {
        /// Name of the variable, or its id in the definition.
        name: String,
        /// The new value, before it is converted.
        value: Value,
        /// The execution in whose scope the variable is. By default it is a variable of the workflow, or that of the
        /// only open execution with a variable of this name.
        scope: Option<Uuid>,
    },
    /// Executes an activity: restarts an open execution, or starts a new one.
    ScheduleActivity(Target),
    /// Cancels open executions of an activity. Their parent continues.
    CancelActivity(Target),
    /// Cancels the instance, as `wf_cancel` does.
    Cancel,
}

/// The target of an alteration. At least one of the two members is given.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Id of the activity, or its path.
    pub activity_id: Option<String>,
    /// One execution of it. For a new execution: the execution that will be its parent.
    pub execution: Option<Uuid>,
}

impl Target {
    /// Builds the target from the members of a plan.
    ///
    /// # Errors
    /// 22004 if it names neither an activity nor an execution.
    pub fn new(activity_id: Option<String>, execution: Option<Uuid>) -> Result<Self, Fault> {
        match (&activity_id, execution) {
            (None, None) => Err(Fault::new("22004", "an activity or an execution of one must be named")),
            _ => Ok(Self { activity_id, execution }),
        }
    }
}

/// Who alters an instance, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Author {
    /// Name of the role that made the call, as the journal keeps it.
    pub role: String,
    /// The caller's reason, if any.
    pub reason: Option<String>,
}

impl Author {
    /// The journal data common to all alterations.
    pub fn data(&self, kind: &str) -> Map<String, Value> {
        let mut data = Map::from_iter([("by".to_owned(), json!(self.role)), ("type".to_owned(), json!(kind))]);
        data.extend(self.reason.as_ref().map(|reason| ("reason".to_owned(), json!(reason))));
        data
    }
}

impl Alteration {
    /// Elsa's name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ModifyVariable { .. } => "ModifyVariable",
            Self::ScheduleActivity(_) => "ScheduleActivity",
            Self::CancelActivity(_) => "CancelActivity",
            Self::Cancel => "Cancel",
        }
    }

    /// Whether activities may run because of it.
    pub fn runs_activities(&self) -> bool {
        !matches!(self, Self::ModifyVariable { .. })
    }

    /// Writes it as a member of a plan, which [`Changes::read`] reads.
    pub fn to_json(&self) -> Value {
        let mut plan = Map::from_iter([("type".to_owned(), json!(self.kind()))]);
        match self {
            Self::ModifyVariable { name, value, scope } => {
                plan.insert("variableId".to_owned(), json!(name));
                plan.insert("value".to_owned(), copy_or_null(value));
                plan.extend(scope.map(|scope| ("activityInstanceId".to_owned(), json!(scope))));
            }
            Self::ScheduleActivity(target) | Self::CancelActivity(target) => {
                let (activity, execution) = (target.activity_id.as_ref(), target.execution);
                plan.extend(activity.map(|activity| ("activityId".to_owned(), json!(activity))));
                plan.extend(execution.map(|execution| ("activityInstanceId".to_owned(), json!(execution))));
            }
            Self::Cancel => {}
        }
        Value::Object(plan)
    }

    fn read(members: &mut Members<'_>, kind: &str) -> Result<Self, Fault> {
        Ok(match kind {
            "ModifyVariable" => Self::ModifyVariable {
                name: members.text("variableId")?.ok_or_else(|| members.missing("variableId"))?,
                value: members.take("value").map(copy_or_null).ok_or_else(|| members.missing("value"))?,
                scope: members.id("activityInstanceId")?,
            },
            "ScheduleActivity" => Self::ScheduleActivity(target(members)?),
            "CancelActivity" => Self::CancelActivity(target(members)?),
            "Cancel" => Self::Cancel,
            other => {
                return Err(Fault::new("22023", format!("unknown type \"{other}\" of {}", members.what()))
                    .hint("The types are Cancel, CancelActivity, Migrate, ModifyVariable and ScheduleActivity."));
            }
        })
    }
}

/// The changes of a plan to each instance.
#[derive(Debug, PartialEq)]
pub enum Changes {
    /// These alterations, one after the other.
    Alter(Vec<Alteration>),
    /// Moves it to another version of its definition.
    Migrate(TargetVersion),
}

impl Changes {
    /// Reads the alterations of a plan, a JSON array. `Migrate` must be the only one.
    ///
    /// # Errors
    /// 22023 for invalid alterations, 54000 for more than [`MAX_ALTERATIONS`].
    pub fn read(plan: &Value) -> Result<Self, Fault> {
        let Value::Array(alterations) = plan else {
            return Err(Fault::new("22023", "alterations must be a JSON array"));
        };
        if alterations.is_empty() {
            return Err(Fault::new("22023", "there are no alterations"));
        }
        if alterations.len() > MAX_ALTERATIONS {
            return Err(Fault::new("54000", "there are too many alterations")
                .detail(format!("There are {}; a plan may have {MAX_ALTERATIONS}.", alterations.len())));
        }
        let mut read = Vec::with_capacity(alterations.len());
        for (at, alteration) in alterations.iter().enumerate() {
            let mut members = Members::of(alteration, format!("alteration {}", at + 1))?;
            let kind = members.text("type")?.ok_or_else(|| members.missing("type"))?;
            if kind == "Migrate" {
                let target = TargetVersion::read(&mut members)?;
                members.end()?;
                return match alterations.len() {
                    1 => Ok(Self::Migrate(target)),
                    _ => Err(Fault::new("22023", "\"Migrate\" must be the only alteration")
                        .hint("Alter the instances by another plan, before or after it.")),
                };
            }
            read.push(Alteration::read(&mut members, &kind)?);
            members.end()?;
        }
        match read.iter().position(|one| *one == Alteration::Cancel) {
            Some(at) if at + 1 < read.len() => Err(Fault::new("22023", "\"Cancel\" must be the last alteration")
                .detail(format!("It is number {}.", at + 1))),
            _ => Ok(Self::Alter(read)),
        }
    }
}

fn target(members: &mut Members<'_>) -> Result<Target, Fault> {
    let (activity_id, execution) = (members.text("activityId")?, members.id("activityInstanceId")?);
    Target::new(activity_id, execution)
        .map_err(|_| Fault::new("22023", format!("{} needs \"activityId\" or \"activityInstanceId\"", members.what())))
}
