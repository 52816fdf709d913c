use serde_json::{Value, json};

use super::*;

fn typed(pairs: &[(&str, &str)]) -> Typed {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The answer to a form, or the errors by field name.
fn answer(schema: &Value, pairs: &[(&str, &str)]) -> Result<Option<Value>, Vec<String>> {
    let mut form = Form::new(Some(schema), None, Language::English);
    form.fill(&typed(pairs));
    let answer = form.answer().map(|text| serde_json::from_str(&text).unwrap());
    if form.has_problems() { Err(problems(&form.root)) } else { Ok(answer) }
}

fn problems(field: &Field) -> Vec<String> {
    let own = field.problems.iter().map(|problem| format!("{}: {problem}", field.name));
    own.chain(field.children().iter().flat_map(problems)).collect()
}

fn page(form: &Form) -> String {
    form.fields().iter().map(|field| field.to_string()).collect()
}

fn everything() -> Value {
    json!({"type": "object", "title": "All", "required": ["zeta", "yes"], "properties": {
        "alpha": {"type": "string"},
        "zeta": {"type": "integer", "minimum": 1},
        "yes": {"type": "boolean", "title": "Is it so?"},
        "colour": {"enum": ["red", "green"]},
        "size": {"oneOf": [{"const": 1, "title": "Small"}, {"const": 2, "title": "Large"}]},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}},
        "day": {"type": "string", "format": "date"},
        "at": {"type": ["string", "null"], "format": "date-time"},
        "note": {"type": "string", "maxLength": 2000},
        "lists": {"type": "array", "items": {"type": "number"}},
        "a/b~c": {"type": "number"},
        "address": {"type": "object", "required": ["street"], "properties": {"street": {"type": "string"}, "number": {"type": "integer"}}},
    }})
}

#[test]
fn what_is_typed_becomes_json_of_the_types_of_the_schema() {
    let pairs = [
        ("result/alpha", "007"),
        ("result/zeta", " 123456789012345678901234567890 "),
        ("result/yes", "false"),
        ("result/colour", "green"),
        ("result/size", "2"),
        ("result/tags", "c"),
        ("result/tags", "a"),
        ("result/day", "2026-03-01"),
        ("result/at", "2026-03-01T10:00"),
        ("result/note", "one\r\ntwo"),
        ("result/lists", "[1.10, 2]"),
        ("result/a~1b~0c", "1.10"),
        ("result/address/street", "High Street"),
    ];
    let mut form = Form::new(Some(&everything()), None, Language::English).without_buttons();
    form.fill(&typed(&pairs));
    let text = form.answer().unwrap();
    assert!(!form.has_problems(), "{:?}", problems(&form.root));
    assert_eq!(
        text,
        r#"{"a/b~c":1.10,"address":{"street":"High Street"},"alpha":"007","at":"2026-03-01T10:00:00Z","colour":"green","day":"2026-03-01","lists":[1.10,2],"note":"one\ntwo","size":2,"tags":["a","c"],"yes":false,"zeta":123456789012345678901234567890}"#
    );
    // The input is shown again.
    let page = page(&form);
    for part in
        ["value=\"007\"", "value=\"false\" checked", "<option value=\"green\" selected", "one\r\ntwo</textarea>"]
    {
        assert!(page.contains(part), "{part} in {page}");
    }
}

#[test]
fn what_is_empty_is_left_out_unless_it_is_required() {
    assert_eq!(
        answer(&everything(), &[("result/zeta", "1"), ("result/yes", "true")]),
        Ok(Some(json!({"yes": true, "zeta": 1})))
    );
    let wrong = answer(&everything(), &[("result/address/number", "1")]).unwrap_err();
    let required = "an answer is required";
    assert_eq!(
        wrong,
        [
            format!("result/zeta: {required}"),
            format!("result/yes: {required}"),
            format!("result/address/street: {required}"),
        ]
    );
    let tags = json!({"required": ["tags"], "properties": {"tags": {"type": "array", "items": {"enum": ["a"]}}}});
    assert_eq!(answer(&tags, &[]), Ok(Some(json!({"tags": []}))));
}

#[test]
fn what_makes_no_sense_is_said_beside_the_field() {
    for (field, text) in [
        ("zeta", "12,5"),
        ("zeta", "0x10"),
        ("zeta", "\"1\""),
        ("zeta", "01"),
        ("zeta", "NaN"),
        ("yes", "perhaps"),
        ("colour", "blue"),
        ("tags", "d"),
        ("lists", "[1"),
        ("lists", "[1] 2"),
    ] {
        let name = format!("result/{field}");
        let wrong = answer(&everything(), &[("result/zeta", "1"), ("result/yes", "true"), (&name, text)]);
        // A field has its first value.
        if field == "zeta" || field == "yes" {
            let wrong = answer(&everything(), &[(&name, text)]).unwrap_err();
            assert!(wrong.iter().any(|problem| problem.starts_with(&name) && problem.contains("is n")), "{wrong:?}");
        } else {
            assert!(wrong.unwrap_err()[0].starts_with(&name));
        }
    }
}

#[test]
fn reasons_of_the_database_stand_beside_their_fields() {
    let mut form = Form::new(Some(&everything()), None, Language::English);
    let others =
        form.blame("/: \"x\" is a required property\n/address/street: too short\n/zeta: 0 is less than 1\nodd");
    assert_eq!(others, ["/: \"x\" is a required property", "odd"]);
    assert_eq!(problems(&form.root), ["result/zeta: 0 is less than 1", "result/address/street: too short"]);
    let page = page(&form);
    assert!(page.contains("aria-invalid=\"true\"") && page.contains("0 is less than 1"), "{page}");
}

#[test]
fn a_schema_without_members_is_one_field() {
    assert_eq!(answer(&json!({"type": "boolean"}), &[("result", "true")]), Ok(Some(json!(true))));
    assert_eq!(answer(&json!({"type": "string"}), &[]), Ok(None));
    let mut form = Form::new(None, None, Language::English);
    form.fill(&typed(&[("result", "{\"a\": 1e400}")]));
    assert_eq!(form.answer().unwrap(), "{\"a\":1e+400}");
    form.fill(&typed(&[("result", "{")]));
    assert!(form.answer().is_none() && form.has_problems());
    form.fill(&typed(&[("result", &"[".repeat(1_000_000))]));
    assert!(form.answer().is_none() && form.has_problems());
}

#[test]
fn questions_have_buttons_in_place_of_fields() {
    let decided = |schema: Value, button: &str| {
        let mut form = Form::new(Some(&schema), None, Language::English);
        let mut given = typed(&[("result/why", "so")]);
        let is_there = form.decide(button, &mut given);
        form.fill(&given);
        is_there.then(|| (form.answer().unwrap(), form.fields().len()))
    };
    let vote = json!({"properties": {"approved": {"type": "boolean"}, "abstain": {"type": "boolean"}, "why": {"type": "string"}}});
    let answers = [
        (YES, r#"{"approved":true,"why":"so"}"#),
        (NO, r#"{"approved":false,"why":"so"}"#),
        (ABSTAIN, r#"{"abstain":true,"why":"so"}"#),
    ];
    for (button, answer) in answers {
        assert_eq!(decided(vote.clone(), button), Some((answer.to_owned(), 1)));
    }
    let question =
        json!({"required": ["is_it"], "properties": {"is_it": {"type": "boolean"}, "why": {"type": "string"}}});
    assert_eq!(decided(question.clone(), NO), Some((r#"{"is_it":false,"why":"so"}"#.to_owned(), 1)));
    assert_eq!(decided(question, ABSTAIN), None);
    for schema in [
        json!({"properties": {"optional": {"type": "boolean"}}}),
        json!({"required": ["a", "b"], "properties": {"a": {"type": "boolean"}, "b": {"type": "boolean"}}}),
        json!({"type": "boolean"}),
        json!({"properties": {"approved": {"type": "string"}}}),
    ] {
        assert_eq!(decided(schema, YES), None);
    }
}

#[test]
fn defaults_are_in_the_form() {
    let schema = json!({"properties": {"a": {"type": "number", "default": 1.5}, "b": {"enum": ["x", "y"], "default": "y"},
        "c": {"type": "boolean", "default": true}, "d": {"type": "array", "items": {"enum": [1, 2]}, "default": [2]}}});
    assert_eq!(
        Form::new(Some(&schema), None, Language::English).answer().unwrap(),
        r#"{"a":1.5,"b":"y","c":true,"d":[2]}"#
    );
}

#[test]
fn texts_of_schemas_and_people_are_escaped() {
    let evil = "<script>\"'&";
    let schema = json!({"properties": {evil: {"type": "string", "title": evil, "description": evil, "default": evil},
        "choice": {"enum": [evil]}, "many": {"type": "array", "items": {"enum": [evil]}}, "group": {"title": evil, "properties": {evil: {"type": "boolean"}}},
        "long": {"type": "string", "maxLength": 1000, "default": "</textarea><script>"}, "json": {"default": evil}}});
    let mut form = Form::new(Some(&schema), None, Language::English);
    form.blame(&format!("/choice: {evil}"));
    let page = page(&form);
    assert!(!page.contains("<script") && page.contains("&#60;script&#62;"), "{page}");
    assert_eq!(page.matches("</textarea>").count(), page.matches("<textarea").count());
}

#[test]
fn hostile_schemas_become_forms_nevertheless() {
    let mut deep = json!({"type": "string"});
    for _ in 0..900 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    let wide: Value = json!({"properties": (0..10_000).map(|n| (n.to_string(), json!({"type": "string"}))).collect::<serde_json::Map<_, _>>()});
    let choices = json!({"enum": (0..10_000).collect::<Vec<i32>>()});
    let mut odd: Vec<Value> = vec![
        json!(null),
        json!(true),
        json!([]),
        json!("x"),
        json!(1e300),
        json!({"$ref": "#"}),
        json!({"type": 7}),
        json!({"type": ["string", "number"]}),
        json!({"type": []}),
        json!({"properties": []}),
        json!({"properties": {"a": 1, "b": null, "": {}}}),
        json!({"properties": {"a": {"$ref": "#"}}, "required": "a"}),
        json!({"properties": {"a": {}}, "required": ["b", 1, "a", "a"]}),
        json!({"enum": []}),
        json!({"enum": [{}, []]}),
        json!({"enum": [1, "1"]}),
        json!({"enum": 3}),
        json!({"enum": [""]}),
        json!({"oneOf": [{"const": 1}, {}]}),
        json!({"type": "array", "items": true}),
        json!({"type": "array", "items": {"$ref": "#"}}),
        json!({"type": "string", "maxLength": -1, "default": {}}),
        json!({"title": [], "description": 5, "type": "string", "format": {}}),
        json!({"type": "integer", "minimum": "x", "maximum": 1e99}),
        json!({"allOf": [{}], "properties": {"a": {}}}),
        json!({"type": "array", "properties": {"a": {}}}),
        json!({"const": null}),
    ];
    odd.extend([deep, wide, choices]);
    for schema in odd {
        let mut form = Form::new(Some(&schema), None, Language::English);
        form.fill(&typed(&[("result", "1"), ("result/a", "1"), ("result/", "é"), ("result/b", "\u{0}")]));
        form.answer();
        form.blame("/a/b/c: x\n: y\n\n/: z");
        let size = page(&form).len();
        assert!(!form.fields().is_empty() && size < 1_000_000, "{size}");
    }
}
