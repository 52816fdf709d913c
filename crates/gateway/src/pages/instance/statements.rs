//! The actions on instances: description, form inputs and SQL.

use crate::pages::statement::Statement;
use crate::pages::typed::Typed;

/// An action on an instance.
pub struct Action {
    /// Its keyword in addresses.
    pub name: &'static str,
    pub title: &'static str,
    /// What the action will do.
    pub effect: &'static str,
    pub button: &'static str,
    pub inputs: &'static [ActionInput],
    /// The status message afterwards.
    pub done: &'static str,
    statement: fn(&str, &Typed) -> Statement,
}

/// A form input of an action.
pub struct ActionInput {
    pub name: &'static str,
    pub label: &'static str,
    pub kind: InputKind,
    pub is_required: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    Line,
    Number,
    Json,
    Tick,
    /// One of these; the first by default.
    Choice(&'static [(&'static str, &'static str)]),
}

const fn input(name: &'static str, label: &'static str, kind: InputKind, is_required: bool) -> ActionInput {
    ActionInput { name, label, kind, is_required }
}

const REASON: ActionInput = input("reason", "Reason", InputKind::Line, false);

pub const RESUME: &str = "resume";
pub const MIGRATE: &str = "migrate";

const ACTIONS: &[Action] = &[
    Action {
        name: RESUME,
        title: "Resume",
        effect: "Uses up the bookmark, and lets the instance go on there with this input at once. The whole input is the result of the activity that waits.",
        button: "Resume",
        inputs: &[
            input("bookmark", "Bookmark", InputKind::Line, true),
            input("input", "Input, as JSON", InputKind::Json, false),
        ],
        done: "The instance was resumed.",
        statement: |_, typed| {
            Statement::new(
                "SELECT sub_status FROM @wf.wf_resume($1::pg_catalog.uuid, $2::pg_catalog.jsonb, on_fault => 'store')",
                vec![typed.non_empty("bookmark"), typed.non_empty("input")],
            )
        },
    },
    Action {
        name: "retry",
        title: "Retry",
        effect: "Settles the incidents and executes the faulted activities again from their beginning: the one that is named, or all. A task that failed is opened anew. A new fault is a new incident.",
        button: "Retry",
        inputs: &[input("activity", "Activity, or nothing for all", InputKind::Line, false)],
        done: "The faulted activities ran again.",
        statement: |id, typed| match typed.non_empty("activity") {
            Some(activity) => Statement::new(
                "SELECT sub_status FROM @wf.wf_retry($1::pg_catalog.uuid, ARRAY[$2], on_fault => 'store')",
                vec![Some(id.to_owned()), Some(activity)],
            ),
            None => Statement::new(
                "SELECT sub_status FROM @wf.wf_retry($1::pg_catalog.uuid, on_fault => 'store')",
                vec![Some(id.to_owned())],
            ),
        },
    },
    Action {
        name: "cancel",
        title: "Cancel",
        effect: "Ends the instance for good: its bookmarks go, its tasks are closed, and what it has to compensate is compensated. The reason goes to the journal.",
        button: "Cancel the instance",
        inputs: &[REASON],
        done: "The instance is cancelled.",
        statement: |id, typed| {
            Statement::new(
                "SELECT @wf.wf_cancel($1::pg_catalog.uuid, $2)",
                vec![Some(id.to_owned()), typed.non_empty("reason")],
            )
        },
    },
    Action {
        name: "pause",
        title: "Pause",
        effect: "Lets the instance stand still: nothing resumes it, no timer fires, and no worker claims a task of it, until the pause ends.",
        button: "Pause",
        inputs: &[REASON, input("children", "Its child workflows as well", InputKind::Tick, false)],
        done: "The instance is paused.",
        statement: |id, typed| {
            Statement::new(
                "SELECT @wf.wf_pause($1::pg_catalog.uuid, $2, children => $3::boolean)",
                vec![
                    Some(id.to_owned()),
                    typed.non_empty("reason"),
                    Some((!typed.one("children").is_empty()).to_string()),
                ],
            )
        },
    },
    Action {
        name: "unpause",
        title: "Unpause",
        effect: "Ends the pause of the instance, and of those that were paused with it. Answers and stimuli that came meanwhile are delivered at once.",
        button: "Unpause",
        inputs: &[],
        done: "The pause has ended.",
        statement: |id, _| {
            Statement::new("SELECT sub_status FROM @wf.wf_unpause($1::pg_catalog.uuid)", vec![Some(id.to_owned())])
        },
    },
    Action {
        name: "set-variable",
        title: "Set a variable",
        effect: "Gives a variable of the instance another value, converted to its declared type. No activity runs. The journal gets both values, who did it, and the reason.",
        button: "Set",
        inputs: &[
            input("name", "Name", InputKind::Line, true),
            input("value", "Value, as JSON", InputKind::Json, true),
            REASON,
        ],
        done: "The variable is set.",
        statement: |id, typed| {
            Statement::new(
                "SELECT @wf.wf_set_variable($1::pg_catalog.uuid, $2, $3::pg_catalog.jsonb, reason => $4)",
                vec![Some(id.to_owned()), typed.non_empty("name"), typed.non_empty("value"), typed.non_empty("reason")],
            )
        },
    },
    Action {
        name: MIGRATE,
        title: "Migrate",
        effect: "Lets the instance go on in another version of its workflow. A dry run says first what stands against it.",
        button: "Migrate",
        inputs: &[
            input("version", "Version", InputKind::Number, true),
            input(
                "mapping",
                "Mapping, as JSON: ids of activities in this version and in the other one",
                InputKind::Json,
                false,
            ),
            input(
                "timers",
                "Timers",
                InputKind::Choice(&[("keep", "go on as they are"), ("anew", "begin anew")]),
                false,
            ),
        ],
        done: "The instance is in the other version.",
        statement: |id, typed| migration(id, typed, false),
    },
];

impl Action {
    pub fn named(name: &str) -> Option<&'static Self> {
        ACTIONS.iter().find(|action| action.name == name)
    }

    /// Whether the button asks for confirmation.
    pub fn is_dangerous(&self) -> bool {
        self.name == "cancel"
    }

    pub fn is_migration(&self) -> bool {
        self.name == MIGRATE
    }

    pub fn statement(&self, instance: &str, typed: &Typed) -> Statement {
        (self.statement)(instance, typed)
    }

    /// Required inputs that are missing.
    pub fn missing(&self, typed: &Typed) -> Vec<&'static str> {
        let missing = self.inputs.iter().filter(|input| input.is_required && typed.non_empty(input.name).is_none());
        missing.map(|input| input.label).collect()
    }
}

/// The migration, or its dry run.
pub fn migration(id: &str, typed: &Typed, dry_run: bool) -> Statement {
    Statement::new(
        "SELECT path, severity, message \
         FROM @wf.wf_migrate($1::pg_catalog.uuid, $2::integer, mapping => $3::pg_catalog.jsonb, timers => $4, \
           dry_run => $5::boolean)",
        vec![
            Some(id.to_owned()),
            typed.non_empty("version"),
            Some(typed.non_empty("mapping").unwrap_or_else(|| "{}".to_owned())),
            Some(typed.non_empty("timers").unwrap_or_else(|| "keep".to_owned())),
            Some(dry_run.to_string()),
        ],
    )
}
