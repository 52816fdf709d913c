//! Saving as Studio's editor does loses nothing.

use serde_json::{Map, Value, json};

use crate::definitions::{define, exported, has_members, line, open, quoted, save};
use crate::support::World;

const EVERYTHING: &str = include_str!("definitions_everything.json");

/// A definition after Elsa's client has read and written it: the client keeps only the members that it knows, and
/// writes nulls for those that it did not read. The root and the custom properties stay unchanged.
pub fn through_studio(model: &Value) -> Value {
    let mut sent = kept(
        model,
        &["id", "definitionId", "name", "description", "createdAt", "toolVersion", "root", "customProperties", "links"],
        &["version", "isLatest", "isPublished", "isReadonly"],
    );
    for (name, texts, flags) in [
        (
            "inputs",
            &["type", "name", "displayName", "description", "category", "uiHint", "storageDriverType"][..],
            "isArray",
        ),
        ("outputs", &["type", "name", "displayName", "description", "category"], "isArray"),
        ("variables", &["id", "name", "typeName", "value", "storageDriverTypeName"], "isArray"),
    ] {
        let list = model[name].as_array().map(Vec::as_slice).unwrap_or_default();
        sent[name] = list.iter().map(|element| kept(element, texts, &[flags])).collect();
    }
    sent["outcomes"] = model["outcomes"].clone();
    sent["options"] = kept(
        &model["options"],
        &[
            "activationStrategyType",
            "usableAsActivity",
            "activityCategory",
            "incidentStrategyType",
            "commitStrategyName",
        ],
        &["autoUpdateConsumingWorkflows"],
    );
    sent
}

fn kept(object: &Value, nullable: &[&str], others: &[&str]) -> Value {
    let mut members = Map::new();
    for name in nullable {
        members.insert((*name).into(), object[*name].clone());
    }
    for name in others {
        let value = if object[*name].is_null() { json!(false) } else { object[*name].clone() };
        members.insert((*name).into(), value);
    }
    Value::Object(members)
}

/// An export without the members that belong to the version or to the name of a copy.
fn content(mut export: Value) -> Value {
    for member in ["version", "isLatest", "isPublished", "definitionId", "name"] {
        export.as_object_mut().expect("an object").remove(member);
    }
    export
}

#[test]
fn a_save_loses_nothing() {
    let world = World::new();
    let ada = world.client("ada");
    world.sql(&format!("SET ROLE ada; SELECT wf_define({})", quoted(EVERYTHING)));
    let before = exported(&world, "everything");
    let opened = open(&ada, "everything");
    // Makes sure that the definition has members which the client drops.
    assert!(before["options"]["security"] == "definer" && opened["options"].get("security").is_none());

    let first = save(&ada, &through_studio(&opened), false).ok();
    assert_eq!(content(exported(&world, "everything")), content(before.clone()));

    let mut renamed = through_studio(&first["workflowDefinition"]);
    renamed["name"] = json!("Everything, renamed");
    let second = save(&ada, &renamed, false).ok();
    assert_eq!(second["workflowDefinition"]["version"], 2);
    let after = exported(&world, "everything");
    assert_eq!((content(after.clone()), &after["name"]), (content(before.clone()), &json!("Everything, renamed")));
    // Neither the draft nor the version published from it contains anything of the gateway's.
    let stored = "SELECT document::text FROM workflow.definition_list WHERE definition_id = 'everything' AND is_latest";
    assert!(!world.value(stored).unwrap().contains("session"));

    // Duplicate and Save As: a new definition with the content that was opened.
    let mut copy = through_studio(&open(&ada, "everything"));
    (copy["definitionId"], copy["id"], copy["name"]) = (Value::Null, Value::Null, json!("Copy"));
    let copied = save(&ada, &copy, false).ok()["workflowDefinition"].clone();
    let id = copied["definitionId"].as_str().unwrap();
    assert!(id.len() == 16 && id.chars().all(|digit| digit.is_ascii_hexdigit()), "{id}");
    assert_eq!(copied["version"], 1);
    assert_eq!(content(exported(&world, id)), content(before.clone()));

    // Rollback.
    let summary = ada.send("POST", "/workflow-definitions/everything/revert/1", "").ok();
    assert_eq!(
        (&summary["version"], &summary["isLatest"], &summary["name"]),
        (&json!(3), &json!(true), &json!("Everything"))
    );
    assert_eq!(content(exported(&world, "everything")), content(before.clone()));

    // Export and import: by Studio, whose client reads and writes the file, and unchanged.
    let file = ada.get("/workflow-definitions/everything/export?versionOptions=1").ok();
    assert!(!file.to_string().contains("session") && !file.to_string().contains("revision"));
    for (mut file, id) in [(through_studio(&file), "by-studio"), (file, "as-it-is")] {
        file["definitionId"] = json!(id);
        let imported = ada.post("/workflow-definitions/import", &file).ok();
        assert_eq!(imported["definitionId"], id);
        assert_eq!(content(exported(&world, id)), content(before.clone()), "{id}");
    }
}

#[test]
fn what_an_editor_changes_is_changed() {
    let world = World::new();
    let ada = world.client("ada");
    world.sql(&format!("SET ROLE ada; SELECT wf_define({})", quoted(EVERYTHING)));
    let mut model = through_studio(&open(&ada, "everything"));
    // The second is renamed, the third is removed, one is added, and the first is now the last.
    model["inputs"][1]["name"] = json!("Client");
    let amount = model["inputs"].as_array_mut().unwrap().remove(0);
    model["inputs"].as_array_mut().unwrap().remove(1);
    model["inputs"].as_array_mut().unwrap().push(amount);
    let added = json!({"type": "String", "isArray": false, "name": "Added", "displayName": "Added", "uiHint": "singleline", "storageDriverType": null});
    model["inputs"].as_array_mut().unwrap().push(added);
    model["options"]["usableAsActivity"] = json!(false);
    model["options"]["activityCategory"] = Value::Null;
    model["description"] = Value::Null;
    model["customProperties"].as_object_mut().unwrap().remove("colour");
    model["variables"][1]["value"] = json!("5");
    model["outputs"] = json!([]);
    save(&ada, &model, false).ok();
    let after = exported(&world, "everything");
    let inputs = after["inputs"].as_array().unwrap();
    let names: Vec<&str> = inputs.iter().map(|input| input["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Client", "Note", "Amount", "Added"]);
    assert_eq!((&inputs[1]["defaultValue"], &inputs[2]["required"]), (&json!("none"), &json!(true)));
    assert!(inputs[3].get("schema").is_none() && inputs[3].get("default").is_none());
    assert!(after.get("description").is_none() && after["options"].get("activityCategory").is_none());
    assert_eq!(after["options"]["security"], "definer");
    assert_eq!(
        after["customProperties"],
        serde_json::from_str::<Value>(r#"{"weight": 1.50, "workflow": {"mine": true}}"#).unwrap()
    );
    assert_eq!((&after["outputs"], &after["variables"][1]["value"]), (&json!([]), &json!("5")));

    // A renamed input keeps its unknown members because of its position.
    let mut model = through_studio(&open(&ada, "everything"));
    model["inputs"][2]["name"] = json!("Sum");
    model["variables"][0]["name"] = json!("Discount");
    save(&ada, &model, false).ok();
    let after = exported(&world, "everything");
    assert_eq!((&after["inputs"][2]["name"], &after["inputs"][2]["required"]), (&json!("Sum"), &json!(true)));
    assert_eq!(
        (&after["variables"][0]["id"], &after["variables"][0]["description"]),
        (&json!("v1"), &json!("of discount"))
    );
}

#[test]
fn a_draft_is_overwritten_and_need_not_compile() {
    let world = World::new();
    let ada = world.client("ada");
    let new = json!({"id": null, "definitionId": null, "name": "Workflow 1", "createdAt": "0001-01-01T00:00:00+00:00",
        "version": 0, "isLatest": false, "isPublished": false, "variables": [], "inputs": [], "outputs": [],
        "outcomes": [], "customProperties": {}, "options": {"activationStrategyType": null},
        "root": {"type": "Elsa.Flowchart", "version": 1, "id": "f", "nodeId": "Workflow1:f", "activities": [], "connections": []}});
    let answer = save(&ada, &new, false).ok();
    has_members(&answer, &["workflowDefinition", "alreadyPublished", "consumingWorkflowCount", "validationErrors"]);
    let created = &answer["workflowDefinition"];
    assert_eq!(
        (&created["version"], &created["isPublished"], &created["isLatest"]),
        (&json!(1), &json!(false), &json!(true))
    );
    let mut model = through_studio(created);
    model["root"]["activities"] = json!([{"type": "Elsa.WriteLine", "id": "w", "version": 1,
        "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": "`${getVar "}}}]);
    let saved = save(&ada, &model, false).ok()["workflowDefinition"].clone();
    assert_eq!((&saved["id"], &saved["version"]), (&created["id"], &json!(1)));
    assert_eq!(saved["root"]["activities"][0]["nodeId"], "Workflow1:f:w");

    // A definition that cannot be published is stored anyway, and each problem is reported.
    model["name"] = json!("Workflow 2");
    let problems = save(&ada, &model, true).errors(400);
    assert!(problems.iter().any(|text| text.starts_with("w, text")), "{problems:?}");
    let id = saved["definitionId"].as_str().unwrap();
    assert_eq!((&open(&ada, id)["name"], &open(&ada, id)["isPublished"]), (&json!("Workflow 2"), &json!(false)));

    model["root"]["activities"][0]["text"]["expression"]["value"] = json!("`${1 + 1}`");
    let published = save(&ada, &model, true).ok();
    assert_eq!(
        (&published["workflowDefinition"]["isPublished"], &published["alreadyPublished"]),
        (&json!(true), &json!(false))
    );
    // An unchanged published version is not published again. (The first save after it stores the form that the database
    // exports.)
    let once = save(&ada, &through_studio(&published["workflowDefinition"]), true).ok();
    let again = save(&ada, &through_studio(&once["workflowDefinition"]), true).ok();
    assert_eq!(again["alreadyPublished"], true);
    assert_eq!(again["workflowDefinition"]["id"], once["workflowDefinition"]["id"]);
    let mut model = through_studio(&again["workflowDefinition"]);
    model["description"] = json!("a new draft");
    let draft = save(&ada, &model, false).ok()["workflowDefinition"].clone();
    assert_eq!((&draft["version"], &draft["isPublished"]), (&json!(3), &json!(false)));
    assert_ne!(draft["id"], published["workflowDefinition"]["id"]);
}

#[test]
fn two_editors_do_not_overwrite_each_other() {
    let world = World::new();
    let (ada, other) = (world.client("ada"), world.client("ada"));
    define(&world, "ada", &line("a", "Alpha"));
    let (first, second) = (open(&ada, "a"), open(&other, "a"));
    let named = |model: &Value, name: &str| {
        let mut model = through_studio(model);
        model["name"] = json!(name);
        model
    };
    // Saves of one editor arrive in order, and need not wait for each other's answers.
    for name in ["One", "Two", "Three"] {
        save(&ada, &named(&first, name), false).ok();
    }
    let refused = save(&other, &named(&second, "Mine"), false).errors(400);
    assert!(refused[0].contains("was changed by ada at 2"), "{refused:?}");
    assert_eq!(open(&ada, "a")["name"], "Three");
    assert_eq!(save(&other, &named(&second, "Mine"), true).status, 400);
    // A client that has read the change may continue from it; then the first client has to read again.
    let answer = save(&other, &named(&open(&other, "a"), "Mine"), false).ok()["workflowDefinition"].clone();
    assert_eq!(save(&ada, &named(&first, "Four"), false).status, 400);
    save(&other, &named(&answer, "Mine as well"), true).ok();
    save(&other, &named(&answer, "And this"), false).ok();
    assert_eq!(open(&ada, "a")["name"], "And this");
    // A deleted definition is not restored by a save.
    assert_eq!(ada.delete("/workflow-definitions/a").status, 204);
    let refused = save(&other, &named(&answer, "Gone"), false).errors(400);
    assert!(refused[0].contains("was deleted"), "{refused:?}");
    // A client that has read nothing sends no version, and overwrites, as in Elsa.
    save(&ada, &line("a", "New"), false).ok();
    save(&other, &line("a", "Newer"), false).ok();
    assert_eq!(open(&ada, "a")["name"], "Newer");
}

#[test]
fn deep_and_large_documents_go_through() {
    let world = World::new();
    let ada = world.client("ada");
    // Nested parts of the document count: 240 activities in lists, and the document around them.
    let (mut open_part, mut close_part) = (String::new(), String::new());
    for at in 0..240 {
        open_part.push_str(&format!(r#"{{"type":"Elsa.Sequence","version":1,"id":"s{at}","activities":["#));
        close_part.insert_str(0, "]}");
    }
    let padding = "x".repeat(8 << 20);
    let body = format!(
        r#"{{"publish":true,"model":{{"definitionId":"deep","name":"Deep","customProperties":{{"n":123456789012345678901234567890.10}},"root":{open_part}{{"type":"Elsa.WriteLine","version":1,"id":"w","customProperties":{{"n":1.100,"pad":"{padding}"}},"text":{{"typeName":"String","expression":{{"type":"Literal","value":"x"}}}}}}{close_part}}}}}"#
    );
    let answer = ada.send("POST", "/workflow-definitions", &body);
    assert_eq!(answer.status, 200, "{}", &answer.text[..answer.text.len().min(500)]);
    let opened = ada.get("/workflow-definitions/by-definition-id/deep");
    assert!(opened.status == 200 && opened.text.len() > padding.len());
    for digits in ["123456789012345678901234567890.10", "1.100"] {
        assert!(opened.text.contains(digits), "{digits}");
    }
    let id = world.value("SELECT version_id::text FROM workflow.definition_list").expect("a version");
    let file = ada.get("/workflow-definitions/deep/export");
    assert!(file.status == 200 && file.text.contains("123456789012345678901234567890.10"));
    let way: String = (0..240).map(|at| format!(":s{at}")).collect();
    let found = ada.get(&format!("/workflow-definitions/subgraph/{id}?parentNodeId=Workflow1{way}:w"));
    assert!(found.status == 200 && found.text.contains("1.100"));
    let run = ada.send("POST", "/workflow-definitions/deep/execute", r#"{"versionOptions":"Latest"}"#);
    assert_eq!(run.ok()["workflowState"]["subStatus"], "Finished");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let world = World::new();
    let ada = world.client("ada");
    let deep = format!("{{\"model\": {}{}}}", "[".repeat(2000), "]".repeat(2000));
    for body in [
        "",
        "{",
        "[]",
        "7",
        "{\"model\": 7}",
        "{\"model\": null}",
        "{\"publish\": true}",
        deep.as_str(),
        "{\"model\":{\"name\":\"a\\u0000b\"}}",
    ] {
        assert_eq!(ada.send("POST", "/workflow-definitions", body).status, 400, "{}", &body[..body.len().min(40)]);
        assert_eq!(ada.send("POST", "/workflow-definitions/import", &body.replace("{\"model\":", "")).status, 400);
    }
    // Members of the wrong type are stored in a draft, shown as absent, and kept by a save.
    let odd = json!({"definitionId": "odd", "inputs": {"a": 1}, "options": [1], "variables": [1], "outcomes": [1], "toolVersion": "new", "root": null});
    world.sql(&format!("SET ROLE ada; SELECT wf_save_draft({})", quoted(&odd.to_string())));
    let before = exported(&world, "odd");
    let opened = open(&ada, "odd");
    assert_eq!(
        (&opened["name"], &opened["toolVersion"], &opened["root"]["type"]),
        (&Value::Null, &json!("3.6.0.0"), &json!("Elsa.Flowchart"))
    );
    for list in ["inputs", "outputs", "variables", "outcomes"] {
        assert_eq!(opened[list], json!([]));
    }
    save(&ada, &through_studio(&opened), false).ok();
    let mut after = exported(&world, "odd");
    after["root"] = before["root"].clone();
    assert_eq!(after, before);
}
