//! Conditions as a sum of products, or as a product of sums.
//!
//! Split place by place, "one of these twenty neighbours is wrong" grows to thousands of literals; as a
//! sum of products it is twenty short ones. The sum is the irredundant one of Minato and Morreale: what
//! holds whatever is at a place does not mention the place. A product of sums is what the complement
//! has as a sum, with everything turned round.

use rustc_hash::FxHashMap;

use super::{Condition, MAX_LITERALS, write::ConditionWriter};
use crate::diagram::{Diagram, Variable};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NormalForm {
    Sum,
    Product,
}

/// A condition, and the set of letters that it is about: in a sum those where it holds, in a product
/// the others.
type Covered = (Diagram, Condition);

/// A search for one condition.
pub(super) struct Cover<'w, 'm> {
    writer: &'w mut ConditionWriter<'m>,
    form: NormalForm,
    /// By what must be covered and what may be.
    known: FxHashMap<(Diagram, Diagram), Covered>,
    /// What has more parts than can be written out is not worth looking for.
    steps_left: usize,
}

impl<'w, 'm> Cover<'w, 'm> {
    pub(super) fn new(writer: &'w mut ConditionWriter<'m>, form: NormalForm) -> Self {
        Cover {
            writer,
            form,
            known: FxHashMap::default(),
            steps_left: MAX_LITERALS,
        }
    }

    /// A condition for a set of letters; nothing if it takes too long to find.
    pub(super) fn condition(mut self, set: Diagram) -> Option<Condition> {
        let covered = match self.form {
            NormalForm::Sum => set,
            NormalForm::Product => self.writer.diagrams.not(set),
        };
        Some(self.between(covered, covered)?.1)
    }

    /// Covers at least and at most these letters.
    fn between(&mut self, least: Diagram, most: Diagram) -> Option<Covered> {
        let sum = self.form == NormalForm::Sum;
        if least == Diagram::FALSE {
            return Some((least, Condition::constant(!sum)));
        }
        if most == Diagram::TRUE {
            return Some((most, Condition::constant(sum)));
        }
        if let Some(known) = self.known.get(&(least, most)) {
            return Some(known.clone());
        }
        self.steps_left = self.steps_left.checked_sub(1)?;
        let place = self.writer.diagrams.top(&[least, most]);
        let cells = 0..self.writer.diagrams.arity(place);
        let bounds: Vec<(Diagram, Diagram)> = cells
            .map(|cell| {
                let [least, most] =
                    [least, most].map(|set| self.writer.diagrams.branch(set, place, cell));
                (least, most)
            })
            .collect();
        // What may be covered in every cell needs no literal.
        let anywhere = bounds.iter().fold(Diagram::TRUE, |all, (_, most)| {
            self.writer.diagrams.and(all, *most)
        });
        let mut groups: Vec<(Covered, Vec<bool>)> = Vec::new();
        let mut rest = Diagram::FALSE;
        for (cell, &(least, most)) in bounds.iter().enumerate() {
            let needed = self.without(least, anywhere);
            let covered = self.between(needed, most)?;
            let left = self.without(least, covered.0);
            rest = self.writer.diagrams.or(rest, left);
            let position = groups.iter().position(|(known, _)| known.0 == covered.0);
            let group = position.unwrap_or_else(|| {
                groups.push((covered, vec![false; bounds.len()]));
                groups.len() - 1
            });
            groups[group].1[cell] = true;
        }
        groups.retain(|((covered, _), _)| *covered != Diagram::FALSE);
        let (mut all, last) = self.between(rest, anywhere)?;
        let mut parts = Vec::new();
        for ((covered, condition), cells) in groups {
            let here = self.writer.diagrams.among(place, |cell| cells[cell]);
            let covered = self.writer.diagrams.and(here, covered);
            all = self.writer.diagrams.or(all, covered);
            parts.push(self.guarded(place, cells, condition));
        }
        parts.push(last);
        let condition = match self.form {
            NormalForm::Sum => Condition::any(parts),
            NormalForm::Product => parts.into_iter().fold(Condition::True, Condition::and),
        };
        self.known.insert((least, most), (all, condition.clone()));
        Some((all, condition))
    }

    /// A condition in some cells of a place only.
    fn guarded(&self, place: Variable, mut cells: Vec<bool>, condition: Condition) -> Condition {
        let place = place.0 as usize;
        match self.form {
            NormalForm::Sum => self.writer.cells(place, &cells).and(condition),
            NormalForm::Product => {
                cells.iter_mut().for_each(|cell| *cell = !*cell);
                Condition::any(vec![self.writer.cells(place, &cells), condition])
            }
        }
    }

    fn without(&mut self, set: Diagram, other: Diagram) -> Diagram {
        let others = self.writer.diagrams.not(other);
        self.writer.diagrams.and(set, others)
    }
}
