//! Pictures of lattices against the definitions, on random small orders.

use crate::{handed::Handed, random};
use std::collections::{BTreeMap, BTreeSet};

use portent_lattice::{
    Checker, Options,
    laboratory::{
        ActionId, Automaton, EventIndex, Poset, Problem, StateIndex, covered, graph, widths,
    },
    report::{PropertyReport, picture::Drawing},
};
use portent_monitor_core::{Action, ChainId, Event, Symbols, Value};
use portent_monitor_dsl::{Property, Verdict};
use portent_testing::Rng;

const CASES: u64 = 3_000;

/// A random order of up to 7 events on up to 4 chains, with random actions on a random automaton.
fn problem(rng: &mut Rng) -> Problem {
    let width = 1 + rng.below(4);
    let mut poset = Poset::new(width);
    for event in 0..rng.below(8) {
        let chain = ChainId::from(rng.below(width) as u32);
        let mut clock = vec![0; width];
        let mut join = |other: EventIndex| {
            for (count, &seen) in clock.iter_mut().zip(poset.clock(other)) {
                *count = seen.max(*count);
            }
        };
        if let Some(&previous) = poset.chain(chain).last() {
            join(previous);
        }
        for other in 0..event {
            if rng.below(5) == 0 {
                join(EventIndex(other as u32));
            }
        }
        clock[chain.index()] += 1;
        poset.push(chain, &clock);
    }
    let (states, actions) = (2 + rng.below(3), 1 + rng.below(3));
    let next = (0..states * actions).map(|entry| match entry / actions {
        0 => StateIndex(0), // violated for good
        _ => StateIndex(rng.below(states) as u32),
    });
    let automaton = Automaton {
        initial: StateIndex(states as u32 - 1),
        actions,
        next: next.collect(),
        verdicts: [
            Verdict::Violated,
            Verdict::Ok,
            Verdict::Pending,
            Verdict::Ok,
        ][..states]
            .to_vec(),
    };
    let actions = (0..poset.len()).map(|_| ActionId(rng.below(automaton.actions) as u32));
    Problem {
        actions: actions.collect(),
        poset,
        automaton,
    }
}

fn events(poset: &Poset) -> impl Iterator<Item = EventIndex> + Clone {
    (0..poset.len() as u32).map(EventIndex)
}

/// By sets of events: every set that has the past of its members, and the verdicts of all runs
/// that lead to it, each run followed by itself.
fn by_runs(problem: &Problem) -> BTreeMap<BTreeSet<u32>, BTreeSet<Verdict>> {
    let poset = &problem.poset;
    let mut cuts: BTreeMap<BTreeSet<u32>, BTreeSet<Verdict>> = BTreeMap::new();
    let mut open = vec![(BTreeSet::new(), problem.automaton.initial)];
    while let Some((cut, state)) = open.pop() {
        let verdict = problem.automaton.verdict(state);
        cuts.entry(cut.clone()).or_default().insert(verdict);
        for event in events(poset).filter(|event| !cut.contains(&event.0)) {
            let past = events(poset).filter(|&other| other != event);
            let mut past = past.filter(|&other| poset.precedes(other, event));
            if past.all(|other| cut.contains(&other.0)) {
                let mut more = cut.clone();
                more.insert(event.0);
                let action = problem.actions[event.index()];
                open.push((more, problem.automaton.step(state, action)));
            }
        }
    }
    cuts
}

#[test]
fn graphs_have_the_cuts_the_edges_and_the_verdicts_of_all_runs() {
    for seed in 0..CASES {
        let problem = problem(&mut Rng::new(seed));
        let poset = &problem.poset;
        let naive = by_runs(&problem);
        let graph = graph(&problem, naive.len()).expect("no more cuts than there are");
        let members = |cut: usize| -> BTreeSet<u32> {
            let counts = poset.chains().zip(&graph.cuts[cut].counts);
            let events = counts.flat_map(|(chain, &n)| &poset.chain(chain)[..n as usize]);
            events.map(|event| event.0).collect()
        };
        let cuts = (0..graph.cuts.len()).map(|cut| {
            let verdicts = graph.cuts[cut].verdicts.iter().copied();
            (members(cut), verdicts.collect::<BTreeSet<_>>())
        });
        assert_eq!(cuts.collect::<BTreeMap<_, _>>(), naive, "seed {seed}");
        assert_eq!(graph.cuts.len(), naive.len(), "seed {seed}");
        assert!(
            graph
                .cuts
                .is_sorted_by_key(|cut| cut.counts.iter().sum::<u32>())
        );

        let edges: BTreeSet<_> = graph
            .edges
            .iter()
            .map(|edge| {
                let (from, to) = (members(edge.from as usize), members(edge.to as usize));
                assert!(!from.contains(&edge.event) && to.contains(&edge.event));
                (from, to)
            })
            .collect();
        assert_eq!(edges.len(), graph.edges.len(), "seed {seed}");
        let steps = |from: &BTreeSet<u32>| {
            let larger = naive.keys().filter(|to| to.len() == from.len() + 1);
            larger.filter(|to| to.is_superset(from)).count()
        };
        let naive_edges: usize = naive.keys().map(steps).sum();
        assert_eq!(edges.len(), naive_edges, "seed {seed}");

        assert_eq!(
            portent_lattice::laboratory::graph(&problem, naive.len() - 1),
            None
        );
    }
}

#[test]
fn widths_are_those_of_the_levels() {
    for seed in 0..CASES {
        let problem = problem(&mut Rng::new(seed));
        let naive = by_runs(&problem);
        let levels = problem.poset.len() + 1;
        let mut exact = vec![0; levels];
        for cut in naive.keys() {
            exact[cut.len()] += 1;
        }
        assert_eq!(widths(&problem.poset, levels, false).bars, exact);
        for bars in 1..levels {
            let widths = widths(&problem.poset, bars, false);
            assert!(widths.bars.len() <= bars);
            assert_eq!(widths.levels, levels as u64);
            let grouped: Vec<u64> = exact
                .chunks(widths.each as usize)
                .map(|levels| levels.iter().copied().max().unwrap_or(0))
                .collect();
            assert_eq!(widths.bars, grouped, "seed {seed}");
        }
    }
}

#[test]
fn covered_events_are_the_transitive_reduction() {
    for seed in 0..CASES {
        let poset = problem(&mut Rng::new(seed)).poset;
        let before = |a: EventIndex, b: EventIndex| a != b && poset.precedes(a, b);
        for event in events(&poset) {
            let next = events(&poset).filter(|&other| {
                let mut between = events(&poset);
                before(other, event)
                    && !between.any(|third| before(other, third) && before(third, event))
            });
            let next: Vec<EventIndex> = next.collect();
            assert_eq!(covered(&poset, event), next, "seed {seed} {event:?}");
        }
    }
}

/// Checks random traces, with or without pictures.
fn reports(pictures: usize) -> Vec<portent_lattice::Report> {
    let check = |seed: u64| {
        let rng = &mut Rng::new(seed);
        let (events, symbols): (_, Symbols) = random::trace(rng, 12);
        let property = random::property(rng);
        let monitor = Property::parse(&property).ok()?.monitor().ok()?;
        let options = Options::default().pictures(pictures);
        let mut checker = Checker::new([monitor], |_| Some(Value::from(0)), options)
            .ok()?
            .handed(&symbols);
        for event in &events {
            checker.take(event).ok()?;
        }
        checker.finish("random").ok()
    };
    (0..500).filter_map(check).collect()
}

#[test]
fn a_picture_agrees_with_its_report() {
    let mut seen = 0;
    for report in reports(1) {
        for property in &report.properties {
            let picture = property.picture.as_ref().expect("one instance");
            assert_eq!(picture.observed.len() as u64, property.relevant);
            if let (Some(last), None) = (picture.observed.last(), property.observed.step) {
                assert_eq!(last.row.verdict, property.observed.verdict);
            }
            let witness = property.predicted.witness.as_deref().unwrap_or_default();
            let rows: Vec<_> = picture.witness.iter().map(|shown| &shown.row).collect();
            assert_eq!(rows, witness.iter().collect::<Vec<_>>());
            for shown in &picture.witness {
                let swaps = &property.predicted.swaps;
                let event = shown.row.event;
                assert_eq!(shown.later, swaps.iter().any(|swap| swap[0] == event));
                assert_eq!(shown.earlier, swaps.iter().any(|swap| swap[1] == event));
            }
            if let Drawing::Graph(graph) = &picture.lattice {
                assert_eq!(property.lattice.cuts, Some(graph.cuts.len() as u64));
                let top = graph.cuts.last().expect("at least the empty cut");
                let runs = property.runs.as_ref().expect("few runs");
                let some = top.verdicts.contains(&Verdict::Violated);
                assert_eq!(some, runs.violated != "0");
                seen += 1;
            }
        }
    }
    assert!(seen > 200, "{seen} pictures");
}

#[test]
fn pictures_are_made_only_if_they_are_asked_for() {
    let mut with = reports(1);
    for report in &mut with {
        for property in &mut report.properties {
            property.picture = None;
        }
    }
    assert_eq!(with, reports(0));
}

/// Bindings that hold, that could have been violated and that were, in this order again and again.
fn sessions(bindings: usize, limit: usize) -> portent_lattice::Report {
    let text = "property session(u) { event begin(u), use(u), end(u)  ltl: always (use -> (!end since begin)) }";
    let monitor = Property::parse(text).unwrap().monitor().unwrap();
    let options = Options::default().pictures(limit).witnesses(limit);
    let mut checker = Checker::new([monitor], |_| None, options).unwrap();
    let threads = ["T1", "T2"].map(|name| checker.symbols_mut().threads.intern(name).unwrap());
    for binding in 0..bindings {
        let steps: [(usize, &str); 3] = match binding % 3 {
            0 => [(0, "begin"), (0, "use"), (0, "end")],
            1 => [(0, "begin"), (1, "use"), (0, "end")],
            _ => [(0, "begin"), (0, "end"), (0, "use")],
        };
        for (thread, name) in steps {
            let name = checker.symbols_mut().names.intern(name).unwrap();
            let action = Action::new(name).args([Value::from(binding as i64)]);
            let event = Event::new(threads[thread], action);
            checker.take(&event).unwrap();
        }
    }
    checker.finish("sessions").unwrap()
}

#[test]
fn observed_violations_get_their_witnesses_and_pictures_first() {
    let bindings = 12;
    for limit in 0..=bindings + 1 {
        let report = sessions(bindings, limit);
        let rank = |place: &usize| {
            let property = &report.properties[*place];
            match (property.observed.verdict, property.predicted.violated) {
                (Verdict::Violated, true) => 0,
                (_, true) => 1,
                (_, false) => 2,
            }
        };
        let mut expected: Vec<usize> = (0..bindings).collect();
        expected.sort_by_key(rank);
        assert_eq!(rank(&expected[0]), 0);
        assert_eq!(rank(&expected[bindings - 1]), 2);
        expected.truncate(limit);
        expected.sort_unstable();
        let those = |has: fn(&PropertyReport) -> bool| -> Vec<usize> {
            let places = 0..bindings;
            places
                .filter(|&place| has(&report.properties[place]))
                .collect()
        };
        let drawn = those(|property| property.picture.is_some());
        assert_eq!(drawn, expected, "{limit} pictures");
        expected.retain(|place| rank(place) < 2);
        let told = those(|property| property.predicted.witness.is_some());
        assert_eq!(told, expected, "{limit} witnesses");
        for property in &report.properties {
            let predicted = &property.predicted;
            let is_told = predicted.witness.is_some();
            assert_eq!(predicted.witness_omitted, predicted.violated && !is_told);
            assert_eq!(property.why.witness.is_some(), is_told);
            assert_eq!(predicted.violated_at.is_some(), predicted.violated);
        }
    }
}
