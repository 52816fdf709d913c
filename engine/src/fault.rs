//! What can go wrong: a [`Fault`] belongs to one activity and becomes an incident; an [`Error`] ends
//! the whole call, and nothing of it is kept.

use std::fmt;

/// The failure of one activity. All fields are PostgreSQL's; the shell adds what only it knows.
///
/// ```
/// use workflow_engine::Fault;
///
/// let fault = Fault::new("22023", "input \"days\" must be positive").hint("Give at least 1.");
/// assert_eq!(fault.to_string(), "input \"days\" must be positive");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// Five-character SQLSTATE.
    pub sqlstate: String,
    /// Primary message.
    pub message: String,
    /// Detail.
    pub detail: Option<String>,
    /// Hint.
    pub hint: Option<String>,
    /// Where it happened: PL/pgSQL context, JavaScript stack.
    pub context: Option<String>,
    /// Number under which the shell keeps the original error, to raise it unchanged.
    pub original: Option<u64>,
}

impl Fault {
    /// Makes a fault with a SQLSTATE and a message.
    pub fn new(sqlstate: &str, message: impl Into<String>) -> Self {
        Self { sqlstate: sqlstate.into(), message: message.into(), ..Self::default() }
    }

    /// Adds a DETAIL.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds a HINT.
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

/// Why a call cannot go on at all. Nothing of the burst is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The burst took more steps than allowed: a loop that never waits. (54000)
    TooManySteps {
        /// The limit.
        limit: u64,
        /// Activity that would have been next.
        activity_id: String,
    },
    /// The stored state cannot be read: written by a later version, or damaged. (XX001)
    CorruptState(String),
    /// The activity named as trigger does not exist, or is no trigger. (42704)
    UnknownTrigger(String),
    /// A retry named an activity that is not faulted here. (42704)
    NotFaulted(String),
    /// The bookmark's activity is no longer part of the instance; cannot happen unless rows were changed by hand. (XX001)
    LostActivity(String),
}

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
