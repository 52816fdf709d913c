//! Every kind of expression, and the conversion of its value.

use proptest::prelude::*;
use serde_json::json;

use super::tests_support::TestScope;
use super::*;
use crate::ObjectTemplate;
use crate::any_json::any_json;

fn expression(kind: ExpressionKind, type_name: TypeName) -> Expression {
    Expression { kind, type_name }
}

#[test]
fn each_kind_is_evaluated_and_converted() {
    let mut scope = TestScope::with(json!({"Count": "5"}));
    scope.inputs.insert("In".to_owned(), json!(1));
    for (kind, to, expected) in [
        (ExpressionKind::Literal(json!("true")), TypeName::Boolean, json!(true)),
        (ExpressionKind::Variable("Count".to_owned()), TypeName::Integer, json!(5)),
        (ExpressionKind::Input("In".to_owned()), TypeName::String, json!("1")),
        (ExpressionKind::Input("Missing".to_owned()), TypeName::String, json!(null)),
        (ExpressionKind::JavaScript("1 + 1".into()), TypeName::String, json!("2")),
        (ExpressionKind::Sql("2 * 3".into()), TypeName::Any, json!(6)),
    ] {
        assert_eq!(evaluate(&expression(kind.clone(), to), &mut scope), Ok(expected), "{kind:?}");
    }
}

#[test]
fn objects_are_filled_in_order() {
    let mut scope = TestScope::with(json!({"n": 0}));
    let next = || {
        let kind = ExpressionKind::JavaScript("setVariable('n', getN() + 1), getN()".into());
        ObjectTemplate::Expression(Box::new(expression(kind, TypeName::Any)))
    };
    let template = ObjectTemplate::Object(vec![
        ("b".to_owned(), next()),
        ("a".to_owned(), ObjectTemplate::Array(vec![next(), ObjectTemplate::Constant(json!("c")), next()])),
    ]);
    let object = expression(ExpressionKind::Object(template), TypeName::Any);
    assert_eq!(evaluate(&object, &mut scope), Ok(json!({"b": 1, "a": [2, "c", 3]})));
}

#[test]
fn faults_say_what_went_wrong() {
    let mut scope = TestScope::default();
    let mut fault = |kind, to| evaluate(&expression(kind, to), &mut scope).unwrap_err();
    assert_eq!(fault(ExpressionKind::Variable("X".to_owned()), TypeName::Any).sqlstate, "42704");
    assert_eq!(fault(ExpressionKind::Sql("1 / 0".into()), TypeName::Any).sqlstate, "22012");
    let conversion = fault(ExpressionKind::JavaScript("'five'".into()), TypeName::Integer);
    assert_eq!(conversion.sqlstate, "22P02");
    assert_eq!(conversion.detail.as_deref(), Some("The value of the expression is converted to Integer."));
}

proptest! {
    #[test]
    fn any_value_passes_through_a_script(value in any_json()) {
        let mut scope = TestScope::with(json!({"v": value}));
        let script = ExpressionKind::JavaScript("getV()".into());
        let out = evaluate(&expression(script, TypeName::Any), &mut scope);
        if value.to_string().contains("\\u0000") {
            prop_assert_eq!(out.unwrap_err().sqlstate, "22P05");
        } else {
            prop_assert!(out.is_ok(), "{:?}", out);
        }
    }

    #[test]
    fn any_text_is_a_script_or_a_fault(text in "\\PC{0,40}", words in "[a-z=+(){};'`/\\[\\]0-9,.\\n ]{0,40}") {
        let mut scope = TestScope::default();
        for source in [text, words] {
            let _ = evaluate(&expression(ExpressionKind::JavaScript(source.as_str().into()), TypeName::Any), &mut scope);
        }
        let sound = ExpressionKind::JavaScript("Object.keys(globalThis).length".into());
        prop_assert_eq!(evaluate(&expression(sound, TypeName::Any), &mut scope), Ok(json!(0)));
    }
}
