//! JSON: read as PostgreSQL's jsonb reads it, and searched for the place of a part.

use serde_json::Value;
use workflow_engine::value::parse_json;

use super::{Position, SyntaxError};

pub(super) fn read(text: &str) -> Result<Value, SyntaxError> {
    parse_json(text).map_err(|fault| match serde_json::from_str::<Value>(text) {
        Err(error) if error.line() > 0 => {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or(&message);
            SyntaxError {
                at: at_column(text, error.line(), error.column()),
                message: format!("invalid JSON: {message}"),
            }
        }
        // What only jsonb refuses: deeper nesting, and \u0000.
        _ => SyntaxError { at: Position::START, message: fault.message },
    })
}

/// The position of a byte of a line, as serde_json counts.
fn at_column(text: &str, line: usize, byte: usize) -> Position {
    let content = text.split('\n').nth(line - 1).unwrap_or_default();
    let before = content.char_indices().take_while(|(at, _)| *at + 1 < byte).count();
    Position { line, column: before + 1 }
}

/// The place of the innermost part that exists. The text is valid JSON.
pub(super) fn position(text: &str, steps: impl Iterator<Item = String>) -> Position {
    let scan = Scan { text };
    let mut value = scan.blanks(0);
    let mut shown = value;
    for step in steps {
        let Some((place, inner)) = scan.inner(value, &step) else { break };
        (shown, value) = (place, inner);
    }
    let before = &text[..shown];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Position { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}

struct Scan<'a> {
    text: &'a str,
}

impl Scan<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or_default()
    }

    fn blanks(&self, at: usize) -> usize {
        at + self.text.as_bytes()[at.min(self.text.len())..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count()
    }

    /// Where the member or element with this name begins, and its value. Of members with the same name the last one
    /// counts.
    fn inner(&self, value: usize, step: &str) -> Option<(usize, usize)> {
        let is_object = self.byte(value) == b'{';
        if !is_object && self.byte(value) != b'[' {
            return None;
        }
        let mut found = None;
        let mut at = self.blanks(value + 1);
        let mut index = 0;
        while !matches!(self.byte(at), b'}' | b']' | 0) {
            let start = at;
            let is_wanted = match is_object {
                true => {
                    at = self.end(at);
                    let key = serde_json::from_str::<String>(&self.text[start..at]);
                    at = self.blanks(self.blanks(at) + 1);
                    key.is_ok_and(|key| key == step)
                }
                false => step.parse() == Ok(index),
            };
            if is_wanted {
                found = Some((start, at));
            }
            index += 1;
            at = self.blanks(self.end(at));
            if self.byte(at) == b',' {
                at = self.blanks(at + 1);
            }
        }
        found
    }

    /// The end of the value that begins here.
    fn end(&self, start: usize) -> usize {
        let (mut at, mut depth) = (start, 0usize);
        loop {
            match self.byte(at) {
                b'"' => at = self.end_of_string(at),
                b'{' | b'[' => {
                    depth += 1;
                    at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    at += 1;
                }
                _ if depth == 0 => return self.end_of_word(at),
                0 => return at,
                _ => at += 1,
            }
            if depth == 0 {
                return at;
            }
        }
    }

    fn end_of_string(&self, start: usize) -> usize {
        let mut at = start + 1;
        while !matches!(self.byte(at), b'"' | 0) {
            at += if self.byte(at) == b'\\' { 2 } else { 1 };
        }
        at + 1
    }

    fn end_of_word(&self, start: usize) -> usize {
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        start + self.text.as_bytes()[start.min(self.text.len())..].iter().take_while(is_part).count().max(1)
    }
}
