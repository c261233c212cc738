//! The story of a violated run: how it differs from the observed one, why it is violated, and what to do
//! next.

use portent_lattice::report::{PropertyReport, Row};
use portent_monitor_dsl::{Explanation, Monitor, Verdict};

use super::{
    finding::Finding,
    meaning::meanings,
    numbers::{count, counted},
    paragraph::paragraph,
    run::Run,
    swap::{Difference, and, spell},
};

/// A longer piece of a property is quoted without its middle: the property itself is shown in full.
const QUOTED: usize = 160;
/// At most this many names are explained in a sentence.
const MEANINGS: usize = 6;

/// A violated run, and the text about it.
pub struct Story<'a> {
    witness: &'a [Row],
    violated_at: usize,
    earlier: Vec<bool>,
    /// The pairs of events described as swapped, the one observed earlier first.
    pub swapped: Vec<[u32; 2]>,
    /// Which events could have come before which; `None` if the run is the observed one.
    pub swap: Option<String>,
    /// A note that the run is not a whole one, if so.
    pub stops: Option<String>,
    /// Why the property is violated then.
    pub why: Option<String>,
    /// Why the observed run is violated, if it is and another one is shown.
    pub observed: Option<String>,
    /// What to do next.
    pub next: Option<String>,
}

impl<'a> Story<'a> {
    /// The story of the witness of a finding, if it has one.
    pub fn new(finding: &Finding<'a>) -> Option<Story<'a>> {
        let predicted = &finding.property.predicted;
        let witness = predicted.witness.as_deref()?;
        let violated_at = predicted.violated_at? as usize;
        let left_out = &predicted.left_out;
        let difference = Difference::new(predicted, witness);
        let swap = (!difference.is_empty()).then(|| {
            let after = counted(violated_at as u64, "step");
            let words = difference.in_words();
            format!("{words}; then it is violated after {after}.")
        });
        let observed = match swap {
            Some(_) => why_observed(finding, finding.property),
            None => None,
        };
        Some(Story {
            witness,
            violated_at,
            swap,
            stops: stops(left_out.len()),
            why: why(finding, witness, violated_at),
            observed,
            next: next(finding, &difference),
            swapped: difference.pairs().collect(),
            earlier: difference.earlier,
        })
    }

    /// The run as a table, and the sentences below it.
    pub fn render(&self, finding: &Finding<'_>) -> String {
        let rows: Vec<&Row> = self.witness.iter().collect();
        let run = Run {
            monitor: finding.monitor,
            rows: &rows,
            start: &finding.property.start,
            earlier: &self.earlier,
            violated_at: Some(self.violated_at),
        };
        let title = match self.swap {
            None => "The run, as observed up to the violation:",
            Some(_) => "A run that violates it (↑ comes earlier than observed):",
        };
        let table = run.render(finding.style.paint, "    ");
        let mut text = format!("\n  {title}\n\n{table}\n");
        let parts = [
            ("", &self.swap),
            ("The run: ", &self.stops),
            ("Why: ", &self.why),
            ("Observed: ", &self.observed),
            ("Next: ", &self.next),
        ];
        for (begin, words) in parts {
            if let Some(words) = words {
                text += &paragraph(begin, words);
            }
        }
        text
    }
}

fn stops(left_out: usize) -> Option<String> {
    let missing = match left_out {
        0 => return None,
        1 => "1 step is".to_owned(),
        more => format!("{} are", counted(more as u64, "step")),
    };
    Some(format!(
        "it stops at the violation, and that is all that is claimed; of the observed run, {missing} \
         not in it."
    ))
}

/// Why a run is violated after this many steps.
fn why(finding: &Finding<'_>, run: &[Row], violated_at: usize) -> Option<String> {
    match &finding.property.why.witness {
        Some(why) if why.verdict == Verdict::Violated => Some(in_words(why, finding.monitor)),
        _ if finding.style.complete && run.last().is_none_or(|row| is_open(row.verdict)) => {
            Some("the trace is complete, and at its end the property is still pending.".to_owned())
        }
        // The run is too long to be examined part by part.
        _ => {
            let last = run.get(violated_at.checked_sub(1)?)?;
            let step = count(violated_at as u64);
            Some(format!("violated at step {step}, {}.", spell(last)))
        }
    }
}

fn is_open(verdict: Verdict) -> bool {
    verdict != Verdict::Violated
}

/// The explanation with formatted numbers, and with the definitions of the names in it.
fn in_words(why: &Explanation, monitor: &Monitor) -> String {
    let Explanation {
        verdict,
        part,
        reason,
        ..
    } = why;
    let (step, at) = (count(why.step), count(why.at));
    let quoted = shortened(part, QUOTED);
    let words = if why.step == why.at {
        format!("{verdict} at step {step}: `{quoted}` {reason}.")
    } else {
        format!("{verdict} at step {step}: `{quoted}`, at step {at}, {reason}.")
    };
    // The names in the reason are the relevant ones; if it has none, all names of the part are.
    let property = monitor.property();
    let meant = match meanings(property, reason) {
        named if named.is_empty() => meanings(property, part),
        named => named,
    };
    if meant.is_empty() {
        return words;
    }
    let mut told: Vec<String> = { meant.iter().take(MEANINGS) }
        .map(|(name, meaning)| format!("`{name}` is `{}`", shortened(meaning, QUOTED)))
        .collect();
    match meant.len().saturating_sub(MEANINGS) {
        0 => {}
        more => told.push(format!("{} more names are defined", count(more as u64))),
    }
    format!("{words} There, {}.", and(&told))
}

/// A long text without its middle, cut between words if possible.
fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let (head, tail) = (most * 2 / 3, most / 3);
    let at = |chars: usize| text.char_indices().nth(chars).map_or(0, |(at, _)| at);
    let (head, tail) = (&text[..at(head)], &text[at(length - tail)..]);
    let head = head.rsplit_once(' ').map_or(head, |(words, _)| words);
    let tail = tail.split_once(' ').map_or(tail, |(_, words)| words);
    format!("{head} … {tail}")
}

/// Why the observed run is violated.
fn why_observed(finding: &Finding<'_>, property: &PropertyReport) -> Option<String> {
    let violated_at = match property.observed.verdict {
        Verdict::Violated => property.observed.step?,
        _ => return None,
    };
    let why = property.why.observed.as_ref();
    let why = why.map(|why| in_words(why, finding.monitor));
    let why = why.unwrap_or_else(|| format!("violated at step {}.", count(violated_at)));
    Some(format!("the run as it was is violated, too: {why}"))
}

fn next(finding: &Finding<'_>, difference: &Difference<'_>) -> Option<String> {
    let (early, late) = difference.decisive()?;
    let advice = if finding.style.feasible {
        ": a lock that both take, or a write that nobody reads, does not. If it should wait, a \
             condition variable, a channel or a join does that"
    } else {
        ". If it should, a lock, a channel or a join does that"
    };
    Some(format!(
        "nothing in the trace makes {early} wait for {late}{advice}; if it need not, the property \
         asks for too much."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shortened("a && b", 6), "a && b");
        assert_eq!(
            shortened("one two three four five six", 18),
            "one two … six"
        );
        assert_eq!(shortened(&"é".repeat(30), 9), "éééééé … ééé");
    }
}
