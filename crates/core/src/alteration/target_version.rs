//! The version to which a plan migrates instances.

use std::collections::BTreeMap;

use serde_json::Value;

use super::members::Members;
use workflow_value::fault::Fault;

/// The version to which a plan migrates instances, and the options of the migration.
#[derive(Debug, PartialEq)]
pub struct TargetVersion {
    /// Number of the version. By default it is the published one.
    pub version: Option<i32>,
    /// Activities whose ids differ in the new version.
    pub mapping: Mapping,
    /// Which timers keep their instants.
    pub timers: Timers,
}

impl TargetVersion {
    /// Reads the members of an alteration `Migrate`.
    pub(super) fn read(members: &mut Members<'_>) -> Result<Self, Fault> {
        let version = members.value("targetVersion");
        let number = version.and_then(Value::as_i64).and_then(|number| i32::try_from(number).ok());
        if version.is_some() && number.is_none() {
            return Err(members.wrong("targetVersion", "the number of a version"));
        }
        let mapping = members.value("mapping").map(read_mapping).transpose();
        let mapping =
            mapping.map_err(|_| members.wrong("mapping", "an object that gives each id another one, or null"))?;
        let timers = match members.text("timers")? {
            Some(name) => Timers::named(&name).ok_or_else(|| members.wrong("timers", "\"keep\" or \"anew\""))?,
            None => Timers::Keep,
        };
        Ok(Self { version: number, mapping: mapping.unwrap_or_default(), timers })
    }
}

/// An operator's mapping of activities whose ids differ: from the id or node id of an activity of the old version to
/// that of the new one. `None` cancels what is open there.
pub type Mapping = BTreeMap<String, Option<String>>;

/// Reads a mapping from JSON.
///
/// # Errors
/// 22023 if it is no object whose values are texts and nulls.
pub fn read_mapping(value: &Value) -> Result<Mapping, Fault> {
    let invalid =
        || Fault::new("22023", "argument \"mapping\" must be an object that gives each id another one, or null");
    let Value::Object(members) = value else {
        return Err(invalid());
    };
    let read = |(from, to): (&String, &Value)| match to {
        Value::Null => Ok((from.clone(), None)),
        Value::String(to) => Ok((from.clone(), Some(to.clone()))),
        _ => Err(invalid().detail(format!("The value of \"{from}\" is neither text nor null."))),
    };
    members.iter().map(read).collect()
}

/// Which timers keep their instants in a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timers {
    /// All of them.
    Keep,
    /// None: activities that wait for time, and the timeouts of activities and of the run, start again in the new
    /// version.
    Anew,
}

impl Timers {
    /// Reads `keep` or `anew`. `None` for any other name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "keep" => Some(Self::Keep),
            "anew" => Some(Self::Anew),
            _ => None,
        }
    }
}
