//! Properties that are violated where local conditions hold together.
//!
//! An invariant over single variables (`always !(x > 5 && y > 5)`) is violated in a cut iff the
//! cells of the gauges then form one of finitely many combinations. Those are grouped into boxes: a
//! set of cells for each of some variables. Since all writes of one variable are ordered, each box
//! is a *conjunctive predicate* of Garg and Waldecker, and whether a cut satisfies it can be found
//! without a lattice.

use crate::alphabet::{Alphabet, Letter, VariableId};
use crate::{
    monitor::{Monitor, StateId},
    verdict::Verdict,
};

/// More boxes than this are not worth searching one by one.
const MAX_BOXES: usize = 64;
/// Alphabets with more letters than this are not examined.
const MAX_LETTERS: usize = 1 << 14;

/// Conditions on different variables; the property is violated where all of them hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conjunction {
    locals: Vec<LocalCondition>,
}

/// A condition on one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalCondition {
    variable: VariableId,
    gauge: usize,
    /// Whether each cell of the gauge satisfies it.
    cells: Vec<bool>,
}

impl Conjunction {
    /// The conditions, on different variables. None at all means: violated everywhere.
    pub fn locals(&self) -> &[LocalCondition] {
        &self.locals
    }
}

impl LocalCondition {
    /// The variable.
    pub fn variable(&self) -> VariableId {
        self.variable
    }

    /// Whether the condition holds in a letter of the property's alphabet.
    pub fn holds(&self, alphabet: &Alphabet, letter: Letter) -> bool {
        self.cells[alphabet.gauge_cell(letter, self.gauge)]
    }
}

impl Monitor {
    /// The conjunctions of local conditions one of which holds exactly where the property is
    /// violated; `None` if it is not violated by the values of single variables alone, or by too
    /// many combinations of them.
    ///
    /// ```
    /// use portent_monitor_dsl::Property;
    ///
    /// let monitor = Property::parse("always (x <= 5 || (y > 1 && z > 2))")?.monitor()?;
    /// let conjunctions = monitor.conjunctions().unwrap();
    /// // x > 5 and not y > 1, or x > 5 and y > 1 and not z > 2.
    /// assert_eq!(conjunctions.len(), 2);
    /// assert!(Property::parse("always (x > 5 -> once x == 3)")?.monitor()?.conjunctions().is_none());
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn conjunctions(&self) -> Option<Vec<Conjunction>> {
        let alphabet = self.alphabet();
        let variables: Vec<Vec<VariableId>> = alphabet
            .gauges()
            .iter()
            .map(|gauge| gauge.variables())
            .collect();
        let is_local = |(index, reads): (usize, &Vec<VariableId>)| {
            reads.len() == 1 && !variables[..index].contains(reads)
        };
        if !alphabet.reads_variables()
            || combinations(alphabet).is_none()
            || !variables.iter().enumerate().all(is_local)
        {
            return None;
        }
        let violated = violating_gauges(self)?;
        let mut boxes = Boxes {
            radices: gauge_cells(alphabet).collect(),
            violated: &violated,
            found: Vec::new(),
        };
        boxes.split(0, 0, 1, &mut Vec::new())?;
        let conjunction = |cells: Vec<Vec<bool>>| {
            let locals = cells
                .into_iter()
                .enumerate()
                .filter(|(_, cells)| cells.contains(&false))
                .map(|(gauge, cells)| LocalCondition {
                    variable: variables[gauge][0],
                    gauge,
                    cells,
                });
            Conjunction {
                locals: locals.collect(),
            }
        };
        Some(boxes.found.into_iter().map(conjunction).collect())
    }
}

fn gauge_cells(alphabet: &Alphabet) -> impl Iterator<Item = usize> {
    alphabet.gauges().iter().map(|gauge| gauge.cells as usize)
}

/// How many combinations of gauges' cells there are, if not too many.
fn combinations(alphabet: &Alphabet) -> Option<usize> {
    let product = |product: usize, cells| product.checked_mul(cells).filter(|&n| n <= MAX_LETTERS);
    gauge_cells(alphabet).try_fold(1, product)
}

/// The letter without an event for a combination of gauges' cells.
fn letter_of(alphabet: &Alphabet, combination: usize) -> Letter {
    let mut rest = combination;
    let code = |letter: u64, place: &crate::alphabet::BitField| {
        let cell = rest % place.cells as usize;
        rest /= place.cells as usize;
        letter | place.code(cell as u32)
    };
    Letter(alphabet.places()[1..].iter().fold(0, code))
}

fn combination_of(alphabet: &Alphabet, letter: Letter) -> usize {
    let places = alphabet.places()[1..].iter().rev();
    places.fold(0, |number, place| {
        number * place.cells as usize + place.cell(letter)
    })
}

/// For every combination of gauges' cells, whether it violates the property; `None` if that
/// depends on anything else.
fn violating_gauges(monitor: &Monitor) -> Option<Vec<bool>> {
    let alphabet = monitor.alphabet();
    let combinations = combinations(alphabet)?;
    let violates = |state: StateId, letter: Letter| {
        let next = monitor.next(state, letter);
        (monitor.verdict(next) == Verdict::Violated, next)
    };
    let mut violated = Vec::new();
    let mut open: Vec<StateId> = Vec::new();
    for gauges in 0..combinations {
        let (is_violated, next) = violates(monitor.initial(), letter_of(alphabet, gauges));
        violated.push(is_violated);
        if !is_violated && !open.contains(&next) {
            open.push(next);
        }
    }
    // Whatever open state the monitor gets into, the same combinations must violate it.
    let mut index = 0;
    while let Some(&state) = open.get(index) {
        for letter in alphabet.letters() {
            let (is_violated, next) = violates(state, letter);
            if is_violated != violated[combination_of(alphabet, letter)] {
                return None;
            }
            if !is_violated && !open.contains(&next) {
                open.push(next);
            }
        }
        index += 1;
    }
    Some(violated)
}

/// Splits the violating combinations into boxes, one gauge after the other: cells with the same
/// combinations of later gauges stay together.
struct Boxes<'a> {
    radices: Vec<usize>,
    violated: &'a [bool],
    found: Vec<Vec<Vec<bool>>>,
}

impl Boxes<'_> {
    fn split(
        &mut self,
        gauge: usize,
        combination: usize,
        stride: usize,
        cells: &mut Vec<Vec<bool>>,
    ) -> Option<()> {
        let Some(&radix) = self.radices.get(gauge) else {
            if self.violated[combination] {
                self.found.push(cells.clone());
            }
            return (self.found.len() <= MAX_BOXES).then_some(());
        };
        let rest: usize = self.radices[gauge + 1..].iter().product();
        let later = |cell: usize| -> Vec<bool> {
            let step = stride * radix;
            (0..rest)
                .map(|index| self.violated[combination + cell * stride + index * step])
                .collect()
        };
        let mut groups: Vec<(Vec<bool>, Vec<usize>)> = Vec::new();
        for cell in 0..radix {
            let pattern = later(cell);
            match groups.iter_mut().find(|(known, _)| *known == pattern) {
                Some((_, group)) => group.push(cell),
                None => groups.push((pattern, vec![cell])),
            }
        }
        for (_, group) in groups {
            cells.push((0..radix).map(|cell| group.contains(&cell)).collect());
            self.split(
                gauge + 1,
                combination + group[0] * stride,
                stride * radix,
                cells,
            )?;
            cells.pop();
        }
        Some(())
    }
}
