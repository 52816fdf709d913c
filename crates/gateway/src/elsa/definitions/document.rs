//! Conversion of a definition between the stored document and what Elsa Studio reads and sends.
//!
//! Studio's client preserves the root activity and the custom properties. Of the rest of a document it keeps only the
//! members that it knows, so saving would lose the others. We therefore carry them inside the custom properties, under
//! [`PLACE`], and a save puts them back; a stored document never contains [`PLACE`]. The same place carries the
//! definition, the revision that the editor has read, and an id of the editing session. A save compares them to detect
//! that it would overwrite another user's change, so the gateway needs no state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::activities;
use super::members::{self, FREE, LISTS, Members, OF_ANSWER, OF_VERSION, OPTION, ObjectShape, TOP, ValueKind};
use crate::failure::Failure;
use crate::json::raw;

/// The custom property that carries what Studio would lose.
const PLACE: &str = "workflow";
/// Format of [`CarriedParts`]. It tells ours from a custom property of a user.
const FORMAT: &str = "elsa-studio/1";
/// The version of Elsa whose format `wf_export` writes.
const TOOL_VERSION: &str = "3.6.0.0";
/// Shown for a draft that has no root yet, so that the editor opens.
const EMPTY_ROOT: &str = r#"{"type":"Elsa.Flowchart","version":1,"id":"Flowchart1","nodeId":"Workflow1:Flowchart1","metadata":{},"customProperties":{},"activities":[],"connections":[]}"#;

/// The version that an editor has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Edited {
    pub definition_id: String,
    /// The revision that it has read, as `wf_save_draft` counts them.
    pub revision: i64,
    /// Identifies the editing session, so that it recognizes its own saves.
    pub session: String,
}

/// The content of [`PLACE`].
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CarriedParts {
    format: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    edited: Option<Edited>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    document: Members,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    options: Members,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    custom_properties: Members,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    lists: BTreeMap<String, Vec<CarriedElement>>,
}

/// An input, output or variable as it was when the document was opened.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CarriedElement {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    rest: Members,
}

impl CarriedParts {
    fn is_empty(&self) -> bool {
        let lists = self.lists.values().flatten().all(|element| element.rest.is_empty());
        self.edited.is_none()
            && self.document.is_empty()
            && self.options.is_empty()
            && self.custom_properties.is_empty()
            && lists
    }

    /// Removes it from the custom properties, unless the value there is a user's own.
    fn take(properties: &mut Members) -> Option<Self> {
        let found: Self = serde_json::from_str(properties.get(PLACE)?.get()).ok()?;
        if found.format != FORMAT || found.is_empty() {
            return None;
        }
        properties.remove(PLACE);
        Some(found)
    }
}

/// The document for an editor: the members that Studio's client reads, with the rest inside its custom properties.
///
/// `export` is the result of `wf_export`.
pub fn open(export: &str, edited: Edited) -> Result<Members, Failure> {
    let (mut shown, mut carried) = divide(export)?;
    let tool_version = carried.document.get("toolVersion").filter(|text| is_tool_version(text));
    shown.insert("toolVersion".into(), tool_version.cloned().unwrap_or(raw(TOOL_VERSION)?));
    carried.edited = Some(edited);
    place(&mut shown, &carried)?;
    members::fill_options(&mut shown)?;
    let root = shown.remove("root").map_or_else(|| raw_text(EMPTY_ROOT), Ok)?;
    shown.insert("root".into(), activities::for_editor(root)?);
    for list in ["inputs", "outputs", "variables", "outcomes"] {
        shown.entry(list.into()).or_insert(raw_text("[]")?);
    }
    Ok(shown)
}

/// The document for a file: as `wf_export` returns it, plus what Studio's import would lose.
pub fn file(export: &str) -> Result<String, Failure> {
    let (_, carried) = divide(export)?;
    let mut whole: Members = serde_json::from_str(export).map_err(Failure::internal)?;
    if carried.is_empty() {
        return Ok(export.to_owned());
    }
    place(&mut whole, &carried)?;
    serde_json::to_string(&whole).map_err(Failure::internal)
}

/// Separates what Studio's client reads from what it would lose.
fn divide(export: &str) -> Result<(Members, CarriedParts), Failure> {
    let mut all: Members = serde_json::from_str(export).map_err(Failure::internal)?;
    let mut carried = CarriedParts { format: FORMAT.into(), ..CarriedParts::default() };
    all.retain(|name, _| !OF_VERSION.contains(&name.as_str()));
    for name in OF_ANSWER {
        if let Some(value) = all.remove(*name).filter(|value| !TOP.fills(name, value)) {
            carried.document.insert((*name).into(), value);
        }
    }
    let (mut shown, rest) = members::split(all, &TOP);
    carried.document.extend(rest);
    divide_options(&mut shown, &mut carried)?;
    divide_properties(&mut shown, &mut carried)?;
    for (list, shape) in LISTS {
        let Some(value) = shown.remove(*list) else { continue };
        let Ok(elements) = serde_json::from_str::<Vec<Members>>(value.get()) else {
            carried.document.insert((*list).into(), value);
            continue;
        };
        let (elements, rests): (Vec<Members>, Vec<CarriedElement>) =
            elements.into_iter().map(|element| divide_element(element, shape)).unzip();
        if rests.iter().any(|element| !element.rest.is_empty()) {
            carried.lists.insert((*list).into(), rests);
        }
        shown.insert((*list).into(), raw(&elements)?);
    }
    Ok((shown, carried))
}

fn divide_element(element: Members, shape: &ObjectShape) -> (Members, CarriedElement) {
    let (shown, rest) = members::split(element, shape);
    let element = CarriedElement { id: members::text(&shown, "id"), name: members::text(&shown, "name"), rest };
    (shown, element)
}

fn divide_options(shown: &mut Members, carried: &mut CarriedParts) -> Result<(), Failure> {
    if let Some(options) = shown.remove("options") {
        let options = serde_json::from_str(options.get()).map_err(Failure::internal)?;
        let (options, rest) = members::split(options, &OPTION);
        carried.options = rest;
        shown.insert("options".into(), raw(&options)?);
    }
    Ok(())
}

/// A user's own value under our name is carried as well. Leftovers of an earlier export are recognized by the document.
fn divide_properties(shown: &mut Members, carried: &mut CarriedParts) -> Result<(), Failure> {
    if let Some(properties) = shown.remove("customProperties") {
        let mut properties: Members = serde_json::from_str(properties.get()).map_err(Failure::internal)?;
        if let Some(left) = CarriedParts::take(&mut properties) {
            carried.custom_properties = left.custom_properties;
        } else if let Some(own) = properties.remove(PLACE) {
            carried.custom_properties.insert(PLACE.into(), own);
        }
        shown.insert("customProperties".into(), raw(&properties)?);
    }
    Ok(())
}

/// Puts the carried members into the custom properties.
fn place(document: &mut Members, carried: &CarriedParts) -> Result<(), Failure> {
    let mut properties = members::object(document, "customProperties").unwrap_or_default();
    properties.insert(PLACE.into(), raw(carried)?);
    document.insert("customProperties".into(), raw(&properties)?);
    Ok(())
}

/// A document that a client sent for storage.
#[derive(Debug)]
pub struct SentDocument {
    document: Members,
    edited: Option<Edited>,
}

impl SentDocument {
    /// Reads a document from an editor. The client's description of the stored version is ignored.
    pub fn by_editor(model: Members) -> Result<Self, Failure> {
        let mut model = Self::spelled(model);
        model.retain(|name, _| name == "definitionId" || !OF_VERSION.contains(&name.as_str()));
        model.retain(|name, _| !OF_ANSWER.contains(&name.as_str()));
        Self::read(model)
    }

    /// Reads the content of a file. A file that no gateway has written is stored unchanged.
    pub fn by_file(model: Members) -> Result<Self, Failure> {
        let model = Self::spelled(model);
        if model.get("root").is_none_or(|root| !root.get().starts_with(['{', '['])) {
            return Err(Failure::bad_request("this is no definition: it has no \"root\" activity"));
        }
        Self::read(model)
    }

    fn spelled(model: Members) -> Members {
        let names = OF_VERSION.iter().chain(OF_ANSWER).map(|name| (*name, ValueKind::Any));
        members::canonical(model, &names.chain(TOP.known.iter().copied()).collect::<Vec<_>>())
    }

    fn read(mut document: Members) -> Result<Self, Failure> {
        if let Some(root) = document.remove("root") {
            document.insert("root".into(), activities::for_storage(root)?);
        }
        let mut properties = members::object(&document, "customProperties").unwrap_or_default();
        let Some(carried) = CarriedParts::take(&mut properties) else {
            return Ok(Self { document, edited: None });
        };
        members::put_back(&mut properties, carried.custom_properties, &FREE);
        document.insert("customProperties".into(), raw(&properties)?);
        if let Some(options) = members::object(&document, "options") {
            let mut options = members::canonical(options, OPTION.known);
            members::put_back(&mut options, carried.options, &OPTION);
            document.insert("options".into(), raw(&options)?);
        }
        let mut lists = carried.lists;
        for (list, shape) in LISTS {
            let elements = document.get(*list).map(|value| serde_json::from_str::<Vec<Members>>(value.get()));
            if let Some(Ok(elements)) = elements {
                let carried = lists.remove(*list).unwrap_or_default();
                document.insert((*list).into(), raw(&put_back_elements(elements, carried, shape))?);
            }
        }
        document.retain(|name, _| !OF_ANSWER.contains(&name.as_str()));
        members::put_back(&mut document, carried.document, &TOP);
        Ok(Self { document, edited: carried.edited })
    }

    /// The definition id in the document.
    pub fn definition_id(&self) -> Option<String> {
        members::text(&self.document, "definitionId").filter(|id| !id.trim().is_empty())
    }

    /// The `id` of a file: names the definition if there is no `definitionId`.
    pub fn id(&self) -> Option<String> {
        members::text(&self.document, "id").filter(|id| !id.trim().is_empty())
    }

    /// The version of this definition that the client had read before it sent the document.
    pub fn edited(&self, definition_id: &str) -> Option<&Edited> {
        self.edited.as_ref().filter(|edited| edited.definition_id == definition_id)
    }

    /// The document to store, under this id.
    pub fn into_text(mut self, definition_id: &str) -> Result<String, Failure> {
        self.document.insert("definitionId".into(), raw(definition_id)?);
        serde_json::to_string(&self.document).map_err(Failure::internal)
    }
}

/// Puts the carried members back into each element, matched by id, else by name, else by position if the element there
/// has a new name.
fn put_back_elements(mut elements: Vec<Members>, carried: Vec<CarriedElement>, shape: &ObjectShape) -> Vec<Members> {
    let names: Vec<Option<String>> = carried.iter().map(|element| element.name.clone()).collect();
    let mut is_free = vec![true; elements.len()];
    let mut waiting = Vec::new();
    for element in &mut elements {
        *element = members::canonical(std::mem::take(element), shape.known);
    }
    for (place, element) in carried.into_iter().enumerate() {
        let has = |name: &str, wanted: &Option<String>| {
            let wanted = wanted.as_ref()?;
            (0..elements.len()).find(|at| is_free[*at] && members::text(&elements[*at], name).as_ref() == Some(wanted))
        };
        match has("id", &element.id).or_else(|| has("name", &element.name)) {
            Some(at) => {
                is_free[at] = false;
                members::put_back(&mut elements[at], element.rest, shape);
            }
            None => waiting.push((place, element)),
        }
    }
    for (place, element) in waiting {
        let is_new = |at: usize| is_free[at] && !names.contains(&members::text(&elements[at], "name"));
        if place < elements.len() && is_new(place) {
            is_free[place] = false;
            members::put_back(&mut elements[place], element.rest, shape);
        }
    }
    for at in (0..elements.len()).filter(|at| is_free[*at]) {
        members::put_back(&mut elements[at], Members::new(), shape);
    }
    elements
}

/// Whether .NET parses it as a version: two to four numbers.
fn is_tool_version(value: &RawValue) -> bool {
    let text = value.get().trim_matches('"');
    (2..=4).contains(&text.split('.').count()) && text.split('.').all(|number| number.parse::<u16>().is_ok())
}

fn raw_text(text: &str) -> Result<Box<RawValue>, Failure> {
    RawValue::from_string(text.to_owned()).map_err(Failure::internal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn opened(export: &Value) -> Value {
        let edited = Edited { definition_id: "x".into(), revision: 3, session: "s".into() };
        serde_json::to_value(open(&export.to_string(), edited).unwrap()).unwrap()
    }

    fn stored(model: &Value) -> Value {
        let sent = SentDocument::by_editor(serde_json::from_value(model.clone()).unwrap()).unwrap();
        serde_json::from_str(&sent.into_text("x").unwrap()).unwrap()
    }

    #[test]
    fn what_stands_in_our_place_and_is_not_ours_stays() {
        for own in [json!({"mine": 1}), json!(null), json!({}), json!({"format": "elsa-studio/1", "unknown": 1})] {
            let export =
                json!({"definitionId": "x", "customProperties": {"workflow": own, "a": 1}, "root": {"id": "r"}});
            let model = opened(&export);
            assert_eq!(model["customProperties"]["workflow"]["edited"]["revision"], 3);
            assert_eq!(stored(&model)["customProperties"], export["customProperties"], "{own}");
        }
    }

    #[test]
    fn a_client_without_our_place_is_taken_at_its_word() {
        let model = json!({"definitionId": "x", "Name": "X", "description": null, "options": {"security": "definer"},
            "id": "7", "version": 4, "isPublished": true, "links": [], "root": {"id": "r"}});
        let expected = json!({"definitionId": "x", "name": "X", "description": null,
            "options": {"security": "definer"}, "root": {"id": "r"}});
        assert_eq!(stored(&model), expected);
    }

    #[test]
    fn a_file_of_an_export_tells_nothing_of_an_editor() {
        let export = json!({"definitionId": "x", "options": {"security": "definer"}, "customProperties": {"a": 1}, "root": {"id": "r"}});
        let file: Value = serde_json::from_str(&file(&export.to_string()).unwrap()).unwrap();
        assert_eq!(file["options"], export["options"]);
        assert_eq!(
            file["customProperties"]["workflow"],
            json!({"format": "elsa-studio/1", "options": {"security": "definer"}})
        );
        // A file that SQL stored with the carried members opens as one without them.
        assert_eq!(opened(&file)["customProperties"]["a"], 1);
        assert_eq!(stored(&opened(&file))["customProperties"], export["customProperties"]);
        let own = json!({"definitionId": "x", "customProperties": {"workflow": 7}, "root": {"id": "r"}});
        let file: Value = serde_json::from_str(&super::file(&own.to_string()).unwrap()).unwrap();
        assert_eq!(stored(&opened(&file))["customProperties"], own["customProperties"]);
        let plain = json!({"definitionId": "x", "customProperties": {}, "root": {"id": "r"}}).to_string();
        assert_eq!(super::file(&plain).unwrap(), plain);
    }

    #[test]
    fn elements_keep_what_is_theirs() {
        let input = |name: &str, more: Value| {
            let mut input = json!({"name": name, "type": "String"});
            input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            input
        };
        let export = json!({"definitionId": "x", "root": {"id": "r"},
            "inputs": [input("a", json!({"required": true})), input("b", json!({})), input("c", json!({"schema": {}}))]});
        let after = |names: &[&str]| -> Vec<Value> {
            let mut model = opened(&export);
            model["inputs"] = names.iter().map(|name| input(name, json!({}))).collect();
            stored(&model)["inputs"].as_array().unwrap().clone()
        };
        assert_eq!(after(&["c", "a"]), [export["inputs"][2].clone(), export["inputs"][0].clone()]);
        // A removed element takes its carried members with it: the element now at its position had its own name before.
        assert_eq!(after(&["b", "c"]), [export["inputs"][1].clone(), export["inputs"][2].clone()]);
        assert_eq!(after(&["z", "b"]), [input("z", json!({"required": true})), export["inputs"][1].clone()]);
        assert_eq!(after(&["a", "b", "c", "d"])[3], input("d", json!({})));
        assert_eq!(after(&[]), Vec::<Value>::new());
    }
}
