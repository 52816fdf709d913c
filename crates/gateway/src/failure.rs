//! Failures and how clients see them: the HTTP status, and Elsa's error format.

use std::error::Error as _;
use std::time::Duration;

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio_postgres::error::{DbError, SqlState};
use uuid::Uuid;

/// A failed request.
#[derive(Debug)]
pub struct Failure {
    pub status: StatusCode,
    /// SQLSTATE, if the database reported the error.
    pub code: Option<String>,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// When to retry. `None` if that is not known, or if the request may have had its effect.
    pub retry_after: Option<Duration>,
}

/// The retry delay while the database is unavailable.
const RETRY_DELAY: Duration = Duration::from_secs(2);

impl Failure {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, code: None, message: message.into(), detail: None, hint: None, retry_after: None }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Elsa's answer for an unknown id.
    pub fn not_found(what: &str, id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what} {id}"))
    }

    /// The request is not authenticated, or the caller's role no longer exists.
    pub fn unauthenticated() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "log in first")
    }

    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message).retry_after(RETRY_DELAY)
    }

    /// The gateway does not know whether the request took effect.
    pub fn unknown(message: impl Into<String>) -> Self {
        let failure = Self::new(StatusCode::SERVICE_UNAVAILABLE, message);
        failure.hint("Whether the request took effect is not known: look before you repeat it.")
    }

    /// An internal failure: the client gets an id, the log the cause.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        let id = Uuid::now_v7();
        tracing::error!(%id, %cause, "internal error");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, format!("internal error {id}"))
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// The failure of a request that cannot be repeated, because it has used up something that counts once.
    #[must_use]
    pub fn without_retry(mut self) -> Self {
        self.retry_after = None;
        self
    }

    /// The headers that accompany the status, in any response format.
    pub fn headers(&self) -> Option<[(HeaderName, HeaderValue); 1]> {
        let wait = self.retry_after?;
        let seconds = u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
        Some([(header::RETRY_AFTER, HeaderValue::from(seconds))])
    }

    pub fn has_code(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code)
    }

    fn of_database(error: &DbError) -> Self {
        let code = error.code().code();
        let Some(status) = status_of(code) else {
            // The detail often contains values of rows, and so does the message of an error that a user's SQL raises
            // (class P0). The database's own log has both.
            let message = if code.starts_with("P0") { "raised by SQL" } else { error.message() };
            return Self::internal(format_args!("{code}: {message}"));
        };
        Self {
            status,
            code: Some(code.to_owned()),
            message: error.message().to_owned(),
            detail: error.detail().map(str::to_owned),
            hint: error.hint().map(str::to_owned),
            // The transaction was rolled back.
            retry_after: (status == StatusCode::SERVICE_UNAVAILABLE).then_some(RETRY_DELAY),
        }
    }
}

/// The HTTP status for a SQLSTATE; `None` for errors that a client can neither understand nor fix.
pub fn status_of(code: &str) -> Option<StatusCode> {
    Some(match code {
        "42501" => StatusCode::FORBIDDEN,
        "42704" => StatusCode::NOT_FOUND,
        "23505" | "2BP01" | "42710" => StatusCode::CONFLICT,
        "0A000" | "38000" | "42601" | "42P13" | "42725" | "WF001" | "WF002" => StatusCode::BAD_REQUEST,
        _ => match &code[..2] {
            "22" | "54" => StatusCode::BAD_REQUEST,
            "55" => StatusCode::CONFLICT,
            "40" | "53" | "08" => StatusCode::SERVICE_UNAVAILABLE,
            "57" if code == "57014" || code.starts_with("57P") => StatusCode::SERVICE_UNAVAILABLE,
            _ => return None,
        },
    })
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(database) = error.as_db_error() {
            return Self::of_database(database);
        }
        if error.is_closed() || error.code() == Some(&SqlState::CONNECTION_EXCEPTION) || is_io(&error) {
            return Self::unknown("the connection to the database was lost");
        }
        Self::internal(error)
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    error.source().is_some_and(|source| source.is::<std::io::Error>())
}

impl From<deadpool_postgres::PoolError> for Failure {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Timeout(_) => Self::unavailable("all connections to the database are in use"),
            other => {
                tracing::warn!(cause = whole(&other), "no connection to the database");
                Self::unavailable("the database cannot be reached")
            }
        }
    }
}

/// An error with its chain of sources, without repetitions.
fn whole(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    match error.source().map(whole) {
        Some(cause) if !text.contains(&cause) => format!("{text}: {cause}"),
        _ => text.trim_end().to_owned(),
    }
}

impl IntoResponse for Failure {
    /// Elsa's format, plus PostgreSQL's fields.
    fn into_response(self) -> Response {
        let lines = self.detail.iter().flat_map(|detail| detail.lines()).chain(self.hint.as_deref());
        let texts: Vec<&str> = std::iter::once(self.message.as_str()).chain(lines).collect();
        let body = json!({
            "statusCode": self.status.as_u16(),
            "message": "One or more errors occurred!",
            "errors": {"generalErrors": texts},
            "code": self.code,
            "detail": self.detail,
            "hint": self.hint,
        });
        (self.status, self.headers(), Json(body)).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry for a code in the table of docs/gateway.md; `22xxx` covers all codes that begin with 22.
    fn documented(code: &str) -> Option<u16> {
        let page = include_str!("../../../docs/gateway.md");
        let rows = page.lines().filter_map(|line| {
            let mut cells = line.trim_matches('|').split('|').map(str::trim);
            Some((cells.next()?, cells.next()?.parse::<u16>().ok()?))
        });
        let stands_for = |written: &str| {
            let known = written.trim_end_matches('x');
            written == code || written.len() == 5 && known.len() < 5 && code.starts_with(known)
        };
        rows.into_iter().find(|(codes, _)| codes.split([',', ' ']).any(stands_for)).map(|(_, status)| status)
    }

    #[test]
    fn statuses_are_those_that_the_page_says() {
        let codes = [
            "42501", "42704", "22023", "22P02", "54000", "0A000", "38000", "42601", "42P13", "42725", "WF001", "WF002",
            "55000", "55006", "55P03", "23505", "2BP01", "42710", "40001", "40P01", "08006", "53200", "57014", "57P01",
        ];
        for code in codes {
            let status = status_of(code).map(|status| status.as_u16());
            assert!(status.is_some(), "{code}");
            assert_eq!(status, documented(code), "{code}");
        }
        for code in ["XX000", "42P01", "25P02", "57000", "23503", "00000", "P0001"] {
            assert_eq!((status_of(code), documented(code)), (None, None), "{code}");
        }
    }
}
