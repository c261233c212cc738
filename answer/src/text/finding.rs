//! The text about one property and one binding of its parameters.

use num_bigint::BigUint;
use portent_lattice::{
    Counting, Engine, Limit,
    report::{Lattice, LeftOut, PropertyReport, Row, Untried},
};
use portent_monitor_dsl::{Monitor, Property, Verdict};

use super::{
    Style,
    meaning::meanings,
    numbers::{Share, count, counted, number},
    paragraph::paragraph,
    stats,
    story::Story,
};
use crate::{Answer, Switches};

/// More names than this are not listed one by one; the relevant ones are mentioned with the violation.
const LETS: usize = 12;

/// One entry of a report, with the data needed to explain it.
pub struct Finding<'a> {
    /// The report of the analyzer on it.
    pub property: &'a PropertyReport,
    /// Its monitor.
    pub monitor: &'a Monitor,
    /// How to write it.
    pub style: Style,
}

impl<'a> Finding<'a> {
    /// All of an execution, in the order of the report.
    pub fn all(answer: Answer<'a>, monitors: &'a [Monitor], style: Style) -> Vec<Finding<'a>> {
        let finding = |property: &'a PropertyReport| {
            let mut monitors = monitors.iter();
            Some(Finding {
                property,
                monitor: monitors.find(|monitor| monitor.property().name() == property.name)?,
                style,
            })
        };
        let properties = answer.report.properties.iter();
        properties.filter_map(finding).collect()
    }

    /// Everything.
    pub fn render(&self) -> String {
        let mut text = format!("\n{}", self.headline());
        let formula = formula(self.monitor.property());
        if self.monitor.property().name() != formula.trim_start_matches("ltl: ") {
            text += &self.dim_paragraph(&formula);
        }
        let definitions = self.definitions();
        if definitions.len() > LETS {
            let number = definitions.len();
            let all = match self.style.switches.json {
                Some(json) => format!("; {json} has them all"),
                None => String::new(),
            };
            text += &self.dim_paragraph(&format!("let: {number} names{all}"));
        } else {
            for (name, meaning) in definitions {
                text += &self.dim_paragraph(&format!("let {name} = {meaning}"));
            }
        }
        if let Some(story) = self.story() {
            text += &story.render(self);
        }
        if self.property.predicted.witness_omitted {
            // The first one is always shown if there is room for it.
            let is_too_long = self.style.all || self.property.binding.is_empty();
            let (why, how) = if is_too_long {
                let how = self.style.switches.more_memory("shows it");
                ("has too many steps for the memory limit", how)
            } else {
                let all = self.style.switches.all;
                let how = all.map(|all| format!("; {all} shows it"));
                ("the report has enough of them", how.unwrap_or_default())
            };
            let fact = format!("A run that violates it was found, but {why}{how}.");
            text += &paragraph("", &fact);
        }
        for (begin, fact) in self.searched() {
            text += &paragraph(begin, &fact);
        }
        if self.style.stats {
            text += &stats::render(&self.property.lattice);
        }
        text
    }

    /// One line: the verdict, and for how many runs it holds.
    pub fn headline(&self) -> String {
        let paint = self.style.paint;
        let (status, claim) = self.claim();
        let word = match status {
            Status::Predicted | Status::Observed => paint.red(status.word()),
            Status::Open => paint.yellow(status.word()),
            Status::Holds => paint.green(status.word()),
        };
        format!("{}  {word}: {claim}\n", paint.bold(&self.title()))
    }

    fn dim_paragraph(&self, words: &str) -> String {
        let lines = paragraph("", words);
        let dim = |line: &str| format!("  {}\n", self.style.paint.dim(line.trim_start()));
        lines.lines().map(dim).collect()
    }

    /// The name of the property, with the values of its parameters.
    pub fn title(&self) -> String {
        let property = self.property;
        if property.binding.is_empty() {
            return property.name.clone();
        }
        let values = property.binding.iter();
        let values: Vec<String> = values
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        format!("{} [{}]", property.name, values.join(", "))
    }

    /// The meanings of the names that the body uses.
    pub fn definitions(&self) -> Vec<(&'a str, String)> {
        let property = self.monitor.property();
        meanings(property, property.text())
    }

    /// The outcome of the property, and for how many runs it holds.
    pub fn claim(&self) -> (Status, String) {
        let property = self.property;
        let share = property.runs.as_ref().and_then(Share::violated);
        let observed = property.observed.verdict;
        let kind = self.style.kind_of_runs();
        let reads_variables = self.monitor.alphabet().reads_variables();
        match (property.predicted.violated, self.observed_is_bad()) {
            (true, true) => {
                let what = match (observed, property.observed.step) {
                    (Verdict::Violated, Some(0)) if reads_variables => {
                        "the initial values violate it".to_owned()
                    }
                    (Verdict::Violated, Some(0)) => "every run violates it".to_owned(),
                    (Verdict::Violated, Some(step)) => {
                        format!("the run violates it after {}", counted(step, "step"))
                    }
                    _ => "the run violates it at its end, where it is still pending".to_owned(),
                };
                let of = match share {
                    Some(share) if share.total == 1u32.into() => {
                        "; no other run is equivalent to it".to_owned()
                    }
                    Some(share) => format!("; {}, itself included", violate(&share)),
                    None => String::new(),
                };
                (Status::Observed, what + &of)
            }
            (true, false) => {
                let of = match share {
                    Some(share) => violate(&share),
                    None => format!("some {kind} run violates it"),
                };
                let claim = format!("{of}; the observed run is {observed}");
                (Status::Predicted, claim)
            }
            (false, _) if property.relevant == 0 => {
                let claim = "it saw no step, so nothing was checked";
                (Status::Open, claim.to_owned())
            }
            (false, _) if !property.lattice.exhaustive => {
                let claim = format!("no violation found, but not every {kind} run was looked at");
                (Status::Open, claim)
            }
            (false, _) => {
                let of = match share {
                    Some(share) if share.total == 1u32.into() => {
                        "there is one run, the observed one".to_owned()
                    }
                    Some(share) => {
                        format!(
                            "none of {} equivalent runs violates it",
                            number(&share.total)
                        )
                    }
                    None => format!("no {kind} run violates it"),
                };
                let claim = format!("{of}; the observed run is {observed}");
                (Status::Holds, claim)
            }
        }
    }

    /// Whether the observed run is violated, at its end if that counts.
    pub(super) fn observed_is_bad(&self) -> bool {
        let verdict = self.property.observed.verdict;
        verdict == Verdict::Violated || (self.style.complete && verdict == Verdict::Pending)
    }

    /// A run that is violated, how it differs, and why it is violated.
    pub fn story(&self) -> Option<Story<'a>> {
        Story::new(self)
    }

    /// The extent of the search: sentences, and the word that each begins with.
    pub fn searched(&self) -> Vec<(&'static str, String)> {
        let lattice = &self.property.lattice;
        let steps = counted(self.property.relevant, "relevant event");
        let size = match (lattice.cuts, lattice.widest) {
            (Some(cuts), Some(widest)) => format!(
                "{} on {}, at most {} on one",
                counted(cuts, "cut"),
                counted(lattice.levels, "level"),
                count(widest)
            ),
            _ => counted(lattice.levels, "level"),
        };
        let nodes = counted(lattice.nodes, "node");
        let instead = match self.style.engine {
            Some(engine) if !self.style.feasible && engine != lattice.engine => {
                format!(" ({engine} has no answer here)")
            }
            _ => String::new(),
        };
        let engine = format!("{}{instead}, {nodes} visited.", lattice.engine);
        let mut facts = vec![
            ("Searched: ", format!("{steps}, {size}.")),
            ("Engine: ", engine),
        ];
        if self.property.runs.is_none() && lattice.exhaustive && !self.style.feasible {
            let switches = self.style.switches;
            let counted = |what: &str| match switches.count {
                Some(count) => format!("; {count} does {what}"),
                None => String::new(),
            };
            let (why, how) = match self.style.counting {
                Counting::Always => {
                    let why = ", as that does not fit in the memory limit";
                    (why, switches.more_memory("may do"))
                }
                Counting::Auto => (", as that takes longer than the search", counted("it")),
                _ => ("", counted("that")),
            };
            let fact = format!("The equivalent runs were not counted{why}{how}.");
            facts.push(("", fact));
        }
        if let Some(fact) = self.locks() {
            facts.push(("Locks: ", fact));
        }
        if let Some(fact) = self.pending() {
            facts.push(("Pending: ", fact));
        }
        if let Some(limit) = lattice.limit {
            facts.push(("Not exhaustive: ", self.left_out(lattice, limit)));
        }
        facts
    }

    /// Whether a run that the model `strong` admits was found to be violated where no equivalent one is.
    pub fn is_violated_under_strong(&self) -> bool {
        let found = self.property.under_strong.as_ref();
        found.is_some_and(|found| found.violated)
    }

    /// A note that only locks keep some order, if the property holds as long as they do.
    pub fn locks(&self) -> Option<String> {
        let steps = self.property.lattice.ordered_by_locks.filter(|&n| n > 0)?;
        if self.property.predicted.violated {
            return None;
        }
        let come = if steps == 1 { "comes" } else { "come" };
        let Switches {
            strong, maximal, ..
        } = self.style.switches;
        let maximal =
            format!("{maximal} also looks at runs where they take them in another order.");
        let beyond = match &self.property.under_strong {
            Some(found) if found.violated => format!("under {strong} {}", without(found)),
            Some(LeftOut {
                untried: Some(why), ..
            }) => format!(
                "{strong}, {}, also looks at runs where threads go without critical sections of others, {maximal}",
                untried(*why)
            ),
            Some(found) if found.exhaustive => format!(
                "it also holds under {strong}, where threads may go without critical sections of others; {maximal}"
            ),
            Some(_) => format!(
                "a short search under {strong} found no violation, and a longer one might; {maximal}"
            ),
            None => format!(
                "{strong} also looks at runs where threads go without critical sections of others, {maximal}"
            ),
        };
        Some(format!(
            "{} {come} after others only because of the order in which threads took locks; {beyond}",
            counted(steps, "step")
        ))
    }

    /// A note that runs are still pending at the end of the trace, if that is not a violation.
    pub(super) fn pending(&self) -> Option<String> {
        if self.style.complete {
            return None;
        }
        let share = self.property.runs.as_ref().and_then(Share::pending);
        let runs = match share {
            Some(share) if share.part == BigUint::ZERO => return None,
            Some(share) if share.total > 1u32.into() => share.in_words(),
            _ if self.property.observed.verdict == Verdict::Pending => {
                "the observed run".to_owned()
            }
            _ => return None,
        };
        Some(format!("{runs} {}", self.style.switches.at_end()))
    }

    /// What the search left out, and how to search further.
    fn left_out(&self, lattice: &Lattice, limit: Limit) -> String {
        let switches = self.style.switches;
        let larger = |option: Option<&str>| option.map(|option| format!("a larger {option}"));
        let whole = || Some("a check of the whole trace".to_owned());
        let (why, how) = match limit {
            Limit::Window => ("the window", larger(Some(switches.window))),
            Limit::Lookahead => ("the lookahead", larger(switches.lookahead)),
            Limit::Memory => ("the memory limit", larger(switches.memory)),
            Limit::Chains => (
                "the number of threads",
                Some(format!("a {} of your choice", switches.window)),
            ),
            Limit::Time => ("the time limit", larger(switches.time)),
            Limit::History => ("the steps whose order was kept", whole()),
            Limit::Nodes if matches!(lattice.engine, Engine::Strong | Engine::Maximal) => {
                let time = switches
                    .time
                    .map_or_else(String::new, |time| format!(", or a {time},"));
                let how = larger(switches.max_nodes).map(|nodes| nodes + &time);
                ("the limit on the nodes of a search", how)
            }
            Limit::Nodes => ("the number of symbolic nodes", whole()),
            Limit::Missing => ("events that never came", whole()),
        };
        let how = how.map_or_else(String::new, |how| format!("; {how} looks further"));
        let dropped = match lattice.engine {
            Engine::Enumerate => counted(lattice.dropped, "cut"),
            _ => counted(lattice.dropped, "node"),
        };
        match (limit, self.style.lookahead, lattice.dropped) {
            (Limit::Lookahead, Some(events), 0) => format!(
                "the runs were left out in which an event overtakes one that was observed more than \
                 {} before it{how}.",
                counted(events.into(), "place")
            ),
            (Limit::Memory, _, 0) => format!(
                "some events were assumed to come in the observed order, as \
                 the order of all these threads does not fit in the memory limit{how}."
            ),
            (Limit::History, _, 0) => format!(
                "the order of older steps was not kept any more, and newer events were taken to come after them{how}."
            ),
            (Limit::Missing, _, 0) => {
                "not all that happened was seen, and so no run with what is missing.".to_owned()
            }
            (Limit::Time, ..) => {
                format!("the time was up before everything was looked at{how}.")
            }
            _ => format!(
                "{dropped} dropped because of {why}, and what lies beyond was not seen{how}."
            ),
        }
    }
}

/// A note that a model was not tried, and why.
fn untried(why: Untried) -> String {
    let why = match why {
        Untried::Events(most) => format!("the run has more than {}", counted(most, "event")),
        Untried::Memory => "its steps do not fit in memory".to_owned(),
        Untried::Spent => "others have used the time for that".to_owned(),
        _ => return "which was not tried".to_owned(),
    };
    format!("which was not tried as {why}")
}

/// A note that a run is violated which leaves something out, and what it leaves out.
fn without(found: &LeftOut) -> String {
    let name = |row: &Row| {
        let set = row
            .set
            .iter()
            .map(|(name, value)| format!("{name} = {value}"));
        let step = row.name.as_ref().map(|name| name.to_string());
        let step: Vec<String> = step.into_iter().chain(set).collect();
        format!("{} ({})", step.join(", "), row.t)
    };
    let mut text = "it is violated".to_owned();
    if let Some(last) = found.witness.as_ref().and_then(|rows| rows.last()) {
        text += &format!(", with {}", name(last));
    }
    match found.left_out.as_slice() {
        [] => {}
        [one] => text += &format!(" and without {}", name(one)),
        [first, more @ ..] => {
            let others = counted(more.len() as u64, "other step");
            text += &format!(" and without {} and {others}", name(first));
        }
    }
    text + ": a thread may go without a critical section of another."
}

/// As [`Finding::locks`], for the bindings of a property together.
pub(super) fn locks_of(findings: &[Finding<'_>]) -> Option<String> {
    let kept: Vec<_> = findings.iter().filter(|it| it.locks().is_some()).collect();
    let switches = &kept.first()?.style.switches;
    let (strong, maximal) = (switches.strong, switches.maximal);
    let searched = |it: &&&Finding<'_>| {
        let found = it.property.under_strong.as_ref();
        found.is_some_and(|found| found.exhaustive)
    };
    let all_searched = kept.iter().filter(searched).count() == kept.len();
    let violated: Vec<_> = { kept.iter() }
        .filter(|it| it.is_violated_under_strong())
        .collect();
    let beyond = match violated[..] {
        [one] => format!("under {strong} {} is violated", one.title()),
        [first, ..] => format!(
            "under {strong} {} of these are violated, such as {}",
            count(violated.len() as u64),
            first.title()
        ),
        [] if all_searched => format!(
            "no violation was found under {strong}, where threads may go without critical sections of others; {maximal} also looks at runs where they take them in another order"
        ),
        [] => format!(
            "{strong} also looks at runs where threads go without critical sections of others, {maximal} at runs where they take them in another order"
        ),
    };
    Some(format!(
        "in {} some steps come after others only because of the order in which threads took locks; {beyond}.",
        counted(kept.len() as u64, "binding")
    ))
}

/// The outcome of a property.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Some equivalent run violates it.
    Predicted,
    /// The observed run violates it.
    Observed,
    /// No run violates it.
    Holds,
    /// No violation was found, but the search was not exhaustive.
    Open,
}

impl Status {
    /// The most important ones first.
    pub const BY_WEIGHT: [Status; 4] = [
        Status::Observed,
        Status::Predicted,
        Status::Open,
        Status::Holds,
    ];

    /// As a headline.
    pub fn word(self) -> &'static str {
        match self {
            Status::Predicted => "PREDICTED",
            Status::Observed => "OBSERVED",
            Status::Holds => "holds",
            Status::Open => "open",
        }
    }
}

/// The body of a property on one line, with its kind.
pub fn formula(property: &Property) -> String {
    let formula: Vec<&str> = property.text().split_whitespace().collect();
    let formula = formula.join(" ");
    let kind = property.kind();
    format!("{kind}: {}", strip_kind(&formula, kind.as_str()))
}

/// "6 of 20 equivalent runs violate it (30 %)".
fn violate(share: &Share) -> String {
    let runs = share.in_words();
    if share.is_all() {
        format!("{runs} violates it")
    } else if share.part == 1u32.into() {
        format!("{runs} violates it ({})", share.percent())
    } else {
        format!("{runs} violate it ({})", share.percent())
    }
}

/// A body without its first word, which names its kind.
fn strip_kind<'t>(text: &'t str, kind: &str) -> &'t str {
    let rest = text
        .strip_prefix(kind)
        .and_then(|rest| rest.trim_start().strip_prefix(':'));
    rest.unwrap_or(text).trim_start()
}
