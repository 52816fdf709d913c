//! The progress of an action on many objects, which takes several requests. It is kept in the address: a page that is
//! loaded again shows it, and does nothing.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use uuid::Uuid;

use super::counted;
use crate::failure::Failure;
use crate::pages::typed::Typed;

/// Objects that one request takes at most. It ends earlier when a third of the time of a request has passed.
pub const BATCH: usize = 500;
/// Objects that a dry run examines at most.
pub const EXAMINED: usize = 1000;

/// How far an action on many objects is. It takes them in the order of their ids, each in a transaction of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The last object that was taken.
    pub after: Option<Uuid>,
    done: u32,
    /// What succeeded, and has not settled the matter yet.
    unsettled: u32,
    failed: u32,
    /// The SQLSTATE of the last failure.
    code: String,
}

impl Progress {
    /// The progress in a query string or a form. What is no number counts as 0.
    pub fn of(typed: &Typed) -> Self {
        let number = |name: &str| typed.one(name).parse().unwrap_or_default();
        let code = typed.one("code");
        let is_code = code.len() == 5 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        Self {
            after: typed.one("after").parse().ok(),
            done: number("done"),
            unsettled: number("unsettled"),
            failed: number("failed"),
            code: if is_code { code.to_owned() } else { String::new() },
        }
    }

    /// The pairs of an address or a form with this progress; those without a value are empty.
    pub fn pairs(&self) -> [(&'static str, String); 5] {
        let number = |number: u32| if number == 0 { String::new() } else { number.to_string() };
        [
            ("after", self.after.map_or_else(String::new, |id| id.to_string())),
            ("done", number(self.done)),
            ("unsettled", number(self.unsettled)),
            ("failed", number(self.failed)),
            ("code", self.code.clone()),
        ]
    }

    /// Leads to the page with this progress. `address` makes the address of the page with further pairs.
    pub fn redirect(&self, address: impl FnOnce(&[(&str, &str)]) -> String) -> Response {
        let pairs = self.pairs();
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Redirect::to(&address(&pairs)).into_response()
    }

    /// Whether nothing was taken yet.
    pub fn is_new(&self) -> bool {
        self.after.is_none()
    }

    /// Records what came of an object: whether it is settled, or a failure.
    ///
    /// # Errors
    /// The failure, if it would be that of all further objects: the database is not there, or the session has ended. An
    /// object that took too long has failed itself, so that it does not keep those after it.
    pub fn record(&mut self, id: Uuid, outcome: Result<bool, Failure>) -> Result<(), Failure> {
        let number = match outcome {
            Ok(true) => &mut self.done,
            Ok(false) => &mut self.unsettled,
            Err(failure) if is_of_all(&failure) => return Err(failure),
            Err(failure) => {
                self.code = failure.code.unwrap_or_default();
                &mut self.failed
            }
        };
        *number = number.saturating_add(1);
        self.after = Some(id);
        Ok(())
    }

    /// The numbers, for templates; `None` for 0.
    pub fn done(&self) -> Option<String> {
        shown(self.done)
    }

    pub fn unsettled(&self) -> Option<String> {
        shown(self.unsettled)
    }

    pub fn failed(&self) -> Option<String> {
        shown(self.failed)
    }

    /// Why the last one failed.
    pub fn reason(&self) -> &'static str {
        match self.code.as_str() {
            "42501" => "the role lacks a privilege",
            "42704" => "it no longer exists, or does not wait for this any more",
            "55000" => "its state does not permit it: it has ended, is paused, or was settled meanwhile",
            "55006" | "55P03" => "another session holds it",
            "40001" | "40P01" => "other sessions changed the same rows",
            "57014" => "it took too long",
            "23505" => "another instance has taken its place",
            _ => "its page or the log of the database says more",
        }
    }

    pub fn code(&self) -> &str {
        &self.code
    }
}

/// Whether a failure has nothing to do with the object: the session has ended, or nothing was sent to the database.
fn is_of_all(failure: &Failure) -> bool {
    let is_unsent = failure.status == StatusCode::SERVICE_UNAVAILABLE && failure.code.is_none();
    failure.status == StatusCode::UNAUTHORIZED || is_unsent && failure.retry_after.is_some()
}

fn shown(number: u32) -> Option<String> {
    (number > 0).then(|| counted(number.into(), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(pairs: &[(&str, &str)]) -> Typed {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn progress_survives_in_an_address() {
        let mut progress = Progress::default();
        let (first, last) = (Uuid::from_u128(1), Uuid::from_u128(2));
        progress.record(first, Ok(true)).unwrap();
        progress.record(first, Ok(false)).unwrap();
        let refused = Failure { code: Some("55000".to_owned()), ..Failure::new(StatusCode::CONFLICT, "paused") };
        progress.record(last, Err(refused)).unwrap();
        let pairs = progress.pairs();
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(Progress::of(&typed(&pairs)), progress);
        assert_eq!((progress.after, progress.code()), (Some(last), "55000"));
        assert_eq!([progress.done(), progress.unsettled(), progress.failed()], [1, 1, 1].map(shown));
    }

    #[test]
    fn what_ends_all_is_no_progress() {
        let mut progress = Progress::default();
        assert!(progress.record(Uuid::nil(), Err(Failure::unavailable("stopping"))).is_err());
        assert!(progress.record(Uuid::nil(), Err(Failure::unauthenticated())).is_err());
        assert!(progress.is_new() && progress == Progress::default());
        progress.record(Uuid::nil(), Err(Failure::unknown("it took too long"))).unwrap();
        assert_eq!((progress.failed(), progress.code()), (shown(1), ""));
    }

    #[test]
    fn nonsense_in_an_address_is_nothing() {
        let nonsense = typed(&[("after", "x"), ("done", "-1"), ("failed", "99999999999"), ("code", "<b>1")]);
        assert_eq!(Progress::of(&nonsense), Progress::default());
    }
}
