//! Checks of new activities in the short form: unknown members, and missing inputs without which the activity would
//! fault.

use serde_json::{Map, Value};

use super::Reading;
use crate::common::COMMON;
use crate::json::entry;
use crate::members;
use crate::retry::START_TIMEOUT;
use workflow_core::activity::{Descriptor, InputDescriptor};
use workflow_expression::Expression;
use workflow_expression::ExpressionKind;
use workflow_value::value::to_text;

impl Reading<'_> {
    /// Reports unknown members of an activity.
    pub(super) fn check_spelling(&mut self, members: &Map<String, Value>, descriptor: &Descriptor) {
        let inputs = descriptor.inputs.iter().map(|input| input.name);
        let outputs = descriptor.outputs.iter().map(|output| output.name);
        let own = descriptor
            .special
            .members()
            .iter()
            .copied()
            .chain(inputs)
            .chain(descriptor.ports.iter().copied())
            .chain(descriptor.children)
            .chain(descriptor.parts.iter().map(|list| list.name))
            .chain(descriptor.container.then_some("variables"))
            .chain(descriptor.may_limit_start().then_some(START_TIMEOUT))
            .chain(outputs);
        let owner = format!("activity type \"{}\"", descriptor.type_name);
        let place = self.place();
        members::check(members, own, COMMON.into_iter(), &owner, &place, self.reader.problems);
    }

    /// Reports a missing input, or an empty text, if the activity needs it.
    pub(super) fn check_needed(
        &mut self,
        members: &Map<String, Value>,
        input: &InputDescriptor,
        descriptor: &Descriptor,
        read: Option<&Expression>,
    ) {
        let place = self.place();
        let place = place.key(entry(members, input.name).map_or(input.name, |(key, _)| key));
        let strict = self.reader.strict && input.needed;
        let Some(read) = read else {
            // A null list counts as empty.
            let empty = input.default == Some("[]") && entry(members, input.name).is_some();
            if input.required || strict && !empty {
                let mut message =
                    format!("missing input \"{}\" of activity type \"{}\"", input.name, descriptor.type_name);
                if input.name.ends_with("Name") && entry(members, "name").is_some() {
                    message.push_str(" (\"name\" is the name of the activity itself)");
                }
                self.reader.problems.invalid(&place, message);
            }
            return;
        };
        if strict && matches!(&read.kind, ExpressionKind::Literal(value) if to_text(value).trim().is_empty()) {
            self.reader.problems.invalid(&place, format!("\"{}\" must not be empty", input.name));
        }
    }
}
