//! How a node was reached: the events that moved the automaton, in order. Stories of different nodes share their beginnings.

use rustc_hash::FxHashMap;

use super::moves::Stage;

portent_monitor_core::ids! {
    /// A story, named by its last turn.
    pub(crate) struct StoryId(pub(super) u32);
}

/// How an automaton reached a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The story begins there: at the empty cut, or where forgotten earlier moves led.
    Origin(u32),
    /// The event with this number in the slice has moved it.
    Event(u32),
}

/// A turn of a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) by: By,
    /// The stage after it.
    pub(crate) to: Stage,
    pub(crate) before: Option<StoryId>,
}

/// All stories that some node still needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stories {
    pub(super) turns: Vec<Turn>,
}

/// Memory for [`Stories::forget`].
#[derive(Clone, Debug, Default)]
pub(super) struct Forgetting {
    kept: Stories,
    /// The new names of the stories kept.
    names: FxHashMap<StoryId, StoryId>,
    /// The end of a story.
    rest: Vec<StoryId>,
    /// A story.
    turns: Vec<Turn>,
}

impl Stories {
    /// A story that continues another, or begins.
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
        self.read(last, &mut turns);
        turns
    }

    fn read(&self, last: StoryId, turns: &mut Vec<Turn>) {
        turns.clear();
        let mut next = Some(last);
        while let Some(id) = next {
            let turn = self.turn(id);
            turns.push(turn);
            next = turn.before;
        }
        turns.reverse();
    }

    /// Forgets the moves by events before `number`: stories begin at the origins that `origin` gives for their forgotten parts.
    pub(crate) fn forget(
        &mut self,
        number: u32,
        stories: &mut [StoryId],
        memory: &mut Forgetting,
        mut origin: impl FnMut(&[Turn]) -> u32,
    ) {
        let Forgetting {
            kept,
            names,
            rest,
            turns,
        } = memory;
        kept.turns.clear();
        names.clear();
        for story in stories {
            // From the end to where the forgotten part ends, and back.
            rest.clear();
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
                    self.read(id, turns);
                    let by = By::Origin(origin(turns));
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
            for &id in rest.iter().rev() {
                name = kept.tell(Turn {
                    before: Some(name),
                    ..self.turn(id)
                });
                names.insert(id, name);
            }
            *story = name;
        }
        self.turns.clear();
        self.turns.extend_from_slice(&kept.turns);
    }

    /// Keeps only what these stories need, and renames them.
    pub(crate) fn keep(&mut self, stories: &mut [StoryId], names: &mut Vec<StoryId>) {
        const FORGOTTEN: StoryId = StoryId(u32::MAX);
        const NEEDED: StoryId = StoryId(u32::MAX - 1);
        names.clear();
        names.resize(self.turns.len(), FORGOTTEN);
        for story in stories.iter() {
            let mut next = Some(*story);
            while let Some(id) = next
                && names[id.index()] == FORGOTTEN
            {
                names[id.index()] = NEEDED;
                next = self.turn(id).before;
            }
        }
        let mut kept = 0;
        // A story is younger than the one that it continues.
        for index in 0..self.turns.len() {
            if names[index] == FORGOTTEN {
                continue;
            }
            let turn = self.turns[index];
            let before = turn.before.map(|id| names[id.index()]);
            self.turns[kept] = Turn { before, ..turn };
            names[index] = StoryId(kept as u32);
            kept += 1;
        }
        self.turns.truncate(kept);
        for story in stories {
            *story = names[story.index()];
        }
    }
}
