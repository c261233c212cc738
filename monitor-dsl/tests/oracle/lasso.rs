//! Truth of a formula on an ultimately periodic word `prefix · cycle^ω`, by the definitions.
//!
//! Every subformula is periodic with the length of the cycle from some position on. A past operator may need one more
//! turn of the cycle before it repeats (what it carries over from one turn to the next is a monotone function of one
//! bit, so it is steady after one turn; `Y` only shifts by one), so the word is unrolled once for each past operator
//! (as often as it counts), and the last turn stands for all later ones.

use super::formula::{Binary, Direction, Formula, Step, Unary};

/// Whether `prefix · cycle^ω` satisfies `formula`.
pub(crate) fn holds(formula: &Formula, prefix: &[u32], cycle: &[u32]) -> bool {
    assert!(!cycle.is_empty());
    let turns = formula.temporal_operators() + 2;
    let mut word = prefix.to_vec();
    for _ in 0..turns {
        word.extend(cycle);
    }
    let loop_start = word.len() - cycle.len();
    positions(formula, &Lasso { word, loop_start })[0]
}

struct Lasso {
    word: Vec<u32>,
    /// The position that follows the last one.
    loop_start: usize,
}

impl Lasso {
    /// The positions from `i` on, in order, each at least once: everything that a future operator at `i` can see.
    fn future(&self, i: usize) -> impl Iterator<Item = usize> + Clone {
        (i..self.word.len()).chain(self.loop_start..i.max(self.loop_start))
    }

    /// The position this many steps after `i`.
    fn ahead(&self, i: usize, steps: u32) -> usize {
        (0..steps).fold(i, |i, _| self.successor(i))
    }

    /// The position this many steps before `i`.
    fn back(&self, i: usize, steps: u32) -> Option<usize> {
        i.checked_sub(steps as usize)
    }

    fn successor(&self, i: usize) -> usize {
        if i + 1 == self.word.len() {
            self.loop_start
        } else {
            i + 1
        }
    }
}

fn positions(formula: &Formula, lasso: &Lasso) -> Vec<bool> {
    let n = lasso.word.len();
    let where_ = |test: &dyn Fn(usize) -> bool| (0..n).map(test).collect::<Vec<bool>>();
    match formula {
        Formula::Const(value) => vec![*value; n],
        Formula::Prop(p) => where_(&|i| lasso.word[i] >> p & 1 == 1),
        Formula::Unary(op, a) => {
            let a = positions(a, lasso);
            match op {
                Unary::Not => where_(&|i| !a[i]),
                Unary::Next | Unary::WeakNext => where_(&|i| a[lasso.successor(i)]),
                Unary::Eventually => where_(&|i| lasso.future(i).any(|j| a[j])),
                Unary::Always => where_(&|i| lasso.future(i).all(|j| a[j])),
                Unary::Yesterday => where_(&|i| i > 0 && a[i - 1]),
                Unary::WeakYesterday => where_(&|i| i == 0 || a[i - 1]),
                Unary::Once => where_(&|i| (0..=i).any(|j| a[j])),
                Unary::Historically => where_(&|i| (0..=i).all(|j| a[j])),
                Unary::Start => where_(&|i| a[i] && !(i > 0 && a[i - 1])),
                Unary::End => where_(&|i| !a[i] && i > 0 && a[i - 1]),
                Unary::Times(step, times) => match step {
                    // There is no end.
                    Step::Next | Step::WeakNext => where_(&|i| a[lasso.ahead(i, *times)]),
                    Step::Yesterday => where_(&|i| lasso.back(i, *times).is_some_and(|j| a[j])),
                    Step::WeakYesterday => where_(&|i| lasso.back(i, *times).is_none_or(|j| a[j])),
                },
                Unary::Somewhere(Direction::Ahead, least, most) => {
                    where_(&|i| (*least..=*most).any(|steps| a[lasso.ahead(i, steps)]))
                }
                Unary::Everywhere(Direction::Ahead, least, most) => {
                    where_(&|i| (*least..=*most).all(|steps| a[lasso.ahead(i, steps)]))
                }
                Unary::Somewhere(Direction::Back, least, most) => where_(&|i| {
                    (*least..=*most).any(|steps| lasso.back(i, steps).is_some_and(|j| a[j]))
                }),
                Unary::Everywhere(Direction::Back, least, most) => where_(&|i| {
                    (*least..=*most).all(|steps| lasso.back(i, steps).is_none_or(|j| a[j]))
                }),
            }
        }
        Formula::Binary(op, a, b) => {
            let (a, b) = (positions(a, lasso), positions(b, lasso));
            // The first position of interest decides; if there is none, the operator's weakness does.
            let first = |i: usize, stop: &dyn Fn(usize) -> Option<bool>, otherwise: bool| {
                lasso.future(i).find_map(stop).unwrap_or(otherwise)
            };
            let until = |j: usize| {
                if b[j] {
                    Some(true)
                } else {
                    (!a[j]).then_some(false)
                }
            };
            let release = |j: usize| {
                if !b[j] {
                    Some(false)
                } else {
                    a[j].then_some(true)
                }
            };
            let since = |i: usize| (0..=i).any(|j| b[j] && (j + 1..=i).all(|k| a[k]));
            match op {
                Binary::And => where_(&|i| a[i] && b[i]),
                Binary::Or => where_(&|i| a[i] || b[i]),
                Binary::Xor => where_(&|i| a[i] != b[i]),
                Binary::Implies => where_(&|i| !a[i] || b[i]),
                Binary::Iff => where_(&|i| a[i] == b[i]),
                Binary::Until => where_(&|i| first(i, &until, false)),
                Binary::WeakUntil => where_(&|i| first(i, &until, true)),
                Binary::Release => where_(&|i| first(i, &release, true)),
                Binary::StrongRelease => where_(&|i| first(i, &release, false)),
                Binary::Since => where_(&since),
                Binary::WeakSince => where_(&|i| since(i) || (0..=i).all(|j| a[j])),
                Binary::Trigger => where_(&|i| (0..=i).all(|j| b[j] || (j + 1..=i).any(|k| a[k]))),
                Binary::Interval => where_(&|i| (0..=i).any(|j| a[j] && (j..=i).all(|k| !b[k]))),
            }
        }
    }
}
