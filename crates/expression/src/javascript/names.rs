//! Generated functions: the variable, input or output that `getXxx`, `setXxx` and `getXxxFromYyy` refer to.

use serde_json::Value;

use crate::{Scope, unknown_variable};
use workflow_value::fault::Fault;
use workflow_value::value::to_text;

/// Writes a name as in Elsa's generated functions: words start in upper case, separators are removed.
pub fn pascal(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut upper = true;
    for character in name.chars() {
        match character {
            '_' | ' ' | '-' => upper = true,
            _ if upper => {
                text.extend(character.to_uppercase());
                upper = false;
            }
            _ => text.push(character),
        }
    }
    text
}

/// The value that `get` + suffix refers to: variables before inputs before outputs of activities.
pub(super) fn generated(scope: &dyn Scope, suffix: &str) -> Option<Value> {
    // Nearly always the name is the suffix itself, or differs in the case of its first letter.
    if let Some(value) = scope.variable(suffix).or_else(|| scope.variable(&camel(suffix))) {
        return Some(value);
    }
    if let Some(name) = by_words(scope, suffix) {
        return scope.variable(&name);
    }
    if let Some(name) = scope.input_names().into_iter().find(|name| name == suffix || pascal(name) == suffix) {
        return Some(scope.input(&name).unwrap_or(Value::Null));
    }
    let (activity, output) = scope
        .output_names()
        .into_iter()
        .find(|(activity, output)| format!("{}From{}", pascal(output), pascal(activity)) == suffix)?;
    Some(scope.output_from(&activity, Some(&output)).unwrap_or(Value::Null))
}

/// The name of the variable that `get` + suffix refers to.
pub(super) fn variable_of(scope: &dyn Scope, suffix: &str) -> Option<String> {
    let exact = [suffix.to_owned(), camel(suffix)].into_iter().find(|name| scope.variable(name).is_some());
    exact.or_else(|| by_words(scope, suffix))
}

fn by_words(scope: &dyn Scope, suffix: &str) -> Option<String> {
    scope.variable_names().into_iter().find(|name| pascal(name) == suffix)
}

/// Sets the variable that `set` + suffix refers to and returns its name; `None` if there is none. In a script that may
/// set outcomes, `setOutcome` and `setOutcomes` set these and change no variable.
pub(super) fn set_generated(scope: &mut dyn Scope, suffix: &str, value: Value) -> Result<Option<String>, Fault> {
    if let ("Outcome" | "Outcomes", Some(outcomes)) = (suffix, scope.outcomes()) {
        *outcomes = named(suffix, &value)?;
        return Ok(Some(String::new()));
    }
    let names = scope.variable_names();
    let exact = names.iter().find(|name| *name == suffix);
    let Some(name) = exact.or_else(|| names.iter().find(|name| pascal(name) == suffix)) else {
        return Ok(None);
    };
    set_variable(scope, name, value)?;
    Ok(Some(name.clone()))
}

/// The outcomes in the argument of `setOutcome` or `setOutcomes`.
fn named(suffix: &str, value: &Value) -> Result<Vec<String>, Fault> {
    let name = |value: &Value| (value.is_string() || value.is_number()).then(|| to_text(value));
    let names = match value {
        Value::Array(list) if suffix == "Outcomes" => list.iter().map(name).collect(),
        value => name(value).map(|name| vec![name]),
    };
    names.ok_or_else(|| match suffix {
        "Outcomes" => Fault::new("22023", "setOutcomes takes a list of names"),
        _ => Fault::new("22023", "setOutcome takes a name"),
    })
}

/// Sets an existing variable.
pub(super) fn set_variable(scope: &mut dyn Scope, name: &str, value: Value) -> Result<(), Fault> {
    if scope.set_variable(name, value)? { Ok(()) } else { Err(unknown_variable(name)) }
}

fn camel(name: &str) -> String {
    let mut characters = name.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::pascal;

    #[test]
    fn names_are_written_as_elsa_writes_them() {
        for (name, expected) in
            [("theSum", "TheSum"), ("my var", "MyVar"), ("my_var", "MyVar"), ("A", "A"), ("", ""), ("größe", "Größe")]
        {
            assert_eq!(pascal(name), expected);
        }
    }
}
