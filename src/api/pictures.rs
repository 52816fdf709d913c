//! `wf_diagram`, `wf_svg`, `wf_explain`: pictures of definitions and instances, and the story of an instance.

use std::collections::BTreeSet;
use std::rc::Rc;

use pgrx::pg_sys::Oid;
use serde_json::Value;
use uuid::Uuid;
use workflow_engine::definition::Appearance;
use workflow_engine::execution::ForPeople;
use workflow_engine::explain::{Caused, Explanation, OpenBookmark, Pause};
use workflow_engine::journal::{Act, ActKind};
use workflow_engine::picture::{Caption, Picture, Progress};

use crate::access::{self, Operation, Privilege, consent};
use crate::compiled::{self, Compiled};
use crate::error;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, role, zone};
use crate::run::definitions::publish;
use crate::run::instances::resume;
use crate::store::definitions;
use crate::store::history::explained;
use crate::store::instances::{self, InstanceRow};
use crate::store::repair::pauses;
use crate::store::rights::owners;

sql_functions! {
    wf_diagram(definition_id: Text, version: Integer) => diagram;
    wf_svg_definition(definition_id: Text, version: Integer) => svg_of_definition;
    wf_svg_instance(instance: Uuid) => svg_of_instance;
    wf_explain(instance: Uuid) => explain;
}

fn diagram(call: &Call) -> Result<Returned, PgError> {
    of_definition(call).map(|picture| Returned::Text(picture.mermaid()))
}

fn svg_of_definition(call: &Call) -> Result<Returned, PgError> {
    of_definition(call).map(|picture| Returned::Text(picture.svg()))
}

fn of_definition(call: &Call) -> Result<Picture, PgError> {
    let definition_id: String = call.required("definition_id")?;
    let row =
        publish::find(&definition_id, call.arg("version")).map_err(|error| match Uuid::parse_str(&definition_id) {
            Ok(_) => error.hint("For the picture of an instance, pass its id as a uuid: wf_svg(instance => …)."),
            Err(_) => error,
        })?;
    access::require(Privilege::Read, &row)?;
    let compiled = compiled::of_version(row.id)?;
    let caption = Caption { title: title(&compiled), subtitle: format!("{definition_id}, version {}", row.version) };
    Ok(Picture::new(&compiled.program, &looks(&compiled)?, caption, None))
}

fn svg_of_instance(call: &Call) -> Result<Returned, PgError> {
    let (row, compiled) = readable(call, "instance")?;
    let instance = &row.instance;
    let mut progress = Progress::new(&compiled.program);
    let read = explained::journal(instance.id, |_, _, events| events.iter().for_each(|event| progress.event(event)));
    read.map_err(|error| error::journal(error, instance.id))?;
    progress.open(&instance.state);
    let (looks, zone) = (looks(&compiled)?, zone::session());
    let story = Explanation::new(&compiled.program, &looks, instance, &*zone);
    for (node, remark) in story.remarks(&explained::open_bookmarks(instance.id)) {
        progress.remark(node, &remark);
    }
    if row.paused_at.is_some() {
        progress.paused();
    }
    if instance.has_failed() {
        progress.failed();
    }
    let records = explained::open_records(instance.id);
    let completed = records.iter().filter(|open| !open.interrupted).map(|open| open.node_id.as_str());
    progress.compensable(&compiled.program, completed);
    let about =
        instance.correlation_id.as_ref().map_or_else(|| instance.id.to_string(), |id| format!("correlation id {id}"));
    let caption = Caption {
        title: instance.name.clone().unwrap_or_else(|| title(&compiled)),
        subtitle: format!(
            "{}, version {}, {about}: {}{}",
            row.definition_id,
            instance.version,
            instance.sub_status.name(),
            if row.paused_at.is_some() { ", paused" } else { "" }
        ),
    };
    let picture = Picture::new(&compiled.program, &looks, caption, Some(&progress));
    Ok(Returned::Text(picture.svg()))
}

/// The lines of the story, as a JSON array.
fn explain(call: &Call) -> Result<Returned, PgError> {
    let (row, compiled) = readable(call, "instance")?;
    let (looks, zone) = (looks(&compiled)?, zone::session());
    let mut story = Explanation::new(&compiled.program, &looks, &row.instance, &*zone);
    row.continued_from.into_iter().for_each(|before| story.continues(before));
    let id = row.instance.id;
    let starter = row.starter.actor.clone();
    explained::journal(id, |at, act, events| story.burst(at, act.map(|act| caused(act, starter.as_deref())), events))
        .map_err(|error| error::journal(error, id))?;
    if let Some(pause) = row.paused_at.and_then(|_| pauses::of(id)) {
        story.paused(Pause {
            since: pause.since.into(),
            by: pause.by.title(),
            reason: pause.reason,
            is_ending: pause.is_ending,
        });
    }
    story.records(&explained::open_records(id));
    let waiting = explained::open_bookmarks(id);
    let mut lines = story.end(&waiting, &explained::open_incidents(id));
    lines.extend(not_accepted(&compiled, &waiting));
    Ok(Returned::Json(Value::from(lines)))
}

/// Which workers hold a grant of the open tasks and do not accept tasks of the owner of the definition. Only members of
/// that owner are told.
fn not_accepted(compiled: &Compiled, waiting: &[OpenBookmark]) -> BTreeSet<String> {
    let definition = &compiled.row;
    if !access::is_member(role::current(), &definition.owner) {
        return BTreeSet::new();
    }
    let is_assigned = |given: &ForPeople| given.assignee.is_some() || !given.candidates.is_empty();
    let is_for_people = |open: &&OpenBookmark| open.for_people.as_ref().is_some_and(is_assigned);
    let names: BTreeSet<&String> =
        waiting.iter().filter(|open| !is_for_people(open)).filter_map(|open| open.task.as_ref()).collect();
    let line = |name: &String, worker: Oid| {
        let (worker, owner) = (role::name(worker).unwrap_or_default(), definition.owner.title());
        format!(
            "Role \"{worker}\" has a grant for task \"{name}\", but does not accept tasks of role \"{owner}\": wf_accept_tasks('{owner}', '{worker}')."
        )
    };
    let lines = names.into_iter().flat_map(|name| {
        let workers = access::work::workers(definition, name).into_iter().filter_map(|worker| worker.role());
        workers.filter(|worker| !consent::accepts(*worker, &definition.owner)).map(|worker| line(name, worker))
    });
    lines.collect()
}

/// Who caused a burst, in words.
fn caused(act: Act, starter: Option<&str>) -> Caused {
    let actor = match act.kind {
        ActKind::Start => starter.map(ToOwned::to_owned),
        _ => act.by.actor,
    };
    let role = || i32::try_from(act.by.role).map_or_else(|_| String::new(), |id| owners::by_id(id).title());
    Caused { kind: act.kind, has_actor: actor.is_some(), by: actor.unwrap_or_else(role) }
}

/// The instance that a call names, if the current role may read it.
pub(super) fn readable(call: &Call, argument: &str) -> Result<(InstanceRow, Rc<Compiled>), PgError> {
    let instance_id: Uuid = call.required(argument)?;
    let row = instances::get(instance_id).ok_or_else(|| resume::unknown(instance_id))?;
    let compiled = compiled::of_instance(&row)?;
    access::instance::require(Operation::Read, &row, &compiled)?;
    Ok((row, compiled))
}

fn title(compiled: &Compiled) -> String {
    let name = compiled.program.name.clone();
    name.unwrap_or_else(|| compiled.program.definition_id.clone())
}

fn looks(compiled: &Compiled) -> Result<Vec<Appearance>, PgError> {
    Ok(compiled::appearances(&definitions::whole(compiled.row.id)?.document, &compiled.program))
}
