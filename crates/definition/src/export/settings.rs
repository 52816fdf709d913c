//! Variables, arguments and options as Elsa writes them.

use serde_json::{Map, Value, json};

use super::fill;
use crate::constant::{EXACT_VALUE, as_text, constant};
use crate::forms::{ShortKey, short_form};
use crate::json::{Path, elements, entry, member, text};
use crate::problem::Problems;
use workflow_core::program::{Activation, IncidentStrategy, Options};
use workflow_value::value::{TypeName, parse_type_name};

/// Writes the `variables` of an object as a list, with initial values as text.
pub(super) fn variables(out: &mut Map<String, Value>) {
    let key = entry(out, "variables").map_or("variables", |(key, _)| key).to_owned();
    let value = out.remove(&key).unwrap_or_default();
    let list = match (elements(&value), &value) {
        (Some((_, list)), _) => list.iter().enumerate().map(|(at, element)| variable(element, at)).collect(),
        (None, Value::Null) => json!([]),
        (None, Value::Object(pairs)) => {
            pairs.iter().map(|(name, initial)| variable(&json!({"name": name, "value": initial}), 0)).collect()
        }
        (None, other) => other.clone(),
    };
    out.insert("variables".into(), list);
}

fn variable(element: &Value, at: usize) -> Value {
    let Value::Object(members) = element else {
        return element.clone();
    };
    let mut out = members.clone();
    let given = |name: &str| text(members, name).filter(|text| !text.is_empty());
    let (id, name) = (given("id"), given("name"));
    let name = name.or(id).map_or_else(|| format!("Variable{}", at + 1), Into::into);
    let id = id.map_or_else(|| name.clone(), Into::into);
    out.insert("id".into(), id.into());
    out.insert("name".into(), name.into());
    let type_text = given("typeName").or_else(|| given("type")).unwrap_or("Object").to_owned();
    if given("typeName").is_none() {
        out.remove("type");
        out.insert("typeName".into(), type_text.clone().into());
    }
    fill(&mut out, "isArray", || false.into());
    let type_name = match member(members, "isArray") {
        Some(Value::Bool(true)) => TypeName::List,
        _ => parse_type_name(&type_text),
    };
    initial(&mut out, type_name);
    Value::Object(out)
}

/// Writes the initial value as text, plus the value itself if the text would be read as another value.
fn initial(out: &mut Map<String, Value>, type_name: TypeName) {
    let Some((key, value)) = entry(out, "value").map(|(key, value)| (key.to_owned(), value.clone())) else {
        return;
    };
    let value = match short_form(&value) {
        Some((ShortKey::Literal, inner)) => inner.clone(),
        Some(_) => return,
        None => value,
    };
    if value.is_null() || value.is_string() {
        out.insert(key, value);
        return;
    }
    let written = as_text(&value);
    let read = |value: &Value| constant(value, type_name, &Path::Root, &mut Problems::default());
    // The reader must not mistake a value for an expression because it looks like one.
    if short_form(&value).is_some() || read(&Value::String(written.clone())) != read(&value) {
        let exact = if short_form(&value).is_some() { json!({"literal": value}) } else { value };
        out.insert(key, as_text(&exact).into());
        out.insert(EXACT_VALUE.into(), exact);
    } else {
        out.insert(key, written.into());
    }
}

/// Writes `inputs` or `outputs` with Elsa's members.
pub(super) fn arguments(out: &mut Map<String, Value>, list: &str) {
    let key = entry(out, list).map_or(list, |(key, _)| key).to_owned();
    let value = out.remove(&key).unwrap_or_default();
    let written = match elements(&value) {
        Some((_, elements)) => elements.iter().map(|element| argument(element, list)).collect(),
        None if value.is_null() => json!([]),
        None => value.clone(),
    };
    out.insert(list.into(), written);
}

fn argument(element: &Value, list: &str) -> Value {
    let Value::Object(members) = element else {
        return element.clone();
    };
    let mut out = members.clone();
    let type_text = text(members, "typeName").or_else(|| text(members, "type")).unwrap_or("Object");
    fill(&mut out, "type", || type_text.into());
    fill(&mut out, "displayName", || members.get("name").cloned().unwrap_or_default());
    fill(&mut out, "description", || "".into());
    fill(&mut out, "category", || "".into());
    fill(&mut out, "isArray", || false.into());
    if list == "inputs" {
        fill(&mut out, "uiHint", || "singleline".into());
        fill(&mut out, "storageDriverType", || Value::Null);
    }
    Value::Object(out)
}

/// Writes short strategy names as Elsa's type names.
pub(super) fn options(out: &mut Map<String, Value>, options: &Options) {
    fill(out, "options", || json!({}));
    let Some(Value::Object(members)) = out.get_mut("options") else {
        return;
    };
    if members.remove("activationStrategy").is_some_and(|value| !value.is_null()) {
        let class = match options.activation {
            Activation::Always => "AllowAlwaysStrategy",
            Activation::Singleton => "SingletonStrategy",
            Activation::Correlated => "CorrelationStrategy",
            Activation::CorrelatedSingleton => "CorrelatedSingletonStrategy",
        };
        let name = format!("Elsa.Workflows.Runtime.ActivationValidators.{class}, Elsa.Workflows.Runtime");
        members.insert("activationStrategyType".into(), name.into());
    }
    if members.remove("incidentStrategy").is_some_and(|value| !value.is_null()) {
        let class = match options.incidents {
            IncidentStrategy::Fault => "FaultStrategy",
            IncidentStrategy::ContinueWithIncidents => "ContinueWithIncidentsStrategy",
        };
        let name = format!("Elsa.Workflows.IncidentStrategies.{class}, Elsa.Workflows.Core");
        members.insert("incidentStrategyType".into(), name.into());
    }
}
