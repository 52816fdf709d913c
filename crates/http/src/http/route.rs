//! Routes: a template and a method, their text in an index, and whether a path matches them.
//!
//! # How a request finds its route
//!
//! An index stores each endpoint's route as text, `first/shape|literals|template|method`. The shape says for each
//! segment whether it is a literal or something else: `orders/{id}/lines` has the first segment `orders`, the shape
//! `LPL` and the literals `orders/lines`. There are few shapes, because people write templates by hand, even if an
//! expression creates millions of routes from them (`orders/42/approve`, `orders/43/approve`, …). A loose index scan
//! reads the shapes for the first segment of the request, and for templates whose first segment is no literal. For each
//! shape, the literals are computed from the request's path, and the routes that begin with them are read. These are
//! few again, because all bookmarks with one template share one route. So no scan grows with the number of waiting
//! instances, nor with what other owners publish elsewhere.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::template::{Parameter, Segment, Template, TemplatePart, bare};
use workflow_value::fault::Fault;

/// The first segment of a template that does not start with a literal. A literal `*` is treated the same.
pub const OPEN: &str = "*";

/// A template and a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    template: Template,
    text: String,
    method: String,
}

impl Route {
    /// Creates a route.
    ///
    /// # Errors
    /// 22023 or 54000 if the template or the method cannot be read.
    pub fn new(template: &str, method: &str) -> Result<Self, Fault> {
        let is_method = !method.is_empty() && method.len() <= 32 && method.bytes().all(is_of_method);
        if !is_method {
            let shown = workflow_value::fault::shorten(method, 40);
            return Err(Fault::new("22023", format!("\"{shown}\" is not an HTTP method")));
        }
        let text = bare(template).to_owned();
        Ok(Self { template: Template::parse(template)?, text, method: method.to_ascii_lowercase() })
    }

    /// Reads the text stored in an index. `None` if it is no route.
    pub fn read(key: &str) -> Option<Self> {
        let (_, rest) = key.split_once('|')?;
        let (_, rest) = rest.split_once('|')?;
        let (template, method) = rest.split_once('|')?;
        Self::new(template, method).ok()
    }

    /// The text stored in an index.
    pub fn key(&self) -> String {
        let literals: Vec<&str> = self.template.segments.iter().filter_map(literal).collect();
        let first = self.first_segment();
        format!("{first}/{}|{}|{}|{}", self.shape(), literals.join("/"), self.text, self.method)
    }

    /// Method, in lower case.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The first segment of its paths, in lower case: empty at the root, [`OPEN`] where it is no literal.
    pub fn first_segment(&self) -> &str {
        match self.template.segments.first() {
            None => "",
            Some(segment) => literal(segment).unwrap_or(OPEN),
        }
    }

    /// The path as Elsa hashes it: with a slash before it, in lower case.
    pub fn path(&self) -> String {
        format!("/{}", self.text.to_lowercase())
    }

    /// The kind of each segment: `L` is a literal, `P` something else, `O` a segment that may be missing at the end,
    /// `C` the rest of the path.
    fn shape(&self) -> String {
        let segments = &self.template.segments;
        let required = segments.iter().rposition(|segment| !may_be_missing(segment)).map_or(0, |last| last + 1);
        let kind = |(at, segment): (usize, &Segment)| match segment {
            Segment::Literal(_) => 'L',
            Segment::Parameter(Parameter { catch_all: true, .. }) => 'C',
            Segment::Parameter(_) if at >= required => 'O',
            Segment::Parameter(_) | Segment::Mixed(_) => 'P',
        };
        segments.iter().enumerate().map(kind).collect()
    }

    /// The values of the parameters, if the segments of a path match.
    ///
    /// ```
    /// use workflow_http::http::route::Route;
    ///
    /// let route = Route::new("orders/{id:int}", "GET").unwrap();
    /// assert_eq!(route.matches(&["orders".into(), "42".into()]).unwrap()["id"], "42");
    /// assert!(route.matches(&["orders".into(), "new".into()]).is_none());
    /// ```
    pub fn matches(&self, path: &[String]) -> Option<Map<String, Value>> {
        let mut values = Map::new();
        for (at, segment) in self.template.segments.iter().enumerate() {
            match (segment, path.get(at)) {
                (Segment::Literal(literal), Some(given)) if given.to_lowercase() == *literal => {}
                (Segment::Parameter(parameter), Some(_)) if parameter.catch_all => {
                    take(parameter, &path[at..].join("/"), &mut values)?;
                    return Some(values);
                }
                (Segment::Parameter(parameter), Some(given)) => take(parameter, given, &mut values)?,
                (Segment::Parameter(parameter), None) if parameter.may_be_missing() => {
                    if let Some(default) = &parameter.default {
                        values.insert(parameter.name.clone(), Value::from(default.as_str()));
                    }
                }
                (Segment::Mixed(parts), Some(given)) => take_mixed(parts, given, &mut values)?,
                _ => return None,
            }
        }
        (path.len() <= self.template.segments.len()).then_some(values)
    }

    /// Orders two routes that match a request as ASP.NET does: segment by segment, the more specific one first.
    pub fn precedence(&self, other: &Self) -> Ordering {
        let ranks = |route: &Self| route.template.segments.iter().map(rank).collect::<Vec<_>>();
        ranks(self).cmp(&ranks(other))
    }
}

fn is_of_method(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

fn literal(segment: &Segment) -> Option<&str> {
    match segment {
        Segment::Literal(text) => Some(text),
        Segment::Parameter(_) | Segment::Mixed(_) => None,
    }
}

fn may_be_missing(segment: &Segment) -> bool {
    matches!(segment, Segment::Parameter(parameter) if parameter.may_be_missing())
}

fn rank(segment: &Segment) -> u8 {
    match segment {
        Segment::Literal(_) => 1,
        Segment::Mixed(_) => 2,
        Segment::Parameter(parameter) => {
            3 + if parameter.catch_all { 2 } else { 0 } - u8::from(!parameter.constraints.is_empty())
        }
    }
}

fn take(parameter: &Parameter, given: &str, values: &mut Map<String, Value>) -> Option<()> {
    if !parameter.constraints.iter().all(|constraint| constraint.accepts(given)) {
        return None;
    }
    values.insert(parameter.name.clone(), Value::from(given));
    Some(())
}

/// Matches from right to left, as ASP.NET does: a parameter takes as little as possible.
fn take_mixed(parts: &[TemplatePart], given: &str, values: &mut Map<String, Value>) -> Option<()> {
    let lower = given.to_lowercase();
    // If lower case changes the length, positions in the two texts differ: use the lower-case text for both.
    let given = if lower.len() == given.len() { given } else { &lower };
    let mut end = given.len();
    let mut open: Option<&Parameter> = None;
    for (at, part) in parts.iter().enumerate().rev() {
        match part {
            TemplatePart::Parameter(parameter) => open = Some(parameter),
            TemplatePart::Literal(text) => {
                let text = text.to_lowercase();
                let rest = lower.get(..end)?;
                let start = match (open, at) {
                    (None, _) => rest.ends_with(&text).then(|| end - text.len())?,
                    (Some(_), 0) => rest.starts_with(&text).then_some(0)?,
                    // The parameter after this literal needs at least one character.
                    (Some(_), _) => last_before(rest, &text)?,
                };
                if let Some(parameter) = open.take() {
                    let value = given.get(start + text.len()..end).filter(|value| !value.is_empty())?;
                    take(parameter, value, values)?;
                }
                end = start;
            }
        }
    }
    match open {
        Some(parameter) => take(parameter, given.get(..end).filter(|value| !value.is_empty())?, values),
        None => (end == 0).then_some(()),
    }
}

/// The last position of a text that is followed by at least one character.
fn last_before(text: &str, wanted: &str) -> Option<usize> {
    let (last, _) = text.char_indices().next_back()?;
    text.get(..last)?.rfind(wanted)
}

/// The possible first segments of routes that a path may match.
pub fn firsts_of(path: &[String]) -> [String; 2] {
    [path.first().map(|segment| segment.to_lowercase()).unwrap_or_default(), OPEN.to_owned()]
}

/// The prefix of the routes with a first segment and a shape that a path may match. `None` if it matches none of them.
pub fn prefix_of(first_and_shape: &str, path: &[String]) -> Option<String> {
    let (_, shape) = first_and_shape.rsplit_once('/')?;
    let required = shape.bytes().take_while(|kind| matches!(kind, b'L' | b'P')).count();
    let has_end = !shape.ends_with('C');
    if path.len() < required || (has_end && path.len() > shape.len()) {
        return None;
    }
    let literals = shape.bytes().zip(path).filter(|(kind, _)| *kind == b'L').map(|(_, text)| text.to_lowercase());
    Some(format!("{first_and_shape}|{}|", literals.collect::<Vec<_>>().join("/")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
    }

    fn route(template: &str) -> Route {
        Route::new(template, "GET").expect(template)
    }

    #[test]
    fn a_route_is_indexed_by_shape_and_literals() {
        for (template, key) in [
            ("/", "/|||get"),
            ("orders", "orders/L|orders|orders|get"),
            ("/Orders/{Id:int}/", "orders/LP|orders|Orders/{Id:int}|get"),
            ("orders/{id}/lines/{line?}", "orders/LPLO|orders/lines|orders/{id}/lines/{line?}|get"),
            ("a/{b?}/c", "a/LPL|a/c|a/{b?}/c|get"),
            ("files/{name}.{ext}/{*rest}", "files/LPC|files|files/{name}.{ext}/{*rest}|get"),
        ] {
            let route = route(template);
            assert_eq!(route.key(), key);
            assert_eq!(Route::read(key), Some(route));
        }
        assert_eq!(Route::read("orders/LP|orders"), None);
    }

    #[test]
    fn the_first_segment_is_a_literal_or_open() {
        for (template, segment) in [
            ("/", ""),
            ("Orders", "orders"),
            ("/ÄRGER/{id}", "ärger"),
            ("{{x}}/y", "{x}"),
            ("*/x", OPEN),
            ("{id}/orders", OPEN),
            ("{page?}", OPEN),
            ("{*all}", OPEN),
            ("v{major}/x", OPEN),
        ] {
            assert_eq!(route(template).first_segment(), segment, "{template}");
        }
    }

    #[test]
    fn paths_match_and_give_values() {
        for (template, given, values) in [
            ("orders/{id}", "orders/7", json!({"id": "7"})),
            ("Orders/{Id}", "ORDERS/Seven", json!({"Id": "Seven"})),
            ("orders/{id:int}", "orders/7", json!({"id": "7"})),
            ("orders/{id?}", "orders", json!({})),
            ("orders/{page=1}", "orders", json!({"page": "1"})),
            ("orders/{page=1}", "orders/2", json!({"page": "2"})),
            ("files/{*path}", "files/a/b.txt", json!({"path": "a/b.txt"})),
            ("files/{*path}", "files", json!({})),
            ("v{major}.{minor}", "v1.2.3", json!({"major": "1.2", "minor": "3"})),
            ("{name}-order", "big-order-order", json!({"name": "big-order"})),
            ("{a}-{b}", "x-y", json!({"a": "x", "b": "y"})),
            ("", "", json!({})),
        ] {
            assert_eq!(route(template).matches(&path(given)).map(Value::Object), Some(values), "{template} {given}");
        }
    }

    #[test]
    fn other_paths_do_not() {
        for (template, given) in [
            ("orders", "orders/7"),
            ("orders/{id}", "orders"),
            ("orders/{id}", "orders/7/lines"),
            ("orders/{id:int}", "orders/seven"),
            ("a/{b?}/c", "a/c"),
            ("v{major}.{minor}", "v1"),
            ("v{major}.{minor}", "v1."),
            ("v{major}.{minor}", "1.2"),
            ("{a}-{b}", "-y"),
            ("", "orders"),
        ] {
            assert_eq!(route(template).matches(&path(given)), None, "{template} {given}");
        }
    }

    #[test]
    fn the_more_special_route_comes_first() {
        let order =
            ["orders", "orders/new", "orders/v{id}", "orders/{id}", "orders/{id:int}/{*rest}", "orders/{*rest}"];
        let mut sorted = order.map(route);
        sorted.reverse();
        sorted.sort_by(Route::precedence);
        assert_eq!(
            sorted.map(|route| route.text),
            ["orders", "orders/new", "orders/v{id}", "orders/{id:int}/{*rest}", "orders/{id}", "orders/{*rest}"]
        );
        assert_eq!(route("a/{x}").precedence(&route("a/{y}")), Ordering::Equal);
    }

    #[test]
    fn methods_are_words() {
        for method in ["", "GE T", "GET|", "a".repeat(33).as_str()] {
            assert_eq!(Route::new("a", method).expect_err(method).sqlstate, "22023");
        }
    }

    /// A template and a path that matches it.
    fn matching() -> impl Strategy<Value = (String, Vec<String>)> {
        let word = "[a-zA-ZäÄ]{1,6}";
        let segment = prop_oneof![
            word.prop_map(|word| (word.clone(), word.to_uppercase())),
            (word, word).prop_map(|(_, value)| ("{#}".to_owned(), value)),
            any::<i32>().prop_map(|value| ("{#:int}".to_owned(), value.to_string())),
            (word, word).prop_map(|(word, value)| (format!("{word}-{{#}}"), format!("{word}-{value}"))),
        ];
        (prop::collection::vec(segment, 0..6), prop::option::of(prop::collection::vec(word, 0..3))).prop_map(
            |(segments, rest)| {
                let mut template = Vec::new();
                let mut path = Vec::new();
                for (at, (pattern, value)) in segments.into_iter().enumerate() {
                    template.push(pattern.replace('#', &format!("p{at}")));
                    path.push(value);
                }
                if let Some(rest) = rest {
                    template.push("{*rest}".into());
                    path.extend(rest);
                }
                (template.join("/"), path)
            },
        )
    }

    proptest! {
        /// The index finds every route that matches.
        #[test]
        fn what_matches_is_found_by_its_prefix((template, path) in matching()) {
            let route = route(&template);
            prop_assert!(route.matches(&path).is_some());
            let key = route.key();
            let shape = key.split('|').next().expect("a shape");
            prop_assert!(firsts_of(&path).iter().any(|first| key.starts_with(&format!("{first}/"))), "{key}");
            let prefix = prefix_of(shape, &path).expect("a prefix");
            prop_assert!(key.starts_with(&prefix), "{key} {prefix}");
        }

        /// For any path and any shape, a route that matches has the prefix.
        #[test]
        fn no_match_is_hidden(
            (template, _) in matching(), path in prop::collection::vec("[a-zA-Z0-9-]{1,6}", 0..6)
        ) {
            let route = route(&template);
            if route.matches(&path).is_some() {
                let key = route.key();
                let shape = key.split('|').next().expect("a shape");
                prop_assert!(firsts_of(&path).iter().any(|first| key.starts_with(&format!("{first}/"))), "{key}");
                prop_assert!(prefix_of(shape, &path).is_some_and(|prefix| key.starts_with(&prefix)));
            }
        }

        #[test]
        fn no_text_panics(template in "[a-c{}:=?*./()|0-9-]{0,30}|\\PC{0,30}", path in prop::collection::vec("\\PC{0,8}", 0..4)) {
            if let Ok(route) = Route::new(&template, "get") {
                let _ = route.matches(&path);
                prop_assert_eq!(Route::read(&route.key()), Some(route.clone()));
            }
            let _ = Route::read(&template);
            let _ = prefix_of(&template, &path);
        }
    }
}
