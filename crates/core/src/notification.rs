//! Notifications of tasks for people.
//!
//! `notify` of an activity, or of the options of a definition, names an event, a workflow, or both. Each gets the same
//! payload, which names the people with what the host's directory knows of them. What cannot be sent is recorded in the
//! journal, and never faults an activity: a task must not depend on who can be notified of it.
//!
//! Notices are sent with the rights of the definition's owner, who has named the event and the workflow as constants.
//! Otherwise a role that may start a definition would receive what the directory returns to the definition's owner. That
//! role can also determine a computed name of an event, so such an event is sent with the rights of the instance's owner, and
//! contains nothing of the directory.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::approval::Approval;
use crate::child::{Begin, NewChild};
use crate::execution::{ForPeople, NewTask, Published};
use crate::host::Host;
use crate::instance::Instance;
use crate::journal::EventKind;
use crate::program::{Node, Program};
use workflow_expression::{Expression, ExpressionKind};
use workflow_http::stimulus;
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::indexed::{MAX_INDEXED, check_indexed};
use workflow_value::value::{check_extent, instant_text, parse_json, to_text};

/// How many notices may lead to one another: each starts or resumes what opens the task of the next one.
pub const MAX_GENERATIONS: u32 = 10;

/// What a task sends when something happens to it: the input `notify`, or the option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notify {
    /// The event that is published.
    pub event: Option<String>,
    /// Id of the definition of which an instance is started.
    pub workflow: Option<String>,
}

impl Notify {
    /// Reads `{"event": NAME}`, `{"workflow": ID}`, or both in one object; null and false are nothing. Designers write
    /// JSON as text.
    ///
    /// # Errors
    /// 22023 if the value is no such object.
    pub fn read(value: &Value) -> Result<Option<Self>, Fault> {
        let members = match value {
            Value::Null | Value::Bool(false) => return Ok(None),
            Value::String(text) if ["", "false"].contains(&text.trim()) => return Ok(None),
            Value::String(text) => match parse_json(text) {
                Ok(parsed @ Value::Object(_)) => return Self::read(&parsed),
                _ => return Err(invalid(value)),
            },
            Value::Object(members) => members,
            _ => return Err(invalid(value)),
        };
        let mut notify = Self::default();
        for (key, value) in members {
            let name = value.as_str().map(str::trim).filter(|name| !name.is_empty()).ok_or_else(|| invalid(value))?;
            check_indexed("name in \"notify\"", name, MAX_INDEXED)?;
            match key.as_str() {
                "event" => notify.event = Some(name.to_owned()),
                "workflow" => notify.workflow = Some(name.to_owned()),
                _ => return Err(Fault::new("22023", format!("\"notify\" has no member \"{}\"", shorten(key, 60)))),
            }
        }
        if notify == Self::default() { Err(invalid(value)) } else { Ok(Some(notify)) }
    }

    /// Whether the constant in an input switches notices off, whatever the options say.
    pub fn is_off(input: Option<&Expression>) -> bool {
        match input.map(|input| &input.kind) {
            Some(ExpressionKind::Literal(Value::Bool(is_on))) => !is_on,
            Some(ExpressionKind::Literal(Value::String(text))) => text.trim() == "false",
            _ => false,
        }
    }

    /// Reads the constant in an input; `None`: there is none, or it is invalid.
    pub fn of_input(input: Option<&Expression>) -> Option<Self> {
        match input.map(|input| &input.kind) {
            Some(ExpressionKind::Literal(value)) => Self::read(value).ok().flatten(),
            _ => None,
        }
    }
}

fn invalid(value: &Value) -> Fault {
    let text = shorten(&to_text(value), 60);
    Fault::new(
        "22023",
        format!("\"notify\" must be {{\"event\": \"<name>\"}} or {{\"workflow\": \"<id>\"}}, not {text}"),
    )
}

/// Why people are notified of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It was opened.
    Opened,
    /// It was assigned to a person.
    Assigned,
    /// The time of a reminder has come.
    Reminded,
    /// Its deadline has passed, and it was opened for others in place of those who have not answered.
    Escalated,
    /// Its deadline has passed.
    Due,
}

impl Reason {
    /// Its name in the payload.
    pub fn name(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Assigned => "assigned",
            Self::Reminded => "reminded",
            Self::Escalated => "escalated",
            Self::Due => "due",
        }
    }
}

/// A task of which people are notified.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// The task.
    pub task: Uuid,
    /// Why.
    pub reason: Reason,
    /// The event that is published in place of what `notify` names.
    pub event: Option<String>,
}

/// An open task, as notices describe it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenTask {
    /// Its name.
    pub name: String,
    /// Its payload; a text in it as `subject` says what the task is about.
    pub payload: Option<Value>,
    /// Who is to do it, in the form of an assignee.
    pub assignee: Option<String>,
    /// Who may do it, in the same form.
    pub candidates: Vec<String>,
    /// Its deadline.
    pub deadline: Option<DateTime<Utc>>,
}

impl OpenTask {
    /// A task that the burst has opened.
    pub fn of(task: &NewTask) -> Self {
        let nobody = ForPeople::default();
        let ForPeople { assignee, candidates, deadline, .. } = task.for_people.as_deref().unwrap_or(&nobody);
        let subject = task.payload.as_ref().and_then(|payload| payload.get(SUBJECT)?.as_str());
        Self {
            name: task.name.clone(),
            payload: subject.map(|subject| json!({ SUBJECT: subject })),
            assignee: assignee.clone(),
            candidates: candidates.clone(),
            deadline: *deadline,
        }
    }

    /// Whether it is for certain people.
    pub fn is_for_people(&self) -> bool {
        self.assignee.is_some() || !self.candidates.is_empty()
    }

    /// Who is asked: the assignee, or else all candidates.
    pub fn asked(&self) -> Vec<String> {
        match &self.assignee {
            Some(assignee) => vec![assignee.clone()],
            None => self.candidates.clone(),
        }
    }
}

/// The member of a task's payload that says what it is about.
const SUBJECT: &str = "subject";

/// What a directory knows of a person or a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// The name that people read.
    pub name: Option<String>,
    /// The mail address.
    pub mail: Option<String>,
    /// The time zone, with its name in the IANA database.
    pub zone: Option<String>,
    /// The language, as a language tag.
    pub language: Option<String>,
    /// The manager, in the form of an assignee.
    pub manager: Option<String>,
}

/// A person or a group who is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addressee {
    /// The name, in the form of an assignee.
    pub person: String,
    /// The absent person whose substitute this is.
    pub in_place_of: Option<String>,
    /// What the directory knows; empty for a person whom it does not know.
    pub entry: DirectoryEntry,
}

/// Those who are asked, with what the directory knows of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addressees {
    /// Each person or group, once.
    pub people: Vec<Addressee>,
    /// Why the directory could not tell of one of them.
    pub failure: Option<String>,
    /// Whether there is a directory. Without one no address counts as missing.
    pub has_directory: bool,
}

impl Addressees {
    /// These people, of whom nothing is known.
    pub fn unknown(people: &[String]) -> Self {
        let unknown = |name: &String| Addressee { person: name.clone(), ..Addressee::default() };
        Self { people: people.iter().map(unknown).collect(), ..Self::default() }
    }
}

/// What follows from a notice.
#[derive(Debug, Default)]
pub struct Sent {
    /// The event to publish.
    pub stimulus: Option<Published>,
    /// The instance to start.
    pub child: Option<NewChild>,
    /// What the journal says of it, in order.
    pub events: Vec<(EventKind, Value)>,
    /// What the caller of the burst is warned of.
    pub warnings: Vec<String>,
}

/// Whether the event that an activity publishes at a deadline is the result of an expression, and not a constant.
pub fn computes_event(node: &Node) -> bool {
    let position = node.activity.descriptor().inputs.iter().position(|input| input.name == "deadlineEvent");
    let input = position.and_then(|position| node.inputs.get(position)?.as_ref());
    input.is_some_and(|input| !matches!(&input.kind, ExpressionKind::Literal(_)))
}

/// Sends a notice of a task that an activity has opened.
pub fn send(
    program: &Program,
    instance: &Instance,
    node: &Node,
    notice: &Notice,
    task: &OpenTask,
    host: &mut dyn Host,
) -> Sent {
    let mut sent = Sent::default();
    let by_author = notice.event.is_none() || !computes_event(node);
    let addressees = match by_author {
        true => addressees(program, instance, node, notice, task, host),
        false => Addressees::unknown(&task.asked()),
    };
    let by = host.answerer();
    let payload = payload(program, instance, notice, task, &addressees, by);
    let not_told = &payload["notTold"];
    if addressees.has_directory && not_told.as_array().is_some_and(|list| !list.is_empty()) {
        let mut data = json!({"reason": notice.reason.name(), "task": notice.task.to_string(), "notTold": not_told});
        if let Some(why) = &addressees.failure {
            data["why"] = Value::from(why.as_str());
        }
        sent.events.push((EventKind::Note, data));
    }
    let wanted = node.notify.as_deref().cloned().unwrap_or_default();
    let (event, workflow) = match &notice.event {
        Some(event) => (Some(event.clone()), None),
        None => (wanted.event, wanted.workflow),
    };
    if let Err(fault) = check_extent(&payload) {
        sent.fail(notice, &fault);
        return sent;
    }
    if let Some(definition) = workflow {
        sent.start(instance, notice, &definition, &payload, host);
    }
    if let Some(event) = event {
        if host.generation() >= MAX_GENERATIONS {
            let message = format!("notices have led to one another {MAX_GENERATIONS} times");
            sent.fail(notice, &Fault::new("54001", message));
            return sent;
        }
        let name = json!({ "EventName": event });
        sent.events.push((EventKind::Published, json!({"name": stimulus::EVENT.name, "payload": name})));
        sent.stimulus = Some(Published {
            name: stimulus::EVENT.name.to_owned(),
            payload: Some(name),
            input: Some(payload),
            correlation_id: None,
            local: false,
            by_author,
        });
    }
    sent
}

/// Those who are asked by a task, except those who have given another vote of the same approval.
fn addressees(
    program: &Program,
    instance: &Instance,
    node: &Node,
    notice: &Notice,
    task: &OpenTask,
    host: &mut dyn Host,
) -> Addressees {
    let excluded = node.activity.excluded(&node.inputs).unwrap_or_default();
    let approval = Approval::of_task(program, instance, notice.task);
    let voted = approval.map(|approval| approval.votes_of_others(notice.task)).unwrap_or_default();
    host.addressees(&task.asked(), &excluded, &voted)
}

impl Sent {
    /// Starts an instance in a transaction of its own, so that nothing it does can fail the burst.
    fn start(&mut self, instance: &Instance, notice: &Notice, definition: &str, payload: &Value, host: &mut dyn Host) {
        let mut input: Map<String, Value> = payload.as_object().cloned().unwrap_or_default();
        match host.notice_version(definition, &input) {
            Ok(version_id) => {
                let id = host.new_id();
                let data = json!({"instance_id": id.to_string(), "definition_id": definition});
                self.events.push((EventKind::ChildStarted, data));
                input.insert("ParentInstanceId".to_owned(), instance.id.to_string().into());
                self.child = Some(NewChild {
                    id,
                    version_id,
                    input,
                    correlation_id: None,
                    bookmark_id: None,
                    begin: Begin::Later,
                    is_notice: true,
                });
            }
            Err(fault) => self.fail(notice, &fault),
        }
    }

    fn fail(&mut self, notice: &Notice, fault: &Fault) {
        let (reason, task) = (notice.reason.name(), notice.task);
        let data = json!({"reason": reason, "task": task.to_string(), "notSent": fault.message.as_str()});
        self.events.push((EventKind::Note, data));
        self.warnings.push(format!("nobody is notified that task {task} was {reason}: {}", fault.message));
    }
}

fn payload(
    program: &Program,
    instance: &Instance,
    notice: &Notice,
    task: &OpenTask,
    addressees: &Addressees,
    by: Option<String>,
) -> Value {
    let subject = task.payload.as_ref().and_then(|payload| payload.get(SUBJECT)?.as_str());
    let person = |Addressee { person, in_place_of, entry }: &Addressee| {
        let DirectoryEntry { name, mail, zone, language, manager } = entry;
        json!({"person": person, "name": name, "mail": mail, "zone": zone, "language": language, "manager": manager,
            "inPlaceOf": in_place_of})
    };
    let has_no_mail = |addressee: &&Addressee| addressee.entry.mail.is_none();
    let not_told = addressees.people.iter().filter(has_no_mail).map(|addressee| addressee.person.as_str());
    json!({
        "reason": notice.reason.name(),
        "task": notice.task.to_string(),
        "name": task.name,
        "subject": subject.unwrap_or(&task.name),
        "definition": program.definition_id,
        "instance": instance.id.to_string(),
        "correlationId": instance.correlation_id,
        "by": by,
        "due": task.deadline.map(instant_text),
        "people": addressees.people.iter().map(person).collect::<Vec<_>>(),
        "notTold": not_told.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notify_names_an_event_a_workflow_or_both() {
        let read = |value: Value| Notify::read(&value);
        let of = |event: Option<&str>, workflow: Option<&str>| {
            Ok(Some(Notify { event: event.map(str::to_owned), workflow: workflow.map(str::to_owned) }))
        };
        assert_eq!(read(json!(null)), Ok(None));
        assert_eq!(read(json!(" ")), Ok(None));
        assert_eq!(read(json!(false)), Ok(None));
        assert_eq!(read(json!("false")), Ok(None));
        assert_eq!(read(json!({"event": " Task "})), of(Some("Task"), None));
        assert_eq!(read(json!("{\"workflow\": \"mail\"}")), of(None, Some("mail")));
        assert_eq!(read(json!({"workflow": "mail", "event": "Task"})), of(Some("Task"), Some("mail")));
        for wrong in [json!({}), json!("mail"), json!(["mail"]), json!({"event": ""}), json!({"event": 1}), json!(true)]
        {
            assert_eq!(read(wrong.clone()).expect_err("refused").sqlstate, "22023", "{wrong}");
        }
        assert_eq!(read(json!({"mail": "x"})).expect_err("refused").message, "\"notify\" has no member \"mail\"");
    }
}
