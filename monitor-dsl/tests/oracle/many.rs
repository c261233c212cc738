//! Many random cases, and the smallest that differ.

use portent_testing::Rng;

use super::case::{Body, Case};
use super::check::{Effort, Outcome, compare};

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
