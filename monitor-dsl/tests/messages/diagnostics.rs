//! What a user is told about a text that is wrong, or suspicious: message, place and suggestion, as they are shown.
//!
//! One snapshot holds the answers to one kind of mistake. Every input must be refused (or warned of), and every message must
//! name a place in the text.

use portent_monitor_dsl::{Config, Property};
use std::fmt::Write;

/// The error for a text: a file if it has properties, else a bare formula.
fn refusal(config: &Config, text: &str) -> String {
    let properties = if text.contains("property ") {
        Property::parse_file("spec.portent", text)
    } else {
        Property::parse(text).map(|property| vec![property])
    };
    let monitors = properties.and_then(|properties| {
        let monitors = properties.iter().map(|property| config.monitor(property));
        monitors.collect::<Result<Vec<_>, _>>()
    });
    let error = match monitors {
        Ok(_) => panic!("nothing is wrong with\n{text}"),
        Err(error) => error,
    };
    let diagnostic = error.diagnostic().expect("a place in the text");
    assert!(diagnostic.line() >= 1 && diagnostic.column() >= 1);
    error.to_string()
}

/// The snapshot of the errors for some texts.
fn check(name: &str, texts: &[&str]) {
    let mut shown = String::new();
    for text in texts {
        let short: String = text.chars().take(300).collect();
        let answer = refusal(&Config::new(), text);
        writeln!(shown, "▶ {short}\n\n{answer}\n\n").expect("writing to a string does not fail");
    }
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!(name, shown.trim_end());
    });
}

#[test]
fn unknown_names() {
    check(
        "unknown_names",
        &[
            "property file(f) { event open(f), close(f)  ltl: always (close -> once opne) }",
            "property file(f) { event open(f), close(f)  ere: (open read* close)* }",
            "property tank { var level: int = 0  let high = level > 5  ltl: always !hihg }",
            "property tank { var level: int = 0  ltl: always levle > 5 }",
            "property file(f) { event open(f)  ltl: always f }",
            "property file(f) { event open(g)  ltl: always open }",
            "property file(name) { event open(nmae)  ltl: always open }",
            "property file { event open(f)  ltl: always open }",
            "property file(f) { event open(f)  ltl: always (open -> f == 3) }",
            "property p { event open, close  pattern: absence of opn after close }",
            "property p { event open  never: .* {opem} }",
        ],
    );
}

#[test]
fn types() {
    check(
        "types",
        &[
            "always (w > \"x\" && w > 3)",
            "property p { var w: int = 0  ltl: always w > \"x\" }",
            "property p { var on: bool = true  var n: int = 0  ltl: always on + n > 3 }",
            "property p { var s: string = \"a\"  ltl: always s < \"b\" }",
            "property p { var on: bool = true  ltl: always on > false }",
            "property p { var n: int = 0  ltl: always n }",
            "property p { var s: string = \"\"  ltl: always s }",
            "property p { var n: int = 0  event e  ltl: always n == e }",
            "always (x + 1)",
            "always 7",
            "property p { var x: integer = 0  ltl: x > 0 }",
            "property p { var x: u64 = 0  ltl: x > 0 }",
            "property p { var x: colour = 0  ltl: x > 0 }",
            "property p { var x: int = 2.5  ltl: x > 0 }",
            "property p { var x: bool = 1  ltl: x }",
            "property p { var x: string = true  ltl: x == \"a\" }",
            "open && open > 3",
            "always (x > 99999999999999999999)",
            "property p { var x: int = 9223372036854775808  ltl: x > 0 }",
            "property p { var x: float = 1e999  ltl: x > 0 }",
        ],
    );
}

#[test]
fn declarations() {
    check(
        "declarations",
        &[
            "property p {\n    var x: int = 0\n    var x: int = 1\n    ltl: x > 0\n}",
            "property p {\n    event open\n    let open = true\n    ltl: open\n}",
            "property p(f, f) { event open(f)  ltl: open }",
            "property p {\n    event open\n    var open: bool = true\n    ltl: open\n}",
            "property p { event open  ltl: open }\nproperty q { event open  ltl: open }\nproperty p { event shut  ltl: shut }",
            "property p(f, g) { event open(f)  ltl: open }",
            "property p { let a = a  ltl: a }",
            "property p {\n    var x: int = 0\n    let a = b\n    let b = x > 0\n    ltl: a\n}",
            "property p { event e  let a = eventually e  ltl: a }",
            "property p { event true  ltl: true }",
            "property p { event e  let a =  ltl: a }",
            "property p { var x  ltl: x > 0 }",
            "property p { var x: int == 0  ltl: x > 0 }",
            "property p { event open close  ltl: open }",
            "property p { evnt open  ltl: open }",
            "property p { event open;  ltl: open }",
            "property { event open  ltl: open }",
            "property p() { event open  ltl: open }",
            "proprty p { event open  ltl: open }",
        ],
    );
}

#[test]
fn operations() {
    check(
        "operations",
        &[
            "property p(t) { event take by u on lock  ltl: always !take }",
            "property p { event take by t on lock  ltl: always !take }",
            "property p(t) { event take on lok  event x by t  ltl: always !take }",
            "property p { event take on acquire  ltl: always !take }",
            "property p(l) { event e on event(l)  ltl: always !e }",
            "property p { event e on event(\"login\")  ltl: always !e }",
            "property p(l) { event take on lock(m)  ltl: always !take }",
            "property p(l, t) { event take(l) by t on lock  ltl: always !take }",
            "property p(l, t) { event take(t) on lock(l)  ltl: always !take }",
            "property p(l) { event take on lock()  ltl: always !take }",
            "property p(l) { event take on lock(l, l)  ltl: always !take }",
            "property p(t, l) { event take on lock(l) by t  ltl: always !take }",
            "property p(l) { event take(l) matches \"(?<l>.)\" on lock(l)  ltl: always !take }",
            "property p(l) { event take(l) on lock(l) matches \"(?<l>.)\"  ltl: always !take }",
            "property p(t) { event take by  ltl: always !take }",
            "property p { event take on  ltl: always !take }",
            "property p { event take on \"lock\"  ltl: always !take }",
            "property p(t, u) { event take by t on lock  ltl: always !take }",
        ],
    );
}

#[test]
fn inequalities() {
    check(
        "inequalities",
        &[
            "property p(t, u) where t == u { event a by t, b by u  ltl: always (b -> once a) }",
            "property p(t, u) where t = u { event a by t, b by u  ltl: always (b -> once a) }",
            "property p(t, u) where t < u { event a by t, b by u  ltl: always (b -> once a) }",
            "property p(t, u) where t != v { event a by t, b by u  ltl: always (b -> once a) }",
            "property p(t, u) where t != t { event a by t, b by u  ltl: always (b -> once a) }",
            "property p where t != u { event a, b  ltl: always (b -> once a) }",
            "property p(t, u) where { event a by t, b by u  ltl: always (b -> once a) }",
            "property p(t, u) where t != \"main\" { event a by t, b by u  ltl: always (b -> once a) }",
            "property p(t, u) where t != 3 { event a by t, b by u  ltl: always (b -> once a) }",
            "property p(t, u) where t != u && u != t { event a by t, b by u  ltl: always (b -> once a) }",
            "property p(t, u) wher t != u { event a by t, b by u  ltl: always (b -> once a) }",
        ],
    );
}

#[test]
fn bodies() {
    check(
        "bodies",
        &[
            "property p { event open }",
            "property p { }",
            "property p { event open  ltl: }",
            "property p {\n    event open\n    ltl: open\n    ere: open\n}",
            "property p {\n    event open\n    ltl: open\n    event close\n}",
            "property p { event open  open* }",
            "property p { event open  ltl open }",
            "property p { event open  ctl: open }",
            "property p\n  ltl: always open\n}",
            "property p ltl: always open",
            "property p(f)\n  event open(f)\n  ltl: always open",
            "property p { event open  ltl: open } garbage",
            "property p { event open  ltl: open }\nalways open",
        ],
    );
}

#[test]
fn formulas() {
    check(
        "formulas",
        &[
            "",
            "   \n\t",
            "// only a comment",
            "/* never closed",
            "always (x = 3)",
            "0 < x < 10",
            "always (p -> q",
            "always p -> q)",
            "[p, q]",
            "[p, q",
            "start(p",
            "always (p && [q)",
            "s == \"open",
            "alwyas p",
            "nxt p",
            "globally p",
            "always (globally p)",
            "previously p -> q",
            "request leads_to answer",
            "login before logout",
            "absence of failure",
            "nevr: p q",
            "finally p",
            "henceforth p",
            "q -> past p",
            "p weakuntil q",
            "p unitl q",
            "always p untill q",
            "G p -> Fq r",
            "p q",
            "p &&",
            "&& p",
            "p U",
            "p -> -> q",
            "until",
            "always (F)",
            "p U U q",
            "open(f) -> close",
            "always (open(f, 3) -> eventually close(f))",
            "GFp0 p1",
            "p @ q",
            "p && q;",
            "p – q",
            "x > 3px",
            "p ? q : r",
            "p.q",
            "∀ p",
        ],
    );
}

/// Other tools, mathematics and programming languages have other signs and words.
#[test]
fn signs_and_words_of_other_languages() {
    check(
        "other_languages",
        &[
            "□ p",
            "□(p → ◇q)",
            "p ∧ q",
            "p && ¬q",
            "x ≥ 3",
            "x – 3 > 1",
            "p == “a”",
            "~p",
            "p /\\ q",
            "p \\/ q",
            "a &&& b",
            "a ||| b",
            "G(p --> F q)",
            "p <--> q",
            "x =< 3",
            "x => 3",
            "x === 3",
            "x !== 3",
            "x <> 3",
            "x % 2 == 0",
            "x / 2 > 1",
            "x ** 2 > 3",
            "x > 3.",
            "x > .5",
            "node.load > 3",
            "load[0] > 1",
            "'p' && q",
            "p AND q",
            "NOT p",
            "previous p",
            "weaknext p",
            "if p then q",
            "forall x. p",
            "start p",
            "never a",
            "never (a && b)",
            "always (b -> never a)",
            "ere a b",
            "F[1..3] p",
            "G[<=3] p",
            "ere: ^a b$",
            "ere: [ab]*",
            "ere: !a b",
        ],
    );
}

#[test]
fn counts() {
    check(
        "counts",
        &[
            "F[5:2] p",
            "eventually[5:2] p",
            "G[-1:3] p",
            "X[-1] p",
            "X[99999999999999999999] p",
            "F[0:401] p",
            "X[401] p",
            "X[2:5] p",
            "prev[:5] p",
            "F[3] p",
            "F[2:] p",
            "once[:5] p",
            "F[2:5:7] p",
            "X[n] p",
            "X[2.5] p",
            "X[3 p",
            "next[2 a",
            "always[1:3 (a -> b)",
            "q -> once[2 :3 p",
            "![3] p",
            "X[300] G (p -> X[200] q)",
            "F[0:100] F[0:101] p",
            "p U[2:5] q",
            "property t { event p  never: {X[2] p} }",
        ],
    );
}

#[test]
fn expressions() {
    check(
        "expressions",
        &[
            "ere: ",
            "ere: (open close",
            "ere: open close)*",
            "ere: {open, close",
            "ere: open{3",
            "ere: open{3,2}",
            "ere: open{,3}",
            "ere: open{1000000000}",
            "ere: open{10001,}",
            "ere: *open",
            "ere: open | | close",
            "ere: open |",
            "ere: open -> close",
            "ere: ~",
            "ere: {eventually open}",
            "ere: [a-z]",
            "never: open ^ close",
            "property p { var x: int = 0  ere: x > 3 }",
            "property p { var x: int = 0  ere: x }",
            "property p(f) { event open(f), close(f)  ere: open(f) close(f) }",
        ],
    );
}

#[test]
fn patterns() {
    check(
        "patterns",
        &[
            "pattern: ",
            "pattern: absence p",
            "pattern: absense of p",
            "pattern: p responds q",
            "pattern: absence of p between q",
            "pattern: absence of p between q until r",
            "pattern: absence of p inside q",
            "pattern: absence of p after q before r",
            "pattern: absence of x > 3",
            "pattern: absence of (eventually p)",
            "pattern: p",
            "pattern: p follows q",
        ],
    );
}

#[test]
fn regular_expressions_of_log_text() {
    check(
        "regular_expressions",
        &[
            "property p { event e matches \"a(b\"  ltl: e }",
            "property p { event e matches \"[z-a]\"  ltl: e }",
            "property p(k) { event put(k) matches \"put (?<key>.*)\"  ltl: put }",
            "property p { var load: int = 0 matches \"load is ([0-9]+)\"  ltl: load > 3 }",
            "property p { event e matches \"a\\\"b(\"  ltl: e }",
            "property p { event e matches  ltl: e }",
            "property p { event e matches e  ltl: e }",
        ],
    );
}

#[test]
fn bytes_that_are_no_text() {
    let text = b"property p {\n    event na\xefve\n    ltl: open\n}";
    let error = Property::parse_file("spec.portent", text).unwrap_err();
    let diagnostic = error.diagnostic().expect("a place in the text");
    assert_eq!((diagnostic.line(), diagnostic.column()), (2, 13));
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("not_utf8", error);
    });
}

#[test]
fn limits() {
    let deep = format!("always {}p{}", "(".repeat(201), ")".repeat(201));
    let nots = format!("{}p", "!".repeat(401));
    let long = "p && ".repeat(300_000) + "p";
    let many: Vec<String> = (0..21).map(|index| format!("p{index}")).collect();
    let product: Vec<String> = (0..12)
        .map(|index| format!("(x{index} + y{index})"))
        .collect();
    let doubling: Vec<String> = (1..40)
        .map(|index| format!("    let d{index} = d{0} xor !d{0}\n", index - 1))
        .collect();
    check(
        "limits",
        &[
            "ere: c (a|b)* a (a|b){14} c",
            "eventually r && always (p -> X X X X X X X X X X X X X X q)",
            "always (x * 9223372036854775807 * 9223372036854775807 * 9223372036854775807 > 0)",
            &format!("always ({} > 0)", product.join(" * ")),
            &format!("always ({})", many.join(" || ")),
            &format!(
                "property p {{\n    var x: int = 0\n    let d0 = x > 0\n{}    ltl: d39\n}}",
                doubling.concat()
            ),
            &deep,
            &nots,
            &long,
        ],
    );
    let small = Config::new().max_states(10);
    let shown = refusal(
        &small,
        "property p {\n    event a, b, c\n    ere: (a b c)* | a{20} | b*\n}",
    );
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("limit_of_states", shown);
    });
}

#[test]
fn two_properties_where_one_is_expected() {
    let error = Property::parse("property p { event e ltl: e }\nproperty q { event e ltl: e }")
        .unwrap_err();
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("several_properties", error);
    });
}

#[test]
fn warnings() {
    let text = "\
property file(f) {
    event open(f), read(f), close(f)
    var size: int = 0
    var owner: string = \"nobody\"
    let large = size > 100
    let small = !large
    ltl: always (close -> once open)
}
property fine { event open  ltl: open }
";
    let properties =
        Property::parse_file("spec.portent", text).unwrap_or_else(|error| panic!("{error}"));
    assert!(properties[1].warnings().is_empty());
    let shown: Vec<String> = properties[0]
        .warnings()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(shown.len(), 5);
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("warnings", shown.join("\n\n"));
    });
}

/// A bare formula may have any names; some are probably no names.
#[test]
fn names_that_were_meant_for_something_else() {
    let warnings = |text: &str| -> Vec<String> {
        let property = Property::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let warnings = property.warnings().iter();
        warnings.map(|warning| warning.to_string()).collect()
    };
    for (text, meant) in [
        ("GFp0 && GFp0", "write `G F p0`, or `\"GFp0\"`"),
        ("always (p -> Fq)", "write `F q`, or"),
        ("p until XXready", "write `X X ready`, or"),
        ("TRUE && p", "write `true` for the constant, or"),
        ("p -> False", "write `false` for the constant, or"),
    ] {
        let found = warnings(text);
        assert!(
            found.len() == 1 && found[0].contains(meant),
            "{text}: {found:?}"
        );
    }
    for text in [
        "always (Get -> eventually Found)",
        "GET -> F X1",
        "\"GFp\"",
        "property p { event Fq  ltl: always Fq }",
    ] {
        assert_eq!(warnings(text), Vec::<String>::new(), "{text}");
    }
}

/// An error is shown with its file, in colour only if asked.
#[test]
fn rendering() {
    let error = Property::parse_file("spec.portent", "property p { ltl: }").unwrap_err();
    let diagnostic = error.diagnostic().expect("a place in the text");
    assert_eq!(diagnostic.file(), Some("spec.portent"));
    assert!(diagnostic.render(true).contains("\u{1b}["));
    assert!(!diagnostic.render(false).contains('\u{1b}'));
    assert!(diagnostic.render(false).contains("spec.portent:1:19"));
    assert_eq!(diagnostic.to_string(), diagnostic.render(false));
}

#[test]
fn what_ends_a_declaration_or_a_body() {
    check(
        "endings",
        &[
            "property t { event p let x: int = 3 ltl: p }",
            "property t { event p let y == 3 ltl: p }",
            "property t { event p, r pattern: absence of p before r s }",
            "property t { event p ere: p* ltl: G p }",
            "property t { event p pattern: absence of p ltl: G p }",
        ],
    );
}

#[test]
fn a_mark_at_the_start_of_a_text_is_not_part_of_it() {
    let formula = portent_monitor_dsl::Property::parse("\u{feff}always p").unwrap();
    assert_eq!(formula.name(), "always p");
    let file = "\u{feff}property p { ltl: always q }";
    assert_eq!(
        portent_monitor_dsl::Property::parse_file("p", file)
            .unwrap()
            .len(),
        1
    );
    let error = portent_monitor_dsl::Property::parse_file("p", "\u{feff}nothing").unwrap_err();
    assert!(error.to_string().contains("p:1:1"), "{error}");
}
