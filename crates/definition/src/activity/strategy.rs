//! The resilience strategy of an activity: a policy, or the expression that returns one.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Reading;
use crate::property::{Property, property};
use crate::resilience::{self, GivenStrategy, WITHOUT};
use workflow_core::program::{ComputedStrategy, Node, Retry};
use workflow_core::resilience::STRATEGY;
use workflow_value::value::TypeName;

impl Reading<'_> {
    /// The policy of Elsa's resilience strategy, for the faults that it covers.
    pub(super) fn strategy(&mut self, members: &Map<String, Value>, node: &Node) -> Option<Retry> {
        let Property { home: Some(home), key, value } = property(members, STRATEGY)? else { return None };
        let place = self.place();
        let place = place.key(home);
        let place = place.key(key);
        match resilience::of_activity(value, self.strategies, &place, self.reader.problems)? {
            GivenStrategy::Policy(policy) => Some(Retry::of_strategy(policy, node.activity)),
            GivenStrategy::Expression(key, value) => {
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
