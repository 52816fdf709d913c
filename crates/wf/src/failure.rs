//! Why a command ends with an exit code other than 0.

use std::fmt;

use workflow_client::Error;

#[derive(Debug)]
pub enum Failure {
    /// What people read on standard error.
    Message(String),
    /// An error of the database or of the way to it.
    Database(Box<Error>),
    /// The output has already said what is wrong.
    Reported,
    /// Standard output was closed.
    OutputClosed,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Database(Box::new(error))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Message(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Message(error.to_string())
    }
}

/// An error of PostgreSQL as psql shows it: SQLSTATE, DETAIL and HINT have lines of their own.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(message) => f.write_str(message),
            Self::Database(error) => match error.database() {
                Some(database) => {
                    if matches!(**error, Error::OutcomeUnknown(_)) {
                        f.write_str("it is not known whether the transaction was committed: ")?;
                    }
                    write!(f, "{}\nSQLSTATE: {}", database.message, database.sqlstate)?;
                    database.detail.iter().try_for_each(|detail| write!(f, "\nDETAIL: {detail}"))?;
                    database.hint.iter().try_for_each(|hint| write!(f, "\nHINT: {hint}"))
                }
                None => error.fmt(f),
            },
            Self::Reported | Self::OutputClosed => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_outcome_is_said() {
        let failure = Failure::from(Error::OutcomeUnknown("closed".into()));
        assert!(failure.to_string().contains("not known whether the transaction was committed"), "{failure}");
    }
}
