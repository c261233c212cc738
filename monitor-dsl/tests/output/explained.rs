//! The explanation of a final verdict.

use super::{monitor, properties};
use crate::oracle::case::{Case, Step};
use portent_monitor_dsl::{EventId, Monitor, Stepper, Value, Verdict};
use portent_testing::Rng;

/// A few random steps, drawn from the concrete steps that the oracle knows.
fn random_run(monitor: &Monitor, case: &Case, rng: &mut Rng) -> Stepper {
    let steps: Vec<_> = case
        .letters()
        .into_iter()
        .flat_map(|letter| letter.steps)
        .collect();
    let ids: Vec<_> = case
        .variables
        .iter()
        .map(|variable| monitor.alphabet().variable(&variable.name))
        .collect();
    let values = |step: &Step| -> Vec<_> {
        let pairs = ids.iter().zip(&step.values);
        pairs
            .filter_map(|(id, written)| Some(((*id)?, Value::from(written))))
            .collect()
    };
    let silent: Vec<_> = steps.iter().filter(|step| step.event.is_none()).collect();
    let start = silent.get(rng.below(silent.len().max(1)));
    let mut run = monitor
        .start_with(|name| {
            let index = case
                .variables
                .iter()
                .position(|variable| variable.name == name)?;
            start.map(|step| Value::from(&step.values[index]))
        })
        .unwrap_or_else(|error| panic!("{error}"))
        .remembering();
    for _ in 0..rng.between(0, 12) {
        let step = &steps[rng.below(steps.len())];
        let event: Option<EventId> = step
            .event
            .and_then(|e| monitor.alphabet().event(&case.events[e]));
        if event.is_none() && !monitor.alphabet().has_silent_letter() {
            continue;
        }
        run.step(event, values(step))
            .unwrap_or_else(|error| panic!("{error}"));
    }
    run
}

#[test]
fn final_verdicts_are_explained() {
    let mut explained = [0, 0];
    for (index, (property, case)) in properties(0x1500_2000, 400).enumerate() {
        let monitor = monitor(&property);
        let text = property
            .text()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let mut rng = Rng::new(index as u64);
        for _ in 0..6 {
            let run = random_run(&monitor, &case, &mut rng);
            let Some(explanation) = run.explain() else {
                assert!(!run.verdict().is_final(), "{property:?}");
                assert_eq!(run.decided_after(), None);
                continue;
            };
            assert_eq!(explanation.verdict, run.verdict(), "{property:?}");
            assert_eq!(
                Some(explanation.step),
                run.decided_after(),
                "{property:?}: {explanation}"
            );
            assert!(
                explanation.at <= explanation.step,
                "{property:?}: {explanation}"
            );
            assert!(
                text.contains(&explanation.part),
                "{property:?}: {explanation}"
            );
            assert!(!explanation.part.is_empty() && !explanation.reason.is_empty());
            explained[usize::from(explanation.verdict == Verdict::Satisfied)] += 1;
        }
    }
    assert!(explained.iter().all(|&count| count > 100), "{explained:?}");
}
