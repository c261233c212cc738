//! An automaton over actions, and its smallest equal.

use portent_monitor_dsl::{
    Verdict,
    automaton::{ActionId, Automaton, StateIndex},
};

#[test]
fn equal_states_and_actions_are_merged() {
    // Two copies of "a, then b, then violated", and an action c that does what a does.
    let next = [[1, 0, 1], [1, 3, 1], [1, 2, 1], [3, 3, 3]];
    let automaton = Automaton {
        initial: StateIndex(2),
        actions: 3,
        next: next.iter().flatten().map(|&to| StateIndex(to)).collect(),
        verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Ok, Verdict::Violated],
    };
    let (small, actions) = automaton.minimal(|verdict| verdict as u32);
    assert_eq!((small.verdicts.len(), small.actions), (3, 2));
    assert_eq!(actions, [ActionId(0), ActionId(1), ActionId(0)]);
    let mut state = small.initial;
    for action in [1, 0, 1] {
        assert_ne!(small.verdict(state), Verdict::Violated);
        state = small.step(state, ActionId(action));
    }
    assert_eq!(small.verdict(state), Verdict::Violated);
}
