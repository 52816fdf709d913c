//! Members of a custom activity: which are inputs, and which are outputs.

use serde_json::Value;

use super::CustomType;
use super::common::{COMMON, RESERVED};
use super::expression::short_binding;
use super::forms::wrapper;
use super::json::member;
use super::property::PROPERTIES;

/// Whether a member of a custom activity is an input or an output.
pub(super) fn is_custom_member(key: &str) -> bool {
    !key.starts_with('$') && !COMMON[..RESERVED].contains(&key)
}

/// Whether a member is a property common to all activities and not an input. If a type declares no inputs the member is
/// both, because its handler may use it.
pub(super) fn is_only_property(key: &str, custom: &CustomType) -> bool {
    let is = |name: &str| name.eq_ignore_ascii_case(key);
    PROPERTIES.iter().any(|name| is(name)) && custom.inputs.as_ref().is_some_and(|inputs| !inputs.iter().any(|i| is(i)))
}

/// The role of a member of a custom activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberRole {
    /// An input: a value for the activity.
    Input,
    /// An output: a binding of a value that the activity sets.
    Output,
    /// Unknown: the member is read as both. The binding has an effect only if the activity sets such an output.
    Either,
}

impl MemberRole {
    /// Determines the role of a member: by the registration if it declares outputs, else by the spelling of the value.
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

    /// Whether the member is read as an input.
    pub fn is_input(self) -> bool {
        matches!(self, Self::Input | Self::Either)
    }

    /// Whether the member is read as an output.
    pub fn is_output(self) -> bool {
        matches!(self, Self::Output | Self::Either)
    }
}

/// Whether a wrapper has a memory reference.
fn member_reference(value: &Value) -> bool {
    value.as_object().and_then(|object| member(object, "memoryReference")).is_some()
}
