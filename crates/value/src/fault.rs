//! Failures: a [`Fault`] belongs to one activity and becomes an incident; an [`Error`] ends the whole call, and the
//! extension stores nothing.

use std::fmt;

/// The failure of one activity. Its fields are those of a PostgreSQL error; the extension adds what only it knows.
///
/// ```
/// use workflow_value::Fault;
///
/// let fault = Fault::new("22023", "input \"days\" must be positive").hint("Give at least 1.");
/// assert_eq!(fault.to_string(), "input \"days\" must be positive");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// Five-character SQLSTATE.
    pub sqlstate: String,
    /// What is wrong, as PostgreSQL's primary message: one line, no full stop.
    pub message: String,
    /// The facts, in sentences, as PostgreSQL's DETAIL. `None`: the message says all.
    pub detail: Option<String>,
    /// What the reader can do, in sentences, as PostgreSQL's HINT. `None`: the fault has no hint.
    pub hint: Option<String>,
    /// Where it happened: PL/pgSQL context, JavaScript stack.
    pub context: Option<String>,
    /// A keyword that identifies the fault for workflow authors; errors of PostgreSQL have none.
    pub code: Option<String>,
    /// Number under which the extension keeps the original error, to raise it unchanged.
    pub original: Option<u64>,
}

impl Fault {
    /// Makes a fault with a SQLSTATE and a message.
    pub fn new(sqlstate: &str, message: impl Into<String>) -> Self {
        Self { sqlstate: sqlstate.into(), message: message.into(), ..Self::default() }
    }

    /// The same fault with this DETAIL: the facts, in sentences.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same fault with this HINT: what to do, in sentences.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// SQLSTATE of an activity that timed out. PostgreSQL's 57014 cannot be used: it belongs to statements, and ends the
/// call.
pub const TIMED_OUT: &str = "WF002";

/// SQLSTATE of an activity whose task failed: a worker reported it, or its last lease expired.
pub const TASK_FAILED: &str = "WF001";

/// Whether an error with this SQLSTATE ends the call instead of becoming a fault of its activity: cancel, shutdown,
/// lack of resources, serialization failures and deadlocks, internal errors, and a lock not available.
pub fn is_never_a_fault(sqlstate: &str) -> bool {
    ["40", "53", "57", "58", "XX"].iter().any(|class| sqlstate.starts_with(class)) || sqlstate == "55P03"
}

/// Why a call cannot continue. The extension stores nothing of the burst.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The burst took more steps than allowed, for example in a loop that never waits. (54000)
    TooManySteps {
        /// The exceeded limit: `max_steps` of the limits.
        limit: u64,
        /// The activity of the next step.
        activity_id: String,
    },
    /// The stored state cannot be decoded: a later version wrote it, or it is damaged. (XX001)
    CorruptState(String),
    /// The activity named as trigger does not exist, or cannot start the workflow. (42704)
    UnknownTrigger(String),
    /// A retry named an activity that is not faulted in this instance. (42704)
    NotFaulted(String),
    /// A retry found no activity that is faulted. (55000)
    NothingFaulted,
    /// The same, while the instance is being compensated. (55000)
    IsEnding {
        /// Whether a call cancelled it. Otherwise it ended with a fault.
        is_cancelled: bool,
    },
    /// A fault has ended the run for good, so nothing can be retried. (55000)
    HasFailed {
        /// Whether its work was compensated.
        is_compensated: bool,
    },
    /// Alterations that cannot be applied, with the reasons. (the SQLSTATE of the first)
    NotAltered(Vec<Fault>),
    /// The execution of the bookmark is not open. This happens only if rows were changed manually. (XX001)
    LostActivity(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManySteps { limit, activity_id } => {
                write!(f, "more than {limit} steps in one burst, the next one at \"{activity_id}\"")
            }
            Self::CorruptState(reason) => write!(f, "the stored state cannot be read: {reason}"),
            Self::UnknownTrigger(activity) => write!(f, "activity \"{activity}\" is not a trigger of the definition"),
            Self::NotFaulted(activity) => write!(f, "activity \"{activity}\" is not faulted"),
            Self::NothingFaulted => f.write_str("nothing is faulted"),
            Self::IsEnding { .. } => f.write_str("the instance is being ended"),
            Self::HasFailed { .. } => f.write_str("a fault has ended the run for good"),
            Self::NotAltered(faults) => {
                let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
                write!(f, "not altered: {}", faults.join("; "))
            }
            Self::LostActivity(activity) => write!(f, "activity \"{activity}\" is not open"),
        }
    }
}

impl std::error::Error for Error {}

impl std::error::Error for Fault {}

/// Cuts a text for use in a message: one line, no control characters, at most `max` characters.
pub fn shorten(text: &str, max: usize) -> String {
    let mut short: String = text.chars().take(max).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(max).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn shortening_respects_characters() {
        assert_eq!(shorten("äöü", 2), "äö…");
        assert_eq!(shorten("a\0b\n", 10), "a b ");
    }
}
