//! How a node was reached: the events that moved the automaton, in order. Nodes share the beginnings of their stories.

use rustc_hash::FxHashMap;

use super::moves::Stage;

portent_monitor_core::ids! {
    /// A story, by its last turn.
    pub(crate) struct StoryId(u32);
}

/// Why an automaton is at a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The story begins there: at the empty cut, or where earlier moves led that nobody remembers.
    Origin(u32),
    /// An event has moved it, which has this number among those of the slice.
    Event(u32),
}

/// A turn of a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) by: By,
    /// Where the automaton is then.
    pub(crate) to: Stage,
    pub(crate) before: Option<StoryId>,
}

/// All stories that some node still needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stories {
    turns: Vec<Turn>,
}

impl Stories {
    /// A story that goes on from another, or begins.
    pub(crate) fn tell(&mut self, turn: Turn) -> StoryId {
        self.turns.push(turn);
        StoryId(self.turns.len() as u32 - 1)
    }

    pub(crate) fn turn(&self, id: StoryId) -> Turn {
        self.turns[id.index()]
    }

    /// The turns of a story from the first to the last.
    pub(crate) fn turns(&self, last: StoryId) -> Vec<Turn> {
        let mut turns = Vec::new();
        let mut next = Some(last);
        while let Some(id) = next {
            let turn = self.turn(id);
            turns.push(turn);
            next = turn.before;
        }
        turns.reverse();
        turns
    }

    /// Forgets the moves by events before `number`: stories begin at the origins that `origin` gives for their forgotten parts.
    pub(crate) fn forget<'a>(
        &mut self,
        number: u32,
        stories: impl Iterator<Item = &'a mut StoryId>,
        mut origin: impl FnMut(&[Turn]) -> u32,
    ) {
        let mut kept = Stories::default();
        let mut names: FxHashMap<StoryId, StoryId> = FxHashMap::default();
        for story in stories {
            // From the end to where the forgotten part ends, and back.
            let mut rest = Vec::new();
            let mut id = *story;
            let mut name = loop {
                if let Some(&name) = names.get(&id) {
                    break name;
                }
                let turn = self.turn(id);
                let before = turn
                    .before
                    .filter(|_| !matches!(turn.by, By::Event(n) if n < number));
                let Some(before) = before else {
                    let by = By::Origin(origin(&self.turns(id)));
                    let name = kept.tell(Turn {
                        by,
                        to: turn.to,
                        before: None,
                    });
                    names.insert(id, name);
                    break name;
                };
                rest.push(id);
                id = before;
            };
            for id in rest.into_iter().rev() {
                name = kept.tell(Turn {
                    before: Some(name),
                    ..self.turn(id)
                });
                names.insert(id, name);
            }
            *story = name;
        }
        *self = kept;
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
