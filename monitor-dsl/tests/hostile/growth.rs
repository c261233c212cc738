//! Texts whose machines, definitions or names grow: answered within a budget.

use portent_monitor_dsl::{Config, Property};

use super::answer::*;

#[test]
fn stars_of_stars() {
    assert_eq!(answer("ere: (((a*)*)*)*"), answer("ere: a*"));
    let stars = nested("a", 199, |_, inner| format!("({inner})*"));
    assert_eq!(answer(format!("ere: {stars}")), answer("ere: a*"));
    let stars = nested("a", 99, |_, inner| format!("({inner} b*)*"));
    assert_eq!(
        answer(format!("ere: {stars}")).states(),
        1,
        "any word of a and b"
    );
    // Half a megabyte of brackets, and the text ends inside of them.
    let options = nested("a", 17, |_, inner| format!("({inner}? {inner}?)"));
    assert!(matches!(
        answer(format!("ere: {}", &options[..1 << 19])),
        Answer::Wrong(_)
    ));
}

#[test]
fn complements_of_concatenations() {
    for depth in 1..=20 {
        let text = nested("a", depth, |level, inner| {
            format!("~({} {inner})", ["a", "b"][level % 2])
        });
        assert!(
            answer(format!("ere: {text}")).states() <= depth + 10,
            "{depth}"
        );
        let text = nested("a", depth, |level, inner| {
            format!("~(.* {} {inner} .*)", ["a", "b"][level % 2])
        });
        assert!(matches!(
            answer(format!("ere: {text}")),
            Answer::States(_) | Answer::Limit { .. }
        ));
        let text = nested("a", depth, |level, inner| {
            format!("~({} ({inner})* .)", ["a", "(a|b)*"][level % 2])
        });
        assert!(matches!(
            answer(format!("never: {text}")),
            Answer::States(_) | Answer::Limit { .. }
        ));
    }
}

#[test]
fn huge_counts() {
    for count in [
        "1000000000",
        "10001",
        "99999999999999999999999",
        "1,1000000000",
        "10001,",
    ] {
        let answer = answer(format!("ere: a{{{count}}}"));
        assert_eq!(
            answer.limit().0,
            "a counted repetition goes up to 10000",
            "{count}"
        );
    }
    assert_eq!(answer("ere: a{9990}").states(), 9_992);
    assert_eq!(answer("ere: a{0,9990}").states(), 9_992);
    assert_eq!(answer("ere: a{9990,}").states(), 9_991);
    assert_eq!(answer("ere: a{0}").states(), 2);
}

#[test]
fn counts_of_counts() {
    let grows = |text: &str, part: &str| {
        let answer = answer(text);
        let (message, found) = answer.limit();
        assert!(message.contains("10000 states"), "{text}: {message}");
        assert_eq!(found, part, "{text}");
    };
    grows("ere: a{100}{100}{100}", "a{100}{100}");
    grows("ere: ((a{0,100}){0,100}){0,100}", "((a{0,100}){0,100})");
    grows("ere: b | (a b){5001} | c", "(a b){5001}");
    let deep = nested("a", 60, |_, inner| format!("({inner}){{10000}}"));
    assert!(
        answer(format!("ere: {deep}"))
            .limit()
            .0
            .contains("10000 states")
    );
    let deep = nested("a", 60, |_, inner| format!("({inner}){{0,10000}}"));
    let answer = answer(format!("ere: {deep}"));
    let (message, _) = answer.limit();
    assert_eq!(message, "making the monitor takes more than 10000000 steps");
}

#[test]
fn a_letter_far_from_the_end() {
    assert_eq!(answer("ere: (a|b)* a (a|b){12}").states(), 1 << 13);
    for text in [
        "(a|b)* a (a|b){14}",
        "(a|b)* a (a|b){40}",
        "(a|b)* a (a|b){9000}",
    ] {
        let answer = answer(format!("ere: c c c ({text}) | d"));
        let (_, part) = answer.limit();
        assert!(
            text.ends_with(part.trim_matches(['(', ')'])) || part == format!("({text})"),
            "{part}"
        );
    }
}

#[test]
fn a_distant_answer() {
    let answer = answer(format!("F r && G (p -> {}q)", "X ".repeat(14)));
    let (message, part) = answer.limit();
    assert_eq!(message, "the monitor would have more than 10000 states");
    assert!(
        part.starts_with("G (p -> X X") || part.starts_with("p -> X X"),
        "{part}"
    );
    // In between the same with past operators, which remember as much.
    let past = self::answer(format!("G (q -> {}p)", "Y ".repeat(14)));
    assert_eq!(
        past.limit().0,
        "the monitor would have more than 10000 states"
    );
}

#[test]
fn a_lower_limit_is_met_sooner() {
    let config = Config::new().max_states(50);
    let answer = answer_with(&config, "G (p -> X X X X X X q)");
    assert_eq!(
        answer.limit().0,
        "the monitor would have more than 50 states"
    );
    assert_eq!(answer_with(&config, "G (p -> X X q)").states(), 5);
    let none = Config::new().max_states(0);
    assert_eq!(answer_with(&none, "true").states(), 1);
    assert_eq!(
        answer_with(&none, "p").limit().0,
        "the monitor would have more than 1 state"
    );
}

#[test]
fn nineteen_propositions_one_after_the_other() {
    let formula = (0..19).rev().fold("true".to_owned(), |rest, index| {
        format!("p{index} & X ({rest})")
    });
    let answer = answer(over_flags(19, &format!("ltl: {formula}")));
    assert_eq!(answer.states(), 21);
}

#[test]
fn propositions_that_matter_together() {
    let all = |count: usize, operator: &str| {
        let formula = joined(count, operator, |index| format!("p{index}"));
        answer(over_flags(count, &format!("ltl: always ({formula})")))
    };
    for operator in [" & ", " | ", " xor "] {
        assert_eq!(all(20, operator).states(), 2, "{operator}");
        assert_eq!(
            all(21, operator).limit().0,
            "the property has 21 propositions; the limit is 20"
        );
    }
    let more = Config::new().max_propositions(200);
    for (count, fits) in [(60, true), (70, false)] {
        let formula = joined(count, " xor ", |index| format!("p{index}"));
        let answer = answer_with(
            &more,
            over_flags(count, &format!("ltl: always ({formula})")),
        );
        if fits {
            assert_eq!(answer.states(), 2)
        } else {
            assert!(answer.limit().0.contains("letters that do not fit 64 bits"))
        }
    }
    let events = joined(500, " | ", |index| format!("e{index}"));
    assert_eq!(
        answer(&events).limit().0,
        "the property has 500 propositions; the limit is 20"
    );
    assert_eq!(
        answer_with(&Config::new().max_propositions(500), &events).states(),
        3
    );
}

#[test]
fn a_number_compared_with_many_constants() {
    let text = joined(5_000, " && ", |index| format!("x != {index}"));
    let answer = answer(format!("always ({text})"));
    assert_eq!(
        answer.limit(),
        (
            "a property has at most 1000 variables, events and propositions",
            "x != 1000"
        )
    );
    let text = joined(300, " && ", |index| format!("x != {index}"));
    let config = Config::new().max_propositions(1_000);
    assert_eq!(answer_with(&config, format!("always ({text})")).states(), 2);
}

#[test]
fn many_things_to_happen_in_any_order() {
    let any_order = |count: usize| {
        let formula = joined(count, " & ", |index| format!("F p{index}"));
        (
            answer(&formula),
            answer(over_flags(count, &format!("ltl: {formula}"))),
        )
    };
    let (events, flags) = any_order(12);
    assert_eq!((events.states(), flags.states()), (1 << 12, 1 << 12));
    let (events, flags) = any_order(13);
    assert_eq!((events.states(), flags.states()), (1 << 13, 1 << 13));
    let (events, flags) = any_order(14);
    for answer in [events, flags] {
        assert!(answer.limit().0.contains("10000 states"), "{answer:?}");
    }
}

#[test]
fn deep_untils() {
    for operator in ["U", "W", "R", "M", "S", "T", "WS"] {
        let right = nested("p19", 19, |level, inner| {
            format!("p{} {operator} ({inner})", 18 - level)
        });
        let left = nested("p0", 19, |level, inner| {
            format!("({inner}) {operator} p{}", level + 1)
        });
        let alternating = nested("p", 30, |level, inner| match level % 2 {
            0 => format!("({inner}) {operator} q"),
            _ => format!("q {operator} ({inner} & p)"),
        });
        for formula in [right, left, alternating] {
            let events = answer(&formula);
            let flags = answer(
                over_flags(20, &format!("ltl: G ({formula})"))
                    .replace("var p19", "var p: bool = true var q: bool = true var p19"),
            );
            for answer in [events, flags] {
                assert!(
                    matches!(answer, Answer::States(_) | Answer::Limit { .. }),
                    "{answer:?}"
                );
            }
        }
    }
}

#[test]
fn past_and_future_in_turn() {
    for (past, future) in [
        ("O", "F"),
        ("H", "G"),
        ("Y", "X"),
        ("O", "G"),
        ("H", "F"),
        ("start", "end"),
        ("Z", "N"),
    ] {
        for depth in [3, 6, 12, 40] {
            let formula = nested("p", depth, |level, inner| match level % 2 {
                0 => format!("{past} (q | {future} ({inner}))"),
                _ => format!("{past} (p & {future} ({inner}))"),
            });
            let answer = answer(
                format!("G ({formula})")
                    .replace("start (", "start(")
                    .replace("end (", "end("),
            );
            assert!(
                matches!(answer, Answer::States(_) | Answer::Limit { .. }),
                "{answer:?}"
            );
        }
    }
}

#[test]
fn fairness_conditions() {
    let many = |count: usize, part: &dyn Fn(usize) -> String| answer(joined(count, " & ", part));
    for count in [5, 10, 20] {
        assert_eq!(
            many(count, &|index| format!("G F p{index}")).states(),
            2,
            "{count}"
        );
        let answer = many(count / 2, &|index| {
            format!("(G F p{index} -> G F p{})", index + 10)
        });
        assert!(
            matches!(answer, Answer::States(_) | Answer::Limit { .. }),
            "{answer:?}"
        );
        let answer = many(count, &|index| {
            format!("G (p{index} -> F p{})", (index + 1) % count)
        });
        assert!(
            matches!(answer, Answer::States(_) | Answer::Limit { .. }),
            "{answer:?}"
        );
    }
}

#[test]
fn arithmetic_that_overflows() {
    let product = vec!["9223372036854775807"; 300].join(" * ");
    let large = "the constants of this comparison are too large to work with";
    assert_eq!(answer(format!("x > {product}")).limit().0, large);
    let power = vec!["x"; 300].join(" * ");
    assert_eq!(answer(format!("always {power} > 1")).states(), 2);
    let many = "multiplied out, this expression has more than 250 products";
    let polynomial = joined(40, " * ", |index| format!("(x{index} + y{index})"));
    assert_eq!(answer(format!("{polynomial} > 1")).limit().0, many);
    let square = format!(
        "({0}) * ({0})",
        joined(30, " + ", |index| format!("x{index}"))
    );
    assert_eq!(answer(format!("{square} > 1")).limit().0, many);
    let floats = vec!["1e308"; 300].join(" * ");
    assert_eq!(answer(format!("x > {floats} || x < 2.5")).states(), 3);
}

#[test]
fn definitions_of_definitions() {
    // Each doubles the one before it.
    let lets = joined(60, " ", |index| {
        format!(
            "let d{} = d{index} xor (d{index} && w > {index})",
            index + 1
        )
    });
    let text = format!("property p {{ var w: int = 0 let d0 = w > 0 {lets} ltl: always d60 }}");
    let answer = answer(&text);
    let (message, part) = answer.limit();
    assert!(
        message.starts_with("with its definitions written out, the property has more than"),
        "{message}"
    );
    assert_eq!(part, "d14");
    // Each adds a level to the one before it.
    let deep = |count: usize| {
        let lets = joined(count, " ", |index| {
            format!("let d{} = !d{index}", index + 1)
        });
        let text =
            format!("property p {{ var w: int = 0 let d0 = w > 0 {lets} ltl: always d{count} }}");
        self::answer(&text)
    };
    assert_eq!(deep(300).states(), 2);
    assert!(deep(450).limit().0.contains("nests more than 400 deep"));
    assert!(
        deep(5_000)
            .limit()
            .0
            .starts_with("a property declares at most 1000 names")
    );
}

#[test]
fn a_great_many_names() {
    const MANY: usize = 40_000;
    let names = joined(MANY, ", ", |index| format!("n{index}"));
    let parameters = format!("property p({names}) {{ event e ltl: e }}");
    let events = format!("property p {{ event {names} ltl: n0 }}");
    let variables = joined(MANY, " ", |index| format!("var n{index}: int"));
    let variables = format!("property p {{ {variables} ltl: n0 > 0 }}");
    for text in [parameters, events, variables] {
        let answer = answer(&text);
        assert!(
            answer
                .limit()
                .0
                .starts_with("a property declares at most 1000 names"),
            "{answer:?}"
        );
    }
    let sums = joined(MANY / 100, " && ", |sum| {
        joined(100, " + ", |index| format!("n{}", 100 * sum + index)) + " > 0"
    });
    let bare = joined(MANY, " | ", |index| format!("n{index}"));
    for text in [sums, bare] {
        let answer = answer(&text);
        assert_eq!(
            answer.limit().0,
            "a property has at most 1000 variables, events and propositions"
        );
    }
}

#[test]
fn a_great_many_properties() {
    const MANY: usize = 40_000;
    let text = joined(MANY, " ", |index| format!("property p{index} {{ltl:q}}"));
    let properties =
        Property::parse_file("many.portent", &text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(properties.len(), MANY);
    assert_eq!(
        properties[MANY - 1]
            .monitor()
            .map(|monitor| monitor.states()),
        Ok(3)
    );
}

#[test]
fn a_huge_regular_expression_of_the_regex_crate() {
    for pattern in [
        "(a{1000}){1000}".to_owned(),
        "(".repeat(10_000),
        "a".repeat(1 << 19),
        "(?:".repeat(150) + &")*".repeat(150),
    ] {
        let text = format!("property p {{ event e matches \"{pattern}\" ltl: e }}");
        let answer = answer(&text);
        assert!(
            matches!(
                answer,
                Answer::States(3) | Answer::Wrong(_) | Answer::Limit { .. }
            ),
            "{answer:?}"
        );
    }
}

/// The largest 128-bit number, as arithmetic: the threshold after it does not fit.
#[test]
fn constants_at_the_edge_of_128_bits() {
    let m = i64::MAX;
    let edge = format!("{m} * {m} * 2 + {m} * 4 + 1");
    for sign in [">", "<=", "==", ">=", "<"] {
        let answer = answer(format!("always (x {sign} {edge})"));
        assert_eq!(
            answer.limit().0,
            "the constants of this comparison are too large to work with",
            "{sign}"
        );
    }
    assert_eq!(answer(format!("always (x > {edge} - 1)")).states(), 1);
}
