//! Handles for the inputs, outputs and ports of an activity: constants with the position and the type of the value.

use std::marker::PhantomData;

use serde_json::Value;

use workflow_value::fault::Fault;
use workflow_value::value::{as_bool, to_text};

/// An input of an activity, and what [`get`](crate::execution::Execution::get) reads it as.
#[derive(Debug)]
pub struct Input<T> {
    pub(crate) index: usize,
    read_as: PhantomData<fn() -> T>,
}

impl<T> Input<T> {
    /// The input at this position of the descriptor. [`inputs!`] takes it from its list; other code counts
    /// through the list.
    pub(crate) const fn at(index: usize) -> Self {
        Self { index, read_as: PhantomData }
    }
}

impl<T> Clone for Input<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Input<T> {}

/// Position of an output in the descriptor of its activity.
#[derive(Clone, Copy, Debug)]
pub struct Output(pub(crate) usize);

/// A port of an activity, which holds one child.
#[derive(Clone, Copy, Debug)]
pub struct Port(pub(crate) usize);

/// What the value of an input can be read as.
pub trait FromInput {
    /// The Rust type of the result.
    type Value;

    /// Reads a value.
    ///
    /// # Errors
    /// 22023 or 22004, with the name of the input, if the value cannot be read as this type.
    fn read(value: &Value, input: &str) -> Result<Self::Value, Fault>;
}

/// A text that must not be empty.
#[derive(Debug)]
pub enum NonEmpty {}

/// Text; null is empty.
impl FromInput for String {
    type Value = Self;

    fn read(value: &Value, _input: &str) -> Result<Self, Fault> {
        Ok(to_text(value))
    }
}

impl FromInput for NonEmpty {
    type Value = String;

    fn read(value: &Value, input: &str) -> Result<String, Fault> {
        match to_text(value) {
            text if text.is_empty() => Err(Fault::new("22004", format!("input \"{input}\" must not be empty"))),
            text => Ok(text),
        }
    }
}

/// A condition; null is false.
impl FromInput for bool {
    type Value = Self;

    fn read(value: &Value, input: &str) -> Result<Self, Fault> {
        truth(value).map_err(|fault| locate(fault, input))
    }
}

/// An integer; null is 0.
impl FromInput for i64 {
    type Value = Self;

    fn read(value: &Value, input: &str) -> Result<Self, Fault> {
        let number = match value {
            Value::Null => Some(0),
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.trim().parse().ok(),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        number.ok_or_else(|| Fault::new("22023", format!("input \"{input}\" must be an integer")))
    }
}

/// A list of texts.
impl FromInput for Vec<String> {
    type Value = Self;

    fn read(value: &Value, input: &str) -> Result<Self, Fault> {
        match value {
            Value::Array(items) => Ok(items.iter().map(to_text).collect()),
            _ => Err(Fault::new("22023", format!("input \"{input}\" must be a list"))),
        }
    }
}

/// A condition; null is false.
pub(crate) fn truth(value: &Value) -> Result<bool, Fault> {
    if value.is_null() { Ok(false) } else { as_bool(value) }
}

/// Adds the name of the input that could not be evaluated, unless the fault has a context already.
pub(crate) fn locate(mut fault: Fault, input: &str) -> Fault {
    if fault.context.is_none() && !input.is_empty() {
        fault.context = Some(format!("input \"{input}\""));
    }
    fault
}

/// Declares the inputs of an activity: a constant for each, in their order, and `INPUTS` for the descriptor.
///
/// Where several activities have the same inputs, the list begins with the head of a function, such as
/// `fn inputs(own: InputDescriptor);`. It is there instead of `INPUTS`, and gives an activity its descriptors; its
/// argument is what differs between the activities.
macro_rules! inputs {
    (@positions $($visibility:vis $name:ident: $read_as:ty),*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, dead_code)]
        enum InputPosition { $($name),* }
        $(#[allow(dead_code)] $visibility const $name: $crate::activity::Input<$read_as> =
            $crate::activity::Input::at(InputPosition::$name as usize);)*
    };
    (
        $of_all:vis fn $function:ident($argument:ident: $argument_type:ty);
        $($visibility:vis $name:ident: $read_as:ty = $descriptor:expr),* $(,)?
    ) => {
        $crate::activity::handle::inputs! { @positions $($visibility $name: $read_as),* }
        /// The descriptors of these inputs for one of the activities.
        $of_all const fn $function(
            $argument: $argument_type,
        ) -> [$crate::activity::InputDescriptor; [$(stringify!($name)),*].len()] {
            [$($descriptor),*]
        }
    };
    ($($visibility:vis $name:ident: $read_as:ty = $descriptor:expr),* $(,)?) => {
        $crate::activity::handle::inputs! { @positions $($visibility $name: $read_as),* }
        static INPUTS: &[$crate::activity::InputDescriptor] = &[$($descriptor),*];
    };
}

/// Declares the outputs of an activity, as [`inputs!`] does.
macro_rules! outputs {
    ($($name:ident = $descriptor:expr),* $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum OutputPosition { $($name),* }
        $(const $name: $crate::activity::Output = $crate::activity::Output(OutputPosition::$name as usize);)*
        pub(super) static OUTPUTS: &[$crate::activity::OutputDescriptor] = &[$($descriptor),*];
    };
}

/// Declares the ports of an activity, as [`inputs!`] does.
macro_rules! ports {
    ($($name:ident = $member:literal),* $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum PortPosition { $($name),* }
        $(const $name: $crate::activity::Port = $crate::activity::Port(PortPosition::$name as usize);)*
        static PORTS: &[&str] = &[$($member),*];
    };
}

pub(crate) use {inputs, outputs, ports};
