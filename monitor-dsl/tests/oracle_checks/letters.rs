//! The letters of a property: those that can occur, and no others.

use super::{bin, p};
use crate::oracle::case::{Body, Case, Comparison, Kind, Prop, Variable};
use crate::oracle::formula::{Binary, Ere, Formula};

#[test]
fn letters_are_those_that_can_occur() {
    let body = |f: Formula| Body::Ltl(f);
    let both = bin(Binary::And, p(0), p(1));
    let valuations = |case: &Case| {
        case.letters()
            .iter()
            .map(|l| (l.valuation, l.initial))
            .collect::<Vec<_>>()
    };
    // events exclude each other, and none is possible; without variables every letter may come first
    let events = Case::of_events(&["a", "b"], body(both.clone()));
    assert_eq!(valuations(&events), [(0, true), (1, true), (2, true)]);
    assert_eq!(
        valuations(&Case::of_flags(&["a", "b"], body(both.clone()))).len(),
        4
    );
    // for expressions the letter without an event is no step
    let step = events.with_body(Body::Ere(Ere::Any));
    assert_eq!(valuations(&step), [(1, true), (2, true)]);
    // w > 30 implies w > 26
    let mut case = Case {
        variables: vec![Variable {
            name: "w".into(),
            kind: Kind::Int,
            initial: "20".into(),
        }],
        events: vec![],
        props: vec![
            Prop::Int(0, Comparison::Greater, 26),
            Prop::Int(0, Comparison::Greater, 30),
        ],
        aliases: vec![None, None],
        body: body(both.clone()),
    };
    assert_eq!(valuations(&case), [(0, true), (1, true), (3, true)]);
    // w > 2 and w < 3: no integer is between
    case.props = vec![
        Prop::Int(0, Comparison::Greater, 2),
        Prop::Int(0, Comparison::Less, 3),
    ];
    assert_eq!(valuations(&case), [(1, true), (2, true)]);
    // with a variable the first letter has no event
    case.events = vec!["e".into()];
    case.props[1] = Prop::Event(0);
    assert_eq!(
        valuations(&case),
        [(0, true), (1, true), (2, false), (3, false)]
    );
    assert_eq!(
        case.evaluate("w > 2", &case.letters()[1].steps[0]),
        Ok(true)
    );
    assert_eq!(
        case.evaluate("3 >= w", &case.letters()[1].steps[0]),
        Ok(true)
    );
}
