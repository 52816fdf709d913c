//! Status codes under .NET's names, which Studio writes.

use serde_json::Value;

use workflow_value::fault::{Fault, shorten};
use workflow_value::value::to_text;

const NAMES: [(&str, u16); 59] = [
    ("OK", 200),
    ("Created", 201),
    ("Accepted", 202),
    ("NonAuthoritativeInformation", 203),
    ("NoContent", 204),
    ("ResetContent", 205),
    ("PartialContent", 206),
    ("MultiStatus", 207),
    ("AlreadyReported", 208),
    ("IMUsed", 226),
    ("MultipleChoices", 300),
    ("Ambiguous", 300),
    ("MovedPermanently", 301),
    ("Moved", 301),
    ("Found", 302),
    ("Redirect", 302),
    ("SeeOther", 303),
    ("RedirectMethod", 303),
    ("NotModified", 304),
    ("UseProxy", 305),
    ("TemporaryRedirect", 307),
    ("RedirectKeepVerb", 307),
    ("PermanentRedirect", 308),
    ("BadRequest", 400),
    ("Unauthorized", 401),
    ("PaymentRequired", 402),
    ("Forbidden", 403),
    ("NotFound", 404),
    ("MethodNotAllowed", 405),
    ("NotAcceptable", 406),
    ("ProxyAuthenticationRequired", 407),
    ("RequestTimeout", 408),
    ("Conflict", 409),
    ("Gone", 410),
    ("LengthRequired", 411),
    ("PreconditionFailed", 412),
    ("RequestEntityTooLarge", 413),
    ("RequestUriTooLong", 414),
    ("UnsupportedMediaType", 415),
    ("RequestedRangeNotSatisfiable", 416),
    ("ExpectationFailed", 417),
    ("MisdirectedRequest", 421),
    ("UnprocessableEntity", 422),
    ("UnprocessableContent", 422),
    ("Locked", 423),
    ("FailedDependency", 424),
    ("UpgradeRequired", 426),
    ("PreconditionRequired", 428),
    ("TooManyRequests", 429),
    ("RequestHeaderFieldsTooLarge", 431),
    ("UnavailableForLegalReasons", 451),
    ("InternalServerError", 500),
    ("NotImplemented", 501),
    ("BadGateway", 502),
    ("ServiceUnavailable", 503),
    ("GatewayTimeout", 504),
    ("HttpVersionNotSupported", 505),
    ("VariantAlsoNegotiates", 506),
    ("InsufficientStorage", 507),
];

/// The status for a number, its text or a name; null means 200.
pub fn status(value: &Value) -> Result<u16, Fault> {
    let text = to_text(value);
    let text = text.trim();
    if text.is_empty() {
        return Ok(200);
    }
    let number = text.parse().ok().filter(|number| (200..=599).contains(number));
    let named = || NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, number)| *number);
    number.or_else(named).ok_or_else(|| {
        Fault::new("22023", format!("\"{}\" is not an HTTP status", shorten(text, 60))).hint(
            "Write a number from 200 to 599, or a name such as NotFound. A status below 200 is no final response.",
        )
    })
}

/// Checks a constant status.
pub fn check_status(value: &Value) -> Result<(), Fault> {
    status(value).map(drop)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_and_names_are_read() {
        for (value, expected) in [(json!(null), 200), (json!(418), 418), (json!("404"), 404), (json!("notfound"), 404)]
        {
            assert_eq!(status(&value), Ok(expected));
        }
        for value in [json!(99), json!(100), json!("Continue"), json!(600), json!("fine"), json!([]), json!(true)] {
            assert_eq!(status(&value).expect_err("no status").sqlstate, "22023");
        }
    }
}
