//! Elsa's counter-based mode: what runs after an activity of a flowchart has completed.
//!
//! Every outbound connection is visited, followed or not. For a forward connection, the join mode of its target decides
//! whether the target waits, runs or is skipped. A skipped activity visits its own connections in turn, so that dead
//! paths reach the joins after them. The walk uses its own stack, because a chain of skipped activities may be as long
//! as the definition.

use std::sync::Arc;

use crate::activities::flow_join;
use crate::activities::flow_join::JoinMode;
use crate::activities::flowchart::{BACKWARD, LeftWaiting};
use crate::activity::FlowRole;
use crate::execution::{Child, Execution, Outcomes};
use crate::node_ix::NodeIx;
use crate::program::{Direction, FlowGraph, Paths};
use workflow_value::fault::Fault;

/// A walk through the graph after one child ended.
pub(super) struct FlowWalk<'a> {
    graph: &'a FlowGraph,
    paths: Arc<Paths>,
    stack: Vec<Visit>,
    scheduled: bool,
    /// The join that runs now: connections that reach it in the meantime are too late.
    running_join: Option<u32>,
}

/// An activity whose outbound connections are being visited.
struct Visit {
    position: u32,
    next: usize,
    /// A skipped or cancelled activity follows no connection.
    dead: bool,
}

/// The decision of a join when one of its connections was visited.
enum Decision {
    Wait,
    Skip,
    Schedule,
    ScheduleAndCancelRest,
}

impl<'a> FlowWalk<'a> {
    pub(super) fn begin(cx: &mut Execution<'a>) -> Result<Self, Fault> {
        let Some(graph) = cx.node().flow.as_deref() else {
            return Err(Fault::new("XX001", "flowchart has no graph"));
        };
        let start = cx.flow_scope()?.start();
        if start as usize >= graph.len() {
            return Err(Fault::new("XX001", "start activity of the flowchart is not part of the definition"));
        }
        let paths = graph.paths(start, &mut || cx.check_for_interrupts());
        Ok(Self { graph, paths, stack: Vec::new(), scheduled: false, running_join: None })
    }

    /// Handles a completed child. Returns whether it scheduled an activity.
    pub(super) fn completed(
        &mut self,
        cx: &mut Execution<'a>,
        child: &Child,
        outcomes: &Outcomes,
    ) -> Result<bool, Fault> {
        let position = self.position(child.node)?;
        self.enter(cx, position, child.tag == BACKWARD, false)?;
        self.walk(cx, outcomes)?;
        Ok(self.scheduled)
    }

    /// Handles cancelled children. Returns whether it scheduled an activity.
    pub(super) fn cancelled(&mut self, cx: &mut Execution<'a>, children: &[NodeIx]) -> Result<bool, Fault> {
        for child in children {
            let position = self.position(*child)?;
            self.enter(cx, position, false, true)?;
            self.walk(cx, &Outcomes::Empty)?;
        }
        Ok(self.scheduled)
    }

    /// Runs activities that no longer wait for anything. Returns whether there were any.
    pub(super) fn recheck(&mut self, cx: &mut Execution<'a>) -> Result<bool, Fault> {
        for target in 0..self.graph.len() as u32 {
            let node = self.graph.activity(target);
            if cx.has_scheduled(node) || cx.children().iter().any(|child| child.node == node) {
                continue;
            }
            let scope = cx.flow_scope()?;
            let is_pending = |edge: &&u32| scope.is_followed_since(**edge, target);
            let reached = self.paths.inbound(target).iter().find(is_pending).copied();
            if let Some(edge) = reached {
                self.forward(cx, edge, target)?;
                self.walk(cx, &Outcomes::Empty)?;
            }
        }
        Ok(self.scheduled)
    }

    /// Runs an activity that no connection has reached.
    pub(super) fn begin_child(&mut self, cx: &mut Execution<'a>, child: NodeIx) -> Result<(), Fault> {
        let position = self.position(child)?;
        if !self.paths.is_reachable(position) {
            let id = self.id(cx, position);
            return Err(Fault::new("55000", format!("no connection leads to activity \"{id}\""))
                .detail("The flowchart could not go on after it."));
        }
        self.schedule(cx, position, BACKWARD)
    }

    /// Handles a `WaitAny` join that its first branch has reached: cancels the children that still run before it.
    pub(super) fn cancel_inbound(&mut self, cx: &mut Execution<'a>, join: NodeIx) -> Result<(), Fault> {
        let position = self.position(join)?;
        self.running_join = Some(position);
        let cancelled = self.cancel_ancestors(cx, position)?;
        self.cancelled(cx, &cancelled)?;
        Ok(())
    }

    fn position(&self, node: NodeIx) -> Result<u32, Fault> {
        let position = self.graph.position(node);
        position.ok_or_else(|| Fault::new("XX001", "activity is not part of the flowchart"))
    }

    fn walk(&mut self, cx: &mut Execution<'a>, outcomes: &Outcomes) -> Result<(), Fault> {
        let mut visited = 0u32;
        while let Some(visit) = self.stack.last_mut() {
            let Some(edge) = self.graph.outbound(visit.position).get(visit.next).copied() else {
                self.stack.pop();
                continue;
            };
            visit.next += 1;
            visited += 1;
            if visited.is_multiple_of(1024) {
                cx.check_for_interrupts();
            }
            let connection = &self.graph.edges()[edge as usize];
            let followed = !visit.dead && outcomes.contains(&connection.port);
            self.keep_earlier(cx, edge, connection.target, followed)?;
            cx.visit_connection(edge, followed)?;
            if followed && self.paths.inbound(connection.target).len() > 1 {
                cx.bring_result(self.graph.activity(connection.target));
            }
            match self.paths.direction(edge) {
                Direction::Forward => self.forward(cx, edge, connection.target)?,
                Direction::Backward if followed => {
                    self.schedule(cx, connection.target, BACKWARD)?;
                }
                Direction::Invalid if followed => return Err(self.invalid(cx, edge)),
                Direction::Backward | Direction::Invalid => {}
            }
        }
        Ok(())
    }

    fn enter(&mut self, cx: &mut Execution<'a>, position: u32, counted: bool, dead: bool) -> Result<(), Fault> {
        if !self.paths.is_reachable(position) {
            let id = self.id(cx, position);
            return Err(Fault::new(
                "55000",
                format!(
                    "activity \"{id}\" is not reachable from the flowchart graph, unable to schedule its outbound activities"
                ),
            ));
        }
        if !counted {
            cx.visit_activity(position)?;
        }
        self.stack.push(Visit { position, next: 0, dead });
        Ok(())
    }

    fn forward(&mut self, cx: &mut Execution<'a>, edge: u32, target: u32) -> Result<(), Fault> {
        match self.decide(cx, edge, target)? {
            Decision::Wait => Ok(()),
            Decision::Skip => self.enter(cx, target, false, true),
            Decision::Schedule => self.schedule(cx, target, 0),
            Decision::ScheduleAndCancelRest => {
                self.schedule(cx, target, 0)?;
                for node in self.cancel_ancestors(cx, target)?.into_iter().rev() {
                    let position = self.position(node)?;
                    self.enter(cx, position, false, true)?;
                }
                Ok(())
            }
        }
    }

    fn decide(&self, cx: &mut Execution<'a>, edge: u32, target: u32) -> Result<Decision, Fault> {
        let node = self.graph.activity(target);
        let mode = match self.is_join(cx, target) {
            true => JoinMode::read(cx.choice_of(node, flow_join::MODE, &JoinMode::NAMES)?),
            false => JoinMode::WaitAllActive,
        };
        if mode == JoinMode::WaitAll {
            return self.decide_for_all(cx, target);
        }
        let already_scheduled = cx.has_scheduled(node) || self.running_join == Some(target);
        let scope = cx.flow_scope()?;
        let inbound = self.paths.inbound(target);
        let all_visited = scope.all_inbound_visited(inbound, target);
        Ok(match mode {
            JoinMode::WaitAny => {
                let too_late = scope.connection_visits(edge) <= scope.activity_visits(target);
                if too_late || already_scheduled {
                    Decision::Wait
                } else if scope.any_inbound_followed(inbound, target) {
                    Decision::ScheduleAndCancelRest
                } else if all_visited {
                    Decision::Skip
                } else {
                    Decision::Wait
                }
            }
            _ if !all_visited => Decision::Wait,
            _ if scope.any_inbound_followed(inbound, target) => Decision::Schedule,
            _ => Decision::Skip,
        })
    }

    /// A join in mode `WaitAll` runs once each of its connections was followed since it last ran. If all were visited
    /// but not all followed, it is skipped, which its successors see as a dead path, and the followed connections still
    /// count.
    fn decide_for_all(&self, cx: &mut Execution<'a>, target: u32) -> Result<Decision, Fault> {
        // A connection followed before a scheduled join has run is for its next run.
        if cx.has_scheduled(self.graph.activity(target)) {
            return Ok(Decision::Wait);
        }
        let inbound = self.paths.inbound(target);
        let scope = cx.flow_scope()?;
        if scope.all_inbound_followed(inbound, target) {
            let visits = scope.activity_visits(target) + 1;
            for edge in inbound {
                cx.use_connection(*edge, visits)?;
            }
            return Ok(Decision::Schedule);
        }
        if !scope.all_inbound_visited(inbound, target) {
            return Ok(Decision::Wait);
        }
        let followed: Vec<u32> =
            inbound.iter().copied().filter(|edge| scope.is_followed_since(*edge, target)).collect();
        for edge in followed {
            cx.set_followed(edge, true)?;
        }
        Ok(Decision::Skip)
    }

    /// Remembers that a connection to a join was followed since the join last ran, if it is visited again without being
    /// followed.
    fn keep_earlier(&self, cx: &mut Execution<'a>, edge: u32, target: u32, followed: bool) -> Result<(), Fault> {
        let is_lost = !followed && cx.flow_scope()?.is_followed_since(edge, target);
        if is_lost && self.paths.direction(edge) == Direction::Forward && self.is_join(cx, target) {
            cx.set_followed(edge, true)?;
        }
        Ok(())
    }

    fn is_join(&self, cx: &Execution<'a>, target: u32) -> bool {
        cx.program().node(self.graph.activity(target)).activity.descriptor().flow == FlowRole::Join
    }

    /// Activities waiting for connections that will never be followed, when the flowchart is about to end.
    pub(super) fn left_waiting(&self, cx: &mut Execution<'a>) -> Result<Vec<LeftWaiting>, Fault> {
        let mut found = Vec::new();
        for target in 0..self.graph.len() as u32 {
            let inbound = self.paths.inbound(target);
            if inbound.len() < 2 {
                continue;
            }
            let scope = cx.flow_scope()?;
            let reached = inbound.iter().filter(|edge| scope.is_followed_since(**edge, target)).count();
            let never_ran = scope.activity_visits(target) == 0;
            let node = self.graph.activity(target);
            if reached == 0 {
                continue;
            }
            // Other modes compare how often each connection was visited: once they have run, the count does not show
            // whether it was used.
            let mode = match self.is_join(cx, target) {
                true => JoinMode::read(cx.choice_of(node, flow_join::MODE, &JoinMode::NAMES)?),
                false => JoinMode::WaitAllActive,
            };
            let waits = match mode {
                JoinMode::WaitAll => true,
                JoinMode::WaitAllActive => never_ran,
                JoinMode::WaitAny => false,
            };
            if waits {
                found.push(LeftWaiting { node, reached, inbound: inbound.len() });
            }
        }
        Ok(found)
    }

    fn schedule(&mut self, cx: &mut Execution<'a>, target: u32, tag: u32) -> Result<(), Fault> {
        self.scheduled = true;
        let kept = cx.flow_scope()?.followed();
        let used: Vec<u32> = self.paths.inbound(target).iter().copied().filter(|edge| kept.contains(edge)).collect();
        for edge in used {
            cx.set_followed(edge, false)?;
        }
        cx.schedule(self.graph.activity(target), tag, Vec::new())
    }

    /// Cancels the open children that precede a join and returns their nodes.
    fn cancel_ancestors(&self, cx: &mut Execution<'a>, join: u32) -> Result<Vec<NodeIx>, Fault> {
        let ancestors = self.paths.ancestors(self.graph.edges(), join);
        let mut cancelled = Vec::new();
        for child in cx.children() {
            let position = self.position(child.node)?;
            if ancestors[position as usize] {
                cx.cancel_child(child.sequence);
                cancelled.push(child.node);
            }
        }
        Ok(cancelled)
    }

    fn invalid(&self, cx: &Execution<'a>, edge: u32) -> Fault {
        let connection = &self.graph.edges()[edge as usize];
        let (source, target) = (self.id(cx, connection.source), self.id(cx, connection.target));
        Fault::new(
            "55000",
            format!(
                "invalid backward connection: every path from the source (\"{source}\") must go through the target (\"{target}\") when tracing back to the start"
            ),
        )
    }

    fn id(&self, cx: &Execution<'a>, position: u32) -> String {
        cx.program().node(self.graph.activity(position)).id.clone()
    }
}
