//! Compares a monitor with an oracle: on all words up to some length, and on the whole product of the two machines.

use std::any::Any;
use std::collections::{BTreeMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use portent_monitor_dsl::{Config, Letter, Monitor, Property, StateId, Verdict, Verdicts};

use super::backtrack::EreOracle;
use super::case::{self, Body, Case};
use super::refine;
use super::tableau::Tableau;
use super::{Oracle, Truth};
use portent_testing::Rng;

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

/// A letter of the oracle together with the monitor's letter for the same concrete step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Joint {
    oracle: usize,
    monitor: Letter,
    initial: bool,
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

/// Finds the monitor's letter for every concrete step, and checks that the monitor has these letters and no others.
fn joint_letters(
    case: &Case,
    letters: &[case::Letter],
    monitor: &Monitor,
) -> Result<Vec<Joint>, String> {
    let alphabet = monitor.alphabet();
    let propositions: Vec<String> = alphabet
        .propositions()
        .iter()
        .map(ToString::to_string)
        .collect();
    let mut by_values: BTreeMap<Vec<bool>, Letter> = BTreeMap::new();
    for letter in alphabet.letters() {
        let values = (0..propositions.len())
            .map(|p| alphabet.holds(letter, p))
            .collect();
        if by_values.insert(values, letter).is_some() {
            return Err(format!(
                "two letters have the same propositions as {letter:?}"
            ));
        }
    }
    let first_only = case.mentions_variable();
    let mut joints: Vec<Joint> = Vec::new();
    for (oracle, letter) in letters.iter().enumerate() {
        for step in &letter.steps {
            let values = propositions.iter().map(|p| case.evaluate(p, step));
            let values = values.collect::<Result<Vec<bool>, String>>()?;
            let Some(&found) = by_values.get(&values) else {
                return Err(format!(
                    "no letter for the step {step:?}: {propositions:?} = {values:?}"
                ));
            };
            let initial = !first_only || step.event.is_none();
            match joints
                .iter_mut()
                .find(|j| (j.oracle, j.monitor) == (oracle, found))
            {
                Some(joint) => joint.initial |= initial,
                None => joints.push(Joint {
                    oracle,
                    monitor: found,
                    initial,
                }),
            }
        }
    }
    let used: HashSet<Letter> = joints.iter().map(|j| j.monitor).collect();
    if let Some((values, _)) = by_values.iter().find(|(_, letter)| !used.contains(letter)) {
        return Err(format!(
            "a letter that cannot occur: {propositions:?} = {values:?}"
        ));
    }
    let first: HashSet<Letter> = joints
        .iter()
        .filter(|j| j.initial)
        .map(|j| j.monitor)
        .collect();
    if first != alphabet.initial_letters().collect() {
        return Err("its initial letters are not the right ones".to_owned());
    }
    Ok(joints)
}

/// A monitor of a case's text, to be read word by word in the oracle's letters.
pub(crate) struct Reading {
    pub(crate) monitor: Monitor,
    pub(crate) letters: Vec<case::Letter>,
    joints: Vec<Joint>,
}

impl Reading {
    /// Builds the monitor with four verdicts; panics on any error, with the property's text.
    pub(crate) fn new(case: &Case, style: Option<u64>) -> Reading {
        let text = case.text(style);
        let letters = case.letters();
        let property = Property::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let monitor = property
            .monitor()
            .unwrap_or_else(|error| panic!("{text}\n{error}"));
        let joints = joint_letters(case, &letters, &monitor)
            .unwrap_or_else(|error| panic!("{text}\n{error}"));
        Reading {
            monitor,
            letters,
            joints,
        }
    }

    /// Calls `visit` with every word up to a length and the verdict after it. A letter that the monitor splits is read
    /// in every way.
    pub(crate) fn each_word(&self, longest: usize, mut visit: impl FnMut(&[usize], Verdict)) {
        self.visit(longest, &mut Vec::new(), self.monitor.initial(), &mut visit);
    }

    fn visit(
        &self,
        longest: usize,
        word: &mut Vec<usize>,
        state: StateId,
        visit: &mut impl FnMut(&[usize], Verdict),
    ) {
        visit(word, self.monitor.verdict(state));
        if word.len() == longest {
            return;
        }
        let first = word.is_empty();
        for joint in self.joints.iter().filter(|joint| joint.initial || !first) {
            word.push(joint.oracle);
            self.visit(
                longest,
                word,
                self.monitor.next(state, joint.monitor),
                visit,
            );
            word.pop();
        }
    }

    /// The propositions' values along a word.
    pub(crate) fn valuations(&self, word: &[usize]) -> Vec<u32> {
        word.iter()
            .map(|&letter| self.letters[letter].valuation)
            .collect()
    }
}

/// The number of cases to run: `PORTENT_CASES`, or else `default`.
pub(crate) fn cases(default: usize) -> usize {
    match std::env::var("PORTENT_CASES") {
        Ok(value) => value.parse().expect("PORTENT_CASES is a number"),
        Err(_) => default,
    }
}

/// Compares many random cases; shrinks and reports the first few that differ.
///
/// Case `i` depends on `seed` and `i` only. Fewer than one case in 200 may stop at one of the crate's limits, and as few
/// may be too large for the oracle.
pub(crate) fn compare_many(
    seed: u64,
    count: usize,
    effort: impl Fn(usize) -> Effort,
    mut generate: impl FnMut(&mut Rng, usize) -> Case,
) {
    const MOST_REPORTS: usize = 5;
    let mut reports = Vec::new();
    let mut limits = Vec::new();
    let mut too_large = 0;
    for i in 0..count {
        let mut rng = Rng::new(Rng::new(seed ^ (i as u64) << 20).any());
        let case = generate(&mut rng, i);
        let style = rng.any();
        match compare(&case, Some(style), effort(i)) {
            Outcome::Agrees => {}
            Outcome::TooLarge => too_large += 1,
            Outcome::Limit(error) => limits.push(format!("{}\n  {error}", case.text(Some(style)))),
            Outcome::Differs(_) => {
                reports.push(format!(
                    "case {i} of seed {seed:#x}: {}",
                    shrunk(case, style, effort(i))
                ));
                if reports.len() == MOST_REPORTS {
                    break;
                }
            }
        }
    }
    assert!(reports.is_empty(), "\n{}", reports.join("\n\n"));
    let few = |number: usize| number * 200 < count.max(201);
    assert!(
        few(too_large),
        "{too_large} of {count} cases were too large for the oracle"
    );
    let stopped = format!(
        "{} of {count} cases stopped at a limit:\n{}",
        limits.len(),
        limits.join("\n")
    );
    assert!(few(limits.len()), "{stopped}");
    if !limits.is_empty() {
        eprintln!("{stopped}");
    }
}

/// The simplest case found that still differs, as text, with the difference.
fn shrunk(mut case: Case, style: u64, effort: Effort) -> String {
    let differs = |case: &Case, style: Option<u64>| match compare(case, style, effort) {
        Outcome::Differs(difference) => Some(difference),
        _ => None,
    };
    // If the plain text differs as well, spelling is not to blame.
    let style = if differs(&case, None).is_some() {
        None
    } else {
        Some(style)
    };
    let mut difference = differs(&case, style).expect("it differed before");
    'simpler: loop {
        let bodies: Vec<Body> = match &case.body {
            Body::Ltl(formula) => formula.simpler().into_iter().map(Body::Ltl).collect(),
            Body::Ere(ere) => ere.simpler().into_iter().map(Body::Ere).collect(),
            Body::Never(ere) => ere.simpler().into_iter().map(Body::Never).collect(),
        };
        for body in bodies {
            let candidate = case.with_body(body);
            if candidate.letters().is_empty() {
                continue;
            }
            if let Some(found) = differs(&candidate, style) {
                (case, difference) = (candidate, found);
                continue 'simpler;
            }
        }
        return format!("{}\n  {difference}", case.text(style));
    }
}
