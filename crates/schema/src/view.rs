//! A value as the validator sees it: the value itself, while the budget of the check lasts.
//!
//! The validator cannot be stopped from outside. So every access to the value is paid from a budget. When the budget is
//! spent, the validator sees null everywhere, and so finishes.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::LazyLock;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp};
use serde_json::{Map, Number, Value, map};

use workflow_value::value::canonical;

static NOTHING: Value = Value::Null;

/// Replaces a value in messages that is too long to be shown.
static NOT_SHOWN: LazyLock<Value> = LazyLock::new(|| Value::from("…"));

/// Maximum number of bytes of text in messages.
const MAX_SHOWN: usize = 64;

/// Bytes of text that cost as much as one access.
const BYTES_PER_UNIT: usize = 64;

/// The work that a check may still do.
#[derive(Debug)]
pub(super) struct Budget {
    left: Cell<u64>,
    /// Price of one access: the maximum work of the schema at one place of the value before the next access.
    price: u64,
}

impl Budget {
    pub fn new(total: u64, price: u64) -> Self {
        Self { left: Cell::new(total), price }
    }

    /// Pays for an access and `more` in addition. `false` if the budget is spent.
    fn pay(&self, more: usize) -> bool {
        let price = self.price.saturating_add(more as u64);
        self.left.set(self.left.get().saturating_sub(price));
        !self.is_spent()
    }

    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

/// The representation of JSON whose nodes are [`View`]s.
pub(super) struct Viewed;

impl Json for Viewed {
    type Node<'a> = View<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(View<'_>) -> T) -> T {
        *buffer = Value::String(string.to_owned());
        // The access to the member has paid for its name.
        f(View { value: buffer, budget: None })
    }
}

/// A JSON value for the validator. Each access is paid for.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    value: &'a Value,
    budget: Option<&'a Budget>,
}

impl<'a> View<'a> {
    pub fn new(value: &'a Value, budget: &'a Budget) -> Self {
        Self { value, budget: Some(budget) }
    }

    fn read(&self) -> &'a Value {
        self.read_with(0)
    }

    fn read_with(&self, more: usize) -> &'a Value {
        match self.budget {
            Some(budget) if !budget.pay(more) => &NOTHING,
            Some(_) | None => self.value,
        }
    }

    /// The price of reading all of a text.
    fn length(&self) -> usize {
        self.value.as_str().map_or(0, |text| text.len() / BYTES_PER_UNIT)
    }
}

impl<'a> Node<'a, Viewed> for View<'a> {
    type Object = Members<'a>;
    type Array = Elements<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Members<'a>> {
        self.read().as_object().map(|members| Members { members, budget: self.budget })
    }

    fn as_array(&self) -> Option<Elements<'a>> {
        self.read().as_array().map(|elements| Elements { elements, budget: self.budget })
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.read_with(self.length()).as_str().map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        self.read().as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.read().as_bool()
    }

    fn is_null(&self) -> bool {
        self.read().is_null()
    }

    fn json_type(&self) -> JsonType {
        match self.read() {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        cmp::equal(self.read_with(self.length()), expected)
    }

    /// The validator calls it only for messages, and these keep the copies, including messages of branches.
    fn to_value(&self) -> Cow<'a, Value> {
        match self.read() {
            Value::String(text) if text.len() > MAX_SHOWN => Cow::Borrowed(&NOT_SHOWN),
            Value::Array(_) | Value::Object(_) => Cow::Borrowed(&NOT_SHOWN),
            scalar => Cow::Borrowed(scalar),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        // The validator requests the identity at each reference that it follows.
        self.read();
        Some(NodeIdentity::new(std::ptr::from_ref(self.value) as usize))
    }
}

/// The members of an object.
pub(super) struct Members<'a> {
    members: &'a Map<String, Value>,
    budget: Option<&'a Budget>,
}

impl<'a> Object<'a, Viewed> for Members<'a> {
    type Node = View<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        self.members.len()
    }

    fn get(&self, key: &String) -> Option<View<'a>> {
        self.members.get(key).map(|value| View { value, budget: self.budget })
    }

    fn members(&self) -> MembersIter<'a> {
        MembersIter { members: self.members.iter(), budget: self.budget }
    }
}

/// Iterates over the members of an object.
pub(super) struct MembersIter<'a> {
    members: map::Iter<'a>,
    budget: Option<&'a Budget>,
}

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, View<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.members.next()?;
        let can_pay = self.budget.is_none_or(|budget| budget.pay(name.len() / BYTES_PER_UNIT));
        can_pay.then_some((name.as_str(), View { value, budget: self.budget }))
    }
}

/// The elements of an array.
pub(super) struct Elements<'a> {
    elements: &'a [Value],
    budget: Option<&'a Budget>,
}

impl<'a> Array<'a, Viewed> for Elements<'a> {
    type Node = View<'a>;
    type ElementsIter = ElementsIter<'a>;

    fn len(&self) -> usize {
        self.elements.len()
    }

    fn elements(&self) -> ElementsIter<'a> {
        ElementsIter { elements: self.elements.iter(), budget: self.budget }
    }

    // The crate's own version takes quadratic time for many long numbers that are nearly equal.
    fn is_unique(&self) -> bool {
        let mut seen = HashSet::with_capacity(self.elements.len());
        self.elements().all(|element| seen.insert(canonical(element.value)))
    }
}

/// Iterates over the elements of an array.
pub(super) struct ElementsIter<'a> {
    elements: std::slice::Iter<'a, Value>,
    budget: Option<&'a Budget>,
}

impl<'a> Iterator for ElementsIter<'a> {
    type Item = View<'a>;

    fn next(&mut self) -> Option<View<'a>> {
        let value = self.elements.next()?;
        let can_pay = self.budget.is_none_or(|budget| budget.pay(0));
        can_pay.then_some(View { value, budget: self.budget })
    }
}
