//! Easily made mistakes, each with a case that reveals it.

use portent_monitor_core::ChainId;
use portent_testing::Rng;

use super::{
    Pause,
    case::{Arrived, Case, Shape},
    search,
};
use crate::engine::streaming::{
    Bounds, Class, LiveThread, Moves, Scratch, Stage, Streaming, moves::Move,
};

/// An automaton that begins at its last stage; `stays` and `moves` name classes by letters.
pub(super) fn automaton(stays: &[&str], moves: &[(u32, char, u32)]) -> Moves {
    let class = |letter: char| Class(letter as u32 - 'a' as u32);
    let moves: Vec<Move> = { moves.iter() }
        .map(|&(from, letter, to)| Move {
            from: Stage(from),
            class: class(letter),
            to: Stage(to),
        })
        .collect();
    let letters = "abcde";
    Moves::new(
        stays.len(),
        letters.len(),
        &[Stage(stays.len() as u32 - 1)],
        |stage, c| {
            stays[stage.index()]
                .chars()
                .any(|letter| class(letter) == c)
        },
        &moves,
    )
}

/// Events as letter and clock; the chain is that of the event's thread, and all threads may act to the end.
fn case(moves: Moves, events: &[(u32, char, &[u32])]) -> Case {
    let width = events
        .iter()
        .map(|(chain, ..)| *chain as usize + 1)
        .max()
        .unwrap_or(0);
    let mut clocks = vec![vec![0; width]; width];
    let events = { events.iter() }
        .map(|&(chain, letter, clock)| {
            let chain = ChainId::from(chain);
            clocks[chain.index()] = clock.to_vec();
            let positions = ChainId::first(width).zip(&clocks);
            Arrived {
                chain,
                class: Class(letter as u32 - 'a' as u32),
                clock: clock.to_vec(),
                positions: positions
                    .map(|(chain, clock)| LiveThread {
                        chain: Some(chain),
                        clock: clock.clone(),
                    })
                    .collect(),
            }
        })
        .collect();
    Case { moves, events }
}

fn found(case: &Case) -> Option<usize> {
    let pause = || Pause {
        tidies: true,
        rests: true,
    };
    let found = search(case, &Bounds::NONE, pause).found;
    assert_eq!(found, case.first_violated());
    found
}

#[test]
fn of_two_nodes_with_the_same_interval_the_later_one_will_have_the_larger() {
    // Anything, a, anything but r = c, then b. The c comes after the first a and not after the second.
    let moves = automaton(&["", "abde", "abcde"], &[(2, 'a', 1), (1, 'b', 0)]);
    let events: &[(u32, char, &[u32])] = &[
        (0, 'a', &[1, 0]),
        (0, 'a', &[2, 0]),
        (1, 'c', &[1, 1]),
        (1, 'b', &[1, 2]),
    ];
    assert_eq!(found(&case(moves, events)), Some(3));
}

#[test]
fn what_is_covered_while_an_event_is_looked_at_still_takes_the_event() {
    // The second a makes a node that covers the one of the first, which is still to move by it.
    let moves = automaton(
        &["", "abcde", "abde", "abcde"],
        &[(3, 'a', 2), (2, 'a', 1), (1, 'b', 0)],
    );
    let events: &[(u32, char, &[u32])] = &[(0, 'a', &[1]), (0, 'a', &[2]), (0, 'b', &[3])];
    assert_eq!(found(&case(moves, events)), Some(2));
}

#[test]
fn lowest_cuts_of_different_stages_are_compared_with_all_their_moves() {
    for seed in 0..5_000 {
        let mut rng = Rng::new(1_000_000 + seed);
        let case = Case::random(&mut rng, Shape::Choices);
        found(&case);
    }
}

#[test]
fn a_beam_keeps_the_initial_node() {
    // Anything, a, anything but c, b: with a beam of two, whatever other nodes there are.
    let moves = automaton(&["", "abde", "abcde"], &[(2, 'a', 1), (1, 'b', 0)]);
    let bounds = Bounds {
        nodes: 2,
        beam: 2,
        ..Bounds::NONE
    };
    let (mut streaming, mut scratch) = (Streaming::new(&moves), Scratch::default());
    let mut arrive = |chain: ChainId, letter: char, place: u32| {
        let mut clock = [0; 8];
        clock[chain.index()] = place;
        let class = Class(letter as u32 - 'a' as u32);
        let found = streaming.arrive(&moves, &bounds, &mut scratch, chain, class, &clock);
        streaming.narrow(&moves, &bounds);
        found
    };
    for chain in ChainId::first(8) {
        assert_eq!(arrive(chain, 'a', 1), None);
    }
    // These end all nodes but the initial one.
    for chain in ChainId::first(8) {
        assert_eq!(arrive(chain, 'c', 2), None);
    }
    assert_eq!(arrive(ChainId::from(0), 'a', 3), None);
    assert!(arrive(ChainId::from(0), 'b', 4).is_some());
}

#[test]
fn one_event_makes_no_more_nodes_than_it_may() {
    // A toggle, which has as many nodes as orders.
    let moves = automaton(
        &["", "cde", "cde"],
        &[(2, 'a', 1), (1, 'a', 2), (1, 'b', 0)],
    );
    let bounds = Bounds {
        nodes: 64,
        beam: 64,
        new_nodes: 16,
        ..Bounds::NONE
    };
    let (mut streaming, mut scratch) = (Streaming::new(&moves), Scratch::default());
    for round in 1..=4 {
        for chain in ChainId::first(8) {
            let mut clock = [0; 8];
            clock[chain.index()] = round;
            let before = streaming.made();
            streaming.arrive(&moves, &bounds, &mut scratch, chain, Class(0), &clock);
            streaming.narrow(&moves, &bounds);
            assert!(streaming.made() - before <= 16);
            assert!(streaming.searched() <= 64);
        }
    }
    assert!(streaming.omissions().nodes > 0);
}
