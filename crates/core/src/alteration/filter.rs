//! Elsa's filter of instances. That of a list and that of a plan are one type with two readers, because Elsa's clients
//! write them in different forms: [`InstanceFilter::of_list`] and [`InstanceFilter::read`].

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use super::members::Members;
use crate::instance::SubStatus;
use crate::program::{SearchKind, SearchValue};
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::to_text;

/// Selects instances for a plan or a list: those that satisfy every member that is given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceFilter {
    /// The ids that an instance may have. Here and below, `None` means any.
    pub instance_ids: Option<Vec<Uuid>>,
    /// The correlation ids that it may have.
    pub correlation_ids: Option<Vec<String>>,
    /// The names that it may have.
    pub names: Option<Vec<String>>,
    /// The definitions that it may run, in any version.
    pub definition_ids: Option<Vec<String>>,
    /// The definition versions that it may run.
    pub version_ids: Option<Vec<Uuid>>,
    /// Number of the version that it may run. Only a list can be filtered by it.
    pub version: Option<i32>,
    /// Elsa's names of the statuses that it may have.
    pub statuses: Option<Vec<String>>,
    /// Elsa's names of the sub-statuses that it may have.
    pub sub_statuses: Option<Vec<String>>,
    /// A part of the name, the correlation id or the id of the definition, in any letter case, or the id of the
    /// instance.
    pub search_term: Option<String>,
    /// Whether there are incidents.
    pub has_incidents: Option<bool>,
    /// Whether the definition is built in.
    pub is_system: Option<bool>,
    /// Conditions on its times. All of them must hold.
    pub times: Vec<TimeFilter>,
    /// Conditions on its search attributes. All of them must hold. Only a list can be filtered by them.
    pub attributes: Vec<SearchFilter>,
}

/// A condition on a search attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchFilter {
    /// Name of the attribute.
    pub name: String,
    /// The condition on its value.
    pub condition: SearchCondition,
}

/// A condition on the value of a search attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchCondition {
    /// It is this text or, if the text is a number or an instant, that value.
    Is {
        /// The text.
        text: String,
        /// The text as a number.
        number: Option<f64>,
        /// The text as an instant.
        instant: Option<DateTime<Utc>>,
    },
    /// It is a number in this range, both ends included.
    Numbers {
        /// The lowest number; `None`: any.
        from: Option<f64>,
        /// The highest number; `None`: any.
        to: Option<f64>,
    },
    /// It is an instant in this range, both ends included.
    Instants {
        /// The first instant; `None`: any.
        from: Option<DateTime<Utc>>,
        /// The last instant; `None`: any.
        to: Option<DateTime<Utc>>,
    },
}

/// Compares one of the instance's times with a given instant. A time that is NULL satisfies no comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeFilter {
    /// The time that is compared.
    pub moment: Moment,
    /// The comparison.
    pub relation: Relation,
    /// The instant that the filter gives.
    pub instant: DateTime<Utc>,
}

/// A time of an instance that a condition can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// When it was created; each instance has one.
    CreatedAt,
    /// When it last changed.
    UpdatedAt,
    /// When it ended; NULL until then.
    FinishedAt,
}

/// A comparison of a time with the given instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Equal to the given instant.
    Is,
    /// Not equal to the given instant.
    IsNot,
    /// Later than the given instant.
    GreaterThan,
    /// The given instant or later.
    GreaterThanOrEqual,
    /// Earlier than the given instant.
    LessThan,
    /// The given instant or earlier.
    LessThanOrEqual,
}

const MOMENTS: [(&str, Moment); 3] =
    [("CreatedAt", Moment::CreatedAt), ("UpdatedAt", Moment::UpdatedAt), ("FinishedAt", Moment::FinishedAt)];

const RELATIONS: [(&str, Relation); 6] = [
    ("Is", Relation::Is),
    ("IsNot", Relation::IsNot),
    ("GreaterThan", Relation::GreaterThan),
    ("GreaterThanOrEqual", Relation::GreaterThanOrEqual),
    ("LessThan", Relation::LessThan),
    ("LessThanOrEqual", Relation::LessThanOrEqual),
];

impl InstanceFilter {
    /// Reads the filter of a plan.
    ///
    /// # Errors
    /// 22023 if it is no filter, or if it selects every instance without saying so.
    pub fn read(filter: &Value) -> Result<Self, Fault> {
        let mut members = Members::of(filter, "the filter".to_owned())?;
        let selects_all = members.flag("emptyFilterSelectsAll")?.unwrap_or(false);
        let read = Self {
            instance_ids: members.ids("workflowInstanceIds")?,
            correlation_ids: members.texts("correlationIds")?,
            names: members.texts("names")?,
            definition_ids: members.texts("definitionIds")?,
            version_ids: members.ids("definitionVersionIds")?,
            version: None,
            statuses: one_of(&mut members, "statuses", &STATUSES)?,
            sub_statuses: one_of(&mut members, "subStatuses", &SubStatus::ALL.map(SubStatus::name))?,
            search_term: members.text("searchTerm")?,
            has_incidents: members.flag("hasIncidents")?,
            is_system: members.flag("isSystem")?,
            times: times(&mut members)?,
            attributes: Vec::new(),
        };
        members.end()?;
        if read == Self::default() && !selects_all {
            return Err(Fault::new("22023", "the filter selects every instance")
                .hint("Set \"emptyFilterSelectsAll\" to true if that is meant."));
        }
        Ok(read)
    }

    fn bounded(self) -> Result<Self, Fault> {
        let texts = [&self.correlation_ids, &self.names, &self.definition_ids, &self.statuses, &self.sub_statuses];
        let ids = [&self.instance_ids, &self.version_ids];
        let lengths = texts.into_iter().flatten().map(Vec::len).chain(ids.into_iter().flatten().map(Vec::len));
        match lengths.chain([self.times.len()]).max() {
            Some(length) if length > MAX_VALUES => {
                Err(Fault::new("22023", format!("a list of the filter has more than {MAX_VALUES} entries")))
            }
            _ => Ok(self),
        }
    }

    /// Reads the filter of a list, which also has members for single values. A null, an empty text and an empty list
    /// are no condition: Elsa's clients send them for fields that their user left empty.
    ///
    /// # Errors
    /// 22023 if it is no filter.
    pub fn of_list(filter: &Value) -> Result<Self, Fault> {
        let given = without_empty_members(filter);
        let mut members = Members::of(given.as_ref().unwrap_or(filter), "the filter".to_owned())?;
        let mut both = |one, many| {
            let one = members.text(one)?.map(|text| vec![text]);
            Ok::<_, Fault>((one, members.texts(many)?))
        };
        let correlation_ids = common(both("correlationId", "correlationIds")?);
        let names = common(both("name", "names")?);
        let definition_ids = common(both("definitionId", "definitionIds")?);
        let (status, statuses) = both("status", "statuses")?;
        let statuses = common((known_in("status", status, &STATUSES)?, known_in("statuses", statuses, &STATUSES)?));
        let (sub_status, sub_statuses) = both("subStatus", "subStatuses")?;
        let all = SubStatus::ALL.map(SubStatus::name);
        let sub_statuses =
            common((known_in("subStatus", sub_status, &all)?, known_in("subStatuses", sub_statuses, &all)?));
        let read = Self {
            instance_ids: members.ids("workflowInstanceIds")?,
            correlation_ids,
            names,
            definition_ids,
            version_ids: members.ids("definitionVersionIds")?,
            version: members.number("version")?,
            statuses,
            sub_statuses,
            search_term: members.text("searchTerm")?,
            has_incidents: members.flag("hasIncidents")?,
            is_system: members.flag("isSystem")?,
            times: times(&mut members)?,
            attributes: attributes(&mut members)?,
        };
        members.end()?;
        read.bounded()
    }
}

/// Maximum number of values in one list of a list's filter: each row is compared with all of them.
const MAX_VALUES: usize = 1000;

/// Maximum number of conditions on search attributes: each is a search of its own.
const MAX_ATTRIBUTES: usize = 8;

/// The filter without its members that are no condition.
fn without_empty_members(filter: &Value) -> Option<Value> {
    let is_given = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    };
    let members = filter.as_object()?.iter().filter(|(_, value)| is_given(value));
    Some(Value::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect()))
}

/// The values that satisfy both conditions.
fn common(both: (Option<Vec<String>>, Option<Vec<String>>)) -> Option<Vec<String>> {
    match both {
        (Some(one), Some(other)) => Some(one.into_iter().filter(|text| other.contains(text)).collect()),
        (one, other) => one.or(other),
    }
}

const STATUSES: [&str; 2] = ["Running", "Finished"];

fn one_of(members: &mut Members<'_>, name: &'static str, known: &[&str]) -> Result<Option<Vec<String>>, Fault> {
    known_in(name, members.texts(name)?, known)
}

fn known_in(name: &str, texts: Option<Vec<String>>, known: &[&str]) -> Result<Option<Vec<String>>, Fault> {
    if let Some(other) = texts.iter().flatten().find(|text| !known.contains(&text.as_str())) {
        return Err(Fault::new("22023", format!("unknown entry \"{}\" of \"{name}\"", shorten(other, 60)))
            .hint(format!("Known are {}.", known.join(", "))));
    }
    Ok(texts)
}

fn times(members: &mut Members<'_>) -> Result<Vec<TimeFilter>, Fault> {
    let Some(filters) = members.value("timestampFilters") else { return Ok(Vec::new()) };
    let Value::Array(filters) = filters else { return Err(members.wrong("timestampFilters", "a list")) };
    filters.iter().map(time).collect()
}

fn time(filter: &Value) -> Result<TimeFilter, Fault> {
    let mut members = Members::of(filter, "an entry of \"timestampFilters\"".to_owned())?;
    let moment = choice(&mut members, "column", &MOMENTS)?;
    let relation = choice(&mut members, "operator", &RELATIONS)?;
    let text = members.text("timestamp")?.ok_or_else(|| members.missing("timestamp"))?;
    let instant = DateTime::parse_from_rfc3339(&text);
    let instant = instant.map_err(|_| members.wrong("timestamp", "a time with its zone, as in ISO 8601"))?.to_utc();
    members.end()?;
    Ok(TimeFilter { moment, relation, instant })
}

fn attributes(members: &mut Members<'_>) -> Result<Vec<SearchFilter>, Fault> {
    let Some(filters) = members.value("searchAttributes") else { return Ok(Vec::new()) };
    match filters {
        Value::Array(filters) if filters.len() <= MAX_ATTRIBUTES => filters.iter().map(attribute).collect(),
        _ => Err(members.wrong("searchAttributes", &format!("a list of at most {MAX_ATTRIBUTES} conditions"))),
    }
}

/// An object with `name`, and either `value` or at least one of `from` and `to`.
fn attribute(filter: &Value) -> Result<SearchFilter, Fault> {
    let mut members = Members::of(filter, "an entry of \"searchAttributes\"".to_owned())?;
    let name = members.text("name")?.ok_or_else(|| members.missing("name"))?;
    let (value, from, to) = (members.value("value"), members.value("from"), members.value("to"));
    let condition = match (value, from, to) {
        (Some(value), None, None) => {
            equal(value).ok_or_else(|| members.wrong("value", "a text, a number or a Boolean"))
        }
        (None, None, None) | (Some(_), ..) => {
            Err(Fault::new("22023", format!("{} needs either \"value\", or \"from\" and \"to\"", members.what())))
        }
        (None, from, to) => range(from, to).ok_or_else(|| members.wrong("from", "a number or an instant, as \"to\"")),
    };
    let condition = condition?;
    members.end()?;
    Ok(SearchFilter { name, condition })
}

fn equal(value: &Value) -> Option<SearchCondition> {
    if value.is_array() || value.is_object() {
        return None;
    }
    Some(SearchCondition::Is { text: to_text(value), number: as_number(value), instant: as_instant(value) })
}

/// A range of numbers, or else of instants. An end that is not given is open.
fn range(from: Option<&Value>, to: Option<&Value>) -> Option<SearchCondition> {
    let (low, high) = (from.map(as_number), to.map(as_number));
    if low != Some(None) && high != Some(None) {
        return Some(SearchCondition::Numbers { from: low.flatten(), to: high.flatten() });
    }
    let (first, last) = (from.map(as_instant), to.map(as_instant));
    let is_range = first != Some(None) && last != Some(None);
    is_range.then(|| SearchCondition::Instants { from: first.flatten(), to: last.flatten() })
}

fn as_number(value: &Value) -> Option<f64> {
    match SearchValue::of(value, Some(SearchKind::Number)) {
        Some(SearchValue::Number(number)) => Some(number),
        _ => None,
    }
}

fn as_instant(value: &Value) -> Option<DateTime<Utc>> {
    match SearchValue::of(value, Some(SearchKind::Instant)) {
        Some(SearchValue::Instant(at)) => Some(at),
        _ => None,
    }
}

fn choice<T: Copy>(members: &mut Members<'_>, name: &'static str, of: &[(&str, T)]) -> Result<T, Fault> {
    let text = members.text(name)?.ok_or_else(|| members.missing(name))?;
    let names: Vec<&str> = of.iter().map(|(name, _)| *name).collect();
    let found = of.iter().find(|(known, _)| *known == text).map(|(_, found)| *found);
    found.ok_or_else(|| members.wrong(name, &format!("one of {}", names.join(", "))))
}
