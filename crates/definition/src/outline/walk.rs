//! The walk over the activities of a document, with a work list of its own.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::{Map, Value};

use super::{ActivityKind, Outline, RawActivity, RawPart};
use crate::json::{Path, elements, entry, escaped, kind_of};
use crate::problem::{ProblemKind, Problems};
use crate::retry::TIMEOUT;
use crate::{ActivityTypes, Refusal, WorkflowReference, unavailable};
use workflow_core::activities::catalogue;
use workflow_core::activities::workflow_definition_activity::TYPE_NAME as USE;
use workflow_core::activity::PartList;
use workflow_value::value::Bounds;

/// Type of an array of activities.
const SEQUENCE: &str = "Elsa.Sequence";

/// Finds the root and all activities below it.
pub(super) fn walk<'d>(
    root: Option<(&'d str, &'d Value)>,
    types: &dyn ActivityTypes,
    max_nesting: usize,
    allow_unknown: bool,
    problems: &mut Problems,
) -> Outline<'d> {
    let pending =
        root.map(|(key, value)| Pending { value, slot: None, step: format!("/{key}"), depth: 0, in_loop: false });
    let mut walk = OutlineWalk {
        outline: Outline { activities: Vec::new(), elsa: false },
        pending: pending.into_iter().collect(),
        counts: HashMap::new(),
        siblings: HashSet::new(),
        given: HashSet::new(),
        kinds: HashMap::new(),
        types,
        max_nesting,
        allow_unknown,
    };
    while let Some(pending) = walk.pending.pop() {
        // The host ends the call that reads the document, so its caller never sees this problem.
        if !Bounds::may_push(&walk.outline.activities) || !Bounds::may_push(&walk.pending) {
            problems.add(ProblemKind::TooLarge, &Path::Root, "the definition needs too much memory");
            break;
        }
        walk.visit(pending, problems);
    }
    walk.outline
}

/// The kind of an activity, with the workflow that it refers to.
struct LinkedKind {
    kind: ActivityKind,
    reference: Option<Box<WorkflowReference>>,
    refusal: Option<Refusal>,
}

impl From<ActivityKind> for LinkedKind {
    fn from(kind: ActivityKind) -> Self {
        Self { kind, reference: None, refusal: None }
    }
}

/// An activity that the walk still has to visit.
struct Pending<'d> {
    value: &'d Value,
    slot: Option<(usize, Slot)>,
    step: String,
    depth: usize,
    in_loop: bool,
}

/// The place of a child in its parent.
#[derive(Clone, Copy)]
enum Slot {
    Port(usize),
    Child,
    /// List of parts, part, and port of the part.
    Part(usize, usize, usize),
}

/// The place of a pending activity.
struct PendingPath<'p> {
    above: Path<'p>,
    step: &'p str,
}

impl PendingPath<'_> {
    fn path(&self) -> Path<'_> {
        Path::Below(&self.above, self.step)
    }
}

struct OutlineWalk<'d, 't> {
    outline: Outline<'d>,
    pending: Vec<Pending<'d>>,
    counts: HashMap<&'d str, u32>,
    siblings: HashSet<(usize, String)>,
    /// Ids that the document gives to children of activities.
    given: HashSet<(usize, &'d str)>,
    kinds: HashMap<&'d str, (ActivityKind, &'d str)>,
    types: &'t dyn ActivityTypes,
    max_nesting: usize,
    allow_unknown: bool,
}

impl<'d> OutlineWalk<'d, '_> {
    fn visit(&mut self, pending: Pending<'d>, problems: &mut Problems) {
        if pending.depth >= self.max_nesting {
            let message = format!("activities are nested deeper than {} levels", self.max_nesting);
            return problems.add(ProblemKind::TooDeep, &self.place(&pending).path(), message);
        }
        let (found, type_name) = match pending.value {
            Value::Array(_) => (self.resolve(SEQUENCE).0.into(), SEQUENCE),
            Value::Object(members) => match entry(members, "type") {
                Some((_, Value::String(name))) if !name.trim().is_empty() => {
                    let (kind, full) = self.resolve(name);
                    (self.link(kind, full, members), full)
                }
                // An activity that names a workflow needs no type.
                None if entry(members, "workflowDefinitionId").is_some() => {
                    (self.link(ActivityKind::Unknown, USE, members), USE)
                }
                _ => (ActivityKind::Unknown.into(), ""),
            },
            other => {
                let message =
                    format!("an activity must be an object or an array of activities, not {}", kind_of(other));
                return problems.invalid(&self.place(&pending).path(), message);
            }
        };
        match found.refusal {
            Some(Refusal { kind, message }) => problems.add(kind, &self.place(&pending).path(), message),
            None => self.check_type(&found.kind, type_name, &pending, problems),
        }
        let id = self.id(&pending, type_name, problems);
        let parent = pending.slot.map(|(parent, _)| parent);
        if let Some(parent) = parent
            && !self.siblings.insert((parent, id.clone()))
        {
            problems.invalid(&self.place(&pending).path(), format!("duplicate activity id \"{id}\""));
        }
        let ix = self.outline.activities.len();
        self.attach(pending.slot, ix);
        self.outline.activities.push(RawActivity {
            value: pending.value,
            kind: found.kind,
            reference: found.reference,
            type_name,
            id,
            parent,
            step: pending.step,
            depth: pending.depth,
            in_loop: pending.in_loop,
            ports: Vec::new(),
            children: Vec::new(),
            parts: Vec::new(),
        });
        self.expand(ix, problems);
    }

    fn check_type(&self, kind: &ActivityKind, type_name: &str, pending: &Pending<'d>, problems: &mut Problems) {
        let (ActivityKind::Unknown, Value::Object(members)) = (kind, pending.value) else {
            return;
        };
        let place = self.place(pending);
        if type_name.is_empty() {
            problems.invalid(&place.path(), "an activity needs a \"type\"");
        } else if !self.allow_unknown {
            let message = if problems.is_full() { String::new() } else { unavailable::activity(type_name, members) };
            let kind = match unavailable::names_workflow(type_name, members) {
                Some(_) => ProblemKind::Invalid,
                None => ProblemKind::Unsupported,
            };
            problems.add(kind, &place.path(), message);
        }
    }

    fn place<'p>(&'p self, pending: &'p Pending<'d>) -> PendingPath<'p> {
        let above = match pending.slot {
            Some((parent, _)) => Path::Activity(&self.outline, parent),
            None => Path::Root,
        };
        PendingPath { above, step: &pending.step }
    }

    /// Finds a type. A name without a prefix is Elsa's if the catalogue has it.
    fn resolve(&mut self, name: &'d str) -> (ActivityKind, &'d str) {
        if let Some((kind, full)) = self.kinds.get(name) {
            return (kind.clone(), full);
        }
        let find = |name: &str| catalogue::find(name).or_else(|| catalogue::find(&format!("Elsa.{name}")));
        let generic = || catalogue::without_arguments(name).and_then(find).map(ActivityKind::Known);
        let custom = || self.types.custom(name).map(|custom| (ActivityKind::Custom(Rc::new(custom)), name));
        let earlier = if catalogue::LATER.contains(&name) { custom() } else { None };
        let known = || find(name).map(|activity| (ActivityKind::Known(activity), activity.descriptor().type_name));
        let resolved = earlier
            .or_else(known)
            .or_else(custom)
            .unwrap_or_else(|| (generic().unwrap_or(ActivityKind::Unknown), name));
        self.kinds.insert(name, resolved.clone());
        resolved
    }

    /// Determines whether an activity uses a workflow.
    fn link(&self, kind: ActivityKind, type_name: &str, members: &Map<String, Value>) -> LinkedKind {
        let other = match kind {
            ActivityKind::Known(_) => type_name != USE,
            ActivityKind::Custom(_) => entry(members, "workflowDefinitionId").is_none(),
            ActivityKind::Workflow(_) | ActivityKind::Unknown => false,
        };
        if other && !self.types.has_pinned() {
            return kind.into();
        }
        let reference = Box::new(WorkflowReference::read(members));
        if let Some(program) = self.types.pinned(&reference) {
            return LinkedKind { kind: ActivityKind::Workflow(program), reference: Some(reference), refusal: None };
        }
        if other {
            return kind.into();
        }
        let (kind, refusal) = match self.types.workflow(&reference) {
            Ok(Some(program)) => (ActivityKind::Workflow(program), None),
            Ok(None) => (ActivityKind::Unknown, None),
            Err(refusal) => (ActivityKind::Unknown, Some(refusal)),
        };
        LinkedKind { kind, reference: Some(reference), refusal }
    }

    /// The given id; without one, the type without its prefix and the activity's number among those of its type.
    /// Numbers that the document uses for a sibling are skipped.
    fn id(&mut self, pending: &Pending<'d>, type_name: &'d str, problems: &mut Problems) -> String {
        let short = match type_name.rsplit('.').next() {
            Some(short) if !short.is_empty() => short,
            _ => "Activity",
        };
        let count = self.counts.entry(short).or_insert(0);
        *count += 1;
        let mut made = || {
            let mut made = format!("{short}{count}");
            while pending.slot.is_some_and(|(parent, _)| self.given.contains(&(parent, made.as_str()))) {
                *count += 1;
                made = format!("{short}{count}");
            }
            made
        };
        match pending.value.as_object().and_then(|members| entry(members, "id")) {
            None | Some((_, Value::Null)) => made(),
            Some((_, Value::String(id))) if id.trim().is_empty() => made(),
            Some((_, Value::String(id))) => id.clone(),
            Some((key, _)) => {
                let made = made();
                let message = "an activity id must be a string";
                problems.invalid(&self.place(pending).path().key(key), message);
                made
            }
        }
    }

    fn attach(&mut self, slot: Option<(usize, Slot)>, ix: usize) {
        let Some((parent, slot)) = slot else { return };
        let Some(parent) = self.outline.activities.get_mut(parent) else {
            return;
        };
        match slot {
            Slot::Port(port) => {
                if let Some(port) = parent.ports.get_mut(port) {
                    *port = Some(ix);
                }
            }
            Slot::Child => parent.children.push(ix),
            Slot::Part(list, part, port) => {
                let part = parent.parts.get_mut(list).and_then(|list| list.get_mut(part));
                if let Some(port) = part.and_then(|part| part.ports.get_mut(port)) {
                    *port = Some(ix);
                }
            }
        }
    }

    /// Puts the children of an activity on the work list, the first child on top.
    fn expand(&mut self, ix: usize, problems: &mut Problems) {
        let raw = &self.outline.activities[ix];
        let value = raw.value;
        let mut found = Vec::new();
        let mut parts = Vec::new();
        if let Value::Array(list) = value {
            found.extend(list.iter().enumerate().map(|(at, child)| (Slot::Child, format!("/{at}"), child)));
        } else if let (Some(members), Some(descriptor)) = (raw.members(), raw.descriptor()) {
            let place = Path::Activity(&self.outline, ix);
            if let Some(name) = descriptor.children {
                list_port(members, name, &place, &mut found, problems);
            }
            for (at, list) in descriptor.parts.iter().enumerate() {
                parts.push(part_list(members, (at, list), &place, &mut found, problems));
            }
            for (port, name) in descriptor.ports.iter().enumerate() {
                if let Some((key, child)) = entry(members, name).filter(|(_, child)| is_child(name, child)) {
                    found.push((Slot::Port(port), format!("/{}", escaped(key)), child));
                }
            }
            self.outline.activities[ix].ports = vec![None; descriptor.ports.len()];
        }
        let raw = &mut self.outline.activities[ix];
        raw.parts = parts;
        let (depth, in_loop, ports) = (raw.depth + 1, raw.in_loop, raw.descriptor().map_or(&[][..], |d| d.ports));
        for (_, _, child) in &found {
            let given = child.as_object().and_then(|members| entry(members, "id")).and_then(|(_, id)| id.as_str());
            self.given.extend(given.map(|id| (ix, id)));
        }
        self.pending.extend(found.into_iter().rev().map(|(slot, step, value)| {
            let body = matches!(slot, Slot::Port(port) if ports.get(port).is_some_and(|name| BODIES.contains(name)));
            Pending { value, slot: Some((ix, slot)), step, depth, in_loop: in_loop || body }
        }));
    }
}

/// Whether the member of a port contains an activity. A port may have the same name as the property `timeout`, which is
/// no activity.
fn is_child(port: &str, value: &Value) -> bool {
    if port == TIMEOUT { value.is_object() || value.is_array() } else { !value.is_null() }
}

/// Ports whose activities see undeclared variables.
const BODIES: [&str; 3] = ["body", "childCompleted", "childFaulted"];

type Children<'d> = Vec<(Slot, String, &'d Value)>;

fn list_port<'d>(
    members: &'d Map<String, Value>,
    name: &str,
    place: &Path<'_>,
    found: &mut Children<'d>,
    problems: &mut Problems,
) {
    let Some((key, value)) = entry(members, name).filter(|(_, value)| !value.is_null()) else {
        return;
    };
    match elements(value) {
        Some((wrap, list)) => {
            found.extend(list.iter().enumerate().map(|(at, child)| (Slot::Child, format!("/{key}{wrap}/{at}"), child)));
        }
        None => problems
            .invalid(&place.key(key), format!("\"{name}\" must be an array of activities, not {}", kind_of(value))),
    }
}

fn part_list<'d>(
    members: &'d Map<String, Value>,
    (at, parts): (usize, &PartList),
    place: &Path<'_>,
    found: &mut Children<'d>,
    problems: &mut Problems,
) -> Vec<RawPart<'d>> {
    let Some((key, value)) = entry(members, parts.name).filter(|(_, value)| !value.is_null()) else {
        return Vec::new();
    };
    let Some((wrap, list)) = elements(value) else {
        let message = format!("\"{}\" must be an array, not {}", parts.name, kind_of(value));
        problems.invalid(&place.key(key), message);
        return Vec::new();
    };
    let mut raw_parts = Vec::with_capacity(list.len());
    for (index, part) in list.iter().enumerate() {
        let step = format!("/{key}{wrap}/{index}");
        match part {
            Value::Object(members) => {
                for (port, name) in parts.ports.iter().enumerate() {
                    if let Some((key, child)) = entry(members, name).filter(|(_, child)| !child.is_null()) {
                        found.push((Slot::Part(at, raw_parts.len(), port), format!("{step}/{key}"), child));
                    }
                }
            }
            Value::String(_) if parts.short => {}
            other => {
                let message = format!("a {} must be an object, not {}", parts.one, kind_of(other));
                problems.invalid(&Path::Below(place, &step), message);
                continue;
            }
        }
        raw_parts.push(RawPart { value: part, step, ports: vec![None; parts.ports.len()] });
    }
    raw_parts
}
