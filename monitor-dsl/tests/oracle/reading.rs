//! Reading a monitor in the letters of the oracle.

use std::collections::{BTreeMap, HashSet};

use portent_monitor_dsl::{Alphabet, Letter, Monitor, Property, StateId, Value, Verdict};

use super::case::{self, Case, Step};

/// A letter of the oracle together with the monitor's letter for the same concrete step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Joint {
    pub(super) oracle: usize,
    pub(super) monitor: Letter,
    pub(super) initial: bool,
}

/// Finds the monitor's letter for every concrete step, and checks that the monitor has these letters and no others, and
/// that they say of its propositions what the step does to them.
pub(super) fn joint_letters(
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
            if read(case, step, alphabet) != found {
                return Err(format!("the step {step:?} is read as another letter"));
            }
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

/// The letter that a monitor reads in a step.
fn read(case: &Case, step: &Step, alphabet: &Alphabet) -> Letter {
    let event = step.event.and_then(|e| alphabet.event(&case.events[e]));
    let values: Vec<Value> = alphabet
        .variables()
        .iter()
        .map(|variable| {
            let mut names = case.variables.iter().map(|v| &v.name);
            let index = names.position(|name| *name == variable.name);
            Value::from(&step.values[index.expect("a declared variable")])
        })
        .collect();
    alphabet.letter(event, &values)
}

impl From<&case::Value> for Value {
    fn from(value: &case::Value) -> Value {
        match value {
            case::Value::Bool(b) => Value::Bool(*b),
            case::Value::Int(n) => Value::Int(*n),
            case::Value::Float(x) => Value::Float(*x),
            case::Value::Text(text) => Value::from(text.as_str()),
        }
    }
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
