// What every script sees: Elsa's functions on top of a frozen JavaScript.
//
// Evaluated once per runtime, before any script. Everything reachable from here is frozen at the end, so
// that no script can leave anything behind for the next one, which may run for another role.
(native, makeTypes) => {
    "use strict";
    const global = globalThis;
    const { Proxy } = global;
    const { freeze, keys, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
    const { apply, ownKeys } = Reflect;
    const { parse, stringify } = JSON;
    const isArray = Array.isArray;
    const hasOwn = Object.hasOwn;
    const directEval = global.eval;
    const hide = (object, name, value) =>
        defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });

    // Out of reach: code from text, other threads, callbacks of the garbage collector, real clocks.
    for (const name of ["eval", "Proxy", "WeakRef", "FinalizationRegistry", "performance", "Atomics",
        "SharedArrayBuffer", "DOMException", "navigator", "gc"]) {
        delete global[name];
    }
    const compileText = function Function() {
        throw new EvalError("code from text is not allowed");
    };
    compileText.prototype = getPrototypeOf(function () {});
    for (const sample of [function () {}, function* () {}, async function () {}, async function* () {}]) {
        hide(getPrototypeOf(sample), "constructor", compileText);
    }
    hide(global, "Function", compileText);

    // Built-ins that loop in C without asking whether to stop get bounds.
    const LONGEST = 1e7;
    const mustBeShort = (list) => {
        if (Object(list) !== list || ArrayBuffer.isView(list)) {
            return;
        }
        const length = getOwnPropertyDescriptor(list, "length");
        const isShort = length === undefined ? !("length" in list) : length.value <= LONGEST;
        if (!isShort || (length !== undefined && typeof length.value !== "number")) {
            throw new RangeError("the array is too long");
        }
    };
    const isSpread = (part) => isArray(part) || Boolean(part?.[Symbol.isConcatSpreadable]);
    for (const name of ["concat", "copyWithin", "fill", "join", "reverse", "shift", "slice", "sort", "splice",
        "toLocaleString", "toReversed", "toSorted", "toSpliced", "unshift", "with"]) {
        const original = Array.prototype[name];
        const bounded = { [name](...parts) {
            mustBeShort(this);
            if (name === "concat") {
                parts.filter(isSpread).forEach(mustBeShort);
            }
            return apply(original, this, parts);
        } };
        hide(Array.prototype, name, bounded[name]);
    }
    const flatten = (list, depth, flat) => {
        for (let at = 0; at < list.length; at++) {
            if (isArray(list[at]) && depth > 0) {
                flatten(list[at], depth - 1, flat);
            } else if (at in list) {
                flat.push(list[at]);
            }
        }
        return flat;
    };
    const { map } = Array.prototype;
    hide(Array.prototype, "flat", function flat(depth = 1) {
        return flatten(this, Number(depth), []);
    });
    hide(Array.prototype, "flatMap", function flatMap(...parts) {
        return flatten(apply(map, this, parts), 1, []);
    });
    for (const [name, protocol] of [["includes"], ["indexOf"], ["lastIndexOf"], ["replace", Symbol.replace],
        ["replaceAll", Symbol.replace], ["split", Symbol.split]]) {
        const original = String.prototype[name];
        const bounded = { [name](search, ...parts) {
            const text = typeof this === "string" ? this : String(this);
            const takesOver = Object(search) === search && (search instanceof RegExp || search[protocol]);
            const word = takesOver || search === undefined ? search : String(search);
            // The search compares every place with the whole word in the worst case.
            if (!takesOver && text.length * (word?.length ?? 1) > 100 * LONGEST) {
                throw new RangeError("the text is too long to search");
            }
            return apply(original, text, [word, ...parts]);
        } };
        hide(String.prototype, name, bounded[name]);
    }

    // Date begins at the burst's instant.
    const RealDate = global.Date;
    const now = native.now;
    const BurstDate = function Date(...parts) {
        if (new.target === undefined) {
            return new RealDate(now()).toString();
        }
        return Reflect.construct(RealDate, parts.length === 0 ? [now()] : parts, new.target);
    };
    BurstDate.prototype = RealDate.prototype;
    hide(BurstDate, "length", 7);
    hide(BurstDate, "now", () => now());
    hide(BurstDate, "parse", RealDate.parse);
    hide(BurstDate, "UTC", RealDate.UTC);
    hide(RealDate.prototype, "constructor", BurstDate);
    hide(global, "Date", BurstDate);

    // Values from the host: members are found in any letter case when there is no exact match.
    const same = (one, two) => one.toLowerCase() === two.toLowerCase();
    const spelling = (object, key) =>
        typeof key === "string" ? keys(object).find((name) => same(name, key)) : undefined;
    const anyCase = new Proxy(freeze({}), {
        get(target, key, receiver) {
            if (key in Object.prototype) {
                return Reflect.get(Object.prototype, key, receiver);
            }
            const name = spelling(receiver, key);
            return name === undefined ? undefined : receiver[name];
        },
        set(target, key, value, receiver) {
            const name = spelling(receiver, key) ?? key;
            return Reflect.defineProperty(receiver, name,
                { value, writable: true, enumerable: true, configurable: true });
        },
    });
    const adopt = (root) => {
        if (typeof root !== "object" || root === null) {
            return root;
        }
        const open = [root];
        while (open.length > 0) {
            const value = open.pop();
            for (const item of isArray(value) ? value : Object.values(value)) {
                if (typeof item === "object" && item !== null) {
                    open.push(item);
                }
            }
            if (!isArray(value)) {
                Object.setPrototypeOf(value, anyCase);
            }
        }
        return root;
    };

    // Variables as one script has them: those whose objects it got, by a getter or from the container `variables`,
    // are written back after the script if it has changed them.
    const ASSIGNED = Symbol("assigned");
    const isObject = (value) => typeof value === "object" && value !== null;
    const snapshot = (value) => (isObject(value) ? stringify(value) : value);
    let run;
    let assigned = new Set();
    let held;
    let before;
    // What another script has held, or one that ended with an error, is forgotten.
    const begin = () => {
        const present = native.holdObjects();
        if (run !== present) {
            run = present;
            assigned = new Set();
            held = Object.create(null);
            before = new Map();
        }
    };
    const hold = (name, value) => {
        held[name] = adopt(value);
        before.set(name, snapshot(held[name]));
        return held[name];
    };
    // The object of a variable, the same each time.
    const shared = (name, value) => {
        begin();
        return hasOwn(held, name) && isObject(held[name]) ? held[name] : hold(name, value);
    };
    const setAndForget = (name) => {
        assigned.add(name);
        if (held !== undefined) {
            delete held[name];
            before.delete(name);
        }
    };
    const openContainer = (held, before) => {
        let names;
        const nameOf = (key) => {
            names ??= native.variableNames();
            return names.includes(key) ? key : names.find((name) => same(name, key));
        };
        const load = (key) => {
            if (typeof key !== "string" || hasOwn(held, key)) {
                return key;
            }
            const name = nameOf(key);
            if (name !== undefined && !hasOwn(held, name)) {
                hold(name, native.variable(name));
            }
            return name ?? key;
        };
        const loadAll = () => (names ??= native.variableNames()).forEach(load);
        return new Proxy(held, {
            get: (target, key) => target[load(key)],
            has: (target, key) => load(key) in target,
            set(target, key, value) {
                const name = typeof key === "string" ? (nameOf(key) ?? key) : key;
                target[name] = value;
                before.set(name, ASSIGNED);
                return true;
            },
            defineProperty: () => false,
            deleteProperty: () => false,
            ownKeys(target) {
                loadAll();
                return ownKeys(target);
            },
            getOwnPropertyDescriptor: (target, key) => getOwnPropertyDescriptor(target, load(key)),
        });
    };
    const openVariables = () => {
        begin();
        return openContainer(held, before);
    };
    const closeVariables = () => {
        for (const [name, old] of before) {
            // What the script set by setVariable wins over what it assigned to the container.
            const isNew = old === ASSIGNED ? !assigned.has(name) : !Object.is(old, snapshot(held[name]));
            if (isNew && typeof name === "string") {
                native.setVariable(name, held[name]);
            }
        }
    };

    // Elsa's functions.
    const text = (value) => (value === undefined || value === null ? null : String(value));
    const setVariable = (name, value) => {
        native.setVariable(String(name), value);
        setAndForget(String(name));
    };
    const toBytes = (value) => Array.from(value instanceof Uint8Array ? value : Uint8Array.from(value));
    // A stream is its bytes, or the Base64 text that stands for them in JSON.
    const toStream = (value) => (typeof value === "string" ? native.fromBase64(value) : Uint8Array.from(value));
    const newGuid = () => native.newId();
    const newShortGuid = () => native.newShortId();
    const api = {
        getWorkflowDefinitionId: () => native.fact("definitionId"),
        getWorkflowDefinitionVersion: () => native.fact("version"),
        getWorkflowDefinitionVersionId: () => native.fact("versionId"),
        getWorkflowInstanceId: () => native.fact("instanceId"),
        getCorrelationId: () => native.fact("correlationId"),
        setCorrelationId: (value) => native.setFact("correlationId", text(value)),
        getWorkflowInstanceName: () => native.fact("name"),
        setWorkflowInstanceName: (value) => native.setFact("name", text(value)),
        // A call of String() costs more than the question whether it is needed.
        getVariable: (name) => {
            const known = typeof name === "string" ? name : String(name);
            const value = native.variable(known);
            return isObject(value) ? shared(known, value) : value;
        },
        setVariable,
        getInput: (name) => adopt(native.input(typeof name === "string" ? name : String(name))),
        getOutputFrom: (activity, output) => adopt(native.outputFrom(String(activity), text(output))),
        getLastResult: () => adopt(native.lastResult()),
        isNullOrWhiteSpace: (value) => value === undefined || value === null || String(value).trim() === "",
        isNullOrEmpty: (value) => value === undefined || value === null || value === "",
        toJson: (value) => stringify(value),
        parseGuid: (value) => native.parseId(String(value)),
        newGuid,
        newGuidString: () => native.newId(),
        getGuidString: () => native.newId(),
        newShortGuid,
        getShortGuid: () => native.newShortId(),
        bytesToBase64: (bytes) => native.toBase64(toBytes(bytes)),
        bytesFromBase64: (base64) => native.fromBase64(String(base64)),
        stringToBase64: (value) => native.toBase64(toBytes(native.toUtf8(String(value)))),
        stringFromBase64: (base64) => native.fromUtf8(toBytes(native.fromBase64(String(base64)))),
        bytesToString: (bytes) => native.fromUtf8(toBytes(bytes)),
        bytesFromString: (value) => native.toUtf8(String(value)),
        streamToBytes: toStream,
        readStreamAsText: (stream) => native.fromUtf8(toBytes(toStream(stream))),
        streamToBase64: (stream) => native.toBase64(toBytes(toStream(stream))),
    };
    for (const name of keys(api)) {
        hide(global, name, api[name]);
    }
    for (const [name, type] of Object.entries(makeTypes(native))) {
        hide(global, name, type);
    }
    // What .NET hands to the expression beside the workflow; nothing does so here.
    hide(global, "args", {});
    // Ids are text, and scripts written for Elsa say `newGuid().ToString()`.
    hide(String.prototype, "ToString", function ToString() {
        return String(this);
    });
    // .NET's names for the size of a list.
    for (const name of ["Count", "Length"]) {
        defineProperty(Array.prototype, name, { get() { return this.length; }, enumerable: false, configurable: true });
    }
    hide(Uint8Array.prototype, "toJSON", function toJSON() {
        return native.toBase64(toBytes(this));
    });
    hide(BigInt.prototype, "toJSON", function toJSON() {
        const value = BigInt.prototype.valueOf.call(this);
        return BigInt.asIntN(54, value) === value ? Number(value) : value.toString();
    });

    // Helpers of one script's wrapper: getXxx, setXxx.
    const generated = (suffix) => {
        const value = native.generated(suffix);
        if (!isObject(value)) {
            return value;
        }
        const name = native.variableOf(suffix);
        return typeof name === "string" ? shared(name, value) : adopt(value);
    };
    const getter = (suffix) => freeze(() => generated(suffix));
    const setter = (suffix) => freeze((value) => setAndForget(native.setGenerated(suffix, value)));
    const link = (wrapper, source) => freeze(wrapper(getter, setter, source));

    // Freeze. Assigning `name` or `toString` to an object must go on working, although its
    // prototype is frozen: those properties become accessors that define an own property.
    const assignable = (prototype, names) => {
        for (const name of names) {
            const value = getOwnPropertyDescriptor(prototype, name)?.value;
            if (value !== undefined) {
                defineProperty(prototype, name, {
                    get: () => value,
                    set(own) {
                        if (this !== prototype && Object(this) === this) {
                            defineProperty(this, name,
                                { value: own, writable: true, enumerable: true, configurable: true });
                        }
                    },
                    enumerable: false,
                    configurable: true,
                });
            }
        }
    };
    assignable(Object.prototype, ["constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable",
        "toLocaleString", "toString", "valueOf"]);
    assignable(compileText.prototype, ["constructor", "toString"]);
    for (const type of [Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError,
        URIError]) {
        assignable(type.prototype, ["constructor", "message", "name", "toString"]);
    }

    const seen = new Set();
    const open = [];
    const visit = (value) => {
        if ((typeof value === "object" || typeof value === "function") && value !== null && !seen.has(value)) {
            seen.add(value);
            open.push(value);
        }
    };
    const generators = [function* () {}, async function* () {}];
    const unnamed = [
        anyCase, async function () {}, ...generators, ...generators.map((make) => make()),
        [][Symbol.iterator](), ""[Symbol.iterator](), new Map().entries(), new Set().entries(), "".matchAll(/a/g),
        Iterator.from({ next() {} }), [].values().map((item) => item), new Proxy({}, {}),
        getter, setter, link, openVariables, closeVariables,
    ];
    visit(global);
    unnamed.forEach(visit);
    while (open.length > 0) {
        const object = open.pop();
        for (const key of ownKeys(object)) {
            // Most of what is here are functions with a name and a length.
            if (typeof object !== "function" || (key !== "name" && key !== "length")) {
                const property = getOwnPropertyDescriptor(object, key);
                visit(property.value);
                visit(property.get);
                visit(property.set);
            }
        }
        visit(getPrototypeOf(object));
        freeze(object);
    }
    return { link, openVariables, closeVariables, directEval, names: ownKeys(global).filter((k) => typeof k === "string") };
}
