//! `Approve`: asks several people, and completes when their votes decide.
//!
//! All votes belong to one execution: each has a task and its bookmark, and the [`Approval`] in the memory says whose
//! task is whose. The extension refuses a second vote of the same person by that memory.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::activities::for_people::{self, Managers};
use crate::activities::reminders;
use crate::activities::timing::read_instant;
use crate::activity::handle::{inputs, outputs};
use crate::activity::{
    Activity, Descriptor, Excluded, FailedAttempt, Input, InputDescriptor, NonEmpty, OutputDescriptor, WaitKind,
};
use crate::approval::{Approval, Rule, Verdict, Vote, Voter};
use crate::bookmark::{NewBookmark, Resumed};
use crate::execution::{EXPIRED, Execution, ForPeople, Outcomes, one_of, sequence_of};
use crate::notification::Reason;
use workflow_expression::Expression;
use workflow_http::stimulus;
use workflow_value::fault::Fault;
use workflow_value::value::indexed::{MAX_INDEXED, check_indexed};
use workflow_value::value::{copy_or_null, instant_text, is_date_time, to_text};

mod answers;
mod voters;

/// Asks people, and waits for their votes.
#[derive(Debug)]
pub struct Approve;

/// The values of the input `order`.
const ORDERS: [&str; 2] = ["parallel", "serial"];

/// The values of the input `onDeadline`, as [`AtDeadline`] has them.
const AT_DEADLINE: [&str; 6] = ["expire", "approve", "reject", "escalate", "raise", "event"];

/// What happens at the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtDeadline {
    Expire,
    Approve,
    Reject,
    Escalate,
    Raise,
    Event,
}

impl AtDeadline {
    fn read(cx: &mut Execution<'_>) -> Result<Self, Fault> {
        let given = cx.choice(ON_DEADLINE, &AT_DEADLINE)?;
        Ok([Self::Expire, Self::Approve, Self::Reject, Self::Escalate, Self::Raise, Self::Event][given])
    }
}

inputs! {
    BY: Value = InputDescriptor::new(
        "by",
        "Object",
        "Who votes: a list of role:NAME and of names that the application knows, one vote each. {\"each\": \"role:NAME\"} gives a vote to each member that the role has when the approval begins.",
    )
    .hint("json-editor")
    .needed()
    .checked(|value| voters::check(value, "by")),
    RULE: Value = InputDescriptor::new("rule", "String", "The approvals that are needed: all, any, majority, or a number.")
        .default("\"all\"")
        .checked(|value| Rule::read(value).map(drop)),
    ORDER: Value = InputDescriptor::new("order", "String", "parallel: all are asked at once. serial: one after the other.")
        .default("\"parallel\"")
        .checked(|value| one_of(value, "order", &ORDERS))
        .choices(&ORDERS),
    NOT: Value = for_people::NOT,
    SUBJECT: NonEmpty = InputDescriptor::new("subject", "String", "What it is about, in a sentence.").needed(),
    DETAILS: Value = InputDescriptor::new("details", "Object", "Further data to read before voting."),
    FORM: Value = for_people::FORM,
    RESULT_SCHEMA: Value = for_people::RESULT_SCHEMA,
    PRIORITY: i64 = InputDescriptor::new("priority", "Int32", "Order of the tasks in lists; 0 by default."),
    ABSTAIN: bool = InputDescriptor::new("abstain", "Boolean", "Whether a vote may be neither yes nor no.").constant(),
    CHANGEABLE: bool = InputDescriptor::new("changeable", "Boolean", "Whether people can change their vote until the outcome."),
    SECRET_VOTES: bool = InputDescriptor::new(
        "secretVotes",
        "Boolean",
        "Whether the people who are asked see no votes of the others.",
    )
    .constant(),
    DEADLINE: Value = InputDescriptor::new(
        "deadline",
        "String",
        "By when it must be decided: a time, or an interval from the beginning. Then \"onDeadline\" decides.",
    )
    .checked(for_people::check_deadline),
    ON_DEADLINE: Value = InputDescriptor::new(
        "onDeadline",
        "String",
        "What happens at the deadline: expire, approve, reject, escalate (those in \"escalateTo\" are asked instead of those who have not voted, once), raise (the priority of the open votes becomes \"raiseTo\"), or event (\"deadlineEvent\" is published for each open vote).",
    )
    .default("\"expire\"")
    .checked(|value| one_of(value, "onDeadline", &AT_DEADLINE))
    .choices(&AT_DEADLINE),
    ESCALATE_TO: Value = InputDescriptor::new(
        "escalateTo",
        "Object",
        "Who is asked then, written like \"by\"; \"manager\": the managers of those who have not voted.",
    )
    .hint("json-editor")
    .checked(|value| voters::check(value, "escalateTo")),
    REASSIGNABLE: bool = for_people::REASSIGNABLE,
    RAISE_TO: Value = for_people::RAISE_TO,
    DEADLINE_EVENT: Value = for_people::DEADLINE_EVENT,
    NOTIFY: Value = for_people::NOTIFY,
    REMINDERS: Value = reminders::REMINDERS,
}

outputs! {
    RESULT = OutputDescriptor::new("result", "String", "The outcome: Approved, Rejected or Expired."),
    VOTES = OutputDescriptor::new(
        "votes",
        "Object",
        "The votes: each with its voter (\"as\"), who gave it (\"by\"), for whom as a substitute (\"for\"), when (\"at\"), what it says (\"vote\"), and the answer.",
    ),
    DECIDED_BY = OutputDescriptor::new("decidedBy", "String", "What decided: votes or deadline."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Workflow.Approve",
    category: "Primitives",
    description: "Asks people to approve something, each with a task, and completes as soon as their votes decide.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    outcomes: &["Approved", "Rejected", "Expired"],
    waits: WaitKind::ForVotes,
    example: r#"{"type": "Approve", "by": ["manager", "personnel"], "subject": {"js": "`${getInput('name')}: ${getInput('days')} days`"}, "result": {"var": "Decision"}}"#,
    ..Descriptor::BASE
};

impl Activity for Approve {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let mut approval = Approval::new(Rule::read(cx.peek(RULE))?, voters_of(cx, BY, "by")?)?;
        approval.is_serial = cx.choice(ORDER, &ORDERS)? == 1;
        approval.is_changeable = cx.get(CHANGEABLE)?;
        match AtDeadline::read(cx)? {
            AtDeadline::Expire | AtDeadline::Approve | AtDeadline::Reject => {}
            AtDeadline::Escalate if cx.peek(ESCALATE_TO).is_null() => {
                return Err(Fault::new("22023", "\"onDeadline\": \"escalate\" requires \"escalateTo\""));
            }
            AtDeadline::Escalate => {}
            AtDeadline::Raise => _ = for_people::raise_to(cx, RAISE_TO)?,
            AtDeadline::Event => _ = for_people::deadline_event(cx, DEADLINE_EVENT)?,
        }
        let deadline = for_people::deadline(cx, DEADLINE)?;
        begin(cx, &mut approval, deadline, Reason::Opened)
    }

    fn excluded(&self, inputs: &[Option<Expression>]) -> Result<Vec<Excluded>, Fault> {
        let mut excluded = Excluded::of_input(inputs.get(NOT.index).and_then(Option::as_ref))?;
        excluded.push(Excluded::OtherVoters);
        Ok(excluded)
    }

    fn is_reassignable(&self, inputs: &[Option<Expression>]) -> bool {
        for_people::is_true(inputs, REASSIGNABLE)
    }

    fn validate_answer(
        &self,
        inputs: &[Option<Expression>],
        answer: Option<&Value>,
    ) -> Result<Option<FailedAttempt>, Fault> {
        answers::choice(answer, for_people::is_true(inputs, ABSTAIN)).map(|_| None)
    }

    fn resumed(&self, cx: &mut Execution<'_>, bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        let mut approval = Approval::of(cx.memory()).cloned().ok_or_else(lost)?;
        match bookmark.name.as_str() {
            stimulus::DEADLINE => return deadline_passed(cx, &mut approval),
            stimulus::REMINDER if reminders::is_overtaken(cx, bookmark) => return Ok(()),
            stimulus::REMINDER => {
                let unanswered = approval.undecided().filter_map(|voter| voter.task);
                unanswered.for_each(|task| cx.notify(task, Reason::Reminded));
                return Ok(());
            }
            _ => {}
        }
        let vote = Vote {
            task: bookmark.id,
            // An answer that waited for its owner's session was accepted by the version of that moment.
            choice: answers::choice(input, true)?,
            by: cx.answerer(),
            in_place_of: cx.answered_for(bookmark.id),
            at: instant_text(cx.answered_at(bookmark.id)),
        };
        let voter = approval.asked_by(bookmark.id).ok_or_else(lost)?;
        (voter.task, voter.vote) = (None, Some(vote));
        go_on(cx, &mut approval, (bookmark.id, input))
    }
}

fn lost() -> Fault {
    Fault::new("XX001", "state of the approval does not exist")
}

/// The voters in one of the inputs.
fn voters_of(cx: &mut Execution<'_>, input: Input<Value>, what: &str) -> Result<Vec<String>, Fault> {
    let excluded = Excluded::read(cx.peek(NOT))?;
    let value = copy_or_null(cx.peek(input));
    voters::read(cx, &value, what, &excluded)
}

/// Asks the voters, and arms the deadline and the reminders.
fn begin(
    cx: &mut Execution<'_>,
    approval: &mut Approval,
    deadline: Option<DateTime<Utc>>,
    reason: Reason,
) -> Result<(), Fault> {
    approval.deadline = deadline.map(instant_text);
    let unreachable = unreachable_voters(cx, approval)?;
    let question = Question::read(cx, deadline)?;
    ask(cx, approval, &question, &unreachable, reason)?;
    reminders::arm(cx, REMINDERS, deadline, None)?;
    if approval.is_changeable {
        // Of an escalation: those who have voted can still change their votes.
        for voter in approval.voters.iter_mut().filter(|voter| voter.vote.is_some()) {
            voter.task = Some(question.open(cx, &voter.name)?);
        }
    }
    if let Some(at) = deadline {
        for_people::arm_deadline(cx, at, None)?;
    }
    cx.set_memory(approval.to_memory());
    Ok(())
}

/// The positions of the undecided voters who cannot vote any more.
///
/// # Errors
/// 55000 if the rule cannot be met without them.
fn unreachable_voters(cx: &mut Execution<'_>, approval: &Approval) -> Result<BTreeSet<usize>, Fault> {
    let node = cx.node();
    let unreachable = cx.unreachable_voters(approval, &Approve.excluded(&node.inputs)?);
    if approval.verdict(unreachable.len()) != Verdict::Impossible {
        return Ok(unreachable);
    }
    let names: Vec<&str> = unreachable.iter().map(|at| approval.voters[*at].name.as_str()).collect();
    Err(Fault::new("55000", format!("approval \"{}\" cannot be decided", node.id))
        .detail(format!("Nobody is left who could vote for: {}.", names.join(", ")))
        .hint("A person has one vote, and those in \"not\" have none. wf_retry asks everybody again; a migration to a version with other voters may have to come first."))
}

/// Opens the tasks of those who are to be asked now.
fn ask(
    cx: &mut Execution<'_>,
    approval: &mut Approval,
    question: &Question,
    unreachable: &BTreeSet<usize>,
    reason: Reason,
) -> Result<(), Fault> {
    let is_serial = approval.is_serial;
    for (at, voter) in approval.voters.iter_mut().enumerate().filter(|(_, voter)| voter.vote.is_none()) {
        if is_serial && unreachable.contains(&at) {
            continue;
        }
        if voter.task.is_none() {
            let task = question.open(cx, &voter.name)?;
            cx.notify(task, reason);
            voter.task = Some(task);
        }
        if is_serial {
            break;
        }
    }
    Ok(())
}

/// A task that this burst resumes, and its answer.
type Answer<'a> = (Uuid, Option<&'a Value>);

/// Continues after a vote.
fn go_on(cx: &mut Execution<'_>, approval: &mut Approval, given: Answer<'_>) -> Result<(), Fault> {
    if let Some(outcome) = outcome(approval) {
        return decide(cx, approval, outcome, VOTES_DECIDED, Some(given));
    }
    let unreachable = unreachable_voters(cx, approval)?;
    if approval.is_serial || approval.is_changeable {
        cx.evaluate_inputs()?;
        let deadline = approval.deadline.as_deref().map(|text| read_instant(text, cx.zone(None)?.as_ref()));
        let question = Question::read(cx, deadline.transpose()?.flatten())?;
        ask(cx, approval, &question, &unreachable, Reason::Opened)?;
        if approval.is_changeable {
            let gave = |voter: &&mut Voter| voter.vote.as_ref().is_some_and(|vote| vote.task == given.0);
            for voter in approval.voters.iter_mut().filter(gave) {
                voter.task = Some(question.open(cx, &voter.name)?);
            }
        }
    }
    cx.set_memory(approval.to_memory());
    Ok(())
}

/// The outcome, if the votes decide already.
fn outcome(approval: &Approval) -> Option<&'static str> {
    match approval.verdict(0) {
        Verdict::Approved => Some("Approved"),
        Verdict::Rejected => Some("Rejected"),
        Verdict::Open | Verdict::Impossible => None,
    }
}

/// Does what the author wants at the deadline.
fn deadline_passed(cx: &mut Execution<'_>, approval: &mut Approval) -> Result<(), Fault> {
    cx.evaluate_inputs()?;
    match AtDeadline::read(cx)? {
        AtDeadline::Approve => decide(cx, approval, "Approved", DEADLINE_DECIDED, None),
        AtDeadline::Reject => decide(cx, approval, "Rejected", DEADLINE_DECIDED, None),
        AtDeadline::Escalate if !approval.is_escalated => escalate(cx, approval),
        AtDeadline::Expire | AtDeadline::Escalate => decide(cx, approval, EXPIRED, DEADLINE_DECIDED, None),
        AtDeadline::Raise => {
            let priority = for_people::raise_to(cx, RAISE_TO)?;
            cx.raise_tasks(approval.open_tasks(), priority);
            Ok(())
        }
        AtDeadline::Event => {
            let event = for_people::deadline_event(cx, DEADLINE_EVENT)?;
            let unanswered = approval.undecided().filter_map(|voter| voter.task);
            unanswered.for_each(|task| cx.publish_due(task, event.clone()));
            Ok(())
        }
    }
}

/// Asks others in place of those who have not voted, unless the votes decide without those. They have as much time as
/// the first; after a deadline that was an instant they have any time. If the directory fails, the deadline passes again
/// an hour later.
fn escalate(cx: &mut Execution<'_>, approval: &mut Approval) -> Result<(), Fault> {
    let names = match for_people::is_manager(cx.peek(ESCALATE_TO)) {
        true => match managers(cx, approval)? {
            Managers::Known(names) => names,
            Managers::None => approval.undecided().map(|voter| voter.name.clone()).collect(),
            Managers::Later(at) => return for_people::arm_deadline(cx, at, None),
        },
        false => voters_of(cx, ESCALATE_TO, "escalateTo")?,
    };
    let before = approval.open_tasks();
    approval.replace_undecided(names)?;
    approval.voters.iter_mut().for_each(|voter| voter.task = None);
    if let Some(outcome) = outcome(approval) {
        cx.end_tasks(before, outcome);
        return decide(cx, approval, outcome, VOTES_DECIDED, None);
    }
    cx.end_tasks(before, "Escalated");
    cx.drop_bookmarks();
    let is_instant = is_date_time(to_text(cx.peek(DEADLINE)).trim());
    let deadline = if is_instant { None } else { for_people::deadline(cx, DEADLINE)? };
    begin(cx, approval, deadline, Reason::Escalated)
}

/// The managers of those who have not voted, unless they could not decide in their place: a directory must not make an
/// approval fault.
fn managers(cx: &mut Execution<'_>, approval: &Approval) -> Result<Managers, Fault> {
    let asked: Vec<String> = approval.undecided().map(|voter| voter.name.clone()).collect();
    let found = for_people::managers_of(cx, &asked)?;
    if let Managers::Known(names) = &found {
        let mut escalated = approval.clone();
        if escalated.replace_undecided(names.clone()).is_err() || unreachable_voters(cx, &escalated).is_err() {
            return Ok(Managers::None);
        }
    }
    Ok(found)
}

/// What the output `decidedBy` says.
const VOTES_DECIDED: &str = "votes";
const DEADLINE_DECIDED: &str = "deadline";

/// Ends the approval with an outcome. `given`: the vote that this burst carries out.
fn decide(
    cx: &mut Execution<'_>,
    approval: &Approval,
    outcome: &str,
    decided_by: &str,
    given: Option<Answer<'_>>,
) -> Result<(), Fault> {
    let mut votes = Vec::new();
    for voter in &approval.voters {
        let Some(vote) = &voter.vote else { continue };
        let answer = match given {
            Some((task, answer)) if task == vote.task => answer.map(copy_or_null),
            _ => cx.answer_to(vote.task),
        };
        let choice = vote.choice.name();
        let mut said = json!({"as": voter.name, "by": vote.by, "at": vote.at, "vote": choice, "answer": answer});
        if let Some(absent) = &vote.in_place_of {
            said["for"] = Value::from(absent.as_str());
        }
        votes.push(said);
    }
    cx.end_tasks(approval.open_tasks(), outcome);
    cx.set_output(VOTES, Value::Array(votes))?;
    cx.set_output(DECIDED_BY, decided_by.into())?;
    cx.set_output(RESULT, outcome.into())?;
    cx.complete_with(Outcomes::Named(vec![outcome.to_owned()]))
}

/// What the task of each voter says.
struct Question {
    name: String,
    payload: Map<String, Value>,
    priority: i32,
    form: Value,
    result_schema: Option<Value>,
    deadline: Option<DateTime<Utc>>,
    /// The execution, unless its votes are secret.
    approval: Option<u32>,
}

impl Question {
    /// Reads the inputs, which were evaluated.
    fn read(cx: &mut Execution<'_>, deadline: Option<DateTime<Utc>>) -> Result<Self, Fault> {
        let node = cx.node();
        let name = node.name.clone().unwrap_or_else(|| node.id.clone());
        check_indexed("task name", &name, MAX_INDEXED)?;
        let mut payload = Map::from_iter([("subject".to_owned(), Value::String(cx.get(SUBJECT)?))]);
        let details = cx.take(DETAILS);
        if !details.is_null() {
            payload.insert("details".to_owned(), details);
        }
        let mut priority = i32::try_from(cx.get(PRIORITY)?)
            .map_err(|_| Fault::new("22003", "input \"priority\" is out of range for an integer"))?;
        if deadline.is_some_and(|at| at <= cx.instant()) && AtDeadline::read(cx)? == AtDeadline::Raise {
            priority = priority.max(for_people::raise_to(cx, RAISE_TO)?);
        }
        let form = answers::form(for_people::form(cx.peek(FORM))?, for_people::is_true(&node.inputs, ABSTAIN));
        let result_schema = for_people::result_schema(cx.peek(RESULT_SCHEMA))?;
        let approval = match for_people::is_true(&node.inputs, SECRET_VOTES) {
            true => None,
            false => sequence_of(cx.instance_id(), cx.activity_instance_id()),
        };
        Ok(Self { name, payload, priority, form, result_schema, deadline, approval })
    }

    /// Opens the task of a voter.
    fn open(&self, cx: &mut Execution<'_>, voter: &str) -> Result<Uuid, Fault> {
        let id = cx.new_id();
        let payload = Some(stimulus::task_payload(id, &self.name));
        cx.create_bookmark(NewBookmark { id: Some(id), payload, is_task: true, ..NewBookmark::default() })?;
        let for_people = ForPeople {
            assignee: None,
            candidates: vec![voter.to_owned()],
            deadline: self.deadline,
            form: Some(copy_or_null(&self.form)),
            result_schema: self.result_schema.as_ref().map(copy_or_null),
            approval: self.approval,
        };
        let payload = Value::Object(self.payload.iter().map(|(k, v)| (k.clone(), copy_or_null(v))).collect());
        cx.create_task(id, self.name.clone(), Some(payload), self.priority, Some(Box::new(for_people)))?;
        Ok(id)
    }
}
