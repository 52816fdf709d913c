//! Templates: compiled, and rendered within their limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use workflow_fuzz::run;

fuzz_target!(|template: &str| {
    run(json!({ "type": "WriteLine", "text": { "liquid": template } }));
});
