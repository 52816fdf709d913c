//! Composites: parts of a workflow with their own scope, and workflows used as activities.

use serde_json::{Value, json};
use workflow_engine::definition::{
    ActivityTypes, CustomType, ProblemKind, ReadLimits, WorkflowReference, compile, export,
};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;

use crate::support::{Library, World, event, line};

/// Runs the last of several definitions. Each may use the earlier ones.
fn run(definitions: impl IntoIterator<Item = Value>, input: Value) -> World {
    let mut definitions: Vec<Value> = definitions.into_iter().collect();
    let last = definitions.pop().expect("a definition");
    let program = Library::of(definitions).compile(&last).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let mut world = World::of(program, input);
    world.start();
    world
}

fn add() -> Value {
    json!({
        "definitionId": "add", "inputs": [{"name": "a", "type": "Int32"}, {"name": "b", "type": "Int32", "defaultValue": 1}],
        "outputs": [{"name": "sum", "type": "Int32"}],
        "root": {"type": "SetOutput", "outputName": "sum", "outputValue": {"js": "getInput('a') + getB()"}},
    })
}

#[test]
fn inputs_go_in_and_outputs_come_out() {
    let world = run(
        [
            add(),
            json!({"definitionId": "main", "variables": {"Sum": 0, "a": 40}, "root": [
                {"id": "first", "type": "add", "a": {"js": "getA() + 1"}, "sum": {"var": "Sum"}},
                {"type": "WriteLine", "text": {"var": "Sum"}},
                {"id": "second", "workflowDefinitionId": "add", "a": "7", "B": 3},
                {"type": "WriteLine", "text": {"js": "getSumFromSecond() + ' ' + getOutputFrom('first', 'sum') + ' ' + getA()"}},
            ]}),
        ],
        json!({}),
    );
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.lines(), ["42", "10 42 40"]);
}

#[test]
fn three_molecules_of_three_atoms_are_nine() {
    let atom = json!({"definitionId": "atom", "root": line("Atom")});
    let molecule = json!({"definitionId": "molecule", "root": [{"type": "atom"}, {"type": "atom"}, {"type": "atom"}]});
    let matter =
        json!({"definitionId": "matter", "root": [{"type": "molecule"}, {"type": "molecule"}, {"type": "molecule"}]});
    let world = run([atom, molecule, matter], json!({}));
    assert_eq!(world.lines(), ["Atom"; 9]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn an_output_of_the_inner_becomes_one_of_the_outer_and_of_the_workflow() {
    let middle = json!({
        "definitionId": "middle", "outputs": [{"name": "total"}],
        "root": {"type": "add", "a": 1, "b": 2, "sum": {"output": "total"}},
    });
    let main = json!({
        "definitionId": "main", "outputs": [{"name": "answer", "type": "String"}],
        "root": [{"type": "middle", "total": {"output": "answer"}}, {"type": "SetOutput", "outputName": "answer2", "outputValue": 1}],
    });
    let world = run([add(), middle, main], json!({}));
    assert_eq!(world.instance.output, *json!({"answer": "3", "answer2": 1}).as_object().unwrap());
}

#[test]
fn an_output_that_nobody_around_declares_is_the_workflows() {
    let child = json!({"definitionId": "child", "root": {"type": "SetOutput", "outputName": "x", "outputValue": 5}});
    let world = run([child, json!({"definitionId": "main", "root": {"type": "child"}})], json!({}));
    assert_eq!(world.instance.output["x"], 5);
}

#[test]
fn inputs_are_seen_in_every_language_before_those_of_the_workflow() {
    let child = json!({
        "definitionId": "child", "inputs": [{"name": "who"}, {"name": "none"}], "variables": {"local": "mine"},
        "root": [
            {"type": "WriteLine", "text": {"js": "`${getInput('who')} ${getWho()} ${getInput('none')} ${getInput('local')}`"}},
            {"type": "WriteLine", "text": {"input": "who"}},
            {"type": "WriteLine", "text": {"sql": "who"}},
            {"type": "WriteLine", "text": {"input": "other"}},
        ],
    });
    let main = json!({"definitionId": "main", "root": [
        {"type": "child", "who": {"input": "other"}},
        {"type": "WriteLine", "text": {"input": "who"}},
    ]});
    let world = run([child, main], json!({"who": "outer", "other": "given", "none": 1}));
    assert_eq!(world.lines(), ["given given null mine", "given", "given", "given", "outer"]);
}

#[test]
fn what_a_resume_brought_does_not_hide_an_input_inside() {
    let child = json!({"definitionId": "child", "inputs": [{"name": "x"}], "root": {"type": "WriteLine", "text": {"input": "x"}}});
    let main = json!({"definitionId": "main", "root": [event("go"), {"type": "child", "x": "inner"}]});
    let mut world = run([child, main], json!({}));
    world.resume("go", json!({"x": "resumed"}));
    assert_eq!(world.lines(), ["inner"]);
}

#[test]
fn the_inputs_of_a_composite_do_not_see_what_is_declared_inside() {
    let child = json!({
        "definitionId": "child", "inputs": [{"name": "CurrentValue"}], "variables": {"x": "inside"},
        "root": {"type": "WriteLine", "text": {"js": "getInput('CurrentValue') + getX()"}},
    });
    let main = json!({"definitionId": "main", "variables": {"x": "outside"}, "root": [
        {"type": "child", "CurrentValue": {"var": "x"}},
        {"type": "ForEach", "items": [1, 2], "body": {"type": "child", "CurrentValue": {"js": "`${getCurrentValue()}${getX()}`"}}},
    ]});
    let world = run([child, main], json!({}));
    assert_eq!(world.lines(), ["outsideinside", "1outsideinside", "2outsideinside"]);
}

#[test]
fn complete_ends_the_nearest_composite_with_outcomes_and_goes_no_further() {
    let inner = json!({"definitionId": "inner", "outcomes": ["Success", "Failure"], "root": [
        {"type": "Parallel", "activities": [event("never"), {"type": "Complete", "outcomes": "Success"}]}, line("not here"),
    ]});
    let middle = json!({"definitionId": "middle", "root": {"type": "Flowchart", "activities": [
            {"id": "inner", "type": "inner"}, {"id": "yes", "type": "WriteLine", "text": "yes"}, {"id": "no", "type": "WriteLine", "text": "no"}],
        "connections": [["inner", "Success", "yes"], ["inner", "Failure", "no"]]}});
    let main = json!({"definitionId": "main", "root": [line("Start"), {"type": "middle"}, line("End")]});
    let world = run([inner, middle, main], json!({}));
    assert_eq!(world.lines(), ["Start", "yes", "End"]);
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.journaled(EventKind::Canceled), ["never", "Parallel1", "Sequence1"]);
}

#[test]
fn what_a_composite_ends_with_is_not_what_the_one_around_it_ends_with() {
    let inner = json!({"definitionId": "inner", "root": {"type": "Complete", "outcomes": "Success"}});
    let middle = json!({"definitionId": "middle", "root": {"type": "inner"}});
    let main = json!({"definitionId": "main", "root": {"type": "Flowchart", "activities": [
            {"id": "m", "type": "middle"}, {"id": "done", "type": "WriteLine", "text": "done"}, {"id": "success", "type": "WriteLine", "text": "success"}],
        "connections": [["m", "done"], ["m", "Success", "success"]]}});
    assert_eq!(run([inner, middle, main], json!({})).lines(), ["done"]);
}

#[test]
fn what_is_around_a_complete_does_not_go_on_first() {
    let child = json!({"definitionId": "child", "variables": {"n": 0}, "root": {
        "type": "While", "condition": {"js": "setN(getN() + 1); if (getN() > 1) throw new Error('asked again'); return true"},
        "body": {"id": "end", "type": "Complete"}}});
    let world = run([child, json!({"definitionId": "main", "root": [{"type": "child"}, line("end")]})], json!({}));
    assert_eq!(world.lines(), ["end"]);
    assert_eq!(world.instance.incident_count, 0);
    assert_eq!(world.journaled(EventKind::Completed), ["end", "child1", "WriteLine1", "Sequence1"]);
}

#[test]
fn what_was_settled_comes_before_what_is_registered_or_built_in_since() {
    struct Settled(std::sync::Arc<workflow_engine::Program>);
    impl ActivityTypes for Settled {
        fn custom(&self, _type_name: &str) -> Option<CustomType> {
            Some(CustomType::default())
        }
        fn has_pinned(&self) -> bool {
            true
        }
        fn pinned(&self, reference: &WorkflowReference) -> Option<std::sync::Arc<workflow_engine::Program>> {
            ["Log", "Event"].contains(&reference.type_name.as_str()).then(|| self.0.clone())
        }
    }
    let child =
        Library::default().compile(&json!({"definitionId": "child", "root": line("child")})).expect("acceptable");
    let document = json!({"definitionId": "main", "root": [{"type": "Log"}, {"type": "Event"}, {"type": "Acme"}]});
    let types = Settled(std::sync::Arc::new(child));
    let program = compile(&document, &types, &ReadLimits::default(), false).expect("acceptable");
    let kinds: Vec<&str> = program.nodes.iter().map(|node| node.activity.descriptor().type_name).collect();
    let used = "Elsa.WorkflowDefinitionActivity";
    assert_eq!(kinds, ["Elsa.Sequence", used, used, "Custom", "Elsa.WriteLine", "Elsa.WriteLine"]);
}

#[test]
fn the_last_result_is_seen_inside_and_outside() {
    let child = json!({"definitionId": "child", "root": [{"type": "WriteLine", "text": {"js": "getLastResult()"}}, event("b")]});
    let main = json!({"definitionId": "main", "root": [event("a"), {"type": "child"}, {"type": "WriteLine", "text": {"js": "getLastResult()"}}]});
    let mut world = run([child, main], json!({}));
    world.resume("a", json!("first"));
    world.resume("b", json!("second"));
    assert_eq!(world.lines(), ["first", "second"]);
}

#[test]
fn ids_inside_mean_the_activities_of_the_same_workflow() {
    let child = json!({"definitionId": "child", "inputs": [{"name": "n"}], "outputs": [{"name": "r"}], "root": [
        {"id": "wait", "type": "Event", "eventName": {"js": "'e' + getN()"}},
        {"type": "SetOutput", "outputName": "r", "outputValue": {"js": "getOutputFrom('wait') + ' ' + getOutputFrom('outer', 'result')"}},
    ]});
    let main = json!({"definitionId": "main", "root": [
        {"id": "outer", "type": "Event", "eventName": "e0"},
        {"type": "Parallel", "activities": [{"id": "one", "type": "child", "n": 1}, {"id": "two", "type": "child", "n": 2}]},
        {"type": "WriteLine", "text": {"js": "getRFromOne() + ', ' + getRFromTwo() + ', ' + getOutputFrom('wait')"}},
    ]});
    let mut world = run([child, main], json!({}));
    world.resume("outer", json!("o"));
    assert_eq!(world.waiting(), ["wait", "wait"]);
    let nodes: Vec<&str> = world.bookmarks.iter().map(|bookmark| bookmark.node_id.as_str()).collect();
    let path = |one: &str| format!("Workflow1:Sequence1:Parallel1:{one}:Workflow1:Sequence1:wait");
    assert_eq!(nodes, [path("one"), path("two")]);
    world.resume_at(1, Some(&json!("second")));
    world.resume_at(0, Some(&json!("first")));
    assert_eq!(world.lines(), ["first o, second o, null"]);
}

#[test]
fn a_composite_in_a_loop_begins_anew_each_time() {
    let child = json!({"definitionId": "child", "inputs": [{"name": "n"}], "variables": {"count": 0}, "outputs": [{"name": "r"}], "root": [
        {"type": "SetVariable", "variable": "count", "value": {"js": "getCount() + getN()"}}, event("go"),
        {"type": "SetOutput", "outputName": "r", "outputValue": {"var": "count"}},
    ]});
    let main = json!({"definitionId": "main", "variables": {"r": 0}, "root": {"type": "ForEach", "items": [5, 6], "body": [
        {"type": "child", "n": {"var": "CurrentValue"}, "r": {"var": "r"}}, {"type": "WriteLine", "text": {"var": "r"}},
    ]}});
    let mut world = run([child, main], json!({}));
    world.run_to_end();
    assert_eq!(world.lines(), ["5", "6"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn break_inside_leaves_the_loop_around() {
    let child = json!({"definitionId": "child", "root": [{"type": "Break"}, line("no")]});
    let main = json!({"definitionId": "main", "root": [{"type": "For", "start": 1, "end": 3, "body": [line("round"), {"type": "child"}, line("no")]}, line("end")]});
    assert_eq!(run([child, main], json!({})).lines(), ["round", "end"]);
}

#[test]
fn a_fault_inside_is_retried_inside() {
    let child = json!({"definitionId": "child", "inputs": [{"name": "x"}], "root": [
        line("once"), {"id": "risky", "type": "WriteLine", "text": {"sql": "raise"}}, {"type": "WriteLine", "text": {"input": "x"}},
    ]});
    let main = json!({"definitionId": "main", "root": [{"type": "child", "x": "kept"}, line("end")]});
    let mut world = run([child, main], json!({}));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.last.incidents[0].node_id, "Workflow1:Sequence1:child1:Workflow1:Sequence1:risky");
    world.retry(Some(&["risky"])).expect("it is faulted");
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.lines(), ["once"]);
}

#[test]
fn an_input_that_cannot_be_computed_faults_the_composite_whose_retry_begins_anew() {
    let main = json!({"definitionId": "main", "variables": {"x": "no number"}, "root": [
        {"type": "add", "a": {"var": "x"}, "sum": {"output": "sum"}},
    ]});
    let mut world = run([add(), main], json!({}));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.last.incidents[0].activity_id, "add1");
    assert_eq!(world.last.incidents[0].fault.context.as_deref(), Some("input \"a\""));
    world.instance.variables["x"] = json!(6);
    world.retry(None).expect("it is faulted");
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.instance.output["sum"], 7);
}

#[test]
fn an_output_of_a_wrong_type_faults_the_activity_that_sets_it() {
    let child = json!({"definitionId": "child", "outputs": [{"name": "n", "type": "Int32"}],
        "root": {"id": "set", "type": "SetOutput", "outputName": "n", "outputValue": "many"}});
    let world = run([child, json!({"definitionId": "main", "root": {"type": "child"}})], json!({}));
    assert_eq!(world.last.incidents[0].activity_id, "set");
    assert!(world.last.incidents[0].fault.message.starts_with("output \"n\": "));
}

#[test]
fn triggers_inside_wait_like_any_other_activity() {
    let child = json!({"definitionId": "child", "root": {"type": "Flowchart", "activities": [
            {"id": "first", "type": "WriteLine", "text": "by hand"}, {"id": "trigger", "type": "Event", "eventName": "E", "canStartWorkflow": true}, {"id": "after", "type": "WriteLine", "text": "after"}],
        "connections": [["first", "after"], ["trigger", "after"]]}});
    let mut world = run([child, json!({"definitionId": "main", "root": {"type": "child"}})], json!({}));
    assert_eq!(world.waiting(), ["trigger"]);
    assert!(world.program.nodes.iter().all(|node| !node.can_start_workflow));
    world.resume("trigger", json!(null));
    assert_eq!(world.lines(), ["after"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn finish_inside_ends_everything() {
    let child = json!({"definitionId": "child", "root": [{"type": "Finish"}]});
    let main = json!({"definitionId": "main", "root": [{"type": "Parallel", "activities": [event("never"), {"type": "child"}]}, line("no")]});
    let world = run([child, main], json!({}));
    assert_eq!(world.status(), SubStatus::Finished);
    assert!(world.lines().is_empty());
}

#[test]
fn a_composite_written_in_place_has_variables_and_a_result() {
    let world = World::started(json!({"variables": {"Total": 0, "Sum": "outer"}, "root": [
        {"id": "sum", "type": "Composite", "variables": {"Sum": 1}, "resultVariable": "Sum", "result": {"var": "Total"}, "root": [
            {"type": "SetVariable", "variable": "Sum", "value": {"js": "getSum() + 4"}}, {"type": "Complete"}, line("no")]},
        {"type": "WriteLine", "text": {"js": "getTotal() + ' ' + getSum() + ' ' + getOutputFrom('sum') + ' ' + getLastResult()"}},
    ]}));
    assert_eq!(world.lines(), ["5 outer 5 5"]);
}

#[test]
fn a_composite_binds_its_result_where_it_stands() {
    let world = World::started(json!({"variables": {"X": "outer"}, "root": [
        {"type": "Composite", "variables": {"X": "inner"}, "resultVariable": {"id": "X"}, "result": {"var": "X"}, "root": []},
        {"type": "WriteLine", "text": {"var": "X"}},
        {"type": "Composite"},
    ]}));
    assert_eq!(world.lines(), ["inner"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn only_the_nearest_composite_is_completed() {
    let world = World::started(json!([
        {"type": "Composite", "root": [{"type": "Composite", "root": [{"type": "Complete"}, line("no")]}, line("outer")]}, line("end"),
    ]));
    assert_eq!(world.lines(), ["outer", "end"]);
}

#[test]
fn a_workflow_that_contains_itself_is_refused_with_the_circle() {
    let library = Library::of([
        json!({"definitionId": "a", "root": []}),
        json!({"definitionId": "b", "root": [{"type": "a"}]}),
        json!({"definitionId": "c", "root": [{"type": "b"}]}),
    ]);
    let refused = |definition: Value| library.compile(&definition).expect_err("a circle");
    let problems = refused(json!({"definitionId": "a", "root": [line("x"), {"type": "c"}]}));
    assert_eq!(problems[0].path, "/root/1");
    assert_eq!(
        problems[0].message,
        "a workflow cannot contain itself: \"a\" contains \"c\" contains \"b\" contains \"a\""
    );
    let problems = refused(json!({"definitionId": "a", "root": {"type": "a"}}));
    assert_eq!(problems[0].message, "a workflow cannot contain itself: \"a\" contains \"a\"");
}

#[test]
fn workflows_that_use_each_other_twice_become_too_large_in_time() {
    let uses = |id: usize, used: usize| {
        let used = format!("w{used}");
        json!({"definitionId": format!("w{id}"), "root": [{"type": used}, {"type": used}]})
    };
    let mut library = Library::of([json!({"definitionId": "w0", "root": line(&"x".repeat(2000))})]);
    for id in 1..=20 {
        if let Err(problems) = library.add(&uses(id, id - 1)) {
            assert!(id > 10, "{id}");
            assert_eq!(problems[0].kind, ProblemKind::TooLarge);
            assert_eq!(problems[0].path, "/root/1");
            return;
        }
    }
    panic!("twenty levels are too many");
}

#[test]
fn workflows_inside_each_other_become_too_deep_in_time() {
    let mut library = Library::default();
    for id in 0..60 {
        let root = if id == 0 { json!([]) } else { json!({"type": format!("w{}", id - 1)}) };
        if let Err(problems) = library.add(&json!({"definitionId": format!("w{id}"), "root": root})) {
            assert_eq!(problems[0].kind, ProblemKind::TooDeep);
            assert_eq!(problems[0].message, "workflows are used inside each other more than 50 levels deep");
            assert_eq!(id, 51);
            return;
        }
    }
    panic!("sixty levels are too many");
}

#[test]
fn the_nesting_of_activities_counts_through_workflows() {
    let deep = |levels: usize, inner: Value| (0..levels).fold(inner, |activity, _| json!([activity]));
    let library = Library::of([json!({"definitionId": "deep", "root": deep(300, line("x"))})]);
    let with =
        |levels| library.compile(&json!({"definitionId": "main", "root": deep(levels, json!({"type": "deep"}))}));
    assert!(with(198).is_ok());
    let problems = with(199).expect_err("too deep");
    assert_eq!(problems[0].message, "with the workflow inside, activities are nested deeper than 500 levels");
    assert_eq!(problems[0].kind, ProblemKind::TooDeep);
}

#[test]
fn members_that_a_workflow_does_not_declare_are_refused_in_the_short_form() {
    let library = Library::of([add()]);
    let problems = |activity: Value| {
        let refused = library.compile(&json!({"definitionId": "m", "root": activity})).expect_err("a problem");
        refused.into_iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect::<Vec<_>>()
    };
    assert_eq!(
        problems(json!({"type": "add", "a": 1, "summ": {"output": "x"}})),
        ["/root/summ: workflow \"add\" declares no input or output \"summ\" (did you mean \"sum\"?)"]
    );
    assert_eq!(
        problems(json!({"type": "add", "price": 1})),
        ["/root/price: workflow \"add\" declares no input or output \"price\""]
    );
    assert_eq!(problems(json!({"type": "add", "a": "many"})).len(), 1);
    assert_eq!(
        problems(json!({"type": "WorkflowDefinitionActivity"})),
        [
            "/root: activity type \"Elsa.WorkflowDefinitionActivity\" is not supported: it needs a \"workflowDefinitionId\""
        ]
    );
    assert_eq!(
        problems(json!({"workflowDefinitionId": "gone"})),
        ["/root: workflow definition \"gone\" does not exist"]
    );
    assert!(problems(json!({"type": "Workflow"}))[0].contains("use \"Composite\""));
    let elsa = json!({"definitionId": "m", "root": {"type": "add", "version": 1, "metadata": {}, "price": 1}});
    assert!(library.compile(&elsa).is_ok());
}

#[test]
fn a_port_that_is_nearly_an_outcome_of_the_workflow_is_a_slip() {
    let library = Library::of([json!({"definitionId": "check", "outcomes": ["Good", "Bad"], "root": []})]);
    let flow = |port: &str| {
        json!({"definitionId": "m", "root": {"type": "Flowchart", "activities": [{"id": "a", "type": "check"}, {"id": "b", "type": "End"}],
            "connections": [["a", port, "b"]]}})
    };
    for port in ["Good", "Bad", "Done", "Other"] {
        assert!(library.compile(&flow(port)).is_ok(), "{port}");
    }
    let problems = library.compile(&flow("good")).expect_err("a slip");
    assert_eq!(problems[0].message, "unknown outcome \"good\" (did you mean \"Good\"?)");
}

#[test]
fn an_export_keeps_the_reference_and_compiles_to_the_same() {
    let library = Library::of([add()]);
    let document = json!({"definitionId": "m", "variables": {"S": 0}, "outputs": [{"name": "T"}], "root": [
        {"id": "x", "type": "add", "a": {"js": "1"}, "sum": {"var": "S"}},
        {"id": "y", "workflowDefinitionId": "add", "version": 3, "a": 2, "sum": {"output": "T"}},
        {"id": "z", "type": "Composite", "variables": {"S": 1}, "resultVariable": "S", "result": {"var": "S"}, "root": {"type": "End"}},
    ]});
    let exported = export(&document, "m", 1, true, true, &library);
    let [x, y, z] = [0, 1, 2].map(|at| &exported["root"]["activities"][at]);
    assert_eq!((&x["type"], x.get("version")), (&json!("add"), None));
    assert_eq!((&y["workflowDefinitionId"], &y["version"]), (&json!("add"), &json!(3)));
    assert_eq!(x["a"]["expression"], json!({"type": "JavaScript", "value": "1"}));
    assert_eq!(x["sum"]["memoryReference"], json!({"id": "S"}));
    assert_eq!(z["resultVariable"]["name"], "S");
    let text = |document: &Value| format!("{:?}", library.compile(document).expect("acceptable").nodes);
    assert_eq!(text(&document), text(&exported));
}
