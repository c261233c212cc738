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
    replay::{self, Replay},
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
        let body = self.monitor.property();
        let formula: Vec<&str> = body.text().split_whitespace().collect();
        let formula = format!(
            "{}: {}",
            body.kind(),
            strip_kind(&formula.join(" "), body.kind().as_str())
        );
        if self.monitor.property().name() != formula.trim_start_matches("ltl: ") {
            text += &format!("  {}\n", self.style.paint.dim(&formula));
        }
        let predicted = &self.property.predicted;
        if let (Some(witness), Some(violated_at)) = (&predicted.witness, predicted.violated_at) {
            text += &self.story(witness, violated_at as usize);
        }
        text += &self.searched();
        if self.style.stats {
            text += &stats::render(&self.property.lattice);
        }
        text
    }

    /// One line: the verdict, and how many runs share it.
    pub(crate) fn headline(&self) -> String {
        let (property, paint) = (self.property, self.style.paint);
        let mut name = property.name.clone();
        if !property.binding.is_empty() {
            let values = property.binding.iter();
            let values: Vec<String> = values
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            name += &format!(" [{}]", values.join(", "));
        }
        let name = paint.bold(&name);
        let share = property
            .runs
            .as_ref()
            .and_then(|runs| Share::new(runs, self.style.complete));
        let observed = property.observed.verdict;
        let kind = self.style.kind_of_runs();
        let rest = match (property.predicted.violated, self.observed_is_bad()) {
            (true, true) => {
                let when = match (observed, property.observed.step) {
                    (Verdict::Violated, Some(step)) => format!("after {}", counted(step, "step")),
                    _ => "at its end, where it is still pending".to_owned(),
                };
                let of = match share {
                    Some(share) => format!("; {}, itself included", share.in_words()),
                    None => String::new(),
                };
                format!("{}: the run violates it {when}{of}", paint.red("OBSERVED"))
            }
            (true, false) => {
                let of = match share {
                    Some(share) => share.in_words(),
                    None => format!("some {kind} run violates it"),
                };
                let verdict = paint.red("PREDICTED");
                format!("{verdict}: {of}; the observed run is {observed}")
            }
            (false, _) if !property.lattice.exhaustive => format!(
                "{}: no violation found, but not every {kind} run was looked at",
                paint.yellow("open")
            ),
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
                format!(
                    "{}: {of}; the observed run is {observed}",
                    paint.green("holds")
                )
            }
        };
        format!("{name}  {rest}\n")
    }

    fn observed_is_bad(&self) -> bool {
        let verdict = self.property.observed.verdict;
        verdict == Verdict::Violated || (self.style.complete && verdict == Verdict::Pending)
    }

    /// A run that is violated, how it differs, and why it is violated.
    fn story(&self, witness: &[Row], violated_at: usize) -> String {
        let left_out = &self.property.predicted.left_out;
        let difference = Difference::new(witness, left_out, violated_at);
        // Rows and monitor come from the same text, so following them does not fail.
        let Ok(Replay {
            moments,
            explanation,
        }) = replay::replay(self.monitor, self.initial, witness)
        else {
            return String::new();
        };
        let rows: Vec<&Row> = witness.iter().collect();
        let run = Run {
            monitor: self.monitor,
            rows: &rows,
            moments: &moments,
            earlier: &difference.earlier,
            violated_at: Some(violated_at),
        };
        let title = match difference.is_empty() {
            true => "The run, as observed up to the violation:",
            false => "A run that violates it (↑ comes earlier than observed):",
        };
        let mut text = format!("\n  {title}\n\n{}\n", run.render(self.style.paint, "    "));
        if !difference.is_empty() {
            let after = counted(violated_at as u64, "step");
            let words = difference.in_words();
            let words = format!("{words}; then it is violated after {after}.");
            text += &paragraph("", &words);
        }
        if !left_out.is_empty() {
            let stops = format!(
                "it stops at the violation, and that is all that is claimed; of the observed run, {} \
                 not in it.",
                match left_out.len() {
                    1 => "1 step is".to_owned(),
                    more => format!("{} are", counted(more as u64, "step")),
                }
            );
            text += &paragraph("The run: ", &stops);
        }
        match explanation {
            Some(why) if why.verdict == Verdict::Violated => {
                text += &paragraph("Why: ", &format!("{why}."));
            }
            _ if self.style.complete => {
                let why = "the trace is complete, and at its end the property is still pending.";
                text += &paragraph("Why: ", why);
            }
            _ => {}
        }
        if let Some((early, late)) = difference.decisive() {
            let advice = match self.style.maximal {
                true => {
                    "a lock keeps them apart in either order. If it should wait, a condition \
                     variable, a channel or a join does that"
                }
                false => "If it should, a lock, a channel or a join does that",
            };
            let mark = if self.style.maximal { ";" } else { "." };
            let next = format!(
                "nothing in the trace makes {early} wait for {late}{mark} {advice}; if it need not, \
                 the property asks for too much."
            );
            text += &paragraph("Next: ", &next);
        }
        text
    }

    /// How much was looked at.
    fn searched(&self) -> String {
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
        let mut text = paragraph("Searched: ", &format!("{steps}, {size}."));
        let nodes = counted(lattice.nodes, "node");
        let instead = match self.style.engine {
            Some(engine) if !self.style.maximal && engine.as_str() != lattice.engine => {
                format!(" ({engine} has no answer here)")
            }
            _ => String::new(),
        };
        let engine = format!("{}{instead}, {nodes} visited.", lattice.engine);
        text += &paragraph("Engine: ", &engine);
        if self.property.runs.is_none() && lattice.exhaustive && !self.style.maximal {
            text += &paragraph(
                "",
                "The equivalent runs were not counted; --count always tries.",
            );
        }
        if let Some(limit) = lattice.limit {
            let (why, how) = match limit {
                Limit::Window => ("the window", "a larger --window"),
                Limit::Lookahead => ("the lookahead", "a larger --lookahead"),
                Limit::Memory => ("the memory limit", "a larger --memory"),
            };
            let what = match lattice.engine {
                "enumerate" => "cut",
                _ => "node",
            };
            let dropped = counted(lattice.dropped, what);
            let left_out = format!(
                "{dropped} let go because of {why}, and what lies beyond was not seen; {how} looks \
                 further."
            );
            text += &paragraph("Not exhaustive: ", &left_out);
        }
        text
    }
}

/// A body without the word that begins it.
fn strip_kind<'t>(text: &'t str, kind: &str) -> &'t str {
    let rest = text
        .strip_prefix(kind)
        .and_then(|rest| rest.trim_start().strip_prefix(':'));
    rest.unwrap_or(text).trim_start()
}
