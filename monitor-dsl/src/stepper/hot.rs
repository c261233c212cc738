//! The hot data of a step: one look-up gives the next state and its verdict.

use std::sync::Arc;

use super::plan::{Plans, Scale};
use crate::{alphabet::Alphabet, machine::Table, verdict::Verdict};

/// The parts of a monitor that every step needs, at hand.
#[derive(Clone, Debug)]
pub(crate) struct Hot {
    /// For every row and letter the next row. The low bits of a row tell its verdict, the others
    /// where it begins. Empty if the machine is too large for that, or if more is to be done in a
    /// step than to look here.
    pub(super) next: Arc<[u32]>,
    pub(super) scales: Arc<[Scale]>,
    /// The number of the first event in a letter.
    pub(super) first_event: u32,
    /// A row is a state shifted by this, and its verdict.
    pub(super) shift: u32,
}

/// The bits of a row that tell its verdict.
pub(super) const VERDICT: u32 = 7;
/// No table is made with more entries than this.
const MAX_ENTRIES: usize = 1 << 20;

impl Hot {
    pub(crate) fn new(
        alphabet: &Alphabet,
        table: &Table,
        outputs: &[Verdict],
        plans: &Plans,
    ) -> Self {
        let codes = alphabet
            .places()
            .iter()
            .fold(0, |codes, place| codes | place.mask);
        let shift = (u64::BITS - codes.leading_zeros()).max(VERDICT.count_ones());
        let scales = plans
            .0
            .iter()
            .map(|plan| plan.scale.unwrap_or(Scale::NONE))
            .collect();
        let first_event = u32::from(alphabet.has_silent_letter());
        let mut hot = Hot {
            next: Arc::default(),
            scales,
            first_event,
            shift,
        };
        if codes < MAX_ENTRIES as u64 && outputs.len() << shift <= MAX_ENTRIES {
            let mut next = vec![0; outputs.len() << shift];
            for state in 0..outputs.len() as u32 {
                for letter in alphabet.letters() {
                    let entry = ((state as usize) << shift) + letter.0 as usize;
                    next[entry] = hot.row(outputs, table.next(state, letter));
                }
            }
            hot.next = next.into();
        }
        hot
    }

    pub(super) fn row(&self, outputs: &[Verdict], state: u32) -> u32 {
        (state << self.shift) | outputs[state as usize] as u32
    }
}

/// The verdict that a row tells. A look-up, because a `match` becomes a jump that is hard to predict.
#[inline(always)]
pub(super) fn verdict_of(row: u32) -> Verdict {
    const OF_BITS: [Verdict; VERDICT as usize + 1] = [
        Verdict::Violated,
        Verdict::Satisfied,
        Verdict::Pending,
        Verdict::Ok,
        Verdict::Unknown,
        Verdict::Unknown,
        Verdict::Unknown,
        Verdict::Unknown,
    ];
    OF_BITS[(row & VERDICT) as usize]
}
