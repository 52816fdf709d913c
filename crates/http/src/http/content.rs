//! Bodies of requests: JSON, forms, text, files.

use serde_json::{Map, Value, json};

use super::multipart;
use super::request::Request;
use super::response::Response;
use super::texts::add;
use workflow_value::value::base64::to_base64;
use workflow_value::value::{Bounds, Exceeded, Tally, parse_json};

/// The content of a body.
#[derive(Debug, Default, PartialEq)]
pub struct Content {
    /// The parsed body: a JSON value, the fields of a form, a text, or a file.
    pub parsed: Value,
    /// The files of a form.
    pub files: Vec<File>,
}

/// A file of a form, or a body that is neither text nor JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// Name of the form's field; empty if the whole body is the file.
    pub name: String,
    /// Name that the client gave the file.
    pub file_name: String,
    /// Media type that the client gave the file.
    pub content_type: String,
    /// The file itself, decoded.
    pub bytes: Vec<u8>,
}

impl File {
    /// The file as a value, its bytes in Base64.
    pub fn value(&self) -> Value {
        json!({
            "name": self.name,
            "fileName": self.file_name,
            "contentType": self.content_type,
            "length": self.bytes.len(),
            "content": to_base64(&self.bytes),
        })
    }

    /// The extension of its name, with the point; empty if there is none.
    pub fn extension(&self) -> &str {
        let name = self.file_name.rsplit(['/', '\\']).next().unwrap_or_default();
        name.rfind('.').map_or("", |at| &name[at..])
    }
}

impl Content {
    /// Reads the body of a request by its content type.
    ///
    /// # Errors
    /// The response for a body that does not match its content type.
    pub fn read(request: &Request) -> Result<Self, Response> {
        if request.body.is_empty() {
            return Ok(Self::default());
        }
        too_large(request.body.len())?;
        let media_type = request.header("Content-Type").unwrap_or_default();
        let essence = essence(&media_type);
        let body = &request.body[..];
        match essence.as_str() {
            "application/x-www-form-urlencoded" => Self::form(body),
            "multipart/form-data" => Self::multipart(body, parameter(&media_type, "boundary")),
            json if json == "application/json" || json.ends_with("+json") => Self::json(body),
            other => Self::other(body, other, parameter(&media_type, "charset")),
        }
    }

    fn json(body: &[u8]) -> Result<Self, Response> {
        let text = std::str::from_utf8(body).map_err(|_| Response::message(400, "The JSON body is not UTF-8"))?;
        match parse_json(text.trim_start_matches('\u{feff}')) {
            Ok(parsed) => Ok(Self { parsed, files: Vec::new() }),
            Err(fault) if fault.sqlstate == "54000" => Err(Response::message(413, &fault.message)),
            Err(fault) => {
                let detail = fault.detail.map(|detail| format!(". {detail}")).unwrap_or_default();
                Err(Response::message(400, &format!("{}{detail}", fault.message)))
            }
        }
    }

    fn form(body: &[u8]) -> Result<Self, Response> {
        let (mut fields, mut tally) = (Map::new(), Tally::new());
        for (name, value) in form_urlencoded::parse(body) {
            count(&mut tally, name.len())?;
            count(&mut tally, value.len())?;
            add(&mut fields, without_nul(name.into_owned())?, Value::from(without_nul(value.into_owned())?));
        }
        Ok(Self { parsed: Value::Object(fields), files: Vec::new() })
    }

    fn multipart(body: &[u8], boundary: Option<String>) -> Result<Self, Response> {
        let wrong = || Response::message(400, "The multipart body cannot be read");
        let parts = multipart::read(body, &boundary.ok_or_else(wrong)?).ok_or_else(wrong)?;
        let (mut fields, mut files) = (Map::new(), Vec::new());
        for part in parts {
            let name = without_nul(part.name)?;
            match part.file_name {
                // A browser sends a file input that was left empty as an empty file without a name.
                Some(file_name) if file_name.is_empty() && part.bytes.is_empty() => {}
                Some(file_name) => files.push(File {
                    name,
                    file_name: without_nul(file_name)?,
                    content_type: essence(&without_nul(part.content_type)?),
                    bytes: part.bytes.to_vec(),
                }),
                None => {
                    let text = String::from_utf8(part.bytes.to_vec()).map_err(|_| wrong())?;
                    add(&mut fields, name, Value::from(without_nul(text)?));
                }
            }
        }
        Ok(Self { parsed: Value::Object(fields), files })
    }

    fn other(body: &[u8], media_type: &str, charset: Option<String>) -> Result<Self, Response> {
        let is_text =
            media_type.starts_with("text/") || media_type == "application/xml" || media_type.ends_with("+xml");
        let charset = charset.unwrap_or_else(|| "utf-8".into()).to_ascii_lowercase();
        let text = match (charset.as_str(), std::str::from_utf8(body)) {
            ("utf-8" | "utf8" | "us-ascii", Ok(text)) => Some(text.to_owned()),
            ("iso-8859-1" | "latin1", _) => Some(body.iter().copied().map(char::from).collect()),
            _ => None,
        };
        match text {
            Some(text) if is_text => Ok(Self { parsed: Value::from(without_nul(text)?), files: Vec::new() }),
            // The type is unknown: a body that can be a text is read as one.
            Some(text) if media_type.is_empty() && !text.contains('\0') => {
                Ok(Self { parsed: Value::from(text), files: Vec::new() })
            }
            None if is_text => Err(Response::message(
                415,
                &format!("The text is not valid in the character set {charset}, or the character set is not known"),
            )),
            _ => {
                let file = File { content_type: media_type.to_owned(), bytes: body.to_vec(), ..File::default() };
                Ok(Self { parsed: file.value(), files: Vec::new() })
            }
        }
    }
}

/// Refuses a body that exceeds the limit.
///
/// # Errors
/// The response 413.
pub fn too_large(size: usize) -> Result<(), Response> {
    let limit = Bounds::current().body;
    match size > limit {
        true => Err(Response::message(413, &format!("The maximum request size allowed is {limit} bytes."))),
        false => Ok(()),
    }
}

/// Counts a field or a name. If it is time to stop, the caller asks the host for the reason.
fn count(tally: &mut Tally, size: usize) -> Result<(), Response> {
    tally.node(size).map_err(|what| match what {
        Exceeded::Interrupted => Response::message(503, "The request was cancelled."),
        Exceeded::Nodes(_) | Exceeded::Text(_) => Response::message(413, &what.fault().message),
    })
}

fn without_nul(text: String) -> Result<String, Response> {
    match text.contains('\0') {
        true => Err(Response::message(400, "The request contains a NUL character")),
        false => Ok(text),
    }
}

/// The media type without its parameters, in lower case.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A parameter of a media type.
fn parameter(media_type: &str, name: &str) -> Option<String> {
    let found = multipart::parameters(media_type).into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content_type: &str, body: &[u8]) -> Result<Content, Response> {
        let headers = match content_type {
            "" => Map::new(),
            given => Map::from_iter([("content-type".to_owned(), json!(given))]),
        };
        Content::read(&Request { headers, body: body.into(), ..Request::default() })
    }

    fn parsed(content_type: &str, body: &[u8]) -> Value {
        read(content_type, body).expect("content").parsed
    }

    #[test]
    fn bodies_are_read_by_their_type() {
        assert_eq!(parsed("application/json; charset=utf-8", b"{\"a\": [1.10]}").to_string(), "{\"a\":[1.10]}");
        assert_eq!(parsed("application/problem+JSON", b"7"), json!(7));
        assert_eq!(
            parsed("application/x-www-form-urlencoded", b"a=1&a=2&b=x+y%20z"),
            json!({"a": ["1", "2"], "b": "x y z"})
        );
        assert_eq!(parsed("text/plain", "grüß".as_bytes()), json!("grüß"));
        assert_eq!(parsed("text/plain; charset=\"ISO-8859-1\"", b"gr\xfc\xdf"), json!("grüß"));
        assert_eq!(parsed("application/xml", b"<a/>"), json!("<a/>"));
        assert_eq!(parsed("", b"plain"), json!("plain"));
        assert_eq!(parsed("application/json", b""), json!(null));
        let file = parsed("image/png", b"\x00\x01");
        assert_eq!(
            file,
            json!({"name": "", "fileName": "", "contentType": "image/png", "length": 2, "content": "AAE="})
        );
        assert_eq!(parsed("", b"\x00\xff")["length"], json!(2));
    }

    #[test]
    fn what_is_not_what_it_says_is_answered() {
        for (content_type, body, status) in [
            ("application/json", b"{\"a\"".as_slice(), 400),
            ("application/json", b"\xff", 400),
            ("application/json", b"\"\\u0000\"", 400),
            ("application/x-www-form-urlencoded", b"a=%00", 400),
            ("text/plain", b"\xff", 415),
            ("text/plain; charset=koi8-r", b"a", 415),
            ("text/plain", b"a\0", 400),
            ("multipart/form-data", b"--x--", 400),
            ("multipart/form-data; boundary=x", b"nothing", 400),
        ] {
            assert_eq!(read(content_type, body).expect_err(content_type).status, status);
        }
    }

    #[test]
    fn forms_have_fields_and_files() {
        let body = b"--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n--b\r\n\
            Content-Disposition: form-data; name=\"doc\"; filename=\"a.PDF\"\r\nContent-Type: application/PDF\r\n\r\n%PDF\r\n\r\n--b--\r\n";
        let content = read("multipart/form-data; boundary=b", body).expect("content");
        assert_eq!(content.parsed, json!({"note": "hello"}));
        let file = &content.files[0];
        assert_eq!((file.name.as_str(), file.file_name.as_str(), file.extension()), ("doc", "a.PDF", ".PDF"));
        assert_eq!((file.content_type.as_str(), file.bytes.as_slice()), ("application/pdf", b"%PDF\r\n".as_slice()));
    }

    #[test]
    fn a_file_input_that_was_left_empty_is_no_file() {
        let part = |name: &str, body: &str| {
            format!(
                "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{name}\"\r\nContent-Type: application/octet-stream\r\n\r\n{body}\r\n"
            )
        };
        for (name, body, files) in [("", "", 0), ("a.txt", "", 1), ("", "x", 1)] {
            let content = read("multipart/form-data; boundary=b", format!("{}--b--\r\n", part(name, body)).as_bytes());
            assert_eq!(content.expect("content").files.len(), files, "{name:?} {body:?}");
        }
    }

    #[test]
    fn the_extension_is_that_of_the_name_itself() {
        for (name, extension) in [("a.tar.gz", ".gz"), ("a", ""), ("dir.d/a", ""), (".env", ".env"), ("", "")] {
            assert_eq!(File { file_name: name.into(), ..File::default() }.extension(), extension);
        }
    }
}
