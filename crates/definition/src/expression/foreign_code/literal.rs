//! String literals of C# and Python.

use workflow_core::activity::ForeignLanguage;

/// The raw text between the quotes at the beginning, and the rest after them.
pub(super) fn quoted(text: &str, language: ForeignLanguage) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| *c == '"' || (*c == '\'' && language == ForeignLanguage::Python))?;
    let mut escaped = false;
    for (at, character) in text[1..].char_indices() {
        match character {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return Some((&text[1..=at], &text[at + 2..])),
            _ => {}
        }
    }
    None
}

/// A text with its escapes resolved. `None`: an escape is not supported.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        plain.push(match rest.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            same @ ('\\' | '"' | '\'') => same,
            'u' => {
                let digits: String = rest.by_ref().take(4).collect();
                char::from_u32(u32::from_str_radix(&digits, 16).ok()?).filter(|c| *c != '\0' && digits.len() == 4)?
            }
            _ => return None,
        });
    }
    Some(plain)
}

/// C#'s `@"…"` without the `@`, and the rest after it: no escapes, a quote is doubled.
pub(super) fn verbatim(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?;
    let mut read = String::new();
    loop {
        let (plain, after) = rest.split_once('"')?;
        read.push_str(plain);
        match after.strip_prefix('"') {
            Some(more) => {
                read.push('"');
                rest = more;
            }
            None => return Some((read, after)),
        }
    }
}

/// C#'s `"""…"""`, and the rest after it: no escapes. In a text of several lines, the blanks before the closing quotes
/// are removed from each line.
pub(super) fn raw(text: &str) -> Option<(String, &str)> {
    let (inner, rest) = text.strip_prefix("\"\"\"")?.split_once("\"\"\"")?;
    if rest.starts_with('"') || inner.starts_with('"') {
        return None;
    }
    let Some((first, lines)) = inner.split_once('\n') else {
        return Some((inner.to_owned(), rest));
    };
    let (lines, indent) = lines.rsplit_once('\n').unwrap_or(("", lines));
    if !first.trim().is_empty() || !indent.trim().is_empty() {
        return None;
    }
    let strip = |line: &str| match line.strip_prefix(indent) {
        Some(line) => Some(line.trim_end_matches('\r').to_owned()),
        None => line.trim().is_empty().then(String::new),
    };
    let lines: Option<Vec<String>> = lines.split('\n').map(strip).collect();
    Some((lines?.join("\n"), rest))
}

/// Whether a text is a single name.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && text.chars().all(|character| character.is_alphanumeric() || character == '_')
}
