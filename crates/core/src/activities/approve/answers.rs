//! Answers to the tasks of an `Approve`, and the form that asks for them.

use serde_json::{Map, Value, json};

use crate::approval::Choice;
use workflow_value::fault::Fault;
use workflow_value::value::copy_or_null;

/// The member of an answer that says yes or no.
const APPROVED: &str = "approved";
/// The member of an answer that says neither.
const ABSTAIN: &str = "abstain";

/// Reads an answer: true, false, or an object that has one of them as `approved`, or true as `abstain`.
///
/// # Errors
/// 22023 if it is none of these, or abstains where that is not allowed.
pub(super) fn choice(answer: Option<&Value>, may_abstain: bool) -> Result<Choice, Fault> {
    let (approved, abstains) = match answer {
        Some(Value::Object(members)) => (members.get(APPROVED), members.get(ABSTAIN).unwrap_or(&Value::Null)),
        other => (other, &Value::Null),
    };
    match (approved, abstains) {
        (Some(Value::Bool(true)), Value::Null | Value::Bool(false)) => Ok(Choice::Approved),
        (Some(Value::Bool(false)), Value::Null | Value::Bool(false)) => Ok(Choice::Rejected),
        (None | Some(Value::Null), Value::Bool(true)) if may_abstain => Ok(Choice::Abstained),
        (None | Some(Value::Null), Value::Bool(true)) => {
            Err(Fault::new("22023", "this approval does not allow abstaining")
                .hint("Its definition allows it with \"abstain\": true."))
        }
        _ => Err(Fault::new("22023", "this is not an answer to an approval").detail(match may_abstain {
            true => "It must be true, false, {\"approved\": true}, {\"approved\": false} or {\"abstain\": true}. An object may have more members.",
            false => "It must be true, false, {\"approved\": true} or {\"approved\": false}. An object may have more members.",
        })),
    }
}

/// The form of a vote: yes or no, and what the author's form asks besides.
pub(super) fn form(own: Option<Value>, may_abstain: bool) -> Value {
    let mut form = match own {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    form.entry("type").or_insert_with(|| json!("object"));
    let mut properties = Map::new();
    properties.insert(APPROVED.to_owned(), json!({"type": "boolean", "title": "Approve"}));
    if may_abstain {
        properties.insert(ABSTAIN.to_owned(), json!({"type": "boolean", "title": "Abstain"}));
    }
    if let Some(Value::Object(given)) = form.get("properties") {
        properties.extend(given.iter().map(|(name, schema)| (name.clone(), copy_or_null(schema))));
    }
    form.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_yes_or_no() {
        let read = |answer: Value| choice(Some(&answer), true).ok();
        assert_eq!(read(json!(true)), Some(Choice::Approved));
        assert_eq!(read(json!({"approved": false, "why": "too long"})), Some(Choice::Rejected));
        assert_eq!(read(json!({"approved": true, "abstain": false})), Some(Choice::Approved));
        assert_eq!(read(json!({"abstain": true})), Some(Choice::Abstained));
        assert_eq!(read(json!({"approved": null, "abstain": true})), Some(Choice::Abstained));
        for wrong in [json!("yes"), json!(null), json!({}), json!({"approved": "yes"}), json!({"aproved": true})] {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
        assert_eq!(read(json!({"approved": true, "abstain": true})), None);
        assert!(choice(None, true).is_err());
        let fault = choice(Some(&json!({"abstain": true})), false).expect_err("not allowed");
        assert_eq!(fault.message, "this approval does not allow abstaining");
    }

    #[test]
    fn a_form_asks_for_the_vote_and_for_what_the_author_wants() {
        let yes_or_no = json!({"type": "boolean", "title": "Approve"});
        assert_eq!(form(None, false), json!({"type": "object", "properties": {"approved": yes_or_no}}));
        let own =
            json!({"title": "Leave", "properties": {"why": {"type": "string"}, "approved": {"title": "Grant it?"}}});
        let expected = json!({"type": "object", "title": "Leave", "properties": {
            "approved": {"title": "Grant it?"}, "abstain": {"type": "boolean", "title": "Abstain"}, "why": {"type": "string"}}});
        assert_eq!(form(Some(own), true), expected);
    }
}
