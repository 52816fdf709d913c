//! Messages about Elsa's activity and expression types that cannot run here.

use serde_json::{Map, Value};

use super::json::text;
use workflow_core::activities::catalogue;
use workflow_core::activity::short_name;
use workflow_value::spelling;

/// The type of an activity that uses a workflow, without its prefix.
const USE: &str = "WorkflowDefinitionActivity";

/// Explains why an activity type cannot be used, and what to use instead.
pub(super) fn activity(type_name: &str, members: &Map<String, Value>) -> String {
    let short = type_name.strip_prefix("Elsa.").unwrap_or(type_name);
    if let Some(id) = names_workflow(type_name, members) {
        return format!("workflow definition \"{id}\" does not exist");
    }
    if let Some(reason) = extension(type_name) {
        return format!("activity type \"{type_name}\" is not supported: {reason}");
    }
    let reason = match short {
        USE => "it needs a \"workflowDefinitionId\"",
        "Workflow" => "use \"Composite\", or define the workflow by itself and use it as an activity",
        "WriteFileHttpResponse" => {
            "use \"WriteHttpResponse\" for a text, or \"RunTask\" and a client that sends the file"
        }
        _ if type_name.starts_with("Elsa.") => {
            return match suggestion(short) {
                Some(name) => {
                    format!("unknown activity type \"{type_name}\" (did you mean \"{name}\"?)")
                }
                None => format!(
                    "activity type \"{type_name}\" is not supported: it is neither in wf_activities() nor registered \
                     with wf_register_activity(); let \"RunTask\" and a client do its work, or register it"
                ),
            };
        }
        _ => {
            return match nearest(short) {
                Some(name) => {
                    format!("unknown activity type \"{type_name}\" (did you mean \"{name}\"?)")
                }
                None => {
                    let advice = match type_name.contains('.') {
                        true => "; let \"RunTask\" and a client do its work, or register it",
                        false => "",
                    };
                    format!(
                        "unknown activity type \"{type_name}\": neither in wf_activities() nor registered with \
                         wf_register_activity(){advice}"
                    )
                }
            };
        }
    };
    format!("activity type \"{type_name}\" is not supported: {reason}")
}

/// Activities of Elsa's modules and extensions that use external systems, by the last part of their name, with
/// alternatives.
const OUTSIDE: [(&[&str], &str); 7] = [
    (
        &["PublishWebhook", "WebhookEventReceived", "SendWebhook"],
        "the database does no network I/O; use \"RunTask\" and a client that works off tasks",
    ),
    (
        &["MessageReceived", "ProduceMessage", "SendMessage", "PublishMessage", "SendMessageBatch", "ConsumeMessage"],
        "the database speaks to no message broker; let a consumer call wf_publish_event, and send with \"RunTask\"",
    ),
    (
        &[
            "OpenFile",
            "SaveFile",
            "DeleteFile",
            "ReadFile",
            "WriteFile",
            "CreateZipArchive",
            "ReadCsv",
            "ReadZipArchive",
        ],
        "workflows open no files; use \"RunTask\" and a client that works off tasks",
    ),
    (
        &["GenerateAlterationJobs", "DispatchAlterationJobs", "CompleteAlterationPlan"],
        "\"SubmitAlterationPlan\" does their work",
    ),
    (&["BpmnProcess"], "rebuild it as a \"Flowchart\""),
    (&["ReadLine"], "the database has no console to read from; use \"Event\" or \"RunTask\""),
    (
        &["Inline", "DynamicActivity", "HostMethodActivity"],
        "it is code of the program that wrote the definition; use SQL, \"RunJavaScript\" or a custom activity",
    ),
];

/// The alternative to an activity type of Elsa's extensions.
fn extension(type_name: &str) -> Option<&'static str> {
    let last = type_name.rsplit('.').next().unwrap_or(type_name);
    OUTSIDE.iter().find(|(names, _)| names.contains(&last)).map(|(_, reason)| *reason)
}

/// The id of the workflow that an activity names, unless its type is another one of Elsa's own.
pub(super) fn names_workflow<'d>(type_name: &str, members: &'d Map<String, Value>) -> Option<&'d str> {
    let own = type_name.strip_prefix("Elsa.").is_some_and(|short| short != USE);
    text(members, "workflowDefinitionId").filter(|_| !own)
}

fn names() -> impl Iterator<Item = &'static str> {
    catalogue::ACTIVITIES.iter().map(|activity| short_name(activity.descriptor().type_name))
}

/// The built-in type with the most similar name.
fn nearest(short: &str) -> Option<&'static str> {
    spelling::nearest(short, names())
}

/// The built-in type that the author probably meant: with the same name after the module, or a similar one.
fn suggestion(short: &str) -> Option<&'static str> {
    let bare = catalogue::without_arguments(short).unwrap_or(short);
    let bare = bare.split(',').next().unwrap_or(bare);
    let last = bare.rsplit('.').next().unwrap_or(bare).trim();
    let in_flowcharts = format!("Flow{last}");
    let same = |name: &&str| name.eq_ignore_ascii_case(last) || name.eq_ignore_ascii_case(&in_flowcharts);
    names().find(same).or_else(|| nearest(short))
}

/// Explains why an expression type cannot be used, and what to use instead.
pub(super) fn expression(type_name: &str) -> String {
    let alternatives = "use JavaScript, Liquid, Sql, Variable, Input, Object or Literal";
    match type_name {
        "CSharp" | "Python" => {
            format!(
                "expression type \"{type_name}\" cannot run in the database, apart from a plain value (a literal, a \
                 variable, an input, what is in these, a comparison, a text with these inside); {alternatives}"
            )
        }
        "Secret" => {
            "expression type \"Secret\" is not supported: a definition and its journal are no place for secrets; \
                     let the client that works off a task know them"
                .to_owned()
        }
        "Delegate" => {
            "expression type \"Delegate\" is not supported: it is code of the program that wrote the definition; \
                       use JavaScript, Liquid or Sql"
                .to_owned()
        }
        _ => format!("unknown expression type \"{type_name}\"; {alternatives}"),
    }
}
