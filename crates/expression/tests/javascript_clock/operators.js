// Operators and forms of syntax that loop in C, one per entry: [what it needs, what is repeated].
//
// Found by going through the operations of quickjs-opcode.h and asking of each what its helper does with long
// texts, big integers, big objects, long chains of prototypes, holes, and iterators.
const A = "const a = 'a'.repeat(1e7), b = 'a'.repeat(1e7 - 1) + 'b', o = {}; o['a'.repeat(1e7 - 1) + 'b'] = 1;";
const D = "const d = '9'.repeat(4e6), s = ' '.repeat(4e6), z = '0'.repeat(4e6), h = '0x' + 'f'.repeat(4e6);";
const N = "const x = (1n << 65000n) - 1n, y = (1n << 32000n) - 3n, t = '9'.repeat(19000), w = (1n << 65000n) - 1n;";
const L = "const list = new Array(3e5).fill(1), all = Object.fromEntries(Array.from({ length: 3e4 }, (_, at) => ['k' + at, at])); " +
    "const few = list.slice(0, 60000); let p, q, rest, k; const take = (...all) => all.length;";
const C = "class F {} let chain = {}; for (let at = 0; at < 2e5; at++) chain = Object.create(chain);";
const H = "const holes = []; for (let at = 0; at < 2e5; at++) holes['k' + at] = at;";
const R = "let r, g; const a = 'a'.repeat(1e6), b = 'b'.repeat(1e6);";
const forms = [
    ...["a === b", "a !== b", "a == b", "a != b", "a < b", "a <= b", "a > b", "a >= b", "switch (a) { case b: }", "o[b]", "b in o",
        "delete o[b + '']", "o[b] = 1", "o?.[b]", "({ [b]: 1 })", "class K { [b]() {} }", "const { [b]: found } = o", "o[b]++", "o[b] ??= 2",
        "typeof o[b]", "!b", "b && a", "b, a", "void b", "a + b", "`${a}${b}`", "a[1e7]", "a?.length", "Symbol(a)", "[a] == b", "(a + b) === (b + a)",
        "(a + b)[0]", "(a + b) < (b + a)", "o[a + 'b']", "[...'aaaa']"].map((form) => [A, form]),
    ...["+d", "-d", "~d", "d * 1", "d - 1", "d / 1", "d % 3", "d ** 1", "d | 0", "d & 1", "d ^ 1", "d << 1", "d >> 1", "d >>> 1", "d > 1", "d <= 1",
        "d == 1", "let n = d; n++", "let n = d; n -= 1", "+s", "s * 1", "s == 0", "s < 1", "+z", "z | 0", "+h", "h == 1", "list = [d]; list * 1",
        "new Array(3)[d]", "[][d]", "'abc'[d]", "d == 1n", "d < 1n", "s == 1n", "z == 1n", "h > 1n", "isNaN(d)"].map((form) => [D, form]),
    ...["x * y", "x / y", "x % y", "y * y", "y ** 2n", "x ** 1n", "3n ** 40000n", "x << 1n", "y << 30000n", "x >> 1n", "-x", "~x", "x & w", "x | w", "x ^ w",
        "x + 1n", "x - w", "x === w", "x == w", "x < w", "x > 1.5", "x == 1e300", "x + ''", "`${x}`", "({})[x]", "[x] + ''", "x == t", "t == x",
        "t < x", "let n = x; n++", "let n = x; n *= 2n", "String(x)", "BigInt(t)", "x in {}", "Number(x)", "(x).toString(7)"].map((form) => [N, form]),
    ...["[...list]", "[...few, ...few]", "take(...few)", "Math.max(...few)", "new Set(few)", "({ ...all })", "[p, ...rest] = list", "({ k1: p, ...rest } = all)",
        "[p, q] = list", "for (k in all) break", "for (k in list) break", "for (k of list) { }", "for (const [one] of Object.entries(all)) break", "all.missing",
        "all['k' + 1]", "'missing' in all", "delete all.missing", "list.length", "list.length = 1e6", "list[1e6 - 1] = 1", "list.at(-1)", "`${few}`", "few + ''",
        "few == ''", "+few", "({})[few]", "JSON.stringify(all)", "new F2(...few)", "take`${few}`", "const f = () => list; f()", "[list, [list]] + ''",
        "(function () { return arguments.length })(...few)", "(function* () { yield* few })().next()", "[...(function* () { yield* few })()]",
        "new (class extends Array {})(...few)", "class K extends F2 {}", "list.concat(list)", "with (all) { missing2 = typeof k1 }"]
        .map((form) => [L + "function F2() {}", form]),
    ...["chain.missing", "chain['miss' + 1]", "'missing' in chain", "chain instanceof F", "F.prototype.isPrototypeOf(chain)", "chain?.missing?.()", "chain == 'a'.repeat(2)",
        "for (const k in chain) { }", "Object.create(chain).fresh = 1", "with (chain) { typeof missing3 }", "chain.toString", "({ ...chain })", "delete chain.missing",
        "Object.setPrototypeOf({}, chain)", "({ __proto__: chain }).x", "class K extends F { m() { return super.missing } } new K().m()", "const { missing } = chain", "chain[0]",
        "chain.missing ??= 0"].map((form) => [C, form]),
    ...["holes.length = 4294967295; holes.length = 0", "holes[5] = 1; holes.length = 0", "for (const k in holes) break", "[...new Array(10000)]", "holes.k5", "delete holes.k7", "({ ...holes })",
        "holes.push(1)", "holes + ''"].map((form) => [H, form]),
    ...["/(a+)+b/.test(a)", "/^(a*)\\1b/.test(a)", "/(?<=b+)c/.test(a)", "/(?=(a*))\\1b/.test(a)", "r = /a/g; a.replace(r, '')", "a.split(/(?:)/u)", "/[^]*?b/.exec(a)", "a.match(/./g)",
        "a.replaceAll('a', 'b')", "a.indexOf(b)", "a.split('')", "a.toUpperCase()", "a.normalize('NFD')", "a.localeCompare(b)", "new RegExp(a)", "RegExp.escape?.(a)", "a.at(-1)",
        "a.padStart(2e6, b)", "/(a|aa)+$/.test(a + 'b')", "/\\p{L}+b/u.test(a)", "/a+b/i.test(a)",
        "'a'.replace(/(?<n>a)/, '$<'.repeat(1e6))", "'a'.replace('a', '$<'.repeat(1e6))", "'a'.replace(/a/, '$`$\\''.repeat(1e5))"].map((form) => [R, form]),
];
// Nothing may keep a script alive that was told to stop: [what is repeated in place of the loop].
const survivals = [
    "for (;;) { try { for (;;) { } } catch { } finally { continue } }",
    "(function f() { try { for (;;) { } } catch { f() } finally { f() } })()",
    "const f = async () => { for (;;) { try { for (;;) { await null } } catch { } } }; f(); return f()",
    "const f = async () => { for (;;) { } }; for (;;) { f() }",
    "const f = async () => { for (;;) { } }; return f().catch(() => { for (;;) { } })",
    "return new Promise(() => { for (;;) { } }).catch(() => { for (;;) { } })",
    "return Promise.resolve().then(function again() { return Promise.resolve().then(again, again) })",
    "(function f() { queueMicrotask(f); queueMicrotask(f) })()",
    "function* g() { try { for (;;) yield 1 } finally { for (;;) { } } } for (const one of g()) { for (;;) { } }",
    "function* g() { for (;;) { try { for (;;) yield* g() } finally { continue } } } [...g()]",
    "for (const one of { [Symbol.iterator]: () => ({ next: () => ({}), return() { for (;;) { } } }) }) { }",
    "[...Array.prototype.values.call({ length: 2 ** 53 - 1 }).drop(1e15)]",
    "new Set(Array.prototype.values.call({ length: 2 ** 53 - 1 }))",
    "return { toJSON() { for (;;) { } } }",
    "return { get a() { for (;;) { try { for (;;) { } } catch { } } } }",
    "throw { toString() { for (;;) { } }, toJSON() { for (;;) { } } }",
    "throw Object.defineProperty(new Error('x'), 'message', { get() { for (;;) { } } })",
    "variables.Object.x = { toJSON() { for (;;) { } } }; return 1",
    "for (;;) { try { setVariable('Small', 'x'.repeat(1e6)) } catch { } }",
    "for (;;) { try { variables.Large.missing } catch { } }",
    "for (;;) { try { getLarge() } catch { } }",
    "for (;;) { try { getVariable('Large').MISSING } catch { } }",
    "const held = []; for (;;) { try { for (;;) held.push({}) } catch (error) { held.push(error) } }",
    "const held = []; for (;;) { try { for (;;) held.push(new Uint8Array(1e7)) } catch { } }",
    "let text = 'x'; for (;;) { try { for (;;) text += text } catch { } }",
    "let text = ''; for (;;) { text += 'x'; text.length }",
    "const f = (depth) => { try { f(depth + 1); f(depth + 1) } catch { } try { f(depth + 1) } catch { } }; for (;;) f(0)",
    "const sorted = Array.from({ length: 1e6 }, (_, at) => at % 7); for (;;) sorted.sort(() => { try { for (;;) { } } catch { return 0 } })",
    "const m = 'a'.repeat(2e7), n = 'a'.repeat(2e7 - 1) + 'b'; const many = new Array(1e6).fill(n); many.includes(m); many.indexOf(m); many.lastIndexOf(m)",
    "const m = 'a'.repeat(1e7), n = 'a'.repeat(1e7 - 1) + 'b'; const many = Array.from({ length: 1e5 }, (_, at) => at % 2 ? m + '' : n + ''); many.sort()",
    // Interrupted between two elements, or in the middle of one.
    ...["find", "findIndex", "findLast", "findLastIndex", "some", "map", "filter", "reduce", "flatMap", "sort"].flatMap((name) => [
        `const many = Array.from({ length: 5e4 }, (_, at) => "k" + at); for (;;) many.${name}(() => false)`,
        `const many = Array.from({ length: 5e4 }, (_, at) => "k" + at); for (;;) many.${name}((item) => { item + item; return 0 })`]),
    "JSON.stringify({}, Array.from({ length: 1e5 }, (_, at) => 'k' + at))",
    "new Function.prototype.constructor('for (;;) { }')",
    "label: for (;;) { for (;;) { try { continue label } finally { continue label } } }",
];
return { forms: forms.map(([needs, form]) => [needs, form]), survivals };
