//! `RunTask`: opens a task for an external client and waits for its completion.
//!
//! The task's id is its bookmark's id, so completing the task resumes the bookmark.

use serde_json::Value;
use uuid::Uuid;

use crate::activities::for_people::{self, EscalateTo, Managers};
use crate::activities::reminders;
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, Excluded, InputDescriptor, NonEmpty, OutputDescriptor, WaitKind};
use crate::bookmark::{NewBookmark, Resumed};
use crate::execution::{EXPIRED, Execution, ForPeople, Outcomes};
use crate::notification::Reason;
use workflow_expression::Expression;
use workflow_http::stimulus;
use workflow_value::fault::Fault;
use workflow_value::value::indexed::{MAX_INDEXED, check_indexed};
use workflow_value::value::{copy_or_null, is_date_time, to_text};

/// Opens a task and waits for it.
#[derive(Debug)]
pub struct RunTask;

inputs! {
    TASK_NAME: NonEmpty = InputDescriptor::new("taskName", "String", "Name of the task.").needed().checked(check_name),
    PAYLOAD: Value = InputDescriptor::new("payload", "Object", "Data for whoever performs the task."),
    PRIORITY: i64 = InputDescriptor::new("priority", "Int32", "Task workers claim tasks with a higher number first; 0 by default."),
    ASSIGNEE: Value = for_people::ASSIGNEE,
    CANDIDATES: Value = for_people::CANDIDATES,
    DEADLINE: Value = for_people::DEADLINE,
    FORM: Value = for_people::FORM,
    RESULT_SCHEMA: Value = for_people::RESULT_SCHEMA,
    NOT: Value = for_people::NOT,
    ON_DEADLINE: Value = for_people::ON_DEADLINE,
    ESCALATE_TO: Value = for_people::ESCALATE_TO,
    REASSIGNABLE: bool = for_people::REASSIGNABLE,
    RAISE_TO: Value = for_people::RAISE_TO,
    DEADLINE_EVENT: Value = for_people::DEADLINE_EVENT,
    NOTIFY: Value = for_people::NOTIFY,
    REMINDERS: Value = reminders::REMINDERS,
}

outputs! {
    TASK_ID = OutputDescriptor::new("taskId", "String", "Id of the task and of its bookmark."),
    RESULT = OutputDescriptor::new("result", "Object", "The answer to the task."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: stimulus::RUN_TASK.name,
    category: "Primitives",
    description: "Opens a task for a task worker or a person and waits until it is completed.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    waits: WaitKind::ForTask,
    example: r#"{"type": "RunTask", "taskName": "approve-leave", "payload": {"object": {"days": {"input": "days"}}}, "result": {"var": "Decision"}}"#,
    ..Descriptor::BASE
};

fn check_name(name: &Value) -> Result<(), Fault> {
    name.as_str().map_or(Ok(()), |name| check_indexed("task name", name, MAX_INDEXED))
}

impl Activity for RunTask {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let for_people = ForPeople {
            assignee: for_people::assignee(cx.peek(ASSIGNEE))?,
            candidates: for_people::candidates(cx.peek(CANDIDATES))?,
            ..what_is_shown(cx)?
        };
        Excluded::read(cx.peek(NOT))?;
        let deadline = for_people.deadline;
        let at_deadline = AtDeadline::read(cx)?;
        match at_deadline {
            AtDeadline::Nothing | AtDeadline::Expire => {}
            AtDeadline::Escalate if cx.peek(ESCALATE_TO).is_null() => {
                return Err(Fault::new("22023", "\"onDeadline\": \"escalate\" requires \"escalateTo\""));
            }
            AtDeadline::Escalate => _ = for_people::escalate_to(cx.peek(ESCALATE_TO))?,
            AtDeadline::Raise => _ = for_people::raise_to(cx, RAISE_TO)?,
            AtDeadline::Event => _ = for_people::deadline_event(cx, DEADLINE_EVENT)?,
        }
        let task = open(cx, for_people, Reason::Opened)?;
        match deadline.filter(|_| at_deadline != AtDeadline::Nothing) {
            Some(at) => for_people::arm_deadline(cx, at, Some(task)),
            None => Ok(()),
        }
    }

    fn excluded(&self, inputs: &[Option<Expression>]) -> Result<Vec<Excluded>, Fault> {
        Excluded::of_input(inputs.get(NOT.index).and_then(Option::as_ref))
    }

    fn is_reassignable(&self, inputs: &[Option<Expression>]) -> bool {
        for_people::is_true(inputs, REASSIGNABLE)
    }

    fn resumed(&self, cx: &mut Execution<'_>, bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        match bookmark.name.as_str() {
            stimulus::DEADLINE => return deadline_passed(cx, bookmark),
            stimulus::REMINDER => {
                reminders::remind(cx, bookmark);
                return Ok(());
            }
            _ => {}
        }
        cx.set_output(RESULT, input.map(copy_or_null).unwrap_or_default())?;
        cx.complete()
    }
}

/// What happens at the deadline: the input `onDeadline`.
#[derive(Clone, Copy, PartialEq)]
enum AtDeadline {
    Nothing,
    Expire,
    Escalate,
    Raise,
    Event,
}

impl AtDeadline {
    fn read(cx: &Execution<'_>) -> Result<Self, Fault> {
        // In the order of the names.
        let choices = [Self::Nothing, Self::Expire, Self::Escalate, Self::Raise, Self::Event];
        cx.choice(ON_DEADLINE, &for_people::ON_DEADLINES).map(|chosen| choices[chosen])
    }
}

/// Deadline, form and schema of a task, without those who are asked.
fn what_is_shown(cx: &Execution<'_>) -> Result<ForPeople, Fault> {
    Ok(ForPeople {
        deadline: for_people::deadline(cx, DEADLINE)?,
        form: for_people::form(cx.peek(FORM))?,
        result_schema: for_people::result_schema(cx.peek(RESULT_SCHEMA))?,
        ..ForPeople::default()
    })
}

/// Opens the task with its reminders, and returns its id.
fn open(cx: &mut Execution<'_>, for_people: ForPeople, reason: Reason) -> Result<Uuid, Fault> {
    let name = cx.get(TASK_NAME)?;
    check_name(cx.peek(TASK_NAME))?;
    let payload = Some(cx.take(PAYLOAD)).filter(|value| *value != Value::Null);
    let priority = i32::try_from(cx.get(PRIORITY)?)
        .map_err(|_| Fault::new("22003", "input \"priority\" is out of range for an integer"))?;
    for_people::check_roles(cx, &for_people)?;
    let deadline = for_people.deadline;
    let is_asked = for_people.assignee.is_some() || !for_people.candidates.is_empty();
    let for_people = Some(for_people).filter(|given| *given != ForPeople::default()).map(Box::new);
    let id = cx.new_id();
    cx.create_bookmark(NewBookmark {
        id: Some(id),
        payload: Some(stimulus::task_payload(id, &name)),
        ..NewBookmark::default()
    })?;
    cx.create_task(id, name, payload, priority, for_people)?;
    if is_asked {
        cx.notify(id, reason);
    }
    reminders::arm(cx, REMINDERS, deadline, Some(id))?;
    cx.set_output(TASK_ID, Value::String(id.to_string()))?;
    Ok(id)
}

/// Does what the author wants at the deadline of an open task.
fn deadline_passed(cx: &mut Execution<'_>, bookmark: &Resumed) -> Result<(), Fault> {
    let task = for_people::task_of(bookmark);
    cx.evaluate_inputs()?;
    match AtDeadline::read(cx)? {
        // The version to which the instance has migrated has no such deadline.
        AtDeadline::Nothing => Ok(()),
        AtDeadline::Expire => {
            cx.end_tasks(task.into_iter().collect(), EXPIRED);
            // In a loop the variable has the answer of the round before.
            cx.set_output(RESULT, Value::Null)?;
            cx.complete_with(Outcomes::Named(vec![EXPIRED.to_owned()]))
        }
        AtDeadline::Escalate => escalate(cx, task),
        AtDeadline::Raise => {
            let priority = for_people::raise_to(cx, RAISE_TO)?;
            cx.raise_tasks(task.into_iter().collect(), priority);
            Ok(())
        }
        AtDeadline::Event => {
            let event = for_people::deadline_event(cx, DEADLINE_EVENT)?;
            if let Some(task) = task {
                cx.publish_due(task, event);
            }
            Ok(())
        }
    }
}

/// Asks others in place of those who were asked. Where the directory knows no manager of these, they stay. If it fails,
/// the deadline passes again an hour later.
fn escalate(cx: &mut Execution<'_>, task: Option<Uuid>) -> Result<(), Fault> {
    let candidates = match for_people::escalate_to(cx.peek(ESCALATE_TO))? {
        EscalateTo::People(names) => names,
        EscalateTo::Managers => {
            let asked = task.and_then(|task| cx.open_task(task)).map(|task| task.asked()).unwrap_or_default();
            match for_people::managers_of(cx, &asked)? {
                Managers::Known(managers) => managers,
                Managers::None => return Ok(()),
                Managers::Later(at) => return for_people::arm_deadline(cx, at, task),
            }
        }
    };
    cx.end_tasks(task.into_iter().collect(), "Escalated");
    cx.drop_bookmarks();
    let is_instant = is_date_time(to_text(cx.peek(DEADLINE)).trim());
    let again = what_is_shown(cx)?;
    let deadline = again.deadline.filter(|_| !is_instant);
    open(cx, ForPeople { candidates, deadline, ..again }, Reason::Escalated).map(drop)
}
