//! Turns recorded events into lines of a trace.

use std::collections::HashMap;

use portent_hooks::{Origin, Recorded};
use portent_monitor_core::{
    Action, ChainId, Event, Id, Op, Stamp, Stamped, Symbols, ThreadId, Value, VarId,
};

use super::thread_clocks::ThreadClocks;

/// What the lines of a recording have in place of what is not recorded.
pub(crate) enum Lines {
    /// Everything is recorded: lines are operations, and these say what came before what.
    Operations,
    /// Some names are: lines have clocks, which count the lines of each thread in one file.
    Threads {
        clocks: ThreadClocks,
        /// What variables are now.
        values: HashMap<VarId, Value>,
    },
    /// Some names are, in one of several processes: clocks count the events of chains, by the names that all processes know.
    Sources(SourceClocks),
}

impl Lines {
    pub(crate) fn new(everything: bool, has_peers: bool) -> Lines {
        match (everything, has_peers) {
            (true, _) => Lines::Operations,
            (false, true) => Lines::Sources(SourceClocks::default()),
            (false, false) => Lines::Threads {
                clocks: ThreadClocks::default(),
                values: HashMap::new(),
            },
        }
    }

    /// The line of an event; `None` if it has a number that no line can have. Where others count it all the same, it is a line
    /// without a name and without values.
    pub(crate) fn line(&mut self, recorded: &Recorded) -> Option<Event> {
        let Recorded { event, stamp, .. } = recorded;
        let is_finite = is_finite(event);
        let (thread, clock) = match self {
            Lines::Operations => return is_finite.then(|| event.clone()),
            Lines::Threads { clocks, values } => {
                if !is_finite {
                    return None;
                }
                for (var, value) in event.writes() {
                    if let Some(value) = value {
                        values.insert(var, value.clone());
                    }
                }
                (event.thread, clocks.clock(event.thread, stamp))
            }
            Lines::Sources(sources) => {
                sources.place(event.thread, stamp, recorded.origin.as_deref())
            }
        };
        let action = match &event.op {
            _ if !is_finite => Action::default(),
            Op::Event(action) => Action::clone(action),
            _ => {
                let writes = event.writes();
                Action::default()
                    .set(writes.filter_map(|(var, value)| Some((var, value.cloned()?))))
            }
        };
        let mut line = Event::new(thread, Stamped::new(action, clock));
        line.loc = event.loc;
        Some(line)
    }

    /// Another part begins. If it is to be a trace of its own: what variables are now, those that were never written as they were.
    pub(crate) fn next_part(
        &mut self,
        initial: &[(String, Value)],
        symbols: &Symbols,
    ) -> Option<Vec<(String, Value)>> {
        let Lines::Threads { clocks, values } = self else {
            return None;
        };
        *clocks = ThreadClocks::default();
        let name = |var: VarId| symbols.vars.name(var).to_owned();
        let mut values: Vec<(String, Value)> = {
            values
                .iter()
                .map(|(&var, value)| (name(var), value.clone()))
        }
        .collect();
        for (name, value) in initial {
            if values.iter().all(|(other, _)| other != name) {
                values.push((name.clone(), value.clone()));
            }
        }
        values.sort_by(|one, other| one.0.cmp(&other.0));
        Some(values)
    }
}

/// The chains of a recording, by the names that all processes know.
#[derive(Debug, Default)]
pub(crate) struct SourceClocks {
    /// A chain is named by its first event, and counted only after that.
    sources: Vec<Option<ThreadId>>,
}

impl SourceClocks {
    /// Whose line an event is, and its clock.
    fn place(
        &mut self,
        thread: ThreadId,
        stamp: &Stamp,
        origin: Option<&Origin>,
    ) -> (ThreadId, Vec<(ThreadId, u32)>) {
        let source = origin.map_or(thread, |origin| origin.source);
        *stamp.chain.entry(&mut self.sources) = Some(source);
        let mut clock = Vec::new();
        for (chain, source) in self.sources.iter().enumerate() {
            let count = ChainId::from_index(chain).map_or(0, |chain| stamp.clock.get(chain));
            if let Some(source) = source.filter(|_| count > 0) {
                clock.push((source, count));
            }
        }
        clock.extend(origin.iter().flat_map(|origin| &origin.peers).copied());
        (source, clock)
    }
}

/// Whether its numbers can be spelled.
fn is_finite(event: &Event) -> bool {
    let is_finite = |value: &Value| !matches!(value, Value::Float(number) if !number.is_finite());
    let mut args = { event.action().into_iter() }.flat_map(|action| &action.args);
    args.all(is_finite) && event.writes().all(|(_, value)| value.is_none_or(is_finite))
}
