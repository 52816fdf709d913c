//! The engine's [`Host`], on SPI.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::activity::Excluded;
use workflow_engine::approval::Approval;
use workflow_engine::calendar::Zone;
use workflow_engine::expression::{Rows, Scope, Take, shared_time};
use workflow_engine::fault::shorten;
use workflow_engine::host::{Function, Host, LogEntry, WaitingRequest};
use workflow_engine::http::Request;
use workflow_engine::instance::Instance;
use workflow_engine::instance::compensation::{Record, RecordFilter};
use workflow_engine::journal::Act;
use workflow_engine::notification::{Addressees, MAX_GENERATIONS, OpenTask};
use workflow_engine::program::Activation;
use workflow_engine::{Fault, NodeIx};

use crate::access::instance::Subject;
use crate::access::{self, StartedAs};
use crate::compiled::{self, Compiled};
use crate::pg::error::{catch, log_for_server, notice, throw, warning};
use crate::pg::role::RestrictedRights;
use crate::pg::subtransaction::{Subtransaction, subtransaction};
use crate::pg::{PgError, boundary, guc, interrupt, json, process, role, session, user_sql};
use crate::run::CallContext;
use crate::run::http::paths::{self, Hold};
use crate::run::instances::version;
use crate::run::timers::timing;
use crate::store::definitions::activity_types;
use crate::store::http::requests;
use crate::store::instances::bookmarks;
use crate::store::instances::{self, InstanceRow};
use crate::store::nodes::route;
use crate::store::repair::compensations;
use crate::store::rights::owners::Owner;
use crate::store::tasks;
use crate::{error, user_functions};

mod directory;
mod search_path;
mod voters;

use crate::run::call::context::new_id;
use crate::run::instances::activation::activation_key;
use directory::Directory;
use search_path::UserSearchPath;
use voters::People;

/// Characters of a message, and of attributes, that go into the server's log.
const MAX_LOGGED: usize = 8 << 10;

/// Characters of a category that go into the server's log.
const MAX_CATEGORY: usize = 60;

/// The host of one burst.
pub struct SpiHost<'a> {
    now: DateTime<Utc>,
    instance: Uuid,
    compiled: &'a Compiled,
    step: Option<Subtransaction>,
    /// Owner of the instance.
    owner: Owner,
    /// The definition that the burst last wanted to start, as what, and its version. A role that may
    /// start it as the one need not have the right to start it as the other.
    child: Option<(String, StartedAs, Uuid)>,
    /// The owner whose rights user SQL has, if not the caller's.
    rights: Option<Owner>,
    /// Whether a session asked for this burst, so that its search path can apply.
    has_caller: bool,
    /// The search path of user SQL, once it was computed.
    search_path: OnceCell<UserSearchPath>,
    /// The HTTP request that the burst serves.
    request: Option<Rc<Request>>,
    /// The people that approvals and exclusions concern.
    people: Option<People>,
    /// The directory of people.
    directory: Directory,
    /// How many notices have led to this burst.
    generation: u32,
    /// Errors of user SQL, whole; faults refer to them by position.
    errors: Vec<PgError>,
}

impl<'a> SpiHost<'a> {
    /// A host for one burst of an instance.
    pub fn new(context: &CallContext, instance: Uuid, owner: &Owner, compiled: &'a Compiled) -> Self {
        let rights = match compiled.row.definer {
            true => Some(compiled.row.owner.clone()),
            false => context.serves.restricted(owner).then(|| owner.clone()),
        };
        Self {
            now: context.now,
            instance,
            compiled,
            step: None,
            owner: owner.clone(),
            child: None,
            rights,
            has_caller: true,
            search_path: OnceCell::new(),
            request: None,
            people: None,
            directory: Directory::default(),
            generation: context.generation,
            errors: Vec::new(),
        }
    }

    /// A host that evaluates the triggers of a definition. A role that publishes or refreshes another role's definition
    /// must not lend its rights to it: the SQL runs as the definition's owner, as that of an index function does.
    pub fn indexing(context: &CallContext, compiled: &'a Compiled) -> Self {
        let owner = &compiled.row.owner;
        let rights = (compiled.row.definer || !owner.is_current()).then(|| owner.clone());
        Self { rights, ..Self::new(context, Uuid::nil(), owner, compiled) }
    }

    /// Gives the burst a request. A request names a path, not a workflow, so it must not lend the caller's rights. The
    /// SQL runs with the rights of the instance's owner, restricted as that of a definer, unless the caller is that
    /// owner.
    #[must_use]
    pub fn serving(mut self, request: Rc<Request>, owner: &Owner) -> Self {
        if self.rights.is_none() && !owner.is_current() {
            self.rights = Some(owner.clone());
        }
        self.request = Some(request);
        self
    }

    /// Gives the burst the people of an instance, and what someone did.
    #[must_use]
    pub fn with_people(mut self, row: &InstanceRow, act: Option<&Act>, in_place_of: Option<&str>) -> Self {
        self.people = Some(People::of(row, act, in_place_of));
        self
    }

    /// Records that the burst has no caller: a worker runs it.
    #[must_use]
    pub fn without_caller(mut self) -> Self {
        self.has_caller = false;
        self
    }

    /// Undoes the step that an error left open.
    pub fn abandon(&mut self) {
        if let Some(step) = self.step.take() {
            step.roll_back();
        }
    }

    /// The error behind a fault, with all that PostgreSQL knew about it.
    pub fn original(&self, fault: &Fault) -> PgError {
        fault
            .original
            .and_then(|position| self.errors.get(usize::try_from(position).ok()?).cloned())
            .unwrap_or_else(|| error::fault(fault))
    }

    /// Runs user SQL with the rights that the definition asks for. If it fails, the open step undoes it; outside a step
    /// it has a subtransaction of its own.
    fn user<R>(&mut self, body: impl FnOnce() -> R) -> Result<R, Fault> {
        let rights = self.rights.clone();
        let lacks_caller = !self.has_caller || rights.is_some();
        let search_path = self.search_path.get_or_init(|| UserSearchPath::of(self.compiled, lacks_caller)).clone();
        session::record_user_sql();
        let with_rights = || match &rights {
            None if process::is_engine() => {
                throw(PgError::new("42501", "cannot run user SQL with the rights of a worker"))
            }
            None => boundary::around(|| search_path.during(body)),
            Some(owner) => {
                let role = owner.role().unwrap_or_else(|| {
                    throw(
                        PgError::new(
                            "42704",
                            format!("role \"{}\", the owner of the definition, does not exist", owner.name),
                        )
                        .hint("Its SQL runs with the owner's rights."),
                    )
                });
                RestrictedRights::during(role, &search_path.restricted(), body)
            }
        };
        let outcome = if self.step.is_some() { catch(with_rights) } else { subtransaction(with_rights) };
        outcome.map_err(|caught| {
            let hint = search_path.hint(&caught, rights.as_ref());
            let fault = self.fault(caught);
            Fault { hint, ..fault }
        })
    }

    /// The version of a definition that an instance runs which this one starts.
    fn startable(&mut self, definition_id: &str, input: &Map<String, Value>, how: StartedAs) -> Result<Uuid, Fault> {
        let owner = match how {
            StartedAs::Child | StartedAs::Successor => self.owner.clone(),
            StartedAs::Notice => self.compiled.row.owner.clone(),
        };
        let version = match &self.child {
            Some((id, known, version)) if id == definition_id && *known == how => *version,
            _ => {
                let version = version::for_started(definition_id, &owner, how).map_err(|error| self.fault(error))?;
                self.child = Some((definition_id.to_owned(), how, version));
                version
            }
        };
        let compiled = compiled::of_version(version).map_err(|error| self.fault(error))?;
        let parent = &self.compiled.row;
        access::child::require_named(parent, &compiled.row, how)
            .and_then(|()| access::require_trusted(&owner, parent, &compiled, how))
            .map_err(|error| self.fault(error))?;
        if how == StartedAs::Notice && activation_key(&compiled, None).is_some() {
            // A notice would be refused while an earlier one is not sent yet, without a trace.
            let message = format!("workflow definition \"{definition_id}\" allows one instance at a time");
            return Err(Fault::new("55000", message));
        }
        if how == StartedAs::Notice {
            self.refuse_endless(definition_id)?;
        }
        Instance::new(Uuid::nil(), &compiled.program, compiled.row.version, None, None, json::copy_members(input))?;
        Ok(version)
    }

    /// Refuses a notice that would start a workflow again and again, each time below the instance that the last one has
    /// started (54001): background workers would start instances without end.
    fn refuse_endless(&self, definition_id: &str) -> Result<(), Fault> {
        let Some(above) = self.people.as_ref().and_then(People::above) else { return Ok(()) };
        if instances::count_above(above, definition_id) < i64::from(MAX_GENERATIONS) {
            return Ok(());
        }
        let message = format!(
            "workflow definition \"{definition_id}\" runs {MAX_GENERATIONS} times, one below the other, to notify people"
        );
        Err(Fault::new("54001", message))
    }

    /// Whether the owner of this instance may read another instance, so that a fault may name that.
    fn owner_may_read(&self, instance: Uuid) -> bool {
        self.owner.role().is_some_and(|role| access::instance::may_see(role, instance).unwrap_or(false))
    }

    fn fault(&mut self, caught: PgError) -> Fault {
        if caught.is_never_an_incident() {
            throw(caught);
        }
        let fault = error::as_fault(&caught, self.errors.len() as u64);
        self.errors.push(caught);
        fault
    }
}

impl Host for SpiHost<'_> {
    fn now(&self) -> DateTime<Utc> {
        self.now
    }

    fn new_id(&mut self) -> Uuid {
        new_id(self.now)
    }

    fn random(&mut self) -> u64 {
        Uuid::new_v4().as_u64_pair().1
    }

    fn check_role(&mut self, name: &str) -> Result<(), Fault> {
        role::required(name).map(drop).map_err(|error| Fault::new(&error.sqlstate, error.message))
    }

    fn members(&mut self, role: &str, excluded: &[Excluded]) -> Result<Vec<String>, Fault> {
        let members = self.people.as_ref().map(|people| people.members(role, excluded)).transpose();
        members.map(Option::unwrap_or_default).map_err(|error| Fault::new(&error.sqlstate, error.message))
    }

    fn unreachable_voters(&mut self, approval: &Approval, excluded: &[Excluded]) -> BTreeSet<usize> {
        self.people.as_ref().map(|people| people.unreachable(approval, excluded)).unwrap_or_default()
    }

    fn addressees(&mut self, asked: &[String], excluded: &[Excluded], voted: &[Uuid]) -> Addressees {
        // Only its operators count, whether or not it is a child.
        let subject = Subject { owner: &self.owner, is_child: true, compiled: self.compiled };
        let people = self.people.as_ref();
        let people = people.map(|people| people.addressees(asked, excluded, voted, subject, self.now.into()));
        self.directory.addressees(people.unwrap_or_default(), self.compiled.row.owner.role())
    }

    fn manager_of(&mut self, person: &str, excluded: &[Excluded]) -> Result<Option<String>, String> {
        let manager = self.directory.manager_of(person, self.compiled.row.owner.role())?;
        let people = self.people.as_ref();
        let is_refused = |name: &String| people.is_some_and(|people| people.refuses(name, excluded));
        Ok(manager.filter(|name| !is_refused(name)))
    }

    fn open_task(&mut self, task: Uuid) -> Option<OpenTask> {
        tasks::open(task)
    }

    fn answer_to(&mut self, task: Uuid) -> Option<Value> {
        tasks::answer(task).and_then(|given| given.result)
    }

    fn answerer(&mut self) -> Option<String> {
        self.people.as_ref().and_then(People::answerer)
    }

    fn answered_for(&mut self, task: Uuid) -> Option<String> {
        self.people.as_ref().and_then(|people| people.answered_for(task))
    }

    fn answered_at(&mut self, task: Uuid) -> DateTime<Utc> {
        self.people.as_ref().and_then(|people| people.answered_before(task)).unwrap_or(self.now)
    }

    fn has_bookmark(&mut self, id: Uuid) -> bool {
        bookmarks::is_of_another(id, self.instance)
    }

    fn check_interrupts(&mut self) {
        interrupt::check();
        if shared_time::is_short() {
            throw(PgError::new("54000", "scripts of other owners in this call exceeded workflow.javascript_timeout"));
        }
    }

    fn begin_step(&mut self) {
        debug_assert!(self.step.is_none(), "steps do not nest");
        self.step = Some(Subtransaction::begin());
    }

    fn end_step(&mut self, keep: bool) {
        match (self.step.take(), keep) {
            (Some(step), true) => step.release(),
            (Some(step), false) => step.roll_back(),
            (None, _) => {}
        }
    }

    fn sql(&mut self, statement: &str, parameters: &[Value]) -> Result<Rows, Fault> {
        let outcome = self.user(|| user_sql::run(statement, parameters))?;
        Ok(Rows { rows: outcome.rows, count: outcome.count })
    }

    fn sql_inferred(&mut self, statement: &str, parameters: &[Value], take: Take) -> Result<Rows, Fault> {
        let outcome = self.user(|| user_sql::run_inferred(statement, parameters, take))?;
        Ok(Rows { rows: outcome.rows, count: outcome.count })
    }

    fn sql_value(&mut self, expression: &str, scope: &dyn Scope) -> Result<Value, Fault> {
        self.user(|| {
            user_sql::value(expression, |name| {
                let value = match name {
                    "input" => scope.inputs(),
                    "variables" => variables(scope),
                    "outputs" => scope.outputs(),
                    "result" => scope.last_result().unwrap_or_default(),
                    "instance" => scope.instance(),
                    "correlation_id" => scope.correlation_id().map_or(Value::Null, Value::String),
                    _ => Value::Null,
                };
                // The values are copied, which can take long.
                interrupt::check();
                value
            })
        })
    }

    fn call(&mut self, function: Function<'_>, context: &Value) -> Result<Value, Fault> {
        match function {
            Function::Handler(type_name) => {
                let found = registered(type_name)?;
                self.user(|| user_functions::handle(type_name, &found, context))
            }
            Function::Callback(callback) => self.user(|| user_functions::call_back(callback, context)),
        }
    }

    fn payloads(&mut self, type_name: &str, context: &Value) -> Result<Vec<Value>, Fault> {
        let found = registered(type_name)?;
        match found.payloads {
            Some(function) => self.user(|| user_functions::payloads(type_name, &function, &found.owner, context)),
            None => Ok(vec![Value::Null]),
        }
    }

    fn check_key(&mut self, correlation_id: Option<&str>) -> Result<(), Fault> {
        route::require_in_burst(correlation_id).map_err(|error| self.fault(error))
    }

    fn correlate(&mut self, correlation_id: Option<&str>) -> Result<(), Fault> {
        let program = &self.compiled.program;
        if !matches!(program.options.activation, Activation::Correlated | Activation::CorrelatedSingleton) {
            return Ok(());
        }
        let key = activation_key(self.compiled, correlation_id);
        let instance = self.instance;
        let outcome = subtransaction(|| instances::set_key(instance, key.as_deref(), correlation_id));
        match outcome {
            Ok(()) => Ok(()),
            Err(caught) if caught.sqlstate == "23505" => {
                let holder = key.as_deref().and_then(instances::holder);
                Err(taken(correlation_id, holder.filter(|holder| self.owner_may_read(*holder))))
            }
            Err(caught) => Err(self.fault(caught)),
        }
    }

    fn child_version(&mut self, definition_id: &str, input: &Map<String, Value>) -> Result<Uuid, Fault> {
        self.startable(definition_id, input, StartedAs::Child)
    }

    fn notice_version(&mut self, definition_id: &str, input: &Map<String, Value>) -> Result<Uuid, Fault> {
        self.startable(definition_id, input, StartedAs::Notice)
    }

    fn continuation_version(&mut self, definition_id: &str, input: &Map<String, Value>) -> Result<Uuid, Fault> {
        self.startable(definition_id, input, StartedAs::Successor)
    }

    fn generation(&mut self) -> u32 {
        self.generation
    }

    fn has_children(&mut self, except: &[&str]) -> bool {
        instances::has_running_children(self.instance, except)
    }

    fn zone(&self, name: Option<&str>) -> Result<Rc<dyn Zone>, Fault> {
        timing::zone(name)
    }

    fn request(&self) -> Option<Rc<Request>> {
        self.request.clone()
    }

    fn waiting_request(&mut self, received_by: Option<Uuid>) -> WaitingRequest {
        requests::state(self.instance, received_by, self.now.into())
    }

    fn claim_endpoint(&mut self, payload: &Value) -> Result<(), Fault> {
        paths::claim(&self.compiled.row.owner, Some(payload), Hold::Look).map_err(|error| self.fault(error))
    }

    fn store_record(&mut self, record: &Record) {
        compensations::insert(&self.compiled.program, &self.instance, record, self.now.into());
    }

    fn move_records(&mut self, from: u32, to: u32) -> u64 {
        compensations::give(&self.instance, from, to)
    }

    fn find_record(&mut self, wanted: RecordFilter) -> Option<Record> {
        let found = compensations::find(&self.compiled.program, &self.instance, wanted);
        found.unwrap_or_else(|failed| throw(error::records(failed, self.instance)))
    }

    fn remove_record(&mut self, number: u32) {
        compensations::delete(&self.instance, number);
    }

    fn list_records(&mut self, at_most: usize) -> (Vec<NodeIx>, u64) {
        let found = compensations::list(&self.compiled.program, &self.instance, at_most);
        found.unwrap_or_else(|failed| throw(error::records(failed, self.instance)))
    }

    fn remove_records(&mut self) {
        compensations::delete_all(&self.instance);
    }

    fn write_line(&mut self, text: &str) {
        if guc::write_line_notice() && access::instance::may_read(role::current(), &self.owner, self.compiled) {
            notice(PgError::new("00000", text));
        }
    }

    fn warn(&mut self, message: &str) {
        let id = self.instance;
        if access::instance::may_read(role::current(), &self.owner, self.compiled) {
            warning(PgError::new("01000", format!("workflow instance {id}: {message}")));
        }
    }

    fn log(&mut self, entry: &LogEntry) {
        if !guc::log_min_level().admits(entry.level) {
            return;
        }
        let (category, text) = (shorten(&entry.category, MAX_CATEGORY), shorten(&entry.message, MAX_LOGGED));
        let message = format!("workflow log: {} ({category}): {text}", entry.level.name());
        let mut detail = format!("Definition \"{}\", instance {}", self.compiled.row.definition_id, self.instance);
        if !entry.attributes.is_null() {
            detail = format!("{detail}, attributes {}", shorten(&json::text(&entry.attributes), MAX_LOGGED));
        }
        log_for_server(PgError::new("00000", message).detail(format!("{detail}.")));
    }
}

fn variables(scope: &dyn Scope) -> Value {
    let named = scope.variable_names().into_iter().map(|name| {
        interrupt::check();
        let value = scope.variable(&name).unwrap_or_default();
        (name, value)
    });
    Value::Object(named.collect())
}

fn registered(type_name: &str) -> Result<activity_types::ActivityType, Fault> {
    activity_types::find(type_name).ok_or_else(|| {
        Fault::new("42704", format!("activity type \"{type_name}\" does not exist"))
            .hint("Register it with wf_register_activity.")
    })
}

fn taken(correlation_id: Option<&str>, holder: Option<Uuid>) -> Fault {
    let id = correlation_id.unwrap_or_default();
    let fault = Fault::new("23505", format!("correlation id \"{id}\" is taken by another running instance"));
    match holder {
        Some(holder) => fault.detail(format!("Running workflow instance: {holder}.")),
        None => fault,
    }
}
