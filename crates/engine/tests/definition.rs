//! Definitions: what the reader accepts, what it refuses and where, and the content of an export.

use std::sync::Arc;

use serde_json::{Value, json};
use workflow_engine::Program;
use workflow_engine::activities::catalogue;
use workflow_engine::activity::FurtherOutcomes;
use workflow_engine::definition::{
    ActivityTypes, CustomType, Problem, ProblemKind, ReadLimits, Refusal, WorkflowReference, compile, export, identity,
    same_content, validate,
};
use workflow_engine::expression::{ExpressionKind, ObjectTemplate};
use workflow_engine::program::{
    Activation, Binding, IncidentStrategy, MaxConcurrency, Node, SearchAttribute, SearchKind, SearchSource, Security,
};

/// Two types that are registered in SQL.
struct Registered;

impl ActivityTypes for Registered {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        match type_name {
            "Acme.Approve" => Some(CustomType::default()),
            "Acme.RowAdded" => {
                Some(CustomType { trigger: true, outputs: Some(vec!["row".into()]), ..CustomType::default() })
            }
            _ => None,
        }
    }

    fn workflow(&self, reference: &WorkflowReference) -> Result<Option<Arc<Program>>, Refusal> {
        let numbers = [json!({"name": "a", "type": "Int32"}), json!({"name": "b", "type": "Int32"})];
        let add = json!({"definitionId": "add-numbers", "inputs": numbers, "outputs": [{"name": "sum"}], "root": []});
        Ok((reference.definition_id.as_deref() == Some("add-numbers")).then(|| Arc::new(program(&add))))
    }
}

fn try_compile(document: &Value) -> Result<Program, Vec<Problem>> {
    compile(document, &Registered, &ReadLimits { is_new: true, ..ReadLimits::default() }, false)
}

#[track_caller]
fn program(document: &Value) -> Program {
    try_compile(document).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// The problems of a document as `path: message`.
#[track_caller]
fn problems(document: &Value) -> Vec<String> {
    match try_compile(document) {
        Ok(program) => panic!("no problem: {program:#?}"),
        Err(problems) => problems.iter().map(|p| format!("{}: {}", p.path, p.message)).collect(),
    }
}

/// A definition with this root in short form.
fn with_root(root: Value) -> Value {
    json!({"definitionId": "d", "root": root})
}

#[track_caller]
fn problems_of_root(root: Value) -> Vec<String> {
    problems(&with_root(root))
}

#[track_caller]
fn node<'p>(program: &'p Program, id: &str) -> &'p Node {
    program.node(program.find(id).unwrap_or_else(|| panic!("no activity {id}")))
}

/// Compiles, exports, compiles again and compares; returns the export.
#[track_caller]
fn round_trip(document: &Value) -> Value {
    let before = program(document);
    let exported = export(document, &before.definition_id, 7, true, false, &Registered);
    let after = program(&exported);
    assert_eq!(described(&before), described(&after), "{exported:#}");
    assert_eq!(exported["version"], 7);
    assert_eq!(exported["isPublished"], false);
    let again = export(&exported, &before.definition_id, 7, true, false, &Registered);
    assert_eq!(exported, again, "an export is exported unchanged");
    exported
}

/// A program as text, without its map in random order.
fn described(program: &Program) -> String {
    let Program {
        definition_id,
        version_id: _,
        name,
        options,
        variables,
        inputs,
        outputs,
        input_schema,
        nodes,
        by_id,
        uses_sql,
        ..
    } = program;
    let by_id: std::collections::BTreeMap<_, _> = by_id.iter().collect();
    format!(
        "{definition_id:?} {name:?} {options:?} {variables:?} {inputs:?} {outputs:?} {input_schema:?} {nodes:#?} {by_id:?} {uses_sql}"
    )
}

#[test]
fn the_short_form_is_a_program() {
    let document = json!({
        "definitionId": "leave", "name": "Leave",
        "variables": {"Decision": null, "Days": 3},
        "outputs": [{"name": "Granted", "type": "Boolean"}],
        "root": [
            {"type": "Event", "eventName": "LeaveRequested", "canStartWorkflow": true, "result": {"var": "Decision"}},
            {"type": "If", "condition": {"sql": "variables->>'Decision' = 'yes'"},
             "then": [{"type": "WriteLine", "text": "granted"}, {"type": "WriteLine", "text": {"js": "'days: ' + getDays()"}}],
             "else": {"type": "WriteLine", "id": "no", "text": "refused"}}
        ]
    });
    let program = program(&document);
    let ids: Vec<_> = program.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["Sequence1", "Event1", "If1", "Sequence2", "WriteLine1", "WriteLine2", "no"]);
    assert_eq!(node(&program, "WriteLine2").node_id, "Workflow1:Sequence1:If1:Sequence2:WriteLine2");
    assert_eq!(node(&program, "WriteLine2").depth, 3);
    assert!(node(&program, "Event1").can_start_workflow);
    assert_eq!(node(&program, "Event1").outputs, [Some(Binding::Variable("Decision".into()))]);
    assert!(node(&program, "If1").uses_sql && program.uses_sql);
    assert!(!node(&program, "WriteLine1").uses_sql);
    assert_eq!(program.variables[1].initial, Value::Null);
    assert_eq!(program.variables[0].initial, json!(3));
    let exported = round_trip(&document);
    let event = &exported["root"]["activities"][0];
    assert_eq!(event["type"], "Elsa.Event");
    assert_eq!(event["customProperties"]["canStartWorkflow"], true);
    assert_eq!(event["eventName"]["expression"], json!({"type": "Literal", "value": "LeaveRequested"}));
    assert_eq!(event["result"]["memoryReference"], json!({"id": "Decision"}));
    assert_eq!(exported["root"]["activities"][1]["condition"]["expression"]["type"], "Sql");
}

/// A definition in Elsa's form, with members that old versions wrote.
fn elsa() -> Value {
    serde_json::from_str(ELSA).expect("valid JSON")
}

const ELSA: &str = r#"{
        "$schema": "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json",
        "id": "v1", "definitionId": "order", "name": "Order", "version": 3, "toolVersion": "3.2.0.0",
        "variables": [
            {"id": "v-total", "name": "Total", "typeName": "Int32", "isArray": false, "value": "12"},
            {"id": "v-tags", "name": "Tags", "typeName": "String", "isArray": true, "value": "[\"a\"]"}],
        "inputs": [{"type": "String", "name": "Customer", "uiHint": "singleline", "isArray": false}],
        "outputs": [{"type": "Object", "name": "Paid"}],
        "isLatest": true, "isPublished": true, "someNewMember": {"js": 1},
        "options": {"autoUpdateConsumingWorkflows": false,
            "activationStrategyType": "Elsa.Workflows.Runtime.ActivationValidators.CorrelatedSingletonStrategy, Elsa.Workflows.Runtime",
            "incidentStrategyType": "Elsa.Workflows.IncidentStrategies.ContinueWithIncidentsStrategy, Elsa.Workflows.Core"},
        "root": {
            "type": "Elsa.Flowchart", "version": 1, "id": "fc", "nodeId": "Workflow1:fc", "start": "ev",
            "metadata": {}, "customProperties": {"notFoundConnections": [], "canStartWorkflow": false},
            "activities": {"$id": "1", "$values": [
                {"id": "ev", "type": "Elsa.Event", "version": 1, "eventNmae": "no typo in Elsa's form",
                 "eventName": {"typeName": "String", "expression": {"type": "Literal", "value": "Placed"},
                               "memoryReference": {"id": "ev:input-0"}},
                 "result": {"typeName": "Object", "memoryReference": {"id": "v-total"}},
                 "customProperties": {"canStartWorkflow": true, "runAsynchronously": false},
                 "metadata": {"designer": {"position": {"x": -1.50, "y": 1e400}}}},
                {"id": "dec", "type": "Elsa.FlowDecision", "version": 1, "canStartWorkflow": false,
                 "condition": {"typeName": "Boolean", "expression": {"type": "JavaScript", "value": "getTotal() > 1"}}},
                {"id": "set", "type": "Elsa.SetVariable", "version": 1,
                 "variable": {"id": "v-total", "name": "Old name", "typeName": "Int32"},
                 "value": {"typeName": "Object", "expression": {"type": "Variable", "value": {"id": "v-tags", "name": "Tags"}}}},
                {"id": "sw", "type": "Elsa.FlowSwitch", "version": 1,
                 "mode": {"typeName": "Elsa.SwitchMode", "expression": {"type": "Literal"}},
                 "cases": [{"label": "Big", "condition": {"type": "JavaScript", "value": "true"}},
                           {"label": "Never", "condition": {"type": "Literal"}}]},
                {"id": "out", "type": "Elsa.SetOutput", "version": 1,
                 "outputName": {"typeName": "String", "expression": {"type": "Literal", "value": "Paid"}},
                 "outputValue": {"typeName": "Object", "expression": {"type": "Object", "value": "{\"a\": 1.10}"}}},
                {"id": "line", "type": "Elsa.WriteLine", "version": 1, "text": null}
            ]},
            "connections": [
                {"source": {"activity": "ev", "port": "Done"}, "target": {"activity": "dec", "port": "In"}, "vertices": []},
                {"Source": {"Activity": "dec", "Port": "True"}, "Target": {"Activity": "set", "Port": "In"}},
                {"source": "set", "target": "sw", "sourcePort": null, "targetPort": "In"},
                {"source": {"activity": "sw", "port": "Big"}, "target": {"activity": "out"}}
            ]
        }
    }"#;

#[test]
fn elsa_json_with_legacy_forms_is_a_program() {
    let program = program(&elsa());
    assert_eq!(program.options.activation, Activation::CorrelatedSingleton);
    assert_eq!(program.options.incidents, IncidentStrategy::ContinueWithIncidents);
    assert_eq!(program.variables[0].initial, json!(12));
    assert_eq!(program.variables[1].initial, json!(["a"]));
    assert_eq!(node(&program, "ev").outputs, [Some(Binding::Variable("Total".into()))]);
    assert_eq!(node(&program, "set").variable.as_deref(), Some("Total"));
    let value = node(&program, "set").inputs[0].as_ref().map(|input| &input.kind);
    assert_eq!(value, Some(&ExpressionKind::Variable("Tags".into())));
    assert_eq!(node(&program, "line").inputs, [None]);
    assert_eq!(node(&program, "sw").part_list(0).len(), 2);
    let never = node(&program, "sw").part_list(0)[1].condition.as_ref().expect("a condition");
    assert_eq!(never.kind, ExpressionKind::Literal(json!(false)));
    let flow = node(&program, "fc").flow.as_ref().map(|flow| format!("{flow:?}")).unwrap_or_default();
    for port in ["Done", "True", "Big"] {
        assert!(flow.contains(&format!("\"{port}\"")), "{flow}");
    }
    let written = format!("{:?}", node(&program, "out").inputs[1]);
    assert!(written.contains("1.10"), "numbers stay as they are: {written}");
}

#[test]
fn an_elsa_document_keeps_everything_when_exported() {
    let document = elsa();
    let exported = round_trip(&document);
    let before = &document["root"]["activities"]["$values"];
    for (at, activity) in before.as_array().into_iter().flatten().enumerate() {
        for (key, value) in activity.as_object().into_iter().flatten() {
            if key != "customProperties" {
                assert_eq!(&exported["root"]["activities"][at][key], value, "{key}");
            }
        }
    }
    assert_eq!(exported["someNewMember"], document["someNewMember"]);
    assert_eq!(exported["options"], document["options"]);
    assert_eq!(exported["toolVersion"], "3.2.0.0");
}

#[test]
fn both_forms_mix_at_any_depth() {
    let mut document = elsa();
    document["root"]["activities"]["$values"][5] = json!(
        [{"type": "WriteLine", "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": "1"}}},
         {"type": "Elsa.WriteLine", "text": {"var": "Total"}}]);
    let program = program(&document);
    assert_eq!(node(&program, "Sequence1").children.len(), 2);
    round_trip(&document);
}

#[test]
fn all_problems_are_reported_with_their_places() {
    let found = problems(&json!({
        "name": "Bad", "version": 0, "variables": [{"name": "A"}, {"name": "A"}, 3],
        "options": {"activationStrategy": "Sometimes"},
        "root": {"type": "Flowchart",
            "activities": [
                {"type": "Sql", "id": "e"},
                {"type": "PublishWebhook", "items": [1]},
                {"type": "WriteLine", "id": "e", "text": {"typeName": "String", "expression": {"type": "CSharp", "value": "1 + 1"}}},
                {"type": "WriteLine", "txt": "x", "text": {"var": "Missing"}},
                {"type": "Elsa.RunCSharp", "id": "a/b~c", "script": "Outcome.Set(\"x\");"},
                7,
                {"text": "no type"}],
            "connections": [["e", "nowhere"], ["e"], {"source": {"activity": "e"}}]}
    }));
    let expected = [
        "/version: \"version\" must be a positive integer",
        "/options/activationStrategy: unknown activation strategy \"Sometimes\"",
        "/variables/2: a variable must be an object, not a number",
        "/variables: variable \"A\" is declared twice",
        "/root/activities/1: activity type \"PublishWebhook\" is not supported",
        "/root/activities/2: duplicate activity id \"e\"",
        "/root/activities/5: an activity must be an object or an array of activities, not a number",
        "/root/activities/6: an activity needs a \"type\"",
        "/root/connections/0: the flowchart has no activity with id \"nowhere\"",
        "/root/connections/1: a connection must be",
        "/root/connections/2: a connection must be",
        "/root/activities/0/statement: missing input \"statement\"",
        "/root/activities/2/text: expression type \"CSharp\" cannot run in the database",
        "/root/activities/3/text: variable \"Missing\" is not declared",
        "/root/activities/3/txt: unknown member \"txt\" of activity type \"Elsa.WriteLine\"; known are text",
        "/root/activities/4/script: expression type \"CSharp\" cannot run in the database",
    ];
    for expected in expected {
        assert!(found.iter().any(|problem| problem.starts_with(expected)), "{expected}\n{found:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
}

#[test]
fn members_that_mean_nothing_are_refused_in_the_short_form() {
    assert_eq!(
        problems_of_root(json!({"type": "Event", "eventName": "A", "resutl": {"var": "X"}})),
        ["/root/resutl: unknown member \"resutl\" of activity type \"Elsa.Event\" (did you mean \"result\"?)"]
    );
    let found = problems_of_root(json!({"type": "WriteLine", "assignee": {"js": "1"}}));
    assert_eq!(
        found,
        ["/root/assignee: unknown member \"assignee\" of activity type \"Elsa.WriteLine\"; known are text"]
    );
    assert_eq!(
        problems(&json!({"name": "A", "input": [], "root": []})),
        ["/input: unknown member \"input\" of the definition (did you mean \"inputs\"?)"]
    );
    program(&with_root(json!({"type": "WriteLine", "text": "x", "title": "T", "$comment": 1, "_x": 2})));
    let found = problems_of_root(json!({"type": "WritLine"}));
    assert_eq!(found, ["/root: unknown activity type \"WritLine\" (did you mean \"WriteLine\"?)"]);
}

/// Definitions that would do nothing or fault at run time if the reader accepted them, each with its one problem.
fn idle() -> Vec<(Value, &'static str)> {
    let root = with_root;
    vec![
        (root(json!({"type": "Parallel", "branches": []})), "/root/branches: unknown member \"branches\""),
        (root(json!({"type": "Fork", "activities": []})), "/root/activities: unknown member \"activities\""),
        (root(json!({"type": "While", "condition": true, "activities": []})), "/root/activities: unknown member"),
        (root(json!({"type": "If", "condition": true, "do": []})), "/root/do: unknown member"),
        (root(json!({"type": "If", "then": []})), "/root/condition: missing input \"condition\""),
        (root(json!({"type": "Delay"})), "/root/timeSpan: missing input \"timeSpan\""),
        (root(json!({"type": "Timer", "canStartWorkflow": true})), "/root/interval: missing input"),
        (
            root(json!({"type": "Event", "name": "Paid"})),
            "/root/eventName: missing input \"eventName\" of activity type \"Elsa.Event\" (\"name\"",
        ),
        (root(json!({"type": "RunTask", "name": "approve"})), "/root/taskName: missing input"),
        (root(json!({"type": "RunTask", "taskName": " "})), "/root/taskName: \"taskName\" must not be empty"),
        (root(json!({"type": "RunTask", "taskName": "a", "queue": "q"})), "/root/queue: unknown member \"queue\""),
        (root(json!({"type": "RunTask", "taskName": "a", "retryPolicy": {}})), "/root/retryPolicy: unknown member"),
        (
            root(json!({"type": "Switch", "cases": [{"label": "a", "condition": true, "then": []}]})),
            "/root/cases/0/then: unknown member",
        ),
        (
            root(json!({"type": "ForEach", "items": [1], "body": {"type": "WriteLine", "text": {"var": "Nope"}}})),
            "/root/body/text: variable \"Nope\" is not declared, and no activity sets it",
        ),
        (
            root(json!({"type": "WriteLine", "text": {"js": "getVariable('Nope')"}})),
            "/root/text/js: variable \"Nope\" is not declared",
        ),
        (
            root(json!({"type": "Flowchart", "activities": [{"id": "a", "type": "Start"}, {"id": "b", "type": "End"}],
                "connections": [{"source": "a", "target": "b", "condition": true}]})),
            "/root/connections/0/condition: unknown member \"condition\" of a connection",
        ),
        (
            json!({"name": "A", "options": {"retries": 3}, "root": []}),
            "/options/retries: unknown member \"retries\" of the options",
        ),
        (json!({"name": "A", "steps": [], "root": []}), "/steps: unknown member \"steps\" of the definition"),
        (json!({"name": "A", "outcomes": ["x"], "steps": [], "root": []}), "/steps: unknown member"),
        (
            json!({"name": "A", "inputs": [{"name": "n", "type": "bigint"}], "root": []}),
            "/inputs/0/type: unknown type \"bigint\" (did you mean \"Int64\"?)",
        ),
        (
            json!({"name": "A", "inputs": [{"name": "n", "displayName": "N", "min": 3}], "root": []}),
            "/inputs/0/min: unknown member",
        ),
        (
            json!({"name": "A", "outputs": [{"name": "n", "type": "Strin"}], "root": []}),
            "/outputs/0/type: unknown type \"Strin\" (did you mean \"String\"?)",
        ),
        (
            json!({"name": "A", "variables": [{"name": "n", "type": "text"}], "root": []}),
            "/variables/0/type: unknown type \"text\" (did you mean \"String\"?)",
        ),
        (
            json!({"name": "A", "variables": [{"name": "n", "initial": 1}], "root": []}),
            "/variables/0/initial: unknown member",
        ),
        (
            json!({"name": "A", "inputs": [{"name": "amount"}], "root": {"type": "WriteLine", "text": {"input": "amuont"}}}),
            "/root/text: input \"amuont\" is not declared (did you mean \"amount\"?)",
        ),
        (
            json!({"name": "A", "inputs": [{"name": "amount"}], "root": {"type": "WriteLine", "text": {"js": "getInput('sum')"}}}),
            "/root/text/js: input \"sum\" is not declared",
        ),
        (
            json!({"name": "A", "inputs": [{"name": "amount"}], "root": {"type": "WriteLine", "text": {"js": "getAmuont()"}}}),
            "/root/text/js: getAmuont() does not exist: no variable or input \"Amuont\" is declared (did you mean \"getAmount()\"?)",
        ),
    ]
}

#[test]
fn what_would_do_nothing_is_refused_where_it_is_new() {
    for (document, expected) in idle() {
        let found = problems(&document);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{expected}\n{found:#?}");
        let stored = compile(&document, &Registered, &ReadLimits::default(), false);
        let named = document.pointer("/root/body").is_none();
        assert!(stored.is_ok() || !named, "what is stored is read as it was: {document}\n{stored:#?}");
    }
}

#[test]
fn what_would_do_nothing_is_left_alone_in_elsas_form() {
    let marks = [
        json!({"version": 1}),
        json!({"nodeId": "Workflow1:r"}),
        json!({"metadata": {}}),
        json!({"customProperties": {"future": {}}}),
    ];
    for (document, _) in idle() {
        for mark in &marks {
            let mut document = document.clone();
            if let (Value::Object(root), Value::Object(mark)) = (&mut document["root"], mark) {
                root.extend(mark.clone());
                assert!(try_compile(&document).is_ok(), "{document}\n{:#?}", try_compile(&document));
            }
        }
    }
    let wrapped = json!({"type": "Elsa.RunTask", "taskName": {"typeName": "String", "expression": {"type": "Literal", "value": "a"}}, "assignee": "b"});
    assert!(try_compile(&with_root(wrapped)).is_ok());
    let tools = json!({"name": "A", "toolVersion": "3.8", "futureMember": 1, "inputs": [{"name": "n", "type": "Order"}], "root": {"type": "Elsa.Delay", "future": 1}});
    assert!(try_compile(&tools).is_ok());
}

#[test]
fn what_a_script_may_set_is_no_mistake() {
    for script in ["setVariable('Late', 1)", "setLate(1)", "variables.Late = 1", "setVariable(getInput('name'), 1)"] {
        let document = with_root(json!([
            {"type": "RunJavaScript", "script": script},
            {"type": "WriteLine", "text": {"js": "getVariable('Late')"}},
            {"type": "WriteLine", "text": {"js": "getLate()"}}]));
        program(&document);
    }
    for script in [
        "getCurrentValue() + getVariable('CurrentIndex')",
        "getLastResult()",
        "getResultFromW()",
        "function getOwn() {} getOwn()",
    ] {
        program(&json!({"name": "A", "inputs": [{"name": "n"}], "variables": {"my var": 1}, "root":
            {"type": "ForEach", "items": [1], "body": [{"type": "WriteLine", "text": {"js": script}}, {"type": "WriteLine", "text": {"js": "getMyVar() + getN() + getInput('ScheduledAt')"}}]}}));
    }
    let validated = workflow_engine::definition::validate(
        &with_root(
            json!([{"type": "WriteLine", "text": {"js": "getNope()"}}, {"type": "Sql", "statement": "SELECT {{Input.x}}"}]),
        ),
        &Registered,
        &ReadLimits { is_new: true, ..ReadLimits::default() },
        false,
    );
    assert!(validated.program.is_ok());
    // Any input is allowed, but Sql does not replace names in braces.
    let warned: Vec<&str> = validated.warnings.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(warned, ["/root/1/statement", "/root/0/text/js"]);
    assert_eq!((validated.sql[0].path.as_str(), validated.sql[0].text.as_str()), ("/root/1/statement", "SELECT $1"));
}

#[test]
fn unknown_types_are_stored_where_that_is_allowed() {
    let document =
        with_root(json!([{"type": "Mystery", "text": {"type": "CSharp"}}, {"type": "WriteLine", "text": "x"}]));
    let program = compile(&document, &Registered, &ReadLimits::default(), true).expect("allowed");
    assert_eq!(node(&program, "Mystery1").type_name, "Mystery");
    let Err(found) = try_compile(&document) else { panic!("refused otherwise") };
    assert_eq!(found[0].kind, ProblemKind::Unsupported);
    let exported = export(&document, "d", 1, true, true, &Registered);
    assert_eq!(exported["root"]["activities"][0]["text"], json!({"type": "CSharp"}));
}

#[test]
fn an_object_is_an_expression_only_by_its_one_key() {
    let document = json!({
        "definitionId": "d", "variables": {"X": {"literal": {"js": "not code"}}, "Y": {"a": 1, "b": [true]}},
        "root": [
            {"type": "SetVariable", "variable": "X", "value": {"object": {"a": [{"js": "1"}, {"var": "Y"}], "b": {"literal": {"sql": "no"}}}}},
            {"type": "SetVariable", "variable": "X", "value": {"object": {"a": {"literal": 1}}}},
            {"type": "SetVariable", "variable": "X", "value": {"js": "1", "other": 2}},
            {"type": "SetVariable", "variable": "X", "value": {"literal": {"js": "text"}}},
            {"type": "SetVariable", "variable": "X", "value": {"literal": [1, {"js": "plain"}]}},
            {"type": "SetVariable", "variable": "X", "value": {"input": "Customer"}}]
    });
    let program = program(&document);
    assert_eq!(program.variables[0].initial, json!({"js": "not code"}));
    let kinds: Vec<_> = program.nodes.iter().flat_map(|node| &node.inputs).flatten().map(|input| &input.kind).collect();
    assert!(matches!(kinds[0], ExpressionKind::Object(ObjectTemplate::Object(_))));
    assert_eq!(kinds[1], &ExpressionKind::Literal(json!({"a": 1})));
    assert_eq!(kinds[2], &ExpressionKind::Literal(json!({"js": "1", "other": 2})));
    assert_eq!(kinds[3], &ExpressionKind::Literal(json!({"js": "text"})));
    assert_eq!(kinds[4], &ExpressionKind::Literal(json!([1, {"js": "plain"}])));
    assert_eq!(kinds[5], &ExpressionKind::Input("Customer".into()));
    round_trip(&document);
    let found = problems(&json!({"name": "a", "variables": {"X": {"sql": "now()"}}, "root": []}));
    assert_eq!(found, ["/variables/X: an initial value must be a constant, not an expression \"sql\""]);
}

#[test]
fn parameters_of_sql_are_expressions() {
    let document = json!({"definitionId": "d", "variables": {"Rows": []}, "root":
        {"type": "Sql", "statement": "SELECT $1, $2", "parameters": [{"input": "a"}, 2], "result": {"var": "Rows"}}});
    let program = program(&document);
    let parameters = node(&program, "Sql1").inputs[1].as_ref().map(|input| &input.kind);
    assert!(matches!(parameters, Some(ExpressionKind::Object(ObjectTemplate::Array(list))) if list.len() == 2));
    assert!(program.uses_sql);
    round_trip(&document);
}

#[test]
fn variables_are_looked_up_by_scope() {
    let document = json!({
        "definitionId": "d", "variables": [{"id": "v1", "name": "Outer"}], "outputs": [{"name": "Done"}],
        "root": {"type": "Sequence", "variables": [{"id": "v2", "name": "Inner", "typeName": "Int32", "value": 5}],
            "activities": [
                {"type": "Event", "eventName": "a", "result": {"typeName": "Object", "memoryReference": {"id": "v2"}}},
                {"type": "Event", "eventName": "b", "result": {"output": "Done"}},
                {"type": "Event", "eventName": "c", "result": {"typeName": "Object", "memoryReference": {"id": "x:output-1"}}},
                {"type": "ForEach", "items": [1], "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}]}
    });
    let program = program(&document);
    assert_eq!(node(&program, "Event1").outputs, [Some(Binding::Variable("Inner".into()))]);
    assert_eq!(node(&program, "Event2").outputs, [Some(Binding::Output("Done".into()))]);
    assert_eq!(node(&program, "Event3").outputs, [None]);
    assert_eq!(node(&program, "Sequence1").variables[0].initial, json!(5));
    round_trip(&document);
    let outside = with_root(
        json!([{"type": "Sequence", "variables": {"Inner": 1}}, {"type": "WriteLine", "text": {"var": "Inner"}}]),
    );
    assert_eq!(problems(&outside), ["/root/1/text: variable \"Inner\" is not declared"]);
}

#[test]
fn custom_activities_take_what_is_written() {
    let document = json!({"definitionId": "d", "variables": {"Who": "x", "Row": null}, "root": [
        {"type": "Acme.RowAdded", "table": "orders", "row": {"var": "Row"}, "canStartWorkflow": true},
        {"type": "Acme.Approve", "approver": {"var": "Who"}, "amount": 3, "result": {"var": "Row"},
         "limit": {"typeName": "Int32", "expression": {"type": "Literal", "value": "5"}},
         "out": {"typeName": "Object", "memoryReference": {"id": "Row"}}}]});
    let program = program(&document);
    let added = node(&program, "RowAdded1");
    assert!(added.can_start_workflow && added.uses_sql);
    assert_eq!(added.custom_outputs, [("row".to_owned(), Binding::Variable("Row".into()))]);
    let names = |node: &Node| node.custom_inputs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(added), ["table"]);
    let approve = node(&program, "Approve1");
    assert_eq!(names(approve), ["amount", "approver", "limit"]);
    assert_eq!(approve.custom_inputs[2].1.kind, ExpressionKind::Literal(json!(5)));
    let outputs: Vec<_> = approve.custom_outputs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(outputs, ["approver", "out", "result"]);
    round_trip(&document);
}

#[test]
fn options_in_the_short_form() {
    let document = json!({"name": "a", "root": [], "options": {"activationStrategy": "Correlated",
        "incidentStrategy": "ContinueWithIncidents", "security": "definer"}});
    let program = program(&document);
    assert_eq!(program.options.activation, Activation::Correlated);
    assert_eq!(program.options.security, Security::Definer);
    let exported = round_trip(&document);
    assert_eq!(
        exported["options"]["activationStrategyType"],
        "Elsa.Workflows.Runtime.ActivationValidators.CorrelationStrategy, Elsa.Workflows.Runtime"
    );
}

#[test]
fn a_switch_has_cases_with_activities() {
    let document = with_root(json!({"type": "Switch", "cases": [
        {"label": "a", "condition": {"js": "1"}, "activity": {"type": "WriteLine", "text": "a"}},
        {"label": "b", "condition": true, "activity": [{"type": "WriteLine", "text": "b"}]},
        {"condition": {"type": "JavaScript", "value": "0"}}],
        "default": {"type": "WriteLine", "text": "none"}}));
    let program = program(&document);
    let switch = node(&program, "Switch1");
    assert_eq!(switch.part_list(0).len(), 3);
    assert_eq!(switch.part_list(0)[1].port(0), program.find("Sequence1"));
    assert_eq!(switch.ports, [program.find("WriteLine3")]);
    round_trip(&document);
    let found = problems_of_root(json!({"type": "Switch", "cases": [1, {"label": "x"}]}));
    assert_eq!(
        found,
        ["/root/cases/0: a case must be an object, not a number", "/root/cases/1: a case needs a \"condition\""]
    );
}

#[test]
fn short_connections_name_outcomes() {
    let chart = |connections: Value| {
        with_root(json!({"type": "Flowchart", "connections": connections, "activities": [
            {"id": "d", "type": "FlowDecision", "condition": {"js": "1"}},
            {"id": "a", "type": "WriteLine", "text": "x"}]}))
    };
    round_trip(&chart(json!([["d", "True", "a"], ["a", "d"]])));
    let found = problems(&chart(json!([["d", "true", "a"]])));
    assert_eq!(found, ["/root/connections/0: unknown outcome \"true\" (did you mean \"True\"?)"]);
    assert!(problems(&chart(json!("x")))[0].starts_with("/root/connections: \"connections\" must be an array"));
}

#[test]
fn connections_that_elsa_put_aside_come_back() {
    let document = with_root(json!({"type": "Elsa.Flowchart", "version": 1,
        "customProperties": {"notFoundConnections": [{"source": {"activity": "a"}, "target": {"activity": "b"}}, 7]},
        "activities": [{"id": "a", "type": "WriteLine"}, {"id": "b", "type": "WriteLine"}], "connections": []}));
    let flow = format!("{:?}", program(&document).nodes[0].flow);
    assert!(flow.contains("Done"), "{flow}");
}

#[test]
fn deep_nesting_is_refused_without_recursion() {
    let mut root = json!({"type": "WriteLine", "text": "x"});
    for _ in 0..499 {
        root = json!({"type": "Sequence", "activities": [root]});
    }
    let document = with_root(root.clone());
    assert_eq!(program(&document).nodes.len(), 500);
    round_trip(&document);
    let document = with_root(json!([root]));
    let Err(found) = try_compile(&document) else { panic!("too deep") };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, ProblemKind::TooDeep);
    assert!(found[0].path.starts_with("/root/0/activities/0/"));
}

#[test]
fn deep_constants_are_refused() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!([value]));
    let set = |value: Value| json!({"name": "a", "variables": {"X": 1}, "root": {"type": "SetVariable", "variable": "X", "value": value}});
    round_trip(&set(nested(490)));
    round_trip(&set(json!({"object": nested(490)})));
    for document in [
        set(nested(600)),
        set(json!({"object": nested(600)})),
        set(json!({"typeName": "Object", "expression":
        {"type": "Object", "value": format!("{}{}", "[".repeat(5000), "]".repeat(5000))}})),
    ] {
        let Err(found) = try_compile(&document) else { panic!("too deep") };
        assert_eq!(found[0].kind, ProblemKind::TooDeep, "{found:?}");
        export(&document, "a", 1, true, true, &Registered);
    }
}

#[test]
fn wrong_shapes_anywhere_are_problems() {
    let shapes = [
        json!(null),
        json!(true),
        json!(1e300),
        json!("x"),
        json!([]),
        json!({}),
        json!([[]]),
        json!({"$values": 1}),
        json!([null]),
    ];
    let pointers = [
        "",
        "/definitionId",
        "/name",
        "/version",
        "/variables",
        "/variables/0",
        "/variables/0/id",
        "/variables/0/value",
        "/variables/0/typeName",
        "/inputs",
        "/inputs/0",
        "/inputs/0/name",
        "/outputs",
        "/outputs/0/type",
        "/options",
        "/options/activationStrategyType",
        "/root",
        "/root/type",
        "/root/id",
        "/root/activities",
        "/root/activities/$values",
        "/root/activities/$values/0",
        "/root/activities/$values/0/eventName",
        "/root/activities/$values/0/eventName/expression",
        "/root/activities/$values/0/eventName/expression/type",
        "/root/activities/$values/0/eventName/expression/value",
        "/root/activities/$values/0/result",
        "/root/activities/$values/0/result/memoryReference",
        "/root/activities/$values/0/customProperties",
        "/root/activities/$values/0/customProperties/canStartWorkflow",
        "/root/activities/$values/2/variable",
        "/root/activities/$values/2/variable/id",
        "/root/activities/$values/2/value/expression/value",
        "/root/activities/$values/3/cases",
        "/root/activities/$values/3/cases/0",
        "/root/activities/$values/3/cases/0/label",
        "/root/activities/$values/3/cases/0/condition",
        "/root/activities/$values/3/cases/0/condition/type",
        "/root/activities/$values/3/cases/0/condition/value",
        "/root/connections",
        "/root/connections/0",
        "/root/connections/0/source",
        "/root/connections/0/source/activity",
        "/root/connections/0/source/port",
    ];
    for pointer in pointers {
        for shape in &shapes {
            let mut document = elsa();
            *document.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = shape.clone();
            if let Err(found) = try_compile(&document) {
                assert!(!found.is_empty());
                for problem in found {
                    assert!(
                        document.pointer(&problem.path).is_some() || problem.message.starts_with("missing"),
                        "{pointer} {shape}: {problem:?}"
                    );
                }
            } else if document.is_object() {
                round_trip(&document);
            }
            export(&document, "d", 1, true, true, &Registered);
        }
    }
}

#[test]
fn identity_is_definition_id_then_id_then_name() {
    let id =
        |document: Value| identity(&document).map(|identity| identity.definition_id).map_err(|problem| problem.path);
    assert_eq!(id(json!({"definitionId": "a", "id": "b", "name": "c"})), Ok("a".into()));
    assert_eq!(id(json!({"definitionId": "", "id": "b", "name": "c"})), Ok("b".into()));
    assert_eq!(id(json!({"name": "c"})), Ok("c".into()));
    assert_eq!(id(json!({})), Err(String::new()));
    assert_eq!(id(json!({"definitionId": 5})), Err("/definitionId".into()));
    assert_eq!(id(json!([])), Err(String::new()));
    assert_eq!(identity(&json!({"name": "c", "version": 2.0})).map(|identity| identity.version), Ok(Some(2)));
}

#[test]
fn export_changes_only_form_and_bookkeeping() {
    let document = elsa();
    let exported = export(&document, "order", 9, false, true, &Registered);
    assert!(same_content(&exported, &export(&exported, "order", 10, true, false, &Registered)));
}

#[test]
fn a_hundred_thousand_activities_compile_in_linear_time() {
    let line = |at: usize| json!({"type": "WriteLine", "text": format!("{at}")});
    let document = with_root(Value::Array((0..100_000).map(line).collect()));
    let begin = cpu_time::ThreadTime::now();
    assert_eq!(program(&document).nodes.len(), 100_001);
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
    let bad = with_root(Value::Array((0..5_000).map(|_| json!({"type": "Nothing"})).collect()));
    let Err(found) = try_compile(&bad) else { panic!("unknown types") };
    assert_eq!(found.len(), 1001);
}

#[test]
fn every_example_of_the_catalogue_is_a_definition() {
    for activity in workflow_engine::activities::catalogue::ACTIVITIES {
        let descriptor = activity.descriptor();
        let example: Value = serde_json::from_str(descriptor.example).expect("valid JSON");
        let names =
            ["Total", "Rows", "Payment", "Result", "Decision", "Answer", "Item", "Name", "Stock", "Invoice", "Tries"];
        let variables: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
        round_trip(&json!({"definitionId": "d", "variables": variables, "root": [example]}));
    }
}

#[test]
fn a_plain_text_stays_text_where_anything_may_stand() {
    let document = json!({"definitionId": "d", "variables": {"X": "[1"}, "root":
        {"type": "SetVariable", "variable": "X", "value": "{not JSON"}});
    let program = program(&document);
    assert_eq!(program.variables[0].initial, json!("[1"));
    let value = node(&program, "SetVariable1").inputs[0].as_ref().map(|input| &input.kind);
    assert_eq!(value, Some(&ExpressionKind::Literal(json!("{not JSON"))));
    round_trip(&document);
}

#[test]
fn a_script_is_constant_text_and_text_when_it_is_exported() {
    let elsa = json!({"typeName": "String", "expression": {"type": "Literal", "value": "setOutcome('A')"}});
    for script in [json!("setOutcome('A')"), json!({"js": "setOutcome('A')"}), elsa.clone()] {
        let document = with_root(json!({"id": "r", "type": "RunJavaScript", "script": script}));
        let compiled = program(&document);
        let read = node(&compiled, "r").inputs[0].as_ref().expect("a script");
        assert_eq!(read.kind, ExpressionKind::JavaScript("setOutcome('A')".into()));
        assert_eq!(round_trip(&document)["root"]["script"], elsa);
    }
    for script in [json!({"sql": "1"}), json!({"input": "code"}), json!({"object": {"js": "1"}})] {
        let found = problems_of_root(json!({"type": "RunJavaScript", "script": script}));
        assert_eq!(found, ["/root/script: a script must be constant text"]);
    }
    let broken = with_root(json!({"type": "RunJavaScript", "script": "setOutcome("}));
    let found = try_compile(&broken).expect_err("a problem");
    assert_eq!(found[0].path, "/root/script");
    let stored = compile(&broken, &Registered, &ReadLimits::default(), false);
    assert!(stored.is_ok(), "what is stored already is not parsed again");
}

#[test]
fn what_has_no_form_in_a_database_is_refused_with_a_hint() {
    for (name, hint) in
        [("ReadLine", "RunTask"), ("Inline", "RunJavaScript"), ("Elsa.DynamicActivity", "custom activity")]
    {
        let found = problems_of_root(json!({"type": name}));
        assert!(found[0].starts_with(&format!("/root: activity type \"{name}\" is not supported")), "{found:?}");
        assert!(found[0].contains(hint), "{found:?}");
    }
}

#[test]
fn an_output_converter_is_refused() {
    let found = problems_of_root(json!({"type": "Sql", "statement": "SELECT 1",
        "result": {"typeName": "Object", "memoryReference": {"id": "R"}, "converter": {"type": "ToCsv"}}}));
    assert!(
        found.iter().any(|problem| problem.starts_with("/root/result") && problem.contains("converters")),
        "{found:?}"
    );
}

#[test]
fn modes_of_flowcharts_are_words_that_are_checked() {
    let found = problems(&json!({"definitionId": "d", "options": {"flowchartMode": "tokens"},
        "root": {"type": "Flowchart", "mode": 1, "activities": [
            {"type": "Flowchart", "customProperties": {"Flowchart:ExecutionMode": "Petri"}},
            {"id": "a", "type": "WriteLine", "mergeMode": "Sometimes"},
            {"id": "b", "type": "WriteLine", "customProperties": {"mergeMode": true}}]}}));
    let merge = "it is one of None, Stream, Merge, Converge, Cascade, Race";
    let expected = [
        "/options/flowchartMode: unknown flowchartMode \"tokens\": it is one of TokenBased, CounterBased".to_owned(),
        "/root/mode: \"mode\" must be a string, not a number".to_owned(),
        format!("/root/activities/1/mergeMode: unknown mergeMode \"Sometimes\": {merge}"),
        "/root/activities/2/customProperties/mergeMode: \"mergeMode\" must be a string, not a boolean".to_owned(),
        "/root/activities/0/customProperties/Flowchart:ExecutionMode: unknown Flowchart:ExecutionMode \"Petri\": it is one of TokenBased, CounterBased".to_owned(),
    ];
    assert_eq!(found, expected);
}

#[test]
fn modes_are_exported_among_the_properties() {
    let exported = round_trip(&json!({"definitionId": "d", "options": {"flowchartMode": "token"},
        "root": {"type": "Flowchart", "mode": "counter", "activities": [
            {"id": "a", "type": "WriteLine", "mergeMode": "race", "canStartWorkflow": false},
            {"id": "b", "type": "Flowchart"},
            {"id": "c", "type": "Flowchart", "mode": "default"}]}}));
    assert_eq!(exported["options"]["flowchartMode"], "token");
    let root = &exported["root"];
    assert_eq!(root["customProperties"]["Flowchart:ExecutionMode"], "CounterBased");
    assert_eq!(root["mode"], Value::Null);
    assert_eq!(root["activities"][0]["customProperties"]["mergeMode"], "race");
    assert_eq!(root["activities"][0]["mergeMode"], Value::Null);
    assert_eq!(root["activities"][1]["customProperties"].get("Flowchart:ExecutionMode"), None);
    assert_eq!(root["activities"][2]["customProperties"]["Flowchart:ExecutionMode"], "default");
}

#[test]
fn states_and_transitions_fit_together_or_all_problems_are_named() {
    let found = problems_of_root(json!({"type": "StateMachine", "initialState": "Opne",
        "states": ["Open", {"name": "Paid", "enrty": []}, "Open", {"entry": []}, {"name": 7}, 8],
        "transitions": [
            {"from": "Open", "to": "Piad"},
            {"to": "Paid", "trigger": {"type": "Nothing"}},
            {"from": "Nowhere", "to": "Paid", "condition": {"js": 1}},
            {"from": "Open", "to": "Paid", "conditoin": true},
            "Open"]}));
    let expected = [
        "/root/states/5: a state must be an object, not a number",
        "/root/transitions/4: a transition must be an object, not a string",
        "/root/transitions/1/trigger: unknown activity type \"Nothing\": neither in wf_activities() nor registered with wf_register_activity()",
        "/root/states/1/enrty: unknown member \"enrty\" of a state (did you mean \"entry\"?)",
        "/root/states/3: a state needs a \"name\"",
        "/root/states/4/name: \"name\" of a state must be a string, not a number",
        "/root/transitions/1: a transition needs a \"from\"",
        "/root/transitions/2/condition/js: \"js\" must be a string, not a number (a constant is {\"literal\": …})",
        "/root/transitions/3/conditoin: unknown member \"conditoin\" of a transition (did you mean \"condition\"?)",
        "/root/states/2: state \"Open\" is declared twice",
        "/root/transitions/0/to: the state machine has no state \"Piad\" (did you mean \"Paid\"?)",
        "/root/transitions/2/from: the state machine has no state \"Nowhere\"",
        "/root/initialState: the state machine has no state \"Opne\" (did you mean \"Open\"?)",
    ];
    assert_eq!(found, expected);
    let found = problems_of_root(json!({"type": "StateMachine", "states": {}, "transitions": 1, "initialState": 2}));
    assert_eq!(
        found,
        [
            "/root/states: \"states\" must be an array, not an object",
            "/root/transitions: \"transitions\" must be an array, not a number",
            "/root/initialState: \"initialState\" must be a string, not a number"
        ]
    );
}

#[test]
fn a_state_machine_comes_out_as_elsa_writes_it() {
    let exported = round_trip(&with_root(json!({"type": "StateMachine", "initialState": "B", "states": ["A",
            {"name": "B", "entry": [], "exit": {"id": "x", "type": "WriteLine"}}],
        "transitions": [{"from": "B", "to": "A", "name": "back", "displayName": "Back", "condition": {"js": "1 > 0"},
            "trigger": {"id": "e", "type": "Event", "eventName": "E"}, "action": {"id": "w", "type": "WriteLine"}}]})));
    let root = &exported["root"];
    assert_eq!(root["type"], "Elsa.StateMachine");
    assert_eq!(root["initialState"], "B");
    assert_eq!(root["states"][0], json!({"name": "A"}));
    assert_eq!(root["states"][1]["entry"]["type"], "Elsa.Sequence");
    let transition = &root["transitions"][0];
    assert_eq!(transition["trigger"]["type"], "Elsa.Event");
    assert_eq!(transition["trigger"]["nodeId"], "Workflow1:StateMachine1:e");
    assert_eq!((&transition["name"], &transition["displayName"]), (&json!("back"), &json!("Back")));
    let condition = json!({"typeName": "Boolean", "expression": {"type": "JavaScript", "value": "1 > 0"}});
    assert_eq!(transition["condition"], condition);
    // Members of Elsa's older serializer, and members that its designer leaves empty.
    let elsa = program(&with_root(
        json!({"type": "Elsa.StateMachine", "version": 1, "currentState": null, "initialState": null,
        "States": {"$values": [{"Name": "A", "Entry": null, "Exit": null, "Color": "red"}]},
        "transitions": [{"From": "A", "To": "A", "Trigger": null, "Condition": null, "Action": null}]}),
    ));
    assert_eq!(elsa.nodes[0].part_list(1)[0].condition, None);
}

/// A registered type whose name has since become that of a built-in type.
struct Earlier;

impl ActivityTypes for Earlier {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        ["Try", "If"].contains(&type_name).then(CustomType::default)
    }
}

#[test]
fn a_type_that_was_registered_before_it_was_built_in_stays_what_it_was() {
    let types = ["Try", "Workflow.Try", "If"];
    let list: Vec<Value> = types.iter().map(|name| json!({"type": name})).collect();
    let program = compile(&with_root(json!(list)), &Earlier, &ReadLimits::default(), false).expect("acceptable");
    let found: Vec<&str> = program.nodes[1..].iter().map(|node| node.type_name.as_str()).collect();
    assert_eq!(found, ["Try", "Workflow.Try", "Elsa.If"]);
}

/// Registered types, with and without declared inputs.
struct Declared;

impl ActivityTypes for Declared {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        let inputs = match type_name {
            "Acme.Any" => None,
            "Acme.None" => Some(Vec::new()),
            "Acme.Own" => Some(vec!["Timeout".to_owned()]),
            _ => return None,
        };
        Some(CustomType { inputs, ..CustomType::default() })
    }
}

#[test]
fn a_timeout_is_a_property_unless_the_type_declares_it_as_an_input() {
    let new = ReadLimits { is_new: true, ..ReadLimits::default() };
    let read = |type_name: &str, timeout: Value, limits: &ReadLimits| {
        let document = with_root(json!({"type": type_name, "timeout": timeout}));
        let program = compile(&document, &Declared, limits, false).expect("acceptable");
        let exported = export(&document, "d", 1, true, true, &Declared);
        let again = compile(&exported, &Declared, &new, false).map(|again| described(&again));
        if limits.is_new {
            assert_eq!(again, Ok(described(&program)), "{exported}");
        }
        described(&program)
    };
    fn described(program: &Program) -> (bool, usize) {
        (program.nodes[0].timeout.is_some(), program.nodes[0].custom_inputs.len())
    }
    assert_eq!(read("Acme.Any", json!("1 hour"), &new), (true, 1));
    assert_eq!(read("Acme.None", json!("1 hour"), &new), (true, 0));
    assert_eq!(read("Acme.Own", json!("1 hour"), &new), (false, 1));
    // In a definition stored before, a value that is no interval was an input, and stays one.
    assert_eq!(read("Acme.None", json!(30), &ReadLimits::default()), (false, 1));
}

#[test]
fn how_many_instances_run_at_the_same_time() {
    let with = |limit: Value| json!({"definitionId": "d", "root": [], "options": {"maxConcurrency": limit}});
    let read = |limit: Value| program(&with(limit)).options.max_concurrency;
    assert_eq!(read(json!(null)), None);
    assert_eq!(read(json!({"max": 3})), Some(MaxConcurrency { max: 3, key: None }));
    let keyed = json!({"max": 1, "key": "shop"});
    assert_eq!(read(keyed.clone()), Some(MaxConcurrency { max: 1, key: Some("shop".into()) }));
    for limit in [json!(1), json!({}), json!({"max": 0}), json!({"max": 1.5}), json!({"max": 1, "key": 2})] {
        assert!(problems(&with(limit.clone()))[0].starts_with("/options/maxConcurrency"), "{limit}");
        // In a definition stored before the member had a meaning, it has none.
        let stored = compile(&with(limit), &Registered, &ReadLimits::default(), false);
        assert_eq!(stored.expect("it was accepted").options.max_concurrency, None);
    }
    let stored = compile(&with(keyed), &Registered, &ReadLimits::default(), false).expect("it was accepted");
    assert!(stored.options.max_concurrency.is_some());
}

#[test]
fn values_by_which_instances_are_found() {
    let with = |attributes: Value| json!({"definitionId": "d", "root": [], "variables": {"Total": null}, "options": {"searchAttributes": attributes}});
    let read = |attributes: Value| program(&with(attributes)).options.search_attributes;
    assert_eq!(read(json!(null)), []);
    let attribute = |name: &str, source, kind| SearchAttribute { name: name.into(), source, kind };
    let declared = json!({"no": {"input": "orderNo"}, "total": {"var": "Total", "type": "number"}});
    let expected = [
        attribute("no", SearchSource::Input("orderNo".into()), None),
        attribute("total", SearchSource::Variable("Total".into()), Some(SearchKind::Number)),
    ];
    assert_eq!(read(declared.clone()), expected);
    for wrong in [
        json!([]),
        json!({"a": "Total"}),
        json!({"a": {"var": "Amount"}}),
        json!({"a": {"input": "b", "type": "date"}}),
    ] {
        assert!(problems(&with(wrong.clone()))[0].starts_with("/options/searchAttributes"), "{wrong}");
        // In a definition stored before the member had a meaning, it has none.
        let stored = compile(&with(wrong), &Registered, &ReadLimits::default(), false);
        assert_eq!(stored.expect("it was accepted").options.search_attributes, []);
    }
    let stored = compile(&with(declared), &Registered, &ReadLimits::default(), false).expect("it was accepted");
    assert_eq!(stored.options.search_attributes, expected);
}

/// The messages for a flowchart with a connection from this activity: problems, or warnings if there are none.
fn told_of_connection(activity: &Value, port: &str) -> Vec<String> {
    let mut activity = activity.clone();
    activity["id"] = json!("a");
    let root = json!({"type": "Flowchart", "activities": [activity, {"id": "b", "type": "WriteLine", "text": "b"}],
        "connections": [["a", port, "b"]]});
    let read = validate(&with_root(root), &Registered, &ReadLimits { is_new: true, ..ReadLimits::default() }, false);
    let said = |problems: Vec<Problem>| problems.into_iter().map(|p| p.message).filter(|m| m.contains("outcome"));
    said(read.program.err().unwrap_or_default()).chain(said(read.warnings)).collect()
}

#[test]
fn every_type_says_its_outcomes_or_that_they_are_open() {
    for activity in catalogue::ACTIVITIES {
        let descriptor = activity.descriptor();
        let example: Value = serde_json::from_str(descriptor.example).expect(descriptor.type_name);
        for outcome in descriptor.fixed_outcomes() {
            assert_eq!(told_of_connection(&example, outcome), Vec::<String>::new(), "{}", descriptor.type_name);
        }
        let told = told_of_connection(&example, "Nonsense");
        let is_open =
            matches!(descriptor.type_name, "Elsa.RunJavaScript" | "Elsa.Composite" | "Elsa.WorkflowDefinitionActivity");
        assert_eq!(told.is_empty(), is_open, "{}: {told:?}", descriptor.type_name);
        assert_eq!(is_open, descriptor.further_outcomes == FurtherOutcomes::Any, "{}", descriptor.type_name);
    }
    assert!(told_of_connection(&json!({"type": "Acme.Approve"}), "Anything").is_empty());
}

#[test]
fn outcomes_of_the_activity_itself_are_known() {
    let switch = json!({"type": "FlowSwitch", "cases": [{"label": "Short", "condition": true}]});
    assert!(told_of_connection(&switch, "Short").is_empty());
    assert_eq!(
        told_of_connection(&switch, "Shrot"),
        ["activity \"a\" has no outcome \"Shrot\", only \"Default\", \"Short\" (did you mean \"Short\"?)"]
    );
    let task = |timeout: Value| json!({"type": "RunTask", "taskName": "t", "timeout": timeout});
    assert!(told_of_connection(&task(json!("1 hour")), "Timeout").is_empty());
    assert_eq!(told_of_connection(&task(json!(null)), "Timeout").len(), 1);
    let request = |codes: Value| json!({"type": "FlowSendHttpRequest", "url": "x", "expectedStatusCodes": codes});
    assert!(told_of_connection(&request(json!([404, "409"])), "409").is_empty());
    assert!(told_of_connection(&request(json!(null)), "200").is_empty());
    assert_eq!(told_of_connection(&request(json!([404])), "200").len(), 1);
    assert!(told_of_connection(&request(json!({"js": "[1]"})), "200").is_empty());
}

#[test]
fn a_wrong_outcome_in_elsas_form_or_in_stored_content_is_a_warning() {
    let flow = |decision: Value| {
        json!({"definitionId": "d", "root": {"type": "Flowchart",
        "activities": [decision, {"id": "b", "type": "WriteLine", "text": "b"}], "connections": [["a", "Yes", "b"]]}})
    };
    let short = flow(json!({"id": "a", "type": "FlowDecision", "condition": true}));
    let elsa = flow(json!({"id": "a", "type": "Elsa.FlowDecision", "nodeId": "Workflow1:a", "condition": true}));
    let new = ReadLimits { is_new: true, ..ReadLimits::default() };
    for (document, limits, is_accepted) in
        [(&short, &new, false), (&elsa, &new, true), (&short, &ReadLimits::default(), true)]
    {
        let read = validate(document, &Registered, limits, false);
        assert_eq!(read.program.is_ok(), is_accepted);
        assert_eq!(read.warnings.iter().any(|w| w.message.contains("\"Yes\"")), is_accepted);
    }
}

#[test]
fn an_expression_inside_a_plain_value_is_a_problem_of_new_content() {
    let task = |payload: Value| json!({"type": "RunTask", "taskName": "t", "payload": payload});
    for key in ["js", "sql", "liquid", "var", "input", "object", "literal"] {
        let found = problems_of_root(task(json!({"list": [{"a/b": {key: "x"}}]})));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("/root/payload/list/0/a~1b: "), "{found:?}");
        let stored = with_root(task(json!({"list": [{key: "x"}]})));
        assert!(compile(&stored, &Registered, &ReadLimits::default(), false).is_ok());
    }
    for payload in [
        json!({"properties": {"input": {"type": "string"}}}),
        json!({"input": "x", "more": 1}),
        json!({"literal": {"a": {"input": "x"}}}),
        json!({"object": {"a": {"literal": {"input": "x"}}}}),
    ] {
        program(&with_root(task(payload)));
    }
}

#[test]
fn a_made_id_is_none_that_was_given_to_a_sibling() {
    let program = program(
        &json!({"definitionId": "d", "root": [{"type": "WriteLine", "text": "a"}, {"id": "WriteLine1", "type": "WriteLine", "text": "b"},
        {"type": "WriteLine", "text": "c"}, [{"type": "WriteLine", "text": "d"}]]}),
    );
    let ids: Vec<&str> = program.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["Sequence1", "WriteLine2", "WriteLine1", "WriteLine4", "Sequence2", "WriteLine5"]);
}
