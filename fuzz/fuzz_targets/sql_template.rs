//! Parameters in SQL: each is bound, none is inserted into the text, and no value becomes part of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use workflow_engine::expression::sql_template::SqlTemplate;
use workflow_fuzz::run;

fuzz_target!(|source: &str| {
    if let Ok(template) = SqlTemplate::parse(source) {
        assert!(template.is_plain() == (template.statement() == source) || template.statement().contains('$'));
    }
    run(json!({ "type": "SqlQuery", "query": source, "results": { "var": "Result" } }));
    run(json!({ "type": "SetVariable", "variable": "Result", "value": { "sql": source } }));
});
