//! Comparing the content of two documents.
//!
//! Compares as jsonb does: member order does not matter, and numbers are compared by value, with digits of any length.
//! It does not recurse, so any depth is safe.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Members of the document that describe the stored version or help its author, and not what the workflow does.
const BOOKKEEPING: [&str; 8] =
    ["$schema", "id", "version", "createdAt", "toolVersion", "isLatest", "isPublished", "tenantId"];

/// Whether two definitions have the same content, whatever their version and bookkeeping.
pub fn same_content(a: &Value, b: &Value) -> bool {
    let (Value::Object(left), Value::Object(right)) = (a, b) else {
        return same(vec![(a, b)]);
    };
    let ignored: HashSet<&str> = BOOKKEEPING.into_iter().collect();
    let counts = |object: &Map<String, Value>| object.keys().filter(|key| !ignored.contains(key.as_str())).count();
    if counts(left) != counts(right) {
        return false;
    }
    let mut pairs = Vec::new();
    for (key, value) in left.iter().filter(|(key, _)| !ignored.contains(key.as_str())) {
        match right.get(key) {
            Some(other) => pairs.push((value, other)),
            None => return false,
        }
    }
    same(pairs)
}

fn same(mut work: Vec<(&Value, &Value)>) -> bool {
    while let Some(pair) = work.pop() {
        match pair {
            (Value::Array(a), Value::Array(b)) => {
                if a.len() != b.len() {
                    return false;
                }
                work.extend(a.iter().zip(b));
            }
            (Value::Object(a), Value::Object(b)) => {
                if a.len() != b.len() {
                    return false;
                }
                for (key, value) in a {
                    match b.get(key) {
                        Some(other) => work.push((value, other)),
                        None => return false,
                    }
                }
            }
            (Value::Number(a), Value::Number(b)) => {
                let (a, b) = (a.to_string(), b.to_string());
                if a != b && ComparableNumber::read(&a) != ComparableNumber::read(&b) {
                    return false;
                }
            }
            (a, b) => {
                if a != b {
                    return false;
                }
            }
        }
    }
    true
}

/// The integer value of a number in any spelling (`3`, `3.0`, `30e-1`).
pub(super) fn whole_number(value: &Value) -> Option<i64> {
    let Value::Number(number) = value else {
        return None;
    };
    let text = number.to_string();
    let ComparableNumber::Plain { negative, digits, exponent } = ComparableNumber::read(&text) else {
        return None;
    };
    if !(0..=18).contains(&exponent) || digits.len() > 19 {
        return None;
    }
    let zeros = "0".repeat(usize::try_from(exponent).ok()?);
    let sign = if negative { "-" } else { "" };
    format!("{sign}{digits}{zeros}").parse().ok()
}

/// A number in a unique form: digits without zeros at either end, times a power of ten.
#[derive(Debug, PartialEq, Eq)]
enum ComparableNumber<'a> {
    Plain {
        negative: bool,
        digits: String,
        exponent: i64,
    },
    /// A number with an extreme exponent; such numbers are equal only if they are written identically.
    Odd(&'a str),
}

impl<'a> ComparableNumber<'a> {
    fn read(text: &'a str) -> Self {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()),
            None => (rest, Some(0)),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0').trim_end_matches('0');
        if digits.is_empty() {
            return Self::Plain { negative: false, digits: "0".into(), exponent: 0 };
        }
        let trailing = all.len() - all.trim_end_matches('0').len();
        let shift = i64::try_from(trailing).ok().zip(i64::try_from(fraction.len()).ok());
        let exponent = exponent
            .zip(shift)
            .and_then(|(exponent, (trailing, fraction))| exponent.checked_add(trailing)?.checked_sub(fraction));
        match exponent {
            Some(exponent) => Self::Plain { negative, digits: digits.into(), exponent },
            None => Self::Odd(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_str};

    use super::{same_content, whole_number};

    fn same(a: &str, b: &str) -> bool {
        let parse = |text: &str| from_str::<Value>(&format!("{{\"x\": {text}}}")).expect("valid JSON");
        same_content(&parse(a), &parse(b))
    }

    #[test]
    fn numbers_compare_by_value() {
        assert!(same("1", "1.0"));
        assert!(same("100", "1e2"));
        assert!(same("1.10", "1.1"));
        assert!(same("1e400", "10e399"));
        assert!(same("-0", "0.0"));
        assert!(same("0e99999999999999999999", "0"));
        assert!(same("1e99999999999999999999", "1e99999999999999999999"));
        assert!(!same("1e400", "1e401"));
        assert!(!same("1", "-1"));
        assert!(!same("1", "\"1\""));
    }

    #[test]
    fn only_bookkeeping_of_the_top_level_is_ignored() {
        let a = from_str(r#"{"name": "A", "version": 1, "root": {"id": "x", "version": 1}}"#).expect("valid");
        let b = from_str(r#"{"$schema": "s", "root": {"version": 1.0, "id": "x"}, "name": "A", "id": "7"}"#)
            .expect("valid");
        let c = from_str(r#"{"name": "A", "root": {"id": "y", "version": 1}}"#).expect("valid");
        assert!(same_content(&a, &b));
        assert!(!same_content(&a, &c));
        assert!(!same_content(&a, &Value::Null));
        assert!(same_content(&Value::Null, &Value::Null));
    }

    #[test]
    fn whole_numbers_in_any_spelling() {
        let whole = |text: &str| whole_number(&from_str(text).expect("valid JSON"));
        assert_eq!(whole("3.0"), Some(3));
        assert_eq!(whole("30e-1"), Some(3));
        assert_eq!(whole("-2e2"), Some(-200));
        assert_eq!(whole("3.5"), None);
        assert_eq!(whole("1e400"), None);
        assert_eq!(whole("99999999999999999999"), None);
        assert_eq!(whole("\"3\""), None);
    }
}
