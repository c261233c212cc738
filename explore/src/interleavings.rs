//! How many interleavings one run stands for: the number of orders of its steps that have the same effect.
//!
//! The steps of a run, with the order that all equivalent runs share, are a poset. Its linearisations are counted cut by cut; a
//! cut says how many steps each thread has made. There may be very many cuts, so the count is given up beyond a limit.

use rustc_hash::FxHashMap;

use crate::run::Run;

/// So many cuts of one run are looked at.
const MOST_CUTS: usize = 100_000;

/// The interleavings of a run; `None` if there are too many to be counted.
pub(crate) fn count(run: &Run, threads: usize) -> Option<u128> {
    // The places of the chosen events of each thread among all of its events; others follow what their thread did before.
    let mut chosen: Vec<Vec<u16>> = vec![Vec::new(); threads];
    let mut needs: Vec<Vec<Vec<u16>>> = vec![Vec::new(); threads];
    let mut length = 0;
    for (number, event) in run.events().iter().enumerate() {
        if event.was_chosen() {
            let thread = usize::from(event.thread);
            let row = { chosen.iter().zip(run.clock(number)) };
            let mut row: Vec<u16> = row
                .map(|(places, &known)| places.partition_point(|&place| place <= known) as u16)
                .collect();
            row[thread] = chosen[thread].len() as u16;
            chosen[thread].push(event.index);
            needs[thread].push(row);
            length += 1;
        }
    }
    let mut cuts = FxHashMap::default();
    cuts.insert(vec![0_u16; threads], 1_u128);
    let mut looked_at = 0;
    for _ in 0..length {
        let mut longer: FxHashMap<Vec<u16>, u128> = FxHashMap::default();
        for (cut, ways) in cuts {
            for thread in 0..threads {
                let Some(needed) = needs[thread].get(usize::from(cut[thread])) else {
                    continue;
                };
                if needed.iter().zip(&cut).all(|(needed, had)| needed <= had) {
                    let mut next = cut.clone();
                    next[thread] += 1;
                    let sum = longer.entry(next).or_default();
                    *sum = sum.checked_add(ways)?;
                }
            }
        }
        looked_at += longer.len();
        if looked_at > MOST_CUTS {
            return None;
        }
        cuts = longer;
    }
    cuts.into_values().next()
}
