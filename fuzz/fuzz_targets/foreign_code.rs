//! C# and Python: translated code runs, and gives the same result in an input and as a script if both accept it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use workflow_fuzz::run;

fuzz_target!(|source: &str| {
    for (activity, language) in [("RunCSharp", "CSharp"), ("RunPython", "Python")] {
        let expression = json!({ "typeName": "Object", "expression": { "type": language, "value": source } });
        let input = run(json!({ "type": "SetVariable", "variable": "Result", "value": expression }));
        let script = run(json!({ "type": activity, "script": source, "result": { "var": "Result" } }));
        if let (Some(input), Some(script)) = (input, script) {
            assert_eq!(input.status(), script.status());
            assert_eq!(input.variable("Result"), script.variable("Result"));
        }
    }
});
