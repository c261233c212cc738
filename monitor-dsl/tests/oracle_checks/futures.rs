//! What the tableau says of the futures of a run, and the lassos that it is checked with.

use portent_testing::Rng;

use super::words::{after, runs};
use super::{SUBJECTS, bin, p, un};
use crate::oracle::case::{Body, Case};
use crate::oracle::formula::{Binary, Unary};
use crate::oracle::random::{self, Shape};
use crate::oracle::tableau::{Belief, Tableau};
use crate::oracle::{Oracle, Truth, finite, lasso, many};

const SHAPES: [Shape; 3] = [Shape::Future, Shape::Past, Shape::Mixed];

#[test]
fn verdicts_of_hand_made_examples() {
    let verdicts = |case: &Case, word: &[usize]| {
        let Body::Ltl(formula) = &case.body else {
            panic!()
        };
        let letters = case.letters();
        let tableau = Tableau::new(formula, &letters);
        let state = after(&tableau, word);
        assert_eq!(
            tableau.verdict(&state),
            tableau.verdict_of_word(&state, word)
        );
        tableau.verdict(&state)
    };
    // always !error over one event: letter 0 is "no event", letter 1 is the event
    let error = Case::of_events(
        &["error"],
        Body::Ltl(un(Unary::Always, un(Unary::Not, p(0)))),
    );
    assert_eq!(verdicts(&error, &[]), Truth::Ok);
    assert_eq!(verdicts(&error, &[0, 0]), Truth::Ok);
    assert_eq!(verdicts(&error, &[0, 1]), Truth::Violated);
    // two events cannot hold at once: violated before anything happens
    let both = Case::of_events(
        &["a", "b"],
        Body::Ltl(un(Unary::Eventually, bin(Binary::And, p(0), p(1)))),
    );
    assert_eq!(verdicts(&both, &[]), Truth::Violated);
    // G F p: open for ever
    let often = Case::of_flags(
        &["p"],
        Body::Ltl(un(Unary::Always, un(Unary::Eventually, p(0)))),
    );
    assert_eq!(verdicts(&often, &[]), Truth::Ok);
    assert_eq!(verdicts(&often, &[1, 0]), Truth::Pending);
    assert_eq!(verdicts(&often, &[0, 1]), Truth::Ok);
    // X p, N p: only the end of the run tells them apart
    let next = Case::of_flags(&["p"], Body::Ltl(un(Unary::Next, p(0))));
    let weak = Case::of_flags(&["p"], Body::Ltl(un(Unary::WeakNext, p(0))));
    for (word, strong, weakly) in [
        (&[][..], Truth::Pending, Truth::Ok),
        (&[0], Truth::Pending, Truth::Ok),
        (&[0, 1], Truth::Satisfied, Truth::Satisfied),
        (&[0, 0], Truth::Violated, Truth::Violated),
    ] {
        assert_eq!(
            (verdicts(&next, word), verdicts(&weak, word)),
            (strong, weakly)
        );
    }
    // Y p is false at the first position, so it is violated before anything; Z p is satisfied
    assert_eq!(
        verdicts(&next.with_body(Body::Ltl(un(Unary::Yesterday, p(0)))), &[]),
        Truth::Violated
    );
    assert_eq!(
        verdicts(
            &next.with_body(Body::Ltl(un(Unary::WeakYesterday, p(0)))),
            &[]
        ),
        Truth::Satisfied
    );
    // F p & G !p is refuted by emptiness, not by looking at one step
    let never = bin(
        Binary::And,
        un(Unary::Eventually, p(0)),
        un(Unary::Always, un(Unary::Not, p(0))),
    );
    assert_eq!(
        verdicts(&next.with_body(Body::Ltl(never)), &[]),
        Truth::Violated
    );
}

/// Everything that the tableau claims about futures, against lassos: its own witnesses must be ones, and a lasso that
/// exists must have been foreseen. What it says about the end of a run, against the definitions.
#[test]
fn tableau_agrees_with_lassos_and_definitions() {
    let mut rng = Rng::new(0x1a55_0000);
    for i in 0..many::cases(4000) {
        let (subject, shape) = (SUBJECTS[i % SUBJECTS.len()], SHAPES[i / SUBJECTS.len() % 3]);
        let size = rng.between(1, 8);
        let case = random::ltl_case(&mut rng, subject, shape, size);
        let Body::Ltl(formula) = &case.body else {
            panic!()
        };
        let letters = case.letters();
        let tableau = Tableau::new(formula, &letters);
        let values = |word: &[usize]| {
            word.iter()
                .map(|&l| letters[l].valuation)
                .collect::<Vec<u32>>()
        };
        let text = case.text(None);
        for word in runs(&letters, if letters.len() > 4 { 1 } else { 2 }) {
            let belief = after(&tableau, &word);
            assert_eq!(
                tableau.verdict(&belief),
                tableau.verdict_of_word(&belief, &word),
                "the end of {word:?} in {text}"
            );
            let (can_hold, can_fail) = tableau.futures(&belief);
            for (value, can) in [(true, can_hold), (false, can_fail)] {
                let witness = tableau.witness(&belief, value);
                assert_eq!(can, witness.is_some(), "{text}");
                let Some((prefix, cycle)) = witness else {
                    continue;
                };
                let run = [&word[..], &prefix].concat();
                assert!(
                    letters[*run.first().unwrap_or(&cycle[0])].initial,
                    "{text}: {run:?} {cycle:?}"
                );
                let holds = lasso::holds(formula, &values(&run), &values(&cycle));
                assert_eq!(holds, value, "{text}: {run:?} then {cycle:?} for ever");
            }
        }
        // Every lasso, seen from each of its beginnings, is a future that the tableau must allow.
        let stems = runs(&letters, if letters.len() > 4 { 2 } else { 3 });
        for stem in stems.iter().filter(|stem| !stem.is_empty()) {
            for split in 0..stem.len() {
                let (prefix, cycle) = stem.split_at(split);
                let holds = lasso::holds(formula, &values(prefix), &values(cycle));
                let mut belief = Belief::NoLetterYet;
                for letter in prefix.iter().chain(cycle).chain(cycle).chain(cycle) {
                    let (can_hold, can_fail) = tableau.futures(&belief);
                    assert!(
                        if holds { can_hold } else { can_fail },
                        "{text}: {prefix:?} {cycle:?}"
                    );
                    belief = tableau.step(&belief, *letter);
                }
            }
        }
    }
}

/// The lasso evaluation itself, against finite truth on a long unrolling: past formulas do not see where the word ends.
#[test]
fn lassos_agree_with_finite_words_on_the_past() {
    let mut rng = Rng::new(7);
    for _ in 0..many::cases(2000) {
        let size = rng.between(1, 9);
        let past = random::formula(&mut rng, size, Shape::Past, 2);
        let prefix: Vec<u32> = (0..rng.below(3)).map(|_| rng.below(4) as u32).collect();
        let cycle: Vec<u32> = (0..rng.between(1, 3))
            .map(|_| rng.below(4) as u32)
            .collect();
        let mut word = prefix.clone();
        while word.len() + cycle.len() <= 32 {
            word.extend(&cycle);
        }
        let positions = finite::positions(&past, &word);
        for i in 0..word.len() {
            let at_i = (0..i).fold(past.clone(), |f, _| un(Unary::Next, f));
            assert_eq!(
                lasso::holds(&at_i, &prefix, &cycle),
                positions >> i & 1 == 1,
                "{past:?} at {i}"
            );
        }
    }
}
