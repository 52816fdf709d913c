//! Members of an object of a plan.

use serde_json::Value;
use uuid::Uuid;

use workflow_value::fault::{Fault, shorten};
use workflow_value::spelling::{nearest, spelled_as};

/// The members of an object that have not been read yet.
pub(super) struct Members<'a> {
    what: String,
    left: Vec<(&'a str, &'a Value)>,
    known: Vec<&'static str>,
}

impl<'a> Members<'a> {
    /// Starts reading an object; messages call it `what`.
    pub fn of(value: &'a Value, what: String) -> Result<Self, Fault> {
        match value {
            Value::Object(members) => {
                let left = members.iter().map(|(key, value)| (key.as_str(), value)).collect();
                Ok(Self { what, left, known: Vec::new() })
            }
            _ => Err(Fault::new("22023", format!("{what} must be a JSON object"))),
        }
    }

    /// What messages call the object, such as "the filter".
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Reads a member, which may be null.
    pub fn take(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        let at = self.left.iter().position(|(key, _)| spelled_as(key, name))?;
        Some(self.left.swap_remove(at).1)
    }

    /// Reads a member. Null counts as absent.
    pub fn value(&mut self, name: &'static str) -> Option<&'a Value> {
        self.take(name).filter(|value| !value.is_null())
    }

    /// Reads a member that is a text.
    pub fn text(&mut self, name: &'static str) -> Result<Option<String>, Fault> {
        let Some(value) = self.value(name) else { return Ok(None) };
        value
            .as_str()
            .filter(|text| !text.is_empty())
            .map(|text| Some(text.to_owned()))
            .ok_or_else(|| self.wrong(name, "a text"))
    }

    /// Reads a member that is a Boolean.
    pub fn flag(&mut self, name: &'static str) -> Result<Option<bool>, Fault> {
        let Some(value) = self.value(name) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.wrong(name, "true or false"))
    }

    /// Reads a member that is a whole number.
    pub fn number(&mut self, name: &'static str) -> Result<Option<i32>, Fault> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = value.as_i64().and_then(|number| i32::try_from(number).ok());
        number.map(Some).ok_or_else(|| self.wrong(name, "a whole number"))
    }

    /// Reads a member that is an id.
    pub fn id(&mut self, name: &'static str) -> Result<Option<Uuid>, Fault> {
        let Some(value) = self.value(name) else { return Ok(None) };
        value.as_str().and_then(|text| Uuid::parse_str(text).ok()).map(Some).ok_or_else(|| self.wrong(name, "a uuid"))
    }

    /// Reads a member that is a list of texts.
    pub fn texts(&mut self, name: &'static str) -> Result<Option<Vec<String>>, Fault> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let texts = value.as_array().filter(|texts| !texts.is_empty());
        let texts = texts.and_then(|texts| texts.iter().map(|text| text.as_str().map(str::to_owned)).collect());
        texts.map(Some).ok_or_else(|| self.wrong(name, "a list of texts that is not empty"))
    }

    /// Reads a member that is a list of ids.
    pub fn ids(&mut self, name: &'static str) -> Result<Option<Vec<Uuid>>, Fault> {
        let Some(texts) = self.texts(name)? else { return Ok(None) };
        let ids: Option<Vec<Uuid>> = texts.iter().map(|text| Uuid::parse_str(text).ok()).collect();
        ids.map(Some).ok_or_else(|| self.wrong(name, "a list of uuids that is not empty"))
    }

    /// The fault for a required member that is missing (22023).
    pub fn missing(&self, name: &str) -> Fault {
        Fault::new("22023", format!("{} needs \"{name}\"", self.what))
    }

    /// The fault for a member of the wrong kind (22023).
    pub fn wrong(&self, name: &str, kind: &str) -> Fault {
        Fault::new("22023", format!("\"{name}\" of {} must be {kind}", self.what))
    }

    /// Ends reading.
    ///
    /// # Errors
    /// 22023 if a member was not read.
    pub fn end(self) -> Result<(), Fault> {
        let Some((key, _)) = self.left.first() else { return Ok(()) };
        let fault = Fault::new("22023", format!("unknown member \"{}\" of {}", shorten(key, 60), self.what));
        Err(match nearest(key, self.known.iter().copied()) {
            Some(name) => fault.hint(format!("Perhaps you meant \"{name}\".")),
            None => fault.hint(format!("The members are {}.", self.known.join(", "))),
        })
    }
}
