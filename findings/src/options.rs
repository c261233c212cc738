//! What to look for, in which runs, and the limits.

use portent_monitor_core::suggest;
use std::str::FromStr;

use crate::Error;

/// Which other runs count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Those in which everything ordered by program order, synchronisation and conflicts is as observed.
    #[default]
    HappensBefore,
    /// Also those that leave out sections and unread writes.
    Strong,
}

/// What to look for.
///
/// ```
/// use portent_findings::Hunt;
///
/// let hunt: Hunt = "races, deadlocks".parse()?;
/// assert!(hunt.races && hunt.deadlocks && !hunt.atomicity);
/// let error = "rases".parse::<Hunt>().unwrap_err();
/// assert!(error.to_string().ends_with("Did you mean `races`?"));
/// # Ok::<(), portent_findings::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hunt {
    /// Data races.
    pub races: bool,
    /// Threads that wait for each other's locks.
    pub deadlocks: bool,
    /// Blocks that are not atomic.
    pub atomicity: bool,
}

impl Hunt {
    /// Everything.
    pub const ALL: Hunt = Hunt {
        races: true,
        deadlocks: true,
        atomicity: true,
    };
    /// Data races alone.
    pub const RACES: Hunt = Hunt {
        races: true,
        deadlocks: false,
        atomicity: false,
    };

    /// What a trace must contain for anything to be found.
    pub(crate) fn material(self) -> String {
        let all = [
            (self.races, "access of a variable"),
            (self.deadlocks, "acquire of a lock"),
            (self.atomicity, "marked block"),
        ];
        let wanted: Vec<&str> = { all.into_iter() }
            .filter_map(|(is_wanted, name)| is_wanted.then_some(name))
            .collect();
        wanted.join(", and no ")
    }
}

const NAMES: [&str; 3] = ["races", "deadlocks", "atomicity"];

impl FromStr for Hunt {
    type Err = Error;

    fn from_str(text: &str) -> Result<Hunt, Error> {
        let mut hunt = Hunt {
            races: false,
            deadlocks: false,
            atomicity: false,
        };
        for name in text.split(',').map(str::trim) {
            match name {
                "races" => hunt.races = true,
                "deadlocks" => hunt.deadlocks = true,
                "atomicity" => hunt.atomicity = true,
                _ => {
                    return Err(Error::UnknownKind {
                        found: name.to_owned(),
                        closest: suggest::closest(name, NAMES),
                    });
                }
            }
        }
        Ok(hunt)
    }
}

/// The options of a finder.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Which other runs count.
    pub model: Model,
    /// What to look for.
    pub hunt: Hunt,
    /// The number of cycles of lock orders to examine, the shortest first.
    pub max_patterns: usize,
    /// The number of last events of a witness to show.
    pub witness_rows: usize,
    /// The number of events to examine, the first ones: all of them are kept.
    pub max_events: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            model: Model::HappensBefore,
            hunt: Hunt::ALL,
            max_patterns: 10_000,
            witness_rows: 40,
            max_events: usize::MAX,
        }
    }
}

impl Options {
    /// With these runs.
    pub fn model(mut self, model: Model) -> Options {
        self.model = model;
        self
    }

    /// Looking for this.
    pub fn hunt(mut self, hunt: Hunt) -> Options {
        self.hunt = hunt;
        self
    }

    /// Examining this many cycles of lock orders.
    pub fn max_patterns(mut self, patterns: usize) -> Options {
        self.max_patterns = patterns;
        self
    }

    /// Showing this many of the last events of a witness.
    pub fn witness_rows(mut self, rows: usize) -> Options {
        self.witness_rows = rows;
        self
    }

    /// Examining this many events.
    pub fn max_events(mut self, events: usize) -> Options {
        self.max_events = events;
        self
    }
}
