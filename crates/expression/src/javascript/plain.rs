//! Scripts that only read a variable or an input: the engine reads the value without running JavaScript.
//!
//! Most scripts written in Elsa's designer are of this kind. Reading costs next to nothing, and a decimal keeps its
//! digits.

use serde_json::Value;

use super::names;
use super::scan::suffix_of;
use crate::Scope;

/// The value that such a script reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    /// The rest of the name in `getXxx()`.
    Generated(String),
    /// `getVariable("x")`, `variables.x`.
    Variable(String),
    /// `getInput("x")`.
    Input(String),
}

impl Plain {
    /// Recognizes a script that only reads. `is_global` recognizes names that the global object has.
    pub(super) fn of(source: &str, is_global: &dyn Fn(&str) -> bool) -> Option<Self> {
        let text = source.trim().trim_end_matches(';').trim_end();
        let text = match text.strip_prefix("return") {
            Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
            _ => text,
        };
        if let Some(name) = text.strip_prefix("variables.") {
            return is_name(name).then(|| Self::Variable(name.to_owned()));
        }
        let (function, argument) = text.strip_suffix(')')?.split_once('(')?;
        match function {
            "getVariable" => quoted(argument).map(Self::Variable),
            "getInput" => quoted(argument).map(Self::Input),
            _ if is_name(function) && !is_global(function) && argument.trim().is_empty() => {
                suffix_of(function, "get").map(|suffix| Self::Generated(suffix.to_owned()))
            }
            _ => None,
        }
    }

    /// Reads the value. `None` if it is missing or its name differs in letter case, so that the script must run.
    pub(super) fn read(&self, scope: &dyn Scope) -> Option<Value> {
        match self {
            Self::Generated(suffix) => names::generated(scope, suffix),
            Self::Variable(name) => scope.variable(name),
            Self::Input(name) => scope.input(name),
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The text of a literal without escapes.
fn quoted(argument: &str) -> Option<String> {
    let argument = argument.trim();
    let inner = ['"', '\''].iter().find_map(|quote| argument.strip_prefix(*quote)?.strip_suffix(*quote))?;
    (!inner.contains(['"', '\'', '\\', '\n', '\r'])).then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Plain;

    #[test]
    fn only_plain_reads_are_recognized() {
        let of = |source| Plain::of(source, &|name| name == "getLastResult");
        let read = |plain: fn(String) -> Plain, name: &str| Some(plain(name.to_owned()));
        assert_eq!(of("getTotal()"), read(Plain::Generated, "Total"));
        assert_eq!(of(" return getInput1();\n"), read(Plain::Generated, "Input1"));
        assert_eq!(of("getVariable('my total')"), read(Plain::Variable, "my total"));
        assert_eq!(of("return variables.Total"), read(Plain::Variable, "Total"));
        assert_eq!(of("getInput( \"order\" )"), read(Plain::Input, "order"));
        for other in [
            "getLastResult()",
            "getTotal() + 1",
            "getTotal",
            "getTotal().x()",
            "returngetTotal()",
            "getInput('a\\x41')",
            "getInput('a') + getInput('b')",
            "getInput(a)",
            "variables.a.b",
            "variables.a = 1",
            "gettotal()",
            "getTotal(1)",
            "",
            "(",
            ")",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
