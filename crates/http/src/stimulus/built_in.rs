//! The stimuli that built-in activities wait for.

use super::fields::{FieldKind, PayloadShape, hashed, unhashed};

/// A stimulus of Elsa. Its name is the type of the activity that waits for it, except that of [`BACKGROUND`]. An
/// activity of another type waits for it if its bookmark has this name.
#[derive(Debug)]
pub struct BuiltIn {
    /// Name of the stimulus.
    pub name: &'static str,
    /// Whether the end of a child workflow sends it.
    pub is_of_child: bool,
    /// Forms of its payload: some stimuli have one for bookmarks and one for triggers.
    pub(super) shapes: &'static [PayloadShape],
}

const CHILD: &[PayloadShape] = &[PayloadShape { fields: &[hashed("ChildInstanceId", FieldKind::Text)] }];

/// An event was published.
pub const EVENT: BuiltIn = BuiltIn {
    name: "Elsa.Event",
    is_of_child: false,
    shapes: &[PayloadShape { fields: &[hashed("EventName", FieldKind::Text)] }],
};

/// An HTTP request arrived.
pub const HTTP_ENDPOINT: BuiltIn = BuiltIn {
    name: "Elsa.HttpEndpoint",
    is_of_child: false,
    shapes: &[PayloadShape {
        fields: &[
            hashed("Path", FieldKind::Lower),
            hashed("Method", FieldKind::Lower),
            unhashed("Policy"),
            unhashed("Authorize"),
            unhashed("RequestTimeout"),
            unhashed("RequestSizeLimit"),
        ],
    }],
};

/// A task was completed.
pub const RUN_TASK: BuiltIn = BuiltIn {
    name: "Elsa.RunTask",
    is_of_child: false,
    shapes: &[PayloadShape { fields: &[hashed("TaskId", FieldKind::Text), unhashed("TaskName")] }],
};

/// A child workflow of `DispatchWorkflow` reports.
pub const DISPATCH_WORKFLOW: BuiltIn = BuiltIn { name: "Elsa.DispatchWorkflow", is_of_child: true, shapes: CHILD };

/// A child workflow of `ExecuteWorkflow` reports.
pub const EXECUTE_WORKFLOW: BuiltIn = BuiltIn { name: "Elsa.ExecuteWorkflow", is_of_child: true, shapes: CHILD };

/// A child workflow of `BulkDispatchWorkflows` reports.
pub const BULK_DISPATCH_WORKFLOWS: BuiltIn = BuiltIn {
    name: "Elsa.BulkDispatchWorkflows",
    is_of_child: true,
    shapes: &[PayloadShape {
        fields: &[hashed("ParentInstanceId", FieldKind::Text), unhashed("ScheduledInstanceIdsCount")],
    }],
};

/// A background activity of any type is due.
pub const BACKGROUND: BuiltIn = BuiltIn {
    name: "BackgroundActivity",
    is_of_child: false,
    shapes: &[PayloadShape { fields: &[unhashed("JobId")] }],
};

/// A span of time has passed.
pub const DELAY: BuiltIn = BuiltIn {
    name: "Elsa.Delay",
    is_of_child: false,
    shapes: &[PayloadShape { fields: &[hashed("ResumeAt", FieldKind::Instant)] }],
};

/// An instant has come.
pub const START_AT: BuiltIn = BuiltIn {
    name: "Elsa.StartAt",
    is_of_child: false,
    shapes: &[PayloadShape { fields: &[hashed("ExecuteAt", FieldKind::Instant)] }],
};

/// An interval has passed.
pub const TIMER: BuiltIn = BuiltIn {
    name: "Elsa.Timer",
    is_of_child: false,
    shapes: &[
        PayloadShape { fields: &[hashed("ResumeAt", FieldKind::Instant)] },
        PayloadShape { fields: &[hashed("StartAt", FieldKind::Instant), hashed("Interval", FieldKind::Span)] },
        // This engine's own shape of a trigger. Elsa's shape contains the first fire time, which would differ at each
        // indexing.
        PayloadShape { fields: &[hashed("Interval", FieldKind::Span)] },
    ],
};

/// An instant of a cron expression has come.
pub const CRON: BuiltIn = BuiltIn {
    name: "Elsa.Cron",
    is_of_child: false,
    shapes: &[
        PayloadShape { fields: &[hashed("ExecuteAt", FieldKind::Instant), hashed("CronExpression", FieldKind::Text)] },
        PayloadShape { fields: &[hashed("CronExpression", FieldKind::Text)] },
    ],
};

/// Name of a bookmark at which an activity waits for its next attempt. No stimulus has this name: the bookmark is
/// resumed by time, or by a call with its id.
pub const RETRY: &str = "Workflow.Retry";
/// Metadata key of that bookmark: the number of attempts, as a text, because Elsa's clients expect texts there.
pub const ATTEMPT: &str = "Attempt";

/// Name of a bookmark that is due when the timeout of an activity expires.
pub const TIMEOUT: &str = "Workflow.Timeout";

/// Name of a bookmark that is due at the deadline of an activity, at which the activity does what its author wants.
pub const DEADLINE: &str = "Workflow.Deadline";

/// Name of a bookmark that is due when those who are asked are to be reminded.
pub const REMINDER: &str = "Workflow.Reminder";

/// Name of a bookmark that is due when a task was not claimed in time.
pub const START_TIMEOUT: &str = "Workflow.StartTimeout";

/// Name of a bookmark that is due when the timeout of a run expires. It belongs to the instance and to none of its
/// executions.
pub const RUN_TIMEOUT: &str = "Workflow.RunTimeout";

/// Name of a bookmark that is due when the lease of a task's last attempt ends.
pub const LEASE: &str = "Workflow.Lease";

/// Name of a bookmark that is due when handlers of the instance are to run.
pub const COMPENSATION: &str = "Workflow.Compensation";

/// Name of the bookmark that replaces the one of an answered task until a session of the owner processes the answer.
pub const ANSWER: &str = "Workflow.Answer";

/// Name of the bookmark of an instance that was created and waits for its owner's session to start it.
pub const START: &str = "Workflow.Start";

/// Name of the bookmark of an instance that waits until fewer instances of its definition run.
pub const LIMIT: &str = "Workflow.Limit";

/// Name of a queue entry for an instance that is to be cancelled and was locked. No bookmark has this name.
pub const CANCEL: &str = "Workflow.Cancel";

/// Name of a queue entry for a manual change of an instance, until a session of the instance's owner makes it. No
/// bookmark has this name.
pub const ACT: &str = "Workflow.Act";

/// Whether bookmarks of this name wait for a child workflow.
pub fn is_of_child(name: &str) -> bool {
    built_in(name).is_some_and(|known| known.is_of_child)
}

const ALL: [&BuiltIn; 11] = [
    &EVENT,
    &HTTP_ENDPOINT,
    &RUN_TASK,
    &DISPATCH_WORKFLOW,
    &EXECUTE_WORKFLOW,
    &BULK_DISPATCH_WORKFLOWS,
    &BACKGROUND,
    &DELAY,
    &START_AT,
    &TIMER,
    &CRON,
];

/// The built-in stimulus of this name.
pub fn built_in(name: &str) -> Option<&'static BuiltIn> {
    ALL.into_iter().find(|known| known.name == name)
}
