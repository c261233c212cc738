//! What a test leaves in the folder that `PORTENT_REPORT` names: a page to look at, and the recording and its properties, of which
//! `portent check` makes any other answer.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use portent_answer::html::{self, Origin, PageRoom};
#[cfg(feature = "explore")]
use portent_answer::html::{Schedule, ScheduledStep};

use super::{
    Model, Test,
    check::{Checked, declared},
    record::Record,
};
use crate::{
    Error, Monitor, Symbols,
    trace::{Format, Header, TraceWriter},
};

/// Names the folder.
const FOLDER: &str = "PORTENT_REPORT";

/// Where the files of one run of a test go.
pub(super) struct ReportFiles {
    test: &'static str,
    folder: PathBuf,
    /// The name of each file, but for its ending.
    name: String,
}

impl ReportFiles {
    /// The one that is asked for, if one is.
    pub(super) fn asked_for(test: &Test, round: u32) -> Option<ReportFiles> {
        let folder = env::var_os(FOLDER).filter(|folder| !folder.is_empty())?;
        let mut name = test.name.replace("::", "-");
        if test.repeat > 1 {
            name += &format!("-{round}");
        }
        Some(ReportFiles {
            test: test.name,
            folder: PathBuf::from(folder),
            name,
        })
    }

    /// How to get a page, where none was asked for.
    pub(super) fn hint() -> String {
        format!("For a page, run the test again with {FOLDER}=DIR.")
    }

    /// How many pictures of each property a page has room for.
    pub(super) fn pictures() -> usize {
        PageRoom::pictures(false, false)
    }

    /// Leaves what was recorded and what it is checked against.
    pub(super) fn leave_recording(
        &self,
        test: &Test,
        monitors: &[Monitor],
        record: &Record,
    ) -> Result<(), String> {
        let write = || {
            fs::create_dir_all(&self.folder)?;
            let texts: Vec<String> = monitors.iter().map(spec_text).collect();
            fs::write(self.path("portent"), texts.join("\n\n") + "\n")?;
            write_trace(&self.path("jsonl"), test, monitors, record)?;
            Ok(())
        };
        write().map_err(|error: Box<dyn std::error::Error>| self.failed(&*error))
    }

    /// Leaves the page about the properties, if there are any, and says where it is and how to get that of the findings.
    pub(super) fn leave_page(
        &self,
        test: &Test,
        monitors: &[Monitor],
        checked: &Checked,
    ) -> Result<String, String> {
        let of_findings = test.find.map(|kinds| self.findings_command(test, kinds));
        let of_properties = match of_findings {
            // A page without a property would say that there is nothing to show.
            Some(_) if monitors.is_empty() => None,
            _ => Some(self.leave_properties(test, monitors, checked)?),
        };
        let told: Vec<String> = of_properties.into_iter().chain(of_findings).collect();
        Ok(told.join("\n"))
    }

    /// The command that makes the page of what is found in the recording.
    fn findings_command(&self, test: &Test, kinds: &str) -> String {
        let model = match test.causality {
            Model::HappensBefore => "happens-before",
            _ => "strong",
        };
        let kinds: String = kinds.split_whitespace().collect();
        let file = |ending: &str| html::quoted(&self.path(ending).display().to_string());
        format!(
            "A page of what is found: portent find --only {kinds} --causality {model} --format html --output {} {}",
            file("found.html"),
            file("jsonl"),
        )
    }

    fn leave_properties(
        &self,
        test: &Test,
        monitors: &[Monitor],
        checked: &Checked,
    ) -> Result<String, String> {
        let write = || {
            let origin = Origin::of(&format!("cargo test {}", html::quoted(self.test)))?;
            let page = html::render(&[checked.answer()], monitors, test.style(), origin, None);
            let path = self.path("html");
            fs::write(&path, page)?;
            let path = path.canonicalize()?;
            Ok(format!("The page: {}", path.display()))
        };
        write().map_err(|error: Box<dyn std::error::Error>| self.failed(&*error))
    }

    /// Leaves a page about what an explored test failed with, and says where it is.
    #[cfg(feature = "explore")]
    pub(super) fn leave_schedule(
        &self,
        failure: &crate::explore::Failure,
    ) -> Result<String, String> {
        let steps = { failure.steps.iter() }
            .map(|step| ScheduledStep {
                thread: step.thread,
                operation: step.operation,
                object: &step.object,
                place: step.place.as_deref(),
            })
            .collect();
        let (_, name) = self.test.split_once("::").unwrap_or(("", self.test));
        let command = format!(
            "PORTENT_REPLAY={} cargo test {}",
            failure.token,
            html::quoted(name)
        );
        let schedule = Schedule {
            title: self.test,
            message: &failure.message,
            threads: &failure.threads,
            steps,
            command: &command,
            notes: { failure.shrunk.iter() }.map(ToString::to_string).collect(),
        };
        let write = || {
            fs::create_dir_all(&self.folder)?;
            let path = self.path("html");
            let origin = Origin::of(&format!("cargo test {}", html::quoted(self.test)))?;
            fs::write(&path, schedule.page(&origin))?;
            Ok(format!("The page: {}", path.canonicalize()?.display()))
        };
        write().map_err(|error: Box<dyn std::error::Error>| self.failed(&*error))
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.name))
    }

    fn failed(&self, error: &dyn std::error::Error) -> String {
        let folder = self.folder.display();
        format!("{}\n{FOLDER}={folder}: {error}", self.test)
    }
}

/// A property as a file has it: one with a name.
fn spec_text(monitor: &Monitor) -> String {
    let property = monitor.property();
    // What has no name is called as it is written.
    let is_bare = property
        .full_text()
        .split_whitespace()
        .eq(property.name().split_whitespace());
    if is_bare {
        let (kind, text) = (property.kind(), property.text());
        format!("property checked {{\n    {kind}: {text}\n}}")
    } else {
        property.full_text().to_owned()
    }
}

fn write_trace(
    path: &Path,
    test: &Test,
    monitors: &[Monitor],
    record: &Record,
) -> Result<(), Error> {
    let mut symbols = Symbols::default();
    record.stream.names(&mut symbols)?;
    let mut writer = TraceWriter::create(path, Format::Native)?;
    // A trace would go before what a property declares.
    let init = { record.initial.iter() }
        .filter(|(name, _)| declared(monitors, name).is_none())
        .cloned()
        .collect();
    let header = Header {
        init,
        test: Some(test.cargo_name().to_owned()),
    };
    writer.header(&header)?;
    for recorded in &record.events {
        writer.event(&recorded.event, &symbols)?;
    }
    writer.finish(&symbols)?;
    Ok(())
}
