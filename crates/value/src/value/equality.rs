//! Equality of values as in jsonb: numbers by value, objects without order.

use serde_json::Value;

use super::number::Decimal;

/// Whether two values are equal as jsonb: `1.10` equals `1.1`.
pub fn same(left: &Value, right: &Value) -> bool {
    let mut open = vec![(left, right)];
    while let Some(pair) = open.pop() {
        let equal = match pair {
            (Value::Null, Value::Null) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::String(left), Value::String(right)) => left == right,
            (Value::Number(left), Value::Number(right)) => left == right || Decimal::of(left) == Decimal::of(right),
            (Value::Array(left), Value::Array(right)) => {
                open.extend(left.iter().zip(right));
                left.len() == right.len()
            }
            (Value::Object(left), Value::Object(right)) => {
                left.len() == right.len()
                    && left.iter().all(|(key, item)| right.get(key).map(|other| open.push((item, other))).is_some())
            }
            _ => false,
        };
        if !equal {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::parse_json;
    use super::*;

    #[test]
    fn numbers_compare_by_value() {
        let parse = |text| parse_json(text).unwrap();
        assert!(same(&parse(r#"{"a":[1.10,{"b":1e2}]}"#), &parse(r#"{"a":[1.1,{"b":100}]}"#)));
        assert!(!same(&parse("[1]"), &parse("[1,2]")));
        assert!(!same(&parse(r#"{"a":1}"#), &parse(r#"{"b":1}"#)));
        assert!(!same(&parse("1"), &parse("\"1\"")));
        assert!(same(&parse("1e400"), &parse("10e399")));
    }
}
