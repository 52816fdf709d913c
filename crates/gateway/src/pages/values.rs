//! Values as a person reads them: tables and lists instead of JSON.

use serde_json::Value;

use super::reader::Reader;

/// Levels of tables in a table; what is deeper is shown as JSON.
const MAX_LEVELS: usize = 4;
/// Members or elements shown of an object or array.
const MAX_MEMBERS: usize = 200;

/// A value for display.
#[derive(askama::Template)]
#[template(path = "value.html")]
pub struct ReadableValue {
    kind: Kind,
}

enum Kind {
    Text(String),
    /// An address of the web.
    Link(String),
    /// An instant, as HTML.
    Instant(String),
    List(Vec<ReadableValue>),
    Members(Vec<(String, ReadableValue)>),
    Json(String),
}

impl ReadableValue {
    /// A value with names from the titles of a schema.
    pub fn new(value: &Value, schema: Option<&Value>, reader: &Reader) -> Self {
        Self::at(value, schema, reader, 0)
    }

    fn at(value: &Value, schema: Option<&Value>, reader: &Reader, level: usize) -> Self {
        let kind = match value {
            Value::Null => Kind::Text("–".to_owned()),
            Value::Bool(true) => Kind::Text(reader.t("value.yes").to_owned()),
            Value::Bool(false) => Kind::Text(reader.t("value.no").to_owned()),
            Value::Number(number) => Kind::Text(number.to_string()),
            Value::String(text) => text_kind(text, reader),
            Value::Array(_) | Value::Object(_) if level == MAX_LEVELS => Kind::Json(format!("{value:#}")),
            Value::Array(elements) => {
                let schema = schema.and_then(|schema| schema.get("items"));
                let shown = elements.iter().take(MAX_MEMBERS);
                let mut list: Vec<Self> = shown.map(|one| Self::at(one, schema, reader, level + 1)).collect();
                if elements.len() > MAX_MEMBERS {
                    list.push(Self { kind: Kind::Text("…".to_owned()) });
                }
                Kind::List(list)
            }
            Value::Object(members) => {
                let of = |name: &str| schema.and_then(|schema| schema.get("properties")?.get(name));
                let shown = members.iter().take(MAX_MEMBERS);
                let row = |(name, one): (&String, &Value)| {
                    (label(name, of(name)), Self::at(one, of(name), reader, level + 1))
                };
                Kind::Members(shown.map(row).collect())
            }
        };
        Self { kind }
    }
}

fn text_kind(text: &str, reader: &Reader) -> Kind {
    let is_address = text.starts_with("https://") || text.starts_with("http://");
    if is_address && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Kind::Link(text.to_owned());
    }
    match chrono::DateTime::parse_from_rfc3339(text) {
        Ok(at) if text.contains('T') => Kind::Instant(reader.when(&at.to_utc())),
        _ => Kind::Text(text.to_owned()),
    }
}

/// What a person reads in place of the name of a member: its title, or else the name in words.
pub fn label(name: &str, schema: Option<&Value>) -> String {
    match schema.and_then(|schema| schema.get("title")).and_then(Value::as_str) {
        Some(title) => title.to_owned(),
        None => words(name),
    }
}

/// `invoiceNumber` and `invoice_number` as `Invoice number`. A name with other signs stays as it is.
fn words(name: &str) -> String {
    if !name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
        return name.to_owned();
    }
    let mut words = String::new();
    let mut was_lower = false;
    for letter in name.trim_matches('_').chars() {
        let starts_word = was_lower && letter.is_uppercase();
        if starts_word || letter == '_' {
            words.push(' ');
        }
        match letter {
            '_' => {}
            _ if words.is_empty() => words.extend(letter.to_uppercase()),
            _ if starts_word => words.extend(letter.to_lowercase()),
            _ => words.push(letter),
        }
        was_lower = letter.is_lowercase() || letter.is_numeric();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(value: &Value) -> String {
        let reader =
            Reader { language: super::super::texts::Language::English, zone: chrono_tz::Tz::UTC, is_developer: false };
        askama::Template::render(&ReadableValue::new(value, None, &reader)).unwrap()
    }

    #[test]
    fn names_become_words() {
        for (name, expected) in [
            ("days", "Days"),
            ("invoiceNumber", "Invoice number"),
            ("due_date", "Due date"),
            ("IBAN", "IBAN"),
            ("a-b", "a-b"),
            ("", ""),
        ] {
            assert_eq!(words(name), expected);
        }
    }

    #[test]
    fn values_are_text() {
        let page =
            shown(&json!({"<b>": "<img>", "items": [{"n": 1.5}, true, null], "at": "https://example.com/?a=\"&b"}));
        assert!(!page.contains("<img>") && !page.contains("<b>") && page.contains("&#60;img&#62;"), "{page}");
        assert!(page.contains("1.5") && page.contains("Yes") && page.contains("rel=\"noopener noreferrer\""), "{page}");
        assert!(!shown(&json!("javascript:alert(1)")).contains("href"));
    }

    #[test]
    fn depth_is_bounded() {
        let mut deep = json!("end");
        for _ in 0..50 {
            deep = json!([deep]);
        }
        assert!(shown(&deep).matches("<ul>").count() == MAX_LEVELS);
    }
}
