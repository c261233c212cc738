//! The pairs of events that a run swaps.

use crate::order::EventIndex;

/// Swapped pairs beyond this number are counted but not listed.
const MAX_SWAPS: usize = 10_000;

/// The pairs that a run swaps, and how many are not listed. The run comes after the events `before`, which are assumed to be in
/// observed order.
pub(crate) fn swaps(before: &[EventIndex], run: &[EventIndex]) -> (Vec<[u32; 2]>, u64) {
    let mut swaps = Vec::new();
    let mut total = 0u64;
    // The events so far, sorted: in an almost observed order they end near the last.
    let mut done: Vec<u32> = before.iter().map(|event| event.0).collect();
    done.reserve(run.len());
    for event in run {
        let place = done.partition_point(|&other| other < event.0);
        total += (done.len() - place) as u64;
        let room = MAX_SWAPS - swaps.len();
        swaps.extend(
            done[place..]
                .iter()
                .take(room)
                .map(|&later| [event.0, later]),
        );
        done.insert(place, event.0);
    }
    swaps.sort_unstable();
    let omitted = total - swaps.len() as u64;
    (swaps, omitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps_are_inversions() {
        let run = [0, 2, 1, 4, 3, 5].map(EventIndex);
        assert_eq!(swaps(&[], &run), (vec![[1, 2], [3, 4]], 0));
        let run = [2, 0, 1].map(EventIndex);
        assert_eq!(swaps(&[], &run), (vec![[0, 2], [1, 2]], 0));
        let (before, run) = ([0, 3].map(EventIndex), [2, 1, 4].map(EventIndex));
        assert_eq!(swaps(&before, &run), (vec![[1, 2], [1, 3], [2, 3]], 0));
    }
}
