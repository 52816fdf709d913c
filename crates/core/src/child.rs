//! Child workflows: the request of an activity, and the report when the child ends.
//!
//! A child is an instance of its own. An activity that wants the child's report makes a bookmark. The extension resumes
//! that bookmark with a [`report`] when the child ends.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::instance::SubStatus;
use workflow_value::fault::Fault;
use workflow_value::value::{copy_members, copy_or_null};

/// A child to be started after the burst.
#[derive(Debug, PartialEq)]
pub struct NewChild {
    /// Id of the new instance, chosen by the requesting activity.
    pub id: Uuid,
    /// The definition version that the child runs.
    pub version_id: Uuid,
    /// Input of the child, with the id of its parent in it.
    pub input: Map<String, Value>,
    /// Correlation id of the child at its start, if any.
    pub correlation_id: Option<String>,
    /// The bookmark that the report resumes; `None`: the parent does not wait for it.
    pub bookmark_id: Option<Uuid>,
    /// When the child runs, and when it reports.
    pub begin: Begin,
    /// Whether it notifies people of a task. It belongs to the owner of the definition that names it in `notify`; any
    /// other child belongs to the owner of its parent.
    pub is_notice: bool,
}

impl NewChild {
    /// Copies the request.
    ///
    /// # Errors
    /// 57014 if there is no room for a copy of its input.
    pub fn copy(&self) -> Result<Self, Fault> {
        let input = copy_members(&self.input)?;
        Ok(Self { input, correlation_id: self.correlation_id.clone(), ..*self })
    }
}

/// When a child runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Right after the burst, in its transaction; the child reports when it first waits or ends.
    Now,
    /// Right after the burst, in its transaction; the child reports when it has ended.
    NowToTheEnd,
    /// In a transaction of its own; the child reports when it has ended.
    Later,
}

const INSTANCE: &str = "WorkflowInstanceId";
const STATUS: &str = "WorkflowStatus";
const SUB_STATUS: &str = "WorkflowSubStatus";
const OUTPUT: &str = "WorkflowOutput";
const REFUSED: &str = "Refused";

/// The report of a child: its status and output under Elsa's names, as the input of a resume.
///
/// # Errors
/// 57014 if there is no room for a copy of its output.
pub fn report(instance: Uuid, sub_status: SubStatus, output: &Map<String, Value>) -> Result<Value, Fault> {
    Ok(Value::from_iter([
        (INSTANCE, Value::from(instance.to_string())),
        (STATUS, sub_status.status().name().into()),
        (SUB_STATUS, sub_status.name().into()),
        (OUTPUT, copy_members(output)?.into()),
    ]))
}

/// The report of a child that an activation strategy rejected.
pub fn refusal(instance: Uuid, message: &str) -> Value {
    json!({ INSTANCE: instance.to_string(), REFUSED: message })
}

/// A report as the parent reads it.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    value: &'a Value,
}

impl<'a> Report<'a> {
    /// Reads the input of a resume. `None`: the input is no report, because a caller resumed the bookmark with other
    /// input.
    pub fn read(value: Option<&'a Value>) -> Option<Self> {
        let value = value?;
        let is_report = value.get(INSTANCE).is_some_and(Value::is_string);
        is_report.then_some(Self { value })
    }

    /// Id of the child, as a text.
    pub fn instance(&self) -> Value {
        self.field(INSTANCE)
    }

    /// Elsa's name of the child's status; null if the child was rejected.
    pub fn status(&self) -> Value {
        self.field(STATUS)
    }

    /// Elsa's name of the child's sub-status; null if the child was rejected.
    pub fn sub_status(&self) -> Value {
        self.field(SUB_STATUS)
    }

    /// Outputs of the child, an object; null if the child was rejected.
    pub fn output(&self) -> Value {
        self.field(OUTPUT)
    }

    /// Why the child was rejected.
    pub fn refused(&self) -> Option<&'a str> {
        self.value.get(REFUSED)?.as_str()
    }

    /// Whether the child has this sub-status.
    pub fn is(&self, sub_status: SubStatus) -> bool {
        self.value.get(SUB_STATUS).and_then(Value::as_str) == Some(sub_status.name())
    }

    fn field(&self, name: &str) -> Value {
        self.value.get(name).map(copy_or_null).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let id = Uuid::from_u128(7);
        let output = Map::from_iter([("sum".to_owned(), json!(3))]);
        let value = report(id, SubStatus::Faulted, &output).unwrap();
        let read = Report::read(Some(&value)).unwrap();
        assert_eq!(read.instance(), json!(id.to_string()));
        assert_eq!((read.status(), read.sub_status()), (json!("Finished"), json!("Faulted")));
        assert_eq!(read.output(), json!({"sum": 3}));
        assert!(read.is(SubStatus::Faulted) && !read.is(SubStatus::Finished) && read.refused().is_none());
        let value = refusal(id, "no");
        assert_eq!(Report::read(Some(&value)).unwrap().refused(), Some("no"));
    }

    #[test]
    fn what_somebody_else_resumes_with_is_no_report() {
        for value in [json!(null), json!({}), json!({"WorkflowInstanceId": 1}), json!([1])] {
            assert!(Report::read(Some(&value)).is_none());
        }
        assert!(Report::read(None).is_none());
    }
}
