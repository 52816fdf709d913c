//! Child workflows: what an activity asks for, and what it hears when they end.
//!
//! A child is an instance of its own. The activity that starts it makes a bookmark if it wants to hear of it; whoever
//! ends the child resumes that bookmark with a [`report`].

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::fault::Fault;
use crate::instance::SubStatus;
use crate::value::{copy_members, copy_or_null};

/// A child to be started after the burst.
#[derive(Debug, PartialEq)]
pub struct NewChild {
    /// Its id.
    pub id: Uuid,
    /// The definition version that it runs.
    pub version_id: Uuid,
    /// Its input.
    pub input: Map<String, Value>,
    /// Its correlation id.
    pub correlation_id: Option<String>,
    /// The bookmark that is resumed with a report.
    pub bookmark_id: Option<Uuid>,
    /// When it runs, and when it reports.
    pub begin: Begin,
}

impl NewChild {
    /// Copies it.
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
    /// Right after the burst, in its transaction; it reports when it first waits or ends.
    Now,
    /// Right after the burst, in its transaction; it reports when it has ended.
    NowToTheEnd,
    /// In a transaction of its own; it reports when it has ended.
    Later,
}

const INSTANCE: &str = "WorkflowInstanceId";
const STATUS: &str = "WorkflowStatus";
const SUB_STATUS: &str = "WorkflowSubStatus";
const OUTPUT: &str = "WorkflowOutput";
const REFUSED: &str = "Refused";

/// How a child stands, as the input of a resume, by Elsa's names.
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

/// An activation strategy did not let the child begin.
pub fn refusal(instance: Uuid, message: &str) -> Value {
    json!({ INSTANCE: instance.to_string(), REFUSED: message })
}

/// A report as the parent reads it.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    value: &'a Value,
}

impl<'a> Report<'a> {
    /// Reads the input of a resume. `None`: somebody else resumed the bookmark, with an input of their own.
    pub fn read(value: Option<&'a Value>) -> Option<Self> {
        let value = value?;
        let is_report = value.get(INSTANCE).is_some_and(Value::is_string);
        is_report.then_some(Self { value })
    }

    /// The child.
    pub fn instance(&self) -> Value {
        self.field(INSTANCE)
    }

    /// Its status.
    pub fn status(&self) -> Value {
        self.field(STATUS)
    }

    /// Its sub-status.
    pub fn sub_status(&self) -> Value {
        self.field(SUB_STATUS)
    }

    /// Its output.
    pub fn output(&self) -> Value {
        self.field(OUTPUT)
    }

    /// Why it did not begin.
    pub fn refused(&self) -> Option<&'a str> {
        self.value.get(REFUSED)?.as_str()
    }

    /// Whether it stands like this.
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
