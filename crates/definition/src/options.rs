//! Options of a definition: strategies by short name or by Elsa's .NET type name, security, search path and retention.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::forms::class_name;
use super::identity::identity;
use super::json::{Path, entry, kind_of};
use super::link::type_of;
use super::notices::NOTIFY;
use super::problem::Problems;
use super::resilience::{self, STRATEGIES};
use super::retry::{self, RETRY, TIMEOUT};
use super::{flow_mode, journaling, members, search_attributes};
use workflow_core::notification::Notify;
use workflow_core::program::{
    Activation, CompensateOn, IncidentStrategy, MaxConcurrency, Options, RequesterEvents, SearchPath, Security,
};
use workflow_value::calendar::Interval;

/// The known members of `options`; others are problems of new content.
pub(super) const KNOWN: [&str; 19] = [
    ACTOR,
    "activationStrategy",
    "incidentStrategy",
    "flowchartMode",
    "security",
    "searchPath",
    "retention",
    "usableAsActivity",
    "autoUpdateConsumingWorkflows",
    MIGRATE,
    "maxConcurrency",
    REQUESTER_EVENTS,
    NOTIFY,
    journaling::JOURNAL,
    RETRY,
    COMPENSATE_ON,
    TIMEOUT,
    STRATEGIES,
    search_attributes::SEARCH_ATTRIBUTES,
];

/// Option: whether calls need an actor.
const ACTOR: &str = "actor";

/// Option: what happens to instances of other versions.
const MIGRATE: &str = "migrate";

/// Option: which events requesters may send.
const REQUESTER_EVENTS: &str = "requesterEvents";

/// Option: when completed work is compensated.
const COMPENSATE_ON: &str = "compensateOn";

/// Maximum of the number of concurrently running instances.
pub(super) const MAX_CONCURRENCY: u64 = 10_000;

/// Elsa's names for some of the options, and options that only Elsa has.
pub(super) const OF_ELSA: [&str; 4] =
    ["activationStrategyType", "incidentStrategyType", "activityCategory", "commitStrategyName"];

/// Whether publishing a definition gives its consumers a new version.
pub fn updates_consumers(document: &Value) -> bool {
    let members = document.as_object();
    members.is_some_and(|members| read(members, true, &mut Problems::default()).updates_consumers)
}

/// The activity type as which other definitions can use this one, if they can.
pub fn activity_type(document: &Value) -> Option<String> {
    let is_usable = read(document.as_object()?, true, &mut Problems::default()).usable_as_activity;
    let name = identity(document).ok().filter(|_| is_usable)?.name?;
    Some(type_of(&name)).filter(|name| !name.is_empty())
}

/// Reads `options`, and the settings that Elsa stores beside it. Missing or invalid ones have their default.
pub(super) fn read(document: &Map<String, Value>, elsa: bool, problems: &mut Problems) -> Options {
    let flowcharts = flow_mode::of_definition(document, problems);
    let activity_events = journaling::of_activity(document, &Path::Root, problems);
    let Some((key, value)) = entry(document, "options").filter(|(_, value)| !value.is_null()) else {
        let usable_as_activity = flag(document, "usableAsActivity", &Path::Root, problems);
        return Options { flowcharts, activity_events, usable_as_activity, ..Options::default() };
    };
    let place = Path::Root.key(key);
    let Value::Object(options) = value else {
        problems.invalid(&place, format!("\"options\" must be an object, not {}", kind_of(value)));
        return Options::default();
    };
    if !elsa {
        members::check(options, KNOWN.into_iter(), OF_ELSA.into_iter(), "the options", &place, problems);
    }
    let security = choice(options, &["security"], security, &place, problems);
    Options {
        actor_required: requires_actor(options, &place, problems),
        updates_consumers: flag(options, "autoUpdateConsumingWorkflows", &place, problems),
        migrates: migrates(options, &place, problems),
        usable_as_activity: flag(options, "usableAsActivity", &place, problems)
            || flag(document, "usableAsActivity", &Path::Root, problems),
        activation: choice(options, &["activationStrategy", "activationStrategyType"], activation, &place, problems),
        incidents: choice(options, &["incidentStrategy", "incidentStrategyType"], incidents, &place, problems),
        security,
        search_path: search_path(options, security, &place, problems),
        flowcharts,
        retention: retention(options, &place, problems),
        max_concurrency: max_concurrency(options, &place, problems),
        requester_events: requester_events(options, &place, problems),
        journal: journaling::of_definition(options, &place, problems),
        activity_events,
        retry: entry(options, RETRY)
            .filter(|(_, value)| !value.is_null())
            .and_then(|(key, value)| retry::read(value, &place.key(key), problems)),
        compensate_on: compensate_on(options, &place, problems),
        timeout: entry(options, TIMEOUT)
            .filter(|(_, value)| !value.is_null())
            .and_then(|(key, value)| retry::read_timeout(value, &place.key(key), problems)),
        strategies: entry(options, STRATEGIES)
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| Arc::new(resilience::read(value, &place.key(key), problems)))
            .unwrap_or_default(),
        notify: notify(options, &place, problems),
        // Its variables have to be read first.
        search_attributes: Vec::new(),
    }
}

/// `"required"` or `"optional"`. In content stored earlier, anything else is ignored.
fn requires_actor(options: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> bool {
    let Some((key, value)) = entry(options, ACTOR).filter(|(_, value)| !value.is_null()) else { return false };
    match value.as_str() {
        Some("required") => return true,
        Some("optional") => {}
        _ if problems.is_new() => {
            problems.invalid(&place.key(key), format!("\"{key}\" must be \"required\" or \"optional\""));
        }
        _ => {}
    }
    false
}

/// `"auto"` or `"manual"`. In content stored earlier, anything else is ignored.
fn migrates(options: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> bool {
    let Some((key, value)) = entry(options, MIGRATE).filter(|(_, value)| !value.is_null()) else { return false };
    let known = ["auto", "manual"].iter().any(|word| value == word);
    if !known && problems.is_new() {
        problems.invalid(&place.key(key), format!("\"{key}\" must be \"auto\" or \"manual\""));
    }
    value == "auto"
}

/// What tasks for people tell by default. In content stored earlier, anything else is ignored.
fn notify(options: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> Option<Box<Notify>> {
    let (key, value) = entry(options, NOTIFY)?;
    match Notify::read(value) {
        Ok(notify) => notify.map(Box::new),
        Err(fault) => {
            if problems.is_new() {
                problems.invalid(&place.key(key), fault.message);
            }
            None
        }
    }
}

/// `true`, or a list of event names. In content stored earlier, anything else is ignored.
fn requester_events(options: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> RequesterEvents {
    let Some((key, value)) = entry(options, REQUESTER_EVENTS).filter(|(_, value)| !value.is_null()) else {
        return RequesterEvents::default();
    };
    let names = value.as_array().and_then(|list| list.iter().map(|name| name.as_str().map(str::to_owned)).collect());
    match (value, names) {
        (Value::Bool(true), _) => RequesterEvents::All,
        (Value::Bool(false), _) => RequesterEvents::default(),
        (_, Some(names)) => RequesterEvents::Named(names),
        _ => {
            if problems.is_new() {
                let message = format!("\"{key}\" must be true, false, or a list of names of events");
                problems.invalid(&place.key(key), message);
            }
            RequesterEvents::default()
        }
    }
}

/// A list of `"cancel"` and `"fault"`. In content stored earlier, anything else is ignored.
fn compensate_on(options: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> CompensateOn {
    let Some((key, value)) = entry(options, COMPENSATE_ON).filter(|(_, value)| !value.is_null()) else {
        return CompensateOn::default();
    };
    let words: Option<Vec<&str>> = value.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
    let known = words.filter(|words| words.iter().all(|word| ["cancel", "fault"].contains(word)));
    match known {
        Some(words) => CompensateOn { cancel: words.contains(&"cancel"), fault: words.contains(&"fault") },
        None => {
            if problems.is_new() {
                let message = format!("\"{key}\" must be a list of \"cancel\" and \"fault\"");
                problems.invalid(&place.key(key), message);
            }
            CompensateOn::default()
        }
    }
}

/// Reads the first of several members that exists.
fn choice<T: Default>(
    options: &Map<String, Value>,
    names: &[&str],
    read: fn(&str) -> Option<T>,
    place: &Path<'_>,
    problems: &mut Problems,
) -> T {
    let given = names.iter().find_map(|name| entry(options, name).filter(|(_, value)| !value.is_null()));
    let Some((key, value)) = given else {
        return T::default();
    };
    let Some(text) = value.as_str() else {
        problems.invalid(&place.key(key), format!("\"{key}\" must be a string, not {}", kind_of(value)));
        return T::default();
    };
    if text.is_empty() {
        return T::default();
    }
    read(class_name(text)).unwrap_or_else(|| {
        problems.unsupported(&place.key(key), format!("unknown {} \"{text}\"", option_label(key)));
        T::default()
    })
}

/// The search path of users' SQL: a list of schemas, or `"caller"`.
fn search_path(
    options: &Map<String, Value>,
    security: Security,
    place: &Path<'_>,
    problems: &mut Problems,
) -> SearchPath {
    let Some((key, value)) = entry(options, "searchPath").filter(|(_, value)| !value.is_null()) else {
        return SearchPath::Unset;
    };
    let place = place.key(key);
    match value {
        Value::String(word) if word == "caller" && security == Security::Definer => problems
            .invalid(&place, "SQL with the rights of the definition's owner cannot use the search path of the caller"),
        Value::String(word) if word == "caller" => return SearchPath::Caller,
        Value::Array(schemas) => {
            let names: Option<Vec<String>> =
                schemas.iter().map(|name| name.as_str().filter(|name| is_schema(name)).map(str::to_owned)).collect();
            match names {
                Some(names) => return SearchPath::Schemas(names),
                None => {
                    problems.invalid(&place, format!("\"{key}\" must list names of schemas, and \"$user\" is not one"))
                }
            }
        }
        _ => problems.invalid(&place, format!("\"{key}\" must be a list of schemas or \"caller\"")),
    }
    SearchPath::Unset
}

/// PostgreSQL truncates longer names, and `$user` is another schema for each role.
fn is_schema(name: &str) -> bool {
    !name.is_empty() && name.len() < 64 && name != "$user" && !name.contains('\0')
}

/// Reads a flag; a missing one is false.
fn flag(object: &Map<String, Value>, name: &str, place: &Path<'_>, problems: &mut Problems) -> bool {
    match entry(object, name) {
        None | Some((_, Value::Null)) => false,
        Some((_, Value::Bool(flag))) => *flag,
        Some((key, value)) => {
            problems.invalid(&place.key(key), format!("\"{key}\" must be a boolean, not {}", kind_of(value)));
            false
        }
    }
}

/// Reads the retention of finished instances, an interval.
fn retention(options: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> Option<Interval> {
    let (key, value) = entry(options, "retention").filter(|(_, value)| !value.is_null())?;
    let place = place.key(key);
    let Some(text) = value.as_str() else {
        problems.invalid(&place, format!("\"{key}\" must be an interval such as \"30 days\", not {}", kind_of(value)));
        return None;
    };
    match Interval::parse(text) {
        Ok(interval) if interval.is_positive() => return Some(interval),
        Ok(_) => problems.invalid(&place, format!("\"{key}\" must be positive")),
        Err(fault) => problems.invalid(&place, fault.message),
    }
    None
}

/// Reads the number of instances that may run at the same time. In content stored earlier, invalid values are ignored.
fn max_concurrency(options: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> Option<MaxConcurrency> {
    let (key, value) = entry(options, "maxConcurrency").filter(|(_, value)| !value.is_null())?;
    let mut old = Problems::default();
    let problems = if problems.is_new() { problems } else { &mut old };
    let place = place.key(key);
    let Value::Object(given) = value else {
        problems.invalid(&place, format!("\"{key}\" must be an object, not {}", kind_of(value)));
        return None;
    };
    members::check(given, ["max", "key"].into_iter(), std::iter::empty(), "a limit of instances", &place, problems);
    let max = entry(given, "max").map(|(_, max)| max).filter(|max| !max.is_null());
    let number = max.and_then(Value::as_u64).filter(|max| (1..=MAX_CONCURRENCY).contains(max));
    if number.is_none() {
        let given = max.map_or_else(String::new, |max| format!(", not {max}"));
        problems.invalid(&place, format!("\"{key}\" needs \"max\", a whole number from 1 to {MAX_CONCURRENCY}{given}"));
    }
    let member = match entry(given, "key") {
        None | Some((_, Value::Null)) => None,
        Some((_, Value::String(member))) if !member.is_empty() => Some(member.clone()),
        Some((name, value)) => {
            let found = if value.is_string() { "an empty string" } else { kind_of(value) };
            problems.invalid(&place.key(name), format!("\"{name}\" must be the name of an input, not {found}"));
            return None;
        }
    };
    number.and_then(|max| u32::try_from(max).ok()).map(|max| MaxConcurrency { max, key: member })
}

/// `activationStrategyType` as `activation strategy`.
fn option_label(key: &str) -> String {
    let mut words = String::new();
    for letter in key.trim_end_matches("Type").chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

fn activation(class: &str) -> Option<Activation> {
    match class {
        "AllowAlways" | "AllowAlwaysStrategy" | "Always" | "Default" => Some(Activation::Always),
        "Singleton" | "SingletonStrategy" => Some(Activation::Singleton),
        "Correlated" | "Correlation" | "CorrelationStrategy" | "CorrelatedStrategy" => Some(Activation::Correlated),
        "CorrelatedSingleton" | "CorrelatedSingletonStrategy" => Some(Activation::CorrelatedSingleton),
        _ => None,
    }
}

fn incidents(class: &str) -> Option<IncidentStrategy> {
    match class {
        "Fault" | "FaultStrategy" | "Default" => Some(IncidentStrategy::Fault),
        "ContinueWithIncidents" | "ContinueWithIncidentsStrategy" => Some(IncidentStrategy::ContinueWithIncidents),
        _ => None,
    }
}

fn security(word: &str) -> Option<Security> {
    match word.to_ascii_lowercase().as_str() {
        "invoker" => Some(Security::Invoker),
        "definer" => Some(Security::Definer),
        _ => None,
    }
}
