//! New nodes: the interval after a move, and its moves by events that arrived earlier.

use portent_monitor_core::ChainId;

use super::{
    Bounds, By, Class, Moves, Role, Scratch, Stage, Streaming, Turn,
    history::{EventPosition, NEVER},
    nodes::{Node, NodeId},
};

impl Streaming {
    /// Makes the node after a move, unless another one makes it superfluous.
    ///
    /// The lowest cut gains the past of the event. Let h be the part of the parent's inside that does not come after the event,
    /// with the event. On each chain, the first event outside h that the new stage does not stay on is outside, and so are all
    /// later events of the chain.
    pub(super) fn child(
        &mut self,
        moves: &Moves,
        bounds: &Bounds,
        scratch: &mut Scratch,
        parent: NodeId,
        by: EventPosition,
        to: Stage,
    ) {
        let width = self.history.width();
        scratch.ends.clear();
        scratch.ends.resize(width, NEVER);
        let loops = moves.loops(to);
        if !moves.loops_on_all(to) {
            let (parent_ends, after) = (self.nodes.ends(parent), self.history.firsts_after(by));
            for chain in self.history.chains() {
                // The event itself is inside, even if it ended the parent.
                let end = if chain == by.chain {
                    by.place + 1
                } else {
                    parent_ends[chain.index()].min(after[chain.index()])
                };
                if end == NEVER {
                    continue;
                }
                let place = self.history.first_outside(chain, end, loops);
                if place == NEVER {
                    continue;
                }
                let blocker = EventPosition { chain, place };
                let after = self.history.firsts_after(blocker);
                for (end, &after) in scratch.ends.iter_mut().zip(after) {
                    *end = after.min(*end);
                }
            }
        }
        scratch.lowest.clear();
        let cause = self.history.clock(by).iter();
        let lowest = self.nodes.lowest(parent).iter().zip(cause);
        scratch.lowest.extend(lowest.map(|(a, b)| a.max(b)));
        // Computed only if the node is needed.
        let story = self.nodes.get(parent).story;
        let id = self.nodes.make(Node {
            stage: to,
            role: Role::Searched,
            expanded: false,
            by: Some(by),
            parent: Some(parent),
            children: 0,
            story,
            born: self.events,
        });
        self.nodes.ends_mut(id).copy_from_slice(&scratch.ends);
        self.round(moves, bounds, id, &scratch.lowest);
        if bounds.pruning.cover && self.is_superfluous(moves, id) {
            self.nodes.unmake(id);
            return;
        }
        let by = By::Event(self.history.number(by));
        let before = Some(story);
        self.nodes.get_mut(id).story = self.stories.tell(Turn { by, to, before });
        self.nodes.add(id, moves);
        self.made += 1;
        scratch.fresh.push(id);
    }

    /// Refines the lowest cut of a node as far as it matters. It matters for moves by older events: before the node is expanded
    /// for its own, later only for those after another move.
    pub(super) fn round(&mut self, moves: &Moves, bounds: &Bounds, id: NodeId, lowest: &[u32]) {
        let stage = self.nodes.get(id).stage;
        let history = &self.history;
        let (exact, coarse) = self.nodes.lowest_mut(id).split_at_mut(lowest.len());
        if !bounds.pruning.rounding {
            exact.copy_from_slice(lowest);
            coarse.copy_from_slice(lowest);
            return;
        }
        let round = |into: &mut [u32], classes| {
            for (chain, (rounded, &place)) in history.chains().zip(into.iter_mut().zip(lowest)) {
                *rounded = history.last_of(chain, place, classes);
            }
        };
        round(exact, moves.moving_or_later(stage));
        round(coarse, moves.later(stage));
    }

    /// Expands all new nodes, and those made in the process.
    pub(super) fn expand_all(
        &mut self,
        moves: &Moves,
        bounds: &Bounds,
        scratch: &mut Scratch,
    ) -> Option<Vec<Turn>> {
        let mut done = 0;
        while let Some(&id) = scratch.fresh.get(done) {
            done += 1;
            if self.nodes.get(id).role == Role::Searched {
                let found = self.expand(moves, bounds, scratch, id);
                if found.is_some() {
                    return found;
                }
            }
            self.nodes.get_mut(id).expanded = true;
        }
        None
    }

    fn expand(
        &mut self,
        moves: &Moves,
        bounds: &Bounds,
        scratch: &mut Scratch,
        id: NodeId,
    ) -> Option<Vec<Turn>> {
        let stage = self.nodes.get(id).stage;
        for class in (0..moves.classes() as u32).map(Class) {
            if moves.targets(stage, class).is_empty() {
                continue;
            }
            for chain in self.history.chains() {
                let (first, end) = self.candidates(id, chain, class);
                if first >= end {
                    continue;
                }
                for &to in moves.targets(stage, class) {
                    if to == Stage::BAD {
                        let place = self.history.places(chain, class)[first];
                        let by = EventPosition { chain, place };
                        return Some(self.tell(id, by, to));
                    }
                    self.step_by(moves, bounds, scratch, id, (chain, class), first..end, to);
                }
            }
        }
        None
    }

    /// Which of the arrived events of a chain and class can come next: those not in the lowest cut whose past is
    /// inside. As pasts grow along a chain, they are contiguous in the list of that class.
    fn candidates(&self, id: NodeId, chain: ChainId, class: Class) -> (usize, usize) {
        let places = self.history.places(chain, class);
        let (lowest, ends) = (self.nodes.lowest(id), self.nodes.ends(id));
        let first = match places.last() {
            Some(&last) if last > lowest[chain.index()] => {
                places.partition_point(|&place| place <= lowest[chain.index()])
            }
            _ => return (0, 0),
        };
        if ends.iter().all(|&end| end == NEVER) {
            return (first, places.len());
        }
        let is_enabled = |place: u32| {
            let clock = self.history.clock(EventPosition { chain, place });
            let mut past = self.history.chains().zip(clock.iter().zip(ends));
            place <= ends[chain.index()]
                && past.all(|(other, (count, end))| other == chain || count < end)
        };
        let end = first + places[first..].partition_point(|&place| is_enabled(place));
        (first, end)
    }

    /// Makes the nodes after a move by one of some events of a chain and class.
    ///
    /// The interval after a later event permanently ends later, but its lowest cut may contain more. So of those whose lowest
    /// cuts do not differ as far as that matters, the last suffices; or the first, if no chain ends anyway.
    #[allow(clippy::too_many_arguments)]
    fn step_by(
        &mut self,
        moves: &Moves,
        bounds: &Bounds,
        scratch: &mut Scratch,
        id: NodeId,
        (chain, class): (ChainId, Class),
        candidates: std::ops::Range<usize>,
        to: Stage,
    ) {
        let spot = |search: &Streaming, candidate: usize| EventPosition {
            chain,
            place: search.history.places(chain, class)[candidate],
        };
        let rules = bounds.pruning;
        if rules.candidates && moves.loops_on_all(to) {
            let by = spot(self, candidates.start);
            return self.child_if_room(moves, bounds, scratch, id, by, to);
        }
        let mut end = candidates.end;
        while end > candidates.start {
            let last = end - 1;
            let by = spot(self, last);
            end = last;
            if rules.candidates && rules.rounding {
                let agrees =
                    |candidate: usize| self.lowest_agree(moves, id, to, spot(self, candidate), by);
                end = first_that(candidates.start..last, agrees);
            }
            self.child_if_room(moves, bounds, scratch, id, by, to);
        }
    }

    /// Whether two moves of a node lead to lowest cuts that do not relevantly differ.
    fn lowest_agree(
        &self,
        moves: &Moves,
        id: NodeId,
        to: Stage,
        first: EventPosition,
        last: EventPosition,
    ) -> bool {
        let classes = moves.moving_or_later(to);
        let lowest = self.nodes.lowest(id);
        let (first, last) = (self.history.clock(first), self.history.clock(last));
        self.history.chains().all(|chain| {
            let least = lowest[chain.index()];
            let (a, b) = (
                first[chain.index()].max(least),
                last[chain.index()].max(least),
            );
            // Nothing between the two matters.
            a == b || self.history.last_of(chain, b, classes) <= a
        })
    }

    fn child_if_room(
        &mut self,
        moves: &Moves,
        bounds: &Bounds,
        scratch: &mut Scratch,
        id: NodeId,
        by: EventPosition,
        to: Stage,
    ) {
        if scratch.fresh.len() >= self.most_new(bounds) {
            self.omissions.nodes += 1;
            return;
        }
        self.child(moves, bounds, scratch, id, by, to);
    }
}

/// The first number of a range from which on all satisfy a condition, assuming that those that do come last.
fn first_that(range: std::ops::Range<usize>, condition: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = (low + high) / 2;
        if condition(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
