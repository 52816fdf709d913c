//! `StateMachine`: states, and transitions between them that wait for their triggers.
//!
//! Entering a state arms the triggers of all its transitions. The first trigger that completes and whose condition
//! holds cancels the others. Then the action of the transition, the exit of the old state and the entry of the new
//! state run. The tag of a child encodes its role; the position in memory is the current state.

use serde_json::{Value, json};

use crate::activity::{Activity, Descriptor, OutputDescriptor, PartCondition, PartList, Special};
use crate::execution::{Child, Execution, Outcomes, Signal};
use crate::instance::Memory;
use crate::journal::EventKind;
use workflow_value::fault::Fault;

use crate::activity::handle::outputs;
use crate::node_ix::NodeIx;
use crate::program::{Machine, STATES, TRANSITIONS};

/// Ports of a state, by their positions: executed on entry and on exit.
pub(crate) const ENTRY: usize = 0;
pub(crate) const EXIT: usize = 1;

/// Ports of a transition, by their positions: its trigger and its action.
pub(crate) const TRIGGER: usize = 0;
pub(crate) const ACTION: usize = 1;

/// Is in one state at a time, and takes the first transition that is triggered and whose condition holds.
#[derive(Debug)]
pub struct StateMachine;

outputs! {
    STATE = OutputDescriptor::new("state", "String", "Name of the current state."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.StateMachine",
    category: "Flow",
    description: "Is in one state at a time. Each transition waits for its trigger; the first one whose condition is true leads to the next state. A state without outgoing triggers completes the machine.",
    outputs: OUTPUTS,
    parts: &[
        PartList {
            name: "states",
            one: "state",
            texts: &[("name", true)],
            ports: &["entry", "exit"],
            condition: PartCondition::None,
            short: true,
            numbered: false,
            catches: false,
            hint: None,
        },
        PartList {
            name: "transitions",
            one: "transition",
            texts: &[("from", true), ("to", true), ("name", false)],
            ports: &["trigger", "action"],
            condition: PartCondition::Optional,
            short: false,
            numbered: false,
            catches: false,
            hint: None,
        },
    ],
    special: Special::States,
    example: r#"{"type": "StateMachine", "initialState": "Open", "states": ["Open", "Paid", "Cancelled"], "transitions": [{"from": "Open", "to": "Paid", "trigger": {"type": "Event", "eventName": "Paid"}}, {"from": "Open", "to": "Cancelled", "trigger": {"type": "Event", "eventName": "Withdrawn"}}]}"#,
    ..Descriptor::BASE
};

/// The next step of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MachineStep {
    /// Run the entry of the state with this number.
    Enter(u32),
    /// Wait for the transitions of the state.
    Arm,
    /// Run the action of a transition.
    Act(u32),
    /// Leave the state by a transition.
    Leave(u32),
    /// Wait until a child completes.
    Wait,
}

impl Activity for StateMachine {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let Some(machine) = cx.node().machine.as_deref().filter(|machine| !machine.is_empty()) else {
            return cx.complete();
        };
        // A retry after a failed condition continues in the state that the machine has entered.
        let step = match cx.memory() {
            Memory::None => MachineStep::Enter(machine.initial()),
            _ => MachineStep::Arm,
        };
        take_steps(cx, machine, step)
    }

    fn remembers(&self) -> bool {
        true
    }

    fn child_completed(&self, cx: &mut Execution<'_>, child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        let Some(machine) = cx.node().machine.as_deref() else {
            return cx.complete();
        };
        if cx.is_breaking() {
            return cx.complete();
        }
        let step = match ChildRole::of(child.tag) {
            ChildRole::Entry => MachineStep::Arm,
            ChildRole::Trigger(transition) => triggered(cx, machine, transition)?,
            ChildRole::Action(transition) => MachineStep::Leave(transition),
            ChildRole::Exit(transition) => MachineStep::Enter(target(machine, transition)?),
        };
        take_steps(cx, machine, step)
    }

    /// A transition whose trigger is cancelled is not taken; the machine waits for the others.
    fn child_cancelled(&self, cx: &mut Execution<'_>, child: &Child) -> Result<(), Fault> {
        match ChildRole::of(child.tag) {
            ChildRole::Trigger(_) if cx.has_pending_work() => Ok(()),
            ChildRole::Trigger(_) => cx.complete(),
            _ => self.child_completed(cx, child, &Outcomes::Empty),
        }
    }

    fn signal(&self, cx: &mut Execution<'_>, signal: &Signal) -> Result<bool, Fault> {
        // Recorded, but not stopped: the enclosing loop must receive the `Break` as well.
        if matches!(signal, Signal::Break) {
            cx.set_breaking();
        }
        Ok(false)
    }
}

/// The role of a child, encoded in its tag.
pub(crate) enum ChildRole {
    /// The entry of a state.
    Entry,
    /// The trigger of the transition with this number.
    Trigger(u32),
    /// The action of the transition with this number.
    Action(u32),
    /// The exit of the state that a transition leaves.
    Exit(u32),
}

impl ChildRole {
    pub(crate) fn of(tag: u32) -> Self {
        match tag & 3 {
            0 => Self::Entry,
            1 => Self::Trigger(tag >> 2),
            2 => Self::Action(tag >> 2),
            _ => Self::Exit(tag >> 2),
        }
    }

    pub(crate) fn tag(&self) -> u32 {
        match self {
            Self::Entry => 0,
            Self::Trigger(transition) => transition << 2 | 1,
            Self::Action(transition) => transition << 2 | 2,
            Self::Exit(transition) => transition << 2 | 3,
        }
    }
}

/// Takes steps until the machine waits or completes.
fn take_steps(cx: &mut Execution<'_>, machine: &Machine, mut step: MachineStep) -> Result<(), Fault> {
    let mut entered = 0;
    while step != MachineStep::Wait {
        if let MachineStep::Enter(state) = step {
            entered += 1;
            // The machine has then entered a state twice without running an activity, so nothing can have changed that
            // would end the cycle.
            if entered > machine.len() + 1 {
                let name = name_of(cx, state);
                return Err(Fault::new("54000", format!("state \"{name}\" leads back to itself without waiting"))
                    .detail("Transitions without trigger form a circle in which nothing runs."));
            }
            cx.check_for_interrupts();
        }
        step = take(cx, machine, step)?;
    }
    Ok(())
}

fn take(cx: &mut Execution<'_>, machine: &Machine, step: MachineStep) -> Result<MachineStep, Fault> {
    match step {
        MachineStep::Enter(state) => {
            cx.set_position(i64::from(state));
            let name = name_of(cx, state);
            cx.journal(EventKind::Note, Some(json!({ "state": name })));
            cx.set_output(STATE, Value::String(name))?;
            run(cx, port(cx, STATES, state, ENTRY), ChildRole::Entry, MachineStep::Arm)
        }
        MachineStep::Arm => arm(cx, machine),
        MachineStep::Act(transition) => {
            let action = port(cx, TRANSITIONS, transition, ACTION);
            run(cx, action, ChildRole::Action(transition), MachineStep::Leave(transition))
        }
        MachineStep::Leave(transition) => {
            let exit = port(cx, STATES, current(cx), EXIT);
            run(cx, exit, ChildRole::Exit(transition), MachineStep::Enter(target(machine, transition)?))
        }
        MachineStep::Wait => Ok(MachineStep::Wait),
    }
}

/// Schedules an activity if there is one, otherwise returns the next step.
fn run(
    cx: &mut Execution<'_>,
    activity: Option<NodeIx>,
    role: ChildRole,
    otherwise: MachineStep,
) -> Result<MachineStep, Fault> {
    match activity {
        Some(activity) => {
            cx.schedule(activity, role.tag(), Vec::new())?;
            Ok(MachineStep::Wait)
        }
        None => Ok(otherwise),
    }
}

/// Takes the first transition that needs no trigger and whose condition holds, else arms the triggers of the others.
/// The machine completes in a state without transitions to arm.
fn arm(cx: &mut Execution<'_>, machine: &Machine) -> Result<MachineStep, Fault> {
    let outbound = machine.outbound(current(cx));
    let mut armed = Vec::new();
    for transition in outbound {
        match port(cx, TRANSITIONS, *transition, TRIGGER) {
            Some(trigger) => armed.push((trigger, *transition)),
            None if cx.holds(TRANSITIONS, *transition as usize)? => return Ok(MachineStep::Act(*transition)),
            None => {}
        }
    }
    if armed.is_empty() {
        cx.complete()?;
    }
    for (trigger, transition) in armed {
        cx.schedule(trigger, ChildRole::Trigger(transition).tag(), Vec::new())?;
    }
    Ok(MachineStep::Wait)
}

/// Handles a completed trigger: takes its transition if the condition holds, else arms the trigger again.
fn triggered(cx: &mut Execution<'_>, machine: &Machine, transition: u32) -> Result<MachineStep, Fault> {
    if !cx.holds(TRANSITIONS, transition as usize)? {
        let trigger = port(cx, TRANSITIONS, transition, TRIGGER);
        return run(cx, trigger, ChildRole::Trigger(transition), MachineStep::Wait);
    }
    for child in cx.children() {
        cx.cancel_child(child.sequence);
    }
    for other in machine.outbound(current(cx)) {
        if let Some(trigger) = port(cx, TRANSITIONS, *other, TRIGGER) {
            cx.unschedule(trigger);
        }
    }
    Ok(MachineStep::Act(transition))
}

fn current(cx: &Execution<'_>) -> u32 {
    u32::try_from(cx.position()).unwrap_or(u32::MAX)
}

fn target(machine: &Machine, transition: u32) -> Result<u32, Fault> {
    machine
        .target(transition)
        .ok_or_else(|| Fault::new("XX001", "transition of the state machine is not part of the definition"))
}

fn port(cx: &Execution<'_>, list: usize, part: u32, port: usize) -> Option<NodeIx> {
    cx.node().part_list(list).get(part as usize)?.port(port)
}

fn name_of(cx: &Execution<'_>, state: u32) -> String {
    cx.node().part_list(STATES).get(state as usize).map(|state| state.text(0).to_owned()).unwrap_or_default()
}
