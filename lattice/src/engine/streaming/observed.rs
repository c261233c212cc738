//! Keeps the observed run, whatever else is dropped.
//!
//! An exact search always has a node that contains the cut of all events so far. Dropping nodes may lose that one too, and
//! eventually all others, since every node ends somewhere: a search without nodes is fast, and predicts nothing. So the stages
//! of the observed run are tracked separately. If no node is left that contains the cut of all events at one of them, a new one
//! is made that begins there.

use smallvec::SmallVec;

use super::{
    Bounds, By, Class, Moves, Role, Scratch, Stage, Streaming, Turn,
    history::NEVER,
    nodes::Node,
    story::{Stories, StoryId},
};

/// Stages, with the stories of how they were reached.
pub(super) type Stages = SmallVec<[(Stage, StoryId); 1]>;

/// The possible stages of the observed run, and how they were reached.
#[derive(Clone, Debug, Default)]
pub(super) struct ObservedRun {
    stages: Stages,
}

impl ObservedRun {
    /// A stage that it may begin at.
    pub(super) fn begin(&mut self, stage: Stage, story: StoryId) {
        self.stages.push((stage, story));
    }

    /// The next event, by its class and number.
    pub(super) fn step(
        &mut self,
        moves: &Moves,
        stories: &mut Stories,
        class: Class,
        number: u32,
        before: &mut Stages,
    ) {
        let is_known = |to: &Stage| self.stages.iter().any(|(known, _)| known == to);
        let stays = |stage| {
            let mut targets = moves.targets(stage, class).iter();
            moves.stays(stage, class) && targets.all(|to| *to == Stage::BAD || is_known(to))
        };
        if self.stages.iter().all(|&(stage, _)| stays(stage)) {
            return;
        }
        std::mem::swap(&mut self.stages, before);
        self.stages.clear();
        let staying = before
            .iter()
            .filter(|(stage, _)| moves.stays(*stage, class));
        self.stages.extend(staying.copied());
        for &(stage, story) in before.iter() {
            for &to in moves.targets(stage, class) {
                if to == Stage::BAD || self.stages.iter().any(|&(known, _)| known == to) {
                    continue;
                }
                let turn = Turn {
                    by: By::Event(number),
                    to,
                    before: Some(story),
                };
                self.stages.push((to, stories.tell(turn)));
            }
        }
    }

    pub(super) fn stages(&self) -> &[(Stage, StoryId)] {
        &self.stages
    }

    pub(super) fn put_stages(&mut self, stages: impl Iterator<Item = (Stage, StoryId)>) {
        self.stages.clear();
        self.stages.extend(stages);
    }

    pub(super) fn stories(&self) -> impl Iterator<Item = StoryId> + '_ {
        self.stages.iter().map(|&(_, story)| story)
    }

    pub(super) fn put_stories(&mut self, stories: &[StoryId]) {
        for ((_, story), &renamed) in self.stages.iter_mut().zip(stories) {
            *story = renamed;
        }
    }
}

impl Streaming {
    /// Makes nodes for the stages of the observed run if the nodes that contain it were dropped.
    pub(super) fn keep_observed(&mut self, moves: &Moves, bounds: &Bounds, scratch: &mut Scratch) {
        if self.omissions.nodes == 0 {
            return;
        }
        for place in 0..self.observed.stages.len() {
            let (stage, story) = self.observed.stages[place];
            if self.has_observed(moves, stage) {
                continue;
            }
            scratch.lowest.clear();
            let lasts = self.history.chains().map(|chain| self.history.last(chain));
            scratch.lowest.extend(lasts);
            let id = self.nodes.make(Node {
                stage,
                role: Role::Searched,
                expanded: true,
                by: None,
                parent: None,
                children: 0,
                story,
                born: self.events,
            });
            self.nodes.ends_mut(id).fill(NEVER);
            self.round(moves, bounds, id, &scratch.lowest);
            self.nodes.add(id, moves);
            self.made += 1;
        }
    }

    /// Whether some searched node contains the cut of all events and can do everything that this stage can.
    fn has_observed(&self, moves: &Moves, stage: Stage) -> bool {
        let able = (0..moves.stages() as u32).map(Stage);
        let mut able = able.filter(|&other| moves.simulates(other, stage));
        able.any(|other| {
            self.nodes.at_stage(other).any(|id| {
                self.nodes.get(id).role == Role::Searched
                    && self.nodes.ends(id).iter().all(|&end| end == NEVER)
            })
        })
    }
}
