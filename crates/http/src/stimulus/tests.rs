//! Test vectors of Elsa's hash, and the guarantees of normalisation.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::any_json::any_json;

fn hex(hash: [u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn hash_of(name: &str, payload: Value) -> String {
    let payload = normalise(name, &payload).expect("a payload of this stimulus");
    hex(hash(name, Some(&payload), None))
}

fn sha(text: &str) -> String {
    hex(Sha256::digest(text.as_bytes()).into())
}

#[test]
fn vectors_of_elsa_hold() {
    for (name, payload, expected) in [
        ("Elsa.Event", None, "8FA508076C8FFCB7D206A2F2355B0FBBE81FD6CC89D124B884DDAAEFF6B013EB"),
        (
            "Elsa.Event",
            Some(json!({"EventName": "OrderPaid"})),
            "2564EA06509CB58E5511EDED8F8204C511A86FCF911D9AC58ADAF5159C5E10D2",
        ),
        (
            "Elsa.HttpEndpoint",
            Some(json!({"Path": "orders/{id}", "Method": "get"})),
            "F4BAE51A29B8DC6D19690E0BA0A8EBFC793E0866D3DEB52BE2516800A1D3E2E0",
        ),
        (
            "Elsa.Cron",
            Some(json!({"CronExpression": "0 0 * * * *"})),
            "0A5AC3FEBCE864D38845C80895DCB526C507CEAE5867C6BE8DEC04FDD3C65373",
        ),
        (
            "Elsa.RunTask",
            Some(json!({"TaskId": "t1"})),
            "DF259905DAFD655B8768F0F28C63FCD52F3071ECEBB544D9683A92650378BD0E",
        ),
    ] {
        assert_eq!(hex(hash(name, payload.as_ref(), None)), expected, "{name} {payload:?}");
    }
}

#[test]
fn letter_case_and_uncounted_fields_do_not_matter() {
    let expected = hash_of("Elsa.HttpEndpoint", json!({"Path": "orders/{id}", "Method": "get"}));
    let spelled = json!({"METHOD": "GET", "path": "Orders/{id}", "policy": "x", "extra": [1]});
    assert_eq!(hash_of("Elsa.HttpEndpoint", spelled.clone()), expected);
    assert_eq!(
        normalise("Elsa.HttpEndpoint", &spelled),
        Ok(json!({"Path": "orders/{id}", "Method": "get", "Policy": "x", "extra": [1]}))
    );
    assert_eq!(hash_of("Elsa.Event", json!({"eventName": 5})), hash_of("Elsa.Event", json!({"EventName": "5"})));
    let twice = json!({"eventname": "b", "EventName": "a"});
    assert_eq!(normalise("Elsa.Event", &twice), Ok(json!({"EventName": "a"})));
}

#[test]
fn the_text_is_escaped_as_dotnet_does() {
    let payload = json!({"EventName": "Größe <\"&'+`> \\ / 😀\n\u{1}\u{7f}"});
    let escaped = concat!(
        r#"Elsa.Event|{"EventName":"Gr\u00F6\u00DFe \u003C\u0022\u0026\u0027\u002B\u0060\u003E "#,
        r#"\\ / \uD83D\uDE00\n\u0001\u007F"}"#
    );
    assert_eq!(hash_of("Elsa.Event", payload), sha(escaped));
}

#[test]
fn instants_are_utc_and_not_escaped() {
    let expected = sha(r#"Elsa.Delay|{"ResumeAt":"2026-11-21T01:23:45.5+00:00"}"#);
    assert_eq!(hash_of("Elsa.Delay", json!({"resumeAt": "2026-11-21T03:23:45.500+02:00"})), expected);
    let whole = sha(r#"Elsa.StartAt|{"ExecuteAt":"2026-11-21T01:23:45+00:00"}"#);
    assert_eq!(hash_of("Elsa.StartAt", json!({"ExecuteAt": "2026-11-21T01:23:45Z"})), whole);
    assert_eq!(normalise("Elsa.Delay", &json!({"ResumeAt": "soon"})).unwrap_err().sqlstate, "22023");
}

#[test]
fn names_with_two_payload_types_are_told_apart() {
    assert_eq!(
        hash_of("Elsa.Timer", json!({"StartAt": "2026-01-01T00:00:00Z", "Interval": "00:01:00"})),
        sha(r#"Elsa.Timer|{"StartAt":"2026-01-01T00:00:00+00:00","Interval":"00:01:00"}"#)
    );
    assert_eq!(
        hash_of("Elsa.Timer", json!({"ResumeAt": "2026-01-01T00:00:00Z"})),
        sha(r#"Elsa.Timer|{"ResumeAt":"2026-01-01T00:00:00+00:00"}"#)
    );
    assert_eq!(
        hash_of("Elsa.Cron", json!({"cronExpression": "* * * * * *", "executeAt": "2026-01-01T00:00:00Z"})),
        sha(r#"Elsa.Cron|{"ExecuteAt":"2026-01-01T00:00:00+00:00","CronExpression":"* * * * * *"}"#)
    );
    assert_eq!(hash_of("BackgroundActivity", json!({"JobId": "j"})), sha("BackgroundActivity|{}"));
}

#[test]
fn wrong_payloads_are_refused_with_a_hint() {
    let fault = normalise("Elsa.Event", &json!({"name": "x"})).unwrap_err();
    assert_eq!(fault.sqlstate, "22023");
    assert_eq!(fault.message, "stimulus \"Elsa.Event\" lacks \"EventName\"");
    assert_eq!(fault.hint.as_deref(), Some("The stimulus of \"Elsa.Event\" is an object {\"EventName\": …}."));
    assert_eq!(normalise("Elsa.Event", &json!("x")).unwrap_err().sqlstate, "22023");
    assert_eq!(normalise("Elsa.Event", &json!({"EventName": [1]})).unwrap_err().sqlstate, "22023");
    assert_eq!(normalise("Elsa.Event", &json!(null)), Ok(json!(null)));
    assert_eq!(normalise("Approval", &json!("x")), Ok(json!("x")));
}

#[test]
fn other_payloads_meet_when_equal_as_jsonb() {
    let one: Value = serde_json::from_str(r#"{"b": 1.10, "a": [1e2]}"#).unwrap();
    let two: Value = serde_json::from_str(r#"{"a": [100], "b": 1.1}"#).unwrap();
    assert_eq!(hash_of("Approval", one), hash_of("Approval", two));
    assert_ne!(hash_of("Approval", json!("{}")), hash_of("Approval", json!({})));
    assert_eq!(hash_of("Approval", json!(null)), hex(hash("Approval", None, None)));
}

#[test]
fn the_activity_instance_is_the_last_part() {
    assert_eq!(hex(hash("Approval", None, Some("i1"))), sha("Approval|i1"));
    assert_eq!(hex(hash("Approval", Some(&json!({})), Some("i1"))), sha("Approval|{}|i1"));
    assert_eq!(hex(hash("Approval", None, Some("  "))), sha("Approval"));
}

#[test]
fn short_names_are_resolved_unless_taken() {
    assert_eq!(resolve_name("Event", &|_| false), "Elsa.Event");
    assert_eq!(resolve_name("Event", &|name| name == "Event"), "Event");
    assert_eq!(resolve_name("Elsa.Event", &|_| false), "Elsa.Event");
    assert_eq!(resolve_name("Approval", &|_| false), "Approval");
}

proptest! {
    #[test]
    fn nothing_panics_and_normal_forms_are_stable(index in 0usize..12, payload in any_json(), text: String) {
        let names = [
            "Elsa.Event", "Elsa.HttpEndpoint", "Elsa.RunTask", "Elsa.Cron", "Elsa.StartAt", "Elsa.Timer",
            "Elsa.Delay", "Elsa.DispatchWorkflow", "Elsa.BulkDispatchWorkflows", "BackgroundActivity", "Other", "",
        ];
        let name = names[index];
        let field = json!({"EventName": text, "Path": text, "method": text, "taskId": text, "ResumeAt": text});
        for payload in [payload, field] {
            hash(name, Some(&payload), Some("i"));
            if let Ok(stored) = normalise(name, &payload) {
                prop_assert_eq!(normalise(name, &stored), Ok(stored));
            }
        }
    }
}
