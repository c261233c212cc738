//! The analyzer against the enumeration of all linear extensions, on random traces and properties.

use crate::oracle::{Oracle, Truth};
use crate::{handed::Handed, random, zero};
use portent_lattice::{
    Checker, Counting, Engine, Model, Options, Reductions, report::PropertyReport,
};
use portent_monitor_core::{Action, Event, Symbols};
use portent_monitor_dsl::{Monitor, Property, Verdict};
use portent_testing::Rng;
use std::collections::BTreeMap;

const PAIRS: usize = 12_000;
const MAX_RUNS: u64 = 3000;

fn check(
    monitor: &Monitor,
    events: &[Event],
    symbols: &Symbols,
    options: Options,
) -> PropertyReport {
    let mut checker = Checker::new([monitor.clone()], zero, options)
        .expect("initial values")
        .handed(symbols);
    for event in events {
        checker.take(event).expect("events fit");
    }
    let mut report = checker.finish("random").expect("a report");
    assert_eq!(report.properties.len(), 1);
    report.properties.remove(0)
}

/// All the ways of looking that must not change the answer.
fn variants() -> Vec<Options> {
    let default = Options::default();
    let with = |reductions| Options::default().reductions(reductions);
    let by = |engine| Options::default().engine(engine);
    let (all, none) = (Reductions::ALL, Reductions::NONE);
    vec![
        with(none),
        with(Reductions {
            commutation: true,
            ..none
        }),
        with(Reductions {
            subsumption: true,
            ..none
        }),
        with(Reductions {
            absorption: true,
            ..none
        }),
        with(Reductions {
            dead_ends: true,
            ..none
        }),
        with(Reductions {
            commutation: false,
            ..all
        }),
        // No table: the product is made as it is met.
        default.clone().max_states(0),
        by(Engine::Linear),
        by(Engine::Conjunctive),
        by(Engine::Flow),
        by(Engine::Intervals),
        by(Engine::Enumerate),
        default.counting(Counting::Never),
    ]
}

fn compare(report: &PropertyReport, truth: &Truth, oracle: &Oracle, counted: bool) {
    let observed = (report.observed.verdict, report.observed.step);
    assert_eq!(Some(observed), truth.observed);
    assert_eq!(report.relevant as usize, oracle.relevant.len());
    assert_eq!(report.predicted.violated, truth.violated > 0);
    assert_eq!(report.predicted.violated_at, truth.soonest);
    assert!(report.lattice.exhaustive);
    if counted {
        let runs = report.runs.as_ref().expect("counted");
        let counts = [
            (&runs.total, truth.total),
            (&runs.violated, truth.violated),
            (&runs.satisfied, truth.satisfied),
            (&runs.pending, truth.pending),
            (&runs.ok, truth.ok),
        ];
        for (found, expected) in counts {
            assert_eq!(*found, expected.to_string());
        }
        assert_eq!(report.lattice.cuts, Some(truth.cuts));
        assert_eq!(report.lattice.widest, Some(truth.widest));
    }
    if let Some(witness) = &report.predicted.witness {
        let run: Vec<usize> = witness.iter().map(|row| row.event as usize).collect();
        let violated_at = report.predicted.violated_at.expect("with a witness") as usize;
        oracle.examine(&run, violated_at);
        let mut swaps = Vec::new();
        for (place, &late) in run.iter().enumerate() {
            let earlier = run[place + 1..].iter().filter(|&&event| event < late);
            swaps.extend(earlier.map(|&event| [event as u32, late as u32]));
        }
        swaps.sort_unstable();
        assert_eq!(report.predicted.swaps, swaps);
    }
}

#[test]
fn every_way_of_looking_agrees_with_all_runs() {
    let mut rng = Rng::new(20_061);
    let monitors = random::monitors(&mut rng, 400);
    let variants = variants();
    let (mut pairs, mut predicted, mut hidden) = (0, 0, 0);
    let mut engines = BTreeMap::new();
    while pairs < PAIRS {
        let monitor = &monitors[rng.below(monitors.len())];
        let length = 3 + rng.below(13);
        let (events, symbols) = random::trace(&mut rng, length);
        let oracle = Oracle::new(&events, &symbols, monitor, zero);
        if oracle.relevant.len() > 10 {
            continue;
        }
        let Some(truth) = oracle.truth(MAX_RUNS) else {
            continue;
        };
        let report = check(monitor, &events, &symbols, Options::default());
        compare(&report, &truth, &oracle, true);
        let options = variants[pairs % variants.len()].clone();
        let counted = options.counting != Counting::Never;
        let report = check(monitor, &events, &symbols, options);
        compare(&report, &truth, &oracle, counted);
        *engines.entry(report.lattice.engine).or_insert(0) += 1;
        pairs += 1;
        predicted += usize::from(truth.violated > 0);
        let ok = truth.observed.is_some_and(|(v, _)| v != Verdict::Violated);
        hidden += usize::from(truth.violated > 0 && ok);
    }
    println!(
        "{pairs} pairs, {predicted} violated by some run, {hidden} of them not by the observed one"
    );
    assert!(hidden > 200, "the traces should be interesting");
    let often = engines.values().filter(|&&times| times >= 50).count();
    assert_eq!(often, 5, "{engines:?}");
}

/// Limits of any kind, most of them far too tight, with any engine and model.
fn some_limits(rng: &mut Rng) -> Options {
    Options::default()
        .window(rng.one_in(4).then(|| 1 + rng.below(3)))
        .lookahead(rng.one_in(4).then(|| rng.below(3) as u32))
        .memory(rng.pick(&[0, 1, 100, 200, 600, 1200, 1 << 30]))
        .engine(rng.pick(&[
            None,
            None,
            Some(Engine::Linear),
            Some(Engine::Conjunctive),
            Some(Engine::Flow),
            Some(Engine::Intervals),
            Some(Engine::Enumerate),
        ]))
        .causality(rng.pick(&[
            Model::HappensBefore,
            Model::HappensBefore,
            Model::HappensBefore,
            Model::Maximal,
        ]))
        .complete(rng.one_in(6))
        .max_states(rng.pick(&[0, 4096]))
}

#[test]
fn a_limit_never_invents_a_violation_and_never_loses_the_observed_run() {
    let mut rng = Rng::new(7);
    let monitors = random::monitors(&mut rng, 200);
    let (mut limited, mut found, mut rescued) = (0, 0, 0);
    for round in 0..6000 {
        let monitor = &monitors[rng.below(monitors.len())];
        let (events, symbols) = random::trace(&mut rng, 14);
        let oracle = Oracle::new(&events, &symbols, monitor, zero);
        if oracle.relevant.len() > 10 {
            continue;
        }
        let Some(truth) = oracle.truth(MAX_RUNS) else {
            continue;
        };
        let options = some_limits(&mut rng);
        let report = check(monitor, &events, &symbols, options.clone());
        let observed = (report.observed.verdict, report.observed.step);
        assert_eq!(Some(observed), truth.observed);
        let is_bad = |verdict| options.goal.is_bad(verdict, true);
        let predicted = &report.predicted;
        assert!(
            predicted.violated || !is_bad(observed.0),
            "round {round}: what was observed is lost, with {options:?}"
        );
        let pending = if options.goal.complete {
            truth.pending
        } else {
            0
        };
        let bad_runs = truth.violated + pending;
        let exhaustive = report.lattice.exhaustive;
        if options.causality == Model::HappensBefore {
            assert!(bad_runs > 0 || !predicted.violated);
            assert!(!exhaustive || predicted.violated == (bad_runs > 0));
        }
        if let Some(witness) = &predicted.witness {
            let run: Vec<usize> = witness.iter().map(|row| row.event as usize).collect();
            let violated_at = predicted.violated_at.expect("set") as usize;
            if observed.0 == Verdict::Violated {
                let step = observed.1.expect("final") as usize;
                assert!(violated_at <= step, "the observed run is violated sooner");
            }
            if options.causality == Model::HappensBefore && !options.goal.complete {
                oracle.examine(&run, violated_at);
            }
            let in_order = run.is_sorted();
            rescued += usize::from(!exhaustive && in_order);
            found += 1;
        }
        if !exhaustive {
            assert!(report.lattice.limit.is_some() && report.runs.is_none());
            limited += 1;
        }
    }
    assert!(
        limited > 1000 && found > 500 && rescued > 200,
        "{limited} limited, {found} found, {rescued} as observed"
    );
}

/// `portent check --engine intervals --memory 1` said "no violation" of what it had seen.
#[test]
fn a_search_that_gives_up_still_reports_what_was_observed() {
    let mut symbols = Symbols::default();
    let mut event = |thread: usize, name: &str| {
        let thread = symbols.threads.intern(&format!("T{thread}"));
        let name = symbols.names.intern(name).expect("few");
        Event::new(thread.expect("few"), Action::new(name))
    };
    // More threads than the enumeration makes whole levels of; `a` comes last but one.
    let mut many: Vec<Event> = (0..300).map(|thread| event(thread, "b")).collect();
    many.extend([event(0, "a"), event(1, "c")]);
    let few = [event(0, "b"), event(1, "a"), event(1, "c")];
    let properties = [
        "always !a",
        "never: {}* b {}* a {}* c",
        "always (c -> !once a)",
    ];
    let engines = [
        None,
        Some(Engine::Linear),
        Some(Engine::Conjunctive),
        Some(Engine::Intervals),
        Some(Engine::Enumerate),
    ];
    let limits = [
        Options::default(),
        Options::default().memory(1),
        Options::default().memory(1000),
        Options::default().window(1),
        Options::default().lookahead(0),
    ];
    for text in properties {
        let property = Property::parse(text).expect("a property");
        let monitor = property.monitor().expect("small");
        let look = |events: &[Event], options: Options| {
            let report = check(&monitor, events, &symbols, options.clone());
            assert_eq!(report.observed.verdict, Verdict::Violated);
            let predicted = &report.predicted;
            assert!(predicted.violated, "{text} with {options:?}");
            let at = predicted.violated_at.expect("violated");
            assert!(at <= report.observed.step.expect("final"));
            let rows = predicted.witness.as_ref().expect("violated");
            assert_eq!(rows[at as usize - 1].verdict, Verdict::Violated);
        };
        look(&many, Options::default().counting(Counting::Never));
        for limit in &limits {
            for engine in engines {
                for causality in [Model::HappensBefore, Model::Maximal] {
                    look(
                        &few,
                        limit
                            .clone()
                            .engine(engine)
                            .causality(causality)
                            .counting(Counting::Never),
                    );
                }
            }
        }
    }
}

#[test]
fn at_the_end_of_a_complete_trace_pending_is_violated() {
    let mut rng = Rng::new(99);
    let monitors = random::monitors(&mut rng, 200);
    for _ in 0..1000 {
        let monitor = &monitors[rng.below(monitors.len())];
        let (events, symbols) = random::trace(&mut rng, 12);
        let oracle = Oracle::new(&events, &symbols, monitor, zero);
        if oracle.relevant.len() > 10 {
            continue;
        }
        let Some(truth) = oracle.truth(MAX_RUNS) else {
            continue;
        };
        let options = Options::default().complete(true);
        let report = check(monitor, &events, &symbols, options);
        assert_eq!(
            report.predicted.violated,
            truth.violated + truth.pending > 0
        );
        let soonest = truth
            .soonest
            .or((truth.pending > 0).then_some(report.relevant));
        assert_eq!(report.predicted.violated_at, soonest);
    }
}

#[test]
fn the_maximal_model_finds_what_is_feasible() {
    let mut rng = Rng::new(99);
    let monitors = random::monitors(&mut rng, 300);
    let (mut found, mut widened) = (0, 0);
    for round in 0..20_000 {
        let monitor = &monitors[rng.below(monitors.len())];
        let (events, symbols) = match round % 2 {
            0 => {
                let length = 3 + rng.below(6);
                random::trace(&mut rng, length)
            }
            _ => random::sections(&mut rng),
        };
        let oracle = Oracle::new(&events, &symbols, monitor, zero);
        let Some(truth) = oracle.truth(MAX_RUNS) else {
            continue;
        };
        let mut options = Options::default().causality(Model::Maximal);
        if round % 3 == 0 {
            options.max_states = 0;
        }
        let report = check(monitor, &events, &symbols, options);
        let soonest = oracle.soonest_feasible(&events);
        assert_eq!(report.predicted.violated, soonest.is_some());
        assert!(report.lattice.exhaustive && report.runs.is_none());
        // What happens-before finds is taken as it is; what is found beyond is a shortest.
        let expected = truth.soonest.or(soonest);
        assert_eq!(report.predicted.violated_at, expected);
        found += usize::from(soonest.is_some());
        widened += usize::from(soonest.is_some() && truth.soonest.is_none());
    }
    assert!(found > 4000 && widened > 80, "{found}, {widened}");
}
