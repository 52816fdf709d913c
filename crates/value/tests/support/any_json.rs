//! Random values for the property tests of several crates.

use proptest::prelude::*;
use serde_json::{Map, Value};

/// Any JSON, numbers beyond every range included.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let number = "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,10})?([eE][-+]?[0-9]{1,5})?"
        .prop_filter_map("a JSON number", |text| serde_json::from_str::<Value>(&text).ok());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        number,
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}
