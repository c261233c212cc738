//! How much of what was found a report shows in full.
//!
//! A property with ten thousand bindings may be violated in each of them, and a run may have a million steps. A
//! reader looks at a few witnesses; each of the others gets one line, unless everything is asked for.

use super::{Observed, Predicted, PropertyReport, Why, picture::PictureBudget};
use crate::{
    engine::{CountingBudget, maximal::NodeBudget, strong::StrongBudget},
    goal::Goal,
    options::Options,
};

/// The witnesses of a report have at most this many rows on the whole, but for the first of each property, which is always there.
const ROWS: usize = 20_000;

/// What gets its witness and its picture first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The observed run is violated.
    Observed,
    /// Only runs that were not observed are.
    Predicted,
    /// None that is known.
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

/// What is left for the instances that are still to be reported.
pub(crate) struct ReportBudget {
    pub(super) counting: CountingBudget,
    pub(super) feasibility: NodeBudget,
    pub(super) strong: StrongBudget,
    /// The same where nobody asked for that model.
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

    /// Another property begins.
    pub(crate) fn begin_property(&mut self, options: &Options) {
        self.pictures = PictureBudget::new(options);
        self.witnesses.taken = [0; 2];
    }

    /// All instances of a property are known: those of a higher rank give way to those of a lower one.
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

/// How many witnesses there may be.
pub(super) struct WitnessBudget {
    /// For one property; all of them, whatever their length, if there is no limit.
    limit: Option<usize>,
    /// How many there are of each rank.
    taken: [usize; 2],
    /// What is left of the rows.
    rows: usize,
}

impl WitnessBudget {
    /// Whether there is room for a witness of this many rows, for the time being.
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

    /// Takes back what is too much.
    fn trim(&self, ranked: &mut [(Rank, &mut PropertyReport)]) {
        let shown = { ranked.iter_mut() }.filter(|(_, report)| report.predicted.witness.is_some());
        for (_, report) in shown.skip(self.limit.unwrap_or(usize::MAX)) {
            let predicted = &mut report.predicted;
            *predicted = Predicted::without_witness(predicted.violated_at, predicted.shortest);
            report.why = Why::default();
        }
    }
}
