//! Scripts: text that is no JavaScript is refused before it runs, any other text runs within its limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use workflow_engine::expression::javascript;
use workflow_engine::instance::SubStatus;
use workflow_fuzz::run;

fuzz_target!(|source: &str| {
    let checked = javascript::check(source);
    let ran = run(json!({ "type": "RunJavaScript", "script": source, "result": { "var": "Result" } }));
    if let (Err(_), Some(world)) = (checked, ran) {
        assert_eq!(world.status(), SubStatus::Faulted, "it ran although it is no JavaScript");
    }
});
