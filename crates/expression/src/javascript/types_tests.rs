//! The types of .NET that scripts may use, and those that are deliberately missing.

use serde_json::json;

use super::evaluate;
use super::tests::{run, value};
use crate::tests_support::TestScope;
use workflow_value::value::parse_json;

#[test]
fn spans_are_those_of_dotnet() {
    for (script, expected) in [
        ("TimeSpan.FromMinutes(5)", json!("00:05:00")),
        ("timeSpan = TimeSpan.fromDays(1.5), timeSpan.ToString()", json!("1.12:00:00")),
        ("new TimeSpan(1, 2, 3)", json!("01:02:03")),
        ("new TimeSpan(1, 2, 3, 4, 500)", json!("1.02:03:04.5000000")),
        ("new TimeSpan(5)", json!("00:00:00.0000005")),
        ("TimeSpan.FromSeconds(-90)", json!("-00:01:30")),
        ("TimeSpan.FromHours(36).TotalDays", json!(1.5)),
        ("TimeSpan.FromHours(36).Hours", json!(12)),
        ("TimeSpan.Parse('1.00:00:01').totalSeconds", json!(86401)),
        ("TimeSpan.Parse('7').Days", json!(7)),
        ("TimeSpan.FromMinutes(1) < TimeSpan.FromHours(1)", json!(true)),
        ("TimeSpan.FromMinutes(1).Add(TimeSpan.FromSeconds(1)).Equals('00:01:01')", json!(true)),
        ("`in ${TimeSpan.Zero.Add('00:00:10')}`", json!("in 00:00:10")),
        ("({ wait: TimeSpan.FromSeconds(1) })", json!({"wait": "00:00:01"})),
    ] {
        assert_eq!(value(script), expected, "{script}");
    }
    assert_eq!(run("TimeSpan.Parse('soon')").unwrap_err().sqlstate, "38000");
}

#[test]
fn instants_begin_at_the_burst() {
    for (script, expected) in [
        ("DateTime.UtcNow", json!("2026-11-21T01:23:45.678Z")),
        ("DateTimeOffset.UtcNow.ToString('o')", json!("2026-11-21T01:23:45.678+00:00")),
        ("DateTime.Today.AddDays(1)", json!("2026-11-22T00:00:00.000Z")),
        ("DateTime.UtcNow.DayOfWeek", json!("Saturday")),
        ("DateTime.UtcNow.dayOfYear", json!(325)),
        ("new DateTime(2024, 1, 31).AddMonths(1).ToString('yyyy-MM-dd')", json!("2024-02-29")),
        ("new DateTime(2024, 2, 29).AddYears(1).Day", json!(28)),
        ("DateTime.Parse('2026-11-20T00:00:00Z') < DateTime.UtcNow", json!(true)),
        ("DateTime.UtcNow.Subtract(DateTime.Today).Hours", json!(1)),
        ("DateTime.UtcNow.Subtract(TimeSpan.FromHours(2)).ToString('dd MMM, h:mm tt')", json!("20 Nov, 11:23 PM")),
        ("DateTimeOffset.FromUnixTimeSeconds(0).Year", json!(1970)),
        ("DateTimeOffset.UtcNow.ToUnixTimeSeconds()", json!(1_795_224_225)),
        ("new DateTime(1, 1, 1).Ticks", json!(0)),
        ("DateTime.IsLeapYear(2000)", json!(true)),
    ] {
        assert_eq!(value(script), expected, "{script}");
    }
    for script in ["new DateTime(2026, 2, 30)", "DateTime.MaxValue.AddDays(1)", "DateTime.Parse('x')"] {
        assert_eq!(run(script).unwrap_err().sqlstate, "38000", "{script}");
    }
}

#[test]
fn ids_and_chance() {
    assert_eq!(value("Guid.NewGuid().ToString().length"), json!(36));
    assert_eq!(value("newGuid().ToString() === Guid.Empty"), json!(false));
    assert_eq!(value("Guid.Parse('{00000000-0000-0000-0000-000000000000}') === Guid.Empty"), json!(true));
    assert_eq!(value("[1,2,3].map(() => new Random().Next(5, 7)).every((n) => n === 5 || n === 6)"), json!(true));
    assert_eq!(value("Random.Shared.nextDouble() < 1"), json!(true));
    assert_eq!(value("getWorkflowDefinitionVersionId()"), json!("orders-v3"));
    assert_eq!(value("args.anything ?? 'nothing'"), json!("nothing"));
    assert_eq!(value("streamToBase64(streamToBytes('aGk='))"), json!("aGk="));
    assert_eq!(value("[1, [2, 3].Count, [].Length, JSON.stringify([4])]"), json!([1, 2, 0, "[4]"]));
    assert_eq!(value("readStreamAsText('aGk=') + readStreamAsText([104, 105])"), json!("hihi"));
}

#[test]
fn types_are_the_same_for_every_script() {
    for (change, look) in [
        ("DateTime.UtcNow = 1", "typeof DateTime.UtcNow"),
        ("TimeSpan.prototype.Add = 1", "typeof TimeSpan.Zero.Add"),
        ("args.leak = 1", "typeof args.leak"),
        ("Guid.Empty = 1", "typeof Guid.Empty"),
    ] {
        let before = value(look);
        let _ = run(change);
        assert_eq!(value(look), before, "{change}");
    }
}

#[test]
fn what_is_missing_says_what_to_do() {
    for script in ["getConfig('x')", "getSecret('x')", "createEventTriggerUrl('x')", "_.map([])", "moment()"] {
        let fault = run(script).unwrap_err();
        assert!(fault.message.ends_with("is not defined"), "{fault:?}");
        assert!(fault.hint.is_some(), "{fault:?}");
    }
    assert_eq!(run("nothing()").unwrap_err().hint, None);
}

#[test]
fn a_plain_read_keeps_every_digit() {
    let exact = parse_json("12345678901234567890.10").unwrap();
    let mut scope = TestScope::with(json!({"Total": exact, "order": {"sum": exact}}));
    scope.inputs.insert("sum".to_owned(), exact.clone());
    for script in ["getTotal()", "return variables.Total;", "getVariable('Total')", "getInput(\"sum\")"] {
        assert_eq!(evaluate(script, &mut scope), Ok(exact.clone()), "{script}");
    }
    assert_eq!(evaluate("getOrder()", &mut scope), Ok(json!({"sum": exact})));
    assert_eq!(evaluate("getInput('nothing')", &mut scope), Ok(json!(null)));
    assert_eq!(evaluate("variables.total === variables.Total", &mut scope), Ok(json!(true)));
    assert_eq!(evaluate("getNothing()", &mut scope).unwrap_err().sqlstate, "38000");
}
