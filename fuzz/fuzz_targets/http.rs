//! Requests: a route read from its index key is the same route, and any body is read or refused with a response.
//!
//! The target reads each input once more with limits that many inputs exceed: these must get a response.
//!
//! An input is a template of a route, a request line (`GET /orders/7?page=2`), a content type, and the body.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use workflow_engine::http::Request;
use workflow_engine::http::choice::{Choice, choose};
use workflow_engine::http::content::Content;
use workflow_engine::http::route::{Route, firsts_of, prefix_of};
use workflow_engine::value::Bounds;

fuzz_target!(|data: &[u8]| {
    let mut lines = data.splitn(4, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (template, request, content_type, body) = (line(), line(), line(), line());
    let (Ok(template), Ok(request), Ok(content_type)) =
        (str::from_utf8(template), str::from_utf8(request), str::from_utf8(content_type))
    else {
        return;
    };
    let (method, path) = request.split_once(' ').unwrap_or(("GET", request));
    let route = Route::new(template, method).ok();
    let headers = Map::from_iter([("Content-Type".to_owned(), Value::from(content_type))]);
    let request = match Request::new(method, path, headers, Map::new(), body.to_vec()) {
        Ok(request) => request,
        Err(response) => return assert_eq!(response.status, 400),
    };
    if let Some(route) = route {
        is_found(&route, &request);
    }
    match Content::read(&request) {
        Ok(content) => content.files.iter().for_each(|file| drop((file.value(), file.extension().len()))),
        Err(response) => assert!((400..500).contains(&response.status)),
    }
    request.summary();
    Bounds { body: 64, nodes: 8, ..Bounds::default() }.apply();
    let again = Request::new(method, path, Map::new(), Map::new(), body.to_vec());
    let few = Content::read(&request);
    Bounds::default().apply();
    assert!(again.is_ok() || again.is_err_and(|response| matches!(response.status, 400 | 414)));
    if let Ok(content) = few {
        assert!(body.len() <= 64 && content.parsed.as_array().is_none_or(|items| items.len() < 8));
    }
});

/// Checks that a request finds a route in an index exactly if the route matches.
fn is_found(route: &Route, request: &Request) {
    let key = route.key();
    assert_eq!(Route::read(&key).as_ref(), Some(route), "{key}");
    let matches = route.matches(&request.segments).is_some();
    let choice = choose(request, std::slice::from_ref(&key));
    assert_eq!(matches, choice != Choice::NotFound, "{key}");
    if matches {
        let shape = key.split('|').next().unwrap_or_default();
        assert!(firsts_of(&request.segments).iter().any(|first| key.starts_with(&format!("{first}/"))), "{key}");
        let prefix = prefix_of(shape, &request.segments).expect("a path that matches has the shape");
        assert!(key.starts_with(&prefix), "{key} does not begin with {prefix}");
    }
}
