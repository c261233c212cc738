//! Levels compared with sets of cut vectors: every kind of key, whole and in ranges, with holes, a
//! lookahead and a window.

use std::collections::BTreeMap;

use portent_monitor_core::ChainId;
use portent_monitor_dsl::Verdict;
use portent_testing::Rng;

use super::{
    LabelledPoset, Persistent, Requirements,
    frontier::{Frontier, LevelBounds, NodeRules, SHORT},
    key::{Key, Layout, PackedCut},
    window::Window,
};
use crate::{
    automaton::{ActionId, Automaton, StateIndex},
    order::{EventIndex, Poset},
    stop::Stop,
};

/// The number of ways that lead to a cut; some cuts are dropped.
struct Ways {
    /// One in this many cuts is dropped, none if this is 0.
    holes: u32,
}

impl Ways {
    fn keeps(&self, cut: &[u32]) -> bool {
        let mixed = cut.iter().fold(7u32, |mixed, count| {
            mixed.wrapping_mul(0x9e37_79b1) ^ (count + 1).wrapping_mul(0x85eb_ca6b)
        });
        self.holes == 0 || !(mixed >> 16).is_multiple_of(self.holes)
    }
}

impl NodeRules for Ways {
    type Node = u64;

    fn step<K: Key>(&self, event: EventIndex) -> impl Fn(&u64, PackedCut<'_, K>) -> u64 {
        // A number that depends on the event, so that a wrong event is noticed.
        move |ways, _| ways.wrapping_mul(u64::from(event.0) * 2 + 1)
    }

    fn merge(&self, into: &mut u64, other: u64) {
        *into = into.wrapping_add(other);
    }

    fn settle<K: Key>(&self, _: &mut u64, cut: PackedCut<'_, K>) -> bool {
        self.keeps(&cut.counts::<Vec<_>>())
    }
}

fn random_poset(rng: &mut Rng, chains: usize, events: usize) -> Poset {
    let mut poset = Poset::new(chains);
    for _ in 0..events {
        let own = ChainId::from(rng.below(chains) as u32);
        let mut clock = vec![0; chains];
        let mut learn = |chain: ChainId, poset: &Poset| {
            if let Some(last) = poset.chain(chain).last() {
                let known = clock.iter_mut().zip(poset.clock(*last));
                known.for_each(|(a, b)| *a = (*a).max(*b));
            }
        };
        learn(own, &poset);
        if rng.below(3) == 0 {
            learn(ChainId::from(rng.below(chains) as u32), &poset);
        }
        clock[own.index()] += 1;
        poset.push(own, &clock);
    }
    poset
}

type Cuts = BTreeMap<Vec<u32>, u64>;

/// The next level, computed from the definition.
fn next_by_definition(level: &Cuts, poset: &Poset, rules: &Ways, lookahead: Option<u32>) -> Cuts {
    let mut next = Cuts::new();
    for (cut, ways) in level {
        let count = |chain: ChainId| cut[chain.index()] as usize;
        let missing = |chain: ChainId| poset.chain(chain).get(count(chain)).copied();
        let chains = poset.chains();
        let oldest = chains.clone().filter_map(missing).min();
        for chain in chains {
            let Some(event) = missing(chain) else {
                continue;
            };
            let mut after = cut.clone();
            after[chain.index()] += 1;
            let known = poset.clock(event).iter().zip(&after).all(|(a, b)| a <= b);
            let near = lookahead.is_none_or(|l| oldest.is_some_and(|o| event.0 - o.0 <= l));
            if known && near {
                let ways = ways.wrapping_mul(u64::from(event.0) * 2 + 1);
                let sum = next.entry(after).or_default();
                *sum = sum.wrapping_add(ways);
            }
        }
    }
    next.retain(|cut, _| rules.keeps(cut));
    next
}

fn narrowed(level: &mut Cuts, observed: &[u32], width: usize) {
    let distance = |cut: &Vec<u32>| -> u32 {
        let counts = cut.iter().zip(observed);
        counts.map(|(a, b)| a.abs_diff(*b)).sum()
    };
    let mut order: Vec<Vec<u32>> = level.keys().cloned().collect();
    order.sort_by_key(distance);
    for far in order.iter().skip(width) {
        level.remove(far);
    }
}

fn cuts<K: Key>(frontier: &Frontier<K, u64>) -> Vec<(Vec<u32>, u64)> {
    let cuts = frontier
        .level
        .cuts(&frontier.layout)
        .map(|cut| cut.counts());
    cuts.zip(frontier.level.nodes.iter().copied()).collect()
}

/// The level of the empty cut.
fn bottom<K: Key>(top: &[u32]) -> Frontier<K, u64> {
    let cut = vec![0; top.len()];
    let layout = Layout::fit(&cut, &cut, top, K::BITS).expect("few bits");
    Frontier::new(&[cut], vec![1], layout)
}

/// Walks a random lattice both ways and returns how many cuts were compared.
fn compare<K: Key>(seed: u64) -> usize {
    let mut rng = Rng::new(seed);
    let chains = 1 + rng.below(5);
    let events = rng.below(18);
    let poset = random_poset(&mut rng, chains, events);
    let rules = Ways {
        holes: [0, 0, 2, 3, 7][rng.below(5)],
    };
    let lookahead = (rng.below(4) == 0).then(|| rng.below(6) as u32);
    let width = (rng.below(4) == 0).then(|| 1 + rng.below(6));
    let in_ranges = rng.below(2) == 0;
    // In strips, in cuts, and alternating between the two.
    let short = [0, usize::MAX, SHORT][rng.below(3)];
    let requirements = Requirements::of_poset(&poset);
    let labelled: LabelledPoset<'_> = LabelledPoset::new(&poset, &requirements, &[]);
    let top = labelled.top();
    let mut observed = vec![0; chains];
    let mut expected = Cuts::from([(observed.clone(), 1)]);
    let mut frontier = bottom::<K>(&top);
    let mut seen = 0;
    for event in 0..poset.len() as u32 {
        observed[poset.chain_of(EventIndex(event)).index()] += 1;
        let bounds = LevelBounds {
            upper: &top,
            ceiling: &top,
            lookahead,
            window: width.map(|width| Window {
                observed: &observed,
                width,
            }),
            persistent: None,
            parallel: in_ranges,
            short,
            stop: None,
        };
        expected = next_by_definition(&expected, &poset, &rules, lookahead);
        if let Some(width) = width {
            narrowed(&mut expected, &observed, width);
        }
        if frontier.advance(labelled, bounds, &rules).is_err() {
            panic!("few bits");
        }
        let expected: Vec<(Vec<u32>, u64)> = expected.clone().into_iter().collect();
        assert_eq!(
            cuts(&frontier),
            expected,
            "seed {seed}, level {}",
            event + 1
        );
        seen += expected.len();
    }
    seen
}

#[test]
fn levels_are_those_of_the_definition() {
    let mut seen = 0;
    for seed in 0..4000 {
        seen += compare::<u64>(seed);
        seen += compare::<u128>(seed);
        seen += compare::<Box<[u32]>>(seed);
    }
    assert!(seen > 300_000, "{seen} cuts are too few to tell");
}

/// The search is stopped when the first cut that has two events of the last chain is complete.
struct Ending(Stop);

impl NodeRules for Ending {
    type Node = u64;

    fn step<K: Key>(&self, _: EventIndex) -> impl Fn(&u64, PackedCut<'_, K>) -> u64 {
        |ways, _| *ways
    }

    fn merge(&self, _: &mut u64, _: u64) {}

    fn settle<K: Key>(&self, _: &mut u64, cut: PackedCut<'_, K>) -> bool {
        if cut.counts::<Vec<_>>()[2] == 2 {
            self.0.raise();
        }
        true
    }
}

/// A narrowed part can be shorter than the start of its last line.
#[test]
fn a_search_can_end_where_its_level_was_just_narrowed() {
    let mut poset = Poset::new(3);
    for (chain, length) in [(0, 1_100), (1, 1_100), (2, 3)] {
        for count in 1..=length {
            let mut clock = [0; 3];
            clock[chain as usize] = count;
            poset.push(ChainId::from(chain), &clock);
        }
    }
    let requirements = Requirements::of_poset(&poset);
    let labelled: LabelledPoset<'_> = LabelledPoset::new(&poset, &requirements, &[]);
    let top = labelled.top();
    let mut frontier = bottom::<u64>(&top);
    // Until the level after this one has lines long enough to narrow it.
    for _ in 0..1_100 {
        let all = super::everything(&top, false);
        assert!(frontier.advance(labelled, all, &Ways { holes: 0 }).is_ok());
    }
    let stop = Stop::new();
    let bounds = LevelBounds {
        window: Some(Window {
            observed: &[1_100, 1, 0],
            width: 1,
        }),
        short: 0,
        stop: Some(&stop),
        ..super::everything(&top, false)
    };
    assert!(
        frontier
            .advance(labelled, bounds, &Ending(stop.clone()))
            .is_ok()
    );
    assert!(stop.is_raised());
    assert_eq!(cuts(&frontier).len(), 1);
}

/// If all events commute, one of them suffices to continue with; but choosing it takes time.
#[test]
fn a_search_that_ends_does_not_choose() {
    let mut poset = Poset::new(3);
    for (chain, clock) in [[1, 0, 0], [0, 1, 0], [0, 0, 1]].iter().enumerate() {
        poset.push(ChainId::from(chain as u32), clock);
    }
    let automaton = Automaton {
        initial: StateIndex(0),
        actions: 1,
        next: vec![StateIndex(1), StateIndex(1)],
        verdicts: vec![Verdict::Ok, Verdict::Violated],
    };
    let requirements = Requirements::of_poset(&poset);
    let labelled: LabelledPoset<'_> = LabelledPoset::new(&poset, &requirements, &[ActionId(0); 3]);
    let persistent = Persistent::new(labelled, &automaton);
    let top = labelled.top();
    let over = Stop::new();
    over.raise();
    for (stop, commuted) in [(Stop::new(), 2), (over, 0)] {
        let bounds = LevelBounds {
            persistent: persistent.as_ref(),
            stop: Some(&stop),
            ..super::everything(&top, false)
        };
        let mut frontier = bottom::<u64>(&top);
        let Ok(left_out) = frontier.advance(labelled, bounds, &Ways { holes: 0 }) else {
            panic!("few bits")
        };
        assert_eq!(left_out.commuted, commuted);
    }
}

#[test]
fn a_line_of_the_whole_lattice_is_one_strip() {
    let mut strips = 0;
    for seed in 0..500 {
        let mut rng = Rng::new(seed);
        let chains = 2 + rng.below(3);
        let poset = random_poset(&mut rng, chains, 12);
        let requirements = Requirements::of_poset(&poset);
        let labelled = LabelledPoset::new(&poset, &requirements, &[]);
        let top = labelled.top();
        let mut frontier = bottom::<u64>(&top);
        for _ in 0..poset.len() {
            let bounds = LevelBounds {
                short: [0, usize::MAX][seed as usize % 2],
                ..super::everything(&top, false)
            };
            assert!(
                frontier
                    .advance(labelled, bounds, &Ways { holes: 0 })
                    .is_ok()
            );
            let lines = frontier.level.strips.windows(2);
            for pair in lines {
                assert!(!pair[0].first.on_line_of(&pair[1].first, &frontier.layout));
                strips += 1;
            }
        }
    }
    assert!(strips > 10_000, "{strips} strips are too few to tell");
}
