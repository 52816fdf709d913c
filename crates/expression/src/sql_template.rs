//! SQL with parameters in the notation of Elsa's SQL extension: `{{Variable.Order.Id}}`.
//!
//! Each placeholder becomes a parameter, whose type PostgreSQL infers from its position; nothing is inserted into the
//! text. A placeholder inside quotes would be part of a string, and is refused.

use std::sync::Arc;

use serde_json::Value;

use super::{Scope, unknown_variable};
use crate::Take;
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::Bounds;

/// A statement in Elsa's notation, with `{{…}}` for parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlTemplate {
    statement: Arc<str>,
    parameters: Vec<Placeholder>,
}

/// One `{{…}}`.
#[derive(Clone, Debug, PartialEq)]
struct Placeholder {
    text: String,
    root: Root,
    path: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Root {
    Variable(String),
    Input(String),
    Output(String),
    LastResult,
    Fact(Fact),
}

/// Facts of the workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    DefinitionId,
    VersionId,
    Version,
    InstanceId,
    InstanceName,
    CorrelationId,
}

/// Elsa's names of the facts; the shorter names are those of its older versions.
const FACTS: [(&str, Fact); 16] = [
    ("Workflow.Definition.Id", Fact::DefinitionId),
    ("Workflow.Definition.Version.Id", Fact::VersionId),
    ("Workflow.Definition.Version", Fact::Version),
    ("Workflow.Identity.DefinitionId", Fact::DefinitionId),
    ("Workflow.Identity.Id", Fact::VersionId),
    ("Workflow.Identity.Version", Fact::Version),
    ("Workflow.Instance.Id", Fact::InstanceId),
    ("Workflow.DefinitionId", Fact::DefinitionId),
    ("Workflow.Version", Fact::Version),
    ("Correlation.Id", Fact::CorrelationId),
    ("Execution.Id", Fact::InstanceId),
    ("Execution.Name", Fact::InstanceName),
    ("Execution.CorrelationId", Fact::CorrelationId),
    ("Activity.WorkflowExecutionContext.Id", Fact::InstanceId),
    ("Activity.WorkflowExecutionContext.Name", Fact::InstanceName),
    ("Activity.WorkflowExecutionContext.CorrelationId", Fact::CorrelationId),
];

impl SqlTemplate {
    /// Reads a text.
    ///
    /// # Errors
    /// A message with the mistake in a parameter.
    pub fn parse(source: &str) -> Result<Self, String> {
        let mut statement = String::with_capacity(source.len());
        let mut parameters: Vec<Placeholder> = Vec::new();
        let mut quote = None;
        let mut rest = source;
        while let Some(at) = rest.find("{{") {
            quote = quote_after(quote, &rest[..at]);
            statement.push_str(&rest[..at]);
            let found = rest[at + 2..].split_once("}}");
            if quote.is_some() {
                if let Some((key, _)) = found.filter(|(key, _)| Placeholder::read(key.trim()).is_ok()) {
                    return Err(format!(
                        "SQL parameter \"{{{{{}}}}}\" is inside quotes; it is bound as a value and needs none",
                        shorten(key, 60)
                    ));
                }
                // A literal array looks the same.
                statement.push_str("{{");
                rest = &rest[at + 2..];
                continue;
            }
            let (key, after) = found.ok_or("a SQL parameter \"{{\" has no end \"}}\"")?;
            parameters.push(Placeholder::read(key.trim())?);
            statement.push_str(&format!("${}", parameters.len()));
            // A digit that follows must not become part of the parameter's number.
            if after.starts_with(|next: char| next.is_ascii_digit()) {
                statement.push(' ');
            }
            rest = after;
        }
        statement.push_str(rest);
        Ok(Self { statement: statement.into(), parameters })
    }

    /// Whether the statement has no parameters, and so is plain SQL.
    pub fn is_plain(&self) -> bool {
        self.parameters.is_empty()
    }

    /// The text with `$1…` in place of the `{{…}}`.
    pub fn statement(&self) -> &str {
        &self.statement
    }

    /// The values of the parameters.
    ///
    /// # Errors
    /// 42704 for an unknown variable, 22023 for a missing member, 57014 if it is time to stop.
    pub fn values(&self, scope: &dyn Scope) -> Result<Vec<Value>, Fault> {
        let value = |parameter: &Placeholder| {
            let value = parameter.value(scope)?;
            Bounds::check_interrupts().map(|()| value)
        };
        self.parameters.iter().map(value).collect()
    }
}

/// Runs the statement and returns the first column of its first row.
pub(super) fn evaluate(template: &SqlTemplate, scope: &mut dyn Scope) -> Result<Value, Fault> {
    let values = template.values(scope)?;
    let rows = scope.sql_inferred(&template.statement, &values, Take::Value)?.rows;
    if rows.len() > 1 {
        return Err(Fault::new("21000", "more than one row returned by a SQL expression")
            .detail(format!("SQL expression: {}", shorten(&template.statement, 200))));
    }
    Ok(rows.into_iter().next().unwrap_or_default())
}

/// The quote that is still open at the end of a text.
fn quote_after(mut open: Option<char>, text: &str) -> Option<char> {
    for character in text.chars() {
        open = match (open, character) {
            (None, '\'' | '"') => Some(character),
            (Some(quote), _) if quote == character => None,
            _ => open,
        };
    }
    open
}

impl Placeholder {
    fn read(key: &str) -> Result<Self, String> {
        let known = FACTS.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
        let (root, path) = match (known, key.split_once('.')) {
            (Some((_, fact)), _) => (Root::Fact(*fact), ""),
            (None, None) if key.eq_ignore_ascii_case("LastResult") => (Root::LastResult, ""),
            (None, Some((group, rest))) => {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                let (name, path) = rest.split_at(end);
                let root = match group.to_ascii_lowercase().as_str() {
                    _ if name.is_empty() => None,
                    "variable" | "variables" => Some(Root::Variable(name.to_owned())),
                    "input" => Some(Root::Input(name.to_owned())),
                    "output" => Some(Root::Output(name.to_owned())),
                    "lastresult" => {
                        return Ok(Self { text: key.to_owned(), root: Root::LastResult, path: segments(rest) });
                    }
                    _ => None,
                };
                (root.ok_or_else(|| unknown(key))?, path)
            }
            (None, None) => return Err(unknown(key)),
        };
        Ok(Self { text: key.to_owned(), root, path: segments(path) })
    }

    fn value(&self, scope: &dyn Scope) -> Result<Value, Fault> {
        let mut value = match &self.root {
            Root::Variable(name) => scope.variable(name).ok_or_else(|| unknown_variable(name))?,
            Root::Input(name) => scope.input(name).unwrap_or_default(),
            Root::Output(name) => scope.workflow_output(name).unwrap_or_default(),
            Root::LastResult => scope.last_result().unwrap_or_default(),
            Root::Fact(fact) => return Ok(fact.value(scope)),
        };
        for segment in &self.path {
            if value.is_null() {
                break;
            }
            value = member(&mut value, segment).ok_or_else(|| {
                Fault::new("22023", format!("SQL parameter \"{{{{{}}}}}\" has no member", shorten(&self.text, 100)))
                    .detail(format!("There is no \"{}\" in the value.", shorten(segment, 60)))
            })?;
        }
        Ok(value)
    }
}

impl Fact {
    fn value(self, scope: &dyn Scope) -> Value {
        match self {
            Self::DefinitionId => scope.definition_id().into(),
            Self::VersionId => scope.definition_version_id().into(),
            Self::Version => scope.definition_version().into(),
            Self::InstanceId => scope.instance_id().to_string().into(),
            Self::InstanceName => scope.instance_name().into(),
            Self::CorrelationId => scope.correlation_id().into(),
        }
    }
}

fn unknown(key: &str) -> String {
    format!(
        "unknown SQL parameter \"{{{{{}}}}}\"; there are Variable.Name, Input.Name, Output.Name, LastResult, \
         Correlation.Id, Workflow.Instance.Id, Workflow.Definition.Id and Workflow.Definition.Version",
        shorten(key, 60)
    )
}

/// The segments of a path such as `.name[3]`.
fn segments(path: &str) -> Vec<String> {
    path.split(['.', '[', ']']).filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

/// Takes a member by its name (in any letter case if none matches exactly), or an item by its number.
fn member(value: &mut Value, segment: &str) -> Option<Value> {
    match value {
        Value::Object(members) => {
            let name = match members.contains_key(segment) {
                true => segment.to_owned(),
                false => members.keys().find(|name| name.eq_ignore_ascii_case(segment))?.clone(),
            };
            members.remove(&name)
        }
        Value::Array(items) => items.get_mut(segment.parse::<usize>().ok()?).map(Value::take),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::tests_support::TestScope;

    #[test]
    fn parameters_are_numbered() {
        for (source, statement) in [
            ("SELECT 1", "SELECT 1"),
            (
                "SELECT * FROM t WHERE a = {{Variable.A}} AND b = {{ Input.b }}",
                "SELECT * FROM t WHERE a = $1 AND b = $2",
            ),
            ("SELECT 'it''s', {{LastResult}}::int", "SELECT 'it''s', $1::int"),
            ("SELECT {{Variables.A}}0", "SELECT $1 0"),
            ("SELECT '{{1,2},{3,4}}'::int[] || {{Input.a}}", "SELECT '{{1,2},{3,4}}'::int[] || $1"),
        ] {
            assert_eq!(SqlTemplate::parse(source).unwrap().statement(), statement);
        }
        for (source, part) in [
            ("SELECT {{Variable.A", "no end"),
            ("SELECT '{{Variable.A}}'", "inside quotes"),
            ("SELECT {{}}", "unknown SQL parameter"),
            ("SELECT {{Nothing.A}}", "unknown SQL parameter"),
            ("SELECT {{Variable.}}", "unknown SQL parameter"),
        ] {
            let message = SqlTemplate::parse(source).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn values_are_found() {
        let mut scope = TestScope::with(json!({"Order": {"Lines": [{"Sku": "a"}]}, "None": null}));
        scope.inputs.insert("city".to_owned(), json!("Z"));
        scope.last_result = Some(json!({"id": 5}));
        scope.correlation_id = Some("c".to_owned());
        for (key, expected) in [
            ("Variable.Order.Lines[0].Sku", json!("a")),
            ("Variables.Order.lines[0]", json!({"Sku": "a"})),
            ("Variable.None.Whatever", json!(null)),
            ("Input.city", json!("Z")),
            ("Input.missing", json!(null)),
            ("LastResult", json!({"id": 5})),
            ("LastResult.id", json!(5)),
            ("Correlation.Id", json!("c")),
            ("Workflow.Identity.DefinitionId", json!("orders")),
            ("Workflow.Definition.Version.Id", json!("orders-v3")),
            ("Activity.WorkflowExecutionContext.Id", json!("00000000-0000-0000-0000-000000000007")),
        ] {
            let template = SqlTemplate::parse(&format!("SELECT {{{{{key}}}}}")).unwrap();
            assert_eq!(template.values(&scope), Ok(vec![expected]), "{key}");
        }
        for (key, sqlstate) in
            [("Variable.Nobody", "42704"), ("Variable.Order.X", "22023"), ("Variable.Order.Lines[9]", "22023")]
        {
            let template = SqlTemplate::parse(&format!("SELECT {{{{{key}}}}}")).unwrap();
            assert_eq!(template.values(&scope).unwrap_err().sqlstate, sqlstate, "{key}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(\\{\\{|\\}\\}|Variable\\.|Input|\\.|\\[|\\]|'|\"|a|\\PC){0,20}") {
            if let Ok(template) = SqlTemplate::parse(&text) {
                let _ = template.values(&TestScope::default());
            }
        }
    }
}
