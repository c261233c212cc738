//! Symbols that there were before whoever takes the events: tests draw a run first, and then ask about it in many ways.

use portent_lattice::{Checker, Watch};
use portent_monitor_core::Symbols;

pub(crate) trait Handed {
    /// With the symbols that the events of the next run were made with.
    fn handed(self, symbols: &Symbols) -> Self;
}

impl Handed for Checker {
    fn handed(mut self, symbols: &Symbols) -> Checker {
        *self.symbols_mut() = symbols.clone();
        self
    }
}

impl Handed for Watch {
    fn handed(mut self, symbols: &Symbols) -> Watch {
        *self.symbols_mut() = symbols.clone();
        self
    }
}
