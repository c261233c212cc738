//! The automaton as a stream of events sees it: the actions that each stage stays on, its moves, and which stages can do as
//! much as others.
//!
//! A *stage* is a state of a nondeterministic automaton for the bad prefixes. On a class of actions it may stay, move, or both; a
//! path to [`Stage::BAD`] is a violation. This data is computed once for a property and serves all its bindings.

use portent_monitor_dsl::shape::{ActionClass, Node, Saturated};
use smallvec::SmallVec;

/// A state of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Stage(pub(crate) u32);

impl Stage {
    /// Violated.
    pub(crate) const BAD: Stage = Stage(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A class of actions that no stage distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Class(pub(crate) u32);

impl Class {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassSet(SmallVec<[u64; 1]>);

impl ClassSet {
    pub(crate) fn has(&self, class: Class) -> bool {
        let word = self.0.get(class.index() / 64);
        word.is_some_and(|word| word >> (class.index() % 64) & 1 == 1)
    }

    pub(crate) fn insert(&mut self, class: Class) {
        let word = class.index() / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (class.index() % 64);
    }

    pub(crate) fn add(&mut self, other: &ClassSet) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    pub(crate) fn is_within(&self, other: &ClassSet) -> bool {
        let words = self.0.iter().enumerate();
        let mut words = words.map(|(place, word)| (word, other.0.get(place).copied().unwrap_or(0)));
        words.all(|(word, allowed)| word & !allowed == 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
}

/// One possible move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) from: Stage,
    pub(crate) class: Class,
    pub(crate) to: Stage,
}

/// A nondeterministic automaton for the bad prefixes.
#[derive(Clone, Debug)]
pub(crate) struct Moves {
    classes: usize,
    initial: Vec<Stage>,
    /// The classes that each stage may stay on.
    loops: Vec<ClassSet>,
    /// Whether each stage stays on all classes.
    loops_all: Vec<bool>,
    /// The targets of stage `s` on class `c`: from `starts[s * classes + c]` to the next start.
    targets: Vec<Stage>,
    starts: Vec<u32>,
    /// For each stage, the classes on which any stage moves that is reached from it by at least one move.
    later: Vec<ClassSet>,
    /// The same, together with the classes that it moves on itself.
    moving_or_later: Vec<ClassSet>,
    /// Stages on a common cycle have the same rank; moves lead to the same or to a higher one.
    ranks: Vec<u32>,
    /// The only stage of each rank, if there is only one.
    alone: Vec<Option<Stage>>,
    /// Whether stage `s` can do everything that stage `r` can, at `s * stages + r`, and stays on all classes that it stays on.
    simulates: Vec<bool>,
}

/// With more stages than this, only equal ones are compared.
const MAX_SIMULATED: usize = 128;

impl Moves {
    /// An automaton with this many stages and classes; stage 0 is the bad one. Moves to stages that can no longer be violated
    /// are left out.
    pub(crate) fn new(
        stages: usize,
        classes: usize,
        initial: &[Stage],
        stays: impl Fn(Stage, Class) -> bool,
        moves: &[Move],
    ) -> Moves {
        let stages = stages.max(1);
        let can_violate = reaching(stages, moves);
        let mut moves: Vec<Move> = moves
            .iter()
            .copied()
            .filter(|m| m.from != Stage::BAD && m.from != m.to && can_violate[m.to.index()])
            .collect();
        moves.sort_unstable_by_key(|m| (m.from, m.class, m.to));
        moves.dedup();
        let all = |class: usize| Class(class as u32);
        let loops: Vec<ClassSet> = (0..stages)
            .map(|stage| {
                let mut set = ClassSet::default();
                for class in (0..classes).map(all) {
                    if stage == 0 || stays(Stage(stage as u32), class) {
                        set.insert(class);
                    }
                }
                set
            })
            .collect();
        let mut moving = vec![ClassSet::default(); stages];
        let mut starts = vec![0; stages * classes + 1];
        for m in &moves {
            moving[m.from.index()].insert(m.class);
            starts[m.from.index() * classes + m.class.index() + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let reached = reached(stages, &moves);
        let later: Vec<ClassSet> = (0..stages)
            .map(|from| {
                let mut later = ClassSet::default();
                for (to, set) in moving.iter().enumerate() {
                    if reached[from * stages + to] {
                        later.add(set);
                    }
                }
                later
            })
            .collect();
        let moving_or_later = { later.iter().zip(&moving) }
            .map(|(later, moving)| {
                let mut both = later.clone();
                both.add(moving);
                both
            })
            .collect();
        let (ranks, alone) = ranks(stages, &reached);
        let loops_all = { loops.iter() }
            .map(|set| (0..classes).map(all).all(|class| set.has(class)))
            .collect();
        let mut automaton = Moves {
            classes,
            initial: { initial.iter().copied() }
                .filter(|stage| can_violate[stage.index()])
                .collect(),
            loops,
            loops_all,
            targets: moves.iter().map(|m| m.to).collect(),
            starts,
            later,
            moving_or_later,
            ranks,
            alone,
            simulates: Vec::new(),
        };
        automaton.simulates = automaton.simulation(stages, &moves);
        automaton
    }

    /// The automaton of a property, with as many self-loops as possible.
    pub(crate) fn of_saturated(saturated: &Saturated) -> Moves {
        let node = |stage: Stage| Node(stage.0);
        let moves: Vec<Move> = (0..saturated.nodes() as u32)
            .flat_map(|from| {
                let edges = saturated.edges(Node(from)).iter();
                edges.map(move |edge| Move {
                    from: Stage(from),
                    class: Class(edge.class.0),
                    to: Stage(edge.to.0),
                })
            })
            .collect();
        let initial: Vec<Stage> = saturated.initial(0).iter().map(|n| Stage(n.0)).collect();
        Moves::new(
            saturated.nodes(),
            saturated.classes(),
            &initial,
            |stage, class| saturated.loops(node(stage), ActionClass(class.0)),
            &moves,
        )
    }

    pub(crate) fn stages(&self) -> usize {
        self.loops.len()
    }

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// The initial stages.
    pub(crate) fn initial(&self) -> &[Stage] {
        &self.initial
    }

    pub(crate) fn stays(&self, stage: Stage, class: Class) -> bool {
        self.loops[stage.index()].has(class)
    }

    pub(crate) fn loops(&self, stage: Stage) -> &ClassSet {
        &self.loops[stage.index()]
    }

    pub(crate) fn loops_on_all(&self, stage: Stage) -> bool {
        self.loops_all[stage.index()]
    }

    pub(crate) fn targets(&self, stage: Stage, class: Class) -> &[Stage] {
        let place = stage.index() * self.classes + class.index();
        &self.targets[self.starts[place] as usize..self.starts[place + 1] as usize]
    }

    pub(crate) fn later(&self, stage: Stage) -> &ClassSet {
        &self.later[stage.index()]
    }

    pub(crate) fn moving_or_later(&self, stage: Stage) -> &ClassSet {
        &self.moving_or_later[stage.index()]
    }

    pub(crate) fn rank(&self, stage: Stage) -> usize {
        self.ranks[stage.index()] as usize
    }

    /// The number of ranks.
    pub(crate) fn ranks(&self) -> usize {
        self.alone.len()
    }

    /// The stage of a rank, if there is only one.
    pub(crate) fn alone(&self, rank: usize) -> Option<Stage> {
        self.alone[rank]
    }

    /// Whether self-loops are the only cycles.
    pub(crate) fn is_chain(&self) -> bool {
        self.alone.iter().all(Option::is_some)
    }

    /// Whether `larger` answers every move of `smaller`, by a move or by staying, and stays on everything that `smaller` stays
    /// on.
    pub(crate) fn simulates(&self, larger: Stage, smaller: Stage) -> bool {
        self.simulates[larger.index() * self.stages() + smaller.index()]
    }

    /// The greatest such relation, computed by removing pairs until nothing changes.
    fn simulation(&self, stages: usize, moves: &[Move]) -> Vec<bool> {
        let mut simulates: Vec<bool> = (0..stages * stages)
            .map(|pair| {
                let (larger, smaller) = (pair / stages, pair % stages);
                larger == smaller
                    || (stages <= MAX_SIMULATED
                        && smaller != 0
                        && self.loops[smaller].is_within(&self.loops[larger]))
            })
            .collect();
        if stages > MAX_SIMULATED {
            return simulates;
        }
        loop {
            let mut changed = false;
            for m in moves {
                for larger in (0..stages).filter(|&larger| larger != m.from.index()) {
                    let pair = larger * stages + m.from.index();
                    if !simulates[pair] {
                        continue;
                    }
                    let answers = |to: usize| simulates[to * stages + m.to.index()];
                    let larger = Stage(larger as u32);
                    let stays = self.stays(larger, m.class) && answers(larger.index());
                    let mut targets = self.targets(larger, m.class).iter();
                    if !stays && !targets.any(|to| answers(to.index())) {
                        simulates[pair] = false;
                        changed = true;
                    }
                }
            }
            if !changed {
                return simulates;
            }
        }
    }
}

/// The stages from which the bad one can be reached.
fn reaching(stages: usize, moves: &[Move]) -> Vec<bool> {
    let mut can = vec![false; stages];
    can[Stage::BAD.index()] = true;
    loop {
        let mut changed = false;
        for m in moves {
            if can[m.to.index()] && !can[m.from.index()] {
                can[m.from.index()] = true;
                changed = true;
            }
        }
        if !changed {
            return can;
        }
    }
}

/// Whether stage `t` is reached from `s` by at least one move, at `s * stages + t`.
fn reached(stages: usize, moves: &[Move]) -> Vec<bool> {
    let mut after = vec![Vec::new(); stages];
    for m in moves {
        after[m.from.index()].push(m.to.index());
    }
    let mut reached = vec![false; stages * stages];
    for from in 0..stages {
        let row = &mut reached[from * stages..][..stages];
        let mut open = vec![from];
        while let Some(stage) = open.pop() {
            for &to in &after[stage] {
                if !std::mem::replace(&mut row[to], true) {
                    open.push(to);
                }
            }
        }
    }
    reached
}

/// The rank of each stage, and the stages that are alone in theirs. A stage reached from one that is on no cycle with it
/// reaches strictly less.
fn ranks(stages: usize, reached: &[bool]) -> (Vec<u32>, Vec<Option<Stage>>) {
    let together =
        |a: usize, b: usize| a == b || (reached[a * stages + b] && reached[b * stages + a]);
    let first = |stage: usize| {
        (0..stages)
            .find(|&other| together(other, stage))
            .unwrap_or(stage)
    };
    let reach = |stage: usize| {
        (0..stages)
            .filter(|&to| to == stage || reached[stage * stages + to])
            .count()
    };
    let mut order: Vec<(usize, usize)> = (0..stages).map(|s| (reach(s), first(s))).collect();
    let keys = order.clone();
    order.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    order.dedup();
    let rank = |key: &(usize, usize)| order.iter().position(|other| other == key).unwrap_or(0);
    let ranks: Vec<u32> = keys.iter().map(|key| rank(key) as u32).collect();
    let alone = (0..order.len())
        .map(|rank| {
            let mut members = (0..stages).filter(|&stage| ranks[stage] as usize == rank);
            let only = members.next()?;
            members.next().is_none().then_some(Stage(only as u32))
        })
        .collect();
    (ranks, alone)
}
