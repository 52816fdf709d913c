//! What templates can do, and what they must not do.

use std::time::Duration;

use cpu_time::ThreadTime;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tests_support::TestScope;
use workflow_value::value::parse_json;

fn render_in(source: &str, scope: &mut TestScope) -> Result<Value, Fault> {
    let template = LiquidTemplate::compile(source).unwrap_or_else(|message| panic!("{source}: {message}"));
    evaluate(&template, scope)
}

fn scope() -> TestScope {
    let mut scope = TestScope::with(json!({
        "Name": "Ada", "Order": {"Customer": {"Name": "Grace"}, "Lines": [{"Sku": "a", "Count": 2}, {"Sku": "b", "Count": 1}]},
        "Tags": ["x", "y"], "Count": 3, "Flag": true, "Nothing": null,
    }));
    scope.variables.insert("Total".to_owned(), parse_json("12345678901234567890.10").unwrap());
    scope.inputs.insert("city".to_owned(), json!("Zürich"));
    scope.correlation_id = Some("c-1".to_owned());
    scope.name = Some("first".to_owned());
    scope
}

fn render(source: &str) -> String {
    match render_in(source, &mut scope()) {
        Ok(Value::String(text)) => text,
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
fn names_of_elsa_are_there() {
    for (source, text) in [
        ("Hello {{ Variables.Name }}!", "Hello Ada!"),
        ("{{ variables.name }} {{ Variables['Name'] }}", "Ada Ada"),
        ("{{ Input.City }}", "Zürich"),
        ("{{ Variables.order.CUSTOMER.name }}", "Grace"),
        ("{{ CorrelationId }} {{ WorkflowInstanceName }}", "c-1 first"),
        (
            "{{ WorkflowDefinitionId }} {{ WorkflowDefinitionVersion }} {{ WorkflowDefinitionVersionId }}",
            "orders 3 orders-v3",
        ),
        ("{{ WorkflowInstanceId }}", "00000000-0000-0000-0000-000000000007"),
        ("[{{ Variables.Missing.Deeper }}{{ Whatever }}{{ Variables.Nothing }}]", "[]"),
        ("{{ Variables.Total }} {% if Variables.Total > 100 %}large{% endif %}", "12345678901234567890.10 large"),
        ("{{ Variables.Order.Lines[1].Sku }}{{ Variables.Order.Lines.first.count }}{{ Variables.Tags.size }}", "b22"),
        ("{{ Variables.Order.Customer }}", r#"{"Name":"Grace"}"#),
        ("{{ Variables.Tags }}", "xy"),
    ] {
        assert_eq!(render(source), text, "{source}");
    }
}

#[test]
fn tags_work() {
    for (source, text) in [
        ("{% if Variables.Count > 2 and Variables.Flag %}yes{% else %}no{% endif %}", "yes"),
        (
            "{% unless Variables.Flag %}a{% endunless %}{% case Variables.Count %}{% when 3 %}three{% endcase %}",
            "three",
        ),
        (
            "{% for line in Variables.Order.Lines %}{{ forloop.index }}:{{ line.sku }}{% unless forloop.last %},{% endunless %}{% endfor %}",
            "1:a,2:b",
        ),
        ("{% for i in (1..5) reversed limit:3 offset:1 %}{{ i }}{% endfor %}", "432"),
        (
            "{% for i in (1..9) %}{% if i == 3 %}{% continue %}{% endif %}{% if i > 4 %}{% break %}{% endif %}{{ i }}{% endfor %}",
            "124",
        ),
        ("{% for x in Variables.Missing %}a{% else %}none{% endfor %}", "none"),
        ("{% for x in Variables.Order.Customer %}{{ x[0] }}={{ x[1] }}{% endfor %}", "Name=Grace"),
        ("{% for i in (1..2) %}{% for j in (1..2) %}{{ i }}{{ j }} {% endfor %}{% endfor %}", "11 12 21 22 "),
        ("{% assign a = Variables.Name | upcase %}{% capture b %}<{{ a }}>{% endcapture %}{{ b }}", "<ADA>"),
        ("{% increment n %}{% increment n %}{% cycle 'a', 'b' %}{% cycle 'a', 'b' %}", "01ab"),
        ("{% comment %}x{% endcomment %}{% raw %}{{ y }}{% endraw %}", "{{ y }}"),
        ("a{% comment %}{% comment %}{% if x %}{% nothing %}{{ | }}{% endcomment %}{% endcomment %}b", "ab"),
        ("a{% comment %}{% raw %}{% endcomment %}{% endraw %}{% endcomment %}b", "ab"),
    ] {
        assert_eq!(render(source), text, "{source}");
    }
}

#[test]
fn filters_work() {
    for (source, text) in [
        ("{{ 'hi' | base64 }}", "aGk="),
        ("{{ Variables.Order.Customer | keys | join: ',' }}", "Name"),
        ("{{ Variables.Order.Lines | json }}", r#"[{"Count":2,"Sku":"a"},{"Count":1,"Sku":"b"}]"#),
        (
            "{{ Variables.Total | json }} {{ Variables.Nothing | json }} {{ Variables.Name | json }}",
            "12345678901234567890.10 null \"Ada\"",
        ),
        ("{{ 'now' | date: '%Y-%m-%d %H:%M' }}", "2026-11-21 01:23"),
        ("{{ '2026-02-03T04:05:06Z' | date: '%d.%m.%y' }}{{ 'soon' | date: '%Y' }}", "03.02.26soon"),
        ("{{ 'a-b' | replace: '-', '+' }}{{ 'a,b' | split: ',' | last }}", "a+bb"),
        ("{{ Variables.Count | plus: 1 | times: 2 }} {{ 7 | divided_by: 2 }} {{ 2.5 | round }}", "8 3 3"),
        ("{{ Variables.Order.Lines | map: 'Sku' | join }} {{ Variables.Tags | reverse | first }}", "a b y"),
        ("{{ Variables.Missing | default: 'none' }} {{ '<b>' | escape }}", "none &lt;b&gt;"),
        ("{{ 'abc' | slice: 1 }}{{ 'abcdef' | truncate: 5 }}", "bab..."),
    ] {
        assert_eq!(render(source), text, "{source}");
    }
}

#[test]
fn whole_numbers_never_wrap() {
    for (source, text) in [
        ("{{ 9223372036854775807 | plus: 1 }}", "9223372036854776000"),
        ("{{ -9223372036854775807 | minus: 2 }}", "-9223372036854776000"),
        ("{{ 4611686018427387904 | times: 4 }}", "18446744073709552000"),
        ("{{ 9007199254740993 | plus: 0 }} {{ 9007199254740993 | round }}", "9007199254740993 9007199254740993"),
        ("{{ -9223372036854775807 | minus: 1 | abs }}", "9223372036854776000"),
        ("{{ -9223372036854775807 | minus: 1 | divided_by: -1 }}", "9223372036854776000"),
        ("{{ -9223372036854775807 | minus: 1 | modulo: -1 }}", "0"),
        ("{{ Variables.Total | ceil }} {{ Variables.Total | floor }}", "12345678901234567000 12345678901234567000"),
        ("{{ Variables.Total | round }} {{ 2.345 | round: 2 }}", "12345678901234567000 2.35"),
        ("{{ 3.7 | at_most: 3 }} {{ 5 | at_least: 7 }} {{ -2.5 | abs }}", "3 7 2.5"),
        ("{{ Variables.Order.Lines | sum: 'Count' }} {{ Variables.Nothing | default: 1 | plus: 1 }}", "3 2"),
    ] {
        assert_eq!(render(source), text, "{source}");
    }
    for source in ["{{ 1e308 | times: 10 }}", "{{ 'inf' | plus: 1 }}", "{{ 'a' | plus: 1 }}", "{{ 1 | round: 'x' }}"] {
        let Ok(template) = LiquidTemplate::compile(source) else { continue };
        assert_eq!(evaluate(&template, &mut scope()).unwrap_err().sqlstate, "38000", "{source}");
    }
}

#[test]
fn characters_are_counted_not_bytes() {
    for (source, text) in [
        ("{{ 'héllo wörld' | size }}", "11"),
        ("{{ Input.city.size }} {{ Variables.Tags | size }} {{ 12 | size }}", "6 2 2"),
        ("{{ 'äöü' | slice: -1 }}{{ 'äöü' | slice: 1, 9223372036854775807 }}{{ 'abc' | slice: -9 }}", "üöü"),
        ("{{ 'äöüß' | truncate: 4 }} {{ 'äöüßxy' | truncate: 4 }} {{ 'äöüß' | truncate: 2, '' }}", "äöüß ä... äö"),
    ] {
        assert_eq!(render(source), text, "{source}");
    }
}

#[test]
fn further_tags_and_filters_of_the_standard_work() {
    for (source, text) in [
        ("{% echo Variables.Name | upcase %}", "ADA"),
        ("{{ false | default: 'x' }} {{ false | default: 'x', allow_false: true }}", "x false"),
        ("{{ Variables.Nothing | default: 'x', allow_false: true }}", "x"),
        ("{{ 'a-b-c' | replace_last: '-', '+' }} {{ 'a-b-c' | remove_last: '-' }}", "a-b+c a-bc"),
    ] {
        assert_eq!(render(source), text, "{source}");
    }
}

#[test]
fn what_is_wrong_has_a_position() {
    for (source, parts) in [
        ("a\n{{ b | nothing }}", &["unknown filter \"nothing\"", "line 2, column 8"][..]),
        ("a\nb {% wrong %}", &["nknown tag", "line 2"]),
        ("{% if a %}", &["unclosed block", "line 1"]),
        ("{% comment %}{% raw %}", &["unclosed block", "endraw", "line 1"]),
        ("{% comment %}{% comment %}{% endcomment %}", &["unclosed block", "endcomment", "line 1"]),
        ("{% comment a %}{% endcomment %}", &["line 1"]),
        ("{{ a", &["line 1, column"]),
        ("{% include 'x' %}", &["nknown tag"]),
        ("{{ 'x' | date }}", &["wrong arguments of filter \"date\""]),
    ] {
        let message = LiquidTemplate::compile(source).unwrap_err();
        for part in parts {
            assert!(message.to_lowercase().contains(&part.to_lowercase()), "{source}: {message}");
        }
        assert!(message.starts_with("invalid Liquid: ") && !message.contains('\n'), "{message}");
    }
}

#[test]
fn faults_say_what_went_wrong() {
    let fault = render_in("{{ 1 | divided_by: 0 }}", &mut scope()).unwrap_err();
    assert!(fault.message.starts_with("Liquid error: invalid argument: "), "{fault}");
    for source in [
        "{{ 1 | divided_by: 0 }}",
        "{{ 'a' | keys }}",
        "{{ 'now' | date: '%Q' }}",
        "{% for i in (1..'x') %}{% endfor %}",
    ] {
        let fault = render_in(source, &mut scope()).unwrap_err();
        assert_eq!(fault.sqlstate, "38000", "{source}: {fault}");
        assert!(fault.message.starts_with("Liquid error: ") && !fault.message.contains('\n'), "{fault}");
        assert!(fault.detail.as_deref().unwrap_or_default().contains("{"), "{fault:?}");
    }
    let mut scope = scope();
    scope.variables.insert("Deep".to_owned(), parse_json(&format!("{}{}", "[".repeat(500), "]".repeat(500))).unwrap());
    assert_eq!(render_in("{{ Variables.Deep }}", &mut scope).unwrap_err().sqlstate, "54001");
    scope.variables.insert("Nul".to_owned(), json!("\u{0}"));
    assert_eq!(render_in("{{ Variables.Nul }}", &mut scope).unwrap_err().sqlstate, "22P05");
}

#[test]
fn time_and_memory_are_limited() {
    let double = "{% assign s = 'aaaaaaaaaaaaaaaa' %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}";
    for source in [
        "{% for i in (1..9000000000000000000) %}{% endfor %}",
        "{% for i in (1..9000000000000000000) %}{{ i }}{% endfor %}",
        double,
        "{% assign s = 'aa' %}{% for i in (1..60) %}{% assign s = s | replace: 'a', s %}{% endfor %}",
        "{% capture s %}{% for i in (1..900000000) %}aaaaaaaaaa{% endfor %}{% endcapture %}",
        "{% assign l = 'a,b' | split: ',' %}{% for i in (1..60) %}{% assign l = l | concat: l %}{% endfor %}",
        "{% assign l = 'a b' | split: ' ' %}{% for i in (1..60) %}{% assign s = l | join: s %}{% assign l = s | split: '' %}{% endfor %}",
    ] {
        let mut scope = scope();
        scope.limits.time = Duration::from_millis(300);
        scope.limits.memory = 8 << 20;
        let start = ThreadTime::now();
        let fault = render_in(source, &mut scope).unwrap_err();
        assert_eq!(fault.sqlstate, "54000", "{source}: {fault}");
        assert!(start.elapsed() < Duration::from_secs(20), "{source}: {:?}", start.elapsed());
    }
}

/// Searches for loops that do not check the time: runs every filter over values that keep it busy.
// security.md#what-an-input-can-do: what each filter takes and makes is counted
#[test]
fn every_filter_is_stopped() {
    let words = |count: usize, length: usize| -> Vec<String> {
        (0..count).map(|at| format!("{}{}", "a".repeat(length), (at * 7919) % count)).collect()
    };
    let values = [
        json!("a<b>".repeat(250_000)),
        json!((0..90_000).map(|at| (at * 7919) % 90_000).collect::<Vec<_>>()),
        json!(words(5_000, 100)),
        json!(words(100, 40_000)),
        json!(words(20_000, 10).into_iter().map(|word| json!({"a": word})).collect::<Vec<_>>()),
    ];
    for name in language::language().filters.plugin_names() {
        for (number, value) in values.iter().enumerate() {
            for arguments in ["", ": 'a'", ": 'a', 'b'", ": 3"] {
                let source = format!(
                    "{{% for i in (1..9000000000) %}}{{% assign x = Variables.V | {name}{arguments} %}}{{% endfor %}}"
                );
                let Ok(template) = LiquidTemplate::compile(&source) else { continue };
                let mut scope = TestScope::with(json!({"V": value}));
                scope.limits.time = Duration::from_millis(2);
                let begun = ThreadTime::now();
                let fault = evaluate(&template, &mut scope).unwrap_err();
                assert!(matches!(fault.sqlstate.as_str(), "54000" | "38000"), "{name}: {fault}");
                assert!(
                    begun.elapsed() < Duration::from_secs(20),
                    "{name}{arguments}, value {number}: {:?}",
                    begun.elapsed()
                );
            }
        }
    }
    for (list, message) in [
        (json!(vec![1; 100_001]), "Liquid error: the array has more than 100000 items"),
        (json!(words(200, 50_000)), "Liquid error: the array has more than 8192 kB"),
    ] {
        let mut scope = TestScope::with(json!({"V": list}));
        let fault = render_in("{{ Variables.V | sort | size }}", &mut scope).unwrap_err();
        assert_eq!((fault.sqlstate.as_str(), fault.message.as_str()), ("38000", message));
    }
}

#[test]
fn the_deepest_template_fits_into_what_postgresql_keeps_of_the_stack() {
    // Unoptimised frames are several times larger.
    let size = if cfg!(debug_assertions) { 2 << 20 } else { 512 << 10 };
    let work = || {
        let loops = format!("{}{{{{ i }}}}{}", "{% for i in (1..1) %}".repeat(99), "{% endfor %}".repeat(99));
        let ifs = format!("{}x{}", "{% if Variables.Flag %}".repeat(100), "{% endif %}".repeat(100));
        let else_ifs = format!("{{% if a %}}{}x{{% endif %}}", "{% elsif a %}".repeat(200));
        let brackets = format!("{{{{ {}Variables.Name{} }}}}", "Variables[".repeat(99), "]".repeat(99));
        let chain = format!("{{% if {} Variables.Flag %}}x{{% endif %}}", "a or ".repeat(240));
        let captures = format!("{}x{}", "{% capture c %}".repeat(99), "{% endcapture %}".repeat(99));
        for source in [loops, ifs, else_ifs, brackets, chain, captures] {
            let template = LiquidTemplate::compile(&source).unwrap_or_else(|message| panic!("{message}: {source}"));
            // Some templates fault because they read a missing member; the test only requires that each ends.
            let _ = evaluate(&template, &mut scope());
        }
    };
    std::thread::Builder::new().stack_size(size).spawn(work).unwrap().join().unwrap();
}

#[test]
#[should_panic(expected = "canceled")]
fn a_cancel_is_heard() {
    let mut scope = scope();
    scope.limits.interrupted = || true;
    let _ = render_in("{% for i in (1..9000000000000000000) %}{% endfor %}", &mut scope);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_template_or_refused(
        text in "\\PC{0,40}",
        code in "(\\{\\{|\\{%|%\\}|\\}\\}| |if|endif|for|endfor|in|\\(1\\.\\.3\\)|a|Variables\\.Order|\\||json|date|slice|:|,|'x'|-?[0-9]{1,20}|\\.|\\[|\\]|assign|=|sort|==|contains|else|case|when){0,24}",
    ) {
        for source in [text, code] {
            if let Ok(template) = LiquidTemplate::compile(&source) {
                let mut scope = scope();
                scope.limits.time = Duration::from_millis(500);
                let _ = evaluate(&template, &mut scope);
            }
        }
    }

    #[test]
    fn any_filter_takes_any_value(
        value in crate::any_json::any_json(),
        one in "[-a-z0-9%. ]{0,8}",
        number in any::<i64>(),
    ) {
        let mut scope = TestScope::with(json!({"V": value, "One": one, "Number": number}));
        scope.limits.time = Duration::from_millis(500);
        for name in language::language().filters.plugin_names() {
            for arguments in ["", ": Variables.One", ": Variables.Number", ": Variables.V", ": 0", ": Variables.Number, Variables.Number"] {
                if let Ok(template) = LiquidTemplate::compile(&format!("{{{{ Variables.V | {name}{arguments} }}}}")) {
                    let _ = evaluate(&template, &mut scope);
                }
            }
        }
    }
}
