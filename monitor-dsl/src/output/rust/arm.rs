//! One arm of the machine's `match`: the edges of a state. Parts of conditions that occur more than once
//! get a name, so that the code is never larger than the machine.

use rustc_hash::FxHashMap;
use std::fmt::Write;

use crate::{condition::Condition, monitor::StateId};

/// Shorter parts are repeated.
const MIN_SHARED: usize = 4;

/// The expression for the next state.
pub(super) fn of_edges(edges: &[(StateId, Condition)]) -> String {
    let (last, others) = edges.split_last().expect("every state has a successor");
    if others.is_empty() {
        return last.0.index().to_string();
    }
    let mut shared = Shared::default();
    for (_, when) in others {
        shared.count(when);
    }
    let mut definitions = String::new();
    for (_, when) in others {
        shared.define(when, &mut definitions);
    }
    let mut choice = String::new();
    for (to, when) in others {
        let when = shared.spell(when);
        write!(choice, "if {when} {{ {} }} else ", to.index())
            .expect("writing to a string does not fail");
    }
    write!(choice, "{{ {} }}", last.0.index()).expect("writing to a string does not fail");
    if definitions.is_empty() {
        choice
    } else {
        format!("{{ {definitions}{choice} }}")
    }
}

/// The parts of conditions that occur more than once, by their address.
#[derive(Default)]
struct Shared {
    uses: FxHashMap<*const Condition, usize>,
    names: FxHashMap<*const Condition, String>,
}

impl Shared {
    fn count(&mut self, condition: &Condition) {
        let Some(parts) = condition.parts() else {
            return;
        };
        let uses = self.uses.entry(parts.as_ptr()).or_default();
        *uses += 1;
        if *uses == 1 {
            parts.iter().for_each(|part| self.count(part));
        }
    }

    /// Writes definitions of the shared parts that have none yet, inner ones first.
    fn define(&mut self, condition: &Condition, out: &mut String) {
        let Some(parts) = condition.parts() else {
            return;
        };
        if self.names.contains_key(&parts.as_ptr()) {
            return;
        }
        parts.iter().for_each(|part| self.define(part, out));
        if self.uses[&parts.as_ptr()] > 1 && condition.literals() >= MIN_SHARED {
            let name = format!("c{}", self.names.len());
            let text = self.spell(condition);
            write!(out, "let {name} = {text}; ").expect("writing to a string does not fail");
            self.names.insert(parts.as_ptr(), name);
        }
    }

    fn spell(&self, condition: &Condition) -> String {
        let name = |part: &Condition| match part {
            Condition::Proposition(index) => Some(format!("p{index}")),
            Condition::Not(index) => Some(format!("!p{index}")),
            other => self.names.get(&other.parts()?.as_ptr()).cloned(),
        };
        condition.spell(&name, " ^ ")
    }
}
