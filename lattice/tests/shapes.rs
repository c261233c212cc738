//! The sizes of lattices of real logs, where those are present, and of generated ones.

use crate::logs;
use portent_lattice::laboratory::{LatticeSize, Poset, shape};

fn whole(poset: &Poset) -> LatticeSize {
    shape(poset, u64::MAX, u64::MAX, true).expect("no limit")
}

#[test]
fn real_logs_have_the_cuts_of_the_table() {
    let Some(directory) = logs::read::directory() else {
        println!("SKIPPED: no real logs; set PORTENT_LOGS to the folder of the ShiViz logs");
        return;
    };
    let rows = [
        (logs::CHORD, 8, 1235, 530_195, 3_088),
        (logs::SIMPLEDB, 5, 509, 1_541_953, 19_440),
        (logs::TSVIZ, 4, 5000, 45_372_308, 73_238),
    ];
    for ((file, parser), chains, events, cuts, widest) in rows {
        let path = directory.join(file);
        if !path.exists() {
            println!("SKIPPED: {} is not there", path.display());
            continue;
        }
        let (poset, _) = logs::read::log(&path, parser);
        assert_eq!((poset.width(), poset.len()), (chains, events), "{file}");
        let shape = whole(&poset);
        assert_eq!((shape.cuts, shape.widest), (cuts, widest), "{file}");
        println!("{file}: {cuts} cuts, widest level {widest}");
    }
}

/// The same by the definition: sets of events that contain the past of each of their members.
fn by_sets(poset: &Poset) -> (u64, u64) {
    use std::collections::HashSet;
    let mut level: HashSet<Vec<u32>> = HashSet::from([vec![0; poset.width()]]);
    let (mut cuts, mut widest) = (0, 0);
    while !level.is_empty() {
        cuts += level.len() as u64;
        widest = widest.max(level.len() as u64);
        let mut next = HashSet::new();
        for cut in &level {
            for chain in poset.chains() {
                let Some(&event) = poset.chain(chain).get(cut[chain.index()] as usize) else {
                    continue;
                };
                let mut more = cut.clone();
                more[chain.index()] += 1;
                if poset
                    .clock(event)
                    .iter()
                    .zip(&more)
                    .all(|(need, has)| need <= has)
                {
                    next.insert(more);
                }
            }
        }
        level = next;
    }
    (cuts, widest)
}

#[test]
fn generated_logs_have_pinned_sizes() {
    // As many processes and events as the real ones have, with messages about as seldom.
    let rows = [
        (8, 1235, 2, 17_067_384, 107_707),
        (5, 509, 4, 1_753_412, 18_745),
        (4, 5000, 8, 12_137_848, 12_970),
    ];
    for (processes, events, period, cuts, widest) in rows {
        let shape = whole(&logs::generated(processes, events, period, 42));
        assert_eq!(
            (shape.cuts, shape.widest),
            (cuts, widest),
            "{processes} processes"
        );
    }
    for (processes, events, period) in [(6, 60, 1), (5, 60, 3), (3, 200, 5)] {
        let poset = logs::generated(processes, events, period, 7);
        let shape = whole(&poset);
        assert_eq!(
            (shape.cuts, shape.widest),
            by_sets(&poset),
            "{processes} processes"
        );
    }
}

#[test]
fn many_threads_need_wide_keys() {
    // 70 threads of which 3 overlap at a time: more than 64 bits, then more than 128.
    for threads in [70usize, 150] {
        let mut poset = Poset::new(threads);
        for first in (0..threads - 2).step_by(3) {
            for round in 1..=4 {
                for chain in poset.chains().skip(first).take(3) {
                    let mut clock = vec![0; threads];
                    clock[..first].fill(4);
                    clock[chain.index()] = round;
                    poset.push(chain, &clock);
                }
            }
        }
        let shape = whole(&poset);
        let groups = (threads / 3) as u64;
        assert_eq!(shape.cuts, groups * 124 + 1);
        assert_eq!((shape.cuts, shape.widest), by_sets(&poset));
    }
}
