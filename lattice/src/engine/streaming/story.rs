//! How a node was reached: the events that moved the automaton, in order. Nodes share the beginnings of their stories.

use super::moves::Stage;

/// A story, by its last move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StoryId(u32);

impl StoryId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The last move of a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The event, by its number among those of the slice.
    pub(crate) event: u32,
    /// Where it led.
    pub(crate) to: Stage,
    pub(crate) before: Option<StoryId>,
}

/// All stories that some node still needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stories {
    turns: Vec<Turn>,
}

impl Stories {
    /// A story that goes on from another; `before` is where it begins.
    pub(crate) fn tell(&mut self, turn: Turn) -> StoryId {
        self.turns.push(turn);
        StoryId(self.turns.len() as u32 - 1)
    }

    pub(crate) fn turn(&self, id: StoryId) -> Turn {
        self.turns[id.index()]
    }

    /// The moves of a story from the first to the last.
    pub(crate) fn moves(&self, last: Option<StoryId>) -> Vec<Turn> {
        let mut moves = Vec::new();
        let mut next = last;
        while let Some(id) = next {
            let turn = self.turn(id);
            moves.push(turn);
            next = turn.before;
        }
        moves.reverse();
        moves
    }

    pub(crate) fn len(&self) -> usize {
        self.turns.len()
    }

    /// Keeps only what these stories need, and renames them.
    pub(crate) fn keep<'a>(&mut self, stories: impl Iterator<Item = &'a mut StoryId>) {
        let stories: Vec<&mut StoryId> = stories.collect();
        let mut needed = vec![false; self.turns.len()];
        for story in &stories {
            let mut next = Some(**story);
            while let Some(id) = next
                && !std::mem::replace(&mut needed[id.index()], true)
            {
                next = self.turn(id).before;
            }
        }
        let mut names = vec![StoryId(0); self.turns.len()];
        let mut kept = Vec::new();
        // What a story goes on from is older than the story.
        for (index, turn) in self
            .turns
            .iter()
            .enumerate()
            .filter(|(index, _)| needed[*index])
        {
            names[index] = StoryId(kept.len() as u32);
            let before = turn.before.map(|id| names[id.index()]);
            kept.push(Turn { before, ..*turn });
        }
        self.turns = kept;
        for story in stories {
            *story = names[story.index()];
        }
    }
}
