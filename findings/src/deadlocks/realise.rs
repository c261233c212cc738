//! From a pattern to a run that ends in it.

use portent_monitor_core::{Cut, Reorderings};

use crate::record::{EventId, Record};

/// The least closed cut in which one event of each list is next, together with these events; `None` if there is none.
///
/// An event in a cut that all choices need cannot be the chosen one, nor can any before it. So the lists are traversed once.
pub(crate) fn realise(
    lists: &[&[EventId]],
    trace: &Reorderings,
    record: &Record,
) -> Option<(Cut, Vec<EventId>)> {
    let mut cut = Cut::default();
    let mut starts = vec![0; lists.len()];
    loop {
        let mut chosen = Vec::with_capacity(lists.len());
        for (list, start) in lists.iter().zip(&mut starts) {
            let passed = list[*start..].partition_point(|&id| cut.contains(record.place(id)));
            *start += passed;
            chosen.push(*list.get(*start)?);
        }
        for &id in &chosen {
            trace.join_past(record.place(id), &mut cut);
        }
        trace.close(&mut cut);
        if !chosen.iter().any(|&id| cut.contains(record.place(id))) {
            return Some((cut, chosen));
        }
    }
}
