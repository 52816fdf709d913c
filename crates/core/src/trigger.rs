//! The trigger index: which activities of a definition start it, and on which stimulus.
//!
//! The triggers are evaluated when a definition is published, with the initial variables and without input. The
//! extension stores the rows and compares them with the stored ones.

use serde_json::Value;
use uuid::Uuid;

use crate::execution::burst::{Burst, Scratch};
use crate::execution::{Execution, Limits};
use crate::host::Host;
use crate::instance::Instance;
use crate::node_ix::NodeIx;
use crate::program::{Node, Program};
use workflow_http::stimulus;
use workflow_value::calendar::Schedule;
use workflow_value::fault::Fault;

/// One row of the index.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// The activity that starts the workflow.
    pub node: NodeIx,
    /// Id of that activity within the definition.
    pub activity_id: String,
    /// Path of ids from the workflow down to that activity.
    pub node_id: String,
    /// Full type name of that activity.
    pub activity_type: String,
    /// Name of the stimulus that starts it.
    pub name: String,
    /// SHA-256 of name and payload, under which a stimulus finds it.
    pub hash: [u8; 32],
    /// The payload that a stimulus must have in addition to the name, in normal form; `None`: any.
    pub payload: Option<Value>,
    /// When a timer fires the trigger. The anchor of a timer is the instant of this evaluation. So compare payloads,
    /// not anchors, and keep the stored anchor with [`Schedule::anchored_as`].
    pub schedule: Option<Schedule>,
}

/// The payloads and the schedule of a trigger activity.
type Indexed = (Vec<Option<Value>>, Option<Schedule>);

/// Evaluates all triggers of a program, in node order.
///
/// # Errors
/// The id of the activity that could not be evaluated, and its fault.
pub fn index(program: &Program, host: &mut dyn Host, limits: &Limits) -> Result<Vec<Trigger>, (String, Fault)> {
    let mut triggers = Vec::new();
    for (position, node) in program.nodes.iter().enumerate() {
        if !(node.can_start_workflow && node.activity.descriptor().trigger) {
            continue;
        }
        let ix = NodeIx(position as u32);
        let indexed = indexed(program, ix, node, host, limits);
        let (payloads, schedule) = indexed.map_err(|fault| (node.id.clone(), fault))?;
        for payload in payloads {
            let trigger = trigger(ix, node, payload, schedule.clone());
            triggers.push(trigger.map_err(|fault| (node.id.clone(), fault))?);
        }
    }
    Ok(triggers)
}

/// Evaluates one trigger only to find its faults.
///
/// # Errors
/// Why the trigger cannot be indexed.
pub fn check(program: &Program, ix: NodeIx, host: &mut dyn Host, limits: &Limits) -> Result<(), Fault> {
    let node = program.node(ix);
    let (payloads, schedule) = indexed(program, ix, node, host, limits)?;
    payloads.into_iter().try_for_each(|payload| trigger(ix, node, payload, schedule.clone()).map(drop))
}

fn indexed(program: &Program, ix: NodeIx, node: &Node, host: &mut dyn Host, limits: &Limits) -> Result<Indexed, Fault> {
    let mut instance = Instance::without_input(Uuid::nil(), program, 0);
    let mut scratch = Scratch { now: host.now(), ..Scratch::default() };
    let mut burst = Burst { program, limits, instance: &mut instance, host, scratch: &mut scratch };
    let sequence = open_with_ancestors(&mut burst, ix);
    if node.uses_sql {
        burst.host.begin_step();
    }
    let mut cx = Execution::new(burst.reborrow(), sequence, node);
    let result = cx.evaluate_inputs().and_then(|()| {
        let payloads = node.activity.trigger_payloads(&mut cx)?;
        Ok((payloads, node.activity.schedule(&mut cx)?))
    });
    if node.uses_sql {
        burst.host.end_step(result.is_ok());
    }
    result
}

/// Opens an execution and all its ancestors, so that it sees their variables.
fn open_with_ancestors(burst: &mut Burst<'_>, ix: NodeIx) -> u32 {
    let mut path = vec![ix];
    while let Some(parent) = path.last().and_then(|last| burst.program.node(*last).parent) {
        path.push(parent);
    }
    let mut parent = None;
    for node in path.into_iter().rev() {
        parent = Some(burst.open(parent, node, 0, Vec::new(), None));
    }
    parent.unwrap_or_default()
}

fn trigger(node_ix: NodeIx, node: &Node, payload: Option<Value>, schedule: Option<Schedule>) -> Result<Trigger, Fault> {
    let name = node.type_name.clone();
    let payload = match payload {
        Some(payload) => Some(stimulus::normalise(&name, &payload)?),
        None => None,
    };
    let hash = stimulus::hash(&name, payload.as_ref(), None);
    Ok(Trigger {
        node: node_ix,
        activity_id: node.id.clone(),
        node_id: node.node_id.clone(),
        activity_type: node.type_name.clone(),
        name,
        hash,
        payload,
        schedule,
    })
}
