//! The retry policy of an activity.

use std::sync::Arc;

use serde_json::Value;

use crate::activity::Activity;
use crate::program::Node;
use crate::resilience::{Strategies, policy};
use crate::retry::{Cause, RetryPolicy};
use workflow_expression::Expression;

/// How an activity is retried before a fault becomes an incident.
#[derive(Clone, Debug, PartialEq)]
pub enum Retry {
    /// The author's policy is constant.
    Policy(Arc<RetryPolicy>),
    /// One of Elsa's strategies, or what `enableResiliency` stands for: constant, too.
    Strategy(Arc<RetryPolicy>),
    /// Each attempt computes its policy when it begins.
    Computed(Box<ComputedStrategy>),
}

/// Elsa's resilience strategy, given by an expression or by the name that the expression returns.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputedStrategy {
    /// Evaluated for each attempt: returns a strategy, or the name of one.
    pub expression: Expression,
    /// The named strategies.
    pub known: Arc<Strategies>,
    /// The policy if the expression returns no strategy.
    pub otherwise: Option<Arc<RetryPolicy>>,
}

impl Retry {
    /// The policy of one of Elsa's strategies, for the faults of an activity that it covers.
    pub fn of_strategy(policy: Arc<RetryPolicy>, activity: &dyn Activity) -> Self {
        Self::Strategy(covering(policy, activity))
    }

    /// The setting of an activity, falling back to the default one if it has none.
    pub fn or(said: Option<Self>, otherwise: Option<Self>) -> Option<Self> {
        match said {
            None => otherwise,
            Some(Self::Computed(computed)) => {
                let otherwise = otherwise.and_then(|retry| retry.constant().cloned());
                Some(Self::Computed(Box::new(ComputedStrategy { otherwise, ..*computed })))
            }
            known => known,
        }
    }

    fn constant(&self) -> Option<&Arc<RetryPolicy>> {
        match self {
            Self::Policy(policy) | Self::Strategy(policy) => Some(policy),
            Self::Computed(_) => None,
        }
    }

    /// Whether a constant policy limits the total time of all attempts.
    pub fn is_timed(&self) -> bool {
        let known = match self {
            Self::Policy(policy) | Self::Strategy(policy) => Some(policy),
            Self::Computed(computed) => computed.otherwise.as_ref(),
        };
        known.is_some_and(|policy| policy.within.is_some())
    }
}

impl Node {
    /// The retry policy of an execution of the activity. `strategy` is the computed one that the execution has stored.
    pub fn retry_policy(&self, strategy: Option<&Value>) -> Option<Arc<RetryPolicy>> {
        let computed = match self.retry.as_ref()? {
            Retry::Policy(policy) | Retry::Strategy(policy) => return Some(Arc::clone(policy)),
            Retry::Computed(computed) => computed,
        };
        let found = strategy.and_then(|strategy| match strategy {
            Value::String(name) => computed.known.get(name).cloned(),
            given => policy(given).ok().map(Arc::new),
        });
        found.map(|policy| covering(policy, self.activity)).or_else(|| computed.otherwise.clone())
    }
}

fn covering(policy: Arc<RetryPolicy>, activity: &dyn Activity) -> Arc<RetryPolicy> {
    match activity.transient_causes() {
        [] => policy,
        causes => {
            let on = causes.iter().map(|cause| Cause::read(cause)).collect();
            Arc::new(RetryPolicy { on, ..(*policy).clone() })
        }
    }
}
