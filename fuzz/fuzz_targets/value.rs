//! Values: converted to any type, compared, hashed. An input is the name of a type, and JSON on the next line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use workflow_engine::stimulus::{hash, normalise, resolve_name};
use workflow_engine::value::number::{Decimal, from_text};
use workflow_engine::value::{as_bool, canonical, convert, parse_json, parse_type_name, same, to_text, truthy};

fuzz_target!(|text: &str| {
    let (name, text) = text.split_once('\n').unwrap_or(("", text));
    let Ok(value) = parse_json(text) else { return };
    let written = canonical(&value);
    let read = parse_json(&written).expect("the canonical form is JSON");
    assert_eq!(canonical(&read), written);
    assert!(same(&value, &read), "{written}");
    if let Ok(converted) = convert(value.clone(), parse_type_name(name)) {
        let _ = (as_bool(&converted), truthy(&converted), to_text(&converted));
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
