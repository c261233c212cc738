//! One property and one binding of its parameters, in the form that the page uses: sentences, figures, and
//! a drawing.

use portent_lattice::report::{Lattice, Observed, Runs};
use serde::Serialize;

use super::{SENTENCE, clip, drawing::Drawing};
use crate::text::{Finding, Status};

#[derive(Serialize)]
pub(super) struct Entry {
    /// The name of the finding in the address of the page.
    pub(super) id: String,
    pub(super) title: String,
    status: &'static str,
    claim: String,
    /// The name of the property.
    property: String,
    /// Whether a witness was left out because the report has enough of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    omitted: bool,
    /// `null` if there are very many findings and this is not among the first.
    #[serde(flatten)]
    details: Option<Details>,
    /// `null` if there was no room for it.
    pub(super) drawing: Option<Drawing>,
}

/// All details of a finding.
#[derive(Serialize)]
struct Details {
    relevant: u64,
    states: usize,
    observed: Observed,
    runs: Option<Runs>,
    lattice: Lattice,
    predicted: Predicted,
    /// The difference between the runs in words, a note if the witness is only a prefix, why it is
    /// violated, what to do next.
    swap: Option<String>,
    stops: Option<String>,
    why: Option<String>,
    /// Why the observed run is violated, too.
    also: Option<String>,
    next: Option<String>,
    /// The extent of the search, each sentence with the word that it begins with.
    searched: Vec<(&'static str, String)>,
}

#[derive(Serialize)]
struct Predicted {
    violated: bool,
    violated_at: Option<u64>,
    shortest: bool,
    /// The number of pairs of events that the witness swaps; `null` if the witness was left out.
    swapped: Option<u64>,
}

impl Entry {
    /// The finding, in full or only its name.
    pub(super) fn new(finding: &Finding<'_>, in_full: bool) -> Entry {
        let property = finding.property;
        let (status, claim) = finding.claim();
        Entry {
            id: String::new(),
            title: clip(&finding.title(), 200),
            status: match status {
                Status::Predicted => "predicted",
                Status::Observed => "observed",
                Status::Holds => "holds",
                Status::Open => "open",
            },
            claim,
            property: property.name.clone(),
            omitted: property.predicted.witness_omitted,
            details: in_full.then(|| Details::new(finding)),
            drawing: { property.picture.as_deref() }
                .filter(|_| in_full)
                .map(|picture| Drawing::new(picture, finding.monitor)),
        }
    }
}

impl Details {
    fn new(finding: &Finding<'_>) -> Details {
        let property = finding.property;
        let story = finding.story();
        let sentence = |text: Option<String>| text.map(|text| clip(&text, SENTENCE));
        let (swap, stops, why, also, next) = match story {
            Some(story) => (
                story.swap,
                story.stops,
                story.why,
                story.observed,
                story.next,
            ),
            None => (None, None, None, None, None),
        };
        let predicted = &property.predicted;
        Details {
            relevant: property.relevant,
            states: property.states,
            observed: property.observed.clone(),
            runs: property.runs.clone(),
            lattice: property.lattice.clone(),
            predicted: Predicted {
                violated: predicted.violated,
                violated_at: predicted.violated_at,
                shortest: predicted.shortest,
                swapped: (!predicted.witness_omitted)
                    .then(|| predicted.swaps.len() as u64 + predicted.swaps_omitted),
            },
            swap: sentence(swap),
            stops: sentence(stops),
            why: sentence(why),
            also: sentence(also),
            next: sentence(next),
            searched: finding.searched(),
        }
    }
}
