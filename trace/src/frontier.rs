//! Rows of the tools that represent a run by its frontiers: PoET and Kairos.
//!
//! A row is a name, the participating processes, the propositions that hold at them and a clock. A
//! proposition holds in a cut if the last row of some process there has it. So it is state: for each
//! process and proposition there is a boolean variable, `P1.ready`, which is set where it changes. Each
//! is written by rows of its process only, so that these writes order nothing that the clocks do not.
//!
//! A row of several processes ticks all their components at once. It becomes an event of the first of
//! them, followed on each of the others by a line without a name, so that every component still
//! counts lines of its process. The propositions are the event's arguments as well.

use std::{collections::VecDeque, num::NonZeroU64};

use portent_monitor_core::{Action, Error as CoreError, Event, Stamped, Symbols, ThreadId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::decoder::{Decoded, Position};

/// The most clock components that one row may become: each of its processes has a clock.
const MAX_COMPONENTS: usize = 1 << 22;

/// One row of a file.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) processes: Vec<String>,
    pub(crate) propositions: Vec<String>,
    pub(crate) clock: Vec<(ThreadId, u32)>,
}

/// Turns rows into events.
#[derive(Default)]
pub(crate) struct Frontiers {
    /// The propositions that hold at each process.
    holding: FxHashMap<ThreadId, Vec<String>>,
    /// Events of the rows so far that have not been returned yet.
    pending: VecDeque<Decoded>,
}

impl Frontiers {
    /// The next event of the rows added so far.
    pub(crate) fn next(&mut self) -> Option<Decoded> {
        self.pending.pop_front()
    }

    /// Adds a row, which is at this place; or returns what is wrong with it.
    pub(crate) fn put(
        &mut self,
        row: Row,
        at: Position,
        symbols: &mut Symbols,
    ) -> Result<(), String> {
        for mut event in self.events(row, symbols)? {
            event.line = NonZeroU64::new(at.line);
            let (op, data) = (at, at);
            self.pending.push_back(Decoded { event, op, data });
        }
        Ok(())
    }

    /// The events that a row represents.
    fn events(&mut self, row: Row, symbols: &mut Symbols) -> Result<Vec<Event>, String> {
        let (processes, components) = (row.processes.len(), row.clock.len());
        if processes.saturating_mul(components) > MAX_COMPONENTS {
            return Err(format!(
                "expected an event of fewer processes: each of its {processes} needs a clock of {components} components"
            ));
        }
        let owners: Result<Vec<ThreadId>, CoreError> = row
            .processes
            .iter()
            .map(|process| symbols.threads.intern(process))
            .collect();
        let owners = owners.map_err(|error| error.to_string())?;
        let mut seen = FxHashSet::default();
        if let Some(&twice) = owners.iter().find(|owner| !seen.insert(**owner)) {
            let name = symbols.threads.name(twice);
            return Err(format!("the process {name} is given twice"));
        }
        self.lines(row, &owners, symbols)
            .map_err(|error| error.to_string())
    }

    /// A line for each process of a row.
    fn lines(
        &mut self,
        row: Row,
        owners: &[ThreadId],
        symbols: &mut Symbols,
    ) -> Result<Vec<Event>, CoreError> {
        let mut set = Vec::new();
        for &owner in owners {
            self.change(owner, &row.propositions, &mut set, symbols)?;
        }
        let args = row.propositions.iter().map(String::as_str);
        let action = Action::new(symbols.names.intern(&row.name)?).args(args);
        let action = action.set(set);
        let mut actions = std::iter::once(action).chain(std::iter::repeat_with(Action::default));
        let mut later: FxHashSet<ThreadId> = owners.iter().copied().collect();
        Ok(owners
            .iter()
            .map(|&owner| {
                // The lines of the owners further on come after this one.
                later.remove(&owner);
                let clock = row
                    .clock
                    .iter()
                    .map(|&(t, n)| (t, n.saturating_sub(u32::from(later.contains(&t)))))
                    .filter(|&(_, n)| n > 0)
                    .collect();
                let action = actions.next().unwrap_or_default();
                Event::new(owner, Stamped::new(action, clock))
            })
            .collect())
    }

    /// Determines which propositions begin and cease to hold at a process.
    fn change(
        &mut self,
        owner: ThreadId,
        propositions: &[String],
        set: &mut Vec<(VarId, bool)>,
        symbols: &mut Symbols,
    ) -> Result<(), CoreError> {
        let before = self.holding.entry(owner).or_default();
        let ceased = before.iter().filter(|p| !propositions.contains(p));
        let ceased = ceased.map(|proposition| (proposition, false));
        let begun = propositions.iter().filter(|p| !before.contains(p));
        let begun = begun.map(|proposition| (proposition, true));
        let mut changed = FxHashSet::default();
        for (proposition, holds) in ceased.chain(begun) {
            let name = format!("{}.{proposition}", symbols.threads.name(owner));
            let var = symbols.vars.intern(&name)?;
            if changed.insert(var) {
                set.push((var, holds));
            }
        }
        before.clear();
        before.extend(propositions.iter().cloned());
        Ok(())
    }
}
