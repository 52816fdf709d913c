//! The words of definitions.

use std::sync::LazyLock;

use serde_json::Value;
use workflow_engine::activities::catalogue::ACTIVITIES;

use crate::json::Vocabulary;

/// Words in definitions other than those of the activities.
const WORDS: [&str; 62] = [
    "definitionId",
    "id",
    "name",
    "version",
    "variables",
    "inputs",
    "outputs",
    "options",
    "outcomes",
    "root",
    "type",
    "activities",
    "connections",
    "source",
    "target",
    "activity",
    "port",
    "vertices",
    "cases",
    "label",
    "states",
    "transitions",
    "entry",
    "exit",
    "trigger",
    "from",
    "to",
    "action",
    "mode",
    "mergeMode",
    "expression",
    "typeName",
    "memoryReference",
    "customProperties",
    "canStartWorkflow",
    "runAsynchronously",
    "metadata",
    "$values",
    "value",
    "required",
    "default",
    "schema",
    "inputSchema",
    "isArray",
    "activationStrategy",
    "js",
    "sql",
    "liquid",
    "var",
    "input",
    "output",
    "object",
    "literal",
    "Variable",
    "JavaScript",
    "Liquid",
    "CSharp",
    "Object",
    "Done",
    "True",
    "A",
    "B",
];

/// The words of definitions: names of activities, inputs and outputs, and an example of each activity.
pub static DEFINITIONS: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut words: Vec<String> = WORDS.map(str::to_owned).to_vec();
    let mut values = Vec::new();
    for descriptor in ACTIVITIES.iter().map(|activity| activity.descriptor()) {
        words.push(descriptor.type_name.to_owned());
        words.extend(descriptor.inputs.iter().map(|input| input.name.to_owned()));
        words.extend(descriptor.outputs.iter().map(|output| output.name.to_owned()));
        words.extend(descriptor.ports.iter().chain(descriptor.outcomes).map(|port| (*port).to_owned()));
        values.push(descriptor.example.parse::<Value>().expect("examples are JSON"));
    }
    Vocabulary { words, values }
});
