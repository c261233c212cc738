//! Compares a monitor with an oracle: on all words up to some length, and on the whole product of the two machines.

use std::any::Any;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use portent_monitor_dsl::{Config, Monitor, Property, StateId, Verdict, Verdicts};

use super::case::{self, Body, Case};
use super::ere::EreOracle;
use super::reading::{Joint, joint_letters};
use super::refine;
use super::tableau::Tableau;
use super::{Oracle, Truth};

/// What a comparison found.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The same verdict everywhere, and a minimal machine.
    Agrees,
    /// The crate stopped at one of its limits.
    Limit(String),
    /// The oracle itself gave up.
    TooLarge,
    /// A difference, described.
    Differs(String),
}

/// How much to compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Words are compared up to the length at which there are more than this many of them ...
    pub(crate) words: usize,
    /// ... and no longer than this.
    pub(crate) longest: usize,
    /// Also build the machine with three verdicts.
    pub(crate) three: bool,
}

/// Compares the crate's monitor of a property's text with the oracle.
pub(crate) fn compare(case: &Case, style: Option<u64>, effort: Effort) -> Outcome {
    let text = case.text(style);
    let letters = case.letters();
    match &case.body {
        Body::Ltl(formula) => guarded(
            case,
            &text,
            &letters,
            &Tableau::new(formula, &letters),
            effort,
        ),
        body => match EreOracle::new(body, &letters) {
            Some(oracle) => guarded(case, &text, &letters, &oracle, effort),
            None => Outcome::TooLarge,
        },
    }
}

/// A panic of the crate is a difference like any other.
fn guarded<O: Oracle>(
    case: &Case,
    text: &str,
    letters: &[case::Letter],
    oracle: &O,
    effort: Effort,
) -> Outcome {
    let result = catch_unwind(AssertUnwindSafe(|| {
        compare_with(case, text, letters, oracle, effort)
    }));
    result.unwrap_or_else(|panic| Outcome::Differs(format!("panic: {}", panic_text(&*panic))))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "unknown",
    }
}

fn compare_with<O: Oracle>(
    case: &Case,
    text: &str,
    letters: &[case::Letter],
    oracle: &O,
    effort: Effort,
) -> Outcome {
    let property = match Property::parse(text) {
        Ok(property) => property,
        Err(error) => return Outcome::Differs(format!("does not parse: {error}")),
    };
    let mut machines = vec![(property.monitor(), false)];
    if effort.three {
        machines.push((
            Config::new().verdicts(Verdicts::Three).monitor(&property),
            true,
        ));
    }
    for (monitor, three) in machines {
        let monitor = match monitor {
            Ok(monitor) => monitor,
            Err(error) => return Outcome::Limit(error.to_string()),
        };
        let comparison = Comparison {
            case,
            letters,
            oracle,
            monitor: &monitor,
            three,
        };
        if let Err(difference) = comparison.run(effort) {
            let verdicts = if three { 3 } else { 4 };
            return Outcome::Differs(format!("with {verdicts} verdicts: {difference}"));
        }
    }
    Outcome::Agrees
}

/// The verdict that a monitor should give.
pub(crate) fn expected(truth: Truth, three: bool) -> Verdict {
    match truth {
        Truth::Violated => Verdict::Violated,
        Truth::Satisfied => Verdict::Satisfied,
        Truth::Pending | Truth::Ok if three => Verdict::Unknown,
        Truth::Pending => Verdict::Pending,
        Truth::Ok => Verdict::Ok,
    }
}

struct Comparison<'a, O> {
    case: &'a Case,
    letters: &'a [case::Letter],
    oracle: &'a O,
    monitor: &'a Monitor,
    three: bool,
}

/// Products larger than this are compared on words only.
const MOST_PAIRS: usize = 20_000;

impl<O: Oracle> Comparison<'_, O> {
    fn run(&self, effort: Effort) -> Result<(), String> {
        let joints = joint_letters(self.case, self.letters, self.monitor)?;
        let mut longest = effort.longest;
        while longest > 1 && joints.len().pow(longest as u32) > effort.words {
            longest -= 1;
        }
        // The product first: breadth first, it shows a shortest word.
        self.product(&joints)?;
        self.words(
            &joints,
            longest,
            &mut Vec::new(),
            self.monitor.initial(),
            &self.oracle.start(),
        )?;
        refine::check_minimal(self.monitor)
    }

    /// All words up to a length, depth first; the end of a run is judged on the word itself.
    fn words(
        &self,
        joints: &[Joint],
        longest: usize,
        word: &mut Vec<usize>,
        state: StateId,
        known: &O::State,
    ) -> Result<(), String> {
        self.same(
            self.monitor.verdict(state),
            self.oracle.verdict_of_word(known, word),
            word,
        )?;
        if word.len() == longest {
            return Ok(());
        }
        for joint in joints {
            if word.is_empty() && !joint.initial {
                continue;
            }
            word.push(joint.oracle);
            let to = self.oracle.step(known, joint.oracle);
            self.words(
                joints,
                longest,
                word,
                self.monitor.next(state, joint.monitor),
                &to,
            )?;
            word.pop();
        }
        Ok(())
    }

    /// All pairs of states that the two machines can be in together, breadth first: after this, no word of any length
    /// can tell them apart.
    fn product(&self, joints: &[Joint]) -> Result<(), String> {
        let start = (self.monitor.initial(), self.oracle.start());
        let mut seen = HashSet::from([start.clone()]);
        let mut pairs: Vec<(_, Option<(usize, usize)>)> = vec![(start, None)];
        let mut done = 0;
        while done < pairs.len() && pairs.len() < MOST_PAIRS {
            let ((state, known), came) = pairs[done].clone();
            let (verdict, truth) = (self.monitor.verdict(state), self.oracle.verdict(&known));
            if verdict != expected(truth, self.three) {
                let mut word = Vec::new();
                let mut back = came;
                while let Some((pair, letter)) = back {
                    word.push(letter);
                    back = pairs[pair].1;
                }
                word.reverse();
                self.same(verdict, truth, &word)?;
            }
            for joint in joints.iter().filter(|joint| joint.initial || done > 0) {
                let to = (
                    self.monitor.next(state, joint.monitor),
                    self.oracle.step(&known, joint.oracle),
                );
                if seen.insert(to.clone()) {
                    pairs.push((to, Some((done, joint.oracle))));
                }
            }
            done += 1;
        }
        Ok(())
    }

    fn same(&self, verdict: Verdict, truth: Truth, word: &[usize]) -> Result<(), String> {
        if verdict == expected(truth, self.three) {
            return Ok(());
        }
        let word = self.case.word_text(self.letters, word);
        Err(format!(
            "after {word}: the monitor says {verdict:?}, the oracle {truth:?}"
        ))
    }
}
