//! A look at a template before it is parsed: the parser and what it builds recurse, so nesting has a limit.

/// Characters of a template at most.
const MAX_LENGTH: usize = 1 << 20;

/// Blocks inside each other, brackets inside each other.
const MAX_NESTING: usize = 100;

/// Conditions that the crate chains by nesting: `and`, `or`, `elsif` between two ends of blocks.
const MAX_CHAIN: usize = 250;

/// Checks length and nesting.
pub(super) fn check(source: &str) -> Result<(), String> {
    if source.len() > MAX_LENGTH {
        return Err(format!("invalid Liquid: the template is longer than {} kB", MAX_LENGTH >> 10));
    }
    let (mut blocks, mut chain) = (0usize, 0usize);
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
        let length = inner.find(end).unwrap_or(inner.len());
        let text = &inner[..length];
        if brackets(text) > MAX_NESTING {
            return Err(too_deep());
        }
        if end == "%}" {
            count(text, &mut blocks, &mut chain);
        }
        if blocks > MAX_NESTING || chain > MAX_CHAIN {
            return Err(too_deep());
        }
        // A quoted `%}` may end nothing: go on right after the start, so that no tag is overlooked.
        rest = inner;
    }
    Ok(())
}

fn too_deep() -> String {
    format!("invalid Liquid: blocks, brackets or conditions are nested deeper than {MAX_NESTING} levels")
}

/// Counts what a tag opens, closes and chains. More than is really open does no harm.
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
}
