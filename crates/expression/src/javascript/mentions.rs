//! Which variables and inputs the text of a script names, as far as the text alone can tell.
//!
//! A wrong report is worse than none. So a script whose words cannot be distinguished from its strings names nothing,
//! and `sets_any` is set for each script that may set a variable of any name.

use std::collections::BTreeSet;

use super::scan::suffix_of;

/// The names in a script.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mentioned {
    /// Suffixes of `getXxx()` that the script does not define itself.
    pub getters: BTreeSet<String>,
    /// Names in `getVariable("…")`.
    pub variables: BTreeSet<String>,
    /// Names in `getInput("…")`.
    pub inputs: BTreeSet<String>,
    /// Names that may become variables: of `setVariable("…", …)`, `setXxx(…)` and `variables.Xxx`.
    pub sets: BTreeSet<String>,
    /// Whether a variable of any name may be set.
    pub sets_any: bool,
}

/// Finds the names in a script.
pub fn mentioned(source: &str) -> Mentioned {
    match tokens(source) {
        Some(tokens) => read(&tokens),
        None => Mentioned { sets_any: true, ..Mentioned::default() },
    }
}

/// A part of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'s> {
    Word(&'s str),
    /// A string; `None` if it has escapes.
    Text(Option<&'s str>),
    /// A number, a template or a regular expression.
    Other,
    Sign(char),
}

/// Words that do not end a value: a slash after them does not divide, and a parenthesis after them is no call.
const OPERATORS: [&str; 16] = [
    "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "function", "class",
    "const", "let", "var",
];

fn read(tokens: &[Token<'_>]) -> Mentioned {
    let mut found = Mentioned::default();
    let mut defined = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let sign = |offset: usize, sign: char| tokens.get(at + offset) == Some(&Token::Sign(sign));
        let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
        let spread = before(2) == Some(&Token::Sign('.')) && before(3) == Some(&Token::Sign('.'));
        let is_member = before(1) == Some(&Token::Sign('.')) && !spread;
        let quoted = match (sign(1, '('), tokens.get(at + 2)) {
            (true, Some(Token::Text(Some(text)))) if sign(3, ')') || sign(3, ',') => Some((*text).to_owned()),
            _ => None,
        };
        match *word {
            "getVariable" if !is_member => found.variables.extend(quoted),
            "getInput" if !is_member => found.inputs.extend(quoted),
            "setVariable" => match quoted {
                Some(name) => drop(found.sets.insert(name)),
                None => found.sets_any = true,
            },
            "variables" if !is_member => match (sign(1, '.'), tokens.get(at + 2)) {
                (true, Some(Token::Word(name))) => drop(found.sets.insert((*name).to_owned())),
                _ => found.sets_any = true,
            },
            _ => {
                if let Some(suffix) = suffix_of(word, "set") {
                    found.sets.insert(suffix.to_owned());
                }
                let Some(suffix) = suffix_of(word, "get") else { continue };
                let declares = matches!(before(1), Some(Token::Word(word)) if OPERATORS[8..].contains(word));
                let called = sign(1, '(') && sign(2, ')') && !sign(3, '{');
                if called && !is_member && !declares {
                    found.getters.insert(suffix.to_owned());
                } else {
                    defined.insert(suffix);
                }
            }
        }
    }
    found.getters.retain(|suffix| !defined.contains(suffix.as_str()));
    found
}

/// The parts of a script; `None` if the end of a string cannot be determined.
fn tokens(source: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    // The number of open braces in each template literal around the current position.
    let mut templates: Vec<usize> = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if first.is_whitespace() => first.len_utf8(),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/")? + 2,
            '/' if !ends_value(tokens.last()) => {
                tokens.push(Token::Other);
                regular_expression(rest)?
            }
            '"' | '\'' => {
                let length = string(rest, first)?;
                let inner = &rest[1..length - 1];
                tokens.push(Token::Text((!inner.contains('\\')).then_some(inner)));
                length
            }
            '`' => template(rest, 1, &mut templates, &mut tokens)?,
            '}' if templates.last() == Some(&0) => {
                templates.pop();
                template(rest, 1, &mut templates, &mut tokens)?
            }
            _ if first.is_alphanumeric() || matches!(first, '_' | '$') => {
                let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
                let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
                tokens.push(if first.is_numeric() { Token::Other } else { Token::Word(&rest[..length]) });
                length
            }
            // Names may be written with escapes.
            '\\' => return None,
            sign => {
                if let Some(open) = templates.last_mut() {
                    match sign {
                        '{' => *open += 1,
                        '}' => *open -= 1,
                        _ => {}
                    }
                }
                tokens.push(Token::Sign(sign));
                sign.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    templates.is_empty().then_some(tokens)
}

/// Whether a slash after this divides.
fn ends_value(token: Option<&Token<'_>>) -> bool {
    match token {
        Some(Token::Word(word)) => !OPERATORS.contains(word),
        Some(Token::Text(_) | Token::Other) => true,
        Some(Token::Sign(sign)) => matches!(sign, ')' | ']' | '}'),
        None => false,
    }
}

/// The length of a string that begins here.
fn string(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return None,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The length of a template, or of the part of it up to the next value inside.
fn template(text: &str, from: usize, templates: &mut Vec<usize>, tokens: &mut Vec<Token<'_>>) -> Option<usize> {
    let mut before = ' ';
    let mut escaped = false;
    for (at, c) in text[from..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '`' => {
                tokens.push(Token::Other);
                return Some(from + at + 1);
            }
            '{' if before == '$' => {
                templates.push(0);
                tokens.push(Token::Sign('('));
                return Some(from + at + 1);
            }
            _ => {}
        }
        before = c;
    }
    None
}

/// The length of a regular expression that begins here.
fn regular_expression(text: &str) -> Option<usize> {
    let (mut escaped, mut in_class) = (false, false);
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return None,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(set: &BTreeSet<String>) -> Vec<&str> {
        set.iter().map(String::as_str).collect()
    }

    #[test]
    fn names_are_found_in_code_and_nowhere_else() {
        let source = r#"
            // getComment() and setComment(1)
            /* getVariable("block") */
            const text = "getText()" + 'getVariable("quoted")' + `getTemplate() ${getInside() + `${getDeep()}`} getAfter()`;
            const half = getTotal() / 2 / getCount();
            if (/getRegex() ["'`]/.test(text)) setVariable("Made", getVariable('Read'));
            setOther(getInput("order").getMember());
            f(...getSpread());
            variables.Kept = 1;
        "#;
        let found = mentioned(source);
        assert_eq!(names(&found.getters), ["Count", "Deep", "Inside", "Spread", "Total"]);
        assert_eq!(names(&found.variables), ["Read"]);
        assert_eq!(names(&found.inputs), ["order"]);
        assert_eq!(names(&found.sets), ["Kept", "Made", "Other"]);
        assert!(!found.sets_any);
    }

    #[test]
    fn what_a_script_defines_itself_is_not_asked_for() {
        for source in [
            "function getOwn() { return 1 } getOwn()",
            "const getOwn = () => 1; getOwn()",
            "((getOwn) => getOwn())(() => 1)",
            "({getOwn() { return 1 }}).getOwn()",
            "class A { getOwn() { return 1 } }; new A().getOwn()",
            "typeof getOwn === 'function' ? getOwn() : 0",
            "this.getOwn?.()",
            "getOwn(1)",
        ] {
            assert_eq!(mentioned(source).getters, BTreeSet::new(), "{source}");
        }
    }

    #[test]
    fn what_cannot_be_told_may_set_anything() {
        for source in [
            "setVariable(name, 1)",
            "const f = setVariable; f('x', 1)",
            "variables['x'] = 1",
            "const v = variables; v.x = 1",
            "'open",
            "`open ${a",
            "/open",
            "\\u0061 = 1",
        ] {
            assert!(mentioned(source).sets_any, "{source}");
        }
        for source in ["", "1 / 2", "a['x']", "getVariable(name)", "getVariable('a' + b)", "'it\\'s'"] {
            assert_eq!(mentioned(source), Mentioned::default(), "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[`'\"/{}$\\\\()a-cg-tV. \\n\\[\\]*é]{0,60}") {
            let _ = mentioned(&text);
        }
    }
}
