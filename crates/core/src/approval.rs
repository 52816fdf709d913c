//! Approvals: who is asked, what they have answered, and what follows from it.
//!
//! An open approval is the memory of an execution of the activity `Approve`. Each vote has a task of its own.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::activity::WaitKind;
use crate::instance::{Instance, Memory};
use crate::program::Program;
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::{Bounds, to_text};

mod matching;

pub use matching::unmatched;

/// What the list of votes has of each beside the answer: values and names, and bytes of text.
const VOTE_NODES: usize = 12;
const VOTE_TEXT: usize = 128;

/// The votes that are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rule {
    /// Every vote approves, except those that abstain; at least one approves.
    All,
    /// More than half of the votes approve, not counting those that abstain.
    Majority,
    /// At least this number of votes approve.
    AtLeast(u32),
}

impl Rule {
    /// Reads a rule: `all`, `any`, `majority` or a number; null is `all`.
    ///
    /// # Errors
    /// 22023 if it is none of these.
    pub fn read(value: &Value) -> Result<Self, Fault> {
        let text = to_text(value);
        let text = text.trim();
        match text.to_ascii_lowercase().as_str() {
            "" | "all" => return Ok(Self::All),
            "any" => return Ok(Self::AtLeast(1)),
            "majority" => return Ok(Self::Majority),
            _ => {}
        }
        text.parse().ok().filter(|count| *count > 0).map(Self::AtLeast).ok_or_else(|| {
            let text = shorten(text, 60);
            Fault::new("22023", format!("\"rule\" must be all, any, majority or a positive number, not \"{text}\""))
        })
    }
}

/// What one person has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// Yes.
    Approved,
    /// No.
    Rejected,
    /// Neither, where the approval allows that.
    Abstained,
}

impl Choice {
    /// Its name in the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approved => "Approved",
            Self::Rejected => "Rejected",
            Self::Abstained => "Abstained",
        }
    }
}

/// A vote that was given. The answer is that of its task: the memory would grow with all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// The task that it answered.
    pub task: Uuid,
    /// What it says.
    pub choice: Choice,
    /// Who gave it: the actor, otherwise `role:` and the name of the role.
    pub by: Option<String>,
    /// The absent person in whose place a substitute gave it, in the same form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<String>,
    /// When, as a text with the offset.
    pub at: String,
}

/// One of those who are asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Voter {
    /// `role:NAME`, or a name that the application knows: of a person, or of a group.
    pub name: String,
    /// The open task, if it was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Uuid>,
    /// The vote in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<Vote>,
}

impl Voter {
    fn new(name: String) -> Self {
        Self { name, task: None, vote: None }
    }
}

/// An open approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// The votes that are needed.
    pub rule: Rule,
    /// Whether the voters are asked one after the other.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_serial: bool,
    /// Whether a vote can be replaced until the outcome.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_changeable: bool,
    /// Everyone who is asked, in the author's order.
    pub voters: Vec<Voter>,
    /// The deadline that the tasks show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Whether the deadline has passed once, and others were asked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_escalated: bool,
}

/// How serde asks whether a member is left out.
fn is_false(value: &bool) -> bool {
    !value
}

/// What the votes decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Further votes decide.
    Open,
    /// The rule is met, whatever follows.
    Approved,
    /// The rule cannot be met any more.
    Rejected,
    /// The rule cannot be met because some voters cannot vote any more.
    Impossible,
}

impl Approval {
    /// An approval that has asked nobody yet.
    ///
    /// # Errors
    /// 22023 if there are fewer voters than the rule needs votes.
    pub fn new(rule: Rule, voters: Vec<String>) -> Result<Self, Fault> {
        if let Rule::AtLeast(needed) = rule
            && voters.len() < needed as usize
        {
            let there = voters.len();
            return Err(Fault::new("22023", format!("\"rule\" needs {needed} votes, and \"by\" has {there}")));
        }
        let voters = voters.into_iter().map(Voter::new).collect();
        Ok(Self { rule, is_serial: false, is_changeable: false, voters, deadline: None, is_escalated: false })
    }

    /// The approval in the memory of an execution; `None`: there is none.
    pub fn of(memory: &Memory) -> Option<&Self> {
        match memory {
            Memory::Approval(approval) => Some(approval),
            _ => None,
        }
    }

    /// The memory of its execution.
    pub fn to_memory(&self) -> Memory {
        Memory::Approval(Box::new(self.clone()))
    }

    /// The open approval of an instance to which a task belongs, if it is a vote.
    pub fn of_task<'a>(program: &Program, instance: &'a Instance, task: Uuid) -> Option<&'a Self> {
        let is_approval = |node| program.node(node).activity.descriptor().waits == WaitKind::ForVotes;
        let contexts = instance.state.contexts.values().filter(|context| is_approval(context.node));
        contexts.filter_map(|context| Self::of(&context.memory)).find(|found| found.open_tasks().contains(&task))
    }

    /// Refuses an answer with which the list of all votes could become too large: then nobody could decide.
    ///
    /// # Errors
    /// 54000 and 54001, as for any value that is too large.
    pub fn check_answer(&self, answer: &Value) -> Result<(), Fault> {
        // After a deadline there may be twice as many voters.
        let shares = 2 * self.voters.len().max(1);
        let bounds = Bounds::current();
        let nodes = (bounds.nodes / shares).saturating_sub(VOTE_NODES);
        let body = (bounds.body / shares).saturating_sub(VOTE_TEXT);
        Bounds { nodes, body, ..bounds }.check(answer)
    }

    /// The voter whose open task this is.
    pub fn asked_by(&mut self, task: Uuid) -> Option<&mut Voter> {
        self.voters.iter_mut().find(|voter| voter.task == Some(task))
    }

    /// The tasks of the other voters than the one with this open task, answered or not.
    pub fn tasks_of_others(&self, task: Uuid) -> Vec<Uuid> {
        let others = self.voters.iter().filter(|voter| voter.task != Some(task));
        others.flat_map(|voter| voter.vote.iter().map(|vote| vote.task).chain(voter.task)).collect()
    }

    /// The tasks of the votes in force that others have given than the voter with this open task.
    pub fn votes_of_others(&self, task: Uuid) -> Vec<Uuid> {
        let others = self.voters.iter().filter(|voter| voter.task != Some(task));
        others.filter_map(|voter| Some(voter.vote.as_ref()?.task)).collect()
    }

    /// The task of the vote that an answer to this open task replaces.
    pub fn replaced_by(&self, task: Uuid) -> Option<Uuid> {
        let voter = self.voters.iter().find(|voter| voter.task == Some(task))?;
        voter.vote.as_ref().map(|vote| vote.task)
    }

    /// The tasks that are open.
    pub fn open_tasks(&self) -> Vec<Uuid> {
        self.voters.iter().filter_map(|voter| voter.task).collect()
    }

    /// The voters who have not voted.
    pub fn undecided(&self) -> impl Iterator<Item = &Voter> {
        self.voters.iter().filter(|voter| voter.vote.is_none())
    }

    /// Replaces the voters who have not voted by others. A person who has voted gets no second vote.
    ///
    /// # Errors
    /// 22023 if all of them have voted, or if there are then fewer voters than the rule needs votes.
    pub fn replace_undecided(&mut self, mut names: Vec<String>) -> Result<(), Fault> {
        self.voters.retain(|voter| voter.vote.is_some());
        let has_voted = |name: &String| self.voters.iter().any(|voter| is_by(voter, name));
        names.retain(|name| !has_voted(name));
        if names.is_empty() {
            return Err(Fault::new("22023", "everybody in \"escalateTo\" has voted already"));
        }
        self.voters.extend(names.into_iter().map(Voter::new));
        self.is_escalated = true;
        match self.rule {
            Rule::AtLeast(needed) if self.voters.len() < needed as usize => {
                Err(Fault::new("22023", "\"escalateTo\" has fewer voters than \"rule\" needs"))
            }
            _ => Ok(()),
        }
    }

    /// What the votes decide if this number of the undecided voters cannot vote any more.
    pub fn verdict(&self, unreachable: usize) -> Verdict {
        let count = |choice| self.voters.iter().filter(|voter| chose(voter, choice)).count();
        let (approved, rejected, abstained) =
            (count(Choice::Approved), count(Choice::Rejected), count(Choice::Abstained));
        let undecided = self.undecided().count();
        let can_vote = undecided.saturating_sub(unreachable);
        // What is met with this number of approvals, whatever the others say.
        let is_met = |approvals: usize| match self.rule {
            Rule::All => undecided == 0 && rejected == 0 && approvals > 0,
            Rule::Majority => 2 * approvals > self.voters.len() - abstained,
            Rule::AtLeast(needed) => approvals >= needed as usize,
        };
        let can_be_met = |more: usize| match self.rule {
            Rule::All => rejected == 0 && more == undecided && approved + more > 0,
            _ => is_met(approved + more),
        };
        match () {
            () if is_met(approved) => Verdict::Approved,
            () if !can_be_met(undecided) => Verdict::Rejected,
            () if !can_be_met(can_vote) => Verdict::Impossible,
            () => Verdict::Open,
        }
    }
}

/// How an approval is stored: as the text of its JSON, without what is usual, so that later versions can add members.
pub(crate) mod as_text {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Approval;

    pub fn serialize<S: Serializer>(approval: &Approval, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&serde_json::to_vec(approval).map_err(S::Error::custom)?)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<Approval>, D::Error> {
        serde_json::from_slice(<&'de [u8]>::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Whether a person has given the vote in force.
fn is_by(voter: &Voter, person: &str) -> bool {
    voter.vote.as_ref().is_some_and(|vote| vote.by.as_deref() == Some(person))
}

fn chose(voter: &Voter, choice: Choice) -> bool {
    voter.vote.as_ref().is_some_and(|vote| vote.choice == choice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// An approval with these votes: `y`, `n`, `a` (abstained) and `.` (none).
    fn with(rule: Value, votes: &str) -> Approval {
        let names = votes.chars().map(|_| "role:clerks".to_owned()).collect();
        let mut approval = Approval::new(Rule::read(&rule).expect("a rule"), names).expect("enough voters");
        for (voter, vote) in approval.voters.iter_mut().zip(votes.chars()) {
            let choice = match vote {
                'y' => Choice::Approved,
                'n' => Choice::Rejected,
                'a' => Choice::Abstained,
                _ => continue,
            };
            voter.vote = Some(Vote { task: Uuid::nil(), choice, by: None, in_place_of: None, at: String::new() });
        }
        approval
    }

    #[test]
    fn a_rule_decides_as_soon_as_nothing_can_change_the_outcome() {
        use Verdict::{Approved, Open, Rejected};
        for (rule, votes, expected) in [
            (json!("all"), "y.", Open),
            (json!("all"), "yy", Approved),
            (json!("all"), "n.", Rejected),
            (json!("all"), "ya", Approved),
            (json!("all"), "a.", Open),
            (json!("all"), "aa", Rejected),
            (json!(null), ".", Open),
            (json!("any"), "y.", Approved),
            (json!("any"), "n.", Open),
            (json!("any"), "na", Rejected),
            (json!(2), "yy.", Approved),
            (json!(2), "y..", Open),
            (json!(2), "nn.", Rejected),
            (json!("2"), "yn.", Open),
            (json!("majority"), "yy.", Approved),
            (json!("majority"), "yn.", Open),
            (json!("majority"), "yn", Rejected),
            (json!("majority"), "yna", Rejected),
            (json!("majority"), "ya", Approved),
            (json!("majority"), "y.", Open),
            (json!("majority"), "aa", Rejected),
            (json!("Majority"), "yyn..", Open),
            (json!("majority"), "nn.", Rejected),
            (json!("majority"), "n.", Rejected),
            (json!("majority"), "yaa..", Open),
        ] {
            assert_eq!(with(rule.clone(), votes).verdict(0), expected, "{rule} {votes}");
        }
    }

    #[test]
    fn voters_who_cannot_answer_make_a_rule_impossible_and_never_reject() {
        use Verdict::{Approved, Impossible, Open, Rejected};
        for (rule, votes, unreachable, expected) in [
            (json!("all"), "y.", 1, Impossible),
            (json!("all"), "n.", 1, Rejected),
            (json!("any"), "n..", 1, Open),
            (json!("any"), "n.", 1, Impossible),
            (json!("any"), "y.", 1, Approved),
            (json!(2), "n..", 1, Impossible),
            (json!(2), "nn.", 1, Rejected),
            (json!("majority"), "y..", 1, Open),
            (json!("majority"), "y..", 2, Impossible),
            (json!("majority"), "nn.", 1, Rejected),
        ] {
            assert_eq!(with(rule.clone(), votes).verdict(unreachable), expected, "{rule} {votes} {unreachable}");
        }
    }

    #[test]
    fn a_memory_keeps_everything() {
        let mut approval = with(json!(2), "y..");
        (approval.is_serial, approval.is_changeable, approval.deadline) = (true, true, Some("2030-01-01".to_owned()));
        approval.voters[1].task = Some(Uuid::from_u128(7));
        let stored = |approval: &Approval| postcard::to_stdvec(&approval.to_memory()).expect("writable");
        let read = |bytes: &[u8]| postcard::from_bytes::<Memory>(bytes).expect("readable");
        assert_eq!(Approval::of(&read(&stored(&approval))), Some(&approval));
        let usual = with(json!("all"), ".");
        let bytes = stored(&usual);
        assert!(bytes.ends_with(br#"{"rule":"All","voters":[{"name":"role:clerks"}]}"#), "{bytes:?}");
        assert_eq!(Approval::of(&read(&bytes)), Some(&usual));
        assert_eq!(Approval::of(&Memory::None), None);
        assert!(postcard::from_bytes::<Memory>(&bytes[..bytes.len() - 1]).is_err());
    }

    #[test]
    fn an_answer_is_refused_if_as_many_as_there_are_voters_could_be_too_much() {
        let bounds = Bounds { nodes: 100, body: 2048, ..Bounds::default() };
        let list = |items: usize| json!({"approved": true, "list": vec![0; items]});
        bounds.apply();
        let (two, eight) = (with(json!("all"), ".."), with(json!("all"), "........"));
        let (fits, too_many) = (two.check_answer(&list(8)), two.check_answer(&list(9)));
        let (text, of_eight) = (two.check_answer(&json!("x".repeat(800))), eight.check_answer(&json!(true)));
        Bounds::default().apply();
        assert_eq!((fits, of_eight.map_err(|fault| fault.sqlstate)), (Ok(()), Err("54000".into())));
        assert_eq!(too_many.expect_err("too many values").message, "JSON value has too many elements");
        assert_eq!(text.expect_err("too much text").message, "value is too large");
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for (value, shown) in [(json!(0), "0"), (json!(-1), "-1"), (json!("most"), "most"), (json!(1.5), "1.5")] {
            let fault = Rule::read(&value).expect_err("no rule");
            assert_eq!((fault.sqlstate.as_str(), fault.message.contains(shown)), ("22023", true), "{}", fault.message);
        }
        let fault = Approval::new(Rule::AtLeast(3), vec!["a".to_owned(), "b".to_owned()]).expect_err("too few");
        assert_eq!(fault.message, "\"rule\" needs 3 votes, and \"by\" has 2");
    }
}
