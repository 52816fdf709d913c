//! Which code is translated, and which is rejected.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ReadLimits;

fn read(source: &str, language: ForeignLanguage) -> Option<Term> {
    returned(source, language).and_then(|text| parse::term(text, language))
}

fn text(text: &str) -> Term {
    Term::Literal(json!(text))
}

fn variable(name: &str) -> Term {
    Term::Variable(name.into())
}

#[test]
fn plain_csharp_is_translated() {
    for (source, expected) in [
        ("return \"Bar\";", text("Bar")),
        ("\"a \\\"b\\\" \\u00e4\\n\"", text("a \"b\" ä\n")),
        ("return @\"c:\\a \"\"b\"\"\";", text("c:\\a \"b\"")),
        ("return 5;", Term::Literal(json!(5))),
        ("return -1_000.50m;", Term::Literal(serde_json::from_str("-1000.50").unwrap())),
        ("true", Term::Literal(json!(true))),
        (" return null; ", Term::Literal(json!(null))),
        ("return Variables.Total;", variable("Total")),
        ("Variable.Get<int>(\"my total\")", variable("my total")),
        ("return Input.Get(\"city\");", Term::Input("city".into())),
        ("Inputs.City", Term::Input("City".into())),
        ("return Variables.Variable1.ToString();", Term::Text(vec![variable("Variable1")])),
        ("Variables.X?.ToString()", Term::Text(vec![variable("X")])),
        ("return $\"{Variables.A}{Variables.B}\";", Term::Text(vec![variable("A"), variable("B")])),
        (
            "$\"{{{Variables.A}}} of {5}\"",
            Term::Text(vec![text("{"), variable("A"), text("} of "), Term::Literal(json!(5))]),
        ),
        ("return CorrelationId;", Term::Fact("getCorrelationId")),
        ("return $\"{Input.Get<int>(\"n\")}!\";", Term::Text(vec![Term::Input("n".into()), text("!")])),
        ("Variables.Get<Dictionary<string, object>>(\"x\")", variable("x")),
        ("return \"\"\"one \"line\" \\n\"\"\";", text("one \"line\" \\n")),
        ("return\n$\"\"\"\n  {Variables.A}\n\n    b\n  \"\"\";", Term::Text(vec![variable("A"), text("\n\n  b")])),
    ] {
        assert_eq!(read(source, ForeignLanguage::CSharp), Some(expected), "{source}");
    }
}

#[test]
fn plain_python_is_translated() {
    for (source, expected) in [
        ("return 'Bar'", text("Bar")),
        ("\"a\"", text("a")),
        ("None", Term::Literal(json!(null))),
        ("return True", Term::Literal(json!(true))),
        ("2.50", Term::Literal(serde_json::from_str("2.50").unwrap())),
        ("variables.Total", variable("Total")),
        ("return variables[\"my total\"]", variable("my total")),
        ("execution_context.get_variable('X')", variable("X")),
        ("input.get('city')", Term::Input("city".into())),
        ("str(variables.X)", Term::Text(vec![variable("X")])),
        ("f'{variables.A} of {variables.B}'", Term::Text(vec![variable("A"), text(" of "), variable("B")])),
    ] {
        assert_eq!(read(source, ForeignLanguage::Python), Some(expected), "{source}");
    }
}

#[test]
fn members_and_comparisons_become_javascript() {
    let read = |language: &str, source: &str| {
        let document = json!({"definitionId": "d", "variables": {"A": null, "B": null},
            "root": {"type": "If", "condition": {"expression": {"type": language, "value": source}}}});
        let program = crate::compile(&document, &(), &ReadLimits::default(), false).expect(source);
        match &program.nodes[0].inputs[0].as_ref().expect(source).kind {
            ExpressionKind::JavaScript(script) => script.to_string(),
            other => panic!("{source}: {other:?}"),
        }
    };
    for (source, expected) in [
        ("return Variables.A[\"id\"];", "getVariable(\"A\")[\"id\"]"),
        ("return Variables.A?.Lines[0].Name;", "getVariable(\"A\")[\"Lines\"][0][\"Name\"]"),
        ("return Variables.A == null;", "(getVariable(\"A\") == null)"),
        ("return Variables.A is not null;", "(getVariable(\"A\") != null)"),
        ("return !string.IsNullOrEmpty(Variables.A.Name);", "!(isNullOrEmpty(getVariable(\"A\")[\"Name\"]))"),
        ("return Variables.A.State != \"Done\";", "(getVariable(\"A\")[\"State\"] !== \"Done\")"),
        ("return !(Variables.A || false);", "!(((getVariable(\"A\")) || (false)))"),
        ("Variables.A ?? 5", "((getVariable(\"A\")) ?? (5))"),
        (
            "return Variables.A >= 18 && Input.Get(\"x\") == true;",
            "((((a, b) => a != null && b != null && a >= b)(getVariable(\"A\"), 18)) && ((getInput(\"x\") === true)))",
        ),
        (
            "Variables.A.Count",
            "(of => typeof of === \"string\" || Array.isArray(of) ? of.length : of[\"Count\"])(getVariable(\"A\"))",
        ),
    ] {
        assert_eq!(read("CSharp", source), expected, "{source}");
    }
    for (source, expected) in [
        ("return variables.A['id']", "getVariable(\"A\")[\"id\"]"),
        (
            "variables.A is not None and not variables.B == 'x'",
            "(((getVariable(\"A\") != null)) && (!((getVariable(\"B\") === \"x\"))))",
        ),
        ("input.x == 'a'", "(getInput(\"x\") === \"a\")"),
    ] {
        assert_eq!(read("Python", source), expected, "{source}");
    }
}

#[test]
fn what_nests_too_deep_is_not() {
    for source in [
        "(".repeat(100_000),
        "!".repeat(100_000),
        "$\"{".repeat(100_000),
        format!("Variables.A{}", ".B".repeat(100_000)),
    ] {
        assert_eq!(read(&source, ForeignLanguage::CSharp), None);
    }
}

#[test]
fn everything_else_is_not() {
    for source in [
        "return 1 + 1;",
        "return 5",
        "Variables.A = 1;",
        "return \"a\" + \"b\";",
        "return $\"{Variables.A:F2}\";",
        "return $\"{F(\\\"}\\\")}\";",
        "return $\"{Variables.A\";",
        "Outcome.Set(\"x\");",
        "var a = 1; return a;",
        "return File.ReadAllText(\"x\");",
        "\"a\";\"b\"",
        "return \"\\x41\";",
        "\"\\u0000\"",
        "",
        ";",
        "return ;",
        "5;5",
        "1e",
        "return Variables.A = 5;",
        "return Variables.A.Where(x => x > 5);",
        "return Variables.A.ToUpper();",
        "return Variables.A[i];",
        "return Variables.A[0;",
        "return \"a\".Length;",
        "return 1 < 2 < 3;",
        "return Variables.A > 5 ? 1 : 2;",
        "return (int)Variables.A;",
        "return string.Join(\",\", Variables.A);",
        "return Variables.A is string;",
        "return Variables.Get<(\"a\");",
        "return \"\"\"a;",
        "return $\"\"\"{{Variables.A}}\"\"\";",
        "return \"\"\"\n  a\n    \"\"\";",
    ] {
        assert_eq!(read(source, ForeignLanguage::CSharp), None, "{source}");
    }
    for source in [
        "1 + 1",
        "import os",
        "f'{variables.A:.2f}'",
        "variables['a'",
        "'a' 'b'",
        "x = 1",
        "5;",
        "1 < 2 < 3",
        "not variables.A",
        "variables.A or variables.B",
        "variables.A == variables.B",
        "variables.A == True",
        "len(variables.A)",
    ] {
        assert_eq!(read(source, ForeignLanguage::Python), None, "{source}");
    }
}

proptest! {
    #[test]
    fn any_text_is_looked_at(text in "\\PC*", code in "(return |\\$|@|\"|\"\"\"|==|&& |!|\\?\\?|< |Variables\\.A|<int>|'|\\\\|\\{|\\}|;|Variables\\.|variables\\[|Input\\.Get|\\(|\\)|A|5|\\.ToString\\(\\)|f|str\\(|\\?){0,12}") {
        for source in [text, code] {
            let _ = read(&source, ForeignLanguage::CSharp);
            let _ = read(&source, ForeignLanguage::Python);
        }
    }
}
