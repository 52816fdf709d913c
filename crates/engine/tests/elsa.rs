//! Documents as Elsa's Studio and its older versions write them: read as documented, executed, and unchanged after
//! export.

use serde_json::{Value, json};
use workflow_engine::definition::{ReadLimits, compile, export};
use workflow_engine::instance::SubStatus;

mod support;

use support::World;

const LIMITS: ReadLimits = ReadLimits { max_nesting: 500, max_size: 16 << 20, is_new: true };

fn exported(document: &Value) -> Value {
    export(document, "d", 7, true, false, &())
}

/// A re-read export must be the same program, and its export the same document.
fn round_trip(document: &Value) {
    let described = |document: &Value| match compile(document, &(), &LIMITS, false) {
        Ok(program) => format!("{:#?} {:#?} {:#?}", program.variables, program.options, program.nodes),
        Err(problems) => panic!("{document:#}: {problems:#?}"),
    };
    let once = exported(document);
    assert_eq!(described(document), described(&once), "{once:#}");
    assert_eq!(once, exported(&once), "an export is exported unchanged");
}

fn literal(type_name: &str, value: impl Into<Value>) -> Value {
    json!({"typeName": type_name, "expression": {"type": "Literal", "value": value.into()}})
}

fn expression(language: &str, type_name: &str, source: &str) -> Value {
    json!({"typeName": type_name, "expression": {"type": language, "value": source}})
}

fn write(id: &str, text: Value) -> Value {
    json!({"id": id, "nodeId": format!("Workflow1:fc:{id}"), "name": id, "type": "Elsa.WriteLine", "version": 1,
        "customProperties": {"canStartWorkflow": false, "runAsynchronously": false}, "metadata": {}, "text": text})
}

fn sequence(variables: Value, activities: Vec<Value>) -> Value {
    json!({"definitionId": "d", "name": "D", "version": 1, "toolVersion": "3.6.0.0", "isLatest": true,
        "isPublished": true, "variables": variables, "inputs": [], "outputs": [], "outcomes": [],
        "customProperties": {}, "options": {}, "root": {"id": "s", "type": "Elsa.Sequence", "version": 1,
        "customProperties": {}, "metadata": {}, "variables": [], "activities": activities}})
}

fn variables() -> Value {
    json!([
        {"id": "v1", "name": "Total", "typeName": "Decimal", "isArray": false, "value": "12345678901234567890.10",
            "storageDriverTypeName": "WorkflowInstanceStorageDriver"},
        {"id": "v2", "name": "Name", "typeName": "String", "isArray": false, "value": "Ada"},
        {"id": "v3", "name": "Flag", "typeName": "Boolean", "isArray": false, "value": "True"},
        {"id": "v4", "name": "Tags", "typeName": "String", "isArray": true, "value": "[\"a\",\"b\"]"},
        {"id": "v5", "name": "Result", "typeName": "Object", "isArray": false, "value": null},
    ])
}

#[test]
fn every_language_of_expressions() {
    let reference = json!({"id": "v2", "name": "Name", "typeName": "String"});
    let document = sequence(
        variables(),
        vec![
            write("a", literal("String", "plain")),
            write("b", expression("JavaScript", "String", "`Hello ${getName()}`")),
            write(
                "c",
                expression(
                    "Liquid",
                    "String",
                    "Hello {{ Variables.Name }}, {{ variables.total }} {% if Variables.Flag %}yes{% endif %}",
                ),
            ),
            write("d", expression("CSharp", "String", "return $\"{Variables.Name}: {Variables.Flag}\";")),
            write("e", expression("Python", "String", "return f'{variables.Name}!'")),
            write("f", json!({"typeName": "String", "expression": {"type": "Variable", "value": reference}})),
            write(
                "g",
                json!({"typeName": "String", "expression": {"type": "Variable", "value": reference.to_string()}}),
            ),
            write("h", expression("Object", "Object", "{\"a\": [1]}")),
            write("i", expression("Json", "Object", "[1]")),
            write("j", expression("JavaScript", "Decimal", "getTotal()")),
            write("k", expression("JavaScript", "TimeSpan", "TimeSpan.FromMinutes(5)")),
            write("l", expression("CSharp", "String", "return Variables.Total.ToString();")),
        ],
    );
    round_trip(&document);
    let world = World::started(document);
    let expected = [
        "plain",
        "Hello Ada",
        "Hello Ada, 12345678901234567890.10 yes",
        "Ada: True",
        "Ada!",
        "Ada",
        "Ada",
        "{\"a\":[1]}",
        "[1]",
        "12345678901234567890.10",
        "00:05:00",
        "12345678901234567890.10",
    ];
    assert_eq!(world.lines(), expected);
}

#[test]
fn foreign_code_that_returns_a_value_runs() {
    let run = |id: &str, kind: &str, script: &str| {
        json!({"id": id, "type": kind, "version": 1, "customProperties": {}, "metadata": {},
            "script": literal("String", script), "possibleOutcomes": {"typeName": "ICollection<String>",
            "expression": {"type": "Object", "value": "[]"}},
            "result": {"typeName": "Object", "memoryReference": {"id": "v5"}}})
    };
    let show = |id: &str| write(id, expression("JavaScript", "String", "toJson(getResult())"));
    let document = sequence(
        variables(),
        vec![
            run("a", "Elsa.RunCSharp", "return \"Foo\";"),
            show("a1"),
            run("b", "Elsa.RunCSharp", "return Variables.Tags;"),
            show("b1"),
            run("c", "Elsa.RunPython", "return 5"),
            show("c1"),
            run("d", "Elsa.RunCSharp", ""),
            show("d1"),
        ],
    );
    round_trip(&document);
    assert_eq!(World::started(document).lines(), ["\"Foo\"", "[\"a\",\"b\"]", "5", "null"]);
    let refused = sequence(json!([]), vec![run("a", "Elsa.RunCSharp", "Outcome.Set(\"x\");")]);
    let problems = compile(&refused, &(), &LIMITS, false).unwrap_err();
    assert_eq!(problems[0].path, "/root/activities/0/script");
    assert!(problems[0].message.contains("cannot run in the database"), "{}", problems[0].message);
}

#[test]
fn the_result_of_a_script_becomes_an_output_of_the_workflow() {
    for kind in ["Elsa.RunCSharp", "Elsa.RunJavaScript"] {
        let mut document = sequence(
            json!([]),
            vec![json!({"id": "run", "type": kind, "version": 1, "customProperties": {}, "metadata": {},
                "script": literal("String", "return \"Foo\";"),
                "result": {"typeName": "Object", "memoryReference": {"id": "Output1"}}})],
        );
        document["outputs"] = json!([{"type": "String", "name": "Output1"}]);
        round_trip(&document);
        let world = World::started(document);
        assert_eq!(Value::Object(world.instance.output.clone()), json!({"Output1": "Foo"}), "{kind}");
    }
}

#[test]
fn the_activities_of_the_sql_extension_bind_their_parameters() {
    let sql = |id: &str, kind: &str, input: &str, statement: Value, output: &str| {
        json!({"id": id, "type": kind, "version": 1, "customProperties": {}, "metadata": {},
            "client": literal("String", "PostgreSql"), "connectionString": literal("String", "Host=elsewhere"),
            input: statement, output: {"typeName": "Object", "memoryReference": {"id": "v5"}}})
    };
    let document = sequence(
        variables(),
        vec![
            sql(
                "a",
                "Elsa.SqlQuery",
                "query",
                expression("Sql", "String", "SELECT * FROM t WHERE a = {{Variable.Name}}"),
                "results",
            ),
            write("a1", expression("JavaScript", "String", "toJson(getResult())")),
            sql(
                "b",
                "Elsa.SqlCommand",
                "command",
                literal("String", "DELETE FROM t WHERE a = {{ Variables.Total }}"),
                "result",
            ),
            write("b1", expression("JavaScript", "String", "toJson(getResult())")),
            sql(
                "c",
                "Elsa.SqlSingleValue",
                "command",
                expression("Liquid", "String", "SELECT {% raw %}{{Variable.Tags[1]}}{% endraw %}"),
                "result",
            ),
            write("c1", expression("JavaScript", "String", "toJson(getResult())")),
            write("d1", expression("Sql", "String", "SELECT {{Variable.Name}}")),
        ],
    );
    round_trip(&document);
    let world = World::started(document);
    assert_eq!(
        world.host.effects[..3],
        [
            "SELECT * FROM t WHERE a = $1 [\"Ada\"]",
            "DELETE FROM t WHERE a = $1 [12345678901234567890.10]",
            "SELECT $1 [\"b\"]",
        ]
    );
    assert_eq!(world.lines(), ["[{\"statement\":\"SELECT * FROM t WHERE a = $1\"}]", "1", "\"b\"", "Ada"]);
}

#[test]
fn sql_of_other_databases_is_refused() {
    let document = sequence(
        json!([]),
        vec![json!({"id": "a", "type": "Elsa.SqlQuery", "version": 1,
        "client": literal("String", "SqlServer"), "query": literal("String", "SELECT '{{Variable.X}}'")})],
    );
    let problems = compile(&document, &(), &LIMITS, false).unwrap_err();
    let found: Vec<String> = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
    assert_eq!(
        found,
        [
            "/root/activities/0/client: SQL client \"sqlserver\" is not supported",
            "/root/activities/0/query: SQL parameter \"{{Variable.X}}\" is inside quotes; it is bound as a value and needs none",
        ]
    );
}

#[test]
fn nested_flowcharts_with_all_that_studio_keeps_beside_them() {
    let designer = json!({"designer": {"position": {"x": -10.5, "y": 20}, "size": {"width": 100, "height": 50}},
        "displayText": "Shown", "description": "Said", "showDescription": true});
    let inner = json!({"id": "inner", "nodeId": "W:fc:inner", "name": "Inner", "type": "Elsa.Flowchart", "version": 1,
        "customProperties": {"notFoundConnections": [], "canStartWorkflow": false, "runAsynchronously": false, "note": "a note"}, "metadata": designer,
        "variables": [{"id": "iv", "name": "Local", "typeName": "Int32", "isArray": false, "value": "7"}],
        "activities": [write("deep", expression("Liquid", "String", "local {{ Variables.Local }}"))], "connections": []});
    let document = json!({
        "$schema": "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json",
        "id": "x1", "definitionId": "nested", "tenantId": "", "name": "Nested", "createdAt": "2026-01-01T00:00:00Z",
        "version": 3, "toolVersion": "3.6.0.0", "variables": [], "inputs": [], "outputs": [], "outcomes": [],
        "customProperties": {"VariableTestValues": {}, "ours": [1, {"deep": null}]}, "isReadonly": false, "isSystem": false,
        "isLatest": true, "isPublished": true, "links": [],
        "options": {"usableAsActivity": null, "autoUpdateConsumingWorkflows": false, "activityCategory": null,
            "activationStrategyType": null, "incidentStrategyType": null, "commitStrategyName": null},
        "root": {"id": "fc", "nodeId": "Nested:fc", "type": "Elsa.Flowchart", "version": 1, "metadata": designer,
            "customProperties": {"notFoundConnections": [], "canStartWorkflow": false, "runAsynchronously": false},
            "activities": [
                write("one", literal("String", "one")), inner,
                {"id": "decide", "type": "Elsa.FlowDecision", "version": 1, "customProperties": {"mergeMode": null},
                    "metadata": designer, "condition": expression("JavaScript", "Boolean", "return 1 < 2;"), "unknownThing": {"a": [1]}},
                write("yes", literal("String", "yes")), write("no", literal("String", "no"))],
            "variables": [],
            "connections": [
                {"source": {"activity": "one", "port": "Done"}, "target": {"activity": "inner", "port": "In"}, "vertices": [{"x": 1, "y": 2}]},
                {"source": {"activity": "inner", "port": null}, "target": {"activity": "decide", "port": null}},
                {"source": {"activity": "decide", "port": "True"}, "target": {"activity": "yes", "port": "In"}},
                {"source": {"activity": "decide", "port": "False"}, "target": {"activity": "no", "port": "In"}}]}});
    round_trip(&document);
    let written = exported(&document);
    for pointer in [
        "/customProperties",
        "/root/metadata",
        "/root/activities/1/customProperties",
        "/root/activities/2/unknownThing",
        "/root/activities/1/metadata",
        "/root/connections/0/vertices",
        "/root/activities/1/activities/0/text",
    ] {
        assert_eq!(written.pointer(pointer), document.pointer(pointer), "{pointer}");
    }
    // Node ids follow from the positions, as Elsa computes them, whatever the document contains.
    for (pointer, node_id) in [
        ("/root/nodeId", "Workflow1:fc"),
        ("/root/activities/1/nodeId", "Workflow1:fc:inner"),
        ("/root/activities/1/activities/0/nodeId", "Workflow1:fc:inner:deep"),
        ("/root/activities/2/nodeId", "Workflow1:fc:decide"),
    ] {
        assert_eq!(written.pointer(pointer), Some(&json!(node_id)), "{pointer}");
    }
    let world = World::started(document);
    assert_eq!(world.lines(), ["one", "local 7", "yes"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn older_spellings_are_read() {
    let document = json!({
        "DefinitionId": "old", "Name": "Old", "Version": 1, "IsLatest": true,
        "Variables": [{"Id": "v", "Name": "Text", "TypeName": "String", "Value": "bound",
            "StorageDriverTypeName": "Elsa.Workflows.Services.WorkflowStorageDriver, Elsa.Workflows.Core"}],
        "root": {"Id": "fc", "Type": "Elsa.Flowchart", "Version": 1, "ApplicationProperties": {"canStartWorkflow": false},
            "start": "nowhere",
            "Activities": {"$id": "1", "$values": [
                {"Id": "a", "Type": "Elsa.WriteLine", "canStartWorkflow": false, "runAsynchronously": false,
                    "Text": {"typeName": "String", "memoryReference": {"id": "v"}}},
                {"Id": "b", "Type": "Elsa.WriteLine", "Text": {"typeName": "String", "expression": {"type": "Literal", "value": "b"}}},
                {"Id": "c", "Type": "Elsa.If", "Condition": {"typeName": "Boolean", "expression": {"type": "Literal", "value": "true"}},
                    "Then": null, "Else": null}]},
            "Connections": {"$values": [
                {"source": "a", "target": "b", "sourcePort": "Done", "targetPort": "In"},
                {"Source": {"Activity": "b", "Port": "Done"}, "Target": {"Activity": "c", "Port": "In"}}]}}});
    round_trip(&document);
    let world = World::started(document);
    assert_eq!(world.lines(), ["bound", "b"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn what_reaches_out_of_the_database_is_refused_with_a_way_out() {
    for (type_name, advice) in [
        ("Elsa.SendWebhook", "RunTask"),
        ("Elsa.WriteFileHttpResponse", "RunTask"),
        ("Elsa.Kafka.MessageReceived", "wf_publish_event"),
        ("Elsa.Kafka.ProduceMessage", "RunTask"),
        ("Elsa.AzureServiceBus.SendMessage", "RunTask"),
        ("Elsa.OpenFile", "RunTask"),
        ("Elsa.ReadLine", "Event"),
        ("Elsa.GenerateAlterationJobs", "SubmitAlterationPlan"),
        ("Elsa.BpmnProcess", "Flowchart"),
        ("Elsa.Inline", "custom activity"),
    ] {
        let document = sequence(json!([]), vec![json!({"id": "a", "type": type_name, "version": 1})]);
        let problems = compile(&document, &(), &LIMITS, false).unwrap_err();
        assert_eq!(problems.len(), 1, "{type_name}");
        assert_eq!(problems[0].path, "/root/activities/0");
        assert!(
            problems[0].message.contains("is not supported") && problems[0].message.contains(advice),
            "{}",
            problems[0].message
        );
        assert!(compile(&document, &(), &LIMITS, true).is_ok(), "{type_name}");
    }
    for (language, advice) in
        [("Secret", "client"), ("Delegate", "JavaScript"), ("CSharp", "Liquid"), ("Lisp", "Liquid")]
    {
        let document = sequence(json!([]), vec![write("a", expression(language, "String", "x.y()"))]);
        let problems = compile(&document, &(), &LIMITS, false).unwrap_err();
        assert_eq!(problems[0].path, "/root/activities/0/text");
        assert!(problems[0].message.contains(advice), "{}", problems[0].message);
    }
}

/// The problems of a document, with their positions and messages.
fn problems_of(document: &Value) -> Vec<String> {
    let problems = compile(document, &(), &LIMITS, false).expect_err("refused");
    problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

#[test]
fn types_with_arguments_are_the_types_without() {
    let base = |id: &str, kind: &str| json!({"id": id, "type": kind, "version": 1, "name": null, "metadata": {}});
    let with = |mut activity: Value, members: Value| {
        activity.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        activity
    };
    let body = |id: &str| write(id, expression("JavaScript", "String", "`${getCurrentValue()}`"));
    let document = sequence(
        variables(),
        vec![
            with(
                base("ForEach<String>1", "Elsa.ForEach<String>"),
                json!({"items": expression("JavaScript", "ICollection<String>", "getTags()"), "body": body("w1")}),
            ),
            with(
                base("p", "Elsa.ParallelForEach<Order>"),
                json!({"items": expression("Object", "Object", "[1, 2]"), "body": body("w2")}),
            ),
            with(
                base("s", "Elsa.SetVariable<Dictionary<String,Boolean>>"),
                json!({"variable": {"id": "v5", "name": "Result", "typeName":
                    "System.Collections.Generic.Dictionary`2[[System.String, System.Private.CoreLib],[System.Boolean, System.Private.CoreLib]], System.Private.CoreLib"},
                    "value": expression("Object", "Object", "{\"a\": true}")}),
            ),
            write("w3", expression("JavaScript", "String", "toJson(getResult())")),
        ],
    );
    round_trip(&document);
    assert_eq!(exported(&document).pointer("/root/activities/1/type"), Some(&json!("Elsa.ParallelForEach<Order>")));
    assert_eq!(World::started(document).lines(), ["a", "b", "1", "2", "{\"a\":true}"]);
}

#[test]
fn documents_of_another_shape_are_told_what_they_are() {
    for (document, said) in [
        (
            json!({"$id": "1", "definitionId": "d", "versionId": "v", "name": "N", "version": 3, "variables": {"$id": "2", "data": {}},
                "isSingleton": false, "persistenceBehavior": "WorkflowBurst", "connections": [], "activities": [{"activityId": "a",
                "type": "HttpEndpoint", "properties": [{"name": "Path", "expressions": {"Literal": "/x"}}]}]}),
            "this is a definition of Elsa 1 or 2, whose format Elsa 3 does not read either: rebuild it in Elsa 3's Studio, \
             or in the short form, with a \"root\" activity",
        ),
        (
            json!({"id": "Sequence1", "type": "Elsa.Sequence", "version": 1, "activities": []}),
            "this is an activity: a definition needs it as its \"root\", beside a \"definitionId\" and the variables",
        ),
        (
            json!({"name": "N", "model": {"definitionId": "d", "root": {"type": "Elsa.Sequence"}}, "publish": true}),
            "a definition needs a \"root\" activity; it is in \"model\" of this document",
        ),
        (json!({"definitionId": "d"}), "a definition needs a \"root\" activity"),
    ] {
        assert_eq!(problems_of(&document), [format!(": {said}")]);
    }
}

#[test]
fn json_text_is_read_into_classes_but_not_into_enumerations() {
    let variable = |name: &str, type_name: &str, value: &str| json!({"id": name, "name": name, "typeName": type_name, "isArray": false, "value": value});
    let document = sequence(
        json!([
            variable("Order", "Shop.Order, Shop", "{\"Lines\": [{\"Sku\": \"a\"}]}"),
            variable("Day", "System.DayOfWeek, System.Private.CoreLib", "Monday"),
            variable("Any", "Object", "{\"a\": 1}"),
            variable("Nothing", "Shop.Order, Shop", ""),
        ]),
        vec![
            write("a", expression("JavaScript", "String", "getOrder().lines[0].sku + getDay() + typeof getAny()")),
            write("b", expression("JavaScript", "String", "`${getNothing()}`")),
        ],
    );
    round_trip(&document);
    assert_eq!(World::started(document).lines(), ["aMondaystring", "null"]);
}

#[test]
fn what_the_studio_leaves_empty_is_unset() {
    let empty = |language: &str| expression(language, "String", "");
    let flow = json!({"id": "f", "type": "Elsa.FlowSwitch", "version": 1, "mode": null, "cases": [
        {"label": "", "condition": {"type": "JavaScript", "value": ""}}, {"label": null, "condition": null}]});
    let languages = ["Literal", "JavaScript", "Liquid", "Object", "Variable", "Input", "CSharp", "Python"];
    let mut activities: Vec<Value> = languages.iter().map(|_| write("", empty("Literal"))).collect();
    for (activity, language) in activities.iter_mut().zip(languages) {
        activity["text"] = empty(language);
    }
    activities.push(flow);
    let world = World::started(sequence(json!([]), activities));
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.lines(), [""; 8]);
}

#[test]
fn a_constant_mode_that_does_not_exist_is_refused() {
    for (kind, input, names) in [
        ("Elsa.Switch", "mode", "MatchFirst, MatchAny"),
        ("Elsa.FlowSwitch", "mode", "MatchFirst, MatchAny"),
        ("Elsa.FlowJoin", "mode", "WaitAny, WaitAll, WaitAllActive"),
        ("Elsa.Fork", "joinMode", "WaitAll, WaitAny"),
    ] {
        for (mode, shown) in [(json!("Some"), "Some"), (json!(1), "1")] {
            let activity = json!({"id": "a", "type": kind, "version": 1, input: literal("String", mode)});
            let said = problems_of(&sequence(json!([]), vec![activity]));
            let expected = format!("/root/activities/0/{input}: unknown mode \"{shown}\": it is one of {names}");
            assert_eq!(said, [expected]);
        }
    }
}

#[test]
fn names_that_are_nearly_elsas_are_recognized() {
    for (kind, said) in [
        ("Elsa.Http.HttpEndpoint", "did you mean \"HttpEndpoint\"?"),
        ("Elsa.Join", "did you mean \"FlowJoin\"?"),
        ("Elsa.ForEeach", "did you mean \"ForEach\"?"),
        ("Elsa.Workflows.Activities.WriteLine, Elsa.Workflows.Core", "did you mean \"WriteLine\"?"),
        ("Elsa.Agents.Translator", "let \"RunTask\" and a client do its work, or register it"),
        ("Shop.Join", "nor registered with wf_register_activity()"),
    ] {
        let said_of = problems_of(&sequence(json!([]), vec![json!({"id": "a", "type": kind, "version": 1})]));
        assert!(said_of.len() == 1 && said_of[0].contains(said), "{kind}: {said_of:?}");
    }
}

#[test]
fn csharp_and_python_look_into_values_and_compare_them() {
    let variables = json!([
        {"id": "r", "name": "Route", "typeName": "ObjectDictionary", "value": "{\"userid\": \"7\", \"Lines\": [{\"Price\": 2.5}]}"},
        {"id": "a", "name": "Age", "typeName": "Long", "value": "17"},
        {"id": "n", "name": "None", "typeName": "Object", "value": null},
    ]);
    let csharp = |source: &str| expression("CSharp", "String", source);
    let python = |source: &str| expression("Python", "String", source);
    let document = sequence(
        variables,
        vec![
            write("a", csharp("return Variables.Route[\"userid\"];")),
            write("b", csharp("return $\"https://example.org/{Variables.Route[\"userid\"]}/{Variables.Age}\";")),
            write("c", csharp("return Variables.Age >= 18 || Variables.Route.Lines.Count == 1;")),
            write("d", csharp("return Variables.None >= 0;")),
            write("e", csharp("return $\"{Variables.Age < 18}\";")),
            write("f", csharp("return\n$\"\"\"\n  {Variables.Age}\n    years\n  \"\"\";")),
            write("g", python("variables['Route']['Lines'][0]['Price'] > 2 and not variables.Age == 17")),
            write("h", python("variables.get('Age') ")),
        ],
    );
    round_trip(&document);
    let expected = ["7", "https://example.org/7/17", "True", "False", "True", "17\n  years", "False", "17"];
    assert_eq!(World::started(document).lines(), expected);
    let unknown = sequence(json!([]), vec![write("a", csharp("return Variables.Nobody.Name == \"x\";"))]);
    assert_eq!(problems_of(&unknown), ["/root/activities/0/text: variable \"Nobody\" is not declared"]);
}

#[test]
fn a_script_that_stops_in_the_middle_is_told_so() {
    for (source, said) in [
        ("1 +", "invalid JavaScript: the script ends too early"),
        ("({a: 1", "invalid JavaScript: the script ends too early"),
        ("if (true) {\n  5;", "invalid JavaScript: the script ends too early"),
        ("1 + * 2", "invalid JavaScript: unexpected token in expression: '*' at line 1, column 5"),
    ] {
        let document = sequence(json!([]), vec![write("a", expression("JavaScript", "String", source))]);
        assert_eq!(problems_of(&document), [format!("/root/activities/0/text: {said}")], "{source}");
    }
}

#[test]
fn inputs_have_getters_as_they_are_spelled() {
    let mut document = sequence(
        json!([]),
        vec![
            write("a", expression("JavaScript", "String", "getcity()")),
            write("b", expression("JavaScript", "String", "`${getCity()} ${getzip_code()} ${getZipCode()}`")),
            write("c", expression("JavaScript", "String", "function getall() { return 'own'; }\ngetall()")),
            write("d", expression("JavaScript", "String", "const getters = {getter: () => 'g'}; getters.getter()")),
        ],
    );
    document["inputs"] =
        json!([{"type": "String", "name": "city", "isArray": false}, {"type": "String", "name": "zip_code"}]);
    let mut world = World::with_input(document, json!({"city": "Bern", "zip_code": "3000"}));
    world.start();
    assert_eq!(world.lines(), ["Bern", "Bern 3000 3000", "own", "g"]);
}

#[test]
fn a_script_makes_variables_that_nobody_declared() {
    let inner = json!({"id": "inner", "type": "Elsa.Sequence", "version": 1, "variables": [], "activities": [
        write("c", expression("JavaScript", "String", "setVariable('inside', 1); variables.Beside = {a: [1]}; setVariable('outside', 6)")),
        write("d", expression("JavaScript", "String", "`${getInside()} ${getVariable('Beside').a.length} ${getOutside()}`"))]});
    let document = sequence(
        json!([]),
        vec![
            write("a", expression("JavaScript", "String", "setVariable('outside', 5)")),
            write("b", expression("JavaScript", "String", "`${getVariable('outside')} ${getOutside()}`")),
            inner,
            write("e", expression("JavaScript", "String", "`${getVariable('outside')} ${getVariable('inside')}`")),
            write("f", expression("JavaScript", "String", "setVariable('outside', 7); throw new Error('no')")),
        ],
    );
    let world = World::started(document);
    assert_eq!(world.lines(), ["", "5 5", "", "1 1 6", "6 null"]);
    let unbounded = "for (let at = 0; at < 2000; at++) { setVariable('v' + at, at); }";
    let world = World::started(sequence(json!([]), vec![write("a", expression("JavaScript", "String", unbounded))]));
    let fault = &world.last.incidents[0].fault;
    assert_eq!(
        (fault.sqlstate.as_str(), fault.message.as_str()),
        ("54000", "cannot add variable \"v1000\": there are too many variables")
    );
}
