//! The effect of an arriving event on the nodes that are open on its chain.

use portent_monitor_core::ChainId;

use super::{
    Bounds, By, Class, Moves, Role, Scratch, Stage, Streaming, Turn,
    history::{EventPosition, NEVER},
    nodes::NodeId,
};

impl Streaming {
    /// Takes the next event; returns the story of a run violated by it, if there is one.
    pub(crate) fn arrive(
        &mut self,
        moves: &Moves,
        bounds: &Bounds,
        scratch: &mut Scratch,
        chain: ChainId,
        class: Class,
        clock: &[u32],
    ) -> Option<Vec<Turn>> {
        self.widen(clock.len().max(chain.index() + 1), moves);
        scratch.clock.clear();
        scratch.clock.extend_from_slice(clock);
        scratch.clock.resize(self.history.width(), 0);
        let mut late = false;
        for (other, count) in self.history.chains().zip(&mut scratch.clock) {
            // Settled events are in its past, unless its thread was unknown so far.
            let least = self.floor[other.index()].max(self.history.gone(other));
            late |= *count < least;
            *count = (*count).max(least);
        }
        self.omissions.late += u64::from(late);
        scratch.news.clear();
        let clocks = self.history.last_clock(chain).iter().zip(&scratch.clock);
        let news = self.history.chains().zip(clocks);
        scratch.news.extend(
            news.filter(|(other, (known, now))| *other != chain && now > known)
                .map(|(other, (_, now))| (other, *now)),
        );
        let number = self.events;
        self.events += 1;
        let event = self.history.push(chain, class, &scratch.clock, number);
        let before = &mut scratch.stages;
        self.observed
            .step(moves, &mut self.stories, class, number, before);
        debug_assert_eq!(scratch.clock[chain.index()], event.place, "counts itself");
        self.meet(moves, scratch, event, class);
        let found = self.move_on(moves, bounds, scratch, event);
        self.nodes.let_go_dropped();
        self.keep_observed(moves, bounds, scratch);
        found
    }

    /// Offers the event to every node that is open on its chain.
    fn meet(&mut self, moves: &Moves, scratch: &mut Scratch, event: EventPosition, class: Class) {
        scratch.moved.clear();
        let chain = event.chain;
        for rank in 0..moves.ranks() {
            if self.nodes.is_open_empty(chain, rank, moves) {
                continue;
            }
            if let Some(stage) = moves.alone(rank)
                && scratch.news.is_empty()
                && moves.stays(stage, class)
                && moves.targets(stage, class).is_empty()
            {
                // The event is inside all of them, and nothing else changes.
                continue;
            }
            let mut open = self.nodes.take_open(chain, rank, moves);
            open.retain(|id| self.look(moves, scratch, event, class, *id));
            self.nodes.put_open(chain, rank, moves, open);
        }
    }

    /// Whether the event is inside of a node, and the node therefore still open on its chain.
    fn look(
        &mut self,
        moves: &Moves,
        scratch: &mut Scratch,
        event: EventPosition,
        class: Class,
        id: NodeId,
    ) -> bool {
        let node = self.nodes.get(id);
        if node.role == Role::Gone {
            return false;
        }
        let ends = self.nodes.ends(id);
        let enabled = { scratch.news.iter() }.all(|&(other, count)| count < ends[other.index()]);
        if enabled && node.role == Role::Searched {
            let targets = moves.targets(node.stage, class).iter();
            scratch.moved.extend(targets.map(|&to| (id, to)));
        }
        let was_inside = || {
            let (Some(by), Some(parent)) = (node.by, node.parent) else {
                return false;
            };
            // The parent has already seen the event: if the parent is still open, the event is inside it.
            scratch.clock[by.chain.index()] < by.place && self.is_open(parent, event.chain)
        };
        let inside = enabled && (moves.stays(node.stage, class) || was_inside());
        if !inside {
            self.nodes.ends_mut(id)[event.chain.index()] = event.place;
        }
        debug_assert!(!inside || self.nodes.ends(id)[event.chain.index()] == NEVER);
        inside
    }

    /// Makes the nodes that the event leads to, and those that older events lead to from there.
    fn move_on(
        &mut self,
        moves: &Moves,
        bounds: &Bounds,
        scratch: &mut Scratch,
        event: EventPosition,
    ) -> Option<Vec<Turn>> {
        scratch.fresh.clear();
        let mut moved = std::mem::take(&mut scratch.moved);
        let bad = moved.iter().find(|(_, to)| *to == Stage::BAD);
        let found = bad.map(|&(id, to)| self.tell(id, event, to));
        if found.is_none() {
            if moved.len() > self.most_new(bounds) {
                moved.sort_by_cached_key(|&(id, _)| self.promise(id));
            }
            for &(id, to) in &moved {
                if scratch.fresh.len() >= self.most_new(bounds) {
                    self.omissions.nodes += 1;
                    continue;
                }
                self.child(moves, bounds, scratch, id, event, to);
            }
        }
        moved.clear();
        scratch.moved = moved;
        found.or_else(|| self.expand_all(moves, bounds, scratch))
    }

    /// The story of a node extended by one more move.
    pub(super) fn tell(&self, id: NodeId, by: EventPosition, to: Stage) -> Vec<Turn> {
        let story = self.nodes.get(id).story;
        let mut turns = self.stories.turns(story);
        turns.push(Turn {
            by: By::Event(self.history.number(by)),
            to,
            before: Some(story),
        });
        turns
    }
}
