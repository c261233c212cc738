//! How much of what was found a report has in full.
//!
//! A property with ten thousand bindings may be violated in each of them, and a run may have a million steps. A
//! reader looks at a few witnesses; the rest is worth a line each, unless everything is asked for.

use super::picture::PictureBudget;
use crate::{engine::CountingBudget, options::Options};

/// The witnesses of a report have at most so many rows on the whole, but for the first of each property, which is always there.
const ROWS: usize = 20_000;

/// What is left for the instances that are still to be reported.
pub(crate) struct ReportBudget {
    pub(super) counting: CountingBudget,
    pub(super) pictures: PictureBudget,
    pub(super) witnesses: WitnessBudget,
}

impl ReportBudget {
    pub(crate) fn new(options: &Options) -> ReportBudget {
        ReportBudget {
            counting: CountingBudget::new(options),
            pictures: PictureBudget::new(options),
            witnesses: WitnessBudget {
                limit: options.witnesses,
                taken: 0,
                rows: ROWS,
            },
        }
    }

    /// Another property begins.
    pub(crate) fn begin_property(&mut self, options: &Options) {
        self.pictures = PictureBudget::new(options);
        self.witnesses.taken = 0;
    }
}

/// How many witnesses there may be.
pub(super) struct WitnessBudget {
    /// For one property; all of them, whatever their length, if there is no limit.
    limit: Option<usize>,
    taken: usize,
    /// What is left of the rows.
    rows: usize,
}

impl WitnessBudget {
    /// Whether there is room for a witness of so many rows.
    pub(super) fn takes(&mut self, rows: usize) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        if self.taken >= limit || (self.taken > 0 && rows > self.rows) {
            return false;
        }
        self.taken += 1;
        self.rows = self.rows.saturating_sub(rows);
        true
    }
}
