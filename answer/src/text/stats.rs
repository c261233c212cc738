//! Statistics on a search.

use portent_lattice::{Engine, report::Lattice};

use super::numbers::{bytes, count};

/// The memory that a search took and the savings of its reductions.
pub(super) fn render(lattice: &Lattice) -> String {
    let saved = &lattice.saved;
    let commutation = [
        (
            saved.commutation,
            "commutation: events not added to a cut, as they commute",
        ),
        (
            saved.invisible,
            "commutation: events left out altogether, as they change no state",
        ),
    ];
    let absorption = [(saved.absorption, "absorption: states that nothing violates")];
    let covered = [
        (saved.subsumption, "subsumption: covered by others"),
        (
            saved.dead_ends,
            "dead ends: no remaining event violates them",
        ),
    ];
    let emptied = [(
        saved.emptied,
        "cuts not visited further, as no state was left",
    )];
    let (head, rows) = match lattice.engine {
        Engine::Enumerate => (
            format!(
                "  Frontier: {} for {} cuts at most. Saved:\n",
                bytes(lattice.frontier.bytes),
                count(lattice.frontier.cuts)
            ),
            [&commutation[..], &absorption, &covered, &emptied].concat(),
        ),
        Engine::Intervals => ("  Saved, of symbolic nodes:\n".to_owned(), covered.to_vec()),
        Engine::Strong | Engine::Maximal => (String::new(), Vec::new()),
        _ => ("  Saved: all of the lattice.\n".to_owned(), Vec::new()),
    };
    let rows = rows.iter();
    let rows = rows.map(|(number, what)| format!("    {:>12}  {what}\n", count(*number)));
    head + &rows.collect::<String>()
}
