//! Texts that are too deep or too long: answered before, or without, any deep recursion.

use super::answer::*;

#[test]
fn a_hundred_thousand_brackets() {
    const MANY: usize = 100_000;
    for body in ["", "ere: ", "never: ", "pattern: absence of "] {
        for (open, close) in [
            ("(", ")"),
            ("[", ")"),
            ("{", "}"),
            ("start(", ")"),
            ("[p, ", ")"),
        ] {
            let text = format!("{body}{}p{}", open.repeat(MANY), close.repeat(MANY));
            let answer = answer(&text);
            assert_eq!(
                answer.limit().0,
                "brackets nest more than 200 deep",
                "{body}{open}"
            );
            let unclosed = format!("{body}{}", open.repeat(MANY));
            assert_eq!(self::answer(&unclosed), answer, "{body}{open}");
        }
        // Closing what was never opened is wrong, but no deeper than anything else.
        assert!(matches!(
            answer(format!("{body}p{}", ")".repeat(MANY))),
            Answer::Wrong(_)
        ));
    }
}

#[test]
fn as_many_brackets_as_are_allowed() {
    for depth in [199, 200] {
        let group = format!("{}p{}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(answer(&group).states(), 3);
        assert_eq!(answer(format!("ere: {group}")).states(), 3);
        let edges = format!("{}p{}", "start(".repeat(depth), ")".repeat(depth));
        let answer = answer(&edges);
        assert!(
            matches!(answer, Answer::States(_) | Answer::Limit { .. }),
            "{answer:?}"
        );
    }
}

#[test]
fn counts_that_are_as_large_as_they_may_be_and_larger() {
    for (good, bad) in [
        ("X[399] p", "X[400] p"),
        ("N[398] !p", "N[399] !p"),
        ("Y[100] p", "Y[400] p"),
        ("F[0:199] p", "F[0:200] p"),
        ("F[399:399] p", "F[400:400] p"),
        ("G[99:249] p", "G[99:250] p"),
        ("O[0:60] p", "O[0:200] p"),
        ("H[0:60] p", "H[0:200] p"),
        ("X[200] F[1:100] p", "X[200] F[1:101] p"),
    ] {
        for text in [good.to_owned(), format!("!({good})"), format!("F ({good})")] {
            let answer = answer(&text);
            let answered = matches!(answer, Answer::States(_) | Answer::Limit { .. });
            assert!(answered, "{text}: {answer:?}");
        }
        let answer = answer(bad);
        assert_eq!(
            answer.limit().0,
            "operators nest more than 400 deep",
            "{bad}"
        );
    }
    assert_eq!(answer("X[300] p").states(), 303);
    assert_eq!(answer("F[0:150] p").states(), 153);
    let all = ["X", "N", "Y", "Z"].map(|op| format!("{op}[40]"));
    let all = all
        .into_iter()
        .chain(["F", "G", "O", "H"].map(|op| format!("{op}[20:40]")));
    let nested: String = all.collect();
    let answer = answer(format!("{nested} p"));
    assert!(
        matches!(answer, Answer::States(_) | Answer::Limit { .. }),
        "{answer:?}"
    );
}

#[test]
fn a_hundred_thousand_prefix_operators() {
    const MANY: usize = 100_000;
    for operator in [
        "!", "X ", "N ", "F ", "G ", "[]", "<> ", "Y ", "Z ", "O ", "H ", "not ",
    ] {
        let text = format!("{}p", operator.repeat(MANY));
        let answer = answer(&text);
        assert_eq!(
            answer.limit().0,
            "operators nest more than 400 deep",
            "{operator}"
        );
    }
    let minus = format!("{}1 > x", "- ".repeat(MANY));
    assert_eq!(answer(minus).limit().0, "operators nest more than 400 deep");
    let complement = format!("ere: {}p", "~".repeat(MANY));
    assert_eq!(
        answer(complement).limit().0,
        "operators nest more than 400 deep"
    );
}

#[test]
fn a_hundred_thousand_postfix_operators() {
    for operator in ["*", "+", "?", "{2}", "{0,3}"] {
        let text = format!("ere: p{}", operator.repeat(100_000));
        assert_eq!(
            answer(text).limit().0,
            "operators nest more than 400 deep",
            "{operator}"
        );
    }
}

#[test]
fn prefix_operators_as_deep_as_is_allowed() {
    for operator in ["!", "F ", "G ", "[]", "<> ", "~", "X ", "N "] {
        let body = if operator == "~" { "ere: " } else { "" };
        let text = format!("{body}{}p", operator.repeat(398));
        assert!(answer(&text).states() <= 401, "{operator}");
    }
    for operator in ["O ", "H ", "Y ", "Z "] {
        assert!(
            answer(format!("{}p", operator.repeat(398))).states() <= 401,
            "{operator}"
        );
    }
    assert_eq!(answer(format!("{}p", "G F ".repeat(4))).states(), 2);
    let deep = answer(format!("{}p", "G F ".repeat(199)));
    assert!(
        matches!(deep, Answer::States(2) | Answer::Limit { .. }),
        "{deep:?}"
    );
    assert_eq!(
        answer(format!("ere: p{}", "*".repeat(398))),
        answer("ere: p*")
    );
    assert_eq!(
        answer(format!("ere: p{}", "+*?".repeat(130))),
        answer("ere: p*")
    );
}

#[test]
fn a_hundred_thousand_infix_operators() {
    const MANY: usize = 100_000;
    for operator in ["->", "<->", "xor", "U", "W", "R", "M", "S", "WS", "T"] {
        let text = vec!["p"; MANY].join(&format!(" {operator} "));
        assert_eq!(
            answer(text).limit().0,
            "operators nest more than 400 deep",
            "{operator}"
        );
    }
    for operator in ["+", "-", "*"] {
        let text = vec!["x"; MANY].join(&format!(" {operator} ")) + " > 0";
        assert_eq!(
            answer(text).limit().0,
            "operators nest more than 400 deep",
            "{operator}"
        );
    }
    let comparisons = vec!["x"; MANY].join(" < ");
    assert_eq!(
        answer(comparisons),
        Answer::Wrong("comparisons do not chain".to_owned())
    );
}

#[test]
fn two_hundred_thousand_operands() {
    const MANY: usize = 200_000;
    for operator in ["&", "|"] {
        let text = vec!["p"; MANY].join(&format!(" {operator} "));
        assert_eq!(answer(&text).states(), 3, "{operator}");
        assert_eq!(answer(format!("ere: {text}")).states(), 3, "{operator}");
        assert_eq!(answer(format!("always ({text})")).states(), 2, "{operator}");
    }
    let alternating = joined(MANY, " ", |index| ["p &", "q |"][index % 2].to_owned()) + " p";
    assert_eq!(answer(alternating).states(), 3);
    let letter = format!("ere: {{{}}}", vec!["p"; MANY].join(","));
    assert_eq!(answer(letter).states(), 3);
}

#[test]
fn a_long_sequence() {
    let circle = vec!["p"; 9_000].join(" ");
    assert_eq!(answer(format!("ere: ({circle})*")).states(), 9_000);
    for separator in [" ", ";"] {
        let fits = vec!["p"; 9_000].join(separator);
        assert_eq!(answer(format!("ere: {fits}")).states(), 9_002);
        let long = vec!["p"; 200_000].join(separator);
        let answer = answer(format!("ere: {long}"));
        assert_eq!(
            answer.limit().0,
            "the monitor would have more than 10000 states"
        );
    }
}

#[test]
fn a_text_of_ten_megabytes() {
    let formula = vec!["p"; 10_000_000 / 4].join(" & ");
    let spaces = " ".repeat(10_000_000);
    let comment = format!("/*{}", "*".repeat(10_000_000));
    let name = "p".repeat(10_000_000);
    let binary = vec![0xff; 10_000_000];
    for text in [
        formula.as_bytes(),
        spaces.as_bytes(),
        comment.as_bytes(),
        name.as_bytes(),
        &binary,
    ] {
        let answer = answer(text);
        let message = answer.limit().0;
        assert!(message.contains("has at most 1048576 bytes"), "{message}");
    }
}

#[test]
fn a_megabyte_of_one_thing() {
    let wrong = |text: String| {
        let answer = answer(&text);
        assert!(matches!(answer, Answer::Wrong(_)), "{answer:?}");
    };
    const LENGTH: usize = 1 << 20;
    wrong(" ".repeat(LENGTH));
    wrong("/".repeat(LENGTH));
    wrong(format!("/*{}", "*".repeat(LENGTH - 2)));
    wrong("\"".repeat(LENGTH - 1));
    wrong("\\".repeat(LENGTH));
    wrong("\n".repeat(LENGTH));
    wrong("\u{feff}".repeat(LENGTH / 3));
    wrong("1".repeat(LENGTH) + "");
    wrong(format!("x > {}", "9".repeat(LENGTH - 4)));
    wrong(format!(
        "property p {{ var x: {} ltl: x }}",
        "t".repeat(LENGTH - 40)
    ));
    wrong("property ".repeat(LENGTH / 9));
    // One very long name is a name.
    assert_eq!(answer("p".repeat(LENGTH)).states(), 3);
    assert_eq!(
        answer(format!("\"{}\"", "\\n".repeat(LENGTH / 2 - 1))).states(),
        3
    );
}

/// A comment that begins `/*/` is not closed yet; a guard that thinks so can be led past the brackets.
#[test]
fn brackets_behind_a_comment_that_looks_closed() {
    let deep = format!("{}a{}", "(".repeat(20_000), ")".repeat(20_000));
    let hidden = format!("/*/ \" */ {deep}");
    assert!(
        answer(&hidden)
            .limit()
            .0
            .contains("brackets nest more than")
    );
    let harmless = format!("/*/ {} */ always a", "(".repeat(300));
    assert_eq!(answer(&harmless).states(), 2);
}
