//! Converts a schema to fields.

use serde_json::Value;

use super::{Choice, Field, FieldKind, ROOT};
use crate::pages::texts::Language;
use crate::pages::values::label as label_of;

/// Maximum nesting of groups; deeper values are entered as JSON.
const MAX_LEVELS: usize = 5;
/// Maximum number of fields; a larger form is entered as JSON.
const MAX_FIELDS: usize = 200;
/// Maximum number of choices of one field.
const MAX_CHOICES: usize = 200;
/// A text limited to this many characters gets a single line.
const LONG: u64 = 200;

/// Size and depth of a form while it is built.
pub struct FormSize {
    fields: usize,
    level: usize,
    language: Language,
}

impl FormSize {
    pub fn new(language: Language) -> Self {
        Self { fields: 0, level: 0, language }
    }
}

/// The field for a schema; `None` if the form has too many. `of_answer` is the schema that the answer has to match at
/// this place.
pub fn field(
    schema: &Value,
    of_answer: Option<&Value>,
    name: &str,
    label: &str,
    is_required: bool,
    size: &mut FormSize,
) -> Option<Field> {
    if size.fields == MAX_FIELDS {
        return None;
    }
    let id = format!("f{}", size.fields);
    size.fields += 1;
    let kind = match group(schema) {
        Some(members) if size.level < MAX_LEVELS => FieldKind::Group(children(schema, of_answer, members, name, size)?),
        Some(_) => FieldKind::Json,
        None => kind(schema),
    };
    let given = schema.get("default").map_or_else(Vec::new, |value| initial(&kind, value));
    Some(Field {
        name: name.to_owned(),
        language: size.language,
        id,
        label: if name == ROOT {
            text(schema, "title").unwrap_or(label).to_owned()
        } else {
            label_of(label, Some(schema))
        },
        help: help(schema, &kind, size.language),
        is_required,
        kind,
        given,
        problems: Vec::new(),
    })
}

/// The members of an object, if its schema names them and has no keywords that a form cannot express.
fn group(schema: &Value) -> Option<&serde_json::Map<String, Value>> {
    let members = schema.get("properties")?.as_object()?;
    let is_object = schema.get("type").is_none() || single_type(schema) == Some("object");
    (is_object && is_plain(schema) && !members.is_empty()).then_some(members)
}

/// Whether a schema contains no references.
fn is_plain(schema: &Value) -> bool {
    ["$ref", "$dynamicRef", "allOf", "anyOf", "if", "not"].iter().all(|keyword| schema.get(keyword).is_none())
}

/// Fields of the members, ordered by `propertyOrder`, then required members in the order of the schemas' `required`.
/// The members of jsonb themselves have no order.
fn children(
    schema: &Value,
    of_answer: Option<&Value>,
    members: &serde_json::Map<String, Value>,
    name: &str,
    size: &mut FormSize,
) -> Option<Vec<Field>> {
    if members.len() > MAX_FIELDS {
        return None;
    }
    let mut required: Vec<&str> = Vec::new();
    let lists = [Some(schema), of_answer].into_iter().flatten().filter_map(|schema| schema.get("required")?.as_array());
    for member in lists.flatten().filter_map(Value::as_str) {
        if members.contains_key(member) && !required.contains(&member) {
            required.push(member);
        }
    }
    let others = members.keys().map(String::as_str).filter(|member| !required.contains(member));
    let mut ordered: Vec<&str> = required.iter().copied().chain(others).collect();
    let order = |member: &str| members[member].get("propertyOrder").and_then(Value::as_f64).unwrap_or(f64::INFINITY);
    ordered.sort_by(|one, other| order(one).total_cmp(&order(other)));
    let mut fields = Vec::new();
    size.level += 1;
    for member in ordered {
        let below = of_answer.and_then(|schema| schema.get("properties")?.get(member));
        let path = format!("{name}/{}", member.replace('~', "~0").replace('/', "~1"));
        fields.push(field(&members[member], below, &path, member, required.contains(&member), size)?);
    }
    size.level -= 1;
    Some(fields)
}

fn kind(schema: &Value) -> FieldKind {
    if !is_plain(schema) {
        return FieldKind::Json;
    }
    if let Some(choices) = choices(schema) {
        return FieldKind::Choice(choices);
    }
    if schema.get("oneOf").is_some() || schema.get("enum").is_some() {
        return FieldKind::Json;
    }
    match single_type(schema) {
        Some("string") => string(schema),
        Some("number") => FieldKind::Number("decimal"),
        Some("integer") => FieldKind::Number("numeric"),
        Some("boolean") => FieldKind::YesNo,
        Some("array") => match schema.get("items").filter(|items| is_plain(items)).and_then(choices) {
            Some(choices) => FieldKind::Choices(choices),
            None => FieldKind::Json,
        },
        _ => FieldKind::Json,
    }
}

fn string(schema: &Value) -> FieldKind {
    match text(schema, "format") {
        Some("date") => FieldKind::Line("date"),
        Some("date-time") => FieldKind::Instant,
        Some("email") => FieldKind::Line("email"),
        _ if schema.get("maxLength").and_then(Value::as_u64).is_some_and(|most| most > LONG) => FieldKind::Lines,
        _ => FieldKind::Line("text"),
    }
}

/// The type, if there is exactly one besides null.
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

/// The values of `enum`, `const`, or of `oneOf` with a `const` in each, if a form can distinguish them.
fn choices(schema: &Value) -> Option<Vec<Choice>> {
    let mut choices: Vec<Choice> = Vec::new();
    let mut add = |value: &Value, label: Option<&str>| {
        let key = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) | Value::Null => value.to_string(),
            Value::Array(_) | Value::Object(_) => return false,
        };
        let is_new = !key.is_empty() && choices.len() < MAX_CHOICES && choices.iter().all(|other| other.key != key);
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

/// The initial content of a control.
fn initial(kind: &FieldKind, value: &Value) -> Vec<String> {
    match (kind, value) {
        (FieldKind::Group(_), _) => Vec::new(),
        (FieldKind::Json, _) => vec![format!("{value:#}")],
        (FieldKind::Choices(choices), Value::Array(values)) => {
            choices.iter().filter(|choice| values.contains(&choice.value)).map(|choice| choice.key.clone()).collect()
        }
        (FieldKind::Choices(_), _) => Vec::new(),
        (FieldKind::Choice(choices), _) => {
            choices.iter().filter(|choice| choice.value == *value).map(|choice| choice.key.clone()).collect()
        }
        (FieldKind::Instant, Value::String(text)) => vec![text.trim_end_matches('Z').to_owned()],
        (_, Value::String(text)) => vec![text.clone()],
        _ => vec![value.to_string()],
    }
}

/// The help text: what the schema says about the field and the control does not express by itself.
fn help(schema: &Value, kind: &FieldKind, language: Language) -> Option<String> {
    let number = |name| schema.get(name).filter(|value| value.is_number()).map(Value::to_string);
    let mut said: Vec<String> = text(schema, "description").map(str::to_owned).into_iter().collect();
    match kind {
        FieldKind::Instant => said.push(language.text("form.utc").to_owned()),
        FieldKind::Json => said.push(language.text("form.json").to_owned()),
        FieldKind::Line(_) | FieldKind::Lines => {
            said.extend(number("maxLength").map(|most| language.filled("form.length", &[&most])));
        }
        FieldKind::Number(_) => {
            said.extend(number("minimum").map(|least| language.filled("form.least", &[&least])));
            said.extend(number("maximum").map(|most| language.filled("form.most", &[&most])));
        }
        FieldKind::YesNo | FieldKind::Choice(_) | FieldKind::Choices(_) | FieldKind::Group(_) => {}
    }
    (!said.is_empty()).then(|| said.join(" "))
}

fn text<'a>(schema: &'a Value, name: &str) -> Option<&'a str> {
    schema.get(name).and_then(Value::as_str)
}
