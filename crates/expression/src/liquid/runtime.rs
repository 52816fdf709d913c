//! The state of one rendering, and the frames that loops add to it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use liquid_core::error::{Error, Result};
use liquid_core::model::{KString, KStringCow, KStringRef, ScalarCow, Value, ValueCow, ValueView, try_find};
use liquid_core::runtime::{PartialStore, Registers};
use liquid_core::{Renderable, Runtime};

use super::meter::{Meter, Register};
use super::own_filters::characters;
use super::roots::Roots;

/// An empty store: a template has nothing to include.
#[derive(Debug)]
struct NoPartials;

impl PartialStore for NoPartials {
    fn contains(&self, _: &str) -> bool {
        false
    }
    fn names(&self) -> Vec<&str> {
        Vec::new()
    }
    fn try_get(&self, _: &str) -> Option<Arc<dyn Renderable>> {
        None
    }
    fn get(&self, _: &str) -> Result<Arc<dyn Renderable>> {
        Err(Error::with_msg("templates cannot include others"))
    }
}

/// The member of a value at a path. The `size` of a text is its number of characters; the crate counts bytes.
fn find<'v>(value: &'v dyn ValueView, path: &[ScalarCow<'_>]) -> Option<ValueCow<'v>> {
    if let Some((last, before)) = path.split_last()
        && last.to_kstr() == "size"
        && let Some(text) = try_find(value, before)?.as_scalar().filter(|scalar| scalar.type_name() == "string")
    {
        return Some(ValueCow::Owned(Value::scalar(characters(&text.to_kstr()))));
    }
    try_find(value, path)
}

/// The bottom frame: values of the workflow, and those that the template assigned. A missing value is nil.
pub(super) struct Run<'a> {
    roots: &'a Roots<'a>,
    meter: Rc<Meter>,
    assigned: RefCell<BTreeMap<KString, Value>>,
    counters: RefCell<BTreeMap<KString, Value>>,
    registers: Registers,
}

impl<'a> Run<'a> {
    pub(super) fn new(roots: &'a Roots<'a>, meter: Rc<Meter>) -> Self {
        let registers = Registers::default();
        registers.get_mut::<Register>().0 = Some(Rc::clone(&meter));
        Self { roots, meter, assigned: RefCell::default(), counters: RefCell::default(), registers }
    }
}

impl Runtime for Run<'_> {
    fn partials(&self) -> &dyn PartialStore {
        &NoPartials
    }
    fn name(&self) -> Option<KStringRef<'_>> {
        None
    }
    fn roots(&self) -> BTreeSet<KStringCow<'_>> {
        BTreeSet::new()
    }
    fn try_get(&self, path: &[ScalarCow<'_>]) -> Option<ValueCow<'_>> {
        let (first, rest) = path.split_first()?;
        let name = first.to_kstr();
        if let Some(value) = self.assigned.borrow().get(name.as_str()) {
            let found = find(value.as_view(), rest)?.into_owned();
            // Even reading an assigned value copies it.
            self.meter.step(super::values::weight(&found, 1 << 20)).ok()?;
            return Some(ValueCow::Owned(found));
        }
        match self.roots.get(&name) {
            Some(root) => find(root, rest),
            None => self.counters.borrow().get(name.as_str()).map(|value| ValueCow::Owned(value.clone())),
        }
    }
    fn get(&self, path: &[ScalarCow<'_>]) -> Result<ValueCow<'_>> {
        self.meter.step(0)?;
        Ok(self.try_get(path).unwrap_or(ValueCow::Owned(Value::Nil)))
    }
    fn set_global(&self, name: KString, value: Value) -> Option<Value> {
        self.assigned.borrow_mut().insert(name, value)
    }
    fn set_index(&self, name: KString, value: Value) -> Option<Value> {
        self.counters.borrow_mut().insert(name, value)
    }
    fn get_index<'a>(&'a self, name: &str) -> Option<ValueCow<'a>> {
        self.counters.borrow().get(name).map(|value| ValueCow::Owned(value.clone()))
    }
    fn registers(&self) -> &Registers {
        &self.registers
    }
}

/// One iteration of a loop: its item and `forloop`.
pub(super) struct LoopFrame<'p> {
    pub(super) parent: &'p dyn Runtime,
    pub(super) name: &'p str,
    pub(super) item: &'p dyn ValueView,
    pub(super) forloop: &'p Value,
}

impl Runtime for LoopFrame<'_> {
    fn partials(&self) -> &dyn PartialStore {
        self.parent.partials()
    }
    fn name(&self) -> Option<KStringRef<'_>> {
        self.parent.name()
    }
    fn roots(&self) -> BTreeSet<KStringCow<'_>> {
        self.parent.roots()
    }
    fn try_get(&self, path: &[ScalarCow<'_>]) -> Option<ValueCow<'_>> {
        let (first, rest) = path.split_first()?;
        let name = first.to_kstr();
        if name == self.name {
            find(self.item, rest)
        } else if name == "forloop" {
            try_find(self.forloop.as_view(), rest)
        } else {
            self.parent.try_get(path)
        }
    }
    fn get(&self, path: &[ScalarCow<'_>]) -> Result<ValueCow<'_>> {
        Ok(self.try_get(path).unwrap_or(ValueCow::Owned(Value::Nil)))
    }
    fn set_global(&self, name: KString, value: Value) -> Option<Value> {
        self.parent.set_global(name, value)
    }
    fn set_index(&self, name: KString, value: Value) -> Option<Value> {
        self.parent.set_index(name, value)
    }
    fn get_index<'a>(&'a self, name: &str) -> Option<ValueCow<'a>> {
        self.parent.get_index(name)
    }
    fn registers(&self) -> &Registers {
        self.parent.registers()
    }
}
