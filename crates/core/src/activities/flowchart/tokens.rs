//! Elsa's token mode: what runs after an activity of a flowchart has completed.
//!
//! A completed activity puts a token on each connection that its outcomes follow. The merge mode of the target decides
//! whether the target runs. A target that is scheduled consumes the tokens that it runs on. A token that arrives while
//! its target runs is for the target's next run. Connections that were not followed get no token.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::activities::flowchart::LeftWaiting;
use crate::execution::{Child, Execution, Outcomes};
use crate::instance::TokenChange;
use crate::node_ix::NodeIx;
use crate::program::{Direction, FlowGraph, MergeMode, Paths};
use workflow_value::fault::Fault;

/// The walk after one child has ended.
pub(super) struct TokenWalk<'a> {
    graph: &'a FlowGraph,
    paths: Arc<Paths>,
    scheduled: bool,
    /// Activities to which the ended child has sent a token: they do not lose a race that it wins.
    fresh: Vec<u32>,
}

impl<'a> TokenWalk<'a> {
    pub(super) fn begin(cx: &mut Execution<'a>) -> Result<Self, Fault> {
        let Some(graph) = cx.node().flow.as_deref() else {
            return Err(Fault::new("XX001", "flowchart has no graph"));
        };
        let scope = cx.token_scope()?;
        if !scope.fits(graph.len(), graph.edges().len()) {
            return Err(Fault::new("XX001", "state of the flowchart does not fit its definition"));
        }
        let paths = graph.paths(scope.start(), &mut || cx.check_for_interrupts());
        Ok(Self { graph, paths, scheduled: false, fresh: Vec::new() })
    }

    /// Handles a completed child. Returns whether it scheduled an activity.
    pub(super) fn completed(
        &mut self,
        cx: &mut Execution<'a>,
        child: &Child,
        outcomes: &Outcomes,
    ) -> Result<bool, Fault> {
        let position = self.position(child.node)?;
        self.cancel_losers(cx, position)?;
        let races: Vec<u32> = cx.token_scope()?.lost_by(position).collect();
        self.close(cx, position)?;
        let outbound = self.graph.outbound(position);
        let followed = |edge: u32| outcomes.contains(&self.graph.edges()[edge as usize].port);
        let (taken, left): (Vec<u32>, Vec<u32>) =
            outbound.iter().partition(|edge| followed(**edge) && !self.is_lost(&races, **edge));
        // The tokens are placed on all connections before any target is examined.
        for edge in &taken {
            cx.change_token(TokenChange::Waiting(*edge, true))?;
            self.fresh.push(self.target(*edge));
            if self.graph.inbound(self.target(*edge)).len() > 1 {
                cx.bring_result(self.graph.activity(self.target(*edge)));
            }
            if self.paths.direction(*edge) != Direction::Forward {
                self.begin_round(cx, self.target(*edge))?;
            }
        }
        for edge in taken {
            self.arrive(cx, edge)?;
        }
        for edge in left {
            self.release(cx, self.target(edge))?;
        }
        Ok(self.scheduled)
    }

    /// Handles a cancelled child. Returns whether it scheduled an activity.
    pub(super) fn cancelled(&mut self, cx: &mut Execution<'a>, child: NodeIx) -> Result<bool, Fault> {
        let position = self.position(child)?;
        self.close(cx, position)?;
        self.forget(cx, position)?;
        for edge in self.graph.outbound(position) {
            self.release(cx, self.target(*edge))?;
        }
        Ok(self.scheduled)
    }

    /// Runs the targets of waiting tokens that no longer wait for anything. Returns whether there were any.
    pub(super) fn recheck(&mut self, cx: &mut Execution<'a>) -> Result<bool, Fault> {
        for edge in cx.token_scope()?.waiting().collect::<Vec<_>>() {
            self.arrive(cx, edge)?;
        }
        Ok(self.scheduled)
    }

    /// Activities waiting for tokens that will never come, when the flowchart is about to end.
    pub(super) fn left_waiting(&self, cx: &mut Execution<'a>) -> Result<Vec<LeftWaiting>, Fault> {
        let waiting: BTreeSet<u32> = cx.token_scope()?.waiting().map(|edge| self.target(edge)).collect();
        let mut found = Vec::new();
        for target in waiting {
            let inbound = match MergeMode::of(cx, self.graph, target)? {
                MergeMode::Merge => self.paths.inbound(target),
                MergeMode::Converge => self.graph.inbound(target),
                MergeMode::Stream | MergeMode::Cascade | MergeMode::Race => continue,
            };
            let scope = cx.token_scope()?;
            let reached = inbound.iter().filter(|edge| scope.is_waiting(**edge)).count();
            if reached > 0 {
                found.push(LeftWaiting { node: self.graph.activity(target), reached, inbound: inbound.len() });
            }
        }
        Ok(found)
    }

    /// Runs an activity without a token.
    pub(super) fn begin_child(&mut self, cx: &mut Execution<'a>, child: NodeIx) -> Result<(), Fault> {
        let position = self.position(child)?;
        self.schedule(cx, position)
    }

    /// Decides whether an arrived token makes its target run.
    fn arrive(&mut self, cx: &mut Execution<'a>, edge: u32) -> Result<(), Fault> {
        // Another token may have made the target run and consumed this one as well.
        if !cx.token_scope()?.is_waiting(edge) {
            return Ok(());
        }
        let target = self.target(edge);
        match MergeMode::of(cx, self.graph, target)? {
            MergeMode::Cascade => {
                cx.change_token(TokenChange::Waiting(edge, false))?;
                self.schedule(cx, target)
            }
            MergeMode::Race => self.race(cx, edge, target),
            MergeMode::Merge if self.paths.direction(edge) != Direction::Forward => {
                // A backward connection starts another round, so its token waits for no other.
                cx.change_token(TokenChange::Waiting(edge, false))?;
                self.schedule(cx, target)
            }
            MergeMode::Merge => self.join(cx, self.paths.clone().inbound(target), target),
            MergeMode::Converge => self.join(cx, self.graph.inbound(target), target),
            MergeMode::Stream => self.stream(cx, target, Some(self.graph.edges()[edge as usize].source)),
        }
    }

    /// Runs the target if every inbound connection has a token.
    fn join(&mut self, cx: &mut Execution<'a>, inbound: &[u32], target: u32) -> Result<(), Fault> {
        let scope = cx.token_scope()?;
        if !inbound.iter().all(|edge| scope.is_waiting(*edge)) {
            return Ok(());
        }
        self.take(cx, inbound)?;
        self.schedule(cx, target)
    }

    /// Runs the target unless a direct predecessor is still pending. The sender of the token does not count, because it
    /// may be scheduled again already.
    fn stream(&mut self, cx: &mut Execution<'a>, target: u32, sender: Option<u32>) -> Result<(), Fault> {
        let scope = cx.token_scope()?;
        let pending = |position: u32| {
            scope.executions(position) > 0 || self.graph.inbound(position).iter().any(|edge| scope.is_waiting(*edge))
        };
        let mut before = self.paths.inbound(target).iter().map(|edge| self.graph.edges()[*edge as usize].source);
        if before.any(|position| Some(position) != sender && pending(position)) {
            return Ok(());
        }
        self.take(cx, self.graph.inbound(target))?;
        self.schedule(cx, target)
    }

    /// Runs a target in mode `Stream` that has waited for an activity which will not send a token.
    fn release(&mut self, cx: &mut Execution<'a>, target: u32) -> Result<(), Fault> {
        let scope = cx.token_scope()?;
        let held = self.graph.inbound(target).iter().any(|edge| scope.is_waiting(*edge));
        match held && MergeMode::of(cx, self.graph, target)? == MergeMode::Stream {
            true => self.stream(cx, target, None),
            false => Ok(()),
        }
    }

    fn race(&mut self, cx: &mut Execution<'a>, edge: u32, target: u32) -> Result<(), Fault> {
        if cx.token_scope()?.is_blocked(edge) {
            cx.change_token(TokenChange::Blocked(edge, false))?;
            cx.change_token(TokenChange::Waiting(edge, false))?;
            return Ok(());
        }
        self.take(cx, self.graph.inbound(target))?;
        self.cancel_ancestors(cx, target)?;
        let winner = self.graph.edges()[edge as usize].source;
        for other in self.paths.clone().inbound(target) {
            if self.graph.edges()[*other as usize].source != winner {
                cx.change_token(TokenChange::Blocked(*other, true))?;
            }
        }
        self.schedule(cx, target)
    }

    /// Cancels the activities that still run before the target, and discards earlier tokens for preceding activities.
    fn cancel_ancestors(&mut self, cx: &mut Execution<'a>, target: u32) -> Result<(), Fault> {
        let ancestors = self.paths.ancestors(self.graph.edges(), target);
        let before = |position: &u32| ancestors.get(*position as usize).copied().unwrap_or(false);
        let scope = cx.token_scope()?;
        let awaited = scope.waiting().map(|edge| self.target(edge));
        let mut lost: Vec<u32> = scope.open().chain(awaited).filter(before).collect();
        lost.sort_unstable();
        lost.dedup();
        if lost.is_empty() {
            return Ok(());
        }
        for child in cx.children() {
            let position = self.position(child.node)?;
            if before(&position) {
                cx.cancel_child(child.sequence);
                self.close(cx, position)?;
            }
        }
        lost.retain(|position| !self.fresh.contains(position));
        let mut gone = Vec::with_capacity(lost.len());
        for position in lost {
            // A scheduled activity still runs, as in Elsa, but sends no token towards the target.
            if cx.token_scope()?.executions(position) > 0 {
                cx.change_token(TokenChange::Lost(position, target, true))?;
            } else {
                self.forget(cx, position)?;
                gone.push(position);
            }
        }
        let graph = self.graph;
        for edge in gone.iter().flat_map(|position| graph.outbound(*position)) {
            if !before(&self.target(*edge)) {
                self.release(cx, self.target(*edge))?;
            }
        }
        Ok(())
    }

    /// Cancels the activities that lost a race to the target and have begun to run since.
    fn cancel_losers(&mut self, cx: &mut Execution<'a>, target: u32) -> Result<(), Fault> {
        let losers: Vec<u32> = cx.token_scope()?.losers(target).collect();
        if losers.is_empty() {
            return Ok(());
        }
        for child in cx.children() {
            let position = self.position(child.node)?;
            if losers.contains(&position) {
                cx.cancel_child(child.sequence);
                self.close(cx, position)?;
            }
        }
        for position in losers {
            cx.change_token(TokenChange::Lost(position, target, false))?;
            self.forget(cx, position)?;
        }
        Ok(())
    }

    /// Whether a connection leads to the target of a race that its source has lost, or to a preceding activity.
    fn is_lost(&self, races: &[u32], edge: u32) -> bool {
        let target = self.target(edge);
        let leads_to = |race: u32| target == race || self.paths.ancestors(self.graph.edges(), race)[target as usize];
        races.iter().any(|race| leads_to(*race))
    }

    /// Starts another round after a backward connection: unblocks the connections behind its target, and clears the
    /// races that were lost there.
    fn begin_round(&mut self, cx: &mut Execution<'a>, position: u32) -> Result<(), Fault> {
        let blocked: Vec<u32> = cx.token_scope()?.blocked().collect();
        for edge in blocked {
            let target = self.target(edge);
            let ancestors = self.paths.ancestors(self.graph.edges(), target);
            if target == position || ancestors.get(position as usize) == Some(&true) {
                cx.change_token(TokenChange::Blocked(edge, false))?;
                for loser in cx.token_scope()?.losers(target).collect::<Vec<_>>() {
                    cx.change_token(TokenChange::Lost(loser, target, false))?;
                }
            }
        }
        Ok(())
    }

    /// Removes the tokens to and from a cancelled activity.
    fn forget(&mut self, cx: &mut Execution<'a>, position: u32) -> Result<(), Fault> {
        for edge in self.graph.inbound(position).iter().chain(self.graph.outbound(position)) {
            if !self.fresh.contains(&self.target(*edge)) {
                cx.change_token(TokenChange::Waiting(*edge, false))?;
            }
            cx.change_token(TokenChange::Blocked(*edge, false))?;
        }
        Ok(())
    }

    fn take(&self, cx: &mut Execution<'a>, edges: &[u32]) -> Result<(), Fault> {
        edges.iter().try_for_each(|edge| cx.change_token(TokenChange::Waiting(*edge, false)))
    }

    fn schedule(&mut self, cx: &mut Execution<'a>, target: u32) -> Result<(), Fault> {
        self.scheduled = true;
        let executions = cx.token_scope()?.executions(target);
        cx.change_token(TokenChange::Open(target, executions.saturating_add(1)))?;
        cx.schedule(self.graph.activity(target), 0, Vec::new())
    }

    /// Counts an execution of an activity as ended.
    fn close(&self, cx: &mut Execution<'a>, position: u32) -> Result<(), Fault> {
        let left = cx.token_scope()?.executions(position).saturating_sub(1);
        cx.change_token(TokenChange::Open(position, left))?;
        if left == 0 {
            for race in cx.token_scope()?.lost_by(position).collect::<Vec<_>>() {
                cx.change_token(TokenChange::Lost(position, race, false))?;
            }
        }
        Ok(())
    }

    fn target(&self, edge: u32) -> u32 {
        self.graph.edges()[edge as usize].target
    }

    fn position(&self, node: NodeIx) -> Result<u32, Fault> {
        let position = self.graph.position(node);
        position.ok_or_else(|| Fault::new("XX001", "activity is not part of the flowchart"))
    }
}
