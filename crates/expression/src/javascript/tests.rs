//! What scripts can do: Elsa's functions, forms of scripts, values in and out.

use serde_json::json;

use super::*;
use crate::tests_support::TestScope;
use workflow_value::value::parse_json;

pub(super) fn run(script: &str) -> Result<Value, Fault> {
    evaluate(script, &mut TestScope::default())
}

pub(super) fn value(script: &str) -> Value {
    run(script).unwrap_or_else(|fault| panic!("{script}: {fault:?}"))
}

fn sqlstate(script: &str) -> String {
    run(script).map_or_else(|fault| fault.sqlstate, |value| panic!("{script}: {value}"))
}

#[test]
fn scripts_of_elsa_work() {
    let mut scope = TestScope::with(json!({
        "Counter": 1, "CurrentValue": "Apple", "Message": "Hi", "theSum": 7, "A": 1, "B": 2, "Variable1": "v",
        "StaticValue": null, "ChildResult": {"Output": {"result": 42}},
    }));
    scope.inputs.insert("Input1".to_owned(), json!("in"));
    scope.outputs.push(("ChildWithOutput1".to_owned(), "Output".to_owned(), json!("child")));
    for (script, expected) in [
        ("getCounter() + 1", json!(2)),
        ("getCounter() > 1", json!(false)),
        ("return false;", json!(false)),
        ("false", json!(false)),
        ("[1,2,3]", json!([1, 2, 3])),
        (r#"["Apple","Banana","Cherry"]"#, json!(["Apple", "Banana", "Cherry"])),
        ("`Current fruit: ${getCurrentValue()}`", json!("Current fruit: Apple")),
        ("getInput1()", json!("in")),
        ("return getInput1();", json!("in")),
        (r#""Parent: " + getInput1();"#, json!("Parent: in")),
        ("getInput('Input1') === true", json!(false)),
        ("`Bar`", json!("Bar")),
        ("getMessage()", json!("Hi")),
        ("({ Message: 'Hello from parent' })", json!({"Message": "Hello from parent"})),
        ("`Parent received: ${getChildResult().output.Result}`", json!("Parent received: 42")),
        ("`Received from child: ${getOutputFromChildWithOutput1()}`", json!("Received from child: child")),
        ("`Result: ${getTheSum()}`", json!("Result: 7")),
        ("getA() + getB()", json!(3)),
        ("return getVariable1()", json!("v")),
        (r#"return {"$schema": "x", "a": [{"b": null}]}"#, json!({"$schema": "x", "a": [{"b": null}]})),
        (r#"return {"prop1":"ceva"}"#, json!({"prop1": "ceva"})),
        (r#"return getStaticValue() ?? "first-value";"#, json!("first-value")),
    ] {
        assert_eq!(evaluate(script, &mut scope), Ok(expected), "{script}");
    }
}

#[test]
fn functions_of_elsa_work() {
    let mut scope = TestScope::with(json!({"X": {"deep": [1]}}));
    scope.outputs.push(("A1".to_owned(), "Result".to_owned(), json!([1])));
    scope.last_result = Some(json!("last"));
    for (script, expected) in [
        ("getWorkflowDefinitionId() + getWorkflowDefinitionVersion()", json!("orders3")),
        ("getWorkflowInstanceId()", json!("00000000-0000-0000-0000-000000000007")),
        ("getCorrelationId()", json!(null)),
        ("setCorrelationId(5); getCorrelationId()", json!("5")),
        ("setWorkflowInstanceName('n'); getWorkflowInstanceName()", json!("n")),
        ("getVariable('X').DEEP[0]", json!(1)),
        ("setVariable('X', 2); getX()", json!(2)),
        ("setX(3); getVariable('X')", json!(3)),
        ("getVariable('none')", json!(null)),
        ("getOutputFrom('A1')[0] + getOutputFrom('A1', 'Result')[0]", json!(2)),
        ("getLastResult()", json!("last")),
        ("[isNullOrWhiteSpace(' '), isNullOrEmpty(' '), isNullOrEmpty(null)]", json!([true, false, true])),
        ("toJson({a: 1})", json!("{\"a\":1}")),
        ("parseGuid('{0192AB00-0000-7000-8000-0000000000FF}')", json!("0192ab00-0000-7000-8000-0000000000ff")),
        ("newGuid()", json!("00000000-0000-0000-0000-000000000001")),
        ("newGuidString() !== getGuidString()", json!(true)),
        ("newShortGuid()", json!("AAAAAAAAAAAAAAAAAAAABA")),
        ("stringToBase64('ä')", json!("w6Q=")),
        ("stringFromBase64('w6Q=')", json!("ä")),
        ("bytesToString(bytesFromString('ä'))", json!("ä")),
        ("bytesToBase64([1, 2, 3])", json!("AQID")),
        ("bytesFromBase64('AQID')", json!("AQID")),
        ("Array.from(bytesFromBase64('AQID'))", json!([1, 2, 3])),
    ] {
        assert_eq!(evaluate(script, &mut scope), Ok(expected), "{script}");
    }
}

#[test]
fn the_container_is_written_back_and_set_variable_wins() {
    let mut scope = TestScope::with(json!({"A": 1, "B": {"x": [1]}, "C": 3, "D": "same"}));
    scope.variables.insert("D".to_owned(), parse_json("1.10").unwrap());
    let script = "variables.A = 10; variables.b.x.push(2); setVariable('C', 30); variables.C = 31; variables.D";
    assert_eq!(evaluate(script, &mut scope), Ok(json!(1.1)));
    assert_eq!(scope.variables["A"], json!(10));
    assert_eq!(scope.variables["B"], json!({"x": [1, 2]}));
    assert_eq!(scope.variables["C"], json!(30));
    assert_eq!(scope.variables["D"].to_string(), "1.10");
    scope.writes.clear();
    assert_eq!(evaluate("Object.keys(variables).length + variables['A']", &mut scope), Ok(json!(14)));
    assert_eq!(scope.writes, Vec::<String>::new());
    assert_eq!(evaluate("variables.Missing = 1", &mut scope).unwrap_err().sqlstate, "42704");
    assert_eq!(evaluate("variables.A = 99; throw 1", &mut scope).unwrap_err().sqlstate, "38000");
    assert_eq!(scope.variables["A"], json!(10));
    assert_eq!(evaluate("variables.none === undefined && !('none' in variables)", &mut scope), Ok(json!(true)));
}

#[test]
fn getters_give_the_object_of_a_variable() {
    let mut scope = TestScope::with(json!({"O": {"list": [1]}, "my var": {"n": 0}, "N": 1}));
    scope.inputs.insert("I".to_owned(), json!({"n": 1}));
    let script = "getVariable('O').list.push(2); getO().n = 3; getMyVar().n++; variables.O.list.push(getO().n); \
        getI().n = 2; getO() === variables.o && getO() === getVariable('O')";
    assert_eq!(evaluate(script, &mut scope), Ok(json!(true)));
    assert_eq!(scope.variables["O"], json!({"list": [1, 2, 3], "n": 3}));
    assert_eq!(scope.variables["my var"], json!({"n": 1}));
    assert_eq!(scope.inputs["I"], json!({"n": 1}), "an input stays as it was given");
    scope.writes.clear();
    assert_eq!(evaluate("getO().list.length + getVariable('N')", &mut scope), Ok(json!(4)));
    assert_eq!(scope.writes, Vec::<String>::new(), "what was only read is not written");
    assert_eq!(evaluate("getO().n = 9; setO({n: 5}); getO().m = 6; 1", &mut scope), Ok(json!(1)));
    assert_eq!(scope.variables["O"], json!({"n": 5, "m": 6}));
    assert_eq!(evaluate("getO().n = 0; throw 1", &mut scope).unwrap_err().sqlstate, "38000");
    assert_eq!(evaluate("globalThis['get' + 'Variable']('O').n", &mut scope), Ok(json!(5)), "nothing is left behind");
    assert_eq!(scope.variables["O"], json!({"n": 5, "m": 6}));
}

#[test]
fn forms_of_scripts() {
    for (script, expected) in [
        ("", json!(null)),
        (" // nothing", json!(null)),
        ("1 // one", json!(1)),
        ("x = 5; x + 1", json!(6)),
        ("var a = 2\na * 2", json!(4)),
        ("let a = 2; const b = 3; a * b", json!(6)),
        ("if (true) { 'yes' } else { 'no' }", json!("yes")),
        ("for (i of [1, 2]) { i * 2 }", json!(4)),
        ("function f(x) { return x + 1 } f(2)", json!(3)),
        ("function f(x) { return x + 1 } return f(2)", json!(3)),
        ("if (1 > 0) { return 'early' } return 'late'", json!("early")),
        ("[1, 2].map(function (x) { return x * 2 })", json!([2, 4])),
        ("/* c */ // d\nfunction f() { return 1 } `${f()}`", json!("1")),
        ("{}", json!({})),
        ("undefined", json!(null)),
        ("'use strict'; 1", json!(1)),
        ("total = 1; total += 1; return total", json!(2)),
        ("let x = 1; x = 2; return x", json!(2)),
        ("return", json!(null)),
        ("async function f() { await null; return 7 } f()", json!(7)),
        ("Promise.resolve(1).then(x => x + 1)", json!(2)),
        ("typeof undeclared", json!("undefined")),
        ("class A { constructor() { this.name = 'n' } toString() { return this.name } } `${new A()}`", json!("n")),
        ("let o = {}; o.toString = () => 'own'; `${o}`", json!("own")),
        ("e = new Error('m'); e.name = 'Mine'; e.message = 'x'; `${e}`", json!("Mine: x")),
        ("function P() {} P.prototype.toString = function () { return 'p' }; `${new P()}`", json!("p")),
        ("10n ** 20n", parse_json("100000000000000000000").unwrap()),
        ("({a: 5n, b: 2n ** 60n})", json!({"a": 5, "b": "1152921504606846976"})),
        ("'abc'.replace(/b/g, x => x.toUpperCase())", json!("aBc")),
        ("new Map([[1, 2]]).get(1) + [...new Set([1, 1])].length", json!(3)),
    ] {
        assert_eq!(value(script), expected, "{script}");
    }
}

#[test]
fn values_come_out_as_json() {
    for (script, expected) in [
        ("0.1 + 0.2", "0.30000000000000004"),
        ("2 ** 53", "9007199254740992"),
        ("-0", "0"),
        ("0 / 0", "null"),
        ("-1 / 0", "null"),
        ("({a: undefined, f() {}, n: NaN, d: new Date(0)})", r#"{"d":"1970-01-01T00:00:00.000Z","n":null}"#),
        ("() => 1", "null"),
        ("Symbol('s')", "null"),
        ("new Date(0)", "\"1970-01-01T00:00:00.000Z\""),
        ("'😀'.substring(0, 1)", "\"\u{fffd}\""),
        ("['😀'.substring(0, 1) + '\\\\ud800']", "[\"\u{fffd}\\\\ud800\"]"),
        ("'\\ud800x'", "\"\u{fffd}x\""),
    ] {
        assert_eq!(value(script).to_string(), expected, "{script}");
    }
    assert_eq!(sqlstate("'a\\0b'"), "22P05");
    assert_eq!(sqlstate("['a\\0b']"), "22P05");
    assert_eq!(sqlstate("a = []; a[0] = a; a"), "38000");
    assert_eq!(sqlstate("a = []; for (i = 0; i < 100000; i++) a = [a]; a"), "54001");
}

#[test]
fn values_go_in_as_json() {
    let deep = parse_json(&format!("{}1{}", "[".repeat(50), "]".repeat(50))).unwrap();
    let mut scope = TestScope::with(json!({"s": "a\u{0}b", "o": {"__proto__": {"x": 1}, "constructor": 2}, "d": deep}));
    for (name, text) in [("big", "12345678901234567890"), ("huge", "1e400"), ("exact", "1.10")] {
        scope.variables.insert(name.to_owned(), parse_json(text).unwrap());
    }
    for (script, expected) in [
        ("getS().length", json!(3)),
        ("getO().x === undefined && getO().constructor === 2 && ({}).x === undefined", json!(true)),
        ("getO() instanceof Object", json!(true)),
        ("JSON.stringify(getBig())", json!("12345678901234567000")),
        ("getHuge() === Infinity", json!(true)),
        ("getExact() * 1", json!(1.1)),
        ("getD().flat(Infinity)", json!([1])),
        ("o = getO(); o.CONSTRUCTOR = 3; o.constructor", json!(3)),
        ("Object.assign({}, getO()).missing === undefined", json!(true)),
    ] {
        assert_eq!(evaluate(script, &mut scope), Ok(expected), "{script}");
    }
}

#[test]
fn the_clock_is_the_bursts() {
    assert_eq!(value("new Date()"), json!("2026-11-21T01:23:45.678Z"));
    assert_eq!(value("Date.now() === new Date().getTime() && new Date() instanceof Date"), json!(true));
    assert_eq!(value("new Date(2026, 0).constructor === Date && Date.UTC(1970, 0) === 0"), json!(true));
    assert_eq!(value("typeof Date()"), json!("string"));
    assert_eq!(value("class D extends Date {} new D().getTime()"), json!(1_795_224_225_678_i64));
}

#[test]
fn faults_tell_what_and_where() {
    let fault = run("let x = null;\nreturn x.y").unwrap_err();
    assert_eq!(fault.sqlstate, "38000");
    assert_eq!(fault.message, "JavaScript error: TypeError: cannot read property 'y' of null");
    assert_eq!(fault.detail.as_deref(), Some("The script is: let x = null; return x.y"));
    assert!(fault.context.as_deref().unwrap().contains("script:2"), "{fault:?}");
    assert_eq!(run("throw 'text'").unwrap_err().message, "JavaScript error: text");
    assert_eq!(run("throw {a: 1}").unwrap_err().message, "JavaScript error: {\"a\":1}");
    assert_eq!(run("throw null").unwrap_err().message, "JavaScript error: null");
    let missing = run("getMissing()").unwrap_err();
    assert_eq!(missing.message, "JavaScript error: ReferenceError: getMissing is not defined");
    let rejected = run("Promise.reject(new RangeError('no'))").unwrap_err();
    assert_eq!(rejected.message, "JavaScript error: RangeError: no");
    assert_eq!(sqlstate("new Promise(() => {})"), "38000");
}

#[test]
fn faults_of_the_host_come_back_unchanged() {
    let mut scope = TestScope::with(json!({"ReadOnly": 1}));
    let fault = evaluate("setVariable('ReadOnly', 2)", &mut scope).unwrap_err();
    assert_eq!((fault.sqlstate.as_str(), fault.detail.as_deref()), ("22003", Some("It is kept.")));
    let caught = "try { setReadOnly(2) } catch (e) { e.message }";
    assert_eq!(evaluate(caught, &mut scope), Ok(json!("value out of range")));
    let other = "try { setReadOnly(2) } catch (e) { throw new Error('other') }";
    assert_eq!(evaluate(other, &mut scope).unwrap_err().sqlstate, "38000");
    assert_eq!(evaluate("setVariable('none', 1)", &mut scope).unwrap_err().sqlstate, "42704");
    // An engine without memory for an error throws null, and so may a script.
    let thrown = |script: &str| evaluate(script, &mut TestScope::default()).unwrap_err();
    for script in ["throw null", "throw undefined", "null.x; throw null"] {
        assert_eq!(thrown(script).sqlstate, "38000", "{script}");
    }
    assert_eq!(thrown("throw null").message, "JavaScript error: null");
    assert_eq!(evaluate("setNone(1)", &mut scope).unwrap_err().sqlstate, "38000");
}

#[test]
fn syntax_is_checked_without_running() {
    for script in ["1 + 1", "return 1", "let a = 1; a", "getX() > 1", "", "throw 1", "while (true) {}"] {
        assert_eq!(check(script), Ok(()), "{script}");
    }
    assert!(check("return await x()").unwrap_err().ends_with("hands such work to a worker.)"));
    assert_eq!(calls_outside("await fetch (1)").map(|(name, _)| name), Some("fetch"));
    for own in ["prefetch(1)", "x.fetch(1)", "function fetch() {} fetch()", "const fetch = 1; fetch()", "fetched(1)"] {
        assert_eq!(calls_outside(own), None, "{own}");
    }
    let message = check("let a = 1;\nlet b = ;").unwrap_err();
    assert!(message.starts_with("invalid JavaScript: ") && message.contains("line 2"), "{message}");
    assert_eq!(sqlstate("1 +"), "42601");
    assert_eq!(sqlstate("\0"), "42601");
    assert_eq!(sqlstate(&"(".repeat(100_000)), "54001");
}
