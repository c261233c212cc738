//! Dropping: what closes cycles goes where the rest still accepts every bad prefix.

use rustc_hash::FxHashSet;

use super::draft::{SaturationDraft, SourcedEdge};
use crate::shape::{
    bad_prefixes::Node,
    completeness::{SubsetBudget, is_complete},
    saturated::{Saturated, SaturatedEdge},
};

impl SaturationDraft<'_> {
    /// Drops moves that close cycles, and whether none is left; then what was added for nothing.
    pub(super) fn thin(&mut self, budget: &mut SubsetBudget) -> bool {
        let all = self.edges.clone();
        let backward = std::mem::take(&mut self.backward);
        for &(from, edge) in &backward {
            self.edges[from.index()].retain(|&other| other != edge);
        }
        if !self.is_complete(budget) {
            self.edges = all;
            for &dropped in &backward {
                self.try_drop(dropped, budget);
            }
            self.break_cycles(budget);
        }
        if !Saturated::has_only_loops(&self.edges) {
            return false;
        }
        for added in std::mem::take(&mut self.added) {
            self.try_drop(added, budget);
        }
        for (start, node) in std::mem::take(&mut self.added_initial) {
            let before = self.initial[start].clone();
            self.initial[start].retain(|&other| other != node);
            if !self.is_complete(budget) {
                self.initial[start] = before;
            }
        }
        true
    }

    /// Where a move away from violations is needed, the way back may not be.
    fn break_cycles(&mut self, budget: &mut SubsetBudget) {
        let added: FxHashSet<SourcedEdge> = self.added.iter().copied().collect();
        // A move that is needed stays needed when others go.
        let mut needed: FxHashSet<SourcedEdge> = FxHashSet::default();
        let mut candidates = self.on_cycles();
        candidates.sort_by_key(|candidate| added.contains(candidate));
        while let Some(&closing) = candidates.iter().find(|closing| !needed.contains(closing)) {
            if budget.is_spent() {
                return;
            }
            if self.try_drop(closing, budget) {
                candidates = self.on_cycles();
                candidates.sort_by_key(|candidate| added.contains(candidate));
            } else {
                needed.insert(closing);
            }
        }
    }

    /// The moves that are on a cycle.
    fn on_cycles(&self) -> Vec<SourcedEdge> {
        let components = Saturated::components(&self.edges).of;
        let mut moves: Vec<SourcedEdge> = Vec::new();
        for (from, edges) in self.edges.iter().enumerate() {
            let inside = |edge: &&SaturatedEdge| components[from] == components[edge.to.index()];
            let edges = edges.iter().filter(inside);
            moves.extend(edges.map(|&edge| (Node(from as u32), edge)));
        }
        moves
    }

    /// Drops a move if nothing is lost.
    fn try_drop(&mut self, (from, edge): SourcedEdge, budget: &mut SubsetBudget) -> bool {
        let before = self.edges[from.index()].clone();
        self.edges[from.index()].retain(|&other| other != edge);
        let complete = self.is_complete(budget);
        if !complete {
            self.edges[from.index()] = before;
        }
        complete
    }

    fn is_complete(&self, budget: &mut SubsetBudget) -> bool {
        is_complete(
            self.bad_prefixes,
            &self.initial,
            &self.loops,
            &self.edges,
            budget,
        )
    }
}
