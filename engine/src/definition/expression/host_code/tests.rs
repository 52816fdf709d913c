//! What is translated and what is not.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(source: &str, language: HostLanguage) -> Option<Term> {
    returned(source, language).and_then(|text| term(text, language))
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
    ] {
        assert_eq!(read(source, HostLanguage::CSharp), Some(expected), "{source}");
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
        assert_eq!(read(source, HostLanguage::Python), Some(expected), "{source}");
    }
}

#[test]
fn everything_else_is_not() {
    for source in [
        "return 1 + 1;",
        "return 5",
        "return Variables.A.B;",
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
    ] {
        assert_eq!(read(source, HostLanguage::CSharp), None, "{source}");
    }
    for source in
        ["1 + 1", "import os", "f'{variables.A:.2f}'", "variables.A.B", "variables['a'", "'a' 'b'", "x = 1", "5;"]
    {
        assert_eq!(read(source, HostLanguage::Python), None, "{source}");
    }
}

proptest! {
    #[test]
    fn any_text_is_looked_at(text in "\\PC*", code in "(return |\\$|@|\"|'|\\\\|\\{|\\}|;|Variables\\.|variables\\[|Input\\.Get|\\(|\\)|A|5|\\.ToString\\(\\)|f|str\\(|\\?){0,12}") {
        for source in [text, code] {
            let _ = read(&source, HostLanguage::CSharp);
            let _ = read(&source, HostLanguage::Python);
        }
    }
}
