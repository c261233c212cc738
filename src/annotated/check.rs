//! A recording and properties: a report, and what to know before trusting it.

use portent_answer::{Answer, Warning, text::Finding};

use super::{SWITCHES, Test, record::Record};
use crate::{Checker, Error, Monitor, Options, Report, Value, Verdict, events::suggest};

/// What is known of a run.
pub(super) struct Checked {
    pub(super) report: Report,
    /// Which of several runs it is.
    pub(super) execution: Option<String>,
    pub(super) warnings: Vec<Warning>,
}

impl Checked {
    /// Checks all properties; the error is for people.
    pub(super) fn new(
        test: &Test,
        monitors: &[Monitor],
        record: &Record,
        execution: Option<String>,
        pictures: usize,
    ) -> Result<Checked, String> {
        for monitor in monitors {
            has_initial_values(test, monitor, record)?;
        }
        let report = report(test, monitors, record, pictures)
            .map_err(|error| format!("{}\nthe run cannot be checked: {error}", test.name))?;
        let warnings = warnings(monitors, record, &report);
        Ok(Checked {
            report,
            execution,
            warnings,
        })
    }

    /// What is to be told.
    pub(super) fn answer(&self) -> Answer<'_> {
        Answer {
            report: &self.report,
            execution: self.execution.as_deref(),
            warnings: &self.warnings,
            known: &[],
        }
    }

    /// What only the order of locks keeps from being violated, as far as that was tried.
    pub(super) fn notes(&self, test: &Test, monitors: &[Monitor]) -> Vec<String> {
        let findings = Finding::all(self.answer(), monitors, test.style());
        let note = |finding: &Finding<'_>| {
            let title = finding.title();
            finding.locks().map(|fact| format!("`{title}`: {fact}"))
        };
        findings
            .iter()
            .filter(|finding| finding.is_violated_under_strong())
            .filter_map(note)
            .collect()
    }
}

fn report(
    test: &Test,
    monitors: &[Monitor],
    record: &Record,
    pictures: usize,
) -> Result<Report, Error> {
    let options = Options::default()
        .causality(test.causality)
        .trial_events(trial_events(record))
        .window(test.window)
        .complete(test.complete)
        .pictures(pictures);
    let initial = |name: &str| {
        record
            .initial(name)
            .filter(|_| declared(monitors, name).is_none())
    };
    let mut checker = Checker::new(monitors.iter().cloned(), initial, options)?;
    record.stream.names(checker.symbols_mut())?;
    for recorded in &record.events {
        // Other models go by what events do: in the order in which they come out they are a trace.
        if test.is_beyond() {
            checker.take(&recorded.event)?;
        } else {
            checker.take_stamped(&recorded.event, &recorded.stamp)?;
        }
    }
    Ok(checker.finish(test.name)?)
}

/// Up to how many events it is tried what the order of locks hides: none if it is not known what else was done.
fn trial_events(record: &Record) -> usize {
    if missing(record).any(|(count, _)| count > 0) {
        0
    } else {
        Options::TRIAL_EVENTS
    }
}

/// What is not in a recording, and how much of it.
fn missing(record: &Record) -> impl Iterator<Item = (u64, &'static str)> {
    let counts = &record.counts;
    let missing = [
        (counts.dropped, "events were not recorded"),
        (counts.late, "operations came too late to be recorded"),
        (
            counts.blind,
            "failed tries of a lock are not in order with its holder",
        ),
        (
            counts.foreign,
            "threads were not spawned through `portent::thread`",
        ),
    ];
    missing.into_iter()
}

/// The initial value of a variable that some property declares; it goes before what was recorded.
pub(super) fn declared(monitors: &[Monitor], name: &str) -> Option<Value> {
    let variables = monitors.iter().flat_map(|one| one.alphabet().variables());
    { variables.filter(|variable| variable.name == name) }
        .find_map(|variable| variable.initial.clone())
}

/// That every variable has a value to begin with.
fn has_initial_values(test: &Test, monitor: &Monitor, record: &Record) -> Result<(), String> {
    for variable in monitor.alphabet().variables() {
        let name = &variable.name;
        if variable.initial.is_some() || record.initial(name).is_some() {
            continue;
        }
        let written = record.initial.iter().map(|(name, _)| name.as_str());
        let hint = match suggest::closest(name, written) {
            Some(meant) => format!("; did you mean `{meant}`?"),
            None => String::new(),
        };
        return Err(format!(
            "{}\nproperty `{}`: variable `{name}` has no initial value, as nobody wrote it while the test ran{hint}\n\
             If that is as it should be, declare one: `property name {{ var {name}: {} = ...  ltl: ... }}`",
            test.name,
            monitor.property().name(),
            variable.type_of,
        ));
    }
    Ok(())
}

fn warnings(monitors: &[Monitor], record: &Record, report: &Report) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for monitor in monitors {
        let property = monitor.property();
        let suspicious = property.warnings().iter();
        let of_it = |text: &str| about(property.name(), "suspicious", text.to_owned());
        warnings.extend(suspicious.map(|one| of_it(one.message())));
    }
    for (name, value) in &record.initial {
        if let Some(declared) = declared(monitors, name).filter(|declared| declared != value) {
            let text = format!(
                "variable `{name}` began with {value}, but the property declares {declared}, and that was taken"
            );
            warnings.push(Warning::of_trace("other_initial_value", text));
        }
    }
    let own = report.warnings.iter();
    warnings.extend(own.map(|one| Warning::new(one, &SWITCHES)));
    for property in &report.properties {
        if property.predicted.violated {
            continue;
        }
        let name = &property.name;
        if !property.lattice.exhaustive {
            let text = "no violation was found, but not every run was looked at";
            warnings.push(about(name, "not_exhaustive", text.to_owned()));
        }
        let runs = property.runs.as_ref();
        if property.observed.verdict == Verdict::Pending
            || runs.is_some_and(|runs| runs.pending != "0")
        {
            let text =
                "runs are pending when the test ends; with `complete` they count as violated";
            warnings.push(about(name, "pending", text.to_owned()));
        }
    }
    for (count, what) in missing(record) {
        if count > 0 {
            let text = format!("the order is not complete: {count} {what}");
            warnings.push(Warning::of_trace("order_incomplete", text));
        }
    }
    warnings
}

fn about(property: &str, kind: &'static str, text: String) -> Warning {
    Warning {
        property: Some(property.to_owned()),
        kind,
        text,
    }
}
