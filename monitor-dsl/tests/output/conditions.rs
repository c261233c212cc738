//! The conditions of edges as text: they are read by a small evaluator that knows nothing of the crate's own.

use super::{monitor, properties};
use portent_monitor_dsl::{Description, Letter, Monitor, Property};
use portent_testing::Rng;

/// Reads a condition over propositions that are known by their text only.
struct Reader<'a> {
    rest: &'a str,
    propositions: &'a [String],
    holds: &'a dyn Fn(usize) -> bool,
}

impl Reader<'_> {
    fn read(when: &str, propositions: &[String], holds: &dyn Fn(usize) -> bool) -> bool {
        let mut reader = Reader {
            rest: when,
            propositions,
            holds,
        };
        let value = reader.any();
        assert_eq!(reader.rest, "", "in {when}");
        value
    }

    fn take(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn any(&mut self) -> bool {
        let mut value = self.odd();
        while self.take("||") {
            value |= self.odd();
        }
        value
    }

    fn odd(&mut self) -> bool {
        let mut value = self.all();
        while self.take("xor ") {
            value ^= self.all();
        }
        value
    }

    fn all(&mut self) -> bool {
        let mut value = self.one();
        while self.take("&&") {
            value &= self.one();
        }
        value
    }

    fn one(&mut self) -> bool {
        // A proposition first: it may begin like something else, and the longest is meant.
        let known = (0..self.propositions.len())
            .filter(|&p| self.rest.starts_with(&self.propositions[p]))
            .filter(|&p| {
                let next = self.rest[self.propositions[p].len()..].chars().next();
                next.is_none_or(|c| " )".contains(c))
            })
            .max_by_key(|&p| self.propositions[p].len());
        if let Some(p) = known {
            self.rest = self.rest[self.propositions[p].len()..].trim_start();
            return (self.holds)(p);
        }
        if self.take("!") {
            return !self.one();
        }
        if self.take("(") {
            let value = self.any();
            assert!(self.take(")"), "`)` before {}", self.rest);
            return value;
        }
        if self.take("true") {
            return true;
        }
        assert!(self.take("false"), "a condition before {}", self.rest);
        false
    }
}

#[test]
fn the_evaluator_reads_conditions() {
    let propositions = [
        "p".to_owned(),
        "pq".to_owned(),
        "x > 3".to_owned(),
        "\"a b\"".to_owned(),
    ];
    let read =
        |text: &str, holds: &[usize]| Reader::read(text, &propositions, &|p| holds.contains(&p));
    assert!(read("p && !pq", &[0]));
    assert!(!read("p && !pq", &[0, 1]));
    assert!(read("(p && pq) || !(x > 3)", &[]));
    assert!(!read("(p && pq) || !(x > 3)", &[2]));
    assert!(read("\"a b\" && (p || x > 3)", &[2, 3]));
    assert!(read("true", &[]) && !read("false", &[]));
    assert!(read("p xor pq xor !(x > 3)", &[0, 1]));
    assert!(read("p && pq xor p || pq && p xor !(x > 3)", &[0]));
    assert!(!read("p && pq xor p || pq && p xor !(x > 3)", &[0, 1]));
}

/// Every letter that can occur is in exactly one condition of each state, and that leads where the monitor goes.
fn check_conditions(monitor: &Monitor) {
    let Description {
        propositions,
        transitions,
        outputs,
        states,
        initial,
        ..
    } = monitor.description();
    assert_eq!(
        (transitions.len(), outputs.len(), initial),
        (states, states, 0)
    );
    let alphabet = monitor.alphabet();
    for state in monitor.state_ids() {
        assert_eq!(outputs[state.index()], monitor.verdict(state));
        let letters: Vec<Letter> = if state == monitor.initial() {
            alphabet.initial_letters().collect()
        } else {
            alphabet.letters().collect()
        };
        for letter in letters {
            let holds = |p: usize| alphabet.holds(letter, p);
            let edges = &transitions[state.index()];
            let taken: Vec<usize> = edges
                .iter()
                .filter(|edge| {
                    let when = edge.when.as_ref().expect("not too long");
                    Reader::read(when, &propositions, &holds)
                })
                .map(|edge| edge.to)
                .collect();
            assert_eq!(
                taken,
                [monitor.next(state, letter).index()],
                "{:?}",
                monitor.property()
            );
        }
    }
}

#[test]
fn conditions_are_disjoint_and_cover_every_letter() {
    for (property, _) in properties(0x1500_0000, 300) {
        check_conditions(&monitor(&property));
    }
    for text in [
        "always (\"a b\" -> next \"x > 3\")",
        "ere: (a b c d e f g)* & ~(.* a .* a .*)",
        "always (x * y > 3 -> x == y && s != \"a && b\" && s != \"(\")",
        "property p { var true_: bool = true var x: float = 0 ltl: always (x > 2.5 || x < -1 || x == 1 -> prev true_) }",
    ] {
        check_conditions(&monitor(
            &Property::parse(text).unwrap_or_else(|error| panic!("{error}")),
        ));
    }
}

/// Flags `p0`, `p1`, ... and a formula without temporal operators that must always hold.
fn always(flags: usize, formula: &str) -> Monitor {
    let variables: Vec<String> = (0..flags)
        .map(|flag| format!("var p{flag}: bool = false"))
        .collect();
    let text = format!(
        "property flags {{ {} ltl: always ({formula}) }}",
        variables.join(" ")
    );
    monitor(&Property::parse(&text).unwrap_or_else(|error| panic!("{error}")))
}

/// At least `least` of the flags from `first` on, as people write it: this one and one less, or without it.
fn at_least(least: usize, first: usize, flags: usize) -> String {
    match (least, flags - first) {
        (0, _) => "true".to_owned(),
        (least, rest) if least > rest => "false".to_owned(),
        _ => format!(
            "(p{first} && {} || {})",
            at_least(least - 1, first + 1, flags),
            at_least(least, first + 1, flags)
        ),
    }
}

#[test]
fn a_parity_is_as_short_as_it_is() {
    let names: Vec<String> = (0..16).map(|flag| format!("p{flag}")).collect();
    let parity = always(16, &names.join(" xor "));
    check_conditions(&parity);
    for (_, when) in parity.edges(parity.initial()) {
        assert_eq!(when.literals(), 16);
    }
    for text in [parity.to_table(), parity.to_dot()] {
        assert!(
            text.contains(&names.join(" xor ")) && text.len() < 2_000,
            "{text}"
        );
    }
}

#[test]
fn thresholds_and_other_functions_of_many_flags() {
    for (least, flags) in [(2, 3), (3, 8), (5, 9)] {
        check_conditions(&always(flags, &at_least(least, 0, flags)));
    }
    check_conditions(&always(
        9,
        "(p0 xor p1 && p2) -> (p3 xor p4 xor (p5 || p6 && p7 <-> p8))",
    ));
}

/// The literals of the conditions that leave the initial state.
fn literals(monitor: &Monitor) -> Vec<usize> {
    let edges = monitor.edges(monitor.initial());
    edges.iter().map(|(_, when)| when.literals()).collect()
}

/// What is a sum of short products, or a product of short sums, is written as one.
#[test]
fn neighbours_in_a_long_row() {
    let neighbours = |flags: usize, part: fn(usize, usize) -> String, sign: &str| {
        let parts: Vec<String> = (0..flags - 1).map(|flag| part(flag, flag + 1)).collect();
        always(flags, &parts.join(sign))
    };
    let implied = |a: usize, b: usize| format!("(p{a} -> p{b})");
    let both = |a: usize, b: usize| format!("(p{a} && p{b})");
    for flags in [4, 9] {
        check_conditions(&neighbours(flags, implied, " && "));
        check_conditions(&neighbours(flags, both, " || "));
    }
    let ordered = neighbours(20, implied, " && ");
    assert_eq!(literals(&ordered), [38, 38]);
    let table = ordered.to_table();
    assert!(table.contains("(!p0 || p1) && (!p1 || p2)"), "{table}");
    assert!(table.contains("(p0 && !p1) || (p1 && !p2)"), "{table}");
    assert_eq!(literals(&neighbours(20, both, " || ")), [38, 38]);
}

/// A random sum of products of flags and comparisons of two numbers.
fn random_sum(rng: &mut Rng) -> String {
    let literal = |rng: &mut Rng| {
        let negated = ["", "!"][rng.below(2)];
        match rng.below(3) {
            0 => format!("{negated}(n < {})", rng.below(3)),
            1 => format!("{negated}(m == {})", rng.below(3)),
            _ => format!("{negated}p{}", rng.below(5)),
        }
    };
    let product = |rng: &mut Rng| {
        let literals: Vec<String> = (0..rng.between(1, 4)).map(|_| literal(rng)).collect();
        literals.join(" && ")
    };
    let products: Vec<String> = (0..rng.between(2, 7)).map(|_| product(rng)).collect();
    products.join(" || ")
}

#[test]
fn sums_and_products_over_flags_and_numbers() {
    let mut rng = Rng::new(0x1500_1000);
    let flags: Vec<String> = (0..5)
        .map(|flag| format!("var p{flag}: bool = false"))
        .collect();
    for _ in 0..300 {
        let (sum, other) = (random_sum(&mut rng), random_sum(&mut rng));
        let text = format!(
            "property sums {{ {} var n: int = 0 var m: int = 0 ltl: always (({sum}) && ({other})) }}",
            flags.join(" ")
        );
        let property = Property::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        check_conditions(&monitor(&property));
    }
}

#[test]
fn a_table_shows_the_first_of_many_edges() {
    // Any of the seven may happen first, and any others with it.
    let parts: Vec<String> = (0..7).map(|x| format!("F (x{x} > 0)")).collect();
    let text = format!("ltl: {}", parts.join(" && "));
    let monitor = monitor(&Property::parse(&text).unwrap_or_else(|error| panic!("{error}")));
    let (all, shown) = (monitor.edges(monitor.initial()).len(), Monitor::TABLE_EDGES);
    assert_eq!(all, 128);
    let more = format!("... and {} more edges", all - shown);
    assert!(monitor.to_table().contains(&more));
}

/// What has too many cases to be written out is counted, in every format but generated code.
#[test]
fn a_condition_that_is_too_long_is_counted() {
    let monitor = always(14, &at_least(7, 0, 14));
    let edges = monitor.edges(monitor.initial());
    let description = monitor.description();
    for ((_, when), edge) in edges.iter().zip(&description.transitions[0]) {
        assert!(when.literals() > 2_000);
        assert_eq!(edge.when, None);
        let instead = format!("(a condition of {} literals)", when.literals());
        assert_eq!(monitor.spell(when), instead);
        for text in [monitor.to_table(), monitor.to_dot()] {
            assert!(text.contains(&instead) && text.len() < 2_000, "{text}");
        }
    }
    let code = monitor.to_rust();
    let arms = code.lines().filter(|line| line.contains(" => "));
    let longest = arms.map(str::len).max();
    assert!(
        longest.is_some_and(|longest| longest < 4_000),
        "{longest:?}"
    );
}
