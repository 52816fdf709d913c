//! `Retry-After`: when a service wants to be asked again.

use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, Utc};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// A service cannot postpone an attempt for longer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// The three forms of a date in HTTP.
const DATES: [&str; 3] = ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// The time until then, in whole seconds. `None` if the response does not ask for it or says at once, or the header is
/// invalid.
pub fn read(status: StatusCode, headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    if !(status.is_server_error() || [408, 429].contains(&status.as_u16())) {
        return None;
    }
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let delay = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => LONGEST,
        Err(_) => {
            let date = DATES.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())?.and_utc();
            // Rounded up: the date has no fractions of a second.
            Duration::from_secs((date - now).to_std().unwrap_or_default().as_millis().div_ceil(1000).try_into().ok()?)
        }
    };
    Some(delay.min(LONGEST)).filter(|delay| !delay.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read() {
        let now = "2026-11-30T10:00:00.250Z".parse().expect("a time");
        let after = |status: u16, text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().expect("a value"));
            read(StatusCode::from_u16(status).expect("a status"), &headers, now).map(|delay| delay.as_secs())
        };
        assert_eq!(after(503, "120"), Some(120));
        assert_eq!(after(429, " 7 "), Some(7));
        assert_eq!(after(503, "Mon, 30 Nov 2026 10:01:00 GMT"), Some(60));
        assert_eq!(after(503, "Monday, 30-Nov-26 10:01:00 GMT"), Some(60));
        assert_eq!(after(503, "Mon Nov 30 10:01:00 2026"), Some(60));
        assert_eq!(after(503, "Fri, 30 Nov 2096 10:01:00 GMT"), Some(86_400));
        assert_eq!(after(503, "99999999999999999999999"), Some(86_400));
        for text in ["soon", "-1", "1.5", "", "0", "Mon, 30 Nov 2026 09:00:00 GMT"] {
            assert_eq!(after(503, text), None, "{text}");
        }
        assert_eq!(after(200, "120"), None);
    }
}
