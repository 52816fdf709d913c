//! The work that a schema causes at one place of a value.
//!
//! Some keywords look at the same place again (`allOf`, `$ref`, …), the others at what is inside it. A schema that
//! returns to itself at the same place never ends, and a schema that branches often enough at the same place takes
//! longer than a lifetime. This module finds both before the schema is used. It visits subschemas and references with a
//! work list instead of recursion.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::{SchemaRefusal, SchemaRefusalKind};

/// Maximum number of subschemas.
const MAX_SUBSCHEMAS: usize = 2_000;

/// Maximum cost at one place: keywords, and elements of their lists.
const MAX_COST: u64 = 20_000;

/// Maximum number of steps that follow each other at one place: each is a call of the validator inside another.
const MAX_CHAIN: usize = 16;

/// Keywords that look at the same place.
const SAME_PLACE: [&str; 4] = ["not", "if", "then", "else"];
const SAME_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const SAME_PLACE_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords that look at what is inside, or at nothing.
const INSIDE: [&str; 8] = [
    "items",
    "additionalItems",
    "unevaluatedItems",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "contains",
    "contentSchema",
];
const INSIDE_LISTS: [&str; 2] = ["prefixItems", "items"];
const INSIDE_MAPS: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// Finds the highest cost of a schema at one place of a value.
pub(super) fn cost(root: &Value) -> Result<u64, SchemaRefusal> {
    let mut graph = SubschemaGraph::new(root);
    graph.walk()?;
    graph.resolve_anchors();
    graph.weigh()
}

/// The subschemas, in the order in which they were found.
struct SubschemaGraph<'s> {
    root: &'s Value,
    /// The URI that the schema gives itself.
    id: Option<&'s str>,
    subschemas: Vec<Subschema<'s>>,
    /// Position of each subschema by the address of its JSON, which stays fixed while the graph exists.
    known: HashMap<*const Value, usize>,
    anchors: HashMap<&'s str, Vec<usize>>,
    /// References to anchors: from, name.
    pending: Vec<(usize, String)>,
}

struct Subschema<'s> {
    members: &'s Map<String, Value>,
    pointer: String,
    own_cost: u64,
    same_place: Vec<usize>,
}

/// How far the cost of a subschema has been computed.
#[derive(Clone, Copy)]
enum Weight {
    Unknown,
    Open,
    Known { cost: u64, chain: usize },
}

impl<'s> SubschemaGraph<'s> {
    fn new(root: &'s Value) -> Self {
        let id = ["$id", "id"].iter().find_map(|key| root.get(key).and_then(Value::as_str));
        let id = id.map(|id| id.trim_end_matches('#'));
        let mut graph = Self {
            root,
            id,
            subschemas: Vec::new(),
            known: HashMap::new(),
            anchors: HashMap::new(),
            pending: Vec::new(),
        };
        graph.add(root, String::new());
        graph
    }

    /// The position of a subschema. A boolean has none and costs nothing.
    fn add(&mut self, schema: &'s Value, pointer: String) -> Option<usize> {
        let members = schema.as_object()?;
        let position = self.subschemas.len();
        let known = *self.known.entry(std::ptr::from_ref(schema)).or_insert(position);
        if known == position {
            let own_cost = members.values().fold(1u64, |cost, value| cost + 1 + entries(value));
            self.subschemas.push(Subschema { members, pointer, own_cost, same_place: Vec::new() });
        }
        Some(known)
    }

    fn walk(&mut self) -> Result<(), SchemaRefusal> {
        let mut next = 0;
        while let Some(Subschema { members, pointer, .. }) = self.subschemas.get(next) {
            if next >= MAX_SUBSCHEMAS {
                let message = format!("a schema must not have more than {MAX_SUBSCHEMAS} subschemas");
                return Err(SchemaRefusal::new(String::new(), message, SchemaRefusalKind::TooLarge));
            }
            let (members, pointer) = (*members, pointer.clone());
            for (key, value) in members {
                self.keyword(next, key, value, &format!("{pointer}/{}", escaped(key)))?;
            }
            next += 1;
        }
        Ok(())
    }

    fn keyword(&mut self, at: usize, key: &'s str, value: &'s Value, pointer: &str) -> Result<(), SchemaRefusal> {
        let same_place = SAME_PLACE.contains(&key) || SAME_PLACE_LISTS.contains(&key) || SAME_PLACE_MAPS.contains(&key);
        match (key, value) {
            (_, Value::String(to)) if REFERENCES.contains(&key) => return self.reference(at, to, pointer),
            ("$anchor" | "$dynamicAnchor", Value::String(name)) => self.anchors.entry(name).or_default().push(at),
            ("$recursiveAnchor", _) => self.anchors.entry("").or_default().push(at),
            ("$id", Value::String(id)) if at != 0 => match id.strip_prefix('#') {
                Some(name) => self.anchors.entry(name).or_default().push(at),
                None => return Err(embedded(pointer)),
            },
            ("id", Value::String(_)) if at != 0 && self.is_draft_4() => return Err(embedded(pointer)),
            (_, Value::Array(list)) if SAME_PLACE_LISTS.contains(&key) || INSIDE_LISTS.contains(&key) => {
                for (index, schema) in list.iter().enumerate() {
                    self.edge(at, schema, format!("{pointer}/{index}"), same_place);
                }
            }
            (_, Value::Object(map)) if SAME_PLACE_MAPS.contains(&key) || INSIDE_MAPS.contains(&key) => {
                for (name, schema) in map {
                    self.edge(at, schema, format!("{pointer}/{}", escaped(name)), same_place);
                }
            }
            _ if SAME_PLACE.contains(&key) || INSIDE.contains(&key) => {
                self.edge(at, value, pointer.to_owned(), same_place);
            }
            _ => {}
        }
        Ok(())
    }

    fn edge(&mut self, from: usize, to: &'s Value, pointer: String, same_place: bool) {
        let to = self.add(to, pointer);
        if same_place && let Some(to) = to {
            self.subschemas[from].same_place.push(to);
        }
    }

    fn is_draft_4(&self) -> bool {
        self.root.get("$schema").and_then(Value::as_str).is_some_and(|uri| uri.contains("draft-04"))
    }

    fn reference(&mut self, from: usize, to: &str, pointer: &str) -> Result<(), SchemaRefusal> {
        let own = self.id.and_then(|id| to.strip_prefix(id)).unwrap_or(to);
        let Some(fragment) = own.strip_prefix('#').or_else(|| (own.is_empty() && to != own).then_some("")) else {
            let shown = workflow_value::fault::shorten(to, 100);
            let message = format!("reference \"{shown}\" leads out of the schema");
            return Err(SchemaRefusal::new(pointer.to_owned(), message, SchemaRefusalKind::Unsupported));
        };
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        if !fragment.is_empty() && !fragment.starts_with('/') {
            self.pending.push((from, fragment.into_owned()));
        } else if let Some(target) = self.root.pointer(&fragment) {
            self.edge(from, target, fragment.into_owned(), true);
        }
        // The validator reports a reference without a target.
        Ok(())
    }

    fn resolve_anchors(&mut self) {
        for (from, name) in std::mem::take(&mut self.pending) {
            let targets = self.anchors.get(name.as_str()).map(Vec::as_slice).unwrap_or_default();
            self.subschemas[from].same_place.extend(targets);
        }
    }

    /// The highest cost of any subschema with all those that it applies at the same place.
    fn weigh(&self) -> Result<u64, SchemaRefusal> {
        let mut weights = vec![Weight::Unknown; self.subschemas.len()];
        let mut highest = 0;
        for start in 0..self.subschemas.len() {
            let mut open = vec![start];
            while let Some(at) = open.last().copied() {
                match weights[at] {
                    Weight::Known { .. } => {
                        open.pop();
                    }
                    Weight::Unknown => {
                        weights[at] = Weight::Open;
                        self.enter(at, &weights, &mut open)?;
                    }
                    Weight::Open => {
                        weights[at] = self.sum(at, &weights)?;
                        open.pop();
                    }
                }
            }
            if let Weight::Known { cost, .. } = weights[start] {
                highest = highest.max(cost);
            }
        }
        Ok(highest)
    }

    /// Puts the subschemas that a subschema applies at the same place before it.
    fn enter(&self, at: usize, weights: &[Weight], open: &mut Vec<usize>) -> Result<(), SchemaRefusal> {
        for to in &self.subschemas[at].same_place {
            match weights[*to] {
                Weight::Unknown => open.push(*to),
                Weight::Known { .. } => {}
                Weight::Open => {
                    let pointer = self.subschemas[*to].pointer.clone();
                    let message = "the schema refers to itself without going deeper into the value";
                    return Err(SchemaRefusal::new(pointer, message.into(), SchemaRefusalKind::Invalid));
                }
            }
        }
        Ok(())
    }

    fn sum(&self, at: usize, weights: &[Weight]) -> Result<Weight, SchemaRefusal> {
        let subschema = &self.subschemas[at];
        let (mut cost, mut chain) = (subschema.own_cost, 1);
        for to in &subschema.same_place {
            if let Weight::Known { cost: more, chain: below } = weights[*to] {
                cost = cost.saturating_add(more);
                chain = chain.max(below + 1);
            }
        }
        let problem = match () {
            () if cost > MAX_COST => "the schema checks one value in too many ways",
            () if chain > MAX_CHAIN => "the schema checks one value through too many references and combinations",
            () => return Ok(Weight::Known { cost, chain }),
        };
        Err(SchemaRefusal::new(subschema.pointer.clone(), problem.into(), SchemaRefusalKind::TooLarge))
    }
}

/// The refusal of a subschema with its own URI, which changes the meaning of references inside it.
fn embedded(pointer: &str) -> SchemaRefusal {
    let message = "an embedded schema with a URI of its own is not supported";
    SchemaRefusal::new(pointer.to_owned(), message.into(), SchemaRefusalKind::Unsupported)
}

/// Elements or members of a value.
fn entries(value: &Value) -> u64 {
    match value {
        Value::Array(list) => list.len() as u64,
        Value::Object(members) => members.len() as u64,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
