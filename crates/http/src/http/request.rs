//! A request as a burst reads it.

use std::collections::HashMap;
use std::rc::Rc;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::response::Response;
use super::texts::add;
use workflow_value::fault::Fault;
use workflow_value::value::{Bounds, copy_members, to_text};

/// An HTTP request as an endpoint's activity reads it.
#[derive(Debug, Default, PartialEq)]
pub struct Request {
    /// Method, as the client sent it.
    pub method: String,
    /// Path as the client sent it, without the query.
    pub path: String,
    /// Decoded segments of the path.
    pub segments: Vec<String>,
    /// Decoded query: a text for each name, or a list if the name occurred more than once.
    pub query: Map<String, Value>,
    /// Headers in the same form, each under its first spelling.
    pub headers: Map<String, Value>,
    /// Values of the parameters of the route that was chosen.
    pub route_data: Map<String, Value>,
    /// The body as it was sent, undecoded.
    pub body: Rc<[u8]>,
}

impl Request {
    /// The same request with the values of the chosen route.
    ///
    /// # Errors
    /// 57014 if there is no room for a copy.
    pub fn routed(&self, route_data: Map<String, Value>) -> Result<Self, Fault> {
        let (query, headers) = (copy_members(&self.query)?, copy_members(&self.headers)?);
        let (method, path, segments) = (self.method.clone(), self.path.clone(), self.segments.clone());
        Ok(Self { method, path, segments, query, headers, route_data, body: Rc::clone(&self.body) })
    }

    /// Builds a request. The path is as in the request line, percent-encoded, and may contain a query.
    ///
    /// # Errors
    /// The response for an invalid path or query.
    pub fn new(
        method: &str,
        path: &str,
        headers: Map<String, Value>,
        mut query: Map<String, Value>,
        body: Vec<u8>,
    ) -> Result<Self, Response> {
        let (path, own_query) = path.split_once('?').unwrap_or((path, ""));
        let own_query = own_query.split('#').next().unwrap_or_default();
        let path = path.split('#').next().unwrap_or_default();
        if path.contains("//") {
            return Err(Response::message(400, "Path cannot contain double slashes (//)"));
        }
        // Each of these separates two segments or parameters.
        let parts = path.bytes().chain(own_query.bytes()).filter(|byte| matches!(byte, b'/' | b'&')).count();
        if parts > Bounds::current().nodes / 2 {
            return Err(Response::message(414, "The path has too many segments or parameters."));
        }
        for (name, value) in form_urlencoded::parse(own_query.as_bytes()) {
            add(&mut query, name.into_owned(), Value::from(value.into_owned()));
        }
        let bare = path.trim_matches('/');
        let segments: Vec<String> = if bare.is_empty() { Vec::new() } else { bare.split('/').map(decoded).collect() };
        let request = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            segments,
            query,
            headers: joined(headers),
            route_data: Map::new(),
            body: body.into(),
        };
        match request.has_nul() {
            true => Err(Response::message(400, "The request contains a NUL character")),
            false => Ok(request),
        }
    }

    /// Whether a text has a NUL, the only character that jsonb and text cannot hold.
    fn has_nul(&self) -> bool {
        let texts = |map: &Map<String, Value>| {
            map.iter().any(|(name, value)| {
                name.contains('\0')
                    || match value {
                        Value::Array(items) => items.iter().any(|item| to_text(item).contains('\0')),
                        value => to_text(value).contains('\0'),
                    }
            })
        };
        self.segments.iter().any(|segment| segment.contains('\0')) || texts(&self.query) || texts(&self.headers)
    }

    /// A header by its name in any letter case; the first of several.
    pub fn header(&self, name: &str) -> Option<String> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.and_then(|(_, value)| first(value))
    }

    /// A value of the query by its name in any letter case; the first of several.
    pub fn query_value(&self, name: &str) -> Option<String> {
        let found = self.query.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.and_then(|(_, value)| first(value))
    }

    /// The result of an endpoint: the request without the parts that have outputs of their own.
    pub fn summary(&self) -> Value {
        json!({
            "method": self.method,
            "path": self.path,
            "contentType": self.header("Content-Type"),
            "contentLength": self.body.len(),
        })
    }
}

/// Joins headers whose names differ in letter case only, under the first name.
fn joined(headers: Map<String, Value>) -> Map<String, Value> {
    let mut names = HashMap::new();
    let mut map = Map::new();
    for (name, value) in headers {
        let name = names.entry(name.to_ascii_lowercase()).or_insert(name);
        match value {
            Value::Array(items) => items.into_iter().for_each(|item| add(&mut map, name.clone(), item)),
            value => add(&mut map, name.clone(), value),
        }
    }
    map
}

fn first(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => items.first().map(to_text),
        value => Some(to_text(value)),
    }
    .filter(|text| !text.is_empty())
}

/// A segment that is not valid UTF-8 stays percent-encoded.
fn decoded(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8().map_or_else(|_| segment.to_owned(), |text| text.into_owned())
}

#[cfg(test)]
impl Request {
    /// A request with only a method and a path.
    pub(crate) fn plain(method: &str, path: &str) -> Self {
        Self::new(method, path, Map::new(), Map::new(), Vec::new()).expect("a path")
    }
}

#[cfg(test)]
mod tests {
    use super::super::texts;
    use super::*;

    #[test]
    fn a_path_is_decoded_segment_by_segment() {
        let request = Request::plain("GET", "/orders/a%2Fb/%C3%A4%20+/%ff?page=2&page=3&q=x+y#end");
        assert_eq!(request.path, "/orders/a%2Fb/%C3%A4%20+/%ff");
        assert_eq!(request.segments, ["orders", "a/b", "ä +", "%ff"]);
        assert_eq!(Value::Object(request.query), json!({"page": ["2", "3"], "q": "x y"}));
    }

    #[test]
    fn names_of_headers_are_read_in_any_case() {
        let given = json!({"X-Id": 7, "x-id": ["8", true], "Accept": null});
        let Value::Object(given) = given else { panic!("an object") };
        let headers = texts(given, "headers").expect("texts");
        let request = Request::new("GET", "/", headers, Map::new(), Vec::new()).expect("a request");
        assert_eq!(Value::Object(request.headers.clone()), json!({"X-Id": ["7", "8", "true"]}));
        assert_eq!(request.header("X-ID").as_deref(), Some("7"));
        assert_eq!(request.header("Accept"), None);
        let nested = Map::from_iter([("a".to_owned(), json!([[1]]))]);
        assert_eq!(texts(nested, "query").expect_err("nested").sqlstate, "22023");
    }

    #[test]
    fn what_cannot_be_a_path_is_answered() {
        for path in ["/a//b", "/a/%00", "/a?b=%00"] {
            let answer = Request::new("GET", path, Map::new(), Map::new(), Vec::new());
            assert_eq!(answer.expect_err(path).status, 400);
        }
    }
}
