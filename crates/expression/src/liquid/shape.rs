//! Checks a template before it is parsed. The parser and the tree that it builds recurse, so nesting has a limit.

/// Maximum length of a template, in bytes.
const MAX_LENGTH: usize = 1 << 20;

/// Maximum nesting of blocks, and of brackets.
const MAX_NESTING: usize = 100;

/// Maximum number of conditions that the crate chains by nesting: `and`, `or`, `elsif` between two ends of blocks.
const MAX_CHAIN: usize = 250;

/// Bytes of tags that the check reads before it refuses a template: if tags open inside each other, it reads the same
/// text again from each opening.
const MAX_READ: usize = 2 * MAX_LENGTH;

/// Checks length, nesting and numbers.
pub(super) fn check(source: &str) -> Result<(), String> {
    if source.len() > MAX_LENGTH {
        return Err(format!("invalid Liquid: the template is longer than {} kB", MAX_LENGTH >> 10));
    }
    let (mut blocks, mut chain, mut read) = (0usize, 0usize, 0usize);
    let mut rest = source;
    while let Some(start) = rest.find('{') {
        let tag = &rest[start + 1..];
        let end = match tag.as_bytes().first() {
            Some(b'%') => "%}",
            Some(b'{') => "}}",
            _ => {
                rest = tag;
                continue;
            }
        };
        let inner = &tag[1..];
        let text = until(inner, end);
        read += text.len();
        if read > MAX_READ || brackets(text) > MAX_NESTING {
            return Err(too_deep());
        }
        if end == "%}" {
            count(text, &mut blocks, &mut chain);
        }
        if blocks > MAX_NESTING || chain > MAX_CHAIN {
            return Err(too_deep());
        }
        numbers_fit(text)?;
        // The tag may be text in `raw` or in quotes and hide another one: continue right after its start.
        rest = inner;
    }
    Ok(())
}

/// The text before the end of a tag. An end inside quotes does not count; there are no escapes.
fn until<'a>(inner: &'a str, end: &str) -> &'a str {
    let bytes = inner.as_bytes();
    let mut quote = None;
    for (at, byte) in bytes.iter().enumerate() {
        match quote {
            Some(open) if open == *byte => quote = None,
            Some(_) => {}
            None if bytes[at..].starts_with(end.as_bytes()) => return &inner[..at],
            None if matches!(byte, b'"' | b'\'') => quote = Some(*byte),
            None => {}
        }
    }
    inner
}

/// The parser takes whole numbers of 64 bits and panics at longer ones.
fn numbers_fit(tag: &str) -> Result<(), String> {
    // If the tag uses one kind of quotes, every other piece is quoted. Otherwise each piece is read as unquoted.
    let is_mixed = tag.contains('\'') && tag.contains('"');
    for (i, piece) in tag.split(['"', '\'']).enumerate() {
        if i % 2 == 0 || is_mixed {
            bare_numbers_fit(piece)?;
        }
    }
    Ok(())
}

/// Reads names and numbers as the parser does, which needs no separator: `12ab` is a number and a name.
fn bare_numbers_fit(mut rest: &str) -> Result<(), String> {
    let run = |text: &str, is_in: fn(u8) -> bool| text.bytes().take_while(|byte| is_in(*byte)).count();
    let digits = |text: &str| run(text, |byte| byte.is_ascii_digit());
    while let Some(first) = rest.bytes().next() {
        let mut length = rest.chars().next().map_or(1, char::len_utf8);
        if first.is_ascii_alphabetic() || first == b'_' {
            length = run(rest, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        } else if first.is_ascii_digit() {
            length = digits(rest);
            let fraction = rest[length..].strip_prefix('.').map_or(0, digits);
            if fraction > 0 {
                length += 1 + fraction;
            } else if rest[..length].parse::<i64>().is_err() {
                return Err(format!("invalid Liquid: the number {} is too large", &rest[..length]));
            }
        }
        rest = &rest[length..];
    }
    Ok(())
}

fn too_deep() -> String {
    format!("invalid Liquid: blocks, brackets or conditions are nested deeper than {MAX_NESTING} levels")
}

/// Counts what a tag opens, closes and chains. Counting too much does no harm.
fn count(tag: &str, blocks: &mut usize, chain: &mut usize) {
    let mut words = tag.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    match words.next() {
        Some("if" | "unless" | "for" | "case" | "capture" | "comment" | "raw") => *blocks += 1,
        Some("elsif" | "when") => *chain += 1,
        Some(word) if word.starts_with("end") => {
            *blocks = blocks.saturating_sub(1);
            if *blocks == 0 {
                *chain = 0;
            }
        }
        _ => {}
    }
    *chain += words.filter(|word| matches!(*word, "and" | "or")).count();
}

fn brackets(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'[').count()
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn nesting_is_limited() {
        let nested = |n: usize| format!("{}{}", "{% if a %}".repeat(n), "{% endif %}".repeat(n));
        assert!(check(&nested(100)).is_ok());
        assert!(check(&nested(101)).is_err());
        assert!(check(&"{% if a %}b{% endif %}".repeat(1000)).is_ok());
        assert!(check(&format!("{{{{ {} }}}}", "a[".repeat(200))).is_err());
        assert!(check(&format!("{{% if {} %}}", "a or ".repeat(300))).is_err());
        assert!(check(&"{% elsif a %}".repeat(300)).is_err());
        assert!(check(&" ".repeat(2 << 20)).is_err());
        assert!(check("[[[ {not} a tag {").is_ok());
    }

    #[test]
    fn an_end_in_quotes_hides_no_nesting() {
        let index = format!("{{{{ a{}{} }}}}", "[b[\"}}\"]".repeat(20_000), "]".repeat(20_000));
        assert!(check(&index).is_err());
        assert!(check(&format!("{{% if a == '%}}' {} %}}b{{% endif %}}", "or a ".repeat(300))).is_err());
        assert!(check("{{ a['}}'] }} and {{ b[\"%}\"] }}").is_ok());
    }

    #[test]
    fn tags_that_never_end_are_read_a_bounded_number_of_times() {
        for open in ["{%", "{{", "{%'", "{{\""] {
            assert!(check(&open.repeat((1 << 20) / open.len())).is_err(), "{open}");
        }
    }

    #[test]
    fn numbers_have_64_bits() {
        let long = "9".repeat(30);
        for tag in [
            "{{ N }}",
            "{{ -N }}",
            "{% for i in (1..N) %}",
            "{{ a | plus: N }}",
            "{% assign a = '%}' | plus: N %}",
            "{{ a[N] }}",
            "{{-N-}}",
            "{% if a > Nb.if c%}",
            "{{ 12-N }}",
            "{{ 1.5.N }}",
            "{{ a.N }}",
            "{{ éN }}",
        ] {
            let error = check(&tag.replace('N', &long)).expect_err(tag);
            assert!(error.contains("is too large"), "{error}");
        }
        for text in [
            "N",
            "{{ 'N' }}",
            "{{ \"N\" | size }}",
            "{{ aN }}",
            "{{ a-N }}",
            "{{ _N }}",
            "{{ N.5 }}",
            "{{ 0.N }}",
            "{{-9223372036854775807-}}",
        ] {
            assert_eq!(check(&text.replace('N', &long)), Ok(()), "{text}");
        }
    }
}
