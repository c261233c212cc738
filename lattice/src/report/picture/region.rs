//! Which steps of a long run are worth showing: those around the violation, and those where the
//! witness and the observed run diverge.

use std::collections::BTreeSet;

use super::SHOWN_STEPS;
use crate::order::EventIndex;

/// This many steps are shown before a violation, and after it.
const BEFORE: usize = 40;
const AFTER: usize = 10;
/// This many are shown on both sides of another step that matters.
const BESIDE: usize = 3;

/// How a run differs from the observed order, by events.
pub(crate) struct Shifts {
    /// Whether the run has it before one that was observed earlier.
    pub(crate) earlier: Vec<bool>,
    /// Whether the run has it after one that was observed later.
    pub(crate) later: Vec<bool>,
    /// The events that come earlier, in the order of the run: the step, the event, and the first
    /// one that it overtakes.
    moves: Vec<(usize, u32, u32)>,
}

impl Shifts {
    /// For a run of some of the first `events` events. Events that it does not reach count as later ones.
    pub(crate) fn new(run: &[EventIndex], events: usize) -> Shifts {
        let mut shifts = Shifts {
            earlier: vec![false; events],
            later: vec![false; events],
            moves: Vec::new(),
        };
        if run.is_empty() {
            return shifts;
        }
        let mut waiting = vec![true; events];
        for event in run {
            waiting[event.index()] = false;
        }
        let left_out = (0..events as u32).map(EventIndex);
        let left_out: Vec<EventIndex> = left_out.filter(|event| waiting[event.index()]).collect();
        waiting.fill(true);
        let mut oldest = 0;
        let mut newest = EventIndex(0);
        for (index, &event) in run.iter().chain(&left_out).enumerate() {
            // The event itself is still waiting, so this ends.
            while !waiting[oldest] {
                oldest += 1;
            }
            if oldest < event.index() {
                shifts.earlier[event.index()] = true;
                shifts.moves.push((index + 1, event.0, oldest as u32));
            }
            shifts.later[event.index()] = event < newest;
            newest = newest.max(event);
            waiting[event.index()] = false;
        }
        shifts
    }
}

/// The steps to show, from 1, at most [`SHOWN_STEPS`].
pub(crate) fn steps(
    events: usize,
    run: &[EventIndex],
    shifts: &Shifts,
    violated_at: Option<usize>,
    decided: Option<u64>,
) -> BTreeSet<usize> {
    if events <= SHOWN_STEPS {
        return (1..=events).collect();
    }
    let mut region = Region {
        events,
        steps: BTreeSet::new(),
    };
    let decided = decided.and_then(|step| usize::try_from(step).ok());
    for step in violated_at.into_iter().chain(decided) {
        region.around(step, BEFORE, AFTER);
    }
    // The moves nearest to the violation first, because there may be too many.
    for &(step, event, oldest) in shifts.moves.iter().rev() {
        for step in [step, event as usize + 1, oldest as usize + 1] {
            region.around(step, BESIDE, BESIDE);
        }
        if region.is_full() {
            break;
        }
    }
    if run.is_empty() {
        // Nothing stands out: show the beginning and the end.
        region.around(1, 0, SHOWN_STEPS / 2);
        region.around(events, SHOWN_STEPS / 2, 0);
    }
    region.steps
}

struct Region {
    events: usize,
    steps: BTreeSet<usize>,
}

impl Region {
    fn is_full(&self) -> bool {
        self.steps.len() >= SHOWN_STEPS
    }

    /// Adds a step and its neighbours, the step itself first, as long as there is room.
    fn around(&mut self, step: usize, before: usize, after: usize) {
        let back = (step.saturating_sub(before)..=step).rev();
        for step in back.chain(step + 1..=step + after) {
            if self.is_full() {
                return;
            }
            if (1..=self.events).contains(&step) {
                self.steps.insert(step);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(run: &[u32]) -> Vec<EventIndex> {
        run.iter().copied().map(EventIndex).collect()
    }

    #[test]
    fn shifts_are_those_of_all_pairs() {
        let runs: [&[u32]; 5] = [
            &[0, 1, 2, 3],
            &[3, 0, 1, 2],
            &[1, 0, 3, 2],
            &[2, 1, 0, 3],
            &[3, 1],
        ];
        for run in runs {
            let shifts = Shifts::new(&indices(run), 4);
            for (place, &event) in run.iter().enumerate() {
                let left_out = (0..4).filter(|event| !run.contains(event));
                let run: Vec<u32> = run.iter().copied().chain(left_out).collect();
                let (before, after) = (&run[..place], &run[place + 1..]);
                let (earlier, later) = (
                    after.iter().any(|&other| other < event),
                    before.iter().any(|&other| other > event),
                );
                assert_eq!(shifts.earlier[event as usize], earlier, "{run:?} {event}");
                assert_eq!(shifts.later[event as usize], later, "{run:?} {event}");
            }
        }
    }

    #[test]
    fn short_runs_are_shown_whole_and_long_ones_where_they_differ() {
        let short = indices(&[1, 0, 2]);
        let shifts = Shifts::new(&short, 3);
        assert_eq!(steps(3, &short, &shifts, Some(1), None).len(), 3);

        // The event at place 90,000 comes at place 1,000, and there it is violated.
        let mut run: Vec<EventIndex> = (0..100_000).map(EventIndex).collect();
        let moved = run.remove(90_000);
        run.insert(1_000, moved);
        let shifts = Shifts::new(&run, run.len());
        let shown = steps(run.len(), &run, &shifts, Some(1_001), None);
        assert!(shown.len() <= SHOWN_STEPS);
        for step in [970, 1_000, 1_001, 1_002, 1_010, 90_000, 90_001, 90_002] {
            assert!(shown.contains(&step), "{step}");
        }
        assert!(!shown.contains(&500) && !shown.contains(&50_000));
    }

    #[test]
    fn a_run_turned_round_is_shown_in_part() {
        let run: Vec<EventIndex> = (0..10_000).rev().map(EventIndex).collect();
        let shifts = Shifts::new(&run, run.len());
        let shown = steps(run.len(), &run, &shifts, Some(9_000), Some(20));
        assert_eq!(shown.len(), SHOWN_STEPS);
        assert!(shown.contains(&9_000) && shown.contains(&20));
    }

    #[test]
    fn a_safe_run_is_shown_at_both_ends() {
        let shifts = Shifts::new(&[], 1_000_000);
        let shown = steps(1_000_000, &[], &shifts, None, None);
        assert_eq!(shown.len(), SHOWN_STEPS);
        assert!(shown.contains(&1) && shown.contains(&1_000_000));
    }
}
