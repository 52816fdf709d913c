//! Inspection of the text of users' SQL.

/// Whether the text is a query rather than an expression.
pub fn is_query(text: &str) -> bool {
    let word: String = without_comments(text).chars().take_while(char::is_ascii_alphabetic).collect();
    ["select", "with", "values"].contains(&word.to_ascii_lowercase().as_str())
}

/// The text without leading whitespace and comments.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let next = if let Some(line) = rest.strip_prefix("--") {
            line.find('\n').map_or("", |end| &line[end..])
        } else if let Some(block) = rest.strip_prefix("/*") {
            after_block(block)
        } else {
            return rest;
        };
        rest = next.trim_start();
    }
}

/// The text after a block comment. Block comments nest.
fn after_block(mut rest: &str) -> &str {
    let mut depth = 1;
    while depth > 0 {
        let Some(end) = rest.find("*/") else {
            return "";
        };
        let opened = rest.find("/*").filter(|open| *open < end);
        depth += if opened.is_some() { 1 } else { -1 };
        rest = &rest[opened.unwrap_or(end) + 2..];
    }
    rest
}

/// The beginning of a text, for messages.
pub fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(200).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
