//! Refuses the requests of a script one after another: the script fails or works without the memory, and the next
//! script runs.
//!
//! The allocator grants requests of the compiler even then and stops the evaluation; it refuses any other, however
//! small. A failure here ends the process. (AddressSanitizer finds more: `-fsanitize=address` in CFLAGS.)

use std::time::Duration;

use serde_json::{Value, json};

use super::memory::refusal::{self, Which};
use super::*;
use crate::tests_support::TestScope;

/// The forms of syntax and the built-in functions that hold memory while they request more.
const SCRIPTS: &[&str] = &[
    "let a = 1; var b = 2; const c = 3; a + b + c",
    "function f(a, b = 1, ...c) { return arguments.length + a } f(1, 2, 3)",
    "(function g(n) { return n ? g(n - 1) : 0 })(5)",
    "const f = (a, { b, ...c }, [d, ...e]) => [a, b, c, d, e]; f(1, { b: 2, x: 3 }, [4, 5])",
    "const [a, [b = 5], ...c] = [1, [], 3, 4]; let { x, y: { z = 1 }, ...w } = { x: 1, y: {}, v: 2 }; [a, b, c, x, z, w]",
    "function* g(a) { try { const x = yield a; yield* [x, 2] } finally { yield 3 } } [...g(1)]",
    "async function f(a) { try { await a; for await (const x of [1, 2]) a += x } catch (e) { throw e } } f(1); 1",
    "async function* g() { yield 1; yield* [2] } g().next(); 1",
    "class A { #p = 1; static s = 2; static #q() { return 3 } get p() { return this.#p } set p(v) { this.#p = v } [`m${1}`]() { return 1 } static { this.t = A.#q() } } class B extends A { constructor() { super(); super.p } has(o) { return #r in o } #r } new B().has(new B())",
    "l: for (let i = 0; i < 3; i++) { for (const j of [1, 2]) { if (j === 2) continue l; if (i === 2) break l } }",
    "for (const k in { a: 1, b: 2 }) { try { if (k) continue } finally { k + 1 } }",
    "l:{ if (1) break l; if (2) break l; if (3) break l; 'x'; 'y' }",
    "switch (3) { case 1: 'a'; case 2: { let b = 1; break } default: 'c' }",
    "try { null.x } catch ({ message }) { message } finally { 1 }",
    "try { throw new TypeError('a', { cause: new RangeError('b') }) } catch (e) { String(e.stack) + e.cause }",
    "let a = null; a ??= {}; a.b ||= { c: [] }; a.b.c?.[0]?.d; a?.b.c.push(1); delete a.b; a",
    "const tag = (s, ...v) => s.raw.join('|') + v; tag`a${1}\\n${2}c` + `x${`y${1}`}`",
    "({ a: 1, 'b': 2, 3: 4, ['c' + 1]: 5, get d() { return 6 }, set d(v) { }, e() { }, *f() { }, async g() { }, ...{ h: 7 }, __proto__: null })",
    "var { length } = 'abc'; with ({ q: 1 }) { q } length",
    "1n + 2n ** 200n * 3n - 5n / 2n; (123456789012345678901234567890n).toString() + BigInt('0x' + 'f'.repeat(50))",
    "/(?<y>\\d{4})-(?<m>\\d\\d)|[a-z\\p{L}]+(?=x)|(?<!b)\\k<y>?/gu.exec('2020-10 abcx').groups.y",
    "'a1b22c'.replace(/(?<d>\\d+)/g, '[$<d>$1$&$`]') + 'aXb'.replaceAll('X', (m, at) => m + at)",
    "[...'a-b_c'.matchAll(/[a-z]/dg)].map((m) => m.indices) + 'a,b;c'.split(/[,;]/)",
    "new RegExp('[\\\\q{abc|de}--[a-c]]|\\\\p{RGI_Emoji}', 'v').test('abc') + /[^\\w\\s\\u{1f600}]/iu.source",
    "JSON.stringify({ a: [1, 'x', null, { b: true }], c: new Date(0) }, (k, v) => v, 2)",
    "JSON.parse('{\"a\": [1, 2.5e10, \"\\\\u1234\", {\"b\": null}], \"c\": \"d\"}', (k, v) => v)",
    "Object.entries(Object.fromEntries([['a', 1], ['b', 2]])).flat().concat([3], [4, [5]])",
    "[3, 1, 2].sort((a, b) => a - b).map(String).filter(Boolean).reduce((a, b) => a + b, '') + [1, [2, [3]]].flat(9)",
    "Array.from({ length: 40 }, (_, at) => at).splice(3, 20, 'a', 'b').reverse().toSorted().with(0, 1).toSpliced(1, 1).fill(7)",
    "const a = []; a[5] = 1; a.length = 100; a['x'] = 2; a.unshift(1, 2); a.copyWithin(0, 1); a.includes(1)",
    "const m = new Map([[1, 'a'], ['b', {}]]); m.set(m, m); m.forEach((v, k) => k); [...m.keys()].length + Map.groupBy([1, 2, 3], (x) => x % 2).size",
    "const s = new Set([1, 2, 3]); [...s.union(new Set([4])).intersection(new Set([1, 4]))].length + [...s.symmetricDifference(new Set([1]))].length",
    "new Uint8Array([1, 2, 3]).map((x) => x * 2).subarray(1).toSorted().join() + new Float64Array(new ArrayBuffer(16)).length + new DataView(new ArrayBuffer(8)).getInt16(0)",
    "'abc'.padStart(40, 'xy').padEnd(80).toUpperCase().normalize('NFD').at(-1) + 'ä\\u0308ö'.normalize('NFKD') + 'a'.repeat(300).slice(3).split('')",
    "let t = ''; for (let i = 0; i < 200; i++) t += 'ab' + i; t.indexOf('99') + t.length + encodeURIComponent('ä b') + decodeURI('%20') + escape('ü')",
    "new Date(2020, 1, 2, 3).toISOString() + new Date('2020-01-01T00:00:00Z').toLocaleDateString() + Date.parse('Tue, 1 Jan 2019 00:00:00 GMT') + new Date(0)",
    "(1234.5678).toFixed(2) + (1e21).toString() + (255).toString(2) + (0.1).toPrecision(30) + (5e-324).toExponential(20) + parseFloat('1e5') + Number('0b11')",
    "const o = Object.create({ a: 1 }, { b: { get() { return 2 }, enumerable: true } }); Object.assign({}, o, { c: Symbol('x') }); Object.getOwnPropertyDescriptors(o).b.get.name",
    "Object.groupBy([1, 2, 3], (x) => x > 1 ? 'a' : 'b'); Object.freeze([1]); Reflect.ownKeys({ a: 1, [Symbol.iterator]: 2, 3: 4 }).length",
    "const it = [1, 2, 3, 4].values().map((x) => x + 1).filter((x) => x > 2).take(2).drop(1).flatMap((x) => [x, x]); [...it]",
    "Promise.all([1, Promise.resolve(2)]).then((x) => x); Promise.race([Promise.reject(1)]).catch(() => 1); Promise.allSettled([1]); 1",
    "(function () { 'use strict'; return Function.prototype.bind.call(function (a, b) { return a + b }, null, 1)(2) })() + Math.max.apply(null, [1, 2, 3])",
    "const o = {}; for (let i = 0; i < 80; i++) o['k' + i] = i; for (let i = 0; i < 80; i += 2) delete o['k' + i]; Object.keys(o).length",
    "const e = new AggregateError([new Error('a')], 'b'); e.errors.length + new URIError('x').message + new SyntaxError('y').toString()",
    "getVariable('Object').a.b + getVariable('List').length; setVariable('Object', { x: [1, { y: 'z' }] }); getVariable('Object')",
    "toJson({ a: 1 }) + parseJson('[1]')[0] + newGuidString() + isNullOrEmpty('')",
    "TimeSpan.fromHours(2).toString() + Guid.parse('00000000-0000-0000-0000-000000000001') + DateTime.parse('2020-01-01').addDays(1)",
    "const deep = []; let d = deep; for (let i = 0; i < 60; i++) { d.push([]); d = d[0] } deep",
    "return { a: [1.5, 'x', true, null, { b: new Date(0), c: undefined, d: [,1] }], 'ä': '\\ud83d\\ude00' }",
    "let x = 1; { function h() { return x } } eval; h() + (() => this)().constructor",
    "var s = Symbol('d'); ({ [s]: 1, [Symbol.toPrimitive]() { return 'p' } }) + s.description + Symbol.for('x').toString()",
    "a = 1; var a; function a2() { } let { b3 = () => { return super_ }, super_ = 1 } = {}; ((x, y = () => x, { z } = { z: y() }) => z)(4)",
    "do { var q = (q ?? 0) + 1; if (q == 2) continue } while (q < 4); while (q--) { if (q == 1) break } q, void 0, typeof q",
    "syntax error here",
    "let a; let a",
    "'unterminated",
    "/(/",
    "`${",
    "class A { constructor() {} constructor() {} }",
    "break x",
    "({a:1, b: )",
];

/// Refusals per script and [`Which`], spread over its requests.
const TRIES: u64 = 200;

fn scope() -> TestScope {
    TestScope {
        ask: Some(answer),
        ..TestScope::with(
            json!({"Object": {"a": {"b": 1}}, "List": [1, "two", {"three": 3}], "Large": {"a": 1}, "Small": 1}),
        )
    }
}

/// The host's answers to the script: `refuse N` refuses its request after N others, `refused` tells whether that
/// happened.
fn answer(name: &str) -> Option<Value> {
    match name.strip_prefix("refuse ") {
        Some(left) => {
            refusal::after(left.parse().ok()?, Which::This);
            Some(Value::Null)
        }
        None => (name == "refused").then(|| json!(refusal::end() == u64::MAX)),
    }
}

/// Number of requests that a script makes in a runtime that has run another script.
fn requests(script: &str) -> u64 {
    const MANY: u64 = u64::MAX - 1;
    runs();
    refusal::after(MANY, Which::This);
    let _ = evaluate(script, &mut scope());
    MANY - refusal::end()
}

/// Runs a script that must succeed.
fn runs() {
    assert_eq!(evaluate("[1, 2].map((x) => x + 1)", &mut scope()), Ok(json!([2, 3])));
}

/// Runs every script with refusals, and passes each outcome to `see`.
fn refuse(which: Which, see: impl Fn(&str, Result<Value, Fault>)) {
    for script in SCRIPTS {
        let count = requests(script);
        for left in (0..count).step_by(count.div_ceil(TRIES) as usize) {
            refusal::after(left, which);
            let outcome = evaluate(script, &mut scope());
            refusal::end();
            see(script, outcome);
            runs();
        }
    }
}

// security.md#what-an-input-can-do: no script ends the session by what it asks of memory
#[test]
fn scripts_survive_a_request_that_is_refused() {
    refuse(Which::This, |_, _| {});
}

/// QuickJS makes some requests only for speed: if they are refused, the script returns the same value.
#[test]
fn scripts_survive_the_end_of_memory() {
    refuse(Which::AndAllAfterIt, |script, outcome| {
        assert!(outcome.is_err() || outcome == evaluate(script, &mut scope()), "{script}: {outcome:?}");
    });
}

const FUNCTIONS: &str = include_str!("../../tests/javascript_clock/functions.js");

/// Calls function AT with every combination, each time with the refusal at a later request.
const REFUSED: &str = r#"
const all = functions();
const [path, target] = all[AT] ?? ["", () => 1];
for (const makers of combinations(path)) {
    for (let left = 0; left < 12; left++) {
        const [receiver, parts] = makers.map((make) => make());
        try {
            getVariable(`refuse ${left}`);
            invoke(path, target, receiver, parts);
        } catch {}
        if (!getVariable("refused")) {
            break;
        }
    }
}
return all.length
"#;

/// Sizes of the functions' arguments, and the smaller ones used here, where each function is called often.
const SIZES: &[(&str, &str)] = &[
    ("1_000_000", "300"),
    ("300_000", "100"),
    ("100_000", "40"),
    ("60_000", "30"),
    ("50_000", "50"),
    ("20_000", "20"),
    ("10_000", "12"),
    ("5_000", "10"),
];

#[test]
fn functions_survive_a_request_that_is_refused() {
    let functions = SIZES.iter().fold(FUNCTIONS.to_owned(), |script, (large, small)| script.replace(large, small));
    let call = |at: usize| {
        let script = format!("{functions}\n{}", REFUSED.replace("AT", &at.to_string()));
        let mut scope = scope();
        // Some functions run for long with any arguments.
        scope.limits.time = Duration::from_millis(300);
        let outcome = evaluate(&script, &mut scope);
        refusal::end();
        outcome
    };
    let count = call(usize::MAX).expect("functions").as_u64().expect("a number");
    assert!(count > 700, "only {count} functions were found");
    for at in 0..count as usize {
        let _ = call(at);
        runs();
    }
}
