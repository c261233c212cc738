//! The published formulas with the sizes of their minimal monitors, and properties whose machines are known by name.

use crate::oracle::case::{Body, Case, Comparison, Kind, Prop, Variable};
use crate::oracle::check::{Effort, Outcome, compare};
use crate::oracle::formula::{Binary, Ere, Formula, Unary};
use crate::oracle::reading::Reading;
use crate::oracle::{refine, table};
use portent_monitor_dsl::{Config, Monitor, Property, StateId, Verdict, Verdicts};

/// The monitor of a property's text.
fn monitor(text: &str, verdicts: Verdicts) -> Monitor {
    let property = Property::parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let config = Config::new().verdicts(verdicts);
    config
        .monitor(&property)
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn four(text: &str) -> Monitor {
    Property::parse(text)
        .and_then(|p| p.monitor())
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// The state after events, given by name.
fn after(monitor: &Monitor, events: &[&str]) -> StateId {
    let alphabet = monitor.alphabet();
    let names: Vec<String> = alphabet
        .propositions()
        .iter()
        .map(ToString::to_string)
        .collect();
    events.iter().fold(monitor.initial(), |state, event| {
        let holds =
            |letter| (0..names.len()).all(|p| alphabet.holds(letter, p) == (names[p] == *event));
        let letter = alphabet.letters().find(|&letter| holds(letter));
        monitor.next(
            state,
            letter.unwrap_or_else(|| panic!("no letter for {event}")),
        )
    })
}

fn verdict_after(text: &str, events: &[&str]) -> Verdict {
    let monitor = four(text);
    monitor.verdict(after(&monitor, events))
}

/// Compares with the oracle on words up to length 5 and on the whole product.
fn agrees(case: &Case) {
    let effort = Effort {
        words: 10_000,
        longest: 5,
        three: true,
    };
    let outcome = compare(case, None, effort);
    assert!(
        matches!(outcome, Outcome::Agrees),
        "{}\n{outcome:?}",
        case.text(None)
    );
}

#[test]
fn published_formulas_have_their_published_sizes() {
    let mut differences = Vec::new();
    for row in table::rows() {
        let names = row.names();
        let declared: Vec<String> = names
            .iter()
            .map(|name| format!("    var {name}: bool = false\n"))
            .collect();
        let flags = format!(
            "property row {{\n{}    ltl: {}\n}}",
            declared.concat(),
            row.formula
        );
        let events = row.formula.clone();
        for (text, sizes) in [(flags, row.flags), (events, row.events)] {
            for (verdicts, size) in [Verdicts::Three, Verdicts::Four].into_iter().zip(sizes) {
                let Some(size) = size else { continue };
                let monitor = monitor(&text, verdicts);
                if monitor.states() != size {
                    let found = monitor.states();
                    differences.push(format!("{}: {found} states, not {size}: {text}", row.place));
                }
                refine::check_minimal(&monitor)
                    .unwrap_or_else(|problem| panic!("{}: {problem}", row.place));
                let table = refine::table(&monitor);
                let occurs = |verdict| table.outputs().contains(&verdict);
                let open = [Verdict::Ok, Verdict::Pending, Verdict::Unknown]
                    .into_iter()
                    .any(occurs);
                let found: String = [
                    (open, '?'),
                    (occurs(Verdict::Violated), 'F'),
                    (occurs(Verdict::Satisfied), 'T'),
                ]
                .into_iter()
                .filter_map(|(occurs, sign)| occurs.then_some(sign))
                .collect();
                if found != row.verdicts || row.monitorable != (found != "?") {
                    differences.push(format!(
                        "{}: verdicts {found}, not {}: {text}",
                        row.place, row.verdicts
                    ));
                }
            }
        }
    }
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

/// The published formulas against the oracle, word by word, where the alphabet is small.
#[test]
fn published_formulas_have_the_right_verdicts() {
    for row in table::rows() {
        let names = row.names();
        if names.len() > 4 {
            continue;
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let effort = Effort {
            words: 1000,
            longest: 4,
            three: true,
        };
        for case in [
            Case::of_flags(&names, Body::Ltl(row.formula())),
            Case::of_events(&names, Body::Ltl(row.formula())),
        ] {
            let outcome = compare(&case, None, effort);
            assert!(
                matches!(outcome, Outcome::Agrees),
                "{}: {outcome:?}",
                row.place
            );
        }
    }
}

#[test]
fn an_a_five_from_the_end_needs_32_states() {
    let monitor = four("ere: (a|b)* a (a|b){4}");
    assert_eq!(monitor.states(), 32);
    refine::check_minimal(&monitor).unwrap();
}

#[test]
fn an_intersection_that_is_almost_empty_is_violated_as_soon_as_it_is_empty() {
    // Of (a b)* only the empty word has no `a b` in it.
    let text = "ere: ~((a|b)* a b (a|b)*) & (a b)*";
    assert_eq!(verdict_after(text, &[]), Verdict::Ok);
    assert_eq!(verdict_after(text, &["a"]), Verdict::Violated);
    assert_eq!(verdict_after(text, &["b"]), Verdict::Violated);
    assert_eq!(four(text).states(), 2);
}

#[test]
fn always_not_error_is_open_before_anything() {
    for text in [
        "always !error",
        "property quiet { event error ltl: always !error }",
    ] {
        assert_eq!(verdict_after(text, &[]), Verdict::Ok);
        assert_eq!(verdict_after(text, &["error"]), Verdict::Violated);
        assert_eq!(four(text).states(), 2);
    }
}

/// Where every step is an event, a step without one is no step, and least of all the first event.
/// A negation that simplifies forgets an operator of the past, which is back when it is negated again; there was
/// a panic.
#[test]
fn an_operator_of_the_past_comes_back() {
    for text in [
        "F (!(X((start(p) -> p) || X (start(p) -> p))))",
        "F (!(F[1:2](start(p) -> p)))",
    ] {
        assert_eq!(verdict_after(text, &[]), Verdict::Violated, "{text}");
    }
}

#[test]
fn counted_operators_on_runs_of_events() {
    use Verdict::{Ok, Pending, Satisfied, Violated};
    for (text, events, verdict) in [
        ("X[2] b", &["a", "a", "b"][..], Satisfied),
        ("X[2] b", &["b", "b", "a"], Violated),
        ("X[0] b", &["b"], Satisfied),
        ("next[1] b", &["b"], Pending),
        ("N[2] b", &["a", "a"], Ok),
        ("F[1:2] b", &["b", "a"], Pending),
        ("eventually[1:2] b", &["b", "a", "a"], Violated),
        ("G[1:2] b", &["a", "b"], Ok),
        ("always[1:2] b", &["a", "b", "b", "a"], Satisfied),
        ("[][1:2] b", &["a", "b", "a"], Violated),
        ("G (b -> O[1:2] a)", &["a", "c", "b"], Ok),
        ("G (b -> once[1:2] a)", &["a", "c", "c", "b"], Violated),
        ("G (b -> Y[2] a)", &["a", "b"], Violated),
        ("G (b -> Z[2] a)", &["c", "b"], Ok),
        ("G (b -> H[0:1] (b || a))", &["b", "a", "b"], Ok),
        ("G (b -> historically [ 1 : 1 ] a)", &["c", "b"], Violated),
        // On the run without any step there is no position so far away.
        ("F[0:1] G c", &[], Pending),
        ("G[0:1] c", &[], Ok),
        ("O[0:1] H c", &[], Pending),
        ("X[0] G c", &[], Ok),
    ] {
        let text = format!("property p {{ event a, b, c  ltl: {text} }}");
        assert_eq!(
            verdict_after(&text, events),
            verdict,
            "{text} after {events:?}"
        );
    }
}

#[test]
fn no_event_is_no_step_of_an_expression_over_events() {
    let monitor = four("ere: a b");
    let mut run = monitor.start().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.step(None, []), Ok(Verdict::Pending));
    assert_eq!((run.state(), run.steps()), (monitor.initial(), 0));
    let a = monitor
        .alphabet()
        .event("a")
        .expect("an event of the expression");
    assert_eq!(run.step(Some(a), []), Ok(Verdict::Pending));
    assert_ne!(run.state(), monitor.initial());
}

#[test]
fn small_formulas_agree_with_the_oracle() {
    let p = || Formula::Prop(0);
    let q = || Formula::Prop(1);
    let always = |f: Formula| Formula::unary(Unary::Always, f);
    let implies = |a: Formula, b: Formula| Formula::binary(Binary::Implies, a, b);
    let formulas = [
        Formula::unary(Unary::Eventually, p()),
        always(implies(p(), Formula::unary(Unary::Eventually, q()))),
        always(implies(p(), Formula::unary(Unary::Next, q()))),
        always(implies(p(), Formula::unary(Unary::WeakNext, q()))),
        always(implies(q(), Formula::unary(Unary::Once, p()))),
        always(implies(
            Formula::binary(Binary::Interval, p(), q()),
            Formula::unary(Unary::Eventually, q()),
        )),
        Formula::unary(Unary::Yesterday, p()),
        Formula::unary(Unary::WeakYesterday, p()),
        Formula::Const(true),
        Formula::Const(false),
    ];
    for formula in formulas {
        agrees(&Case::of_flags(&["p", "q"], Body::Ltl(formula.clone())));
        agrees(&Case::of_events(&["p", "q"], Body::Ltl(formula)));
    }
}

const RESERVOIR: &str = "
// reservoir.portent            (// and /* */ comments)
property reservoir {
    var w: int = 20             // a state variable and its initial value
    var v: int = 40
    let p = w > 26              // a named proposition
    let q = w > 30
    let r = v > 55
    ltl: always (q -> ((r && p) since start(p)))
}

property reservoir_bad {
    var w: int = 20  var v: int = 40
    let p = w > 26  let q = w > 30  let r = v > 55
    never: {}* {!p} {p,!q}+ ({p,!q,!r} {p,!q}* {q} | {q}* {q,!r}) {}*
}
";

/// The variables and propositions of the reservoir: p is 0, q is 1, r is 2.
fn reservoir_case(body: Body) -> Case {
    let variable = |name: &str, initial: &str| Variable {
        name: name.to_owned(),
        kind: Kind::Int,
        initial: initial.to_owned(),
    };
    Case {
        variables: vec![variable("w", "20"), variable("v", "40")],
        events: Vec::new(),
        props: vec![
            Prop::Int(0, Comparison::Greater, 26),
            Prop::Int(0, Comparison::Greater, 30),
            Prop::Int(1, Comparison::Greater, 55),
        ],
        aliases: ["p", "q", "r"].map(|name| Some(name.to_owned())).to_vec(),
        body,
    }
}

fn reservoir_formula() -> Formula {
    let [p, q, r] = [0, 1, 2].map(Formula::Prop);
    let both = Formula::binary(Binary::And, r, p.clone());
    let since = Formula::binary(Binary::Since, both, Formula::unary(Unary::Start, p));
    Formula::unary(Unary::Always, Formula::binary(Binary::Implies, q, since))
}

fn reservoir_bad_expression() -> Ere {
    let yes = Formula::Prop;
    let no = |p: usize| Formula::unary(Unary::Not, Formula::Prop(p));
    let star = |e: Ere| Ere::repeat(e, 0, None);
    let p_not_q = || Ere::Step(vec![yes(0), no(1)]);
    let dip = Ere::concat(
        Ere::Step(vec![yes(0), no(1), no(2)]),
        Ere::concat(star(p_not_q()), Ere::Step(vec![yes(1)])),
    );
    let late = Ere::concat(
        star(Ere::Step(vec![yes(1)])),
        Ere::Step(vec![yes(1), no(2)]),
    );
    let parts = [
        Ere::Step(vec![no(0)]),
        Ere::repeat(p_not_q(), 1, None),
        Ere::union(dip, late),
        star(Ere::Any),
    ];
    parts.into_iter().fold(star(Ere::Any), Ere::concat)
}

#[test]
fn the_reservoir_has_four_states() {
    let properties =
        Property::parse_file("reservoir.portent", RESERVOIR).unwrap_or_else(|e| panic!("{e}"));
    let monitors: Vec<Monitor> = properties
        .iter()
        .map(|p| p.monitor().unwrap_or_else(|e| panic!("{e}")))
        .collect();
    assert_eq!(monitors.len(), 2);
    assert_eq!(monitors[0].states(), 4);
    for monitor in &monitors {
        assert_eq!(
            monitor.alphabet().letters().count(),
            6,
            "w > 30 implies w > 26"
        );
        refine::check_minimal(monitor).unwrap();
    }
    agrees(&reservoir_case(Body::Ltl(reservoir_formula())));
    agrees(&reservoir_case(Body::Never(reservoir_bad_expression())));
}

/// What `reservoir_bad` forbids, `reservoir` forbids too. The converse holds only for runs of the kind that the
/// expression describes: they begin with `!p`, never go from `!p` to `q` in one step, and never fall from `q` back to
/// `p && !q`. (The oracles say the same: both monitors are compared with them above.)
#[test]
fn the_bad_runs_of_the_reservoir_violate_it() {
    let formula = Reading::new(&reservoir_case(Body::Ltl(reservoir_formula())), None);
    let bad = Reading::new(
        &reservoir_case(Body::Never(reservoir_bad_expression())),
        None,
    );
    let violations = |reading: &Reading| {
        let mut found = std::collections::BTreeMap::new();
        reading.each_word(5, |word, verdict| {
            found.insert(reading.valuations(word), verdict == Verdict::Violated);
        });
        found
    };
    let (formula, bad) = (violations(&formula), violations(&bad));
    assert_eq!(formula.len(), bad.len());
    let (p, q) = (|l: &u32| l & 1 != 0, |l: &u32| l & 2 != 0);
    for (word, &violated) in &formula {
        if bad[word] {
            assert!(violated, "{word:?} is bad, but satisfies the formula");
        }
        let begins_low = word.first().is_some_and(|l| !p(l));
        let no_jump = word.windows(2).all(|pair| p(&pair[0]) || !q(&pair[1]));
        let no_return = word
            .windows(2)
            .all(|pair| !q(&pair[0]) || !p(&pair[1]) || q(&pair[1]));
        if begins_low && no_jump && no_return {
            assert_eq!(violated, bad[word], "{word:?}");
        }
    }
}
