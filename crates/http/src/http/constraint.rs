//! Constraints of route parameters: `int`, `range(1,9)`, `guid`, …

use serde_json::{Number, Value};
use uuid::Uuid;

use workflow_value::value::{TypeName, convert, number};

/// A condition on a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Constraint {
    /// Is a number of 32 bits.
    Int,
    /// Is a number of 64 bits.
    Long,
    /// Is a number, with or without a fraction.
    Number,
    /// Is `true` or `false`.
    Bool,
    /// Is a GUID.
    Guid,
    /// Is a date or an instant.
    DateTime,
    /// Has only letters of the English alphabet.
    Alpha,
    /// Is a whole number in this range.
    Range(i64, i64),
    /// Has at least and at most this many characters.
    Length(usize, usize),
    /// Is not empty.
    Required,
}

impl Constraint {
    /// Reads a constraint, the text after the colon.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (name, arguments) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or_else(|| unreadable(text))?)),
        };
        let Some(arguments) = arguments else {
            return plain(name);
        };
        let numbers: Option<Vec<i64>> = arguments.split(',').map(|number| number.trim().parse().ok()).collect();
        let numbers = numbers.ok_or_else(|| match name {
            "regex" => unknown(name),
            _ => unreadable(text),
        })?;
        let size = |number: i64| usize::try_from(number).map_err(|_| unreadable(text));
        match (name, numbers.as_slice()) {
            ("min", [least]) => Ok(Self::Range(*least, i64::MAX)),
            ("max", [most]) => Ok(Self::Range(i64::MIN, *most)),
            ("range", [least, most]) => Ok(Self::Range(*least, *most)),
            ("length", [exact]) => Ok(Self::Length(size(*exact)?, size(*exact)?)),
            ("length", [least, most]) => Ok(Self::Length(size(*least)?, size(*most)?)),
            ("minlength", [least]) => Ok(Self::Length(size(*least)?, usize::MAX)),
            ("maxlength", [most]) => Ok(Self::Length(0, size(*most)?)),
            ("min" | "max" | "range" | "length" | "minlength" | "maxlength", _) => Err(unreadable(text)),
            _ => Err(unknown(name)),
        }
    }

    /// Whether a value satisfies it.
    pub(super) fn accepts(&self, value: &str) -> bool {
        match self {
            Self::Int => value.parse::<i32>().is_ok(),
            Self::Long => value.parse::<i64>().is_ok(),
            Self::Number => number::from_text(value).is_some_and(|number: Number| number.as_f64().is_some()),
            Self::Bool => value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false"),
            Self::Guid => Uuid::try_parse(value).is_ok(),
            Self::DateTime => convert(Value::from(value), TypeName::DateTime).is_ok_and(|read| !read.is_null()),
            Self::Alpha => value.chars().all(|c| c.is_ascii_alphabetic()),
            Self::Range(least, most) => value.parse().is_ok_and(|number: i64| (*least..=*most).contains(&number)),
            Self::Length(least, most) => (*least..=*most).contains(&value.chars().count()),
            Self::Required => !value.is_empty(),
        }
    }
}

fn plain(name: &str) -> Result<Constraint, String> {
    Ok(match name {
        "int" => Constraint::Int,
        "long" => Constraint::Long,
        "decimal" | "double" | "float" => Constraint::Number,
        "bool" => Constraint::Bool,
        "guid" => Constraint::Guid,
        "datetime" => Constraint::DateTime,
        "alpha" => Constraint::Alpha,
        "required" => Constraint::Required,
        _ => return Err(unknown(name)),
    })
}

fn unknown(name: &str) -> String {
    format!("has an unknown constraint: \"{name}\"")
}

fn unreadable(text: &str) -> String {
    format!("has a constraint that cannot be read: \"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_accept_what_they_say() {
        for (constraint, good, bad) in [
            ("int", "-42", "4.2"),
            ("int", "2147483647", "2147483648"),
            ("long", "2147483648", "9223372036854775808"),
            ("decimal", "1.50", "1,50"),
            ("bool", "TRUE", "yes"),
            ("guid", "0192ab00-0000-7000-8000-0000000000ff", "0192ab00"),
            ("datetime", "2026-11-21", "soon"),
            ("alpha", "abc", "ab1"),
            ("min(18)", "18", "17"),
            ("max(9)", "9", "10"),
            ("range(1, 3)", "2", "4"),
            ("length(3)", "äöü", "ab"),
            ("length(1,2)", "a", "abc"),
            ("minlength(2)", "ab", "a"),
            ("maxlength(2)", "ab", "abc"),
            ("required", "a", ""),
        ] {
            let read = Constraint::parse(constraint).expect(constraint);
            assert!(read.accepts(good), "{constraint} {good}");
            assert!(!read.accepts(bad), "{constraint} {bad}");
        }
    }

    #[test]
    fn what_is_no_constraint_is_refused() {
        for (text, reason) in [
            ("regex(^a$)", "has an unknown constraint: \"regex\""),
            ("odd(1)", "has an unknown constraint: \"odd\""),
            ("range(1)", "has a constraint that cannot be read: \"range(1)\""),
            ("length(-1)", "has a constraint that cannot be read: \"length(-1)\""),
            ("min(1", "has a constraint that cannot be read: \"min(1\""),
        ] {
            assert_eq!(Constraint::parse(text), Err(reason.into()));
        }
    }
}
