//! Features that the program uses and that are not fully modelled.

use portent_hooks::control::{Class, Object};

use super::Options;

/// What was met in any run so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    atomics: bool,
    conditions: bool,
}

const BITS: [(u64, &str); 2] = [
    (
        1,
        "atomics are sequentially consistent here, whatever the program asks for: what only weaker orderings allow was not looked for, \
         and `compare_exchange_weak` fails for no reason only where the processor lets it",
    ),
    (
        2,
        "nobody who waits for a condition wakes up for no reason: see `spurious_wake_ups`",
    ),
];

impl Used {
    pub(crate) fn meet(&mut self, object: Object<'_>) {
        match object.class() {
            Class::Atomic => self.atomics = true,
            Class::Condition => self.conditions = true,
            _ => {}
        }
    }

    /// What a reader of the report has to know, in sentences.
    pub(crate) fn unmodelled(self, options: Options) -> Vec<&'static str> {
        let mut bits = self.bits();
        if options.spurious > 0 {
            bits &= !2;
        }
        let told = BITS.iter().filter(|(bit, _)| bits & bit != 0);
        told.map(|(_, text)| *text).collect()
    }

    /// As a number.
    pub(crate) fn bits(self) -> u64 {
        u64::from(self.atomics) | u64::from(self.conditions) << 1
    }

    pub(crate) fn from_bits(bits: u64) -> Used {
        Used {
            atomics: bits & 1 != 0,
            conditions: bits & 2 != 0,
        }
    }
}
