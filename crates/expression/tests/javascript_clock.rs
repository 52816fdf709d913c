//! No work of a script escapes the clock.
//!
//! How the tests search: they find every function that a script can call by walking from the global object (and from
//! values that only syntax gives: generators, iterators, host values). The list of operators and forms of syntax is
//! made by hand, by examining which of QuickJS's operations loop in C. Each runs without end on values that keep it
//! busy, inside `try`, `catch` and `finally`, and must be stopped within a second of its thread's CPU time after its
//! limit. The limit is CPU time, too, as the machine may be busy with other work.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use workflow_expression::ScriptLimits;
use workflow_expression::javascript::evaluate;
use workflow_value::Fault;

#[path = "support/scope.rs"]
mod scope;
use scope::Session;

const FUNCTIONS: &str = include_str!("javascript_clock/functions.js");
const SURVEY: &str = include_str!("javascript_clock/survey.js");
const ENDLESS: &str = include_str!("javascript_clock/endless.js");

/// CPU time that a script may still take after it was told to stop, freeing its memory included. It is less than a second on an idle machine of
/// today; a slow one, or one whose processors share caches with other work, counts several times that. What is not stopped takes any time.
const BOUND: Duration = Duration::from_secs(10);

thread_local! {
    /// When the script began the work that must be stopped; `LIMIT` is how long it may go on.
    static BEGUN: Cell<Option<ThreadTime>> = const { Cell::new(None) };
    /// The combination that a survey is trying.
    static TRYING: Cell<u64> = const { Cell::new(0) };
    static LIMIT: Cell<Duration> = const { Cell::new(Duration::from_millis(50)) };
}

fn interrupted() -> bool {
    BEGUN.get().is_some_and(|begun| begun.elapsed() > LIMIT.get())
}

fn session() -> Session {
    let large = (0..50_000).map(|number| (format!("key{number}"), json!(number))).collect::<serde_json::Map<_, _>>();
    let time = Duration::from_secs(3600);
    Session {
        limits: ScriptLimits { time, memory: 256 << 20, interrupted, ..Default::default() },
        ask: answer,
        output: |_| Some(json!([1])),
        ..Session::with([("Small", json!(1)), ("Object", json!({"a": {"b": 1}})), ("Large", large.into())])
    }
}

fn answer(name: &str) -> Option<Value> {
    match name {
        "cpu" => return Some(json!(ThreadTime::now().as_duration().as_secs_f64())),
        "begin" => {}
        _ => TRYING.set(name.strip_prefix("trying ")?.parse().unwrap_or(0)),
    }
    BEGUN.set(Some(ThreadTime::now()));
    Some(Value::Null)
}

/// Runs a script that reports when it begins; returns its outcome and the CPU time since then.
fn measure(script: &str, limit: Duration) -> (Result<Value, Fault>, Duration) {
    BEGUN.set(None);
    LIMIT.set(limit);
    let outcome = evaluate(script, &mut session());
    let took = BEGUN.take().map_or(Duration::MAX, |begun| begun.elapsed());
    (outcome, took)
}

/// A complaint if a script without end was not stopped as it should be.
fn complaint(what: &str, script: &str, limit: Duration) -> Option<String> {
    match measure(script, limit) {
        (Err(fault), took) if fault.sqlstate == "57014" && took < limit + BOUND => None,
        (outcome, took) => {
            Some(format!("{what}: {took:?}, {}", format!("{outcome:?}").chars().take(200).collect::<String>()))
        }
    }
}

/// Runs a job per number on two threads and returns all complaints.
fn on_two_threads(count: usize, job: impl Fn(usize) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut complaints = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return complaints;
            }
            complaints.extend(job(at));
        }
    };
    thread::scope(|scope| {
        let threads = [spawn(scope, work), spawn(scope, work)];
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// A thread with as much stack as a backend has.
fn spawn<'scope, R: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    work: impl FnOnce() -> R + Send + 'scope,
) -> thread::ScopedJoinHandle<'scope, R> {
    thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, work).expect("a thread")
}

/// The result of calling a function once with every combination of receiver and arguments.
struct Survey {
    path: String,
    works: bool,
    error: String,
    /// Seconds of the longest call, and with which combination.
    slowest: f64,
    chosen: u64,
}

/// Calls a function with every combination. A call that has to be stopped is taken as the slowest.
fn survey(at: usize) -> (Survey, usize) {
    let script = format!("{FUNCTIONS}\n{}", SURVEY.replace("AT", &at.to_string()));
    let (outcome, _) = measure(&script, Duration::from_millis(100));
    match outcome {
        Ok(line) => {
            let survey = Survey {
                path: line["path"].as_str().unwrap_or_default().to_owned(),
                works: line["works"] != json!(0),
                error: line["error"].to_string(),
                slowest: line["slowest"].as_f64().unwrap_or(0.0),
                chosen: line["chosen"].as_u64().unwrap_or(0),
            };
            (survey, line["functions"].as_u64().unwrap_or(0) as usize)
        }
        Err(fault) if fault.sqlstate == "57014" => {
            let path = format!("function {at}");
            (Survey { path, works: true, error: String::new(), slowest: f64::MAX, chosen: TRYING.get() }, 0)
        }
        Err(fault) => panic!("function {at}: {fault:?}"),
    }
}

// security.md#what-an-input-can-do: every function that a script can reach is stopped within a second of CPU time
#[test]
fn long_every_function_is_stopped() {
    let (_, count) = survey(usize::MAX);
    assert!(count > 700, "only {count} functions were found");
    let endless = |what: &str, calls: &[(usize, u64)]| {
        let script = ENDLESS.replace("CALLS", &json!(calls).to_string());
        complaint(what, &format!("{FUNCTIONS}\n{script}"), Duration::from_millis(50))
    };
    let complaints = on_two_threads(count.div_ceil(CHUNK), |chunk| {
        let (mut complaints, mut quick) = (Vec::new(), Vec::new());
        for at in chunk * CHUNK..count.min((chunk + 1) * CHUNK) {
            let (survey, _) = survey(at);
            if !survey.works && !ONLY_THROWS.contains(&survey.path.as_str()) {
                complaints.push(format!("{}: no receiver: {}", survey.path, survey.error));
            }
            if survey.slowest > QUICK {
                complaints.extend(endless(&survey.path, &[(at, survey.chosen)]));
            } else {
                quick.push((at, survey.chosen));
            }
        }
        complaints.extend(endless("quick functions", &quick));
        complaints
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Functions that one job tests.
const CHUNK: usize = 25;

/// Seconds. Functions that take less with any arguments are called in turns in one loop without end.
const QUICK: f64 = 0.002;

/// Functions that throw with any arguments.
const ONLY_THROWS: &[&str] = &[
    "Function",
    "Guid",
    "Stream",
    "Uint8ClampedArray.__proto__",
    "get %Getter%.__proto__.caller",
    "Iterator",
    "%Generator%.__proto__.__proto__.throw",
];

fn lists() -> (Vec<(String, String)>, Vec<String>) {
    let lists = evaluate(include_str!("javascript_clock/operators.js"), &mut session()).expect("lists");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let forms = lists["forms"].as_array().expect("a list").iter().map(|pair| (text(&pair[0]), text(&pair[1])));
    (forms.collect(), lists["survivals"].as_array().expect("a list").iter().map(text).collect())
}

// security.md#what-an-input-can-do: so are operators and forms that loop in C
#[test]
fn long_every_operator_is_stopped() {
    let (forms, _) = lists();
    assert!(forms.len() > 180, "{}", forms.len());
    let limit = Duration::from_millis(20);
    let complaints = on_two_threads(forms.len(), |at| {
        let (needs, form) = &forms[at];
        let caught = format!("for (;;) {{ try {{ for (;;) {{ {form} }} }} catch {{ }} finally {{ continue }} }}");
        let looping = format!("{needs} getVariable('begin'); {caught}");
        // Without jumps and calls around it: the form is repeated in the source.
        let straight = format!("{needs} getVariable('begin'); {}", format!("{{ {form} }}\n").repeat(500));
        let mut complaints: Vec<_> = complaint(form, &looping, limit).into_iter().collect();
        let (_, took) = measure(&straight, limit);
        if took > limit + BOUND {
            complaints.push(format!("{form}, straight: {took:?}"));
        }
        complaints
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

// security.md#what-an-input-can-do: nothing that a script catches keeps it alive
#[test]
fn nothing_swallows_the_stop() {
    let (_, survivals) = lists();
    let complaints = on_two_threads(survivals.len(), |at| {
        let script = format!("getVariable('begin'); {}", survivals[at]);
        let (outcome, took) = measure(&script, Duration::from_millis(50));
        // A script that ends by itself or for lack of memory is fine as well.
        let fine = took < Duration::from_millis(50) + BOUND;
        (!fine).then(|| format!("{}: {took:?} {outcome:?}", survivals[at])).into_iter().collect()
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

// security.md#what-an-input-can-do: its time runs from its entry
/// The time of an evaluation runs from its entry, whatever the script does first.
#[test]
fn the_limit_counts_from_the_entry() {
    let endless = [
        "let x = (1n << 65000n) - 1n; for (;;) x.toString().length",
        "let x = (1n << 32000n) - 1n; for (;;) x * x",
        "let a = new Uint8Array(3e7); for (;;) a.lastIndexOf(1)",
        "let s = 'a'.repeat(44000), t = 'a'.repeat(22000) + 'b'; for (;;) s.indexOf(t)",
        "let a = new Uint8Array(3e7); for (;;) a.copyWithin(1, 0)",
        "let a = new Uint8Array(3e7); for (;;) a.reverse()",
        "let a = new Float64Array(2e6).map((_, at) => Math.sin(at)); for (;;) a.slice().sort()",
        "let a = new Array(2e6).fill(1); for (;;) a.includes(2)",
        "let s = 'a'.repeat(1e7); for (;;) s.toUpperCase()",
        "let a = Array.from({ length: 1e5 }, (_, at) => at); for (;;) JSON.stringify(a)",
        "let s = '9'.repeat(3e5); for (;;) try { BigInt(s) } catch { }",
        "for (;;) setVariable('Small', 'x'.repeat(1e6))",
        "for (;;) { }",
    ];
    let complaints = on_two_threads(endless.len(), |at| {
        let mut session = session();
        session.limits.time = Duration::from_millis(50);
        session.limits.memory = 64 << 20;
        let begun = ThreadTime::now();
        let outcome = evaluate(endless[at], &mut session);
        let took = begun.elapsed();
        let right = outcome.as_ref().is_err_and(|fault| fault.message == "JavaScript took longer than 50 ms");
        let fine = right && took < Duration::from_millis(50) + BOUND;
        (!fine).then(|| format!("{}: {took:?} {outcome:?}", endless[at])).into_iter().collect()
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

// security.md#what-an-input-can-do: compiling is part of its time
/// The time of parsing a script counts as well.
#[test]
fn compilation_is_stopped() {
    let names = |from: &str, count: usize| (0..count).map(|at| format!("{from}{at}")).collect::<Vec<_>>().join(",");
    // Every second character from above all signs of the syntax, the last ones first, each before `end`.
    let alternatives = |count: u32, end: &str| {
        let taken = (1..=count).rev().filter_map(|at| char::from_u32(0x100 + 2 * at));
        taken.map(|letter| format!("{letter}{end}")).collect::<String>().trim_end_matches('|').to_owned()
    };
    let sources = [
        format!("var {}; {}", names("v", 60_000), "v1;v59999;".repeat(100_000)),
        format!("({{{}}})", (0..200_000).map(|at| format!("k{at}:1")).collect::<Vec<_>>().join(",")),
        format!("{}1{}", "(".repeat(200), format!("{}1", "1+".repeat(2_000_000)) + &")".repeat(200)),
        format!("[{}]", "1,".repeat(3_000_000)),
        format!("{}n", "9".repeat(3_000_000)),
        format!("/{}/.test('a')", "a".repeat(5_000_000)),
        format!("/[{}]/u.test('a')", "\\p{L}a-z".repeat(100_000)),
        format!("/{}/.test('a')", "(a{1,100}){1,100}".repeat(1000)),
        format!("/{}/.test('a')", "a|".repeat(3_000_000)),
        format!("/{}/.test('a')", "|".repeat(6_000_000)),
        format!("/(?<={})/.test('a')", "a".repeat(5_000_000)),
        format!("/(?<a>a)?{}/.test('a')", "\\k<a>".repeat(1_000_000)),
        format!("/{}/u.test('a')", "\\p{L}".repeat(1_000_000)),
        format!("/{}/v.test('a')", "\\p{RGI_Emoji}".repeat(300_000)),
        format!("/[{}]/iu.test('a')", "a-\u{ffff}".repeat(500_000)),
        format!("/[{}]/v.test('a')", "[\\p{L}a]".repeat(300_000)),
        format!("/[\\p{{L}}{}]/v.test('a')", "&&\\p{L}".repeat(300_000)),
        format!("/[\\p{{L}}{}]/v.test('a')", "--\\p{N}".repeat(300_000)),
        format!("/[{}]/.test('a')", alternatives(250_000, "")),
        format!("/[\\q{{{}}}]/v.test('a')", alternatives(250_000, "|")),
        format!("/[\\q{{{}}}]/v.test('a')", alternatives(100_000, "a|")),
        format!("/[\\q{{{0}}}--\\q{{{0}}}]/v.test('a')", alternatives(100_000, "a|")),
        format!("`{}`", "${1}".repeat(500_000)),
        format!("1{}", " ".repeat(10_000_000)),
        "function f(){}".repeat(300_000),
        "{let x=1;".repeat(500) + &"x;".repeat(500_000) + &"}".repeat(500),
        "a=".repeat(100_000) + "1",
        "l:{".repeat(400) + &"break l;".repeat(100_000) + &"}".repeat(400),
        format!("({})=>1", names("p", 60_000)),
        format!("switch(1){{{}}}", (0..300_000).map(|at| format!("case {at}:")).collect::<String>()),
        "class A{#a;m(){return this.#a}}".repeat(50_000),
    ];
    let complaints = on_two_threads(sources.len(), |at| {
        let mut session = session();
        session.limits.time = Duration::from_millis(50);
        session.limits.memory = 64 << 20;
        let begun = ThreadTime::now();
        let outcome = evaluate(&sources[at], &mut session);
        let took = begun.elapsed();
        let shown = sources[at].chars().take(60).collect::<String>();
        (took > Duration::from_millis(50) + BOUND)
            .then(|| format!("{shown}: {took:?} {outcome:?}"))
            .into_iter()
            .collect()
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

// security.md#what-an-input-can-do: compiling is part of its time
/// So does the work after parsing: resolving names, labels and jumps. Each script is parsed well before the limit.
#[test]
fn what_follows_the_reading_is_stopped() {
    let names = |count: usize| (0..count).map(|at| format!("v{at}")).collect::<Vec<_>>().join(",");
    let each = |count: usize, form: &str| (0..count).map(|at| form.replace('@', &at.to_string())).collect::<String>();
    let sources = [
        // Jumps that the compiler can shorten.
        format!("a=>{{{}}}", format!("if(a){{{}}}", "a.b;".repeat(8)).repeat(40_000)),
        format!("a=>{{{}}}", format!("a?{}1:2;", "a.b+".repeat(8)).repeat(40_000)),
        format!("a=>{{{}}}", format!("while(a){{{}}}", "a.b;".repeat(8)).repeat(40_000)),
        // Names that code in `eval` could use.
        format!("()=>{{let {};{}}}", names(40_000), "()=>eval('1');".repeat(20)),
        format!("({})=>{{{}}}", names(40_000), "()=>eval('1');".repeat(20)),
        // Names that occur once.
        format!("({})=>1", names(65_000)),
        format!("({},...r)=>1", names(65_000)),
        format!("function f(){{{}}}{}", each(60_000, "w@;"), each(30_000, "var x@;")),
        format!("()=>{{let {};()=>{{{}}}}}", names(60_000), each(60_000, "v@;")),
        format!("()=>{{let {};{}}}", names(60_000), "z;".repeat(300_000)),
        // Labels in a row, and jumps to the first.
        format!("a=>{{l:{{{}}}{}}}", "if(a)break l;".repeat(30_000), "x:;".repeat(30_000)),
        format!("a=>{{{}{}{}}}", "l:{".repeat(150), "if(a)break l;".repeat(30_000), "}".repeat(150)),
    ];
    let limit = Duration::from_millis(500);
    let complaints = on_two_threads(sources.len(), |at| {
        BEGUN.set(Some(ThreadTime::now()));
        LIMIT.set(limit);
        let outcome = evaluate(&sources[at], &mut session());
        let took = BEGUN.take().map_or(Duration::MAX, |begun| begun.elapsed());
        let shown = sources[at].chars().take(60).collect::<String>();
        (took > limit + BOUND).then(|| format!("{shown}: {took:?} {outcome:?}")).into_iter().collect()
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}
