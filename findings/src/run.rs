//! Runs that demonstrate a finding: as observed up to some event, and then with some events left out.

use portent_monitor_core::{Cut, ThreadId};

use crate::record::{EventId, Record};

/// The events of a run in its order. Nearly all runs of a long trace begin like the observed one, and that part takes no
/// memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The number of events of the observed run that it begins with;
    pub(crate) observed: usize,
    /// and these follow.
    pub(crate) rest: Vec<EventId>,
}

impl Run {
    /// The given number of first events of each list, in observed order. Together the lists hold every event up to some point,
    /// each in observed order.
    pub(crate) fn of<'l>(lists: impl Iterator<Item = (&'l [EventId], usize)> + Clone) -> Run {
        let left_out = lists.clone().filter_map(|(list, kept)| list.get(kept));
        let all = lists.clone().map(|(list, _)| list.len()).sum();
        let observed = left_out.min().map_or(all, |first| first.index());
        let mut rest = Vec::new();
        for (list, kept) in lists {
            let begun = list.partition_point(|id| id.index() < observed);
            rest.extend(list.iter().take(kept).skip(begun));
        }
        rest.sort_unstable();
        Run { observed, rest }
    }

    /// The events of a cut.
    pub(crate) fn of_cut(cut: &Cut, record: &Record) -> Run {
        let threads = ThreadId::first(record.threads());
        Run::of(threads.map(|thread| (record.of_thread(thread), cut.count(thread) as usize)))
    }

    /// The number of its events.
    pub(crate) fn len(&self) -> usize {
        self.observed + self.rest.len()
    }

    /// Its last events, without the given number of earlier ones.
    pub(crate) fn after(&self, omitted: usize) -> impl Iterator<Item = EventId> {
        let begin = EventId::range(omitted.min(self.observed)..self.observed);
        let rest = self.rest.iter().copied();
        begin.chain(rest.skip(omitted.saturating_sub(self.observed)))
    }
}

impl From<&[EventId]> for Run {
    fn from(run: &[EventId]) -> Run {
        let as_observed = EventId::range(0..run.len()).zip(run);
        let observed = as_observed.take_while(|(id, event)| id == *event).count();
        Run {
            observed,
            rest: run[observed..].to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Run;
    use crate::record::EventId;

    #[test]
    fn a_run_is_in_observed_order() {
        let [one, other] =
            [&[0, 2, 3, 6][..], &[1, 4, 5][..]].map(|list: &[u32]| -> Vec<EventId> {
                list.iter().copied().map(EventId::from).collect()
            });
        for kept in 0..=4 {
            for others in 0..=3 {
                let run = Run::of([(&one[..], kept), (&other[..], others)].into_iter());
                let mut all = [&one[..kept], &other[..others]].concat();
                all.sort_unstable();
                assert_eq!(run, Run::from(&all[..]));
                assert_eq!(run.len(), all.len());
                for omitted in 0..=all.len() {
                    assert!(run.after(omitted).eq(all[omitted..].iter().copied()));
                }
            }
        }
    }
}
