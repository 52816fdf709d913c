//! JSON Schema: `{"schema": …, "value": …}`. An accepted schema checks any value, at a bounded cost.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use workflow_engine::schema::Schema;
use workflow_fuzz::json;
use workflow_fuzz::schemas::SCHEMAS;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    SCHEMAS.mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Some(input) = json::read(data) else { return };
    let part = |name: &str| input.get(name).cloned().unwrap_or_default();
    let schema = Schema::new(part("schema"));
    if schema.check().is_ok()
        && let Err(fault) = schema.accept(&part("value"), "input \"x\"", "/x")
    {
        assert!(["22023", "54000", "54001"].contains(&fault.sqlstate.as_str()), "{fault:?}");
    }
});
