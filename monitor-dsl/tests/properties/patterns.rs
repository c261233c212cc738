//! The pattern language against the published formulas: each of the 25 combinations of a pattern and a scope has the
//! machine of its formula, over boolean variables and over events.

use crate::oracle::table;
use portent_monitor_dsl::{Config, Edge, Monitor, Property, Verdict, Verdicts};

/// The scopes, in the order of the table, over the names that they use.
const SCOPES: [(&str, &[&str]); 5] = [
    ("globally", &[]),
    ("before r", &["r"]),
    ("after q", &["q"]),
    ("between q and r", &["q", "r"]),
    ("after q until r", &["q", "r"]),
];

/// The patterns: the first of their formulas in the table (from 1), how they are written, and the names in them, in the
/// order in which the table numbers those, after the names of the scope.
const PATTERNS: [(usize, &str, &[&str]); 5] = [
    (1, "absence of p", &["p"]),
    (6, "existence of p", &["p"]),
    (16, "universality of p", &["p"]),
    (21, "s precedes p", &["p", "s"]),
    (26, "s responds to p", &["p", "s"]),
];

fn monitor(names: &[&str], flags: bool, body: &str, verdicts: Verdicts) -> Monitor {
    let declarations: Vec<String> = names
        .iter()
        .map(|name| {
            if flags {
                format!("var {name}: bool = false")
            } else {
                format!("event {name}")
            }
        })
        .collect();
    let text = format!("property p1 {{ {} {body} }}", declarations.join(" "));
    Property::parse(&text)
        .and_then(|property| Config::new().verdicts(verdicts).monitor(&property))
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// The verdict in a state, and for each set of propositions that can hold where it leads.
type Row = (Verdict, Vec<(Vec<String>, usize)>);

/// What a monitor does, told by the names of its propositions: for every state its verdict, and where each set of true
/// propositions leads. States are numbered alike in equal machines.
fn behaviour(monitor: &Monitor) -> Vec<Row> {
    let alphabet = monitor.alphabet();
    let row = |state| {
        let mut row: Vec<(Vec<String>, usize)> = alphabet
            .letters()
            .map(|letter| {
                let holds = |&p: &usize| alphabet.holds(letter, p);
                let mut names: Vec<String> = (0..alphabet.propositions().len())
                    .filter(holds)
                    .map(|p| alphabet.propositions()[p].to_string())
                    .collect();
                names.sort();
                (names, monitor.next(state, letter).index())
            })
            .collect();
        row.sort();
        (monitor.verdict(state), row)
    };
    renumbered(&monitor.state_ids().map(row).collect::<Vec<_>>())
}

/// The states in the order of a breadth-first search by the sorted letters.
fn renumbered(rows: &[Row]) -> Vec<Row> {
    let mut order = vec![0];
    let mut next = 0;
    while next < order.len() {
        for (_, target) in &rows[order[next]].1 {
            if !order.contains(target) {
                order.push(*target);
            }
        }
        next += 1;
    }
    let number = |state: usize| {
        order
            .iter()
            .position(|&other| other == state)
            .expect("reached")
    };
    order
        .iter()
        .map(|&state| {
            let (verdict, row) = &rows[state];
            let row = row
                .iter()
                .map(|(names, target)| (names.clone(), number(*target)));
            (*verdict, row.collect())
        })
        .collect()
}

#[test]
fn all_patterns_mean_their_published_formulas() {
    let rows = table::rows();
    let mut checked = 0;
    for (first, pattern, own) in PATTERNS {
        for (index, (scope, around)) in SCOPES.into_iter().enumerate() {
            let row = &rows[first + index - 1];
            assert!(row.place.starts_with("dac.tsv"), "{}", row.place);
            let mut names: Vec<&str> = around.iter().chain(own).copied().collect();
            let formula = named(&row.formula, &names);
            names.sort_unstable();
            for flags in [true, false] {
                for verdicts in [Verdicts::Three, Verdicts::Four] {
                    let written = monitor(
                        &names,
                        flags,
                        &format!("pattern: {pattern} {scope}"),
                        verdicts,
                    );
                    let published = monitor(&names, flags, &format!("ltl: {formula}"), verdicts);
                    assert_eq!(
                        written.states(),
                        published.states(),
                        "{pattern} {scope}: {formula}"
                    );
                    assert_eq!(
                        behaviour(&written),
                        behaviour(&published),
                        "{pattern} {scope}: {formula}"
                    );
                    let size = if flags { row.flags } else { row.events };
                    let size = size[usize::from(verdicts == Verdicts::Four)];
                    if let Some(size) = size {
                        assert_eq!(written.states(), size, "{}", row.place);
                    }
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 100);
}

/// The shortest run of events that violates a monitor, if one does.
fn shortest_violation(monitor: &Monitor, names: &[&str]) -> Option<Vec<String>> {
    let mut runs = vec![Vec::new()];
    let mut next = 0;
    while next < runs.len() && runs[next].len() < 4 {
        for name in names {
            let run = [&runs[next][..], &[(*name).to_owned()]].concat();
            let mut stepper = monitor.start().unwrap();
            for name in &run {
                stepper.event(monitor.alphabet().event(name).unwrap());
            }
            match stepper.verdict() {
                Verdict::Violated => return Some(run),
                _ => runs.push(run),
            }
        }
        next += 1;
    }
    None
}

/// What is said of a run that violates a pattern, for each of them.
#[test]
fn violations_are_told_in_the_words_of_the_pattern() {
    let mut said = String::new();
    for (_, pattern, own) in PATTERNS {
        for (scope, around) in SCOPES {
            let mut names: Vec<&str> = around.iter().chain(own).copied().collect();
            names.sort_unstable();
            let body = format!("pattern: {pattern} {scope}");
            // Something else may happen, too.
            let all = [&names[..], &["z"]].concat();
            let monitor = monitor(&all, false, &body, Verdicts::Four);
            let Some(run) = shortest_violation(&monitor, &all) else {
                said += &format!("{body}\n  no finite run\n");
                continue;
            };
            let mut stepper = monitor.start().unwrap().remembering();
            for name in &run {
                stepper.event(monitor.alphabet().event(name).unwrap());
            }
            let explanation = stepper.explain().unwrap();
            assert_eq!(explanation.step, run.len() as u64);
            said += &format!("{body}\n  {}: {explanation}\n", run.join(" "));
        }
    }
    insta::assert_snapshot!(said);
    let monitor = Property::parse("pattern: absence of (x > 3 && go)").unwrap();
    let monitor = monitor.monitor().unwrap();
    let (x, go) = (
        monitor.alphabet().variable("x"),
        monitor.alphabet().event("go"),
    );
    let mut run = monitor
        .start_with(|_| Some(0.into()))
        .unwrap()
        .remembering();
    run.step(go, [(x.unwrap(), 4.into())]).unwrap();
    assert_eq!(
        run.explain().unwrap().to_string(),
        "violated at step 1: `absence of (x > 3 && go)` is broken, as `x > 3 && go` held"
    );
}

/// A formula of the table with names for `p0`, `p1`, ...
fn named(formula: &str, names: &[&str]) -> String {
    names
        .iter()
        .enumerate()
        .fold(formula.to_owned(), |formula, (index, name)| {
            // In quotes, so that `p` cannot be mistaken for the beginning of `p1`.
            formula.replace(&format!("p{index}"), &format!("\"{name}\""))
        })
}

/// `globally` may be left out, and operands may be any proposition.
#[test]
fn scopes_and_operands() {
    for (_, pattern, names) in PATTERNS {
        let mut names = names.to_vec();
        names.sort_unstable();
        let short = monitor(
            &names,
            false,
            &format!("pattern: {pattern}"),
            Verdicts::Four,
        );
        let long = monitor(
            &names,
            false,
            &format!("pattern: {pattern} globally"),
            Verdicts::Four,
        );
        assert_eq!(behaviour(&short), behaviour(&long), "{pattern}");
    }
    let pattern = Property::parse("pattern: (x > 3 && !p) responds to (q || r)");
    let formula = Property::parse("G (q || r -> F (x > 3 && !p))");
    let [pattern, formula] = [pattern, formula].map(|property| {
        property
            .and_then(|property| property.monitor())
            .unwrap_or_else(|error| panic!("{error}"))
    });
    assert_eq!(behaviour(&pattern), behaviour(&formula));
    let edges: Vec<Vec<Edge>> = pattern.description().transitions;
    assert_eq!(edges.len(), pattern.states());
}
