//! Work split into parts, done on several cores if there are any.
//!
//! This is the only module that knows about threads, and it knows nothing about levels: otherwise every kind of
//! level would get its own copy of the threading machinery, which would take longer to compile than all the rest.

use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

use rayon::prelude::*;

/// Smaller parts are not worth making.
const PART: usize = 1 << 11;

/// The number of parts to make of this many items: with many parts, no thread waits long for the last one.
pub(super) fn parts(items: usize) -> usize {
    (items / PART).clamp(threads() * 2, threads() * 16)
}

/// The number of parts processed in parallel.
pub(super) fn threads() -> usize {
    rayon::current_num_threads()
}

/// Does the work of each part, and returns the results in the order of the parts.
pub(super) fn map<T: Send>(parts: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let made: Vec<Mutex<Option<T>>> = (0..parts).map(|_| Mutex::new(None)).collect();
    each(parts, &|part| {
        let result = work(part);
        *made[part].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let results = made.into_iter();
    results
        .filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// The sum of the results for the parts of a range, which are processed on several cores if it is long.
pub(super) fn sum(
    range: Range<usize>,
    is_long: bool,
    work: impl Fn(Range<usize>) -> u64 + Sync,
) -> u64 {
    if !is_long {
        return work(range);
    }
    let each = range.len().div_ceil(threads());
    let part = |number: usize| {
        let start = range.start + number * each;
        work(start.min(range.end)..(start + each).min(range.end))
    };
    map(threads(), part).into_iter().sum()
}

fn each(parts: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..parts).into_par_iter().for_each(work);
}
