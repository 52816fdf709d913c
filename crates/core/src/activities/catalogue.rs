//! The catalogue: every activity type of the engine, once.
//!
//! Reading, validation, export and `wf_activities()` all use this list. It lists types only; activity types that users
//! register in SQL share the one entry [`CUSTOM`].

use crate::activities::{
    approve, break_, bulk_dispatch_workflows, cancellation_scope, compensable, compensate, complete, composite,
    confirm, continue_as, correlate, cron, custom, delay, dispatch_workflow, download_http_file, end, event,
    execute_workflow, fault, finish, flow_decision, flow_fork, flow_join, flow_node, flow_send_http_request,
    flow_switch, flowchart, for_, for_each, fork, http_endpoint, if_, log, migrate_instances, not_found, parallel,
    parallel_for_each, publish_event, run_csharp, run_java_script, run_python, run_task, scheduled_command, send_email,
    send_http_request, sequence, set_name, set_output, set_variable, sql, sql_command, sql_query, sql_single_value,
    start, start_at, state_machine, submit_alteration_plan, switch, timer, try_, while_, workflow_definition_activity,
    write_http_response, write_line,
};
use crate::activity::{Activity, PREFIXES, short_name};

/// All activity types, related ones together.
pub static ACTIVITIES: &[&dyn Activity] = &[
    &sequence::Sequence,
    &flowchart::Flowchart,
    &flow_decision::FlowDecision,
    &flow_switch::FlowSwitch,
    &flow_fork::FlowFork,
    &flow_join::FlowJoin,
    &flow_node::FlowNode,
    &start::Start,
    &end::End,
    &if_::If,
    &switch::Switch,
    &while_::While,
    &for_::For,
    &for_each::ForEach,
    &fork::Fork,
    &parallel::Parallel,
    &parallel_for_each::ParallelForEach,
    &state_machine::StateMachine,
    &try_::Try,
    &compensable::Compensable,
    &compensate::Compensate,
    &confirm::Confirm,
    &cancellation_scope::CancellationScope,
    &break_::Break,
    &complete::Complete,
    &finish::Finish,
    &continue_as::ContinueAs,
    &composite::Composite,
    &workflow_definition_activity::WorkflowDefinitionActivity,
    &fault::RaiseFault,
    &set_variable::SetVariable,
    &set_output::SetOutput,
    &set_name::SetName,
    &correlate::Correlate,
    &write_line::WriteLine,
    &log::Log,
    &event::Event,
    &publish_event::PublishEvent,
    &run_task::RunTask,
    &approve::Approve,
    &execute_workflow::ExecuteWorkflow,
    &dispatch_workflow::DispatchWorkflow,
    &bulk_dispatch_workflows::BulkDispatchWorkflows,
    &submit_alteration_plan::SubmitAlterationPlan,
    &migrate_instances::MigrateInstances,
    &delay::Delay,
    &start_at::StartAt,
    &timer::Timer,
    &cron::Cron,
    &run_csharp::RunCSharp,
    &run_python::RunPython,
    &http_endpoint::HttpEndpoint,
    &write_http_response::WriteHttpResponse,
    &send_http_request::SendHttpRequest,
    &flow_send_http_request::FlowSendHttpRequest,
    &download_http_file::DownloadHttpFile,
    &send_email::SendEmail,
    &sql::Sql,
    &run_java_script::RunJavaScript,
    &sql_query::SqlQuery,
    &sql_command::SqlCommand,
    &sql_single_value::SqlSingleValue,
    &scheduled_command::ScheduledCommand,
];

/// Names of the types added after version 0.2.0. A type that was registered in SQL under such a name takes precedence.
pub const LATER: &[&str] = &[
    "Try",
    "Compensable",
    "Compensate",
    "Confirm",
    "CancellationScope",
    "SendHttpRequest",
    "FlowSendHttpRequest",
    "DownloadHttpFile",
    "SendEmail",
    "ContinueAs",
    "SubmitAlterationPlan",
    "MigrateInstances",
    "Approve",
];

/// The activity for an unknown type; faults when it runs.
pub static NOT_FOUND: &dyn Activity = &not_found::NotFound;

/// The activity for every workflow that is used as an activity.
pub static WORKFLOW: &dyn Activity = &workflow_definition_activity::WorkflowDefinitionActivity;

/// The activity for every type that users registered in SQL.
pub static CUSTOM: &dyn Activity = &custom::Custom;

/// Finds an activity by its full type name, or by its name without the prefix.
pub fn find(type_name: &str) -> Option<&'static dyn Activity> {
    ACTIVITIES.iter().copied().find(|activity| {
        let full = activity.descriptor().type_name;
        full == type_name || short_name(full) == type_name
    })
}

/// The type name without its .NET type arguments: `Elsa.ForEach<String>` is `Elsa.ForEach`.
///
/// JSON does not distinguish such types. `None` if there are no arguments.
pub fn without_arguments(type_name: &str) -> Option<&str> {
    let at = type_name.find(['<', '`']).filter(|at| *at > 0)?;
    Some(type_name[..at].trim_end())
}

/// The built-in type whose name differs only in letter case, prefix, type arguments or surrounding spaces.
///
/// A person who reads such a name in a definition would mistake it for the built-in type.
pub fn looks_like(type_name: &str) -> Option<&'static str> {
    let fold = |name: &str| {
        let name = name.trim().to_lowercase();
        let name = without_arguments(&name).unwrap_or(&name);
        let bare = PREFIXES.iter().find_map(|prefix| name.strip_prefix(&prefix.to_lowercase()));
        bare.unwrap_or(name).to_owned()
    };
    let wanted = fold(type_name);
    ACTIVITIES.iter().map(|activity| activity.descriptor().type_name).find(|full| fold(full) == wanted)
}

/// Whether a name begins with `Elsa.` or `Workflow.`, in any letter case.
pub fn has_reserved_prefix(type_name: &str) -> bool {
    let name = type_name.trim().to_lowercase();
    PREFIXES.iter().any(|prefix| name.starts_with(&prefix.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The types of version 0.2.0. Never change this text.
    const OF_0_2_0: &str = "\
        Break BulkDispatchWorkflows Complete Composite Correlate Cron Delay DispatchWorkflow End Event \
        ExecuteWorkflow Fault Finish FlowDecision FlowFork FlowJoin FlowNode FlowSwitch Flowchart For \
        ForEach Fork HttpEndpoint If Log Parallel ParallelForEach PublishEvent RunCSharp RunJavaScript \
        RunPython RunTask ScheduledCommand Sequence SetName SetOutput SetVariable Sql SqlCommand SqlQuery \
        SqlSingleValue Start StartAt StateMachine Switch Timer While WorkflowDefinitionActivity \
        WriteHttpResponse WriteLine";

    #[test]
    fn every_type_that_came_after_0_2_0_is_in_later() {
        let all: BTreeSet<_> = ACTIVITIES.iter().map(|activity| short_name(activity.descriptor().type_name)).collect();
        let earlier: BTreeSet<_> = OF_0_2_0.split(' ').collect();
        assert_eq!(&all - &earlier, BTreeSet::from_iter(LATER.iter().copied()));
        assert!(all.is_superset(&earlier), "types are gone: {:?}", &earlier - &all);
    }

    #[test]
    fn every_entry_is_documented_and_its_example_is_json_of_its_type() {
        for activity in ACTIVITIES {
            let descriptor = activity.descriptor();
            assert!(!descriptor.description.is_empty(), "{}", descriptor.type_name);
            assert!(!descriptor.category.is_empty(), "{}", descriptor.type_name);
            let example: serde_json::Value = serde_json::from_str(descriptor.example)
                .unwrap_or_else(|error| panic!("{}: {error}", descriptor.type_name));
            assert_eq!(example["type"], short_name(descriptor.type_name));
            for input in descriptor.inputs {
                assert!(!input.description.is_empty(), "{}.{}", descriptor.type_name, input.name);
                for choice in input.choices {
                    let value = match input.type_name {
                        "String[]" => serde_json::json!([choice]),
                        _ => serde_json::json!(choice),
                    };
                    assert_eq!(input.check.map_or(Ok(()), |check| check(&value)), Ok(()), "{} {choice}", input.name);
                }
                if let Some(default) = input.default {
                    assert!(serde_json::from_str::<serde_json::Value>(default).is_ok());
                }
            }
        }
    }

    #[test]
    fn names_are_unique_with_and_without_prefix() {
        let full: BTreeSet<_> = ACTIVITIES.iter().map(|activity| activity.descriptor().type_name).collect();
        let short: BTreeSet<_> = full.iter().map(|name| short_name(name)).collect();
        assert_eq!(full.len(), ACTIVITIES.len());
        assert_eq!(short.len(), ACTIVITIES.len());
    }

    #[test]
    fn a_type_is_found_with_and_without_prefix_in_exact_case() {
        for name in ["Elsa.If", "If", "Sql", "Workflow.Sql"] {
            assert!(find(name).is_some(), "{name}");
        }
        for name in ["if", "Elsa.Sql", "Workflow.If", "", "Elsa."] {
            assert!(find(name).is_none(), "{name}");
        }
    }
}
