//! Saturation keeps the language: compared with the table itself on all short words, and on all
//! words by walking both automata together. And what class well-known properties have.

mod minimize;
mod product;

use portent_monitor_dsl::{
    Config, EngineClass, Property, Verdict,
    automaton::{ActionId, Automaton, StateIndex},
    shape::{BadPrefixes, Inclusion, Node, Saturated},
};
use portent_testing::Rng;
use std::collections::{BTreeSet, HashSet};

/// A table as the test sees it.
struct Table {
    actions: usize,
    next: Vec<u32>,
    verdicts: Vec<Verdict>,
}

impl Table {
    fn random(seed: u64) -> Table {
        let mut rng = Rng::new(seed);
        let states = 2 + rng.below(6);
        let actions = 1 + rng.below(4);
        let mut verdicts = vec![Verdict::Ok; states];
        verdicts[states - 1] = Verdict::Violated;
        if states > 3 && rng.below(3) == 0 {
            verdicts[states - 2] = Verdict::Satisfied;
        }
        // Monitors mostly stay where they are.
        let staying = rng.below(3);
        let mut next = Vec::new();
        for (state, verdict) in verdicts.iter().enumerate() {
            for _ in 0..actions {
                let stays = verdict.is_final() || rng.below(4) < staying;
                let any = rng.below(states);
                next.push(if stays { state } else { any } as u32);
            }
        }
        Table {
            actions,
            next,
            verdicts,
        }
    }

    fn step(&self, state: u32, action: usize) -> u32 {
        self.next[state as usize * self.actions + action]
    }

    fn is_bad(&self, state: u32) -> bool {
        self.verdicts[state as usize] == Verdict::Violated
    }

    fn saturated(&self) -> (BadPrefixes, Saturated) {
        let automaton = Automaton {
            initial: StateIndex(0),
            actions: self.actions,
            next: self.next.iter().copied().map(StateIndex).collect(),
            verdicts: self.verdicts.clone(),
        };
        let bad_prefixes = BadPrefixes::new(&automaton).unwrap();
        let saturated = Saturated::new(&bad_prefixes).unwrap();
        (bad_prefixes, saturated)
    }

    /// Walks the table and the subsets of the other automaton together, along every word.
    fn assert_same_language(&self, saturated: &Saturated, what: &str) {
        let initial: BTreeSet<Node> = saturated.initial(0).iter().copied().collect();
        let mut seen = HashSet::from([(0, initial.clone())]);
        let mut stack = vec![(0, initial)];
        while let Some((state, subset)) = stack.pop() {
            let accepts = subset.contains(&Node::BAD);
            assert_eq!(self.is_bad(state), accepts, "{what}: {state} {subset:?}");
            for action in 0..self.actions {
                let next = step(saturated, &subset, ActionId(action as u32));
                let pair = (self.step(state, action), next);
                if seen.insert(pair.clone()) {
                    stack.push(pair);
                }
            }
        }
    }

    fn assert_same_words(&self, saturated: &Saturated, length: usize, what: &str) {
        let mut words: Vec<(u32, Vec<ActionId>)> = vec![(0, Vec::new())];
        while let Some((state, word)) = words.pop() {
            let accepts = saturated.after(0, &word).contains(&Node::BAD);
            assert_eq!(self.is_bad(state), accepts, "{what}: {word:?}");
            if word.len() < length {
                for action in 0..self.actions {
                    let mut longer = word.clone();
                    longer.push(ActionId(action as u32));
                    words.push((self.step(state, action), longer));
                }
            }
        }
    }
}

/// The subset construction.
fn step(saturated: &Saturated, subset: &BTreeSet<Node>, action: ActionId) -> BTreeSet<Node> {
    let class = saturated.class_of(action);
    let mut next = BTreeSet::new();
    for &node in subset {
        if saturated.loops(node, class) {
            next.insert(node);
        }
        let edges = saturated.edges(node).iter();
        next.extend(edges.filter(|edge| edge.class == class).map(|edge| edge.to));
    }
    next
}

#[test]
fn saturation_keeps_the_language() {
    let mut chains = 0;
    for seed in 0..20_000 {
        let table = Table::random(seed);
        let (_, saturated) = table.saturated();
        table.assert_same_language(&saturated, &format!("seed {seed}"));
        chains += usize::from(saturated.is_chain());
    }
    // The suite would be worth little if it met only one of the two.
    assert!((2_000..18_000).contains(&chains), "{chains} chains");
}

#[test]
fn saturation_keeps_all_short_words() {
    for seed in 20_000..25_000 {
        let table = Table::random(seed);
        let length = if table.actions < 4 { 7 } else { 6 };
        let (_, saturated) = table.saturated();
        table.assert_same_words(&saturated, length, &format!("seed {seed}"));
    }
}

#[test]
fn chains_have_no_cycle_but_loops() {
    for seed in 0..5_000 {
        let (_, saturated) = Table::random(seed).saturated();
        let mut left = BTreeSet::new();
        // Takes away nodes all of whose edges lead to nodes that are gone.
        while let Some(node) = (0..saturated.nodes() as u32).map(Node).find(|node| {
            !left.contains(node)
                && saturated
                    .edges(*node)
                    .iter()
                    .all(|edge| left.contains(&edge.to))
        }) {
            left.insert(node);
        }
        assert_eq!(
            left.len() == saturated.nodes(),
            saturated.is_chain(),
            "seed {seed}"
        );
    }
}

/// Whether every word that leads the first to bad leads the second there.
fn is_included<T: Clone + Eq + std::hash::Hash>(
    pair: (T, T),
    actions: usize,
    step: impl Fn(&T, ActionId) -> T,
    is_bad: impl Fn(&T) -> bool,
) -> bool {
    let mut seen = HashSet::from([pair.clone()]);
    let mut stack = vec![pair];
    while let Some((n, m)) = stack.pop() {
        if is_bad(&n) && !is_bad(&m) {
            return false;
        }
        for action in (0..actions as u32).map(ActionId) {
            let pair = (step(&n, action), step(&m, action));
            if seen.insert(pair.clone()) {
                stack.push(pair);
            }
        }
    }
    true
}

#[test]
fn inclusion_agrees_with_words() {
    for seed in 0..2_000 {
        let table = Table::random(seed);
        let (bad_prefixes, _) = table.saturated();
        let inclusion = Inclusion::new(&bad_prefixes);
        let nodes = || (0..bad_prefixes.nodes() as u32).map(Node);
        for (n, m) in nodes().flat_map(|n| nodes().map(move |m| (n, m))) {
            let step =
                |node: &Node, action| bad_prefixes.step(*node, bad_prefixes.class_of(action));
            let included = is_included((n, m), table.actions, step, |node| *node == Node::BAD);
            assert_eq!(
                inclusion.included(n, m),
                included,
                "seed {seed}: {n:?} {m:?}"
            );
        }
    }
}

#[test]
fn simulating_nodes_accept_more() {
    for seed in 0..2_000 {
        let table = Table::random(seed);
        let (_, saturated) = table.saturated();
        let nodes = || (0..saturated.nodes() as u32).map(Node);
        for (n, m) in nodes().flat_map(|n| nodes().map(move |m| (n, m))) {
            if saturated.simulates(m, n) {
                let step = |subset: &BTreeSet<Node>, action| step(&saturated, subset, action);
                let pair = (BTreeSet::from([n]), BTreeSet::from([m]));
                let is_bad = |subset: &BTreeSet<Node>| subset.contains(&Node::BAD);
                assert!(
                    is_included(pair, table.actions, step, is_bad),
                    "seed {seed}: {n:?} {m:?}"
                );
            }
        }
    }
}

fn class(text: &str) -> EngineClass {
    let property = Property::parse(text).unwrap_or_else(|error| panic!("{error}"));
    property.monitor().unwrap().engine_class()
}

#[test]
fn classes_of_known_properties() {
    use EngineClass::{Conjunctive, Enumerate, Intervals, Linear};
    let reservoir = "property reservoir {
        var w: int = 20  var v: int = 40
        let p = w > 26  let q = w > 30  let r = v > 55
        ltl: always (q -> ((r && p) since start(p)))
    }";
    let toggle = "never: (b* a b* a)* b* d";
    let pattern = |body: &str| format!("property p {{ event p, q, r, s pattern: {body} }}");
    let cases = [
        ("always !error".to_owned(), Linear),
        ("eventually done".to_owned(), Linear),
        // All writes of one variable are ordered.
        ("always (x > 5 -> once x == 3)".to_owned(), Linear),
        ("always !(x > 5 && y > 5)".to_owned(), Conjunctive),
        ("always (x > 5 || y > 5 || z == 1)".to_owned(), Conjunctive),
        ("always (d -> [a, b))".to_owned(), Intervals),
        ("always (logout -> once login)".to_owned(), Intervals),
        ("ere: (open read* close)*".to_owned(), Intervals),
        ("never: .* a .* b .* c .* d".to_owned(), Intervals),
        ("never: .* a b c d".to_owned(), Intervals),
        (reservoir.to_owned(), Intervals),
        (toggle.to_owned(), Enumerate),
        // What a write of x does depends on the value of y, not on a cell of it.
        ("always (x >= y)".to_owned(), Enumerate),
        (pattern("absence of p after q"), Intervals),
        (pattern("absence of p between q and r"), Intervals),
        (pattern("existence of p between q and r"), Intervals),
        (pattern("s precedes p"), Intervals),
        (pattern("s precedes p after q until r"), Intervals),
        // The step that is q is not p.
        (pattern("universality of p after q until r"), Linear),
    ];
    for (text, expected) in cases {
        assert_eq!(class(&text), expected, "{text}");
    }
}

/// There are 2^40 ways to begin, which nobody must try to list.
#[test]
fn many_variables_are_not_worth_classifying() {
    let conditions: Vec<String> = (0..40).map(|index| format!("x{index} > 0")).collect();
    let property = Property::parse(format!("always ({})", conditions.join(" || "))).unwrap();
    let monitor = Config::new().max_propositions(40).monitor(&property);
    assert_eq!(monitor.unwrap().engine_class(), EngineClass::Enumerate);
}

#[test]
fn classes_have_names_and_explanations() {
    use EngineClass::{Conjunctive, Enumerate, Intervals, Linear};
    let names = [Linear, Conjunctive, Intervals, Enumerate].map(|class| class.to_string());
    assert_eq!(names, ["linear", "conjunctive", "intervals", "enumerate"]);
    for class in [Linear, Conjunctive, Intervals, Enumerate] {
        assert!(!class.explanation().contains('\n'));
    }
}
