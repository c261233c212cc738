//! Functions that matter on a set of arguments only.

use super::{Diagram, Diagrams, Variable};

impl Diagrams {
    /// `function` on the arguments in `care`, made canonical elsewhere: the generalised cofactor of
    /// Coudert and Madre. Any argument is first moved to one in `care`, keeping what can be kept of
    /// it from the first variable on. So two functions that agree on `care` become equal, the result
    /// commutes with all Boolean operations, and it tests a variable only if `function` tests it or
    /// a later one.
    ///
    /// `care` has leaves 0 and 1, tests variables with two branches, and is not empty.
    pub(crate) fn constrain(&mut self, function: Diagram, care: Diagram) -> Diagram {
        if care == Diagram::TRUE || self.branches(function).is_empty() {
            return function;
        }
        if function == care {
            return Diagram::TRUE;
        }
        let key = (function, care);
        if let Some(&known) = self.constrained.get(&key) {
            return known;
        }
        let top = self.top(&[function, care]);
        let result = match *self.branches(care) {
            [low, high] if self.level(care) == top.0 && low == Diagram::FALSE => {
                let function = self.branch(function, top, 1);
                self.constrain(function, high)
            }
            [low, high] if self.level(care) == top.0 && high == Diagram::FALSE => {
                let function = self.branch(function, top, 0);
                self.constrain(function, low)
            }
            _ => self.descend(&[function, care], |this, parts| {
                this.constrain(parts[0], parts[1])
            }),
        };
        self.constrained.insert(key, result);
        result
    }

    /// The set of all `rows` of values for the variables from `first` on, one bit of a row each,
    /// the highest for the first variable. The rows are sorted.
    pub(crate) fn among_rows(&mut self, first: Variable, count: usize, rows: &[u128]) -> Diagram {
        if rows.is_empty() {
            return Diagram::FALSE;
        }
        if count == 0 {
            return Diagram::TRUE;
        }
        let bit = 1u128 << (count - 1);
        let middle = rows.partition_point(|row| row & bit == 0);
        let next = Variable(first.0 + 1);
        let low = self.among_rows(next, count - 1, &rows[..middle]);
        let high = self.among_rows(next, count - 1, &rows[middle..]);
        self.test(first, &[low, high])
    }
}
