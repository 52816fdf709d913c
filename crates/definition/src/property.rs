//! Properties that activities of all types have: members of the activity itself, or of its `customProperties`.

use serde_json::{Map, Value};

use super::json::entry;
use super::retry::{RETRY, TIMEOUT};

/// Properties that activities of all types have beside their inputs. A type has no input of such a name.
pub const PROPERTIES: [&str; 2] = [RETRY, TIMEOUT];

/// A property that activities of all types have.
pub(super) struct Property<'d> {
    /// The member that holds the properties; `None`: it is a member of the activity itself.
    pub home: Option<&'d str>,
    /// Its name in the spelling of the document, for JSON pointers.
    pub key: &'d str,
    pub value: &'d Value,
}

/// A property in the activity itself (short form and old exports), or in `customProperties`.
pub(super) fn property<'d>(members: &'d Map<String, Value>, name: &str) -> Option<Property<'d>> {
    let given = |object: &'d Map<String, Value>| entry(object, name).filter(|(_, value)| !value.is_null());
    let own = given(members).map(|(key, value)| Property { home: None, key, value });
    let homes = ["customProperties", "applicationProperties"].iter().find_map(|home| {
        let (home, Value::Object(properties)) = entry(members, home)? else { return None };
        given(properties).map(|(key, value)| Property { home: Some(home), key, value })
    });
    // A custom activity may have an input of that name.
    if PROPERTIES.contains(&name) { homes.or(own) } else { own.or(homes) }
}

/// Why a member is not read as a property of all activities.
pub(super) fn is_input(name: &str, type_name: &str) -> String {
    format!("\"{name}\" is an input of activity type \"{type_name}\" here, and not the property of all activities")
}
