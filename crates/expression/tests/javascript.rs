//! Scripts that exceed their time, memory or stack, and the scripts that run after them.

use std::cell::Cell;
use std::time::Duration;

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use workflow_expression::ScriptLimits;
use workflow_expression::javascript::evaluate;
use workflow_value::Fault;

#[path = "support/scope.rs"]
mod scope;
use scope::Session;

thread_local! {
    static CANCEL_AFTER: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// Counts down, then reports that the query is cancelled.
fn cancelled() -> bool {
    CANCEL_AFTER.set(CANCEL_AFTER.get().saturating_sub(1));
    CANCEL_AFTER.get() == 0
}

/// A scope whose outputs evaluate a script of their own, as SQL of a scope may.
fn session() -> Session {
    let limits = ScriptLimits { time: Duration::from_millis(300), interrupted: cancelled, ..Default::default() };
    Session {
        limits,
        ask: |name| {
            assert_ne!(name, "Broken", "the host broke");
            None
        },
        output: |script| evaluate(script, &mut session()).ok(),
        check_interrupts: || panic!("canceling statement due to user request"),
        ..Session::with([("Amount", json!(101)), ("Order", json!({"Id": 1}))])
    }
}

/// Runs a script that ends by itself, however busy the machine is.
fn run(script: &str) -> Result<Value, Fault> {
    let mut session = session();
    session.limits.time = Duration::from_secs(3600);
    evaluate(script, &mut session)
}

#[track_caller]
fn faults(script: &str, sqlstate: &str, message: &str) {
    let begun = ThreadTime::now();
    let fault = evaluate(script, &mut session()).expect_err(script);
    assert_eq!((fault.sqlstate.as_str(), fault.message.as_str()), (sqlstate, message), "{script}: {fault:?}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{script} took {:?}", begun.elapsed());
    assert_eq!(run("getAmount() > 100"), Ok(json!(true)), "after {script}");
}

#[test]
fn endless_scripts_end() {
    for script in [
        "while (true) {}",
        "for (;;) { try { while (true) {} } catch (e) {} finally { continue } }",
        "(function f() { try { while (1); } finally { f() } })()",
        "/(a+)+$/.test('a'.repeat(40) + 'b')",
        "async function f() { while (true) await 0 } f()",
        "(function f() { Promise.resolve().then(f) })()",
        "function* g() { while (true) yield 1 } [...{ [Symbol.iterator]: () => ({ next: () => ({}) }) }].length",
        "new Array(4294967295).indexOf(1)",
        "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
        "new Array(4294967295).forEach(() => 1)",
        "Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "[new Array(4294967295)].flat()",
        "[].some.call({ length: 2 ** 53 - 1 }, x => x)",
        "({ toJSON() { while (true) {} } })",
        "throw { toString() { while (true) {} }, toJSON() { while (true) {} } }",
        "e = new Error('x'); Object.defineProperty(e, 'message', { get() { while (true) {} } }); throw e",
        "variables.Order.x = { toJSON() { while (true) {} } }; 1",
    ] {
        faults(script, "54000", "JavaScript took longer than 300 ms");
    }
}

#[test]
fn greedy_scripts_end() {
    for script in [
        "a = []; while (true) a.push('x'.repeat(1000) + a.length)",
        "'x'.repeat(2 ** 29)",
        "new Uint8Array(2 ** 30)",
        "a = []; while (true) { try { while (true) a.push({}) } catch (e) { a.push(e) } }",
        "JSON.stringify(Array.from({ length: 1e7 }, () => 'xxxxxxxxxxxxxxxx'))",
        "m = new Map(); for (i = 0; ; i++) m.set(i, [i])",
    ] {
        let mut session = session();
        session.limits.time = Duration::from_secs(20);
        let fault = evaluate(script, &mut session).expect_err(script);
        assert_eq!(fault.sqlstate, "54000", "{script}: {fault:?}");
        assert_eq!(fault.message, "JavaScript used more than 64 MB", "{script}");
        assert_eq!(run("getAmount() > 100"), Ok(json!(true)), "after {script}");
    }
}

// security.md#what-an-input-can-do: beyond the limits there is an error, and the session lives on
/// The memory runs out while the compiler resolves labels and jumps, after it dropped texts of the script.
#[test]
fn compilation_survives_the_end_of_memory() {
    let texts = (0..3000).map(|at| format!("'text {at}';")).collect::<String>();
    let script = format!("a=>{{a;{texts}l:{{{}}}{}}}", "if(a)break l;".repeat(30_000), "a.b;".repeat(1000));
    let mut refused = 0;
    for limit in (1500..15_000).step_by(151) {
        let mut session = session();
        session.limits.time = Duration::from_secs(3600);
        session.limits.memory = limit << 10;
        if let Err(fault) = evaluate(&script, &mut session) {
            assert_eq!(fault.sqlstate, "54000", "{fault:?}");
            refused += 1;
        }
    }
    assert!(refused > 20, "{refused}");
    assert_eq!(run("'text 1'"), Ok(json!("text 1")));
}

#[test]
fn loops_of_built_in_functions_are_bounded() {
    for script in [
        "a = []; a.length = 4294967295; a.reverse()",
        "[1].fill.call({ length: 2 ** 40 }, 0, 2 ** 39)",
        "[].join.call({ length: { valueOf: () => 2 ** 53 - 1 } }, '')",
        "[].shift.call(Object.create({ length: 2 ** 53 - 1 }))",
        "`${new Array(4294967295)}`",
        "new Array(4294967295).slice(0, -1)",
        "new Array(4294967295).sort()",
        "[].concat(new Array(4294967295))",
        "a = new Array(4294967295); a.unshift(1)",
        "'a'.repeat(1e7).indexOf('a'.repeat(5e6) + 'b')",
        "'a'.repeat(1e7).split('a'.repeat(5e6) + 'b')",
        "'a'.repeat(1e7).replaceAll({ toString: () => 'a'.repeat(5e6) + 'b' }, 'c')",
    ] {
        let begun = ThreadTime::now();
        let fault = run(script).expect_err(script);
        assert!(fault.message.starts_with("JavaScript error: RangeError: the "), "{script}: {fault:?}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{script} took {:?}", begun.elapsed());
    }
    for (script, expected) in [
        ("[3, 1, 2].sort().concat([4], 5).join('')", json!("12345")),
        ("[1, [2, [3, , 4]]].flat(Infinity)", json!([1, 2, 3, 4])),
        ("[1, 2].flatMap(x => [x, [x]])", json!([1, [1], 2, [2]])),
        ("(function () { return Array.prototype.slice.call(arguments, 1) })(1, 2)", json!([2])),
        (
            "'a-b-c'.split('-').reverse() + 'x'.replace('x', m => m + '$&') + 'aXa'.replaceAll('a', '')",
            json!("c,b,ax$&X"),
        ),
        (
            "['a1b2'.replace(/[0-9]/g, ''), 'abc'.includes('b'), 'a,b'.split(/,/), 'a'.split()]",
            json!(["ab", true, ["a", "b"], ["a"]]),
        ),
        ("['abc'.indexOf('c', 1), 'abc'.lastIndexOf('a'), 'undefined'.indexOf()]", json!([2, 0, 0])),
        ("[new Uint8Array([1, 2]).join('-'), [1, 2, 3].splice(1, 1), [1, 2].with(0, 5)]", json!(["1-2", [2], [5, 2]])),
    ] {
        assert_eq!(run(script), Ok(expected), "{script}");
    }
}

#[test]
fn a_string_has_an_end() {
    let fault = run("s = 'x'; while (true) s += s").expect_err("too long");
    assert_eq!((fault.sqlstate.as_str(), fault.message.as_str()), ("54000", "JavaScript string is too long"));
}

#[test]
fn deep_scripts_end() {
    for script in [
        "(function f() { f() })()".to_owned(),
        "f = () => f(); f()".to_owned(),
        "a = []; for (i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)".to_owned(),
        "a = {}; for (i = 0; i < 1e5; i++) a = { a }; a".to_owned(),
        "JSON.parse('['.repeat(1e6))".to_owned(),
        format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000)),
        format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000)),
        format!("return {}1", "!".repeat(100_000)),
    ] {
        let mut session = session();
        session.limits.time = Duration::from_secs(20);
        let fault = evaluate(&script, &mut session).expect_err(&script[..12]);
        assert_eq!(fault.sqlstate, "54001", "{}: {fault:?}", &script[..12]);
    }
    let freed = "a = []; for (i = 0; i < 1e5; i++) a = [a]; a = null; 1";
    assert_eq!(run(freed), Ok(json!(1)));
}

#[test]
fn a_cancelled_query_stops_the_script_and_unwinds() {
    CANCEL_AFTER.set(3);
    let unwound = std::panic::catch_unwind(|| run("for (;;) { try { while (true) {} } catch (e) {} }"));
    CANCEL_AFTER.set(u32::MAX);
    let payload = unwound.expect_err("unwinds");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"canceling statement due to user request"));
    assert_eq!(run("1 + 1"), Ok(json!(2)));
}

#[test]
fn a_host_that_unwinds_passes_through() {
    for script in
        ["getBroken()", "try { getBroken() } catch (e) {} while (true) {}", "try { getBroken() } finally { 1 }"]
    {
        let payload = std::panic::catch_unwind(|| run(script)).expect_err("unwinds");
        let text = payload.downcast_ref::<String>().cloned().unwrap_or_default();
        assert!(text.contains("the host broke"), "{script}: {text}");
        assert_eq!(run("1 + 1"), Ok(json!(2)));
    }
}

#[test]
fn evaluations_nest() {
    assert_eq!(run("getOutputFrom('getAmount() + 1') + getOutputFrom('getOutputFrom(\"2\")')"), Ok(json!(104)));
}

#[test]
fn nothing_leaks_into_the_next_script() {
    let attempts = [
        "leak = 1",
        "var leak = 1",
        "let leak = 1; leak",
        "function leak() {} 1",
        "globalThis.leak = 1",
        "this.leak = 1",
        "(function () { this.leak = 1 })()",
        "Object.prototype.leak = 1",
        "Array.prototype.leak = 1",
        "({}).__proto__.leak = 1",
        "Object.setPrototypeOf(Object.prototype, { leak: 1 })",
        "Object.defineProperty(globalThis, 'leak', { value: 1 })",
        "getAmount.leak = 1",
        "getVariable.leak = 1",
        "Math.leak = 1",
        "Math.max = () => 'leak'",
        "JSON.stringify = () => 'leak'",
        "Array.prototype.map = () => 'leak'",
        "getVariable = () => 'leak'",
        "globalThis.getVariable = () => 'leak'",
        "Date.now = () => 'leak'",
        "RegExp.prototype.exec = () => 'leak'",
        "Promise.prototype.then = () => 'leak'",
        "Symbol.iterator.constructor.prototype.leak = 1",
        "Object.getPrototypeOf(function* () {}).prototype.leak = 1",
        "Object.getPrototypeOf([].values()).next = () => 'leak'",
        "Object.getPrototypeOf(Object.getPrototypeOf([].values())).leak = 1",
        "Object.getPrototypeOf(async function () {}).leak = 1",
        "Object.getPrototypeOf(getOrder()).leak = 1",
        "Object.getPrototypeOf(Object.getPrototypeOf(getOrder())).leak = 1",
        "Object.getPrototypeOf(Uint8Array).leak = 1",
        "Object.getPrototypeOf(''.matchAll(/a/g)).leak = 1",
        "Object.getPrototypeOf(Iterator.from({ next() {} })).leak = 1",
        "Error.prepareStackTrace = () => 'leak'",
        "Error.stackTraceLimit = 0",
        "arguments.callee.leak = 1",
        "eval('leak = 1')",
        "(0, eval)('var leak = 1')",
        "eval('1'); (0, eval)('let leak = 1')",
        "new Function('leak = 1')()",
        "(function () {}).constructor('leak = 1')()",
        "(() => {}).constructor('}); let leak = 1; (function () {')",
        "(function* () {}).constructor('leak = 1')().next()",
        "(async () => {}).constructor('leak = 1')()",
        "setTimeout(() => { leak = 1 })",
        "import('std')",
        "new WeakRef({})",
        "new FinalizationRegistry(() => 1)",
        "__get.leak = 1; __source",
        // Scripts that try to leave each form of the wrapper.
        "1); let leak = 1; (2",
        "1]); let leak = 1; ([2",
        "} ; let leak = 1; {",
        "}); let leak = 1; (() => {",
        "}}); let leak = 1; (() => {{",
        "}}})); let leak = 1; ((__get,__set,__source)=>{{{",
        "1)}); let leak = 1; ((__get,__set,__source)=>{return ()=>(1",
        "return 1 }}}); let leak = 1; (() => {{{",
        "return 1 ` }}); let leak = 1; (() => {",
        "1 /* ",
        "*/ let leak = 1; /*",
        "`",
        "return `",
        "return 1 //",
        "return 1 <!--",
    ];
    let clean = "[typeof leak, Math.max(1, 2), JSON.stringify([1]), [1].map(x => x + 1), Object.keys(globalThis), \
                 'leak' in {}, getVariable('Amount'), Date.now(), /a/.exec('a')[0], getAmount.leak, [...[1].values()], \
                 Promise.resolve(1) instanceof Promise, typeof eval, typeof (() => {}).leak]";
    let expected = run(clean).unwrap();
    assert_eq!(expected[0], json!("undefined"));
    for script in attempts {
        let _ = run(script);
        assert_eq!(run(clean).as_ref(), Ok(&expected), "after {script}");
        assert_eq!(run("let leak = 2; return leak"), Ok(json!(2)), "after {script}");
    }
}

#[test]
fn everything_reachable_is_frozen() {
    let walk = "
        const seen = new Set(), open = [globalThis, getOrder, Object.getPrototypeOf(getOrder()), variables && 0,
            Object.getPrototypeOf(function* () {}), Object.getPrototypeOf(async function* () {}),
            Object.getPrototypeOf(function* () {}).prototype, Object.getPrototypeOf(async function* () {}).prototype,
            Object.getPrototypeOf(/a/[Symbol.matchAll]('a')), Object.getPrototypeOf([].values().map(x => x)),
            Object.getPrototypeOf([].values().filter(x => x)), Object.getPrototypeOf([].values().take(1)),
            Object.getPrototypeOf(Iterator.from({ next() {} })), Object.getPrototypeOf([].entries()),
            Object.getPrototypeOf(new Map().values()), Object.getPrototypeOf(new Set().values()),
            Object.getPrototypeOf(Iterator.concat ? Iterator.concat([]) : {}),
            Object.getPrototypeOf(''[Symbol.iterator]()), Object.getPrototypeOf(Object.getPrototypeOf(''[Symbol.iterator]()))];
        const loose = [];
        while (open.length) {
            const object = open.pop();
            if (Object(object) !== object || seen.has(object)) continue;
            seen.add(object);
            if (!Object.isFrozen(object)) loose.push(String(object.name ?? object[Symbol.toStringTag]) + ':' + typeof object);
            for (const key of Reflect.ownKeys(object)) {
                const d = Object.getOwnPropertyDescriptor(object, key);
                open.push(d.value, d.get, d.set);
            }
            open.push(Object.getPrototypeOf(object));
        }
        return [seen.size > 500, loose];";
    assert_eq!(run(walk), Ok(json!([true, []])));
}
