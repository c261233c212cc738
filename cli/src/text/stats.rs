//! How a search went.

use portent_lattice::report::Lattice;

use super::numbers::count;
use crate::size;

/// The memory that a search took and what its reductions saved.
pub(crate) fn render(lattice: &Lattice) -> String {
    let saved = &lattice.saved;
    let rows = [
        (
            saved.commutation,
            "events not added to a cut, as they commute",
        ),
        (saved.subsumption, "states covered by others"),
        (saved.absorption, "states that nothing violates"),
        (saved.dead_ends, "states that no remaining event violates"),
        (saved.emptied, "cuts left without a state"),
    ];
    let mut text = format!(
        "  Frontier: {} for {} cuts at most. Saved:\n",
        size::show(lattice.frontier.bytes),
        count(lattice.frontier.cuts)
    );
    for (number, what) in rows {
        text += &format!("    {:>12}  {what}\n", count(number));
    }
    text
}
