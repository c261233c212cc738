//! The target of a guided search, and its map of the program: the steps seen so far, which follows which, and which of them access the
//! same objects.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    fmt,
    str::FromStr,
};

use super::{Point, guided::is_change};
use crate::{
    operation::{Kind, ObjectIndex, Op},
    run::{NONE, Place},
    thread_set::ThreadSet,
};

/// The target of a guided search: places in the source that different threads are to reach at the same time.
///
/// Its text form is a comma-separated list: `"src/queue.rs:10, src/queue.rs:24"`. The end of a path suffices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    places: Vec<(String, u32)>,
    /// Whether all are about one object.
    pub(super) is_race: bool,
}

impl Target {
    /// One place, `file:line`: that of an operation, or of an assertion, which stands for the operation before it.
    ///
    /// # Panics
    ///
    /// If it is not `file:line`.
    pub fn place(place: impl AsRef<str>) -> Target {
        Target::together([place])
    }

    /// Two accesses of one object that are suspected to race.
    ///
    /// # Panics
    ///
    /// If one of them is not `file:line`.
    pub fn race(one: impl AsRef<str>, other: impl AsRef<str>) -> Target {
        Target {
            is_race: true,
            ..Target::together([one.as_ref(), other.as_ref()])
        }
    }

    /// Several places, each for a thread of its own: for example those of a lock cycle, where each thread holds a lock and requests the next.
    ///
    /// # Panics
    ///
    /// If one of them is not `file:line`.
    pub fn together<S: AsRef<str>>(places: impl IntoIterator<Item = S>) -> Target {
        let place = |place: S| match read(place.as_ref()) {
            Some(place) => place,
            None => panic!(
                "`{}` is no place: one looks like `src/queue.rs:10`",
                place.as_ref()
            ),
        };
        Target {
            places: places.into_iter().map(place).collect(),
            is_race: false,
        }
    }
}

fn read(place: &str) -> Option<(String, u32)> {
    let (file, line) = place.trim().rsplit_once(':')?;
    Some((file.to_owned(), line.parse().ok()?))
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let places: Option<Vec<_>> = text.split(',').map(read).collect();
        match places {
            Some(places) => Ok(Target {
                places,
                is_race: false,
            }),
            None => Err(format!(
                "`{text}` is no target: one looks like `src/queue.rs:10` or `src/queue.rs:10, src/queue.rs:24`"
            )),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (file, line)) in self.places.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            write!(f, "{comma}{file}:{line}")?;
        }
        Ok(())
    }
}

/// A step of the program: an operation at a place.
pub(super) type SiteId = usize;

/// Where threads begin.
const START: SiteId = 0;

/// What is to happen next in a guided run.
#[derive(Clone, Debug)]
pub(super) enum Goal {
    /// Some thread is to stand here, and is held.
    Reach(Vec<SiteId>),
    /// Others take this step so often, on the object of whom was held last.
    Change(SiteId, u32),
    /// One of those that are held goes on.
    Pass(usize),
}

/// A change of an object before a step that touches it.
#[derive(Clone, Debug)]
pub(super) struct Detour {
    pub(super) before: SiteId,
    pub(super) change: SiteId,
    pub(super) times: u32,
    /// Both need one lock, so the change comes before the thread is there.
    pub(super) is_early: bool,
    /// Whether some run made it.
    pub(super) is_tried: bool,
    /// Whether the target was passed after it.
    pub(super) has_arrived: bool,
}

/// A step of one run that touched an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Touch {
    site: SiteId,
    thread: usize,
    is_change: bool,
    locks: Vec<ObjectIndex>,
}

/// What is known of a program.
#[derive(Debug)]
pub(super) struct Map {
    sites: HashMap<(&'static str, Place), SiteId>,
    places: Vec<Place>,
    /// Which steps come before each.
    before: Vec<HashSet<SiteId>>,
    /// Which threads took each.
    visitors: Vec<ThreadSet>,
    /// Steps that touch what others change, with whether both need a lock; those that nobody asked for yet.
    conflicts: Vec<(SiteId, SiteId, bool)>,
    known: HashSet<(SiteId, SiteId)>,
    /// Of this run: the last step of each thread, and what was touched.
    last: Vec<SiteId>,
    touched: HashMap<ObjectIndex, Vec<Touch>>,
}

impl Default for Map {
    fn default() -> Map {
        Map {
            sites: HashMap::new(),
            places: vec![None],
            before: vec![HashSet::new()],
            visitors: vec![ThreadSet::EMPTY],
            conflicts: Vec::new(),
            known: HashSet::new(),
            last: Vec::new(),
            touched: HashMap::new(),
        }
    }
}

impl Map {
    fn site(&mut self, kind: Kind, place: Place) -> SiteId {
        let next = self.places.len();
        let site = *self.sites.entry((kind.name(), place)).or_insert(next);
        if site == next {
            self.places.push(place);
            self.before.push(HashSet::new());
            self.visitors.push(ThreadSet::EMPTY);
        }
        site
    }

    /// The step that each thread announced.
    pub(super) fn announced(&mut self, at: &Point<'_>) -> Vec<SiteId> {
        while self.last.len() < at.threads.len() {
            let spawner = at.threads[self.last.len()].spawner;
            let from = spawner.map_or(START, |spawner| self.last[spawner]);
            self.last.push(from);
        }
        let threads = at.threads.iter().zip(at.pending);
        let threads = threads.map(|(thread, op)| (op.kind, thread.place));
        threads
            .map(|(kind, place)| self.site(kind, place))
            .collect()
    }

    /// A thread takes a step.
    pub(super) fn step(&mut self, thread: usize, site: SiteId, op: Op, locks: Vec<ObjectIndex>) {
        let from = std::mem::replace(&mut self.last[thread], site);
        self.before[site].insert(from);
        self.visitors[site].insert(thread);
        if op.object == NONE || matches!(op.kind, Kind::Lock | Kind::ReadLock | Kind::Unlock) {
            return;
        }
        let touch = Touch {
            site,
            thread,
            is_change: is_change(op.kind),
            locks,
        };
        let touched = self.touched.entry(op.object).or_default();
        if !touched.contains(&touch) {
            touched.push(touch);
        }
    }

    /// The run has ended.
    pub(super) fn end(&mut self) {
        self.last.clear();
        let mut touched: Vec<_> = std::mem::take(&mut self.touched).into_iter().collect();
        touched.sort_by_key(|(object, _)| *object);
        for (_, touches) in touched {
            for one in &touches {
                for other in &touches {
                    let is_conflict = one.thread != other.thread && other.is_change;
                    if is_conflict && self.known.insert((one.site, other.site)) {
                        let is_locked = one.locks.iter().any(|lock| other.locks.contains(lock));
                        self.conflicts.push((one.site, other.site, is_locked));
                    }
                }
            }
        }
    }

    /// The detours that became known since this was asked last.
    pub(super) fn new_conflicts(&mut self) -> Vec<Detour> {
        let conflicts = std::mem::take(&mut self.conflicts).into_iter();
        conflicts
            .map(|(before, change, is_early)| Detour {
                before,
                change,
                times: 1,
                is_early,
                is_tried: false,
                has_arrived: false,
            })
            .collect()
    }

    /// How many threads came to one of these.
    pub(super) fn visitors(&self, sites: &[SiteId]) -> usize {
        let visitors = sites.iter().map(|&site| self.visitors[site].len());
        visitors.max().unwrap_or_default()
    }

    /// How many steps it is from each one to one of these, at least; `u32::MAX` where no way is known.
    pub(super) fn distances(&self, to: &[SiteId]) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.places.len()];
        let mut queue: VecDeque<SiteId> = to.iter().copied().collect();
        for &site in to {
            distances[site] = 0;
        }
        while let Some(site) = queue.pop_front() {
            for &before in &self.before[site] {
                if distances[before] == u32::MAX {
                    distances[before] = distances[site] + 1;
                    queue.push_back(before);
                }
            }
        }
        distances
    }

    /// The steps at each place of a target. Where there is none on the line, those that are nearest before it in the same file.
    pub(super) fn resolve(&self, target: &Target) -> Vec<Vec<SiteId>> {
        target
            .places
            .iter()
            .map(|(file, line)| self.at_place(file, *line))
            .collect()
    }

    fn at_place(&self, file: &str, line: u32) -> Vec<SiteId> {
        let is_file = |known: &str| {
            known
                .strip_suffix(file)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let places = (0..).zip(&self.places);
        let here: Vec<(SiteId, u32)> = places
            .filter_map(|(site, place)| Some((site, (*place)?)))
            .filter(|(_, place)| is_file(place.file()) && place.line() <= line)
            .map(|(site, place)| (site, place.line()))
            .collect();
        let nearest = here.iter().map(|(_, line)| *line).max();
        let sites = here.into_iter().filter(|(_, line)| Some(*line) == nearest);
        sites.map(|(site, _)| site).collect()
    }
}
