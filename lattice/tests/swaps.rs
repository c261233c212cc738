//! The swaps of a witness, against all shortest violated runs of random traces.
//!
//! What is promised: if the observed run is violated as soon as any, it is the witness; and before
//! the violation no two neighbours can be put back into the observed order, and no event can be
//! replaced by one that was observed earlier.

use crate::{handed::Handed, oracle::Oracle, random};
use portent_lattice::{Checker, Engine, Options};
use portent_monitor_core::Value;
use portent_monitor_dsl::{Config, Property, Verdict};
use portent_testing::Rng;
use std::collections::BTreeMap;

fn zero(_: &str) -> Option<Value> {
    Some(Value::from(0))
}

const ENGINES: [Option<Engine>; 4] = [
    None,
    Some(Engine::Linear),
    Some(Engine::Conjunctive),
    Some(Engine::Intervals),
];

#[test]
fn no_swap_is_without_need() {
    let mut rng = Rng::new(20_062);
    let config = Config::new().max_states(200);
    let (mut witnesses, mut fewest) = (BTreeMap::new(), 0);
    for round in 0..12_000 {
        let text = random::property(&mut rng);
        let Ok(monitor) = Property::parse(&text).and_then(|p| config.monitor(&p)) else {
            continue;
        };
        let length = 3 + rng.below(11);
        let (events, symbols) = random::trace(&mut rng, length);
        let oracle = Oracle::new(&events, &symbols, &monitor, zero);
        if oracle.relevant.len() > 9 {
            continue;
        }
        let options = Options::default()
            .engine(ENGINES[round % ENGINES.len()])
            .max_states(if round % 5 == 0 { 0 } else { 1000 });
        let mut checker = Checker::new([monitor.clone()], zero, options)
            .unwrap()
            .handed(&symbols);
        for event in &events {
            checker.take(event).unwrap();
        }
        let report = checker.finish("random").unwrap();
        let property = &report.properties[0];
        let predicted = &property.predicted;
        let Some(violated_at) = predicted.violated_at else {
            continue;
        };
        let rows = predicted.witness.iter().flatten();
        let run: Vec<usize> = rows.map(|row| row.event as usize).collect();
        let observed = &property.observed;
        if observed.verdict == Verdict::Violated && observed.step == Some(violated_at) {
            assert_eq!(predicted.swaps, [] as [[u32; 2]; 0], "{text}: {run:?}");
        }
        for place in 1..violated_at as usize {
            if run[place - 1] > run[place] {
                let mut settled = run.clone();
                settled.swap(place - 1, place);
                let after = oracle.violated_after(&settled);
                assert_ne!(after, Some(violated_at), "{text}: {run:?} at {place}");
            }
        }
        for place in 0..violated_at as usize {
            let rest = &run[violated_at as usize..];
            for &earlier in rest.iter().filter(|event| **event < run[place]) {
                let mut replaced = run[..violated_at as usize].to_vec();
                replaced[place] = earlier;
                let mut others: Vec<usize> = (0..run.len()).collect();
                others.retain(|event| !replaced.contains(event));
                replaced.extend(others);
                let as_soon = oracle.violated_after(&replaced) == Some(violated_at);
                assert!(!as_soon || !oracle.is_run(&replaced), "{text}: {run:?}");
            }
        }
        let swaps = predicted.swaps.len() as u64;
        let possible = oracle.fewest_swaps(violated_at).expect("the witness");
        assert!(swaps >= possible, "{text}: {run:?}");
        fewest += u64::from(swaps == possible);
        *witnesses.entry(property.lattice.engine).or_insert(0u64) += 1;
    }
    println!("{witnesses:?}, of which {fewest} have the fewest swaps of all");
    assert!(witnesses.len() == 4 && witnesses.values().all(|&times| times > 50));
}
