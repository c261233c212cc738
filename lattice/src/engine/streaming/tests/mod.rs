//! Comparison with all linear extensions of every prefix: the first event by which some run is violated must be the same, with
//! all pruning rules and with any subset of them, and every violated run is replayed.

mod beam;
mod case;
mod pitfalls;

use portent_testing::Rng;

use self::case::{Case, Shape};
use super::{Bounds, Pruning, Scratch, Streaming};
use crate::order::{Packed, Packing, Unpacking};

/// The default number of random cases; `PORTENT_CASES` sets another number.
fn cases(default: usize) -> usize {
    let asked = std::env::var("PORTENT_CASES").ok();
    asked
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(default)
}

/// The findings of a search, and what it left out.
struct Outcome {
    /// The event that violates, counting from 0.
    found: Option<usize>,
    late: u64,
    dropped: u64,
}

/// What a search does between two events.
struct Pause {
    tidies: bool,
    rests: bool,
}

/// Feeds a case to a search, and lets it pause after each event.
fn search(case: &Case, bounds: &Bounds, mut pause: impl FnMut() -> Pause) -> Outcome {
    let moves = &case.moves;
    let (mut search, mut scratch) = (Streaming::new(moves), Scratch::default());
    // Another search has used this memory before.
    let mut workplace = Streaming::new(moves);
    let (mut packing, mut packed) = (Packing::default(), Packed::default());
    let mut counts = Vec::new();
    let mut found = None;
    for (number, event) in case.events.iter().enumerate() {
        let story = search.arrive(
            moves,
            bounds,
            &mut scratch,
            event.chain,
            event.class,
            &event.clock,
        );
        if let Some(story) = story {
            case.follow(number, &story);
            found = Some(number);
            break;
        }
        search.narrow(moves, bounds);
        let pause = pause();
        if pause.tidies {
            let mut positions = event.positions.clone();
            search.tidy(moves, bounds, &mut scratch, &mut positions);
        }
        if pause.rests {
            search.pack(&mut packing);
            packing.store(&mut packed);
            workplace.unpack(&mut Unpacking::new(&packed, &mut counts));
            std::mem::swap(&mut search, &mut workplace);
        }
    }
    Outcome {
        found,
        late: search.omissions().late,
        dropped: search.omissions().nodes,
    }
}

fn some_rules(rng: &mut Rng) -> Pruning {
    if rng.one_in(3) {
        return Pruning::ALL;
    }
    Pruning {
        settled: rng.one_in(2),
        dead: rng.one_in(2),
        links: rng.one_in(2),
        rounding: rng.one_in(2),
        cover: rng.one_in(2),
        candidates: rng.one_in(2),
    }
}

#[test]
fn every_prefix_is_answered_as_by_all_its_linear_extensions() {
    let (mut violated, mut predicted) = (0, 0);
    let cases = cases(100_000);
    for seed in 0..cases {
        let mut rng = Rng::new(seed as u64);
        let case = Case::random(&mut rng, Shape::any(seed));
        let pruning = some_rules(&mut rng);
        let bounds = Bounds {
            pruning,
            ..Bounds::NONE
        };
        let (often, rests) = (rng.below(3), rng.below(3));
        let outcome = search(&case, &bounds, || Pause {
            tidies: rng.below(4) < 2 * often,
            rests: rng.below(4) < 2 * rests,
        });
        let expected = case.first_violated();
        assert_eq!(
            outcome.found, expected,
            "seed {seed}, {pruning:?}, {case:?}"
        );
        assert_eq!((outcome.late, outcome.dropped), (0, 0));
        violated += usize::from(expected.is_some());
        predicted += usize::from(expected.is_some() && expected != case.observed_violated());
    }
    assert!(
        violated > cases / 5 && predicted > cases / 20,
        "{violated}, {predicted}"
    );
}

#[test]
fn a_bound_on_the_history_loses_nothing_in_silence_and_invents_nothing() {
    let (mut late, mut missed) = (0, 0);
    let cases = cases(40_000);
    for seed in 0..cases {
        let mut rng = Rng::new(seed as u64);
        let case = Case::random(&mut rng, Shape::any(seed));
        let bounds = Bounds {
            history: 1 + rng.below(8),
            pruning: some_rules(&mut rng),
            ..Bounds::NONE
        };
        let outcome = search(&case, &bounds, || Pause {
            tidies: true,
            rests: rng.one_in(2),
        });
        let expected = case.first_violated();
        let soonest = expected.unwrap_or(usize::MAX);
        let found = outcome.found.unwrap_or(usize::MAX);
        assert!(found >= soonest, "a false alarm: seed {seed}, {bounds:?}");
        assert!(
            found == soonest || outcome.late > 0,
            "in silence: seed {seed}"
        );
        late += usize::from(outcome.late > 0);
        missed += usize::from(found != soonest);
    }
    assert!(late > cases / 10 && missed > 0, "{late}, {missed}");
}

#[test]
fn a_beam_loses_nothing_in_silence_and_invents_nothing() {
    let (mut narrowed, mut missed) = (0, 0);
    let cases = cases(40_000);
    for seed in 0..cases {
        let mut rng = Rng::new(seed as u64);
        let case = Case::random(&mut rng, Shape::any(seed));
        let beam = 1 + rng.below(6);
        let bounds = Bounds {
            nodes: beam + rng.below(4),
            beam,
            new_nodes: 1 + rng.below(4),
            pruning: some_rules(&mut rng),
            ..Bounds::NONE
        };
        let outcome = search(&case, &bounds, || Pause {
            tidies: rng.one_in(2),
            rests: rng.one_in(2),
        });
        let soonest = case.first_violated().unwrap_or(usize::MAX);
        let found = outcome.found.unwrap_or(usize::MAX);
        assert!(found >= soonest, "a false alarm: seed {seed}, {bounds:?}");
        assert!(
            found == soonest || outcome.dropped > 0,
            "in silence: seed {seed}"
        );
        narrowed += usize::from(outcome.dropped > 0);
        missed += usize::from(found != soonest);
    }
    assert!(narrowed > cases / 50 && missed > 0, "{narrowed}, {missed}");
}
