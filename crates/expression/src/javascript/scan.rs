//! Scans the words of a script for the names that its wrapper has to declare.
//!
//! Words inside strings and comments are included: an unnecessary declaration does no harm.

use std::collections::BTreeSet;

/// The names in a script.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptNames {
    /// Suffixes of `getXxx`.
    pub(super) getters: BTreeSet<String>,
    /// Suffixes of `setXxx`.
    pub(super) setters: BTreeSet<String>,
    /// Names that are assigned to. Undeclared ones would be global variables; the wrapper makes them local.
    pub(super) assigned: BTreeSet<String>,
    /// Names of the global object that are assigned to: the wrapper declares a local copy of each.
    pub(super) replaced: BTreeSet<String>,
    /// Whether the `variables` container is used.
    pub(super) variables: bool,
}

/// Words that cannot name a variable, and names of the global object that a script must not hide by accident.
const RESERVED: &[&str] = &[
    "arguments",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "get",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "of",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "set",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "variables",
    "void",
    "while",
    "with",
    "yield",
];

/// Finds the words of a script. `is_global` recognizes names that are already defined.
pub(super) fn script_names(source: &str, is_global: &dyn Fn(&str) -> bool) -> ScriptNames {
    let mut script_names = ScriptNames::default();
    let mut before = ' ';
    let mut rest = source;
    while let Some(character) = rest.chars().next() {
        if !starts_name(character) {
            if !character.is_whitespace() {
                before = character;
            }
            let skipped = if character.is_ascii_digit() { length(rest) } else { character.len_utf8() };
            rest = &rest[skipped..];
            continue;
        }
        let (word, after) = rest.split_at(length(rest));
        take(word, before, after, is_global, &mut script_names);
        before = 'a';
        rest = after;
    }
    script_names
}

fn take(word: &str, before: char, after: &str, is_global: &dyn Fn(&str) -> bool, script_names: &mut ScriptNames) {
    if word == "variables" {
        script_names.variables = true;
    }
    if RESERVED.contains(&word) {
        return;
    }
    if is_global(word) {
        if before != '.' && is_assigned(after) {
            script_names.replaced.insert(word.to_owned());
        }
        return;
    }
    match (suffix_of(word, "get"), suffix_of(word, "set")) {
        (Some(suffix), _) => {
            script_names.getters.insert(suffix.to_owned());
        }
        // Elsa uses the names of inputs unchanged: `getcity()`.
        _ if before != '.' && word.starts_with("get") && after.trim_start().starts_with('(') => {
            script_names.getters.insert(word[3..].to_owned());
        }
        (_, Some(suffix)) => {
            script_names.setters.insert(suffix.to_owned());
        }
        _ if before != '.' && is_assigned(after) => {
            script_names.assigned.insert(word.to_owned());
        }
        _ => {}
    }
}

/// The suffix after the prefix of a generated function. `settings` has none.
pub(super) fn suffix_of<'a>(word: &'a str, prefix: &str) -> Option<&'a str> {
    word.strip_prefix(prefix).filter(|suffix| suffix.starts_with(|first: char| !first.is_lowercase()))
}

/// Whether the text after a name assigns to it: `=` (but neither `==` nor `=>`), or the head of a `for … of`.
fn is_assigned(after: &str) -> bool {
    let after = after.trim_start();
    let mut characters = after.chars();
    match characters.next() {
        Some('=') => !matches!(characters.next(), Some('=' | '>')),
        Some('o') => after.starts_with("of ") || after.starts_with("of["),
        Some('i') => after.starts_with("in "),
        _ => false,
    }
}

fn starts_name(character: char) -> bool {
    character.is_alphabetic() || matches!(character, '_' | '$')
}

/// Length of the name or number at the start.
fn length(text: &str) -> usize {
    text.find(|c: char| !starts_name(c) && !c.is_ascii_digit()).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn words_are_found() {
        let source = "settings = 1; x = getAmount() + a.b; y == 1; z => 2; setTotal(1.5e3); for (k of [1]) {}; let q = 0; isNull = 1";
        let script_names = script_names(source, &|name| name == "isNull");
        assert_eq!(script_names.getters, set(&["Amount"]));
        assert_eq!(script_names.setters, set(&["Total"]));
        assert_eq!(script_names.assigned, set(&["settings", "x", "k", "q"]));
        assert_eq!(script_names.replaced, set(&["isNull"]));
        assert!(!script_names.variables);
        assert!(super::script_names("variables.X += 1", &|_| false).variables);
    }

    #[test]
    fn inputs_have_getters_with_their_own_names() {
        let found = script_names("getcity() + getter + a.getAll() + b.getall() + gettotal (1)", &|_| false);
        assert_eq!(found.getters, set(&["All", "city", "total"]));
    }

    #[test]
    fn any_text_is_scanned() {
        for source in ["", "=", "a", "ä=1", "get", "\u{0}", "1e400", "😀=", "getⒶ"] {
            let _ = script_names(source, &|_| false);
        }
        assert_eq!(script_names("get = 1; default = 2", &|_| false), ScriptNames::default());
    }
}
