//! Words for what cannot run here: activity and expression types of Elsa that are missing.

use serde_json::{Map, Value};

use super::json::text;
use super::spelling;
use crate::activity::catalogue;

/// Activity types of Elsa that are known to exist but not available in this version.
const ELSA_ONLY: [&str; 18] = [
    "DownloadHttpFile",
    "FlowSendHttpRequest",
    "HttpEndpoint",
    "Inline",
    "Log",
    "ParallelForEach",
    "PublishWebhook",
    "ReadLine",
    "RunCSharp",
    "RunJavaScript",
    "RunPython",
    "SendEmail",
    "SendHttpRequest",
    "SqlCommand",
    "SqlQuery",
    "SqlSingleValue",
    "StateMachine",
    "WriteHttpResponse",
];

/// The type of a workflow that is used as an activity, without its prefix.
const USE: &str = "WorkflowDefinitionActivity";

/// Says why an activity type cannot be used, and what can.
pub(super) fn activity(type_name: &str, members: &Map<String, Value>) -> String {
    let short = type_name.strip_prefix("Elsa.").unwrap_or(type_name);
    if let Some(id) = names_workflow(type_name, members) {
        return format!("workflow definition \"{id}\" does not exist");
    }
    let reason = match short {
        USE => "it needs a \"workflowDefinitionId\"",
        "Workflow" => "use \"Composite\", or define the workflow by itself and use it as an activity",
        "RunCSharp" | "RunPython" => {
            "its code cannot run in the database; use SQL, JavaScript expressions or a custom activity"
        }
        "SqlCommand" | "SqlQuery" | "SqlSingleValue" => "use the activity type \"Sql\"",
        "HttpEndpoint"
        | "SendHttpRequest"
        | "FlowSendHttpRequest"
        | "DownloadHttpFile"
        | "WriteHttpResponse"
        | "SendEmail" => "the database does no network I/O; use \"RunTask\" and a client that works off tasks",
        _ if ELSA_ONLY.contains(&short) || type_name.starts_with("Elsa.") => {
            return match suggestion(short) {
                Some(name) => {
                    format!("unknown activity type \"{type_name}\" (did you mean \"{name}\"?)")
                }
                None => format!(
                    "activity type \"{type_name}\" is not supported: it is not available in this version; \
                     wf_activities() lists those that are"
                ),
            };
        }
        _ => {
            return match suggestion(short) {
                Some(name) => {
                    format!("unknown activity type \"{type_name}\" (did you mean \"{name}\"?)")
                }
                None => format!(
                    "unknown activity type \"{type_name}\": neither in wf_activities() nor registered with \
                     wf_register_activity()"
                ),
            };
        }
    };
    format!("activity type \"{type_name}\" is not supported: {reason}")
}

/// The id of the workflow that an activity says it is, if it is none of Elsa's own.
pub(super) fn names_workflow<'d>(type_name: &str, members: &'d Map<String, Value>) -> Option<&'d str> {
    let own = type_name.strip_prefix("Elsa.").is_some_and(|short| short != USE);
    text(members, "workflowDefinitionId").filter(|_| !own)
}

fn suggestion(short: &str) -> Option<&'static str> {
    if ELSA_ONLY.contains(&short) {
        return None;
    }
    let names = catalogue::ACTIVITIES.iter().map(|activity| activity.descriptor().type_name);
    spelling::nearest(short, names.map(|name| name.rsplit('.').next().unwrap_or(name)))
}

/// Says why an expression type cannot be used, and what can.
pub(super) fn expression(type_name: &str) -> String {
    let alternatives = "use JavaScript, Sql, Variable, Input, Object or Literal";
    match type_name {
        "CSharp" | "Python" => {
            format!("expression type \"{type_name}\" cannot run in the database; {alternatives}")
        }
        "Liquid" | "Secret" | "Delegate" => {
            format!("expression type \"{type_name}\" is not supported in this version; {alternatives}")
        }
        _ => format!("unknown expression type \"{type_name}\"; {alternatives}"),
    }
}
