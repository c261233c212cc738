//! What is to be said about one property and one binding of its parameters.

use portent_lattice::{
    Limit,
    report::{PropertyReport, Row},
};
use portent_monitor_core::Value;
use portent_monitor_dsl::{Monitor, Verdict};

use super::{
    Style,
    numbers::{Share, count, counted, number},
    paragraph::paragraph,
    replay::{self, Moment, Replay},
    run::Run,
    stats,
    swap::Difference,
};

/// One entry of a report, with what is needed to explain it.
pub(crate) struct Finding<'a> {
    pub(crate) property: &'a PropertyReport,
    pub(crate) monitor: &'a Monitor,
    /// The initial values that the trace gives.
    pub(crate) initial: &'a [(String, Value)],
    pub(crate) style: Style,
}

impl Finding<'_> {
    /// Everything.
    pub(crate) fn render(&self) -> String {
        let mut text = format!("\n{}", self.headline());
        let formula = self.formula();
        if self.monitor.property().name() != formula.trim_start_matches("ltl: ") {
            text += &format!("  {}\n", self.style.paint.dim(&formula));
        }
        if let Some(story) = self.story() {
            text += &self.told(&story);
        }
        for (begin, fact) in self.searched() {
            text += &paragraph(begin, &fact);
        }
        if self.style.stats {
            text += &stats::render(&self.property.lattice);
        }
        text
    }

    /// One line: the verdict, and how many runs share it.
    pub(crate) fn headline(&self) -> String {
        let paint = self.style.paint;
        let (status, claim) = self.claim();
        let word = match status {
            Status::Predicted | Status::Observed => paint.red(status.word()),
            Status::Open => paint.yellow(status.word()),
            Status::Holds => paint.green(status.word()),
        };
        format!("{}  {word}: {claim}\n", paint.bold(&self.title()))
    }

    /// The name of the property, with the values of its parameters.
    pub(crate) fn title(&self) -> String {
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

    /// The body of the property on one line, with its kind.
    pub(crate) fn formula(&self) -> String {
        let body = self.monitor.property();
        let formula: Vec<&str> = body.text().split_whitespace().collect();
        let formula = formula.join(" ");
        let kind = body.kind();
        format!("{kind}: {}", strip_kind(&formula, kind.as_str()))
    }

    /// What became of the property, and how many runs share that.
    pub(crate) fn claim(&self) -> (Status, String) {
        let property = self.property;
        let share = property.runs.as_ref().and_then(Share::new);
        let observed = property.observed.verdict;
        let kind = self.style.kind_of_runs();
        match (property.predicted.violated, self.observed_is_bad()) {
            (true, true) => {
                let when = match (observed, property.observed.step) {
                    (Verdict::Violated, Some(step)) => format!("after {}", counted(step, "step")),
                    _ => "at its end, where it is still pending".to_owned(),
                };
                let of = match share {
                    Some(share) => format!("; {}, itself included", share.in_words()),
                    None => String::new(),
                };
                (Status::Observed, format!("the run violates it {when}{of}"))
            }
            (true, false) => {
                let of = match share {
                    Some(share) => share.in_words(),
                    None => format!("some {kind} run violates it"),
                };
                let claim = format!("{of}; the observed run is {observed}");
                (Status::Predicted, claim)
            }
            (false, _) if property.relevant == 0 => {
                let claim = "it saw no step, so that nothing was checked";
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

    fn observed_is_bad(&self) -> bool {
        let verdict = self.property.observed.verdict;
        verdict == Verdict::Violated || (self.style.complete && verdict == Verdict::Pending)
    }

    /// A run that is violated, how it differs, and why it is violated.
    pub(crate) fn story(&self) -> Option<Story<'_>> {
        let predicted = &self.property.predicted;
        let witness = predicted.witness.as_deref()?;
        let violated_at = predicted.violated_at? as usize;
        let left_out = &predicted.left_out;
        let difference = Difference::new(witness, left_out, violated_at);
        // Rows and monitor come from the same text, so following them does not fail.
        let Ok(Replay {
            moments,
            explanation,
        }) = replay::replay(self.monitor, self.initial, witness)
        else {
            return None;
        };
        let swap = (!difference.is_empty()).then(|| {
            let after = counted(violated_at as u64, "step");
            let words = difference.in_words();
            format!("{words}; then it is violated after {after}.")
        });
        let stops = (!left_out.is_empty()).then(|| {
            let missing = match left_out.len() {
                1 => "1 step is".to_owned(),
                more => format!("{} are", counted(more as u64, "step")),
            };
            format!(
                "it stops at the violation, and that is all that is claimed; of the observed run, \
                 {missing} not in it."
            )
        });
        let why = match explanation {
            Some(why) if why.verdict == Verdict::Violated => Some(format!("{why}.")),
            _ if self.style.complete => Some(
                "the trace is complete, and at its end the property is still pending.".to_owned(),
            ),
            _ => None,
        };
        let next = difference.decisive().map(|(early, late)| {
            let advice = match self.style.maximal {
                true => {
                    "; a lock keeps them apart in either order. If it should wait, a condition \
                     variable, a channel or a join does that"
                }
                false => ". If it should, a lock, a channel or a join does that",
            };
            format!(
                "nothing in the trace makes {early} wait for {late}{advice}; if it need not, the \
                 property asks for too much."
            )
        });
        Some(Story {
            witness,
            violated_at,
            earlier: difference.earlier,
            moments,
            swap,
            stops,
            why,
            next,
        })
    }

    fn told(&self, story: &Story<'_>) -> String {
        let rows: Vec<&Row> = story.witness.iter().collect();
        let run = Run {
            monitor: self.monitor,
            rows: &rows,
            moments: &story.moments,
            earlier: &story.earlier,
            violated_at: Some(story.violated_at),
        };
        let title = match story.swap {
            None => "The run, as observed up to the violation:",
            Some(_) => "A run that violates it (↑ comes earlier than observed):",
        };
        let mut text = format!("\n  {title}\n\n{}\n", run.render(self.style.paint, "    "));
        let parts = [
            ("", &story.swap),
            ("The run: ", &story.stops),
            ("Why: ", &story.why),
            ("Next: ", &story.next),
        ];
        for (begin, words) in parts {
            if let Some(words) = words {
                text += &paragraph(begin, words);
            }
        }
        text
    }

    /// How much was looked at: sentences, and the word that each begins with.
    pub(crate) fn searched(&self) -> Vec<(&'static str, String)> {
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
            Some(engine) if !self.style.maximal && engine.as_str() != lattice.engine => {
                format!(" ({engine} has no answer here)")
            }
            _ => String::new(),
        };
        let engine = format!("{}{instead}, {nodes} visited.", lattice.engine);
        let mut facts = vec![
            ("Searched: ", format!("{steps}, {size}.")),
            ("Engine: ", engine),
        ];
        if self.property.runs.is_none() && lattice.exhaustive && !self.style.maximal {
            let fact = "The equivalent runs were not counted; --count always tries.";
            facts.push(("", fact.to_owned()));
        }
        if let Some(limit) = lattice.limit {
            let (why, how) = match limit {
                Limit::Window => ("the window", "a larger --window"),
                Limit::Lookahead => ("the lookahead", "a larger --lookahead"),
                Limit::Memory => ("the memory limit", "a larger --memory"),
                Limit::Chains => ("the number of threads", "a --window of your choice"),
            };
            let what = match lattice.engine {
                "enumerate" => "cut",
                _ => "node",
            };
            let left_out = match (limit, lattice.dropped) {
                (Limit::Memory, 0) => format!(
                    "only the observed run was looked at, as the order of so many threads does not \
                     fit in the memory limit; {how} looks further."
                ),
                (_, dropped) => format!(
                    "{} let go because of {why}, and what lies beyond was not seen; {how} looks \
                     further.",
                    counted(dropped, what)
                ),
            };
            facts.push(("Not exhaustive: ", left_out));
        }
        facts
    }
}

/// What became of a property.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Some equivalent run violates it.
    Predicted,
    /// The observed run violates it.
    Observed,
    /// No run violates it.
    Holds,
    /// No violation was found, but not everything was looked at.
    Open,
}

impl Status {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Status::Predicted => "PREDICTED",
            Status::Observed => "OBSERVED",
            Status::Holds => "holds",
            Status::Open => "open",
        }
    }
}

/// A violated run, and what is to be said about it.
pub(crate) struct Story<'a> {
    witness: &'a [Row],
    violated_at: usize,
    earlier: Vec<bool>,
    moments: Vec<Moment>,
    /// What could have come before what; `None` if the run is the observed one.
    pub(crate) swap: Option<String>,
    /// That the run is not a whole one, if it is not.
    pub(crate) stops: Option<String>,
    /// Why the property is violated then.
    pub(crate) why: Option<String>,
    /// What to do next.
    pub(crate) next: Option<String>,
}

/// A body without the word that begins it.
fn strip_kind<'t>(text: &'t str, kind: &str) -> &'t str {
    let rest = text
        .strip_prefix(kind)
        .and_then(|rest| rest.trim_start().strip_prefix(':'));
    rest.unwrap_or(text).trim_start()
}
