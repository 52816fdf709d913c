//! Errors of calls, and what is certain about their transaction.

use std::error::Error as StdError;
use std::fmt;

use tokio_postgres::error::{DbError, Severity};

/// Why a call or a transaction did not succeed.
///
/// Programs decide by the SQLSTATE, never by the text of a message:
///
/// ```
/// use workflow_client::Error;
///
/// fn describe(error: &Error) -> &'static str {
///     match error {
///         Error::OutcomeUnknown(_) | Error::Value(_) => "it may have taken effect",
///         _ if error.sqlstate() == Some("23505") => "another instance of this order is running",
///         _ => "it has not taken effect",
///     }
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// PostgreSQL rejected a statement, and the transaction was rolled back.
    Database(Box<DatabaseError>),
    /// There is no connection, or it was lost before COMMIT was sent. Nothing has taken effect.
    Connection(Box<dyn StdError + Send + Sync>),
    /// The connection was lost after COMMIT was sent, and nothing shows whether the transaction was committed. The
    /// client repeats the calls for which repeating is harmless. They end like this only if no repetition shows what
    /// became of the first attempt.
    OutcomeUnknown(Box<dyn StdError + Send + Sync>),
    /// A value cannot be sent to the database or read from it. If the result of a call cannot be read, and
    /// [`Client::run`](crate::Client::run) ran it, it has taken effect.
    Value(Box<dyn StdError + Send + Sync>),
    /// The database lacks the extension, or has a version for which this client was not made. Only an administrator can
    /// change this.
    Unfit(String),
    /// The options of the client or of the worker are invalid, or the server does not meet them: for example, its
    /// certificate cannot be verified.
    Options(String),
    /// An error of the application's own, which [`Error::application`] carried out of a transaction.
    Application(Box<dyn StdError + Send + Sync>),
}

impl Error {
    /// Carries an error of the application out of a [transaction](crate::Client::transaction), which is rolled back.
    ///
    /// ```no_run
    /// # async fn example(client: workflow_client::Client, stock: i32) -> Result<(), workflow_client::Error> {
    /// use workflow_client::{Error, Start};
    ///
    /// client.transaction(async |tx| {
    ///     tx.run(Start::new("order")).await?;
    ///     if stock == 0 {
    ///         return Err(Error::application("out of stock"));
    ///     }
    ///     Ok(())
    /// }).await
    /// # }
    /// ```
    pub fn application(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Application(error.into())
    }

    /// The five characters of the SQLSTATE, if PostgreSQL reported the error. `docs/errors.md` explains them.
    ///
    /// ```
    /// let error = workflow_client::Error::application("out of stock");
    /// assert_eq!(error.sqlstate(), None);
    /// ```
    pub fn sqlstate(&self) -> Option<&str> {
        self.database().map(|error| error.sqlstate.as_str())
    }

    /// Everything that PostgreSQL said about the error, including DETAIL and HINT.
    ///
    /// ```
    /// # fn example(error: workflow_client::Error) {
    /// if let Some(hint) = error.database().and_then(|error| error.hint.as_deref()) {
    ///     eprintln!("{hint}");
    /// }
    /// # }
    /// ```
    pub fn database(&self) -> Option<&DatabaseError> {
        match self {
            Self::Database(error) => Some(error),
            Self::OutcomeUnknown(error) => {
                error.downcast_ref().or_else(|| error.downcast_ref::<Self>().and_then(Self::database))
            }
            _ => None,
        }
    }

    /// Whether the same transaction can succeed when it is repeated: it was rolled back because of a concurrent
    /// transaction (40001, 40P01, 55P03), or the connection was lost before COMMIT was sent.
    ///
    /// The client repeats such transactions itself, for as long as [`repeat_for`](crate::ConnectOptions::repeat_for)
    /// allows.
    ///
    /// ```
    /// assert!(!workflow_client::Error::application("out of stock").is_transient());
    /// ```
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connection(_) => true,
            Self::Database(error) => error.is_transient(),
            _ => false,
        }
    }

    /// An error of the driver. `is_lost` says whether the connection is closed.
    pub(crate) fn of_driver(error: tokio_postgres::Error, is_lost: bool) -> Self {
        match error.as_db_error() {
            Some(database) => Self::Database(Box::new(database.into())),
            None if is_lost || error.is_closed() || is_io(&error) => Self::Connection(error.into()),
            None => Self::Value(error.into()),
        }
    }

    /// An error of the driver before there is a session.
    pub(crate) fn of_connecting(error: tokio_postgres::Error) -> Self {
        if is_about_options(&error) {
            let text = Chain(&error).to_string();
            let hint = if text.ends_with("does not support TLS") { "; sslmode=prefer does without" } else { "" };
            return Self::Options(text + hint);
        }
        Self::of_driver(error, true)
    }

    /// The same error, if COMMIT may have been carried out before it. An error that PostgreSQL reported for COMMIT itself
    /// means a rollback, unless it ended the session: such a commit can be complete, and only its confirmation missing.
    pub(crate) fn after_commit_was_sent(self) -> Self {
        match self {
            Self::Connection(error) => Self::OutcomeUnknown(error),
            Self::Database(error) if error.is_fatal => Self::OutcomeUnknown(error),
            other => other,
        }
    }

    /// Whether the session in which it occurred has ended.
    pub(crate) fn ends_connection(&self) -> bool {
        match self {
            Self::Connection(_) | Self::OutcomeUnknown(_) => true,
            Self::Database(error) => error.is_fatal,
            _ => false,
        }
    }

    /// Whether the error says that the server is away, or that another transaction is in the way, whatever was sent to it.
    /// A session that was lost without a reason may have been ended by what was sent.
    pub(crate) fn will_pass(&self) -> bool {
        let is_without_session = match self {
            Self::Connection(_) | Self::Unfit(_) => true,
            Self::Database(error) => error.is_fatal,
            _ => false,
        };
        let is_passing = |error: &DatabaseError| error.is_transient() || error.sqlstate == "25006";
        is_without_session || self.database().is_some_and(is_passing)
    }

    /// Whether the error is about the server, its state or its resources, and not about what was sent. If an earlier
    /// attempt may have been committed, such an error does not show that it was rolled back.
    pub(crate) fn is_of_server(&self) -> bool {
        match self {
            Self::Connection(_) | Self::Unfit(_) => true,
            Self::Database(error) => error.is_of_server(),
            _ => false,
        }
    }
}

/// Whether an error while connecting is about the options or the server's set-up, so that it would come again: a missing
/// password, a server without TLS, or a certificate that cannot be verified.
pub(crate) fn is_about_options(error: &tokio_postgres::Error) -> bool {
    let Some(cause) = error.source() else { return false };
    match cause.downcast_ref::<std::io::Error>() {
        // The TLS library wraps its errors.
        Some(io) => {
            let tls = io.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
        }
        None => error.as_db_error().is_none(),
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    error.source().is_some_and(|source| source.is::<std::io::Error>())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => error.fmt(f),
            Self::Connection(error) => write!(f, "no connection to the database: {}", Chain(&**error)),
            Self::OutcomeUnknown(error) => {
                write!(f, "it is not known whether the transaction was committed: {}", Chain(&**error))
            }
            Self::Value(error) => write!(f, "a value cannot be converted: {}", Chain(&**error)),
            Self::Unfit(reason) => f.write_str(reason),
            Self::Options(problem) => write!(f, "invalid options: {problem}"),
            Self::Application(error) => error.fmt(f),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            // Its text is part of this error's text.
            Self::Application(error) => error.source(),
            _ => None,
        }
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::of_driver(error, false)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Value(error.into())
    }
}

/// An error that PostgreSQL reported.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) {
/// use workflow_client::Start;
///
/// if let Err(error) = client.run(Start::new("no such workflow")).await {
///     let database = error.database().expect("PostgreSQL rejects it");
///     assert_eq!(database.sqlstate, "42704");
///     eprintln!("{} ({:?})", database.message, database.hint);
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseError {
    /// `ERROR` or `FATAL`; `WARNING`, `NOTICE` or another one in what
    /// [`on_notice`](crate::ConnectOptions::on_notice) is called with.
    pub severity: String,
    /// The SQLSTATE: five characters.
    pub sqlstate: String,
    /// The message, for people. Its text may change with any release.
    pub message: String,
    /// DETAIL, for people.
    pub detail: Option<String>,
    /// HINT, for people.
    pub hint: Option<String>,
    /// CONTEXT: where in SQL or in a workflow the error occurred.
    pub context: Option<String>,
    /// The constraint that a row violates, if the error is about one.
    pub constraint: Option<String>,
    is_fatal: bool,
}

impl DatabaseError {
    /// Whether the same transaction can succeed when it is repeated. An error that ended the session is transient if the
    /// server was starting or stopping, had no free connection, or was asked to end it. Others, such as a wrong password,
    /// would come again.
    pub(crate) fn is_transient(&self) -> bool {
        let class = self.sqlstate.get(..2).unwrap_or_default();
        let is_conflict = ["40001", "40P01", "55P03"].contains(&&*self.sqlstate);
        is_conflict || (self.is_fatal && ["08", "53", "57"].contains(&class))
    }

    /// Read-only servers, resources, operators (also a timeout), the system, and internal errors.
    fn is_of_server(&self) -> bool {
        let class = self.sqlstate.get(..2).unwrap_or_default();
        self.is_fatal || self.sqlstate == "25006" || ["08", "53", "57", "58", "XX"].contains(&class)
    }

    #[cfg(test)]
    pub(crate) fn new(sqlstate: &str, is_fatal: bool) -> Self {
        let (detail, hint, context, constraint) = (None, None, None, None);
        let severity = if is_fatal { "FATAL" } else { "ERROR" }.to_owned();
        let (sqlstate, message) = (sqlstate.to_owned(), "a message".to_owned());
        Self { severity, sqlstate, message, detail, hint, context, constraint, is_fatal }
    }
}

impl From<&DbError> for DatabaseError {
    fn from(error: &DbError) -> Self {
        Self {
            severity: error.parsed_severity().map_or_else(|| error.severity().to_owned(), |known| known.to_string()),
            sqlstate: error.code().code().to_owned(),
            message: error.message().to_owned(),
            detail: error.detail().map(str::to_owned),
            hint: error.hint().map(str::to_owned),
            context: error.where_().map(str::to_owned),
            constraint: error.constraint().map(str::to_owned),
            is_fatal: match error.parsed_severity() {
                Some(severity) => matches!(severity, Severity::Fatal | Severity::Panic),
                // Some poolers send only the text, which is that of PostgreSQL in English.
                None => ["FATAL", "PANIC"].contains(&error.severity()),
            },
        }
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (SQLSTATE {})", self.message, self.sqlstate)?;
        self.detail.iter().try_for_each(|detail| write!(f, "; DETAIL: {detail}"))?;
        self.hint.iter().try_for_each(|hint| write!(f, "; HINT: {hint}"))
    }
}

impl StdError for DatabaseError {}

/// An error with its causes in one line: the driver's own text names only the kind of error.
struct Chain<'a>(&'a (dyn StdError + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(sqlstate: &str, is_fatal: bool) -> Error {
        Error::Database(Box::new(DatabaseError::new(sqlstate, is_fatal)))
    }

    #[test]
    fn errors_that_what_was_sent_may_cause_do_not_pass_by_themselves() {
        for (sqlstate, is_fatal) in
            [("40001", false), ("55P03", false), ("25006", false), ("57P01", true), ("28P01", true)]
        {
            assert!(database(sqlstate, is_fatal).will_pass(), "{sqlstate}");
        }
        for sqlstate in ["57014", "53200", "58030", "XX000"] {
            assert!(!database(sqlstate, false).will_pass(), "{sqlstate}");
        }
        // The session was lost after the statement had been sent.
        assert!(database("57P01", true).after_commit_was_sent().will_pass());
        assert!(!database("25P04", true).after_commit_was_sent().will_pass());
        assert!(!Error::Connection("closed".into()).after_commit_was_sent().will_pass());
        assert!(Error::Connection("refused".into()).will_pass());
    }

    #[test]
    fn conflicts_and_lost_sessions_are_transient() {
        for sqlstate in ["40001", "40P01", "55P03"] {
            assert!(database(sqlstate, false).is_transient(), "{sqlstate}");
        }
        for sqlstate in ["08P01", "53300", "57P01", "57P03"] {
            assert!(database(sqlstate, true).is_transient(), "{sqlstate}");
        }
        // SQL of a workflow can raise the last two.
        for sqlstate in ["23505", "42501", "55000", "55006", "57014", "53400", "XX001", "WF001", "08006", "57P01"] {
            assert!(!database(sqlstate, false).is_transient(), "{sqlstate}");
        }
        for sqlstate in ["28P01", "3D000", "25P03"] {
            assert!(!database(sqlstate, true).is_transient(), "{sqlstate}");
        }
        assert!(Error::Connection("closed".into()).is_transient());
        assert!(!Error::OutcomeUnknown("closed".into()).is_transient());
        assert!(!Error::application("out of stock").is_transient());
    }

    #[test]
    fn a_rejected_commit_is_a_rollback_and_a_lost_one_is_unknown() {
        assert!(matches!(database("40001", false).after_commit_was_sent(), Error::Database(_)));
        assert!(matches!(database("23505", false).after_commit_was_sent(), Error::Database(_)));
        assert!(matches!(Error::Connection("closed".into()).after_commit_was_sent(), Error::OutcomeUnknown(_)));
        // The session was ended while COMMIT waited for a standby.
        let ended = database("57P01", true).after_commit_was_sent();
        assert!(matches!(ended, Error::OutcomeUnknown(_)) && ended.sqlstate() == Some("57P01"), "{ended:?}");
    }

    #[test]
    fn the_text_of_an_error_has_detail_and_hint() {
        let mut error = DatabaseError::new("55000", false);
        error.detail = Some("A detail.".into());
        error.hint = Some("A hint.".into());
        let error = Error::Database(Box::new(error));
        assert_eq!(error.to_string(), "a message (SQLSTATE 55000); DETAIL: A detail.; HINT: A hint.");
    }
}
