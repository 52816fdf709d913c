//! `RunTask`: opens a task for an external client and waits for its completion.
//!
//! The task's id is its bookmark's id, so completing the task resumes the bookmark.

use serde_json::Value;

use crate::activities::for_people;
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, Excluded, InputDescriptor, NonEmpty, OutputDescriptor, WaitKind};
use crate::bookmark::{NewBookmark, Resumed};
use crate::execution::{Execution, ForPeople};
use workflow_expression::Expression;
use workflow_http::stimulus;
use workflow_value::fault::Fault;
use workflow_value::value::copy_or_null;
use workflow_value::value::indexed::{MAX_INDEXED, check_indexed};

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
        let name = cx.get(TASK_NAME)?;
        check_name(cx.peek(TASK_NAME))?;
        let payload = Some(cx.take(PAYLOAD)).filter(|value| *value != Value::Null);
        let priority = i32::try_from(cx.get(PRIORITY)?)
            .map_err(|_| Fault::new("22003", "input \"priority\" is out of range for an integer"))?;
        let for_people = ForPeople {
            assignee: for_people::assignee(cx.peek(ASSIGNEE))?,
            candidates: for_people::candidates(cx.peek(CANDIDATES))?,
            deadline: for_people::deadline(cx, DEADLINE)?,
            form: for_people::form(cx.peek(FORM))?,
            result_schema: for_people::result_schema(cx.peek(RESULT_SCHEMA))?,
        };
        Excluded::read(cx.peek(NOT))?;
        for_people::check_roles(cx, &for_people)?;
        let for_people = Some(for_people).filter(|given| *given != ForPeople::default()).map(Box::new);
        let id = cx.new_id();
        cx.create_bookmark(NewBookmark {
            id: Some(id),
            payload: Some(stimulus::task_payload(id, &name)),
            ..NewBookmark::default()
        })?;
        cx.create_task(id, name, payload, priority, for_people)?;
        cx.set_output(TASK_ID, Value::String(id.to_string()))
    }

    fn excluded(&self, inputs: &[Option<Expression>]) -> Result<Vec<Excluded>, Fault> {
        Excluded::of_input(inputs.get(NOT.index).and_then(Option::as_ref))
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        cx.set_output(RESULT, input.map(copy_or_null).unwrap_or_default())?;
        cx.complete()
    }
}
