//! A real log as a poset, with what each line means to a property of events that are recognised by
//! their text. Lines that mean nothing to it stay in the poset, where they are the hardest.

use portent_lattice::laboratory::{ActionId, Automaton, Poset, Problem, StateIndex};
use portent_monitor_dsl::{EventId, Monitor, Property};

use super::read;

/// The lines of a log, partially ordered.
pub(crate) struct Log {
    pub(crate) poset: Poset,
    pub(crate) texts: Vec<String>,
}

const PARSER: &str = r"\[(?<date>\d{4}-\d{2}-\d{2} (\d{2}:){2}\d{2},\d{3}) (?<path>\S*)\] (?<priority>(INFO|WARN)) (?<event>.*)\n(?<host>\S*) (?<clock>{.*})";

/// The log of a Voldemort start: 20 threads, 864 lines. `None`, said aloud, where it is not at hand.
pub(crate) fn voldemort() -> Option<Log> {
    let path = read::directory().map(|directory| directory.join("voldemort.log"));
    let Some(path) = path.filter(|path| path.exists()) else {
        println!("SKIPPED: no voldemort.log; set PORTENT_LOGS to the folder of the ShiViz logs");
        return None;
    };
    let (poset, texts) = read::log(&path, PARSER);
    Some(Log { poset, texts })
}

impl Log {
    /// The problem of a property whose events have patterns. Any other line does nothing.
    pub(crate) fn problem(&self, property: &str) -> Problem {
        let monitor = Property::parse(property).unwrap().monitor().unwrap();
        let events: Vec<EventId> = (0..monitor.alphabet().events().len())
            .map(|index| {
                let name = &monitor.alphabet().events()[index].name;
                monitor.alphabet().event(name).unwrap()
            })
            .collect();
        let other = events.len();
        let actions = self.texts.iter().map(|text| {
            let events = monitor.alphabet().events().iter();
            let matches = |event: &portent_monitor_dsl::Event| {
                let pattern = event.matches.as_ref();
                pattern.is_some_and(|pattern| pattern.regex().is_match(text))
            };
            ActionId(events.clone().position(matches).unwrap_or(other) as u32)
        });
        Problem {
            poset: self.poset.clone(),
            actions: actions.collect(),
            automaton: automaton(&monitor, &events),
        }
    }

    /// The problem of a property whose events happen at random, in this many of a hundred lines.
    pub(crate) fn random_problem(&self, property: &str, percent: usize) -> Problem {
        let mut problem = self.problem(property);
        let events = problem.automaton.actions - 1;
        let mut state = 7u64;
        for action in &mut problem.actions {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let number = (state >> 33) as usize;
            let hit = number % 100 < percent;
            *action = ActionId(if hit { number / 100 % events } else { events } as u32);
        }
        problem
    }
}

/// The monitor, with an action for each event and a last one that does nothing.
fn automaton(monitor: &Monitor, events: &[EventId]) -> Automaton {
    let mut next = Vec::new();
    for state in monitor.state_ids() {
        for &event in events {
            let letter = monitor.alphabet().letter(Some(event), &[]);
            next.push(StateIndex(monitor.next(state, letter).index() as u32));
        }
        next.push(StateIndex(state.index() as u32));
    }
    Automaton {
        initial: StateIndex(monitor.initial().index() as u32),
        actions: events.len() + 1,
        next,
        verdicts: monitor
            .state_ids()
            .map(|state| monitor.verdict(state))
            .collect(),
    }
}

/// What is asked of the log: a name and a property.
pub(crate) const QUESTIONS: [(&str, &str); 4] = [
    (
        "precedence",
        r#"property p {
            event ready matches "^All stores initialized"
            event listening matches "^Server now listening"
            pattern: ready precedes listening
        }"#,
    ),
    (
        "absence after",
        r#"property p {
            event closed matches "^Closed, exiting"
            event opening matches "^Opening store"
            pattern: absence of opening after closed
        }"#,
    ),
    (
        "four steps",
        r#"property p {
            event repair matches "^Initializing repair job"
            event closed matches "^Closed, exiting"
            event opening matches "^Opening store 'veggies'"
            event metadata matches "^Metadata file not found"
            never: .* repair .* closed .* opening .* metadata
        }"#,
    ),
    (
        "no new start between",
        r#"property p {
            event start matches "^Starting voldemort-server"
            event complete matches "^Startup completed"
            event negotiated matches "^Protocol negotiated"
            pattern: absence of negotiated between start and complete
        }"#,
    ),
];

/// Properties over events that are assigned at random.
pub(crate) const SHAPES: [(&str, &str); 4] = [
    ("a, b, c, d", "never: .* a .* b .* c .* d"),
    ("a, b, no c, d", "never: .* a .* b (a | b | d)* d"),
    (
        "between",
        "property p { event a, b, c, d pattern: c precedes b after a until d }",
    ),
    ("a b a c next to each other", "never: .* a b a c .* d"),
];
