//! Values: read within limits, converted to any type, compared, hashed. An input is the name of a type, and JSON on the
//! next line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use workflow_engine::stimulus::{hash, normalise, resolve_name};
use workflow_engine::value::number::{Decimal, from_text};
use workflow_engine::value::{Bounds, as_bool, canonical, convert, parse_json, parse_type_name, same, to_text};

fuzz_target!(|text: &str| {
    let (name, text) = text.split_once('\n').unwrap_or(("", text));
    let Ok(value) = parse_json(text) else { return };
    is_read_within(text, &value);
    let written = canonical(&value);
    let read = parse_json(&written).expect("the canonical form is JSON");
    assert_eq!(canonical(&read), written);
    assert!(same(&value, &read), "{written}");
    if let Ok(converted) = convert(value.clone(), parse_type_name(name)) {
        let _ = (as_bool(&converted), to_text(&converted));
    }
    let name = resolve_name(name, &|_| false);
    if let Ok(payload) = normalise(&name, &value) {
        let again = normalise(&name, &payload).expect("what is normal stays so");
        assert_eq!(hash(&name, Some(&payload), None), hash(&name, Some(&again), None));
    }
    if let Some(number) = value.as_str().and_then(from_text) {
        let decimal = Decimal::of(&number);
        let _ = (decimal.canonical(), decimal.to_i64(), decimal.round_to_i64(), decimal.is_integral());
    }
});

/// A limit of one node fewer than the value has refuses the text; a limit of the text's length does not. (A name that
/// occurs twice in an object counts twice.)
fn is_read_within(text: &str, value: &Value) {
    let read_in = |nodes| {
        Bounds { nodes, ..Bounds::default() }.apply();
        let read = parse_json(text);
        Bounds::default().apply();
        read
    };
    let least = nodes_of(value);
    if let Err(fault) = read_in(least - 1) {
        assert_eq!(fault.sqlstate, "54000", "{text}");
    } else {
        panic!("{text} has {least} nodes, and is read within one fewer");
    }
    // Each node takes at least one character of the text.
    assert_eq!(read_in(text.len()).as_ref(), Ok(value), "{text}");
}

/// Number of values and names of members.
fn nodes_of(value: &Value) -> usize {
    let mut open = vec![value];
    let mut count = 0;
    while let Some(value) = open.pop() {
        count += 1;
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                count += members.len();
                open.extend(members.values());
            }
            _ => {}
        }
    }
    count
}
