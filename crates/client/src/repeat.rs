//! Which transactions are repeated, how often, and after which delay.

use std::time::Duration;

use rand::Rng as _;
use tokio::time::Instant;

use crate::error::Error;

/// The delay before the first repetition. It doubles up to `LONGEST`.
const SHORTEST: Duration = Duration::from_millis(20);
/// The longest delay, if nothing else is said.
const LONGEST: Duration = Duration::from_secs(1);

/// When a call may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Also after a COMMIT whose answer was lost: a repeated call returns what the first one returned, and has no further
    /// effect. True of reads, and of calls that a token, an id or a message identifies.
    Always,
    /// Only if the transaction was rolled back.
    IfRolledBack,
}

impl Repeat {
    fn allows(self, error: &Error) -> bool {
        error.is_transient() || (self == Self::Always && matches!(error, Error::OutcomeUnknown(_)))
    }
}

/// The repetitions of one transaction.
pub(crate) struct Repetitions {
    repeat: Repeat,
    /// `None`: for ever.
    until: Option<Instant>,
    backoff: Backoff,
    /// Whether an earlier attempt may have been committed.
    pub may_be_done: bool,
}

impl Repetitions {
    pub fn new(repeat: Repeat, repeat_for: Duration) -> Self {
        let until = Instant::now().checked_add(repeat_for);
        Self { repeat, until, backoff: Backoff::default(), may_be_done: false }
    }

    /// Waits before another attempt, or returns the error that the caller gets.
    pub async fn after(&mut self, error: Error) -> Result<(), Error> {
        let delay = self.backoff.next();
        if !self.repeat.allows(&error) || self.until.is_some_and(|until| Instant::now() + delay > until) {
            // An earlier attempt may be committed although the last one was rolled back.
            let is_unknown = self.may_be_done && (error.is_transient() || error.is_of_server());
            return Err(if is_unknown { Error::OutcomeUnknown(error.into()) } else { error });
        }
        self.may_be_done |= matches!(error, Error::OutcomeUnknown(_));
        tracing::debug!(%error, ?delay, "repeating a transaction");
        tokio::time::sleep(delay).await;
        Ok(())
    }
}

/// Delays that double, with jitter, so that transactions that met once do not meet again.
#[derive(Debug)]
pub(crate) struct Backoff {
    failures: u32,
    longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self::up_to(LONGEST)
    }
}

impl Backoff {
    pub fn up_to(longest: Duration) -> Self {
        Self { failures: 0, longest }
    }

    /// The delay after one more failure: between half of a step and the whole of it.
    pub fn next(&mut self) -> Duration {
        let step = SHORTEST.saturating_mul(1 << self.failures.min(16)).min(self.longest);
        self.failures += 1;
        step.mul_f64(rand::rng().random_range(0.5..=1.0))
    }

    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::DatabaseError;

    fn database(sqlstate: &str) -> Error {
        Error::Database(Box::new(DatabaseError::new(sqlstate, false)))
    }

    fn unknown() -> Error {
        Error::OutcomeUnknown("closed".into())
    }

    #[tokio::test(start_paused = true)]
    async fn a_conflict_is_repeated_until_the_time_is_over() {
        let mut repetitions = Repetitions::new(Repeat::IfRolledBack, Duration::from_secs(5));
        let mut attempts = 1;
        let error = loop {
            match repetitions.after(database("40001")).await {
                Ok(()) => attempts += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error.sqlstate(), Some("40001"));
        // 20 + 40 + … + 640 ms are 1.26 s at most, and the rest is a second each at most.
        assert!((9..=16).contains(&attempts), "{attempts}");
    }

    #[tokio::test(start_paused = true)]
    async fn only_harmless_calls_are_repeated_after_a_lost_commit() {
        let time = Duration::from_secs(5);
        let returned = Repetitions::new(Repeat::IfRolledBack, time).after(unknown()).await;
        assert!(matches!(returned, Err(Error::OutcomeUnknown(_))));
        Repetitions::new(Repeat::Always, time).after(unknown()).await.expect("another attempt");
        let returned = Repetitions::new(Repeat::Always, time).after(database("42501")).await;
        assert_eq!(returned.expect_err("no other attempt").sqlstate(), Some("42501"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_commit_stays_unknown_if_no_later_attempt_succeeds() {
        let mut repetitions = Repetitions::new(Repeat::Always, Duration::from_millis(100));
        repetitions.after(unknown()).await.expect("another attempt");
        let error = loop {
            if let Err(error) = repetitions.after(Error::Connection("refused".into())).await {
                break error;
            }
        };
        assert!(matches!(error, Error::OutcomeUnknown(_)), "{error:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_of_the_server_does_not_show_what_became_of_a_lost_commit() {
        let after_a_lost_commit = async |error| {
            let mut repetitions = Repetitions::new(Repeat::Always, Duration::from_secs(5));
            repetitions.after(unknown()).await.expect("another attempt");
            repetitions.after(error).await.expect_err("no other attempt")
        };
        for sqlstate in ["57014", "53200", "25006", "XX000"] {
            let error = after_a_lost_commit(database(sqlstate)).await;
            assert!(matches!(error, Error::OutcomeUnknown(_)) && error.sqlstate() == Some(sqlstate), "{error:?}");
        }
        let error = after_a_lost_commit(Error::Unfit("no extension".into())).await;
        assert!(matches!(error, Error::OutcomeUnknown(_)), "{error:?}");
        // If the first attempt had been committed, the same call would have succeeded again.
        let error = after_a_lost_commit(database("42704")).await;
        assert!(matches!(error, Error::Database(_)), "{error:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_can_be_endless() {
        let mut repetitions = Repetitions::new(Repeat::IfRolledBack, Duration::MAX);
        repetitions.after(database("40001")).await.expect("another attempt");
    }

    #[tokio::test(start_paused = true)]
    async fn without_time_nothing_is_repeated() {
        let returned = Repetitions::new(Repeat::Always, Duration::ZERO).after(database("40P01")).await;
        assert_eq!(returned.expect_err("no other attempt").sqlstate(), Some("40P01"));
    }

    #[test]
    fn delays_double_up_to_a_second() {
        let mut backoff = Backoff::default();
        let delays: Vec<_> = (0..20).map(|_| backoff.next()).collect();
        assert!(delays[0] >= SHORTEST / 2 && delays[0] <= SHORTEST, "{delays:?}");
        assert!(delays[19] >= LONGEST / 2 && delays[19] <= LONGEST, "{delays:?}");
        backoff.reset();
        assert!(backoff.next() <= SHORTEST);
    }
}
