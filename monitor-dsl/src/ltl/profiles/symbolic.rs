//! The graph of profiles as diagrams.
//!
//! A set of profiles is a diagram over the elements here, the edges are one over the letter and the
//! elements here and there. As each profile known so far is that of some word, and letters before a
//! word make a word, most of what is asked of a new until is answered by going backwards along
//! edges: it holds where it is fulfilled after finitely many steps, and fails where it is refuted.
//! Only that it is put off for ever takes fair paths (Emerson and Lei); bounds from below and above
//! mostly agree and save that.

use rustc_hash::FxHashMap;

use super::{
    Profiles,
    updates::{Role, Until, Updates},
};
use crate::{
    alphabet::Alphabet,
    diagram::{Diagram, Diagrams, Quantifier, Variable},
};

/// All profiles, as far as the budget allows.
pub(super) fn profiles(
    updates: &mut Updates,
    diagrams: &mut Diagrams,
    alphabet: &Alphabet,
    with_finite: bool,
) -> Profiles {
    let quantified = |role: &Role| !matches!(role, Role::Here(_));
    let bound = updates.roles.iter().map(quantified).collect();
    let possible = updates.possible;
    let mut graph = SymbolicGraph {
        quantifier: Quantifier::new(bound),
        updates,
        moved: FxHashMap::default(),
        edges: possible,
        ends: possible,
        promises: Vec::new(),
        finite: Diagram::FALSE,
        infinite: Diagram::TRUE,
        with_finite,
    };
    let mut place = 0;
    while place < graph.updates.elements.len() && !graph.updates.store.exhausted() {
        place = graph.extend(place);
    }
    let first = alphabet.bound().0;
    let (finite, infinite) = (graph.finite, graph.infinite);
    let test = |diagrams: &mut Diagrams, variable: Variable, branches: &[Diagram]| {
        let Role::Here(element) = updates.roles[variable.0 as usize] else {
            unreachable!("profiles are functions of elements here")
        };
        diagrams.select(Variable(first + element as u32), branches)
    };
    let mut memo = FxHashMap::default();
    let mut copy = |set| updates.store.transfer(diagrams, set, &test, &mut memo);
    let (finite, infinite) = (copy(finite), copy(infinite));
    Profiles {
        all: diagrams.or(finite, infinite),
        infinite,
    }
}

struct SymbolicGraph<'u> {
    updates: &'u mut Updates,
    /// Over letters and elements there.
    quantifier: Quantifier,
    /// Sets of profiles that were moved to the next position.
    moved: FxHashMap<Diagram, Diagram>,
    /// Edges to profiles of words that are not empty.
    edges: Diagram,
    /// Edges to the end.
    ends: Diagram,
    /// For each until, the edges that do not put it off.
    promises: Vec<Diagram>,
    finite: Diagram,
    infinite: Diagram,
    with_finite: bool,
}

impl SymbolicGraph<'_> {
    /// Takes the elements from `place` on into account, up to the first until. Returns the place
    /// after it.
    fn extend(&mut self, mut place: usize) -> usize {
        let mut until = None;
        let mut without = self.edges;
        while place < self.updates.elements.len() && until.is_none() {
            without = self.edges;
            until = self.join(place);
            place += 1;
        }
        match until {
            None => self.settle(),
            Some(until) => {
                let with = std::mem::replace(&mut self.edges, without);
                self.settle();
                let forever = self.forever(until.decided);
                self.edges = with;
                self.decide(place - 1, until, forever);
            }
        }
        if self.with_finite {
            let ends = self.before(self.ends, Diagram::TRUE);
            self.finite = self.reaching(ends, self.edges);
        }
        let all = self.updates.store.or(self.finite, self.infinite);
        let all = self.there(all);
        self.edges = self.updates.store.and(self.edges, all);
        place
    }

    /// Adds the update of an element to the edges.
    fn join(&mut self, place: usize) -> Option<Until> {
        let here = self.updates.element_here(place);
        let there = self.updates.element_there(place);
        let update = &self.updates.elements[place];
        let (value, last, is_memory) = (update.value, update.last, update.is_memory);
        let until = update.until;
        let store = &mut self.updates.store;
        let follows = if is_memory {
            store.equal(there, value)
        } else {
            store.equal(here, value)
        };
        self.edges = store.and(self.edges, follows);
        if !is_memory {
            let follows = store.equal(here, last);
            self.ends = store.and(self.ends, follows);
        }
        until
    }

    /// The infinite words' profiles after elements were added that are no untils: what an element
    /// says follows from finitely many letters.
    fn settle(&mut self) {
        self.infinite = self.remaining(self.infinite, self.edges);
    }

    /// Where an until that has just been added holds, and where not.
    fn decide(&mut self, place: usize, until: Until, forever: Diagram) {
        let here = self.updates.element_here(place);
        let store = &mut self.updates.store;
        let decided = store.and(self.edges, until.decided);
        let decided = self.before(decided, self.infinite);
        let decided = self.reaching(decided, self.edges);
        let store = &mut self.updates.store;
        let fails = store.not(here);
        let forever = store.and(forever, fails);
        self.infinite = store.or(decided, forever);
        let kept = store.or(fails, until.fulfilled);
        self.promises.push(kept);
    }

    /// The infinite words' profiles from which an until can be put off for ever.
    fn forever(&mut self, decided: Diagram) -> Diagram {
        let store = &mut self.updates.store;
        let waiting = store.not(decided);
        let edges = store.and(self.edges, waiting);
        let most = self.remaining(self.infinite, edges);
        if most == Diagram::FALSE || self.promises.is_empty() {
            return most;
        }
        let promises = self.promises.clone();
        let at_once = promises
            .iter()
            .fold(edges, |edges, &kept| self.updates.store.and(edges, kept));
        let least = self.remaining(most, at_once);
        let least = self.reaching(least, edges);
        if least == most {
            return most;
        }
        let mut fair = most;
        loop {
            let before = fair;
            // The later an until was added, the more it has to do with this one.
            for &kept in promises.iter().rev() {
                let kept = self.updates.store.and(edges, kept);
                let goals = self.before(kept, fair);
                let goals = self.updates.store.and(goals, fair);
                if goals != fair {
                    let goals = self.updates.store.or(goals, least);
                    fair = self.reaching_within(goals, edges, fair);
                }
                if fair == least {
                    return fair;
                }
            }
            if fair == before || self.updates.store.exhausted() {
                return fair;
            }
        }
    }

    /// The profiles that some of the `edges` lead from to a profile in `set`.
    fn before(&mut self, edges: Diagram, set: Diagram) -> Diagram {
        let there = self.there(set);
        self.quantifier.meet(&mut self.updates.store, edges, there)
    }

    /// The same profiles, at the next position.
    fn there(&mut self, set: Diagram) -> Diagram {
        let roles = &self.updates.roles;
        let there = &self.updates.there;
        let rename = |variable: Variable| match roles[variable.0 as usize] {
            Role::Here(element) => there[element],
            _ => unreachable!("profiles are functions of elements here"),
        };
        self.updates.store.renamed(set, &rename, &mut self.moved)
    }

    /// The profiles from which `edges` lead to `goals`.
    fn reaching(&mut self, goals: Diagram, edges: Diagram) -> Diagram {
        self.reaching_within(goals, edges, Diagram::TRUE)
    }

    fn reaching_within(&mut self, goals: Diagram, edges: Diagram, within: Diagram) -> Diagram {
        let mut reached = goals;
        loop {
            let before = self.before(edges, reached);
            let before = self.updates.store.and(before, within);
            let more = self.updates.store.or(reached, before);
            if more == reached || self.updates.store.exhausted() {
                return reached;
            }
            reached = more;
        }
    }

    /// The profiles of a set from which `edges` lead for ever through the set.
    fn remaining(&mut self, set: Diagram, edges: Diagram) -> Diagram {
        let mut remaining = set;
        loop {
            let before = self.before(edges, remaining);
            let fewer = self.updates.store.and(before, remaining);
            if fewer == remaining || self.updates.store.exhausted() {
                return remaining;
            }
            remaining = fewer;
        }
    }
}
