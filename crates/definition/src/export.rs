//! A definition as Elsa's JSON, complete, so that Elsa's Studio and this engine both read it.
//!
//! Parts in Elsa's form stay unchanged except for node ids, including unknown members. Parts in the short form are
//! expanded. Compiling the result gives the same program. Activities are assembled from the leaves up, without
//! recursion.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::activity::WORKFLOW;
use super::common::MAX_NODE_ID_BYTES;
use super::custom::{MemberRole, is_custom_member, is_only_property};
use super::flow_mode::EXECUTION_MODE;
use super::json::{elements, entry, member};
use super::outline::{ActivityKind, Outline, RawActivity};
use super::problem::Problems;
use super::property::PROPERTIES;
use super::retry::START_TIMEOUT;
use super::scope::{Scopes, VisibleNames};
use super::settings::Settings;
use super::{ActivityTypes, CustomType, ReadLimits, connections, workflow};
use workflow_core::activity::{Descriptor, Special};
use workflow_core::program::{FlowMode, Program};

mod settings;
mod values;

const SCHEMA: &str = "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json";

/// Version of Elsa whose format the export writes.
const TOOL_VERSION: &str = "3.6.0.0";

/// Writes a definition as Elsa's JSON, with the id, version and flags of its stored version.
pub fn export(
    document: &Value,
    definition_id: &str,
    version: i32,
    is_latest: bool,
    is_published: bool,
    types: &dyn ActivityTypes,
) -> Value {
    let Value::Object(members) = document else {
        return document.clone();
    };
    let mut problems = Problems::default();
    let limits = ReadLimits { max_nesting: usize::MAX, ..ReadLimits::default() };
    let settings = Settings::read(members, &mut problems);
    let outline = Outline::read(members, types, &limits, true, &mut problems);
    let scopes = Scopes::read(&settings, &outline, &mut problems);
    let root = activities(&outline, &scopes);

    let mut out = Map::new();
    for (key, value) in members {
        if root.is_none() || !matches!(key.as_str(), "root" | "Root") {
            out.insert(key.clone(), value.clone());
        }
    }
    if let Some(root) = root {
        out.insert("root".into(), root);
    }
    out.insert("definitionId".into(), definition_id.into());
    out.insert("version".into(), version.into());
    out.insert("isLatest".into(), is_latest.into());
    out.insert("isPublished".into(), is_published.into());
    fill(&mut out, "$schema", || SCHEMA.into());
    fill(&mut out, "toolVersion", || TOOL_VERSION.into());
    fill(&mut out, "outcomes", || json!([]));
    fill(&mut out, "customProperties", || json!({}));
    fill(&mut out, "isReadonly", || false.into());
    fill(&mut out, "isSystem", || false.into());
    settings::variables(&mut out);
    settings::arguments(&mut out, "inputs");
    settings::arguments(&mut out, "outputs");
    settings::options(&mut out, &settings.options);
    Value::Object(out)
}

/// Adds a member unless it exists.
fn fill(out: &mut Map<String, Value>, name: &str, value: impl FnOnce() -> Value) {
    if entry(out, name).is_none() {
        out.insert(name.into(), value());
    }
}

/// Writes all activities and returns the root.
fn activities(outline: &Outline<'_>, scopes: &Scopes) -> Option<Value> {
    let node_ids = node_ids(outline);
    let mut done: Vec<Option<Value>> = vec![None; outline.activities.len()];
    for (ix, raw) in outline.activities.iter().enumerate().rev() {
        let mut writer = Writer {
            raw,
            names: scopes.names(outline, ix),
            outside: scopes.outside(outline, ix),
            out: Map::new(),
            taken: Vec::new(),
            properties: Vec::new(),
        };
        match &raw.kind {
            ActivityKind::Known(activity) => writer.known(activity.descriptor(), &mut done),
            ActivityKind::Custom(custom) => writer.custom(custom),
            ActivityKind::Workflow(program) => writer.workflow(program),
            ActivityKind::Unknown => {}
        }
        if let Some(mode) = writer.take("mergeMode").filter(|mode| !mode.is_null()) {
            writer.properties.push(("mergeMode", mode.clone()));
        }
        writer.copy_remaining(node_ids.get(ix).map(String::as_str));
        done[ix] = Some(Value::Object(writer.out));
    }
    done.first_mut().and_then(Option::take)
}

/// Paths of ids, up to the limit of their total length.
fn node_ids(outline: &Outline<'_>) -> Vec<String> {
    let mut node_ids: Vec<String> = Vec::with_capacity(outline.activities.len());
    let mut bytes = 0;
    for raw in &outline.activities {
        let parent = raw.parent.and_then(|parent| node_ids.get(parent));
        let node_id = format!("{}:{}", parent.map_or(WORKFLOW, String::as_str), raw.id);
        bytes += node_id.len();
        if bytes > MAX_NODE_ID_BYTES {
            break;
        }
        node_ids.push(node_id);
    }
    node_ids
}

/// The activity being written.
struct Writer<'a> {
    raw: &'a RawActivity<'a>,
    names: VisibleNames<'a>,
    outside: VisibleNames<'a>,
    out: Map<String, Value>,
    /// Members of the original that are already written, under the same name or another.
    taken: Vec<&'a str>,
    /// Members for the custom properties.
    properties: Vec<(&'static str, Value)>,
}

impl<'a> Writer<'a> {
    /// Returns a member of the original and marks it as written.
    fn take(&mut self, name: &str) -> Option<&'a Value> {
        let (key, value) = self.raw.members().and_then(|members| entry(members, name))?;
        self.taken.push(key);
        Some(value)
    }

    fn known(&mut self, descriptor: &'static Descriptor, done: &mut [Option<Value>]) {
        if let Some(name) = descriptor.children {
            self.take(name);
            let children = self.raw.children.iter().filter_map(|child| done[*child].take());
            self.out.insert(name.into(), children.collect());
        }
        for (name, child) in descriptor.ports.iter().zip(&self.raw.ports) {
            if let Some(child) = child.and_then(|child| done[child].take()) {
                self.take(name);
                self.out.insert((*name).into(), child);
            }
        }
        for (list, found) in descriptor.parts.iter().zip(&self.raw.parts) {
            if self.take(list.name).is_some() {
                let parts = found.iter().map(|part| {
                    let activities = part.ports.iter().map(|port| port.and_then(|port| done[port].take()));
                    values::part(list, part.value, activities.collect(), self.names)
                });
                let parts = parts.collect();
                self.out.insert(list.name.into(), parts);
            }
        }
        for input in descriptor.inputs {
            if let Some(value) = self.take(input.name) {
                let template = descriptor.uses_sql && input.name == "parameters" && value.is_array();
                let bare = input.bare && value.is_boolean();
                let written = match template {
                    _ if bare => value.clone(),
                    true => values::template(value, input.type_name),
                    false if input.script => values::script(value, self.names),
                    false => values::input(value, input.type_name, self.names),
                };
                self.out.insert(input.name.into(), written);
            }
        }
        for output in descriptor.outputs {
            if let Some(value) = self.take(output.name) {
                self.out.insert(output.name.into(), values::binding(value, output.type_name, self.outside));
            }
        }
        if descriptor.may_limit_start()
            && let Some(value) = self.take(START_TIMEOUT).filter(|value| !value.is_null())
        {
            self.properties.push((START_TIMEOUT, value.clone()));
        }
        self.special(descriptor);
    }

    /// Members of particular types and of containers.
    fn special(&mut self, descriptor: &Descriptor) {
        if descriptor.special == Special::Variable
            && let Some(value) = self.take(Special::VARIABLE)
        {
            self.out.insert(Special::VARIABLE.into(), values::variable(value, self.names));
        }
        if descriptor.special == Special::Result
            && let Some(value) = self.take(Special::RESULT_VARIABLE)
        {
            self.out.insert(Special::RESULT_VARIABLE.into(), values::variable(value, self.names));
        }
        if descriptor.special == Special::Connections {
            self.mode();
            let value = self.take("connections").unwrap_or(&Value::Null);
            self.out.insert("connections".into(), connections_of(value));
        }
        if descriptor.container {
            if let Some(value) = self.take("variables") {
                self.out.insert("variables".into(), value.clone());
            }
            settings::variables(&mut self.out);
        }
    }

    /// The mode of a flowchart, which Elsa stores among the properties.
    fn mode(&mut self) {
        let given = [self.take("mode"), self.take("executionMode")];
        let Some(mode) = given.into_iter().flatten().find_map(Value::as_str) else {
            return;
        };
        let name =
            FlowMode::from_name(mode.trim()).flatten().map_or_else(|| mode.to_owned(), |mode| mode.name().to_owned());
        self.properties.push((EXECUTION_MODE, name.into()));
    }

    /// Writes the inputs and output bindings of an activity that uses a workflow. Its reference stays unchanged.
    fn workflow(&mut self, program: &Program) {
        let Some(members) = self.raw.members() else {
            return;
        };
        for passed in workflow::passed(members, program) {
            let written = match (passed.input, passed.output) {
                (Some(_), None) => values::input(passed.value, "Object", self.names),
                (None, Some(_)) => values::binding(passed.value, "Object", self.names),
                // The member is both, as only the short form allows, and stays unchanged.
                (Some(_), Some(_)) | (None, None) => continue,
            };
            self.taken.push(passed.key);
            self.out.insert(passed.key.into(), written);
        }
    }

    fn custom(&mut self, custom: &CustomType) {
        let Some(members) = self.raw.members() else {
            return;
        };
        let is_input = |key: &str| is_custom_member(key) && !is_only_property(key, custom);
        for (key, value) in members.iter().filter(|(key, _)| is_input(key)) {
            let written = match MemberRole::of(key, value, custom) {
                MemberRole::Input => values::input(value, "Object", self.names),
                MemberRole::Output => values::binding(value, "Object", self.names),
                // The member is both, as only the short form allows.
                MemberRole::Either => value.clone(),
            };
            self.taken.push(key);
            self.out.insert(key.clone(), written);
        }
    }

    /// Common properties that are members of this activity. Elsa's form has them among the custom properties, which
    /// take precedence if both exist.
    fn own_properties(&self, members: &'a Map<String, Value>, short: bool) -> Vec<(&'static str, &'a Value)> {
        let homes = ["customProperties", "applicationProperties"].map(|home| member(members, home));
        let is_named = |name: &str| homes.iter().flatten().any(|home| home.get(name).is_some());
        // A value that should be an object and is not stays unchanged, and cannot take anything in.
        let can_hold = homes[0].is_none_or(|home| home.is_object() || home.is_null());
        let may_move =
            |name: &str| short || matches!(self.raw.kind, ActivityKind::Known(_)) && can_hold && !is_named(name);
        // A registered type without declared inputs has the member as an input as well.
        let is_taken = |name: &str| self.taken.contains(&name) && !matches!(self.raw.kind, ActivityKind::Custom(_));
        let is_own = |name: &str| !is_taken(name) && !self.raw.kind.has_input(name) && may_move(name);
        PROPERTIES.into_iter().filter(|name| is_own(name)).filter_map(|name| Some((name, members.get(name)?))).collect()
    }

    /// Copies all remaining members, and adds those that Elsa expects of every activity.
    fn copy_remaining(&mut self, node_id: Option<&str>) {
        static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        let members = self.raw.members().unwrap_or(&NONE);
        let short = !self.raw.is_elsa();
        let own = self.own_properties(members, short);
        for (key, value) in members.iter().filter(|(key, _)| !self.taken.contains(&key.as_str())) {
            let moved = short && ["canStartWorkflow", "runAsynchronously"].iter().any(|name| name == key)
                || own.iter().any(|(name, _)| name == key);
            if !moved {
                self.out.insert(key.clone(), value.clone());
            }
        }
        self.out.insert("id".into(), self.raw.id.as_str().into());
        if !self.raw.type_name.is_empty() {
            self.out.insert("type".into(), self.raw.type_name.into());
        }
        // The document's own value is wrong if the activity was moved, renamed, or copied from elsewhere.
        while let Some(key) = entry(&self.out, "nodeId").map(|(key, _)| key.to_owned()) {
            self.out.remove(&key);
        }
        if let Some(node_id) = node_id {
            self.out.insert("nodeId".into(), node_id.into());
        }
        if self.raw.workflow().is_none() {
            // In an activity that uses a workflow, the member would select that version of the workflow.
            fill(&mut self.out, "version", || 1.into());
        }
        fill(&mut self.out, "metadata", || json!({}));
        let mut properties =
            member(members, "customProperties").and_then(Value::as_object).cloned().unwrap_or_default();
        let old = member(members, "applicationProperties").and_then(Value::as_object);
        for name in ["canStartWorkflow", "runAsynchronously"] {
            let given = member(members, name).or_else(|| old.and_then(|old| member(old, name)));
            fill(&mut properties, name, || given.cloned().unwrap_or(Value::Bool(false)));
        }
        for (name, value) in own.into_iter().filter(|(_, value)| !value.is_null()) {
            fill(&mut properties, name, || value.clone());
        }
        properties.extend(self.properties.drain(..).map(|(name, value)| (name.to_owned(), value)));
        let wrong_shape =
            entry(&self.out, "customProperties").is_some_and(|(_, value)| !(value.is_object() || value.is_null()));
        if !wrong_shape {
            self.out.insert("customProperties".into(), Value::Object(properties));
        }
    }
}

/// Connections with objects for source and target.
fn connections_of(value: &Value) -> Value {
    let list = match elements(value) {
        Some((_, list)) => list,
        None if value.is_object() => std::slice::from_ref(value),
        None => {
            return if value.is_null() { json!([]) } else { value.clone() };
        }
    };
    list.iter().map(connection).collect()
}

fn connection(value: &Value) -> Value {
    let edge = connections::edge(value, &super::json::Path::Root, &mut Problems::default());
    let flat = value.as_object().is_none_or(|object| member(object, "source").is_some_and(Value::is_string));
    let Some(edge) = edge.filter(|_| flat) else {
        return value.clone();
    };
    let mut out = value.as_object().cloned().unwrap_or_default();
    let target_port = out.remove("targetPort").unwrap_or_else(|| "In".into());
    out.remove("sourcePort");
    out.insert("source".into(), json!({"activity": edge.source, "port": edge.port}));
    out.insert("target".into(), json!({"activity": edge.target, "port": target_port}));
    Value::Object(out)
}
