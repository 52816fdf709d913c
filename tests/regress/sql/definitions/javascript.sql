-- {"js": …} is JavaScript with Elsa's functions, in a sandbox with limits of memory, depth and time.
\i tests/regress/include/javascript.sql

-- An expression, a function body with return, statements whose last value counts.
SELECT * FROM pg_temp.js('1 + 1');
SELECT * FROM pg_temp.js('return 1 + 1;');
SELECT * FROM pg_temp.js('const a = 1; if (a > 0) { return "yes"; } return "no";');
SELECT * FROM pg_temp.js('let sum = 0; for (const n of [1, 2, 3]) sum += n; sum');
SELECT * FROM pg_temp.js('({ Message: `Hello from ${getName()}` })');
SELECT * FROM pg_temp.js('[1, 2, 3]');
SELECT * FROM pg_temp.js('undefined');
SELECT * FROM pg_temp.js('');

-- Variables.
SELECT * FROM pg_temp.js('getCounter() + 1');
SELECT * FROM pg_temp.js('getVariable("Counter") + variables.Counter');
SELECT * FROM pg_temp.js('getTheSum()');
SELECT * FROM pg_temp.js('setVariable("Counter", 5); return getCounter();');
SELECT * FROM pg_temp.js('setCounter(6); return variables.Counter;');
SELECT * FROM pg_temp.js('variables.Counter = 7; setVariable("Counter", 8); return getVariable("Counter");');
SELECT * FROM pg_temp.js('variables.List.push("c"); return getList().length;');
SELECT * FROM pg_temp.js('getVariable("No" + "body")');

-- Inputs, outputs, the last result. Members of what comes from outside are found in any letter case.
SELECT * FROM pg_temp.js('getInput("amount") > 100', '{"amount": 250}');
SELECT * FROM pg_temp.js('getInput("nobody")');
SELECT * FROM pg_temp.js('getOutputFrom("rows", "rowCount")');
SELECT * FROM pg_temp.js('getRowCountFromRows1()');
SELECT * FROM pg_temp.js('getLastResult()');
SELECT * FROM pg_temp.js('`${getChild().output.result}`');

-- The workflow itself.
SELECT * FROM pg_temp.js('[getWorkflowDefinitionId(), getWorkflowDefinitionVersion() > 0, getWorkflowInstanceId(), getCorrelationId(), getWorkflowInstanceName()]');
SELECT * FROM pg_temp.js('setWorkflowInstanceName("new"); setCorrelationId("other"); return getWorkflowInstanceName() + getCorrelationId();');

-- Helpers.
SELECT * FROM pg_temp.js('[isNullOrEmpty(""), isNullOrWhiteSpace("  "), isNullOrEmpty(null), isNullOrWhiteSpace("x")]');
SELECT * FROM pg_temp.js('[toJson({a: 1}), stringToBase64("hä"), stringFromBase64("aMOk")]');
SELECT * FROM pg_temp.js('[newGuidString().length, parseGuid("01900000-0000-7000-8000-000000000001"), newGuid() != newGuid()]');
SELECT * FROM pg_temp.js('bytesToString(bytesFromString("abc")) + bytesToBase64(bytesFromString("abc"))');

-- Time stands still during a burst.
SET workflow.now = '2030-01-01 12:00:00+00';
SELECT * FROM pg_temp.js('new Date()');
SELECT * FROM pg_temp.js('new Date().getTime() === Date.now()');
RESET workflow.now;

-- Numbers: integers stay integers, fractions the shortest text, what JSON cannot say is null.
SELECT * FROM pg_temp.js('[1, 1.5, 0.1 + 0.2, 1e21, -0, 9007199254740991, NaN, Infinity]');
-- What only reads a value keeps its digits; what computes has those of a double.
SELECT * FROM pg_temp.js('getInput("n")', '{"n": 1.10}');
SELECT * FROM pg_temp.js('getInput("n") * 1', '{"n": 12345678901234567890}');
SELECT * FROM pg_temp.js('getInput("n")', '{"n": 12345678901234567890}');
SELECT * FROM pg_temp.js('10n ** 20n');
SELECT * FROM pg_temp.js('"\u0000"');
SELECT * FROM pg_temp.js('"\ud800"');
SELECT * FROM pg_temp.js('"😀".length');
SELECT * FROM pg_temp.js('({f: () => 1, d: new Date(0), u: undefined, m: new Map()})');
SELECT * FROM pg_temp.js('const a = {}; a.a = a; return a;');

-- security.md#what-an-input-can-do: nothing is left of a script for the next one
-- Nothing is left for the next script.
SELECT * FROM pg_temp.js('globalThis.leak = 1; x = 2; Array.prototype.leak = 3; Object.prototype.leak = 4; return 5;');
SELECT * FROM pg_temp.js('[typeof leak, typeof x, [].leak, ({}).leak]');
SELECT * FROM pg_temp.js('getCounter = () => 99; return getCounter();');
SELECT * FROM pg_temp.js('getCounter()');
SELECT * FROM pg_temp.js('JSON.stringify = () => "stolen"; return 1;');
SELECT * FROM pg_temp.js('JSON.stringify([1])');

-- security.md#what-an-input-can-do: JavaScript reaches nothing outside
-- Nothing is there that reaches outside. (setTimeout is a setter, as setCounter is: of a variable "Timeout" that is not declared.)
SELECT * FROM pg_temp.js('[typeof require, typeof process, typeof fetch, typeof std, typeof os, typeof setTimeout, typeof console]');
SELECT * FROM pg_temp.js('import("fs")');

-- Errors are faults of the activity.
SELECT * FROM pg_temp.js('throw new Error("on purpose")');
SELECT * FROM pg_temp.js('throw "text"');
SELECT * FROM pg_temp.js('nobody()');
SELECT * FROM pg_temp.js('null.x');

-- Limits: time, memory, depth; the session lives on.
SET workflow.javascript_timeout = '100ms';
SELECT * FROM pg_temp.js('while (true) {}');
SELECT * FROM pg_temp.js('/(a+)+$/.test("a".repeat(40) + "b")');
RESET workflow.javascript_timeout;
SELECT * FROM pg_temp.js('const a = []; while (true) a.push("x".repeat(1000000) + a.length)');
SELECT * FROM pg_temp.js('"x".repeat(1e9)');
SELECT * FROM pg_temp.js('function f() { return f() + 1; } return f();');
SELECT * FROM pg_temp.js('let a = []; for (let i = 0; i < 100000; i++) a = [a]; return a;');
SELECT * FROM pg_temp.js('1 + 1');

-- A statement timeout ends a script like any other work: it is the call that fails, not the activity.
\set SHOW_CONTEXT never
SET statement_timeout = '200ms';
SELECT * FROM pg_temp.js('while (true) {}');
\echo :SQLSTATE
\set SHOW_CONTEXT errors
RESET statement_timeout;
SELECT * FROM pg_temp.js('"and on it goes"');

-- Types of .NET that scripts of Elsa use. Time is the burst's.
SET workflow.now = '2026-11-21 01:23:45.678+00';
SELECT * FROM pg_temp.js('TimeSpan.FromMinutes(5)');
SELECT * FROM pg_temp.js('({ due: DateTime.UtcNow.AddDays(1), day: DateTime.Today.DayOfWeek, left: DateTime.UtcNow.Subtract(DateTime.Today).TotalMinutes })');
SELECT * FROM pg_temp.js('DateTimeOffset.UtcNow.ToString("dd MMM yyyy")');
SELECT * FROM pg_temp.js('Guid.NewGuid().ToString().length + new Random().Next(1, 2)');
RESET workflow.now;

-- What Elsa has outside of the database is not here.
SELECT * FROM pg_temp.js('getConfig("key")');
SELECT * FROM pg_temp.js('_.uniq([1, 1])');

SELECT * FROM wf_check();
