//! String literals of C# and Python.

/// What stands between two quotes that are not escaped, and nothing after them.
pub(super) fn inside<'t>(text: &'t str, quotes: &[char]) -> Option<&'t str> {
    let quote = text.chars().next().filter(|first| quotes.contains(first))?;
    let inner = text[1..].strip_suffix(quote)?;
    let mut escaped = false;
    for character in inner.chars() {
        if !escaped && (character == quote || character == '\n') {
            return None;
        }
        escaped = character == '\\' && !escaped;
    }
    (!escaped).then_some(inner)
}

/// A text with its escapes read. `None`: an escape that is not among the common ones.
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

/// C#'s `@"…"` without the sign: no escapes, a quote is doubled.
pub(super) fn verbatim(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let single = inner.replace("\"\"", "");
    (!single.contains('"')).then(|| inner.replace("\"\"", "\""))
}

/// Whether a text is one name.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && text.chars().all(|character| character.is_alphanumeric() || character == '_')
}
