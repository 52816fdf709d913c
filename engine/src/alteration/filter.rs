//! Elsa's filter of instances.

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use super::members::Members;
use crate::fault::Fault;
use crate::instance::SubStatus;

/// Which instances a plan is for: those that satisfy every member that is given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceFilter {
    /// Ids of instances.
    pub instance_ids: Option<Vec<Uuid>>,
    /// Correlation ids.
    pub correlation_ids: Option<Vec<String>>,
    /// Names of instances.
    pub names: Option<Vec<String>>,
    /// Ids of definitions.
    pub definition_ids: Option<Vec<String>>,
    /// Ids of versions of definitions.
    pub version_ids: Option<Vec<Uuid>>,
    /// Statuses.
    pub statuses: Option<Vec<String>>,
    /// Sub-statuses.
    pub sub_statuses: Option<Vec<String>>,
    /// A part of the name, the correlation id or the id of the definition, in any letter case, or the id of the
    /// instance.
    pub search_term: Option<String>,
    /// Whether there are incidents.
    pub has_incidents: Option<bool>,
    /// Whether the definition is built in.
    pub is_system: Option<bool>,
    /// Conditions on times.
    pub times: Vec<TimeFilter>,
}

/// A condition on a time of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeFilter {
    /// Which time.
    pub moment: Moment,
    /// How it stands to the given one.
    pub relation: Relation,
    /// The given time.
    pub instant: DateTime<Utc>,
}

/// A time of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// When it was created.
    CreatedAt,
    /// When it last changed.
    UpdatedAt,
    /// When it ended.
    FinishedAt,
}

/// How one time stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Equal.
    Is,
    /// Not equal.
    IsNot,
    /// Later.
    GreaterThan,
    /// Later, or equal.
    GreaterThanOrEqual,
    /// Earlier.
    LessThan,
    /// Earlier, or equal.
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
    /// Reads a filter.
    ///
    /// # Errors
    /// 22023 for what is no filter, and for one that selects every instance without saying so.
    pub fn read(filter: &Value) -> Result<Self, Fault> {
        let mut members = Members::of(filter, "the filter".to_owned())?;
        let selects_all = members.flag("emptyFilterSelectsAll")?.unwrap_or(false);
        let read = Self {
            instance_ids: members.ids("workflowInstanceIds")?,
            correlation_ids: members.texts("correlationIds")?,
            names: members.texts("names")?,
            definition_ids: members.texts("definitionIds")?,
            version_ids: members.ids("definitionVersionIds")?,
            statuses: one_of(&mut members, "statuses", &STATUSES)?,
            sub_statuses: one_of(&mut members, "subStatuses", &SubStatus::ALL.map(SubStatus::name))?,
            search_term: members.text("searchTerm")?,
            has_incidents: members.flag("hasIncidents")?,
            is_system: members.flag("isSystem")?,
            times: times(&mut members)?,
        };
        members.end()?;
        if read == Self::default() && !selects_all {
            return Err(Fault::new("22023", "the filter selects every instance")
                .hint("Set \"emptyFilterSelectsAll\" to true if that is meant."));
        }
        Ok(read)
    }
}

const STATUSES: [&str; 2] = ["Running", "Finished"];

fn one_of(members: &mut Members<'_>, name: &'static str, known: &[&str]) -> Result<Option<Vec<String>>, Fault> {
    let texts = members.texts(name)?;
    if let Some(other) = texts.iter().flatten().find(|text| !known.contains(&text.as_str())) {
        return Err(Fault::new("22023", format!("unknown entry \"{other}\" of \"{name}\""))
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
    let moment = known(&mut members, "column", &MOMENTS)?;
    let relation = known(&mut members, "operator", &RELATIONS)?;
    let text = members.text("timestamp")?.ok_or_else(|| members.missing("timestamp"))?;
    let instant = DateTime::parse_from_rfc3339(&text);
    let instant = instant.map_err(|_| members.wrong("timestamp", "a time with its zone, as in ISO 8601"))?.to_utc();
    members.end()?;
    Ok(TimeFilter { moment, relation, instant })
}

fn known<T: Copy>(members: &mut Members<'_>, name: &'static str, of: &[(&str, T)]) -> Result<T, Fault> {
    let text = members.text(name)?.ok_or_else(|| members.missing(name))?;
    let names: Vec<&str> = of.iter().map(|(name, _)| *name).collect();
    let found = of.iter().find(|(known, _)| *known == text).map(|(_, found)| *found);
    found.ok_or_else(|| members.wrong(name, &format!("one of {}", names.join(", "))))
}
