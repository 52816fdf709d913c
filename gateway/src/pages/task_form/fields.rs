//! From a schema to fields.

use serde_json::Value;

use super::{Choice, Field, Kind};

/// Groups inside one another; what is deeper is written as JSON.
const MOST_LEVELS: usize = 5;
/// Fields of a form; a larger one is written as JSON.
const MOST_FIELDS: usize = 200;
/// Choices of one field.
const MOST_CHOICES: usize = 200;
/// Characters that a text may have in one line.
const LONG: u64 = 200;

/// How large a form has become, and how deep it is.
pub struct Bounds {
    fields: usize,
    level: usize,
}

impl Bounds {
    pub fn new() -> Self {
        Self { fields: 0, level: 0 }
    }
}

/// The field for a schema; none where the form has too many.
pub fn field(schema: &Value, name: &str, label: &str, is_required: bool, bounds: &mut Bounds) -> Option<Field> {
    if bounds.fields == MOST_FIELDS {
        return None;
    }
    let id = format!("f{}", bounds.fields);
    bounds.fields += 1;
    let kind = match group(schema) {
        Some(members) if bounds.level < MOST_LEVELS => Kind::Group(children(schema, members, name, bounds)?),
        Some(_) => Kind::Json,
        None => kind(schema),
    };
    let given = schema.get("default").map_or_else(Vec::new, |value| initial(&kind, value));
    let label = text(schema, "title").unwrap_or(label).to_owned();
    Some(Field {
        name: name.to_owned(),
        id,
        label,
        help: help(schema, &kind),
        is_required,
        kind,
        given,
        problems: Vec::new(),
    })
}

/// The members of an object whose schema names them, and nothing that says more than a form can.
fn group(schema: &Value) -> Option<&serde_json::Map<String, Value>> {
    let members = schema.get("properties")?.as_object()?;
    let is_object = schema.get("type").is_none() || single_type(schema) == Some("object");
    (is_object && is_plain(schema) && !members.is_empty()).then_some(members)
}

/// Whether nothing in a schema refers to other ones.
fn is_plain(schema: &Value) -> bool {
    ["$ref", "$dynamicRef", "allOf", "anyOf", "if", "not"].iter().all(|keyword| schema.get(keyword).is_none())
}

/// Fields of the members: those that must be there first, in the order in which the schema says so. jsonb has none.
fn children(
    schema: &Value,
    members: &serde_json::Map<String, Value>,
    name: &str,
    bounds: &mut Bounds,
) -> Option<Vec<Field>> {
    if members.len() > MOST_FIELDS {
        return None;
    }
    let mut required: Vec<&str> = Vec::new();
    for member in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if members.contains_key(member) && !required.contains(&member) {
            required.push(member);
        }
    }
    let others = members.keys().map(String::as_str).filter(|member| !required.contains(member));
    let mut fields = Vec::new();
    bounds.level += 1;
    for member in required.iter().copied().chain(others) {
        let path = format!("{name}/{}", member.replace('~', "~0").replace('/', "~1"));
        fields.push(field(&members[member], &path, member, required.contains(&member), bounds)?);
    }
    bounds.level -= 1;
    Some(fields)
}

fn kind(schema: &Value) -> Kind {
    if !is_plain(schema) {
        return Kind::Json;
    }
    if let Some(choices) = choices(schema) {
        return Kind::Choice(choices);
    }
    if schema.get("oneOf").is_some() || schema.get("enum").is_some() {
        return Kind::Json;
    }
    match single_type(schema) {
        Some("string") => string(schema),
        Some("number") => Kind::Number("decimal"),
        Some("integer") => Kind::Number("numeric"),
        Some("boolean") => Kind::YesNo,
        Some("array") => match schema.get("items").filter(|items| is_plain(items)).and_then(choices) {
            Some(choices) => Kind::Choices(choices),
            None => Kind::Json,
        },
        _ => Kind::Json,
    }
}

fn string(schema: &Value) -> Kind {
    match text(schema, "format") {
        Some("date") => Kind::Line("date"),
        Some("date-time") => Kind::Instant,
        Some("email") => Kind::Line("email"),
        _ if schema.get("maxLength").and_then(Value::as_u64).is_some_and(|most| most > LONG) => Kind::Lines,
        _ => Kind::Line("text"),
    }
}

/// The type, where there is one besides null.
fn single_type(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(only) => Some(only),
        Value::Array(types) => {
            let mut others = types.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            others.next().filter(|_| others.next().is_none())
        }
        _ => None,
    }
}

/// The values of `enum`, `const`, or of `oneOf` with a `const` in each, if they can be told apart in a form.
fn choices(schema: &Value) -> Option<Vec<Choice>> {
    let mut choices: Vec<Choice> = Vec::new();
    let mut add = |value: &Value, label: Option<&str>| {
        let key = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) | Value::Null => value.to_string(),
            Value::Array(_) | Value::Object(_) => return false,
        };
        let is_new = !key.is_empty() && choices.len() < MOST_CHOICES && choices.iter().all(|other| other.key != key);
        choices.push(Choice { label: label.unwrap_or(&key).to_owned(), key, value: value.clone() });
        is_new
    };
    let are_good = match (schema.get("enum"), schema.get("const"), schema.get("oneOf")) {
        (Some(Value::Array(values)), ..) => values.iter().all(|value| add(value, None)),
        (None, Some(value), _) => add(value, None),
        (None, None, Some(Value::Array(schemas))) => {
            schemas.iter().all(|one| one.get("const").is_some_and(|value| add(value, text(one, "title"))))
        }
        _ => false,
    };
    (are_good && !choices.is_empty()).then_some(choices)
}

/// What is in a control before the user types.
fn initial(kind: &Kind, value: &Value) -> Vec<String> {
    match (kind, value) {
        (Kind::Group(_), _) => Vec::new(),
        (Kind::Json, _) => vec![format!("{value:#}")],
        (Kind::Choices(choices), Value::Array(values)) => {
            choices.iter().filter(|choice| values.contains(&choice.value)).map(|choice| choice.key.clone()).collect()
        }
        (Kind::Choices(_), _) => Vec::new(),
        (Kind::Choice(choices), _) => {
            choices.iter().filter(|choice| choice.value == *value).map(|choice| choice.key.clone()).collect()
        }
        (Kind::Instant, Value::String(text)) => vec![text.trim_end_matches('Z').to_owned()],
        (_, Value::String(text)) => vec![text.clone()],
        _ => vec![value.to_string()],
    }
}

/// What the schema says of the field, and what a control does not say by itself.
fn help(schema: &Value, kind: &Kind) -> Option<String> {
    let number = |name| schema.get(name).filter(|value| value.is_number()).map(Value::to_string);
    let mut said: Vec<String> = text(schema, "description").map(str::to_owned).into_iter().collect();
    match kind {
        Kind::Instant => said.push("Date and time in UTC.".to_owned()),
        Kind::Json => said.push("Written as JSON.".to_owned()),
        Kind::Line(_) | Kind::Lines => {
            said.extend(number("maxLength").map(|most| format!("At most {most} characters.")));
        }
        Kind::Number(_) => {
            said.extend(number("minimum").map(|least| format!("At least {least}.")));
            said.extend(number("maximum").map(|most| format!("At most {most}.")));
        }
        Kind::YesNo | Kind::Choice(_) | Kind::Choices(_) | Kind::Group(_) => {}
    }
    (!said.is_empty()).then(|| said.join(" "))
}

fn text<'a>(schema: &'a Value, name: &str) -> Option<&'a str> {
    schema.get(name).and_then(Value::as_str)
}
