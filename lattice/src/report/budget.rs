//! How many of the findings a report shows in full.
//!
//! A property with ten thousand bindings may be violated in each of them, and a run may have a million steps. A
//! reader looks at a few witnesses; each of the others gets one line, unless everything is requested.

use super::{Observed, Predicted, PropertyReport, Why, picture::PictureBudget};
use crate::{
    engine::{CountingBudget, maximal::NodeBudget, strong::StrongBudget},
    goal::Goal,
    options::Options,
};

/// The witnesses of a report have at most this many rows in all, except that the first one of each property is always shown.
const ROWS: usize = 20_000;

/// The priority of witnesses and pictures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The observed run is violated.
    Observed,
    /// Only runs that were not observed are violated.
    Predicted,
    /// No violated run is known.
    Unviolated,
}

impl Rank {
    pub(super) fn new(observed: &Observed, violated: bool, goal: Goal) -> Rank {
        match (goal.is_bad(observed.verdict, true), violated) {
            (true, true) => Rank::Observed,
            (false, true) => Rank::Predicted,
            (_, false) => Rank::Unviolated,
        }
    }
}

/// The rest of the budget, for the instances still to be reported.
pub(crate) struct ReportBudget {
    pub(super) counting: CountingBudget,
    pub(super) feasibility: NodeBudget,
    pub(super) strong: StrongBudget,
    /// The same for a model that was not requested.
    pub(super) trial: StrongBudget,
    pub(super) pictures: PictureBudget,
    pub(super) witnesses: WitnessBudget,
}

impl ReportBudget {
    pub(crate) fn new(options: &Options) -> ReportBudget {
        ReportBudget {
            counting: CountingBudget::new(options),
            feasibility: NodeBudget::new(options),
            strong: StrongBudget::new(options),
            trial: StrongBudget::of_trial(),
            pictures: PictureBudget::new(options),
            witnesses: WitnessBudget {
                limit: options.witnesses,
                taken: [0; 2],
                rows: ROWS,
            },
        }
    }

    /// Begins another property.
    pub(crate) fn begin_property(&mut self, options: &Options) {
        self.pictures = PictureBudget::new(options);
        self.witnesses.taken = [0; 2];
    }

    /// All instances of a property are known: those of a lower priority give way to those of a higher one.
    pub(crate) fn end_property(&self, options: &Options, found: &mut [PropertyReport]) {
        let rank = |report: &PropertyReport| {
            Rank::new(&report.observed, report.predicted.violated, options.goal)
        };
        let mut ranked: Vec<_> = { found.iter_mut() }
            .map(|report| (rank(report), report))
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        self.pictures.trim(&mut ranked);
        self.witnesses.trim(&mut ranked);
    }
}

/// The largest number of witnesses.
pub(super) struct WitnessBudget {
    /// For one property; if there is no limit, all are kept whatever their length.
    limit: Option<usize>,
    /// The number of witnesses of each rank.
    taken: [usize; 2],
    /// The remaining number of rows.
    rows: usize,
}

impl WitnessBudget {
    /// Whether there is room for a witness of this many rows for now.
    pub(super) fn takes(&mut self, rank: Rank, rows: usize) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        let ahead: usize = self.taken[..=rank as usize].iter().sum();
        if ahead >= limit || (self.taken != [0; 2] && rows > self.rows) {
            return false;
        }
        self.taken[rank as usize] += 1;
        self.rows = self.rows.saturating_sub(rows);
        true
    }

    /// Removes witnesses in excess.
    fn trim(&self, ranked: &mut [(Rank, &mut PropertyReport)]) {
        let shown = { ranked.iter_mut() }.filter(|(_, report)| report.predicted.witness.is_some());
        for (_, report) in shown.skip(self.limit.unwrap_or(usize::MAX)) {
            let predicted = &mut report.predicted;
            *predicted = Predicted::without_witness(predicted.violated_at, predicted.shortest);
            report.why = Why::default();
        }
    }
}
