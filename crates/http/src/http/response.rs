//! Responses to requests.

use serde_json::{Map, Value, json};

use super::{multipart, texts::texts};
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::{copy_members, to_text};

/// The answer that `wf_http_request` returns.
#[derive(Debug, Default, PartialEq)]
pub struct Response {
    /// HTTP status code, three digits.
    pub status: u16,
    /// Headers: a text for each name, or a list of texts.
    pub headers: Map<String, Value>,
    /// The bytes of the body; empty for none.
    pub body: Vec<u8>,
}

impl Response {
    /// A response without a body.
    pub fn empty(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// A response with a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        let headers = Map::from_iter([(CONTENT_TYPE.to_owned(), Value::from(JSON))]);
        Self { status, headers, body: body.to_string().into_bytes() }
    }

    /// A response whose body is a message, such as an error in the request.
    pub fn message(status: u16, message: &str) -> Self {
        Self::json(status, &json!({ "message": message }))
    }

    /// The same response with this header, replacing one of the same name.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), Value::from(value));
        self
    }
}

const CONTENT_TYPE: &str = "Content-Type";
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// The response of `WriteHttpResponse`: text unchanged, anything else as JSON, or as a form if the content type
/// requires it.
pub fn written(status: u16, content: &Value, content_type: &str, headers: &Value) -> Result<Response, Fault> {
    let mut headers = read_headers(headers)?;
    let own = headers.keys().find(|name| name.eq_ignore_ascii_case(CONTENT_TYPE)).cloned();
    let own_type = own.as_ref().and_then(|name| headers.get(name)).map(to_text);
    let media_type = match (content_type.trim(), own_type) {
        ("", Some(own)) => own,
        ("", None) => match content {
            Value::Null => String::new(),
            Value::String(_) => "text/plain".to_owned(),
            _ => JSON.to_owned(),
        },
        (given, _) => given.to_owned(),
    };
    if !media_type.is_empty() {
        if let Some(own) = own {
            headers.remove(&own);
        }
        check_value(CONTENT_TYPE, &media_type)?;
        headers.insert(CONTENT_TYPE.to_owned(), Value::from(with_charset(&media_type)));
    }
    let body = match content {
        Value::Null => Vec::new(),
        Value::Object(members) if media_type.starts_with(FORM) => form(members).into_bytes(),
        content => encoded(to_text(content), charset(&media_type).as_deref())?,
    };
    if matches!(status, 204 | 205 | 304) {
        if !body.is_empty() {
            return Err(Fault::new("22023", format!("a response with status {status} has no content"))
                .hint("Leave out \"content\", or use another status."));
        }
        headers.retain(|name, _| !name.eq_ignore_ascii_case(CONTENT_TYPE));
    }
    Ok(Response { status, headers, body })
}

/// A text encoded in the character set of its content type, UTF-8 by default.
fn encoded(text: String, charset: Option<&str>) -> Result<Vec<u8>, Fault> {
    let last = match charset {
        None | Some("utf-8" | "utf8") => return Ok(text.into_bytes()),
        Some("us-ascii" | "ascii") => '\u{7f}',
        Some("iso-8859-1" | "latin1") => '\u{ff}',
        Some(other) => {
            return Err(Fault::new("22023", format!("the character set \"{}\" is not supported", shorten(other, 60)))
                .hint("Use utf-8, iso-8859-1 or us-ascii."));
        }
    };
    let byte = |character: char| u8::try_from(u32::from(character)).ok().filter(|_| character <= last);
    let bytes: Result<Vec<u8>, char> = text.chars().map(|character| byte(character).ok_or(character)).collect();
    bytes.map_err(|character| {
        let charset = charset.unwrap_or_default();
        Fault::new("22P05", format!("the character \"{character}\" does not exist in the character set \"{charset}\""))
            .hint("Use the character set utf-8.")
    })
}

/// Adds the character set to a text type: texts are UTF-8, and only JSON implies that.
fn with_charset(media_type: &str) -> String {
    let is_text = media_type.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("text/"));
    if is_text && !media_type.to_ascii_lowercase().contains("charset=") {
        return format!("{media_type}; charset=utf-8");
    }
    media_type.to_owned()
}

/// The character set in a media type, in lower case.
fn charset(media_type: &str) -> Option<String> {
    let found = multipart::parameters(media_type).into_iter().find(|(name, _)| name.eq_ignore_ascii_case("charset"));
    found.map(|(_, value)| value.to_ascii_lowercase()).filter(|value| !value.is_empty())
}

fn form(members: &Map<String, Value>) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (name, value) in members {
        match value {
            Value::Array(items) => items.iter().for_each(|item| {
                form.append_pair(name, &to_text(item));
            }),
            value => {
                form.append_pair(name, &to_text(value));
            }
        }
    }
    form.finish()
}

fn read_headers(headers: &Value) -> Result<Map<String, Value>, Fault> {
    let headers = match headers {
        Value::Null => Map::new(),
        Value::Object(headers) => texts(copy_members(headers)?, "responseHeaders")?,
        _ => return Err(Fault::new("22023", "\"responseHeaders\" must be an object")),
    };
    for (name, value) in &headers {
        if name.is_empty() || !name.bytes().all(is_of_token) {
            return Err(Fault::new("22023", format!("\"{}\" is not the name of a header", shorten(name, 60))));
        }
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| check_value(name, &to_text(item)))?,
            value => check_value(name, &to_text(value))?,
        }
    }
    Ok(headers)
}

/// Checks constant headers of a response.
pub fn check_headers(headers: &Value) -> Result<(), Fault> {
    read_headers(headers).map(drop)
}

/// A line break inside a value would start another header.
fn check_value(name: &str, value: &str) -> Result<(), Fault> {
    if value.chars().any(|c| c.is_control() && c != '\t') {
        return Err(Fault::new("22023", format!("header \"{name}\" must not contain control characters")));
    }
    Ok(())
}

fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_written_as_its_kind_and_type_say() {
        for (content, content_type, expected_type, body) in [
            (json!("hello"), "", Some("text/plain; charset=utf-8"), "hello"),
            (json!({"a": 1}), "", Some("application/json"), "{\"a\":1}"),
            (json!(7), "", Some("application/json"), "7"),
            (json!(null), "", None, ""),
            (json!("<p>"), "text/html", Some("text/html; charset=utf-8"), "<p>"),
            (json!("x"), "TEXT/plain;charset=ascii", Some("TEXT/plain;charset=ascii"), "x"),
            (json!("é"), "text/plain; charset=\"UTF-8\"", Some("text/plain; charset=\"UTF-8\""), "é"),
            (json!({"a b": [1, "ä"]}), FORM, Some(FORM), "a+b=1&a+b=%C3%A4"),
        ] {
            let response = written(201, &content, content_type, &Value::Null).expect("a response");
            assert_eq!(response.headers.get(CONTENT_TYPE).and_then(Value::as_str), expected_type);
            assert_eq!(String::from_utf8(response.body), Ok(body.to_owned()));
        }
    }

    #[test]
    fn the_body_is_in_the_character_set_that_the_content_type_names() {
        let body = |content: Value, media_type: &str| written(200, &content, media_type, &Value::Null);
        let latin = body(json!("é"), "text/plain; charset=ISO-8859-1").expect("a response");
        assert_eq!(latin.body, [0xe9]);
        assert_eq!(
            body(json!({"a": "é"}), "application/json; charset=latin1").expect("JSON").body,
            b"{\"a\":\"\xe9\"}"
        );
        for (text, charset, code) in [
            ("é", "us-ascii", "22P05"),
            ("€", "iso-8859-1", "22P05"),
            ("a", "koi8-r", "22023"),
            ("a", "utf-16", "22023"),
        ] {
            let fault = body(json!(text), &format!("text/plain; charset={charset}")).expect_err(charset);
            assert_eq!(fault.sqlstate, code, "{fault}");
        }
    }

    #[test]
    fn a_status_without_content_has_none() {
        for status in [204, 205, 304] {
            let response = written(status, &json!(""), "text/html", &json!({"ETag": "1"})).expect("a response");
            assert_eq!((Value::Object(response.headers), response.body), (json!({"ETag": "1"}), Vec::new()));
            assert_eq!(written(status, &json!("x"), "", &Value::Null).expect_err("content").sqlstate, "22023");
        }
    }

    #[test]
    fn headers_are_checked_and_one_may_be_the_content_type() {
        let headers = json!({"content-type": "text/css", "Set-Cookie": ["a=1", "b=2"]});
        let response = written(200, &json!("p {}"), "", &headers).expect("a response");
        let expected = json!({"Content-Type": "text/css; charset=utf-8", "Set-Cookie": ["a=1", "b=2"]});
        assert_eq!(Value::Object(response.headers), expected);
        for headers in [json!([]), json!({"a b": "c"}), json!({"a": "b\r\nc: d"}), json!({"": "x"}), json!({"a": {}})] {
            let fault = written(200, &Value::Null, "", &headers).expect_err("a fault");
            assert_eq!(fault.sqlstate, "22023", "{headers}");
            assert!(check_headers(&headers).is_err());
        }
        assert!(written(200, &Value::Null, "text/plain\r\nx: y", &Value::Null).is_err());
    }
}
