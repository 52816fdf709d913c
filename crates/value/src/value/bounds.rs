//! Limits on values that are read: a value takes many times the memory of the text or bytes that it is read from.
//!
//! The shell applies its settings at the start of each call. They apply to values from outside of the engine (bodies,
//! arguments, results of SQL and of scripts) and to values that a workflow creates and stores. They do not apply when a
//! stored value is read again: a lower limit makes no instance unreadable.

use std::cell::Cell;

use serde_json::Value;

use super::MAX_DEPTH;
use crate::fault::Fault;

/// Limits on one value, and whether to stop.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of a request's body. Texts and names of any other value may have twice as many: a file in it is Base64.
    pub body: usize,
    /// Maximum number of values and names of members in one value, including itself.
    pub nodes: usize,
    /// Whether the query is cancelled, or the call has used up its memory. Called often; must not unwind.
    pub interrupted: fn() -> bool,
    /// Bytes that the call may still allocate.
    pub spare: fn() -> usize,
    /// Whether the call may allocate this many bytes. If not, it is time to stop.
    pub room: fn(usize) -> bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { body: 10 << 20, nodes: 1_000_000, interrupted: || false, spare: || usize::MAX, room: |_| true }
    }
}

thread_local! {
    static CURRENT: Cell<Option<Bounds>> = const { Cell::new(None) };
}

impl Bounds {
    /// The limits that the host has set for this thread.
    pub fn current() -> Self {
        CURRENT.get().unwrap_or_default()
    }

    /// Sets the limits of this thread.
    pub fn apply(self) {
        CURRENT.set(Some(self));
    }

    /// Refuses a value that exceeds these limits.
    ///
    /// # Errors
    /// As [`check_extent`].
    pub fn check(self, value: &Value) -> Result<(), Fault> {
        check_nodes(value, Tally::of(self, self.text()))
    }

    /// Maximum total size of texts and names of one value, in bytes.
    pub fn text(&self) -> usize {
        self.body.saturating_mul(2)
    }

    /// Whether a list may take one more item: it is not time to stop, and there is memory if the list has to grow.
    pub fn may_push<T>(list: &Vec<T>) -> bool {
        let bounds = Self::current();
        if (bounds.interrupted)() {
            return false;
        }
        list.len() < list.capacity() || (bounds.room)(list.capacity().saturating_mul(2 * size_of::<T>()))
    }

    /// Checks whether to stop a long computation that has copied or is about to copy a value.
    ///
    /// # Errors
    /// 57014. Before the burst turns a fault into an incident, it asks the host, which ends the call with the reason.
    pub fn check_interrupts() -> Result<(), Fault> {
        if (Self::current().interrupted)() { Err(Exceeded::Interrupted.fault()) } else { Ok(()) }
    }
}

/// The exceeded limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// There are more values and names than this number.
    Nodes(usize),
    /// There is more text than this number of bytes.
    Text(usize),
    /// The query is cancelled, or the call has used up its memory.
    Interrupted,
}

impl Exceeded {
    /// The fault for it: 54000, or 57014 for an interrupt, whose reason the host knows.
    pub fn fault(self) -> Fault {
        match self {
            Self::Nodes(nodes) => Fault::new("54000", "JSON value has too many elements")
                .detail(format!("At most {nodes} values and names of members are allowed."))
                .hint("Work with it in pieces, or let a superuser raise workflow.max_nodes."),
            Self::Text(bytes) => Fault::new("54000", "value is too large")
                .detail(format!("At most {bytes} bytes of text are allowed, twice workflow.max_request_size."))
                .hint("Work with it in pieces, or let a superuser raise workflow.max_request_size."),
            Self::Interrupted => Fault::new("57014", "canceling statement due to user request"),
        }
    }
}

/// Maximum size of a value in addition to its text, in bytes: that of an object's only member.
const NODE: usize = 256;

/// From this size on, the nodes of a text are estimated before it is parsed.
const LARGE: usize = 1 << 20;

/// Refuses JSON text that is too large, or whose values do not fit into the available memory.
///
/// # Errors
/// The exceeded limit.
pub(super) fn check_text(text: &str) -> Result<(), Exceeded> {
    let bounds = Bounds::current();
    if text.len() > bounds.text() {
        return Err(Exceeded::Text(bounds.text()));
    }
    if text.len() < LARGE {
        return Ok(());
    }
    // Each value except the first, and each name, follows one of these characters.
    let nodes = text.bytes().filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{')).count() + 1;
    let room = nodes.min(bounds.nodes).saturating_mul(NODE).saturating_add(text.len());
    if (bounds.room)(room) { Ok(()) } else { Err(Exceeded::Interrupted) }
}

/// Nodes, and bytes of text, between two checks of whether to stop.
const NODES_PER_CHECK: usize = 1024;
const BYTES_PER_CHECK: usize = 256 << 10;

/// Counts nodes and text while a value is read.
#[derive(Debug)]
pub struct Tally {
    bounds: Bounds,
    text: usize,
    used: usize,
    nodes: usize,
    checked_bytes: usize,
    checked_nodes: usize,
}

impl Tally {
    /// Counts one value, or several that are one result, within the limits of this thread.
    pub fn new() -> Self {
        let bounds = Bounds::current();
        Self::of(bounds, bounds.text())
    }

    /// Counts a document with its own limit on its size, in bytes. The larger of the two limits applies.
    pub fn of_document(size: usize) -> Self {
        let bounds = Bounds::current();
        Self::of(bounds, bounds.text().max(size))
    }

    /// Counts a stored value that is read again: without limits, only checking whether to stop.
    pub fn of_stored() -> Self {
        Self::of(Bounds { nodes: usize::MAX, ..Bounds::current() }, usize::MAX)
    }

    fn of(bounds: Bounds, text: usize) -> Self {
        Self { bounds, text, used: 0, nodes: 0, checked_bytes: 0, checked_nodes: 0 }
    }

    /// Counts a value or a name, with the bytes of its text.
    ///
    /// # Errors
    /// The exceeded limit.
    pub fn node(&mut self, text: usize) -> Result<(), Exceeded> {
        self.nodes += 1;
        self.used = self.used.saturating_add(text);
        if self.nodes > self.bounds.nodes {
            return Err(Exceeded::Nodes(self.bounds.nodes));
        }
        if self.used > self.text {
            return Err(Exceeded::Text(self.text));
        }
        if self.nodes - self.checked_nodes >= NODES_PER_CHECK || self.used - self.checked_bytes >= BYTES_PER_CHECK {
            (self.checked_nodes, self.checked_bytes) = (self.nodes, self.used);
            if (self.bounds.interrupted)() {
                return Err(Exceeded::Interrupted);
            }
        }
        Ok(())
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}

/// Refuses a value that is nested deeper or larger than what can be stored and read again.
///
/// # Errors
/// 54001 and 54000.
#[inline]
pub fn check_extent(value: &Value) -> Result<(), Fault> {
    let bounds = Bounds::current();
    match value {
        Value::Array(_) | Value::Object(_) => check_nodes(value, Tally::new()),
        // Most variables hold such a value.
        scalar if bounds.nodes > 0 && text_of(scalar) <= bounds.text() => Ok(()),
        scalar => check_nodes(scalar, Tally::new()),
    }
}

fn check_nodes(value: &Value, mut tally: Tally) -> Result<(), Fault> {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth >= MAX_DEPTH {
            return Err(Fault::new("54001", "value is nested too deeply")
                .detail(format!("At most {MAX_DEPTH} levels are allowed.")));
        }
        tally.node(text_of(value)).map_err(Exceeded::fault)?;
        match value {
            Value::Array(items) => {
                for item in items {
                    match item {
                        Value::Array(_) | Value::Object(_) => open.push((item, depth + 1)),
                        scalar => tally.node(text_of(scalar)).map_err(Exceeded::fault)?,
                    }
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    tally.node(name.len()).map_err(Exceeded::fault)?;
                    match member {
                        Value::Array(_) | Value::Object(_) => open.push((member, depth + 1)),
                        scalar => tally.node(text_of(scalar)).map_err(Exceeded::fault)?,
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

/// Bytes of a value's own text.
#[inline]
fn text_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Number(number) => number.as_str().len(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::value::parse_json;

    fn within<R>(body: usize, nodes: usize, interrupted: fn() -> bool, work: impl FnOnce() -> R) -> R {
        Bounds { body, nodes, interrupted, ..Bounds::default() }.apply();
        let result = work();
        Bounds::default().apply();
        result
    }

    fn state<R>(outcome: Result<R, Fault>) -> String {
        outcome.map_or_else(|fault| fault.sqlstate, |_| "00000".into())
    }

    #[test]
    fn a_value_may_be_as_large_as_the_bounds_and_no_larger() {
        // Texts with their nodes, names included, and the bytes of texts, names and numbers.
        let texts: [(&str, usize, usize); 4] =
            [("[1,2,3]", 4, 3), ("{\"a\":[1],\"b\":\"four\"}", 6, 7), ("\"four\"", 1, 4), ("[[],{},[]]", 4, 0)];
        for (text, nodes, bytes) in texts {
            let value = parse_json(text).unwrap();
            for (more, expected) in [(0, "00000"), (1, "54000")] {
                let outcome = within(1 << 20, nodes - more, || false, || (parse_json(text), check_extent(&value)));
                assert_eq!(state(outcome.0), expected, "{text} in {nodes} nodes, {more} fewer");
                assert_eq!(state(outcome.1), expected, "{text} in {nodes} nodes, {more} fewer");
            }
            let fits = within(bytes.div_ceil(2), nodes, || false, || check_extent(&value));
            assert_eq!(state(fits), "00000", "{text} in {bytes} bytes");
            if bytes > 1 {
                let too_large = within((bytes - 1) / 2, nodes, || false, || check_extent(&value));
                assert_eq!(too_large.unwrap_err().sqlstate, "54000", "{text} in fewer than {bytes} bytes");
            }
        }
    }

    #[test]
    fn a_value_may_be_as_deep_as_what_is_read() {
        let nested = |levels: usize| parse_json(&format!("{}{}", "[".repeat(levels), "]".repeat(levels))).unwrap();
        assert!(check_extent(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(check_extent(&json!([nested(MAX_DEPTH)])).unwrap_err().sqlstate, "54001");
    }

    #[test]
    fn what_is_refused_names_the_setting() {
        let nodes = within(1 << 20, 2, || false, || check_extent(&json!([1, 2]))).unwrap_err();
        assert!(nodes.hint.unwrap().contains("workflow.max_nodes"));
        let text = within(1, 10, || false, || check_extent(&json!("abc"))).unwrap_err();
        assert!(text.hint.unwrap().contains("workflow.max_request_size"));
    }

    #[test]
    fn reading_stops_when_it_is_told_to() {
        let text = format!("[{}1]", "1,".repeat(10 * NODES_PER_CHECK));
        let fault = within(1 << 20, 1 << 20, || true, || parse_json(&text)).unwrap_err();
        assert_eq!(fault.sqlstate, "57014");
        assert!(within(1 << 20, 1 << 20, || true, || parse_json("[1]")).is_ok());
    }
}
