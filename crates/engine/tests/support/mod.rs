//! An in-memory world for the engine: a host, and a store that processes a burst's result as the shell does.
//!
//! After every burst the instance is encoded and decoded and the invariants are checked, so each test also tests these.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use chrono::{DateTime, Offset, TimeZone, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::NodeIx;
use workflow_engine::activity::Excluded;
use workflow_engine::alteration::{Alteration, Author};
use workflow_engine::approval::Approval;
use workflow_engine::bookmark::{Bookmark, Resumed};
use workflow_engine::calendar::{Utc0, Zone};
use workflow_engine::child::NewChild;
use workflow_engine::definition::{
    ActivityTypes, CustomType, Problem, ReadLimits, Refusal, WorkflowReference, compile,
};
use workflow_engine::execution::{self, Delta, Incident, Limits, sequence_of};
use workflow_engine::execution_records::{ExecutionRecords, ExecutionStatus};
use workflow_engine::expression::{Rows, Scope, Take};
use workflow_engine::fault::{Error, Fault};
use workflow_engine::host::{Function, Host, WaitingRequest};
use workflow_engine::http::Request;
use workflow_engine::instance::codec::{decode_state, encode_state};
use workflow_engine::instance::compensation::{
    Ending, HELD_BY_INTERRUPTION, Record, RecordFilter, Unwinding, decode_kept, encode_kept,
};
use workflow_engine::instance::{ActivityStatus, Instance, Memory, SubStatus};
use workflow_engine::journal::{self, EventKind, Level};
use workflow_engine::notification::{Addressee, Addressees, DirectoryEntry, OpenTask};
use workflow_engine::program::{Numbering, Program};
use workflow_engine::stimulus::RUN_TIMEOUT;

mod commits;
mod migrating;
mod records;

use records::Recorded;

/// Stack for tests of deep values: as large as a backend's, or larger in a build without optimization.
const ROOM: usize = if cfg!(debug_assertions) { 64 << 20 } else { 4 << 20 };

/// A zone of the IANA database.
pub struct Named(pub chrono_tz::Tz);

impl Zone for Named {
    fn offset_at(&self, utc: DateTime<Utc>) -> i32 {
        self.0.offset_from_utc_datetime(&utc.naive_utc()).fix().local_minus_utc()
    }
}

/// A user's function.
pub type UserFunction = fn(&Value) -> Result<Value, Fault>;

/// The world around a burst.
#[derive(Clone, Default)]
pub struct FakeHost {
    pub ids: u128,
    pub lines: Vec<String>,
    /// Effects of statements. A step that is rolled back removes its own.
    pub effects: Vec<String>,
    pub open_step: Option<usize>,
    pub steps: u32,
    pub interrupts: u64,
    pub functions: BTreeMap<String, UserFunction>,
    pub payloads: Vec<Value>,
    pub taken: BTreeSet<String>,
    pub correlated: Option<String>,
    /// The request that bursts serve.
    pub request: Option<Rc<Request>>,
    /// Bookmarks of other instances.
    pub foreign_bookmarks: Vec<Uuid>,
    /// Members of roles that can vote.
    pub members: BTreeMap<String, Vec<String>>,
    /// Roles that do not exist.
    pub missing_roles: BTreeSet<String>,
    /// Voters for whom nobody is left.
    pub unreachable: BTreeSet<String>,
    /// What the directory knows of people.
    pub directory: BTreeMap<String, DirectoryEntry>,
    /// Why the directory cannot be asked.
    pub directory_failure: Option<String>,
    /// How many seconds have passed.
    pub later: i64,
    /// How many notices have led to the next burst.
    pub generation: u32,
    /// The person who started the instance, whom tasks with exclusions refuse.
    pub starter: Option<String>,
    /// How many votes of others the approval had at the last notice.
    pub asked_with_votes: usize,
    /// Tasks that were opened, as they are stored.
    pub tasks: BTreeMap<Uuid, OpenTask>,
    /// Answers that were given, by task.
    pub answers: BTreeMap<Uuid, Value>,
    /// Whether requests of earlier bursts wait for their responses.
    pub lets_requests_wait: bool,
    /// Who gives the next answers.
    pub answerer: Option<String>,
    /// While set, statements and expressions of SQL fail.
    pub broken: bool,
    /// Records by number: the holder, and the bytes of the snapshot.
    pub records: BTreeMap<u32, (u32, Vec<u8>)>,
    /// What happened to all records.
    pub recorded: Recorded,
}

impl Host for FakeHost {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + self.later, 0).expect("a valid instant")
    }

    fn zone(&self, name: Option<&str>) -> Result<Rc<dyn Zone>, Fault> {
        let Some(name) = name else {
            return Ok(Rc::new(Utc0));
        };
        match name.parse() {
            Ok(zone) => Ok(Rc::new(Named(zone))),
            Err(_) => Err(Fault::new("22023", format!("time zone \"{name}\" not recognized"))),
        }
    }

    fn new_id(&mut self) -> Uuid {
        self.ids += 1;
        Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0000 + self.ids)
    }

    fn random(&mut self) -> u64 {
        u64::MAX / 2
    }

    fn check_role(&mut self, name: &str) -> Result<(), Fault> {
        match self.missing_roles.contains(name) {
            true => Err(Fault::new("42704", format!("role \"{name}\" does not exist"))),
            false => Ok(()),
        }
    }

    fn members(&mut self, role: &str, excluded: &[Excluded]) -> Result<Vec<String>, Fault> {
        let members = self.members.get(role).cloned().unwrap_or_default();
        let starts = |name: &String| name == "starter" && excluded.contains(&Excluded::Starter);
        Ok(members.into_iter().filter(|name| !starts(name)).collect())
    }

    fn unreachable_voters(&mut self, approval: &Approval, _excluded: &[Excluded]) -> BTreeSet<usize> {
        let is_gone = |name: &str| self.unreachable.contains(name);
        let voters = approval.voters.iter().enumerate();
        voters.filter(|(_, voter)| voter.vote.is_none() && is_gone(&voter.name)).map(|(at, _)| at).collect()
    }

    fn addressees(&mut self, asked: &[String], _excluded: &[Excluded], voted: &[Uuid]) -> Addressees {
        self.asked_with_votes = voted.len();
        let entry = |name: &String| self.directory.get(name).cloned().unwrap_or_default();
        let person = |name: &String| Addressee { person: name.clone(), in_place_of: None, entry: entry(name) };
        let failure = self.directory_failure.clone();
        Addressees { people: asked.iter().map(person).collect(), failure, has_directory: true }
    }

    fn manager_of(&mut self, person: &str, excluded: &[Excluded]) -> Result<Option<String>, String> {
        if let Some(why) = &self.directory_failure {
            return Err(why.clone());
        }
        let manager = self.directory.get(person).and_then(|entry| entry.manager.clone());
        Ok(manager.filter(|name| excluded.is_empty() || self.starter.as_ref() != Some(name)))
    }

    fn generation(&mut self) -> u32 {
        self.generation
    }

    fn open_task(&mut self, task: Uuid) -> Option<OpenTask> {
        self.tasks.get(&task).cloned()
    }

    fn answer_to(&mut self, task: Uuid) -> Option<Value> {
        self.answers.get(&task).cloned()
    }

    fn answerer(&mut self) -> Option<String> {
        self.answerer.clone()
    }

    fn has_bookmark(&mut self, id: Uuid) -> bool {
        self.foreign_bookmarks.contains(&id)
    }

    fn check_interrupts(&mut self) {
        self.interrupts += 1;
    }

    fn begin_step(&mut self) {
        assert!(self.open_step.is_none(), "steps do not nest");
        self.steps += 1;
        self.open_step = Some(self.effects.len());
    }

    fn end_step(&mut self, keep: bool) {
        let mark = self.open_step.take().expect("a step is open");
        if !keep {
            self.effects.truncate(mark);
        }
    }

    fn sql(&mut self, statement: &str, parameters: &[Value]) -> Result<Rows, Fault> {
        assert!(self.open_step.is_some(), "statements run inside a step");
        self.effects.push(format!("{statement} {}", Value::from(parameters)));
        if self.broken || statement.starts_with("RAISE") {
            return Err(Fault::new("22012", "division by zero"));
        }
        Ok(Rows { rows: vec![json!({ "statement": statement })], count: 1 })
    }

    fn sql_inferred(&mut self, statement: &str, parameters: &[Value], take: Take) -> Result<Rows, Fault> {
        let rows = self.sql(statement, parameters)?;
        match take {
            Take::Rows => Ok(rows),
            Take::FirstColumn | Take::Value => Ok(Rows { rows: parameters.iter().take(1).cloned().collect(), ..rows }),
        }
    }

    /// Understands `name op number`, a single name or a number.
    fn sql_value(&mut self, expression: &str, scope: &dyn Scope) -> Result<Value, Fault> {
        assert!(self.open_step.is_some(), "expressions run inside a step");
        if self.broken || expression == "raise" {
            return Err(Fault::new("22012", "division by zero"));
        }
        let words: Vec<&str> = expression.split_whitespace().collect();
        let read = |word: &str| match word.parse::<i64>() {
            Ok(number) => Value::from(number),
            Err(_) => scope.variable(word).or_else(|| scope.input(word)).unwrap_or_default(),
        };
        let number = |word: &str| read(word).as_i64().unwrap_or_default();
        Ok(match words.as_slice() {
            [word] => read(word),
            [a, "+", b] => Value::from(number(a).saturating_add(number(b))),
            [a, "<", b] => Value::from(number(a) < number(b)),
            [a, "=", b] => Value::from(number(a) == number(b)),
            _ => return Err(Fault::new("42601", format!("cannot read \"{expression}\""))),
        })
    }

    fn call(&mut self, function: Function<'_>, context: &Value) -> Result<Value, Fault> {
        let (Function::Handler(name) | Function::Callback(name)) = function;
        self.effects.push(format!("call {name}"));
        match self.functions.get(name) {
            Some(function) => function(context),
            None => Err(Fault::new("42883", format!("function \"{name}\" does not exist"))),
        }
    }

    fn payloads(&mut self, _type_name: &str, _context: &Value) -> Result<Vec<Value>, Fault> {
        Ok(self.payloads.clone())
    }

    fn correlate(&mut self, correlation_id: Option<&str>) -> Result<(), Fault> {
        if correlation_id.is_some_and(|id| self.taken.contains(id)) {
            return Err(Fault::new("23505", "correlation id is taken"));
        }
        self.correlated = correlation_id.map(str::to_owned);
        Ok(())
    }

    fn child_version(&mut self, definition_id: &str, _input: &Map<String, Value>) -> Result<Uuid, Fault> {
        match definition_id {
            "missing" => Err(Fault::new("42704", "workflow definition \"missing\" does not exist")),
            _ => Ok(Uuid::from_u128(1)),
        }
    }

    fn request(&self) -> Option<Rc<Request>> {
        self.request.clone()
    }

    fn waiting_request(&mut self, received_by: Option<Uuid>) -> WaitingRequest {
        match received_by {
            Some(_) if self.lets_requests_wait => WaitingRequest::Open,
            _ => WaitingRequest::None,
        }
    }

    fn store_record(&mut self, record: &Record) {
        assert!(self.open_step.is_none(), "records change between steps");
        let before = self.records.insert(record.number, (record.holder, encode_kept(&record.kept)));
        assert!(before.is_none(), "each record has its own number");
        self.recorded.stored(record);
    }

    fn move_records(&mut self, from: u32, to: u32) -> u64 {
        assert!(self.open_step.is_none(), "records change between steps");
        self.recorded.moved(from, to);
        let moved = self.records.values_mut().filter(|(holder, _)| *holder == from);
        moved.map(|(holder, _)| *holder = to).count() as u64
    }

    fn find_record(&mut self, wanted: RecordFilter) -> Option<Record> {
        let read = |(number, (holder, bytes)): (&u32, &(u32, Vec<u8>))| {
            let kept = decode_kept(bytes).expect("readable");
            Record { number: *number, holder: *holder, kept }
        };
        let found = self.records.iter().filter(|(_, (holder, _))| *holder == wanted.holder).map(read);
        let found = found.filter(|record| wanted.node.is_none_or(|node| node == record.kept.node));
        let mut found: Vec<Record> = found.collect();
        let numbers = found.iter().map(|record| record.number).collect();
        let first = if wanted.newest { found.pop() } else { found.into_iter().next() };
        self.recorded.found(first.as_ref()?.number, numbers);
        first
    }

    fn remove_record(&mut self, number: u32) {
        self.records.remove(&number).expect("a record");
        self.recorded.handled(number);
        assert!(self.records.values().all(|(holder, _)| *holder != number), "it holds nothing");
    }

    fn list_records(&mut self, at_most: usize) -> (Vec<NodeIx>, u64) {
        let newest = self.records.values().rev().take(at_most);
        (newest.map(|(_, bytes)| decode_kept(bytes).expect("readable").node).collect(), self.records.len() as u64)
    }

    fn remove_records(&mut self) {
        self.recorded.dropped(std::mem::take(&mut self.records).into_keys());
    }

    fn write_line(&mut self, text: &str) {
        self.lines.push(text.to_owned());
    }
}

/// Types registered in SQL: `Approval`, and the trigger `RowInserted`.
struct Registered;

impl ActivityTypes for Registered {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        match type_name {
            "Approval" => Some(CustomType::default()),
            "RowInserted" => Some(CustomType { trigger: true, ..CustomType::default() }),
            _ => None,
        }
    }
}

/// Compiles a root activity, or a whole definition if it has a `root`.
pub fn program(definition: Value) -> Program {
    let mut document = match definition {
        Value::Object(ref members) if members.contains_key("root") => definition,
        root => json!({ "root": root }),
    };
    document["definitionId"] = json!("test");
    compile(&document, &Registered, &ReadLimits::default(), true).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// A program as text, without its map in random order.
pub fn described(program: &Program) -> String {
    let Program { definition_id, version_id: _, name, options, variables, inputs, outputs, nodes, by_id, .. } = program;
    let by_id: BTreeMap<_, _> = by_id.iter().collect();
    format!("{definition_id} {name:?} {options:?} {variables:?} {inputs:?} {outputs:?} {nodes:#?} {by_id:?}")
}

/// A program as a reader with another order of numbers creates it: siblings have another order, after the node that
/// contains them, and so do the connections of each flowchart.
pub fn numbered_otherwise(program: Program) -> Program {
    let mut numbering = serde_json::to_value(program.numbering()).expect("JSON");
    let activities: Vec<(Option<u32>, String)> =
        serde_json::from_value(numbering["activities"].clone()).expect("activities");
    let own = program.own_nodes().len();
    // Nodes of inlined workflows keep their numbers.
    let mut to: Vec<Option<usize>> = (0..activities.len()).map(|at| (at >= own).then_some(at)).collect();
    let mut order = Vec::new();
    while order.len() < own {
        let is_next =
            |at: &usize| to[*at].is_none() && activities[*at].0.is_none_or(|parent| to[parent as usize].is_some());
        let next: Vec<usize> = (0..own).filter(is_next).take(2).collect();
        let last = *next.last().expect("an activity");
        to[last] = Some(order.len());
        order.push(last);
    }
    order.extend(own..activities.len());
    let to = |number: u32| to[number as usize];
    let moved = order.iter().map(|old| &activities[*old]);
    numbering["activities"] = moved.map(|(parent, id)| json!([parent.and_then(to), id])).collect();
    let mut connections: Vec<(u32, String, u32)> =
        serde_json::from_value(numbering["connections"].clone()).expect("connections");
    connections.reverse();
    connections.sort_by_key(|(source, ..)| activities[*source as usize].0.and_then(to));
    numbering["connections"] =
        connections.iter().map(|(source, port, target)| json!([to(*source), port, to(*target)])).collect();
    let numbering: Numbering = serde_json::from_value(numbering).expect("a numbering");
    let program = program.numbered(&numbering).expect("the same activities");
    assert_eq!(program.numbering(), numbering);
    program
}

/// Workflows that can be used as activities, by their ids.
#[derive(Default)]
pub struct Library(BTreeMap<String, Arc<Program>>);

impl ActivityTypes for Library {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        Registered.custom(type_name)
    }

    fn workflow(&self, reference: &WorkflowReference) -> Result<Option<Arc<Program>>, Refusal> {
        let id = reference.definition_id.as_deref().unwrap_or(&reference.type_name);
        Ok(self.0.get(id).cloned())
    }
}

impl Library {
    /// Compiles definitions, each of which may use those before it.
    pub fn of(definitions: impl IntoIterator<Item = Value>) -> Self {
        let mut library = Self::default();
        for definition in definitions {
            library.add(&definition).unwrap_or_else(|problems| panic!("{problems:#?}"));
        }
        library
    }

    /// Adds a definition that may use those of the library.
    pub fn add(&mut self, definition: &Value) -> Result<(), Vec<Problem>> {
        let program = self.compile(definition)?;
        self.0.insert(program.definition_id.clone(), Arc::new(program));
        Ok(())
    }

    /// Compiles a definition that may use those of the library.
    pub fn compile(&self, definition: &Value) -> Result<Program, Vec<Problem>> {
        compile(definition, self, &ReadLimits::default(), false)
    }
}

/// One instance with its stored bookmarks and all that its bursts left.
pub struct World {
    pub program: Program,
    pub instance: Instance,
    pub host: FakeHost,
    pub limits: Limits,
    pub bookmarks: Vec<Bookmark>,
    pub last: Delta,
    pub trail: Vec<journal::Event>,
    pub incidents: Vec<Incident>,
    /// Whether these are all events of the instance, written by this version.
    pub is_whole_trail: bool,
    /// Child workflows that its bursts asked for.
    pub children: Vec<NewChild>,
}

impl World {
    pub fn new(definition: Value) -> Self {
        Self::with_input(definition, json!({}))
    }

    pub fn with_input(definition: Value, input: Value) -> Self {
        Self::of(program(definition), input)
    }

    pub fn of(program: Program, input: Value) -> Self {
        let input: Map<String, Value> = serde_json::from_value(input).expect("an object");
        let id = Uuid::from_u128(0x0193_0000_0000_7000_8000_0123_4567_89ab);
        let instance = Instance::new(id, &program, 1, None, None, input).expect("acceptable inputs");
        Self {
            program,
            instance,
            host: FakeHost::default(),
            limits: Limits::default(),
            bookmarks: Vec::new(),
            last: Delta::default(),
            trail: Vec::new(),
            incidents: Vec::new(),
            is_whole_trail: true,
            children: Vec::new(),
        }
    }

    /// Starts a definition and expects the burst to succeed.
    pub fn started(definition: Value) -> Self {
        let mut world = Self::new(definition);
        world.start();
        world
    }

    pub fn start(&mut self) {
        self.try_start(None, None).expect("the burst ends");
    }

    pub fn try_start(&mut self, trigger: Option<&str>, input: Option<&Value>) -> Result<(), Error> {
        let delta = execution::start(&self.program, &mut self.instance, trigger, input, &mut self.host, &self.limits)?;
        self.store(delta, None);
        Ok(())
    }

    /// Resumes the oldest bookmark of an activity.
    pub fn resume(&mut self, activity_id: &str, input: Value) {
        let index = self.bookmarks.iter().position(|b| b.activity_id == activity_id);
        let index = index.unwrap_or_else(|| panic!("no bookmark of {activity_id}"));
        self.resume_at(index, Some(&input));
    }

    pub fn resume_at(&mut self, index: usize, input: Option<&Value>) {
        self.try_resume(index, input).expect("the burst ends");
    }

    /// Resumes a bookmark with several inputs in one burst.
    pub fn resume_each(&mut self, index: usize, inputs: &[Value]) {
        let inputs: Vec<Option<&Value>> = inputs.iter().map(Some).collect();
        self.try_resume_each(index, &inputs).expect("the burst ends");
    }

    pub fn try_resume(&mut self, index: usize, input: Option<&Value>) -> Result<(), Error> {
        self.try_resume_each(index, &[input])
    }

    fn try_resume_each(&mut self, index: usize, inputs: &[Option<&Value>]) -> Result<(), Error> {
        let resumed = self.resumed(index);
        let id = resumed.id;
        let inputs = inputs.iter().copied();
        let (program, instance) = (&self.program, &mut self.instance);
        let delta = execution::resume_each(program, instance, &resumed, inputs, &mut self.host, &self.limits)?;
        self.store(delta, Some(id));
        Ok(())
    }

    fn resumed(&self, index: usize) -> Resumed {
        self.bookmarks[index].clone().into()
    }

    /// Fails the task of a bookmark after this number of attempts, as its worker does.
    pub fn fail(&mut self, index: usize, attempts: u32, fault: Fault) {
        self.try_fail(index, attempts, fault).expect("the burst ends");
    }

    pub fn try_fail(&mut self, index: usize, attempts: u32, fault: Fault) -> Result<(), Error> {
        let resumed = self.resumed(index);
        let (program, instance) = (&self.program, &mut self.instance);
        let delta = execution::fail(program, instance, &resumed, attempts, fault, &mut self.host, &self.limits)?;
        self.store(delta, Some(resumed.id));
        Ok(())
    }

    /// Gives the task of a bookmark its last lease, as a claim does.
    pub fn lease(&mut self, index: usize, attempt: u32) {
        let (id, until) = (self.host.new_id(), self.host.now());
        let execution = self.bookmarks[index].activity_instance_id;
        let made = execution::add_lease(&self.program, &mut self.instance, execution, id, attempt, until);
        self.bookmarks.push(made.expect("the activity waits"));
        self.check();
    }

    pub fn retry(&mut self, ids: Option<&[&str]>) -> Result<(), Error> {
        let ids: Option<Vec<String>> = ids.map(|ids| ids.iter().map(|id| (*id).into()).collect());
        let delta = execution::retry(&self.program, &mut self.instance, ids.as_deref(), &mut self.host, &self.limits)?;
        self.store(delta, None);
        Ok(())
    }

    /// A copy of the instance, as a call reads it.
    fn copy(&self) -> Instance {
        let instance = &self.instance;
        Instance {
            id: instance.id,
            version: instance.version,
            correlation_id: instance.correlation_id.clone(),
            name: instance.name.clone(),
            sub_status: instance.sub_status,
            input: instance.input.clone(),
            output: instance.output.clone(),
            variables: instance.variables.clone(),
            incident_count: instance.incident_count,
            state: decode_state(&encode_state(&instance.state)).expect("a readable state"),
        }
    }

    /// Alters the instance, unless that is refused. A dry run must first have given the same result.
    pub fn alter(&mut self, alterations: &[Alteration]) -> Result<(), Error> {
        let author = Author { role: "operator".into(), ..Author::default() };
        let (program, limits) = (&self.program, &self.limits);
        let mut tried = self.copy();
        let tried = execution::try_alterations(program, &mut tried, alterations, &mut self.host, limits);
        let mut altered = self.copy();
        let made = execution::alter(program, &mut altered, alterations, &author, &mut self.host, limits);
        if let Err(Error::NotAltered(_)) = &made {
            assert_eq!(tried, made.map(drop), "the dry run foresees it");
            return tried;
        }
        assert_eq!(tried, Ok(()), "the dry run foresees nothing else");
        self.instance = altered;
        let delta = made?;
        self.store(delta, None);
        let is_stuck = self.status() == SubStatus::Suspended
            && self.bookmarks.is_empty()
            && self.instance.state.contexts.values().all(|context| context.status == ActivityStatus::Running);
        assert!(!is_stuck, "something waits, or can be retried");
        Ok(())
    }

    pub fn cancel(&mut self) {
        self.end(false);
    }

    /// Cancels without handlers.
    pub fn cancel_by_force(&mut self) {
        self.end(true);
    }

    fn end(&mut self, force: bool) {
        let (program, instance) = (&self.program, &mut self.instance);
        let delta = execution::cancel(program, instance, Some("no longer needed"), force, &mut self.host);
        self.store(delta.expect("cancelling does not fail"), None);
    }

    /// Resumes whatever is due, as workers do.
    pub fn resume_all_due(&mut self) {
        let now = self.host.now();
        while let Some(due) = self.bookmarks.iter().position(|made| made.due_at.is_some_and(|due| due <= now)) {
            self.resume_at(due, None);
        }
    }

    /// Resumes the oldest bookmark until none is left.
    pub fn run_to_end(&mut self) {
        let mut rounds = 0;
        while !self.bookmarks.is_empty() {
            self.resume_at(0, None);
            rounds += 1;
            assert!(rounds < 10_000, "the workflow never ends");
        }
    }

    /// Stores a delta as the shell does, and checks the invariants.
    fn store(&mut self, delta: Delta, resumed: Option<Uuid>) {
        self.put(delta, resumed);
        self.check();
    }

    /// Stores a delta as the shell does.
    fn put(&mut self, delta: Delta, resumed: Option<Uuid>) {
        if delta.keep_resumed {
            let kept = resumed.expect("only a resume keeps its bookmark");
            assert!(!delta.burned.contains(&kept));
        }
        let gone: BTreeSet<Uuid> = delta.burned.iter().copied().collect();
        let cleared: BTreeSet<Uuid> = delta.cleared.iter().copied().collect();
        self.bookmarks.retain(|bookmark| {
            !(delta.clear_all || gone.contains(&bookmark.id) || cleared.contains(&bookmark.activity_instance_id))
        });
        self.bookmarks.extend(delta.created.iter().cloned());
        for task in &delta.tasks {
            assert!(self.bookmarks.iter().any(|bookmark| bookmark.id == task.bookmark_id));
            self.host.tasks.insert(task.bookmark_id, OpenTask::of(task));
        }
        let bytes = journal::encode(&delta.events);
        assert_eq!(journal::decode(&bytes).expect("readable events"), delta.events);
        self.trail.extend(delta.events.iter().cloned());
        self.incidents.extend(delta.incidents.iter().cloned());
        self.children.extend(delta.children.iter().map(|child| child.copy().expect("room")));
        self.last = delta;
        self.reload();
    }

    /// Writes the state and reads it again, as between two calls.
    pub fn reload(&mut self) {
        let bytes = encode_state(&self.instance.state);
        let state = decode_state(&bytes).expect("a readable state");
        assert_eq!(state, self.instance.state);
        self.instance.state = state;
    }

    /// Bytes of the stored state.
    pub fn state_size(&self) -> usize {
        encode_state(&self.instance.state).len()
    }

    /// Checks the invariants between two bursts.
    pub fn check(&self) {
        let contexts = &self.instance.state.contexts;
        let mut waiting: BTreeMap<u32, u32> = BTreeMap::new();
        for bookmark in &self.bookmarks {
            let sequence = sequence_of(self.instance.id, bookmark.activity_instance_id);
            let sequence = sequence.expect("bookmarks belong to the instance");
            if bookmark.name == RUN_TIMEOUT {
                let deadline = self.instance.state.deadline.expect("the run has a time");
                assert_eq!((deadline.bookmark, sequence), (bookmark.id, u32::MAX));
                continue;
            }
            *waiting.entry(sequence).or_default() += 1;
        }
        for sequence in waiting.keys() {
            assert!(contexts.contains_key(sequence), "every bookmark has a live activity");
        }
        assert_eq!(self.instance.state.bookmarks() as usize, self.bookmarks.len());
        let mut faults: BTreeMap<u32, u32> = BTreeMap::new();
        for (sequence, context) in contexts {
            let stored = waiting.get(sequence).copied().unwrap_or_default();
            assert_eq!(context.bookmarks, stored, "bookmarks are counted");
            assert!(context.parent.is_none_or(|parent| contexts.contains_key(&parent)));
            if context.status == ActivityStatus::Faulted {
                let mut current = Some(*sequence);
                while let Some(at) = current {
                    *faults.entry(at).or_default() += 1;
                    current = contexts[&at].parent;
                }
            }
        }
        for (sequence, context) in contexts {
            assert_eq!(context.faults, faults.get(sequence).copied().unwrap_or_default());
            if let (Memory::Tokens(scope), ActivityStatus::Running) = (&context.memory, context.status) {
                let open = contexts.values().filter(|child| child.parent == Some(*sequence)).count();
                let counted: u32 = scope.open().map(|position| scope.executions(position)).sum();
                assert_eq!(counted as usize, open, "executions of a flowchart are counted");
            }
        }
        match self.instance.sub_status {
            SubStatus::Finished | SubStatus::Cancelled => {
                assert!(self.host.records.is_empty(), "what ended has nothing to handle");
                assert!(contexts.is_empty(), "what ended has nothing open");
                assert!(self.bookmarks.is_empty(), "what ended waits for nothing");
            }
            SubStatus::Faulted if contexts.is_empty() => {
                assert!(self.bookmarks.is_empty() && self.host.records.is_empty(), "a fault has ended it");
            }
            SubStatus::Faulted => assert!(!faults.is_empty()),
            SubStatus::Suspended => assert!(!contexts.is_empty()),
            SubStatus::Pending | SubStatus::Executing => panic!("a burst has run"),
        }
        assert!(self.host.open_step.is_none(), "no step is left open");
        self.check_records();
        self.check_executions();
    }

    /// Checks that the journal contains, for each open execution, its activity and its enclosing execution.
    fn check_executions(&self) {
        let has_all = self.program.options.journal.level == Level::Full
            && self.program.nodes.iter().all(|node| node.events.is_none());
        if !has_all || !self.is_whole_trail {
            return;
        }
        let mut told = ExecutionRecords::new(&self.program);
        told.burst(self.host.now(), &self.trail);
        for record in told.end() {
            let Some(context) = self.instance.state.contexts.get(&record.number) else {
                // What a `Finish` or `Complete` has ended is reported when its handlers have run.
                let mut contexts = self.instance.state.contexts.values();
                let is_handling = contexts.any(|context| matches!(context.memory, Memory::Unwinding(_)));
                let is_ending = self.instance.state.ending() != Ending::None || is_handling;
                assert!(record.status != ExecutionStatus::Running || is_ending, "what runs is open");
                continue;
            };
            assert_eq!(record.node, Some(context.node), "{} of {}", record.number, record.activity_id);
            let is_shown = |parent: &u32| !matches!(self.instance.state.contexts[parent].memory, Memory::Unwinding(_));
            assert_eq!(
                record.parent,
                context.parent.filter(is_shown),
                "around {} of {}",
                record.number,
                record.activity_id
            );
            // An execution that compensates everything is informed of the fault that ends it before it has finished.
            let is_unwinding = matches!(context.memory, Memory::Unwinding(_));
            let is_faulted = context.status == ActivityStatus::Faulted;
            let is_told = record.status == ExecutionStatus::Faulted;
            assert!(is_told == is_faulted || is_unwinding, "{} of {}", record.number, record.activity_id);
            assert!(record.ended_at.is_none());
        }
    }

    /// Checks that the holder of each record exists, and that interrupted executions are being handled.
    fn check_records(&self) {
        let holders: BTreeSet<u32> = self.host.records.values().map(|(holder, _)| *holder).collect();
        for holder in &holders {
            let is_record = self.host.records.contains_key(holder);
            let is_open = self.instance.state.contexts.contains_key(holder);
            assert!(is_record || is_open || *holder >= HELD_BY_INTERRUPTION, "record {holder} holds records");
        }
        let is_handling = self
            .instance
            .state
            .contexts
            .values()
            .any(|context| matches!(context.memory, Memory::Unwinding(Unwinding::Instance(_))));
        assert!(is_handling || !holders.contains(&HELD_BY_INTERRUPTION), "what was interrupted is handled");
        let is_left = self.instance.state.ending() != Ending::None;
        assert!(!is_left || is_handling);
    }

    pub fn status(&self) -> SubStatus {
        self.instance.sub_status
    }

    pub fn lines(&self) -> Vec<&str> {
        self.host.lines.iter().map(String::as_str).collect()
    }

    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.host.lines)
    }

    pub fn variable(&self, name: &str) -> &Value {
        &self.instance.variables[name]
    }

    /// Ids of activities with an event of a kind, in order.
    pub fn journaled(&self, kind: EventKind) -> Vec<&str> {
        let events = self.trail.iter().filter(|event| event.kind == kind);
        events.map(|event| event.activity_id.as_str()).collect()
    }

    pub fn waiting(&self) -> Vec<&str> {
        self.bookmarks.iter().map(|bookmark| bookmark.activity_id.as_str()).collect()
    }
}

/// A value of this depth. Built by hand: `json!` would copy it at each level.
pub fn nested(depth: usize) -> Value {
    let around = |value: Value| Value::Object(Map::from_iter([("x".to_owned(), value)]));
    (0..depth).fold(json!(1), |value, _| around(value))
}

/// Runs a test of deep values with enough stack: without optimization, a level of nesting takes some kilobytes of stack
/// wherever a value is cloned, compared or dropped.
pub fn with_room(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(ROOM).spawn(test);
    thread.expect("a thread").join().expect("the test passes");
}

/// A `WriteLine`.
pub fn line(text: &str) -> Value {
    json!({ "type": "WriteLine", "text": text })
}

/// An `Event` whose id is its event's name.
pub fn event(name: &str) -> Value {
    json!({ "id": name, "type": "Event", "eventName": name })
}

/// An activity that faults.
pub fn broken(id: &str) -> Value {
    json!({ "id": id, "type": "Fault", "message": "broken" })
}

/// A `SetVariable` from a SQL expression.
pub fn set(variable: &str, sql: &str) -> Value {
    json!({ "type": "SetVariable", "variable": variable, "value": { "sql": sql } })
}
