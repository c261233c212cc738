//! The names that a run uses: the names of a property are compared with them, to see whether it fits.

use portent_monitor_core::{Event, Id, NameId, Operation, Symbols, VarId};
use smallvec::SmallVec;

use super::Step;

/// The number of events with a certain number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arity {
    pub(crate) arguments: usize,
    pub(crate) events: u64,
}

/// The names of a run, for all properties.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// For each name of an application event, the numbers of arguments of such events.
    events: Vec<SmallVec<[Arity; 1]>>,
    /// Which variables are written.
    written: Vec<bool>,
    /// The operations that occur, one bit for each.
    operations: u32,
    /// Whether there are application events without a name: log lines that only have a text.
    has_unnamed: bool,
}

impl Names {
    /// Takes the next event of the run.
    pub(crate) fn note(&mut self, event: &Event) {
        if let Some(operation) = event.op.operation() {
            self.operations |= 1 << operation as u32;
        }
        for (variable, _) in event.writes() {
            *variable.entry(&mut self.written) = true;
        }
        let Some(action) = event.action() else { return };
        let Some(name) = action.name else {
            self.has_unnamed = true;
            return;
        };
        let arities = name.entry(&mut self.events);
        let arguments = action.args.len();
        match arities
            .iter_mut()
            .find(|arity| arity.arguments == arguments)
        {
            Some(arity) => arity.events += 1,
            None => arities.push(Arity {
                arguments,
                events: 1,
            }),
        }
    }

    /// Whether there are application events, but none of them has a name.
    pub(crate) fn are_texts_only(&self) -> bool {
        self.has_unnamed && self.events.iter().all(SmallVec::is_empty)
    }

    /// Whether an operation occurs, on any object.
    pub(crate) fn has_operation(&self, operation: Operation) -> bool {
        self.operations >> operation as u32 & 1 == 1
    }

    /// The numbers of arguments of the events with a name; empty if there are none.
    pub(crate) fn arities(&self, name: &str, symbols: &Symbols) -> &[Arity] {
        let id: Option<NameId> = symbols.names.get(name);
        let arities = id.and_then(|id| self.events.get(id.index()));
        arities.map_or(&[], SmallVec::as_slice)
    }

    /// Whether a variable is written.
    pub(crate) fn is_written(&self, name: &str, symbols: &Symbols) -> bool {
        let id: Option<VarId> = symbols.vars.get(name);
        id.is_some_and(|id| self.written.get(id.index()) == Some(&true))
    }

    /// The names of the application events.
    pub(crate) fn events<'s>(&'s self, symbols: &'s Symbols) -> impl Iterator<Item = &'s str> {
        let occurs = self.events.iter().map(|arities| !arities.is_empty());
        chosen(symbols.names.iter(), occurs)
    }

    /// The names of the variables that are written.
    pub(crate) fn written<'s>(&'s self, symbols: &'s Symbols) -> impl Iterator<Item = &'s str> {
        chosen(symbols.vars.iter(), self.written.iter().copied())
    }
}

fn chosen<'s>(
    names: impl Iterator<Item = &'s str>,
    is_chosen: impl Iterator<Item = bool>,
) -> impl Iterator<Item = &'s str> {
    let names = names.zip(is_chosen);
    names.filter_map(|(name, is_chosen)| is_chosen.then_some(name))
}

/// Which events and variables of one property have occurred.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occurrence {
    events: Vec<bool>,
    variables: Vec<bool>,
}

impl Occurrence {
    /// Takes the next step.
    pub(crate) fn note(&mut self, step: &Step) {
        if let Some(event) = step.event {
            set(&mut self.events, event.index());
        }
        for (variable, _) in &step.writes {
            set(&mut self.variables, variable.index());
        }
    }

    /// Whether an event of the property has occurred.
    pub(crate) fn has_event(&self, index: usize) -> bool {
        self.events.get(index) == Some(&true)
    }

    /// Whether a variable of the property was written.
    pub(crate) fn has_variable(&self, index: usize) -> bool {
        self.variables.get(index) == Some(&true)
    }
}

fn set(all: &mut Vec<bool>, index: usize) {
    if index >= all.len() {
        all.resize(index + 1, false);
    }
    all[index] = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use portent_monitor_core::{Action, Op};

    #[test]
    fn names_are_those_of_events_and_writes() {
        let mut s = Symbols::default();
        let thread = s.threads.intern("T1").unwrap();
        let [open, block] = ["open", "block"].map(|name| s.names.intern(name).unwrap());
        let [x, y] = ["x", "y"].map(|name| s.vars.intern(name).unwrap());
        let event = |args: &[i64]| Event::new(thread, Action::new(open).args(args.iter().copied()));
        let mut names = Names::default();
        let marker = Op::Marker(portent_monitor_core::Marker::Begin, Some(block));
        for event in [
            Event::new(thread, marker),
            Event::new(thread, Op::Read(y)),
            Event::new(thread, Op::Write(x, None)),
            event(&[1]),
            event(&[1, 2]),
            event(&[3]),
        ] {
            names.note(&event);
        }
        let arity = |arguments, events| Arity { arguments, events };
        assert_eq!(names.arities("open", &s), [arity(1, 2), arity(2, 1)]);
        assert_eq!(names.arities("block", &s), []);
        assert_eq!(names.events(&s).collect::<Vec<_>>(), ["open"]);
        assert_eq!(names.written(&s).collect::<Vec<_>>(), ["x"]);
        assert!(names.is_written("x", &s) && !names.is_written("y", &s));
        let there = Operation::ALL.iter().filter(|&&op| names.has_operation(op));
        let expected = [
            Operation::Read,
            Operation::Write,
            Operation::Begin,
            Operation::Event,
        ];
        assert!(there.eq(&expected));
    }
}
