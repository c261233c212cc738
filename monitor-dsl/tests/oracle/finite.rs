//! Finite-trace truth of LTL, by the definitions: every operator is a statement about positions of the word, with "some
//! position" and "all positions" spelt out, never a recurrence. On the empty run the page's table decides.

use super::formula::{Binary, Direction, Formula, Step, Unary};

/// Whether the run `word` (valuations of the propositions) satisfies `formula`, if it ends here.
pub(crate) fn holds(formula: &Formula, word: &[u32]) -> bool {
    if word.is_empty() {
        holds_on_empty_run(formula)
    } else {
        positions(formula, word) & 1 == 1
    }
}

/// The truth on the empty run.
pub(crate) fn holds_on_empty_run(formula: &Formula) -> bool {
    match formula {
        Formula::Const(value) => *value,
        Formula::Prop(_) => false,
        Formula::Unary(op, a) => match op {
            Unary::Not => !holds_on_empty_run(a),
            Unary::Next | Unary::Eventually | Unary::Yesterday | Unary::Once => false,
            Unary::WeakNext | Unary::Always | Unary::WeakYesterday | Unary::Historically => true,
            // start(a) is a && !Y a, end(a) is !a && Y a, and Y is false.
            Unary::Start => holds_on_empty_run(a),
            Unary::End => false,
            Unary::Times(_, 0) => holds_on_empty_run(a),
            Unary::Times(Step::Next | Step::Yesterday, _) => false,
            Unary::Times(Step::WeakNext | Step::WeakYesterday, _) => true,
            // There is no position that could be so far away.
            Unary::Somewhere(..) => false,
            Unary::Everywhere(..) => true,
        },
        Formula::Binary(op, a, b) => {
            let (a, b) = (holds_on_empty_run(a), holds_on_empty_run(b));
            match op {
                Binary::And => a && b,
                Binary::Or => a || b,
                Binary::Xor => a != b,
                Binary::Implies => !a || b,
                Binary::Iff => a == b,
                Binary::Until | Binary::StrongRelease | Binary::Since => false,
                Binary::WeakUntil | Binary::Release | Binary::WeakSince | Binary::Trigger => true,
                // [a, b) is !b && (a || the interval at the previous position), and there is none.
                Binary::Interval => !b && a,
            }
        }
    }
}

/// Whether position `j` is at least and at most this many steps away from `i`, in that direction.
fn is_within(to: Direction, i: usize, j: usize, least: u32, most: u32) -> bool {
    let steps = match to {
        Direction::Ahead => j.checked_sub(i),
        Direction::Back => i.checked_sub(j),
    };
    steps.is_some_and(|steps| (least as usize..=most as usize).contains(&steps))
}

/// The positions of a non-empty word at which the formula holds, as a bit set.
pub(crate) fn positions(formula: &Formula, word: &[u32]) -> u32 {
    let n = word.len();
    assert!((1..=32).contains(&n), "words of 1 to 32 letters");
    let where_ = |test: &dyn Fn(usize) -> bool| (0..n).map(|i| u32::from(test(i)) << i).sum();
    match formula {
        Formula::Const(value) => where_(&|_| *value),
        Formula::Prop(p) => where_(&|i| word[i] >> p & 1 == 1),
        Formula::Unary(op, a) => {
            let set = positions(a, word);
            let a = |i: usize| set >> i & 1 == 1;
            match op {
                Unary::Not => where_(&|i| !a(i)),
                Unary::Next => where_(&|i| i + 1 < n && a(i + 1)),
                Unary::WeakNext => where_(&|i| i + 1 == n || a(i + 1)),
                Unary::Eventually => where_(&|i| (i..n).any(a)),
                Unary::Always => where_(&|i| (i..n).all(a)),
                Unary::Yesterday => where_(&|i| i > 0 && a(i - 1)),
                Unary::WeakYesterday => where_(&|i| i == 0 || a(i - 1)),
                Unary::Once => where_(&|i| (0..=i).any(a)),
                Unary::Historically => where_(&|i| (0..=i).all(a)),
                Unary::Start => where_(&|i| a(i) && !(i > 0 && a(i - 1))),
                Unary::End => where_(&|i| !a(i) && i > 0 && a(i - 1)),
                Unary::Times(step, times) => {
                    let times = *times as usize;
                    match step {
                        Step::Next => where_(&|i| i + times < n && a(i + times)),
                        Step::WeakNext => where_(&|i| i + times >= n || a(i + times)),
                        Step::Yesterday => where_(&|i| i >= times && a(i - times)),
                        Step::WeakYesterday => where_(&|i| i < times || a(i - times)),
                    }
                }
                Unary::Somewhere(to, least, most) => {
                    where_(&|i| (0..n).any(|j| is_within(*to, i, j, *least, *most) && a(j)))
                }
                Unary::Everywhere(to, least, most) => {
                    where_(&|i| (0..n).all(|j| !is_within(*to, i, j, *least, *most) || a(j)))
                }
            }
        }
        Formula::Binary(op, a, b) => {
            let (set_a, set_b) = (positions(a, word), positions(b, word));
            let a = |i: usize| set_a >> i & 1 == 1;
            let b = |i: usize| set_b >> i & 1 == 1;
            let until = |i: usize| (i..n).any(|j| b(j) && (i..j).all(a));
            let since = |i: usize| (0..=i).any(|j| b(j) && (j + 1..=i).all(a));
            match op {
                Binary::And => where_(&|i| a(i) && b(i)),
                Binary::Or => where_(&|i| a(i) || b(i)),
                Binary::Xor => where_(&|i| a(i) != b(i)),
                Binary::Implies => where_(&|i| !a(i) || b(i)),
                Binary::Iff => where_(&|i| a(i) == b(i)),
                Binary::Until => where_(&until),
                Binary::WeakUntil => where_(&|i| until(i) || (i..n).all(a)),
                Binary::Release => where_(&|i| (i..n).all(|j| b(j) || (i..j).any(a))),
                Binary::StrongRelease => where_(&|i| (i..n).any(|j| a(j) && (i..=j).all(b))),
                Binary::Since => where_(&since),
                Binary::WeakSince => where_(&|i| since(i) || (0..=i).all(a)),
                Binary::Trigger => where_(&|i| (0..=i).all(|j| b(j) || (j + 1..=i).any(a))),
                // a began it at some j, and from then on b never ended it.
                Binary::Interval => where_(&|i| (0..=i).any(|j| a(j) && (j..=i).all(|k| !b(k)))),
            }
        }
    }
}
