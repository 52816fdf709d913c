// Every function that a script can reach, with receivers and arguments that keep it busy.
//
// The script defines `functions()`: pairs of path and function, and `combinations(path)`: what to call it on and
// with. Mutating functions get their receiver anew for each call of the first round.
const TEXT = 1_000_000, ITEMS = 100_000, ENTRIES = 10_000;

const functions = () => {
    const found = new Map(), seen = new Set(), open = [];
    const add = (path, value) => {
        if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) {
            return;
        }
        seen.add(value);
        open.push([path, value]);
        if (typeof value === "function") {
            found.set(path, value);
        }
    };
    add("globalThis", globalThis);
    const generator = function* () {}, asynchronous = async function* () {};
    const roots = {
        "%Generator%": generator(), "%AsyncGenerator%": asynchronous(), "%GeneratorFunction%": generator,
        "%AsyncGeneratorFunction%": asynchronous, "%AsyncFunction%": async () => 1, "%ArrayIterator%": [].values(),
        "%StringIterator%": ""[Symbol.iterator](), "%MapIterator%": new Map().entries(), "%SetIterator%": new Set().entries(),
        "%RegExpStringIterator%": "".matchAll(/a/g), "%WrapIterator%": Iterator.from({ next() {} }),
        "%IteratorHelper%": [].values().map((item) => item), "%IteratorConcat%": Iterator.concat?.([]),
        "%Arguments%": (function () { return arguments; })(), "%Getter%": getSmall, "%Setter%": setSmall,
        "%Host%": getObject(), "%Variables%": variables,
    };
    for (const name of Object.keys(roots)) {
        add(name, roots[name]);
    }
    for (let at = 0; at < open.length; at++) {
        const [path, object] = open[at];
        if (path !== "%Variables%") {
            for (const key of Reflect.ownKeys(object)) {
                const at = `${path}.${String(key)}`;
                const property = Object.getOwnPropertyDescriptor(object, key);
                add(at, property.value);
                add(`get ${at}`, property.get);
                add(`set ${at}`, property.set);
            }
        }
        add(`${path}.__proto__`, Object.getPrototypeOf(object));
    }
    return [...found].map(([path, value]) => [path.replaceAll("globalThis.", ""), value]);
};

// What cannot be changed is made once.
const once = (make) => {
    let made;
    return () => (made ??= make());
};
const text = once(() => "a".repeat(TEXT));
const wide = once(() => "ä→".repeat(TEXT / 2));
const marks = once(() => "a" + "\u0315\u0316".repeat(TEXT / 20));
const digits = once(() => "9".repeat(TEXT));
const blanks = once(() => " ".repeat(TEXT));
const array = () => new Array(ITEMS).fill(1);
const texts = () => Array.from({ length: ENTRIES }, (_, at) => `${at}`);
const nested = () => { let list = []; for (let at = 0; at < 300; at++) list = [list, at]; return list; };
const tree = () => Array.from({ length: 5_000 }, (_, at) => ({ at, list: [at, { a: "b" }] }));
const alike = () => ({ length: 50_000, 0: 1 });
const object = () => Object.fromEntries(texts().map((name) => [`k${name}`, 1]));
const big = once(() => (1n << 65_000n) - 1n);
const map = () => new Map(texts().map((name) => [name, 1]));
const set = () => new Set(texts());
const bytes = () => new Uint8Array(4 * TEXT);
const floats = () => Float64Array.from({ length: ITEMS }, (_, at) => Math.sin(at));
const bigs = () => new BigInt64Array(ITEMS);
const buffer = () => new ArrayBuffer(8 * TEXT, { maxByteLength: 9 * TEXT });
const view = () => new DataView(buffer());
const chain = () => { let link = {}; for (let at = 0; at < 20_000; at++) link = Object.create(link); return link; };
const same = (value) => value;
const order = (one, two) => one - two;
const nothing = () => undefined;

// Arguments for anything, where a function takes none of those of its group.
const ANY = [() => [], () => [same], () => ["a".repeat(50_000)], () => [0, 1], () => [new Array(5_000).fill(1)], () => [{}], () => [1, 0, 1],
    () => [same, 0], () => ["small"], () => [{}, "b".repeat(50_000)], () => [{}, {}], () => [null], () => [{ length: 50_000 }], () => [["b", "c"], same],
    () => [["a"]], () => [{}, "name", { value: 1 }], () => [Object, []], () => [new Uint8Array(5_000)], () => ["2020-01-01T00:00:00Z"],
    () => ["00000000-0000-0000-0000-000000000001"], () => ["YWJj"], () => ["Small", 1], () => [Symbol.iterator], () => [new Map([[1, 2]])],
    () => [() => nothing, {}], () => [(1n << 65_000n) - 1n], () => [new ArrayBuffer(8)], () => [[1], "two"], () => [nothing, 5]];
const GROUPS = [
    [/(^|get |set )String(\.|$)/, [text, wide, marks, blanks],
        [() => [{ raw: array() }, 1], () => ["b"], () => ["a".repeat(TEXT / 2) + "b"], () => [text() + "b"], () => [marks()], () => ["a", "b"], () => ["", ""],
            () => [/(a+)+b/], () => [/b/g, "c"], () => [2 * TEXT, "x"], () => ["NFKD"], () => [wide()]]],
    [/Array\.prototype/, [array, texts, alike, nested],
        [() => [2], () => [0, 1], () => [order], () => [(one, two) => (one < two ? -1 : 1)], () => [0, 0, ...[1, 2, 3]],
            () => [(sum, item) => item, 0], () => [1, 0], () => [[array(), array()]], () => [Infinity], () => [0, text()]]],
    [/^(get )?(Array|Object|Reflect|Map|Set|WeakMap|WeakSet|Iterator|Symbol|Promise)(\.(?!prototype)|$)/, [() => undefined],
        [() => [{ length: 1_000_000 }], () => [{ raw: array() }, 1], () => [object(), object()], () => [{}, object()], () => [text(), text()],
            () => [texts().map((name) => [name, 1])], () => [tree(), (item) => item.at], () => [texts()], () => [set()],
            () => [nothing, undefined, { length: 60_000 }], () => [chain()], () => [array().values()]]],
    [/(ClampedArray|Uint8Array|Int8Array|TypedArray|BigInt64Array|Float64Array)/, [bytes, floats, bigs, () => Uint8Array],
        [() => [2], () => [1, 0], () => [0, 1, 0], () => [1, 0, 5], () => [order], () => [3n], () => [bytes()], () => [alike()],
            () => [{ length: 1_000_000 }], () => ["YWJj".repeat(100_000)], () => ["61".repeat(100_000)], () => [buffer()]]],
    [/ArrayBuffer\.prototype/, [buffer], [() => [0], () => [9_000_000], () => [1, 5]]],
    [/DataView\.prototype/, [view], [() => [0], () => [0, 1], () => [0, 1n]]],
    [/Map\.prototype|%MapIterator%|WeakMap/, [map, () => map().entries(), () => new WeakMap()], [() => [text()], () => [text(), 1], () => [{}, 1], () => [{}, nothing]]],
    [/Set\.prototype|%SetIterator%|WeakSet/, [set, () => set().entries(), () => new WeakSet()], [() => [set()], () => [map()], () => [text()], () => [{}]]],
    [/BigInt/, [big, () => BigInt], [() => [], () => [2], () => [10], () => [36], () => [64, big()], () => [65_000, big()], () => [digits()],
        () => ["0x" + "f".repeat(16_000)], () => [text()]]],
    [/JSON/, [() => JSON], [() => [tree()], () => [nested()], () => [`[${"1,".repeat(100_000)}1]`], () => [blanks()], () => [text()],
        () => [tree(), texts()], () => [tree(), same, 10], () => [`{"a":${"[".repeat(200)}${"]".repeat(200)}}`, (key, value) => value]]],
    [/RegExp|%RegExpStringIterator%/, [() => /(a+)+b/g, () => /(?:)/g, () => /^(a*)\1\1b/, () => new RegExp("a".repeat(TEXT) + "b"), () => RegExp, () => text().matchAll(/a/g)],
        [() => [text()], () => [text(), "b"], () => [wide()], () => ["a".repeat(TEXT)], () => ["(a)".repeat(200), "g"], () => ["[a-z]".repeat(5_000)]]],
    [/^(get |set )?(parse|decode|encode|escape|unescape|is[NF]|Number)/, [() => 12345.678, () => Number], [() => [digits()], () => [blanks()], () => [text()], () => [wide()],
        () => ["%61".repeat(TEXT / 3)], () => [2], () => [100]]],
    [/Date|TimeSpan|Guid|Random/, [() => new Date(0), () => DateTime, () => DateTime.UtcNow, () => TimeSpan.FromDays(1), () => TimeSpan, () => DateTimeOffset,
        () => DateTimeOffset.UtcNow, () => Random.Shared, () => Guid, () => "default"],
        [() => [0], () => [text()], () => [digits()], () => [2020, 1], () => [DateTime.UtcNow], () => [TimeSpan.FromDays(1)], () => ["1.00:00:00"],
            () => ["yyyy".repeat(TEXT / 10)], () => ["default"], () => ["number"], () => [2020, 1, 1, 1, 1, 1]]],
    [/Iterator|Generator/, [() => array().values(), () => Array.prototype.values.call({ length: 100_000 }), () => text()[Symbol.iterator](), () => (function* () { for (let at = 0; at < 10_000; at++) yield 1; })(),
        () => (async function* () { for (let at = 0; at < 10_000; at++) yield 1; })(), () => array().values().map(same),
        () => Iterator.from({ at: 0, next() { return { done: this.at++ > 10_000 }; } }), () => Iterator],
        [() => [1e15], () => [5], () => [same], () => [() => true], () => [() => [1]], () => [(sum, item) => item, 0]]],
    [/Promise/, [() => Promise.resolve(1), () => Promise], [() => [same], () => [[Promise.resolve(1)]], () => [array()], () => [(yes) => yes(1)]]],
    [/Symbol/, [() => Symbol("s"), () => Symbol], [() => [text()], () => [Symbol.for("a")]]],
    [/Error/, [() => new Error(text()), () => Error], [() => [text()], () => [{}], () => [[new Error("a")]], () => [{}, nothing]]],
    [/Function|%Getter%\.__proto__/, [() => nothing, () => same], [() => [nothing], () => [{}, array().slice(0, 60_000)], () => [{}, 1, 2]]],
    [/^(get )?DisposableStack/, [() => new DisposableStack()], [() => [null], () => [1, nothing], () => [nothing]]],
    [/AsyncDisposableStack/, [() => new AsyncDisposableStack()], [() => [null], () => [1, nothing], () => [nothing]]],
    [/Boolean/, [() => true], []],
    [/Math/, [() => Math], [() => [0.5], () => [1, 2], () => [digits()], () => [[1, 2]]]],
    [/bytes|Stream|stream|Base64/, [() => undefined], [() => ["YWJj".repeat(100_000)], () => [bytes().subarray(0, 300_000)], () => [text()], () => [[1, 2, 3]]]],
    [/Variable|Correlation|Name|Setter|Output|Input|toJson|isNull/, [() => undefined], [() => ["Small", tree()], () => ["Large"], () => [tree()], () => [blanks()], () => ["name"]]],
    [/%Host%|__proto__/, [() => getObject(), object, chain], [() => ["name", nothing], () => ["missing"], () => [text()], () => [chain()]]],
];
const combinations = (path) => {
    const groups = GROUPS.filter(([pattern]) => pattern.test(path));
    const receivers = groups.flatMap(([, makers]) => makers);
    const own = groups.flatMap(([, , makers]) => makers);
    const all = [];
    for (const receiver of receivers.length > 0 ? receivers : [() => undefined, object]) {
        for (const parts of own) {
            all.push([receiver, parts]);
        }
    }
    for (const parts of ANY) {
        all.push([receivers[0] ?? (() => undefined), parts]);
    }
    return all;
};
// Calls what can only be constructed as well.
const invoke = (path, target, receiver, parts) => {
    try {
        return Reflect.apply(target, receiver, parts);
    } catch (error) {
        if (/^[A-Z]\w*$/.test(path)) {
            return Reflect.construct(target, parts);
        }
        throw error;
    }
};
// Seconds of CPU time of this thread, and the moment from which the limit counts.
const cpu = () => getVariable("cpu");
const begin = () => getVariable("begin");
