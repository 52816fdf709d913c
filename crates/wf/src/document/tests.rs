//! Values and positions of JSON and YAML.

use serde_json::{Value, json};

use super::{Document, Format, Position};

fn read(text: &str, format: Format) -> Document {
    let mut documents = Document::read_all(text, format).expect("it can be read");
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

fn yaml(text: &str) -> Value {
    read(text, Format::Yaml).value
}

fn refused(text: &str, format: Format) -> (usize, usize, String) {
    let error = Document::read_all(text, format).expect_err("it cannot be read");
    (error.at.line, error.at.column, error.message)
}

#[test]
fn words_of_yaml_1_1_are_texts() {
    let value = yaml("on: [on, off, yes, no, y, n, 2030-01-31, 12:30:45, 1_000, NO, 0b1, 0777, \"true\", !!str 5]");
    let expected = json!({"on": ["on", "off", "yes", "no", "y", "n", "2030-01-31", "12:30:45", "1_000", "NO", "0b1", 777,
                          "true", "5"]});
    assert_eq!(value, expected);
    assert_eq!(
        yaml("a: ~\nb:\nc: [true, False, null, '']"),
        json!({"a": null, "b": null, "c": [true, false, null, ""]})
    );
}

#[test]
fn numbers_keep_their_digits() {
    for (text, written) in [
        ("1.10", "1.10"),
        ("+5", "5"),
        (".5", "0.5"),
        ("1.", "1"),
        ("-0.0", "-0.0"),
        ("1e3", "1e+3"),
        ("007", "7"),
        ("0x1F", "31"),
        ("0o17", "15"),
        ("12345678901234567890123", "12345678901234567890123"),
    ] {
        assert_eq!(yaml(&format!("[{text}]")).to_string(), format!("[{written}]"), "{text}");
    }
    for text in ["1.2.3", "e5", "-", "1e", "0x", "0xg", "+-1", "."] {
        assert_eq!(yaml(&format!("a: '{text}'"))["a"], json!(text));
        assert_eq!(yaml(&format!("a: {text}x"))["a"], json!(format!("{text}x")));
    }
    assert_eq!(refused("a: .inf", Format::Yaml), (1, 4, "JSON has no number .inf: write \".inf\" for a text".into()));
}

#[test]
fn what_json_cannot_hold_is_an_error_at_its_place() {
    assert_eq!(refused("a: 1\nb: 2\na: 3", Format::Yaml), (3, 1, "the member \"a\" is given twice".into()));
    assert_eq!(refused("a:\n  ? [1]\n  : 2", Format::Yaml), (2, 5, "the name of a member must be a text".into()));
    assert_eq!(refused("a: !ruby/object 1", Format::Yaml).2, "the tag !ruby/object has no meaning in a definition");
    assert!(refused("a: [1", Format::Yaml).2.starts_with("invalid YAML: "));
    assert_eq!(refused("{\"a\": 1,\n \"ä\" 2}", Format::Json), (2, 6, "invalid JSON: expected `:`".into()));
    assert!(refused("{\"a\": \"\\u0000\"}", Format::Json).2.contains("Unicode"));
}

#[test]
fn aliases_are_copies_and_cannot_grow_without_end() {
    assert_eq!(yaml("a: &x {b: [1]}\nc: *x"), json!({"a": {"b": [1]}, "c": {"b": [1]}}));
    let mut bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
    for n in 1..9 {
        bomb += &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", "));
    }
    assert!(refused(&bomb, Format::Yaml).2.contains("more than 1000000 parts"));
    assert!(refused(&("- ".repeat(1_500) + "x"), Format::Yaml).2.contains("nested more than"));
}

#[test]
fn a_pointer_leads_to_a_position() {
    let json = read(
        "{\n  \"root\": [\n    {\"type\": \"RunTask\",\n     \"ä/b\": {\"x\": [1, {\"y\": 2}]}}\n  ]\n}",
        Format::Json,
    );
    let yaml = read("root:\n  - type: RunTask\n    ä/b: {x: [1, {y: 2}]}\n", Format::Yaml);
    for (pointer, in_json, in_yaml) in [
        ("", (1, 1), (1, 1)),
        ("/root", (2, 3), (1, 1)),
        ("/root/0", (3, 5), (2, 5)),
        ("/root/0/type", (3, 6), (2, 5)),
        ("/root/0/missing", (3, 5), (2, 5)),
        ("/root/0/ä~1b/x/1/y", (4, 24), (3, 19)),
        ("/root/7/x", (2, 3), (1, 1)),
    ] {
        let at = |(line, column)| Position { line, column };
        assert_eq!(json.position(pointer), at(in_json), "{pointer}");
        assert_eq!(yaml.position(pointer), at(in_yaml), "{pointer}");
    }
    let twice = read("{\"a\": 1, \"a\": [2, \"}\\\"\", 3]}", Format::Json);
    assert_eq!(twice.position("/a/2"), Position { line: 1, column: 26 });
}

#[test]
fn a_file_of_yaml_may_have_several_documents() {
    let documents = Document::read_all("---\na: 1\n---\nb: 2\n", Format::Yaml).expect("it can be read");
    assert_eq!(
        documents.iter().map(|document| &document.value).collect::<Vec<_>>(),
        [&json!({"a": 1}), &json!({"b": 2})]
    );
    assert_eq!(documents[1].position("/b"), Position { line: 4, column: 1 });
}
