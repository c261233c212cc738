//! Seeded generators of formulas, expressions and whole properties. The same seed gives the same case everywhere.

use portent_testing::Rng;

use super::case::{Body, Case, Comparison, Kind, Prop, Variable};
use super::float;
use super::formula::{Binary, Direction, Ere, Formula, Step, Unary};

/// Which temporal operators a formula may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Future,
    Past,
    Mixed,
}

/// What the propositions are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// 1 to 3 boolean variables.
    Flags,
    /// 1 to 3 events.
    Events,
    /// Comparisons of one or two integer or string variables with constants.
    Comparisons,
    /// Comparisons of one floating-point quantity, over one or two variables, and maybe an event.
    Floats,
    /// 1 or 2 events, and a boolean or an integer variable.
    Mixed,
}

const FUTURE_UNARY: [Unary; 4] = [
    Unary::Next,
    Unary::WeakNext,
    Unary::Eventually,
    Unary::Always,
];
const PAST_UNARY: [Unary; 6] = [
    Unary::Yesterday,
    Unary::WeakYesterday,
    Unary::Once,
    Unary::Historically,
    Unary::Start,
    Unary::End,
];
const BOOLEAN_BINARY: [Binary; 5] = [
    Binary::And,
    Binary::Or,
    Binary::Implies,
    Binary::Xor,
    Binary::Iff,
];
const FUTURE_BINARY: [Binary; 4] = [
    Binary::Until,
    Binary::WeakUntil,
    Binary::Release,
    Binary::StrongRelease,
];
const PAST_BINARY: [Binary; 4] = [
    Binary::Since,
    Binary::WeakSince,
    Binary::Trigger,
    Binary::Interval,
];

/// A formula with about `size` operators and leaves over propositions `0..props`.
pub(crate) fn formula(rng: &mut Rng, size: usize, shape: Shape, props: usize) -> Formula {
    let past = match shape {
        Shape::Future => false,
        Shape::Past => true,
        Shape::Mixed => rng.one_in(2),
    };
    if size <= 1 {
        return match rng.below(24) {
            0 => Formula::Const(rng.one_in(2)),
            _ => Formula::Prop(rng.below(props)),
        };
    }
    if size == 2 || rng.one_in(2) {
        let op = match rng.below(4) {
            0 => Unary::Not,
            1 if rng.one_in(2) => counted(rng, past),
            _ if past => rng.pick(&PAST_UNARY),
            _ => rng.pick(&FUTURE_UNARY),
        };
        return Formula::unary(op, formula(rng, size - 1, shape, props));
    }
    let op = match rng.below(5) {
        0 | 1 => rng.pick(&BOOLEAN_BINARY),
        _ if past => rng.pick(&PAST_BINARY),
        _ => rng.pick(&FUTURE_BINARY),
    };
    let left = rng.between(1, size - 2);
    let a = formula(rng, left, shape, props);
    let b = formula(rng, size - 1 - left, shape, props);
    Formula::binary(op, a, b)
}

/// An operator that counts, up to three steps away.
fn counted(rng: &mut Rng, past: bool) -> Unary {
    let (steps, to) = if past {
        ([Step::Yesterday, Step::WeakYesterday], Direction::Back)
    } else {
        ([Step::Next, Step::WeakNext], Direction::Ahead)
    };
    let most = rng.between(0, 3) as u32;
    let least = rng.between(0, most as usize) as u32;
    match rng.below(3) {
        0 => Unary::Times(rng.pick(&steps), most),
        1 => Unary::Somewhere(to, least, most),
        _ => Unary::Everywhere(to, least, most),
    }
}

/// A formula without temporal operators.
fn boolean(rng: &mut Rng, size: usize, props: usize) -> Formula {
    match size {
        0 | 1 if rng.one_in(16) => Formula::Const(rng.one_in(2)),
        0 | 1 => Formula::Prop(rng.below(props)),
        2 => Formula::unary(Unary::Not, boolean(rng, 1, props)),
        _ => {
            let op = rng.pick(&BOOLEAN_BINARY);
            let left = rng.between(1, size - 2);
            Formula::binary(
                op,
                boolean(rng, left, props),
                boolean(rng, size - 1 - left, props),
            )
        }
    }
}

/// An expression of about `size` operators and leaves. `events` are the propositions that are events; `extended` allows
/// intersection and complement.
pub(crate) fn ere(
    rng: &mut Rng,
    size: usize,
    props: usize,
    events: &[usize],
    extended: bool,
) -> Ere {
    if size <= 1 {
        return match rng.below(16) {
            0 => Ere::Epsilon,
            1 if rng.one_in(2) => Ere::Empty,
            2 | 3 => Ere::Any,
            4 | 5 => Ere::Step(vec![Formula::unary(
                Unary::Not,
                Formula::Prop(rng.below(props)),
            )]),
            6 => {
                let parts = rng.between(1, 2);
                Ere::Step(
                    (0..parts)
                        .map(|_| {
                            let size = rng.between(1, 3);
                            boolean(rng, size, props)
                        })
                        .collect(),
                )
            }
            _ if events.is_empty() => Ere::Step(vec![Formula::Prop(rng.below(props))]),
            _ => Ere::Event(rng.pick(events)),
        };
    }
    if size == 2 || rng.one_in(3) {
        let operand = ere(rng, size - 1, props, events, extended);
        if extended && rng.one_in(3) {
            return Ere::complement(operand);
        }
        let (least, most) = match rng.below(8) {
            0..=2 => (0, None),
            3 => (1, None),
            4 => (0, Some(1)),
            5 => (rng.between(0, 3) as u32, None),
            6 => {
                let n = rng.between(0, 3) as u32;
                (n, Some(n))
            }
            _ => {
                let n = rng.between(0, 2) as u32;
                (n, Some(n + rng.between(0, 2) as u32))
            }
        };
        return Ere::repeat(operand, least, most);
    }
    let left = rng.between(1, size - 2);
    let a = ere(rng, left, props, events, extended);
    let b = ere(rng, size - 1 - left, props, events, extended);
    match rng.below(6) {
        0 | 1 => Ere::union(a, b),
        2 if extended => Ere::intersect(a, b),
        _ => Ere::concat(a, b),
    }
}

/// Names that begin like keywords are names all the same.
const EVENT_NAMES: [[&str; 3]; 6] = [
    ["a", "b", "c"],
    ["open", "read", "close"],
    ["p0", "p1", "p2"],
    ["GFp0", "nextStep", "Xray"],
    ["until_now", "ended", "W8"],
    ["S1", "truely", "epsilon_"],
];

/// Variables, events and propositions about `subject`, without a body yet.
fn vocabulary(rng: &mut Rng, subject: Subject) -> Case {
    let mut case = Case {
        variables: Vec::new(),
        events: Vec::new(),
        props: Vec::new(),
        aliases: Vec::new(),
        body: Body::Ltl(Formula::Const(true)),
    };
    match subject {
        Subject::Flags => {
            for _ in 0..rng.between(1, 3) {
                flag(rng, &mut case);
            }
        }
        Subject::Events => add_events(rng, &mut case, 3),
        Subject::Comparisons => {
            let two = rng.one_in(2);
            comparisons(rng, &mut case, "w", if two { 2 } else { 3 });
            if two {
                comparisons(rng, &mut case, "v", 1);
            }
        }
        Subject::Floats => {
            if rng.one_in(4) {
                add_events(rng, &mut case, 1);
            }
            let (f, two) = (case.variables.len(), rng.one_in(2));
            for name in &["f", "g"][..1 + usize::from(two)] {
                case.variables.push(Variable {
                    name: (*name).to_owned(),
                    kind: Kind::Float,
                    initial: "0.5".to_owned(),
                });
            }
            for prop in float::comparisons(rng, f, two, 3) {
                if !case.props.contains(&prop) {
                    case.props.push(prop);
                }
            }
        }
        Subject::Mixed => {
            add_events(rng, &mut case, 2);
            if rng.one_in(2) {
                flag(rng, &mut case);
            } else {
                comparisons(rng, &mut case, "w", 2);
            }
        }
    }
    case.aliases = vec![None; case.props.len()];
    for p in 0..case.props.len() {
        if !matches!(case.props[p], Prop::Event(_)) && rng.one_in(5) {
            case.aliases[p] = Some(format!("named{p}"));
        }
    }
    case
}

fn add_events(rng: &mut Rng, case: &mut Case, most: usize) {
    let names = rng.pick(&EVENT_NAMES);
    for name in &names[..rng.between(1, most)] {
        case.props.push(Prop::Event(case.events.len()));
        case.events.push((*name).to_owned());
    }
}

fn flag(rng: &mut Rng, case: &mut Case) {
    let v = case.variables.len();
    let initial = ["false", "true"][rng.below(2)].to_owned();
    case.variables.push(Variable {
        name: format!("p{v}v"),
        kind: Kind::Bool,
        initial,
    });
    case.props.push(Prop::Flag(v));
}

fn comparisons(rng: &mut Rng, case: &mut Case, name: &str, most: usize) {
    let v = case.variables.len();
    let text = rng.one_in(5);
    let (kind, initial) = if text {
        (Kind::Text, "\"x\"")
    } else {
        (Kind::Int, "0")
    };
    case.variables.push(Variable {
        name: name.to_owned(),
        kind,
        initial: initial.to_owned(),
    });
    for _ in 0..rng.between(1, most) {
        let prop = if text {
            let op = [Comparison::Equal, Comparison::Equal, Comparison::Different][rng.below(3)];
            Prop::Text(v, op, ["x", "y", "z"][rng.below(3)].to_owned())
        } else {
            Prop::Int(v, rng.pick(&Comparison::ALL), rng.below(6) as i64 - 1)
        };
        if !case.props.contains(&prop) {
            case.props.push(prop);
        }
    }
}

/// More letters than this make too many words.
const MOST_LETTERS: usize = 12;
/// More temporal operators than this make too big a tableau.
const MOST_OPERATORS: usize = 8;

/// A random property with an `ltl:` body.
pub(crate) fn ltl_case(rng: &mut Rng, subject: Subject, shape: Shape, size: usize) -> Case {
    loop {
        let case = vocabulary(rng, subject);
        let formula = formula(rng, size, shape, case.props.len());
        if formula.temporal_operators() > MOST_OPERATORS {
            continue;
        }
        let case = trimmed(case.with_body(Body::Ltl(formula)));
        if case.letters().len() <= MOST_LETTERS {
            return case;
        }
    }
}

/// A random property with an `ere:` or `never:` body.
pub(crate) fn ere_case(rng: &mut Rng, subject: Subject, size: usize, extended: bool) -> Case {
    loop {
        let case = vocabulary(rng, subject);
        let events: Vec<usize> = (0..case.props.len())
            .filter(|&p| matches!(case.props[p], Prop::Event(_)))
            .collect();
        let ere = ere(rng, size, case.props.len(), &events, extended);
        let body = if rng.one_in(3) {
            Body::Never(ere)
        } else {
            Body::Ere(ere)
        };
        let case = trimmed(case.with_body(body));
        let letters = case.letters().len();
        if (1..=MOST_LETTERS).contains(&letters) {
            return case;
        }
    }
}

/// Drops the `let` names that the body does not mention. (A declared variable that is not mentioned stays.)
fn trimmed(mut case: Case) -> Case {
    let mentioned = case.mentioned();
    for (p, alias) in case.aliases.iter_mut().enumerate() {
        if mentioned >> p & 1 == 0 {
            *alias = None;
        }
    }
    case
}
