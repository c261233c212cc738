//! Races, deadlocks and blocks that are not atomic, in what a body did.

use super::{Model, Test, record::Record};
use crate::findings::{self, Finder, report::Label};

/// What was found, as sentences without a full stop.
#[derive(Default)]
pub(super) struct Found {
    /// What the run has, or another that was carried out.
    pub(super) certain: Vec<String>,
    /// What only looks like something, and what to know before trusting the rest.
    pub(super) warnings: Vec<String>,
}

/// Looks for what a test asks for; the error is for people.
pub(super) fn find(test: &Test, record: &Record) -> Result<Found, String> {
    let Some(kinds) = test.find else {
        return Ok(Found::default());
    };
    let report = report(kinds, test, record)
        .map_err(|error| format!("{}\nnothing can be found: {error}", test.name))?;
    let advice = match test.causality {
        Model::HappensBefore => "; `causality = \"strong\"` may show whether it can happen",
        _ => "",
    };
    let (possible, certain): (Vec<_>, Vec<_>) =
        { report.findings.iter() }.partition(|finding| finding.label == Label::Possible);
    let warnings = report.warnings.iter().map(|warning| warning.text.clone());
    Ok(Found {
        certain: certain.iter().map(|finding| finding.to_string()).collect(),
        warnings: { possible.iter().map(|finding| format!("{finding}{advice}")) }
            .chain(warnings)
            .collect(),
    })
}

fn report(
    kinds: &str,
    test: &Test,
    record: &Record,
) -> Result<findings::Report, Box<dyn std::error::Error>> {
    // What the maximal model adds is not looked for.
    let model = match test.causality {
        Model::HappensBefore => findings::Model::HappensBefore,
        _ => findings::Model::Strong,
    };
    let options = findings::Options::default()
        .model(model)
        .hunt(kinds.parse()?);
    let mut finder = Finder::new(options);
    record.stream.names(finder.symbols_mut())?;
    for recorded in &record.events {
        finder.take(&recorded.event)?;
    }
    Ok(finder.finish()?)
}
