//! Members of activities that are registered in SQL: which are inputs, which outputs.

use serde_json::Value;

use super::CustomType;
use super::common::{COMMON, RESERVED};
use super::expression::{short_binding, wrapper};
use super::json::member;

/// Whether a member of a custom activity is an input or output of it.
pub(super) fn is_custom_member(key: &str) -> bool {
    !key.starts_with('$') && !COMMON[..RESERVED].contains(&key)
}

/// What a member of a custom activity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A value for the activity.
    Input,
    /// A place for a value of the activity.
    Output,
    /// It cannot be told: read as both. The binding matters only if the activity gives such an output.
    Either,
}

impl Role {
    /// Tells what a member is: by the registration where it declares outputs, else by how it is written.
    pub fn of(name: &str, value: &Value, custom: &CustomType) -> Self {
        let binding = short_binding(value);
        if let Some(("output", _)) = binding {
            return Self::Output;
        }
        if let Some(outputs) = &custom.outputs {
            let declared = outputs.iter().any(|output| output == name);
            return if declared { Self::Output } else { Self::Input };
        }
        if let Some(wrapper) = wrapper(value) {
            let bound = member_reference(value);
            return if wrapper.expression.is_none() && bound { Self::Output } else { Self::Input };
        }
        match binding {
            Some(_) if name == "result" => Self::Output,
            Some(_) => Self::Either,
            None => Self::Input,
        }
    }

    /// Whether it is read as an input.
    pub fn is_input(self) -> bool {
        matches!(self, Self::Input | Self::Either)
    }

    /// Whether it is read as an output.
    pub fn is_output(self) -> bool {
        matches!(self, Self::Output | Self::Either)
    }
}

/// Whether a wrapper refers to memory.
fn member_reference(value: &Value) -> bool {
    value.as_object().and_then(|object| member(object, "memoryReference")).is_some()
}
