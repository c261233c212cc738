//! Truth on finite words: by hand, and by the definitions of operators by other operators.

use super::words::words;
use super::{bin, p, un};
use crate::oracle::finite;
use crate::oracle::formula::{Binary, Direction, Formula, Step, Unary};

#[test]
fn finite_truth_of_hand_made_examples() {
    // p0 at positions 1 and 2, p1 at position 3
    let word = [0b00, 0b01, 0b01, 0b10];
    let at = |formula: &Formula| finite::positions(formula, &word);
    assert_eq!(at(&un(Unary::Next, p(0))), 0b0011);
    assert_eq!(at(&un(Unary::WeakNext, p(0))), 0b1011);
    assert_eq!(at(&un(Unary::Yesterday, p(0))), 0b1100);
    assert_eq!(at(&un(Unary::WeakYesterday, p(0))), 0b1101);
    assert_eq!(at(&un(Unary::Start, p(0))), 0b0010);
    assert_eq!(at(&un(Unary::End, p(0))), 0b1000);
    assert_eq!(at(&un(Unary::Start, un(Unary::Not, p(0)))), 0b1001);
    assert_eq!(at(&bin(Binary::Until, p(0), p(1))), 0b1110);
    assert_eq!(at(&bin(Binary::Interval, p(0), p(1))), 0b0110);
    assert_eq!(at(&bin(Binary::Since, un(Unary::Not, p(1)), p(0))), 0b0110);
    assert_eq!(
        at(&bin(Binary::WeakSince, un(Unary::Not, p(1)), p(0))),
        0b0111
    );
    assert_eq!(
        at(&bin(Binary::Trigger, p(0), un(Unary::Not, p(1)))),
        0b0111
    );
    // p1 T !p0: !p0 held at 0 and the trigger came too late
    assert_eq!(
        at(&bin(Binary::Trigger, p(1), un(Unary::Not, p(0)))),
        0b1001
    );
    assert_eq!(
        at(&bin(Binary::Release, p(1), un(Unary::Not, p(0)))),
        0b1000
    );
    assert_eq!(
        at(&bin(Binary::Release, p(0), un(Unary::Not, p(1)))),
        0b0111
    );
    assert_eq!(
        at(&bin(Binary::StrongRelease, p(0), un(Unary::Not, p(1)))),
        0b0111
    );
    assert_eq!(
        at(&bin(
            Binary::WeakUntil,
            un(Unary::Not, p(0)),
            Formula::Const(false)
        )),
        0b1000
    );
}

/// The operators against their definitions by other operators, on all short words and on the empty run.
#[test]
fn finite_truth_obeys_the_definitions() {
    use Binary::*;
    use Unary::*;
    let not = |a: Formula| un(Not, a);
    let equal = [
        (
            bin(WeakSince, p(0), p(1)),
            bin(Or, bin(Since, p(0), p(1)), un(Historically, p(0))),
        ),
        (
            bin(Trigger, p(0), p(1)),
            not(bin(Since, not(p(0)), not(p(1)))),
        ),
        (un(Start, p(0)), bin(And, p(0), not(un(Yesterday, p(0))))),
        (un(End, p(0)), bin(And, not(p(0)), un(Yesterday, p(0)))),
        (
            bin(WeakUntil, p(0), p(1)),
            bin(Or, bin(Until, p(0), p(1)), un(Always, p(0))),
        ),
        (
            bin(Release, p(0), p(1)),
            not(bin(Until, not(p(0)), not(p(1)))),
        ),
        (
            bin(StrongRelease, p(0), p(1)),
            not(bin(WeakUntil, not(p(0)), not(p(1)))),
        ),
        (un(WeakNext, p(0)), not(un(Next, not(p(0))))),
        (un(WeakYesterday, p(0)), not(un(Yesterday, not(p(0))))),
        (un(Historically, p(0)), not(un(Once, not(p(0))))),
        (un(Always, p(0)), not(un(Eventually, not(p(0))))),
        (un(Times(Step::Next, 2), p(0)), un(Next, un(Next, p(0)))),
        (
            un(Times(Step::WeakYesterday, 2), p(0)),
            un(WeakYesterday, un(WeakYesterday, p(0))),
        ),
        (
            un(Somewhere(Direction::Ahead, 1, 2), p(0)),
            un(Next, bin(Or, p(0), un(Next, p(0)))),
        ),
        (
            un(Somewhere(Direction::Back, 0, 1), p(0)),
            bin(Or, p(0), un(Yesterday, p(0))),
        ),
        (
            un(Everywhere(Direction::Ahead, 1, 2), p(0)),
            not(un(Somewhere(Direction::Ahead, 1, 2), not(p(0)))),
        ),
        (
            un(Everywhere(Direction::Back, 1, 3), p(0)),
            not(un(Somewhere(Direction::Back, 1, 3), not(p(0)))),
        ),
    ];
    for word in words(4, 5) {
        let word: Vec<u32> = word.iter().map(|&l| l as u32).collect();
        for (a, b) in &equal {
            assert_eq!(
                finite::holds(a, &word),
                finite::holds(b, &word),
                "{a:?} on {word:?}"
            );
            if !word.is_empty() {
                assert_eq!(
                    finite::positions(a, &word),
                    finite::positions(b, &word),
                    "{a:?} on {word:?}"
                );
            }
        }
        // [a, b) is its own recurrence.
        let interval = bin(Interval, p(0), p(1));
        let unfolded = bin(
            And,
            not(p(1)),
            bin(Or, p(0), un(Yesterday, bin(Interval, p(0), p(1)))),
        );
        assert_eq!(
            finite::holds(&interval, &word),
            finite::holds(&unfolded, &word)
        );
        if !word.is_empty() {
            assert_eq!(
                finite::positions(&interval, &word),
                finite::positions(&unfolded, &word)
            );
        }
    }
}
