//! Validating a document before it is stored. Stores nothing, and runs no SQL of the document.

use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::calendar::Zone;
use workflow_engine::definition::{
    self, ActivityTypes, PersonText, Problem, ProblemKind, SqlText, Validated, WorkflowReference,
};
use workflow_engine::execution::ForPeople;
use workflow_engine::expression::{Rows, Scope, Take};
use workflow_engine::host::{Function, Host};
use workflow_engine::program::SearchPath;
use workflow_engine::{Fault, Program, trigger};

use super::storing::refuse_long;
use crate::access;
use crate::compiled::{self, Registered};
use crate::pg::error::warning;
use crate::pg::membership::is_superuser;
use crate::pg::{PgError, guc, interrupt, json, parse, role, session, user_sql};
use crate::run::CallContext;
use crate::run::call::context::new_id;
use crate::run::definitions::built_in;
use crate::run::definitions::link::Linker;
use crate::run::timers::timing;
use crate::store::definitions::activity_types;
use crate::store::definitions::links::Link;
use crate::store::definitions::{self, DefinitionRow, WholeDefinition};

/// All errors and warnings of `define` that depend on the document alone. The owner of the id, and names taken by other
/// definitions, are not checked.
pub fn problems(context: &CallContext, document: &Value) -> Result<Vec<Problem>, PgError> {
    if let Err(error) = refuse_large(document) {
        return Ok(vec![problem(ProblemKind::TooLarge, "", error)]);
    }
    let identity = definition::identity(document).ok();
    let mut found = Vec::new();
    if let Some(Err(error)) = identity.as_ref().map(|identity| refuse_reserved(&identity.definition_id)) {
        found.push(problem(ProblemKind::Invalid, "/definitionId", error));
    }
    let latest = identity.as_ref().and_then(|identity| definitions::latest(&identity.definition_id));
    if let (None, Some(identity)) = (&latest, &identity)
        && let Err(error) = refuse_long(&identity.definition_id)
    {
        found.push(problem(ProblemKind::TooLarge, "/definitionId", error));
    }
    let linker = Linker::new(latest.as_ref().map(|latest| latest.owner.clone()));
    let mut validated = validate(document, &linker, false, latest.as_ref())?;
    linker.into_links()?;
    if is_stored(document, latest.as_ref())? {
        found.append(&mut doubts(&mut validated));
    } else {
        found.extend(found_in(context, validated).1);
    }
    Ok(found)
}

/// Validates a document. If the content is that of an existing version and today's rules reject it, it is validated by
/// the rules of its time: returning to that version must stay possible.
pub fn validate(
    document: &Value,
    types: &dyn ActivityTypes,
    allow_unknown: bool,
    latest: Option<&DefinitionRow>,
) -> Result<Validated, PgError> {
    let validated = compiled::validate(document, types, allow_unknown);
    let (Err(_), Some(latest)) = (&validated.program, latest) else { return Ok(validated) };
    for row in definitions::all(&latest.definition_id) {
        if !row.is_draft && definition::same_content(&definitions::whole(row.id)?.document, document) {
            return Ok(compiled::validate_stored(document, types));
        }
    }
    Ok(validated)
}

/// Rejects the id of a built-in definition (42710).
pub fn refuse_reserved(definition_id: &str) -> Result<(), PgError> {
    let Some(built_in) = built_in::find(definition_id) else { return Ok(()) };
    Err(PgError::new("42710", format!("workflow definition \"{definition_id}\" is built in")).detail(built_in.purpose))
}

/// Rejects a document larger than `workflow.max_definition_size` (54000).
pub fn refuse_large(document: &Value) -> Result<(), PgError> {
    let (size, limit) = (json::text(document).len(), guc::max_definition_size());
    if size <= limit {
        return Ok(());
    }
    Err(PgError::new("54000", "workflow definition is too large")
        .detail(format!("It has {size} bytes; the limit is {limit}."))
        .hint("Raise workflow.max_definition_size."))
}

/// Whether an activity type that was unknown now resolves to a workflow, so that the same content means something else.
pub fn finds_more(document: &Value, latest: &DefinitionRow, links: &[Link]) -> bool {
    let linker = Linker::new(Some(latest.owner.clone()));
    let settled = |reference: &WorkflowReference| links.iter().any(|link| link.reference == *reference);
    let found = definition::references(document, &Registered).into_iter();
    found
        .filter(|(_, reference)| !settled(reference))
        .any(|(_, reference)| matches!(linker.workflow(&reference), Ok(Some(_))))
}

/// The program of a validated document, if it compiles, and all problems.
pub fn found_in(context: &CallContext, mut validated: Validated) -> (Option<Program>, Vec<Problem>) {
    let doubts = doubts(&mut validated);
    let Validated { program, triggers, .. } = validated;
    let (program, mut found) = match program {
        Ok(program) => {
            let found = unindexable(context, &program, triggers);
            (Some(program), found)
        }
        Err(problems) => (None, problems),
    };
    found.extend(doubts);
    (program, found)
}

/// An error as a problem of the document.
pub fn problem(kind: ProblemKind, path: &str, error: PgError) -> Problem {
    let detail = error.detail.map(|detail| format!(": {detail}")).unwrap_or_default();
    Problem { path: path.to_owned(), message: format!("{}{detail}", error.message), kind, near: None }
}

/// Whether the caller's own latest version has the same content. `define` then returns that version without validating.
fn is_stored(document: &Value, latest: Option<&DefinitionRow>) -> Result<bool, PgError> {
    let is_own = |latest: &&DefinitionRow| !latest.is_draft && access::is_member(role::current(), &latest.owner);
    let Some(latest) = latest.filter(is_own) else {
        return Ok(false);
    };
    let WholeDefinition { links, document: stored, .. } = definitions::whole(latest.id)?;
    Ok(definition::same_content(&stored, document) && !finds_more(document, latest, &links))
}

/// Triggers whose payload cannot be computed. A trigger that needs SQL or a function of a registered type is not
/// checked.
fn unindexable(
    context: &CallContext,
    program: &Program,
    triggers: Vec<(workflow_engine::NodeIx, String)>,
) -> Vec<Problem> {
    let failed = triggers.into_iter().filter_map(|(ix, path)| {
        let mut host = Dry { now: context.now, was_asked: false };
        let fault = trigger::check(program, ix, &mut host, &context.limits).err().filter(|_| !host.was_asked)?;
        let message = format!("trigger \"{}\" cannot be indexed: {}", program.node(ix).id, fault.message);
        Some(Problem { path, message, kind: ProblemKind::Invalid, near: None })
    });
    failed.collect()
}

/// Warnings: those of the reader, and this server's about SQL and people in the document.
pub fn doubts(validated: &mut Validated) -> Vec<Problem> {
    let mut found = std::mem::take(&mut validated.warnings);
    // Under its own search path, the SQL may find tables that this session does not see.
    let has_own_path = matches!(&validated.program, Ok(program) if program.options.search_path != SearchPath::Unset);
    // A function such as wf_validate sets its own search path.
    let sees_tables = !has_own_path && session::search_path_names() != ["pg_catalog", "pg_temp"];
    found.extend(validated.sql.iter().filter_map(|sql| doubt_of_sql(sql, sees_tables)));
    found.extend(validated.people.iter().filter_map(doubt_of_person));
    found
}

/// Raises warnings about problems that do not prevent storing a definition.
pub fn warn(found: &[Problem]) {
    if !found.is_empty() {
        warning(crate::error::doubtful(found));
    }
}

/// Warns about activity types that were unknown when the definition was last stored and now belong to another role.
/// Types of a superuser cause no warning, because every role may use them.
pub fn warn_of_others(row: &DefinitionRow, was_unknown: &[String], links: &[Link]) -> Result<(), PgError> {
    for name in was_unknown {
        let link = links.iter().find(|link| link.reference.type_name == *name);
        let owner = match link {
            Some(link) => Some(definitions::by_id(link.uses)?.owner),
            None => activity_types::find(name).map(|known| known.owner),
        };
        if let Some(owner) = owner.filter(|owner| owner.id != row.owner.id && !owner.role().is_some_and(is_superuser)) {
            let title = owner.title();
            warning(
                PgError::new("01000", format!("activity type \"{name}\" now belongs to role \"{title}\""))
                    .detail(format!(
                        "It was unknown when workflow definition \"{}\" was last stored.",
                        row.definition_id
                    ))
                    .hint("If the definition means another activity type, name that type."),
            );
        }
    }
    Ok(())
}

/// SQL that this server's parser rejects, or that names a missing table. Only a warning, because the SQL may be meant
/// for another server, and the table may be created later.
fn doubt_of_sql(SqlText { path, text, is_statement }: &SqlText, sees_tables: bool) -> Option<Problem> {
    let statement = if *is_statement { text.clone() } else { user_sql::query_of(text) };
    let message = match parse::count(&statement) {
        Ok(1) if sees_tables => match user_sql::analyze(&statement) {
            Err(error) if matches!(error.sqlstate.as_str(), "42P01" | "3F000") => format!("SQL: {}", error.message),
            _ => return None,
        },
        Ok(1) => return None,
        Ok(0) => "SQL has no statement".to_owned(),
        Ok(_) => "SQL has more than one statement".to_owned(),
        Err(error) => format!("SQL does not parse: {}", error.message),
    };
    Some(Problem::warning(path.clone(), message))
}

/// A role that does not exist yet, or a label that is probably meant to be a role.
fn doubt_of_person(PersonText { path, text }: &PersonText) -> Option<Problem> {
    let message = match text.strip_prefix(ForPeople::ROLE) {
        // The error for an empty name after "role:" is the engine's.
        Some(name) if !name.is_empty() && role::by_name(name).is_none() => format!("role \"{name}\" does not exist"),
        Some(_) => return None,
        None if role::by_name(text).is_some() => {
            format!("\"{text}\" is a label of the application, not a role: write \"role:{text}\" for the role")
        }
        None => return None,
    };
    Some(Problem::warning(path.clone(), message))
}

/// A host for evaluating expressions without effects: it runs no SQL.
struct Dry {
    now: DateTime<Utc>,
    /// Whether an expression needed something that this host rejects.
    was_asked: bool,
}

impl Dry {
    fn refuse<T>(&mut self) -> Result<T, Fault> {
        self.was_asked = true;
        Err(Fault::new("0A000", "no SQL is run here"))
    }
}

impl Host for Dry {
    fn now(&self) -> DateTime<Utc> {
        self.now
    }

    fn zone(&self, name: Option<&str>) -> Result<Rc<dyn Zone>, Fault> {
        timing::zone(name)
    }

    fn new_id(&mut self) -> Uuid {
        new_id(self.now)
    }

    fn has_bookmark(&mut self, _id: Uuid) -> bool {
        false
    }

    fn check_interrupts(&mut self) {
        interrupt::check();
    }

    fn begin_step(&mut self) {}

    fn end_step(&mut self, _keep: bool) {}

    fn sql(&mut self, _statement: &str, _parameters: &[Value]) -> Result<Rows, Fault> {
        self.refuse()
    }

    fn sql_inferred(&mut self, _statement: &str, _parameters: &[Value], _take: Take) -> Result<Rows, Fault> {
        self.refuse()
    }

    fn sql_value(&mut self, _expression: &str, _scope: &dyn Scope) -> Result<Value, Fault> {
        self.refuse()
    }

    fn call(&mut self, _function: Function<'_>, _context: &Value) -> Result<Value, Fault> {
        self.refuse()
    }

    fn payloads(&mut self, _type_name: &str, _context: &Value) -> Result<Vec<Value>, Fault> {
        self.refuse()
    }

    fn correlate(&mut self, _correlation_id: Option<&str>) -> Result<(), Fault> {
        self.refuse()
    }

    fn child_version(&mut self, _definition_id: &str, _input: &Map<String, Value>) -> Result<Uuid, Fault> {
        self.refuse()
    }

    fn write_line(&mut self, _text: &str) {}
}
