//! Properties that activities of all types have: members of the activity itself, or of its `customProperties`.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Reading;
use crate::definition::PROPERTIES;
use crate::definition::json::entry;
use crate::definition::resilience::{self, Given, WITHOUT};
use crate::program::{ComputedStrategy, Node, Retry};
use crate::resilience::STRATEGY;
use crate::value::TypeName;

/// Why a member is not read as a property of all activities.
pub(super) fn is_input(name: &str, type_name: &str) -> String {
    format!("\"{name}\" is an input of activity type \"{type_name}\" here, and not the property of all activities")
}

/// A property that activities of all types have.
pub(in crate::definition) struct Property<'d> {
    /// The member that holds the properties; `None`: it is a member of the activity itself.
    pub home: Option<&'d str>,
    /// Its name in the spelling of the document, for JSON pointers.
    pub key: &'d str,
    pub value: &'d Value,
}

/// A property in the activity itself (short form and old exports), or in `customProperties`.
pub(in crate::definition) fn property<'d>(members: &'d Map<String, Value>, name: &str) -> Option<Property<'d>> {
    let given = |object: &'d Map<String, Value>| entry(object, name).filter(|(_, value)| !value.is_null());
    let own = given(members).map(|(key, value)| Property { home: None, key, value });
    let homes = ["customProperties", "applicationProperties"].iter().find_map(|home| {
        let (home, Value::Object(properties)) = entry(members, home)? else { return None };
        given(properties).map(|(key, value)| Property { home: Some(home), key, value })
    });
    // A custom activity may have an input of that name.
    if PROPERTIES.contains(&name) { homes.or(own) } else { own.or(homes) }
}

impl Reading<'_> {
    /// The policy of Elsa's resilience strategy, for the faults that it covers.
    pub(super) fn strategy(&mut self, members: &Map<String, Value>, node: &Node) -> Option<Retry> {
        let Property { home: Some(home), key, value } = property(members, STRATEGY)? else { return None };
        let place = self.place();
        let place = place.key(home);
        let place = place.key(key);
        match resilience::of_activity(value, self.strategies, &place, self.reader.problems)? {
            Given::Policy(policy) => Some(Retry::of_strategy(policy, node.activity)),
            Given::Expression(key, value) => {
                let before = self.reader.problems.count();
                let strict = std::mem::take(&mut self.reader.strict);
                let expression = self.reader.bare(value, TypeName::Any, &place.key(key));
                self.reader.strict = strict;
                self.reader.problems.pass_over(before, WITHOUT);
                let expression = expression?;
                let known = Arc::clone(self.strategies);
                Some(Retry::Computed(Box::new(ComputedStrategy { expression, known, otherwise: None })))
            }
        }
    }
}
