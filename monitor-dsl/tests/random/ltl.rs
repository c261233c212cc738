//! Thousands of random LTL formulas: the monitor of the text against the tableau oracle, on all short words and on the
//! whole product of the two machines, and its minimality.
//!
//! `PORTENT_CASES=n` runs `n` formulas in each of the tests here instead of their usual number; the seeds stay the same,
//! so a larger number continues where the smaller one ended. A difference is shrunk before it is shown.

use crate::oracle::case::{Body, Case};
use crate::oracle::check::Effort;
use crate::oracle::finite;
use crate::oracle::formula::{Formula, Unary};
use crate::oracle::many;
use crate::oracle::random::{self, Shape, Subject};
use crate::oracle::reading::Reading;
use portent_monitor_dsl::Verdict;
use portent_testing::Rng;

/// Compares formulas about one subject: a third each with future operators, with both kinds nested freely, and with past
/// operators (now and then alone, mostly under future ones); every fourth also with three verdicts.
fn compare(seed: u64, subject: Subject) {
    let effort = |i: usize| Effort {
        words: 1800,
        longest: 4,
        three: i.is_multiple_of(4),
    };
    many::compare_many(seed, many::cases(4000), effort, |rng, i| match i % 3 {
        0 => sized(rng, subject, Shape::Future),
        1 if rng.one_in(3) => sized(rng, subject, Shape::Mixed),
        1 => led_by_future(rng, subject, Shape::Mixed),
        _ if rng.one_in(8) => sized(rng, subject, Shape::Past),
        _ => led_by_future(rng, subject, Shape::Past),
    });
}

fn sized(rng: &mut Rng, subject: Subject, shape: Shape) -> Case {
    let size = rng.between(2, 15);
    random::ltl_case(rng, subject, shape, size)
}

/// A formula under a future operator or two, without which a past operator would see the first letter only.
fn led_by_future(rng: &mut Rng, subject: Subject, shape: Shape) -> Case {
    let case = sized(rng, subject, shape);
    let Body::Ltl(mut formula) = case.body.clone() else {
        unreachable!("an ltl case")
    };
    for _ in 0..rng.between(1, 2) {
        let op = [
            Unary::Always,
            Unary::Always,
            Unary::Eventually,
            Unary::Next,
            Unary::WeakNext,
        ][rng.below(5)];
        formula = Formula::unary(op, formula);
    }
    case.with_body(Body::Ltl(formula))
}

#[test]
fn boolean_variables() {
    compare(0x1000_0001, Subject::Flags);
}

#[test]
fn events() {
    compare(0x1000_0002, Subject::Events);
}

#[test]
fn comparisons_with_constants() {
    compare(0x1000_0003, Subject::Comparisons);
}

#[test]
fn events_and_variables() {
    compare(0x1000_0004, Subject::Mixed);
}

#[test]
fn floating_point_numbers() {
    compare(0x1000_0007, Subject::Floats);
}

/// `always P` and `eventually P` for pure past `P`: whether `P` holds at a position is known when the run is there, so
/// the first position that decides is found without any tableau. (The oracle then decides what can be known earlier.)
#[test]
fn pure_past() {
    let subjects = [
        Subject::Flags,
        Subject::Events,
        Subject::Comparisons,
        Subject::Mixed,
        Subject::Floats,
    ];
    let effort = |_| Effort {
        words: 4000,
        longest: 5,
        three: false,
    };
    let generate = |rng: &mut Rng, i: usize| {
        let case = sized(rng, subjects[i % 5], Shape::Past);
        let Body::Ltl(past) = &case.body else {
            unreachable!("an ltl case")
        };
        let op = if i % 10 < 5 {
            Unary::Always
        } else {
            Unary::Eventually
        };
        case.with_body(Body::Ltl(Formula::unary(op, past.clone())))
    };
    many::compare_many(0x1000_0005, many::cases(1600), effort, generate);

    let mut rng = Rng::new(0x1000_0006);
    for i in 0..many::cases(1600) {
        let case = generate(&mut rng, i);
        let Body::Ltl(Formula::Unary(op, past)) = &case.body else {
            unreachable!("always or eventually")
        };
        let reading = Reading::new(&case, Some(rng.any()));
        let longest = if reading.letters.len() <= 5 { 5 } else { 3 };
        reading.each_word(longest, |word, verdict| {
            if word.is_empty() {
                return;
            }
            let holds = finite::positions(past, &reading.valuations(word));
            let everywhere = holds.count_ones() as usize == word.len();
            let right = match op {
                Unary::Always if everywhere => verdict != Verdict::Pending,
                Unary::Always => verdict == Verdict::Violated,
                _ if holds != 0 => verdict == Verdict::Satisfied,
                _ => verdict != Verdict::Ok,
            };
            assert!(
                right,
                "{}\nafter {}: {verdict:?}",
                case.text(None),
                case.word_text(&reading.letters, word)
            );
        });
    }
}
