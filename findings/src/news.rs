//! Findings while the program still runs: races as they are completed, and lock orders as soon as they form a cycle.
//!
//! A race is reported with the run that shows it, as at the end; once the program has run for long, it is only called possible until then.
//! A cycle of lock orders is reported the first time that it is completed, with the locations where each lock was taken and
//! where it is wanted; whether some run can end in it may be known only later. The search for cycles is short, because it is
//! repeated; [`Finder::news_are_cut`] returns whether it was cut short. Blocks that are not atomic are known only at the end.

use rustc_hash::FxHashSet;

use crate::{
    Error, Finder, Model, deadlocks::patterns, end::End, races::happens_before::Witnesses,
    record::EventId, report::Finding,
};

/// What has been reported so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reported {
    /// The number of groups of acquires.
    acquires: usize,
    /// The cycles of lock orders.
    patterns: FxHashSet<Vec<usize>>,
    deadlocks: FxHashSet<String>,
    /// Whether some search for cycles was cut short.
    is_cut: bool,
}

/// Each time a lock is taken in a new way, the search for cycles takes at most this many steps.
const STEPS: u64 = 100_000;
/// Runs that show a race are replayed as long as there are no more events than this: each replay takes time proportional to
/// their number.
const CARRIED_OUT: usize = 100_000;
/// The largest number of cycles reported.
const PATTERNS: usize = 1_000;

impl Finder {
    /// The findings since the last call. The report at the [end](Self::finish) may be more precise: a lock order that is only
    /// possible may turn out to be a deadlock.
    ///
    /// ```
    /// use portent_findings::{Finder, Options, report::Label};
    /// use portent_monitor_core::{Event, Op};
    ///
    /// let mut finder = Finder::new(Options::default());
    /// let s = finder.symbols_mut();
    /// let (t1, t2) = (s.threads.intern("T1")?, s.threads.intern("T2")?);
    /// let (a, b) = (s.locks.intern("a")?, s.locks.intern("b")?);
    /// for op in [Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)] {
    ///     finder.take(&Event::new(t1, op))?;
    ///     assert!(finder.news()?.is_empty());
    /// }
    /// finder.take(&Event::new(t2, Op::Lock(b)))?;
    /// assert!(finder.news()?.is_empty());
    /// finder.take(&Event::new(t2, Op::Lock(a)))?;
    /// let news = finder.news()?;
    /// assert_eq!((news.len(), news[0].label), (1, Label::Possible));
    /// assert_eq!(
    ///     news[0].to_string(),
    ///     "lock order that may deadlock: T1 holds a and wants b; T2 holds b and wants a",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Causality`] if clocks are full.
    pub fn news(&mut self) -> Result<Vec<Finding>, Error> {
        let has_races = { self.races.as_ref() }.is_some_and(|races| races.tally().has_fresh());
        let has_new_orders = self.acquires.all.len() > self.reported.acquires;
        if !has_races && !has_new_orders {
            return Ok(Vec::new());
        }
        let mut news = Vec::new();
        let pairs = { self.races.as_mut() }.map(|races| races.tally_mut().take_fresh());
        let mut end = End {
            finder: self,
            checker: None,
            checked: 0,
            unchecked: 0,
        };
        let is_short = end.finder.record.len() <= CARRIED_OUT;
        for pair in pairs.into_iter().flatten() {
            let run = match end.finder.options.model {
                _ if !is_short => None,
                Model::HappensBefore => {
                    let witnesses = Witnesses::new(&end.finder.record, &[pair.events])?;
                    Some(witnesses.witness(&pair.events))
                }
                Model::Strong => Some(end.reordering(&pair.events)),
            };
            news.push(end.race(&pair, run, true));
        }
        let mut reported = std::mem::take(&mut self.reported);
        if has_new_orders {
            self.add_lock_orders(&mut reported, &mut news);
        }
        self.reported = reported;
        Ok(news)
    }

    /// Whether there were too many lock orders, so that some cycles may not be reported before the [end](Self::finish), which
    /// searches further.
    pub fn news_are_cut(&self) -> bool {
        self.reported.is_cut
    }

    fn add_lock_orders(&self, reported: &mut Reported, news: &mut Vec<Finding>) {
        reported.acquires = self.acquires.all.len();
        let Some(trace) = &self.trace else {
            return;
        };
        let acquires: Vec<_> = self
            .acquires
            .all
            .iter()
            .map(|(acquire, _)| acquire)
            .collect();
        let limits = patterns::Limits {
            patterns: PATTERNS,
            steps: STEPS,
        };
        let mut end = End {
            finder: self,
            checker: None,
            checked: 0,
            unchecked: 0,
        };
        let found = patterns::find(&acquires, limits);
        reported.is_cut |= found.limit.is_some();
        for pattern in found.patterns {
            if !reported.patterns.insert(pattern.clone()) {
                continue;
            }
            let lists: Vec<&[EventId]> = { pattern.iter() }
                .map(|&index| self.acquires.all[index].1.as_slice())
                .collect();
            let first: Vec<EventId> = lists.iter().map(|list| list[0]).collect();
            let (cut, events) = match end.realised(&lists, trace) {
                Some((cut, events)) => (Some(cut), events),
                None => (None, first),
            };
            let key = end.key(&events);
            if reported.deadlocks.insert(key.clone()) {
                news.push(end.deadlock(key, &events, cut.as_ref(), 1, true));
            }
        }
    }
}
