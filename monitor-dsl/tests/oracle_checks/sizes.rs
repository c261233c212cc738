//! How many states a minimal machine has: of small machines by hand, and of the tableau against the published sizes.

use crate::oracle::case::{Body, Case};
use crate::oracle::refine::Moore;
use crate::oracle::tableau::Tableau;
use crate::oracle::{Truth, table};

#[test]
fn refinement_finds_what_can_be_merged() {
    // 0 -a-> 1 -a-> 2 -a-> 2, with equal outputs in 1 and 2
    let machine = |outputs: [u8; 3]| {
        Moore::explore(
            0_usize,
            &[true],
            10,
            |&s, _| (s + 1).min(2),
            |&s| outputs[s],
        )
        .unwrap()
    };
    assert_eq!(machine([0, 1, 1]).minimal_states(), 2);
    assert_eq!(machine([0, 1, 1]).equivalent_pair(), Some((1, 2)));
    assert_eq!(machine([0, 0, 1]).minimal_states(), 3);
    assert_eq!(machine([0, 0, 1]).equivalent_pair(), None);
    // letter 1 cannot come first: the start agrees with state 1 on letter 0, so the two can be one
    let partial = |first_output: u8| {
        let step = |&s: &usize, letter: usize| if s == 0 || letter == 0 { 1 } else { 2 };
        Moore::explore(0_usize, &[true, false], 10, step, move |&s| {
            [first_output, 0, 1][s]
        })
        .unwrap()
    };
    assert_eq!(partial(0).minimal_states(), 2);
    assert_eq!(partial(0).equivalent_pair(), Some((0, 1)));
    assert_eq!(partial(2).minimal_states(), 3);
    assert_eq!(partial(2).equivalent_pair(), None);
}

/// The published sizes, from the oracle's own machines: the tables and the oracle were made independently.
#[test]
fn tableau_gives_the_published_sizes() {
    for row in table::rows() {
        let formula = row.formula();
        let names = row.names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let body = Body::Ltl(formula.clone());
        for (case, sizes) in [
            (Case::of_flags(&names, body.clone()), row.flags),
            (Case::of_events(&names, body), row.events),
        ] {
            let letters = case.letters();
            if sizes == [None, None] {
                continue;
            }
            let tableau = Tableau::new(&formula, &letters);
            let four =
                Moore::of_oracle(&tableau, &letters, 5000, |truth| truth).expect("few states");
            let three = Moore::of_oracle(&tableau, &letters, 5000, |truth| {
                truth.is_final().then_some(truth)
            })
            .expect("few states");
            if let Some(size) = sizes[0] {
                assert_eq!(
                    three.minimal_states(),
                    size,
                    "{}: 3 verdicts, {}",
                    row.place,
                    case.text(None)
                );
            }
            if let Some(size) = sizes[1] {
                assert_eq!(
                    four.minimal_states(),
                    size,
                    "{}: 4 verdicts, {}",
                    row.place,
                    case.text(None)
                );
            }
            let occurs = |truth: Truth| four.outputs().contains(&truth);
            let mut verdicts = String::new();
            if occurs(Truth::Ok) || occurs(Truth::Pending) {
                verdicts.push('?');
            }
            if occurs(Truth::Violated) {
                verdicts.push('F');
            }
            if occurs(Truth::Satisfied) {
                verdicts.push('T');
            }
            assert_eq!(verdicts, row.verdicts, "{}: {}", row.place, case.text(None));
            assert_eq!(verdicts != "?", row.monitorable, "{}", row.place);
        }
    }
}
