//! Existential quantification over a fixed set of variables, and copies with other variables.

use rustc_hash::FxHashMap;

use super::{Branches, Diagram, Diagrams, Variable, View};

/// Quantifies over some variables of a store. What was found is kept, so one of these serves for one
/// store.
pub(crate) struct Quantifier {
    /// By variable: whether it is quantified.
    bound: Vec<bool>,
    known: FxHashMap<(Diagram, Diagram), Diagram>,
}

impl Quantifier {
    pub(crate) fn new(bound: Vec<bool>) -> Self {
        Quantifier {
            bound,
            known: FxHashMap::default(),
        }
    }

    /// Whether some values of the quantified variables make `diagram` true.
    pub(crate) fn exists(&mut self, diagrams: &mut Diagrams, diagram: Diagram) -> Diagram {
        self.meet(diagrams, diagram, Diagram::TRUE)
    }

    /// Whether some values of the quantified variables make both `a` and `b` true.
    pub(crate) fn meet(&mut self, diagrams: &mut Diagrams, a: Diagram, b: Diagram) -> Diagram {
        if a == Diagram::FALSE || b == Diagram::FALSE {
            return Diagram::FALSE;
        }
        if a == Diagram::TRUE && b == Diagram::TRUE {
            return Diagram::TRUE;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let top = diagrams.top(&[a, b]);
        let result = if self.bound[top.0 as usize] {
            let mut some = Diagram::FALSE;
            diagrams.spend(1);
            for cell in 0..diagrams.arity(top) {
                let [a, b] = [a, b].map(|part| diagrams.branch(part, top, cell));
                let part = self.meet(diagrams, a, b);
                some = diagrams.or(some, part);
                if some == Diagram::TRUE || diagrams.exhausted() {
                    break;
                }
            }
            some
        } else {
            diagrams.descend(&[a, b], |diagrams, parts| {
                self.meet(diagrams, parts[0], parts[1])
            })
        };
        self.known.insert(key, result);
        result
    }
}

impl Diagrams {
    /// Copies a diagram to another store, every test to what `test` makes of its variable and the copies of its branches. The
    /// order of the variables may be another there.
    pub(crate) fn transfer(
        &self,
        to: &mut Diagrams,
        diagram: Diagram,
        test: &impl Fn(&mut Diagrams, Variable, &[Diagram]) -> Diagram,
        memo: &mut FxHashMap<Diagram, Diagram>,
    ) -> Diagram {
        let variable = match self.view(diagram) {
            View::Leaf(result) => return to.leaf(result),
            View::Test(variable) => variable,
        };
        if let Some(&known) = memo.get(&diagram) {
            return known;
        }
        let mut branches = Branches::from_slice(self.branches(diagram));
        for branch in &mut branches {
            *branch = self.transfer(to, *branch, test, memo);
        }
        let copy = test(to, variable, &branches);
        memo.insert(diagram, copy);
        copy
    }

    /// The diagram that continues with the branch of a variable's value, whatever the order of the variables that are tested
    /// there.
    pub(crate) fn select(&mut self, variable: Variable, branches: &[Diagram]) -> Diagram {
        let mut all = Diagram::FALSE;
        for (cell, &branch) in branches.iter().enumerate() {
            let here = self.among(variable, |other| other == cell);
            let part = self.and(here, branch);
            all = self.or(all, part);
        }
        all
    }

    /// The diagram with every test made one of the variable that `rename` gives for it, which must
    /// keep the order.
    pub(crate) fn renamed(
        &mut self,
        diagram: Diagram,
        rename: &impl Fn(Variable) -> Variable,
        memo: &mut FxHashMap<Diagram, Diagram>,
    ) -> Diagram {
        let View::Test(variable) = self.view(diagram) else {
            return diagram;
        };
        if let Some(&known) = memo.get(&diagram) {
            return known;
        }
        self.spend(1);
        let mut branches = Branches::from_slice(self.branches(diagram));
        for branch in &mut branches {
            *branch = self.renamed(*branch, rename, memo);
        }
        let result = self.test(rename(variable), &branches);
        memo.insert(diagram, result);
        result
    }

    /// The diagram with functions put in for some of its variables, which have two branches.
    pub(crate) fn substitute(
        &mut self,
        diagram: Diagram,
        given: &FxHashMap<Variable, Diagram>,
        memo: &mut FxHashMap<Diagram, Diagram>,
    ) -> Diagram {
        let View::Test(variable) = self.view(diagram) else {
            return diagram;
        };
        if let Some(&known) = memo.get(&diagram) {
            return known;
        }
        let condition = match given.get(&variable) {
            Some(&condition) => condition,
            None => self.among(variable, |cell| cell == 1),
        };
        let [low, high] = [0, 1].map(|cell| self.branch(diagram, variable, cell));
        let result = match condition {
            Diagram::FALSE => self.substitute(low, given, memo),
            Diagram::TRUE => self.substitute(high, given, memo),
            _ => {
                let low = self.substitute(low, given, memo);
                let high = self.substitute(high, given, memo);
                self.if_then_else(condition, high, low)
            }
        };
        memo.insert(diagram, result);
        result
    }
}
