//! Formulas and families whose monitors are small but hard to find.

use portent_monitor_dsl::{Config, Property, Verdicts};

/// The states of a formula over boolean variables, with 4 and with 3 verdicts.
fn sizes(names: &[String], formula: &str) -> [usize; 2] {
    let declared: Vec<String> = names
        .iter()
        .map(|name| format!("var {name}: bool = false"))
        .collect();
    sizes_of(&declared.join(" "), formula)
}

/// The same over events, of which no two happen at once.
fn sizes_of_events(names: &[String], formula: &str) -> [usize; 2] {
    sizes_of(&format!("event {}", names.join(", ")), formula)
}

fn sizes_of(declared: &str, formula: &str) -> [usize; 2] {
    let text = format!("property hard {{ {declared} ltl: {formula} }}");
    let property = Property::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    [Verdicts::Four, Verdicts::Three].map(|verdicts| {
        let monitor = Config::new().verdicts(verdicts).monitor(&property);
        monitor
            .unwrap_or_else(|error| panic!("{text}\n{error}"))
            .states()
    })
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|index| format!("{prefix}{index}")).collect()
}

/// All indices up to `count`, each with what `part` says, joined by "and".
fn all(count: usize, part: impl Fn(usize) -> String) -> String {
    let parts: Vec<String> = (0..count).map(part).collect();
    parts.join(" && ")
}

/// Formulas on which progression without profiles, or a tableau of cubes, grew beyond all bounds.
#[test]
fn fifteen_formulas() {
    let expected = [
        (
            [13, 1],
            "!F ((true U p2) xor G ((X p4 M p3) U (p1 W X F G X !p4)))",
        ),
        (
            [1, 1],
            "!G ((p1 W (true U !p1)) <-> F !F G (F X X p1 W X (!p2 R p4)))",
        ),
        (
            [2, 1],
            "F (false R F ((p3 U (G p4 <-> F (p4 <-> G p1))) W !(p0 xor F !p0)))",
        ),
        (
            [7, 1],
            "F (X F (p1 R F p4) xor X (p3 R !F G (F p1 <-> (X p2 -> (p2 W p4)))))",
        ),
        (
            [9, 1],
            "F p1 W (!(X !X p4 | (F X !(p0 | p4) W false)) xor G F G (p1 M true))",
        ),
        (
            [2, 1],
            "G !(F (G !(X !p1 R !p1) U (false R X ((X p2 <-> !X !p1) -> p0))) <-> F p1)",
        ),
        (
            [6, 6],
            "X ((p0 <-> (!G (F !(p2 xor F X p2) W (p0 W (p0 & G p0))) W !p2)) W (X p0 M p0))",
        ),
        (
            [2, 1],
            "G (((G F !p0 M F p2) U (G p2 xor G p4)) R G F X G p2) R (X p0 R G F (X p0 R p1))",
        ),
        (
            [1, 1],
            "!(F ((p3 -> p4) R G (p3 -> F !X p2)) xor G X X X (F p2 xor (p2 W F (p0 M G p4))))",
        ),
        (
            [2, 1],
            "F G (!(p2 | F p3) -> X (p3 <-> ((p0 <-> G p1) M (X !p0 W ((p1 R G p0) -> X p3)))))",
        ),
        (
            [29, 21],
            "F ((p1 -> p4) xor (X p2 U (G (!(!X !p0 M G p4) U G p0) -> (F p4 <-> X p1)))) <-> F p2",
        ),
        (
            [3, 1],
            "F X (F !F (X X (p2 xor G p0) U p4) & (p2 R (p4 W p2))) -> G (F !p2 U (X p0 <-> F p2))",
        ),
        (
            [4, 1],
            "(p3 <-> (p0 R X p0)) U F ((F p1 W G ((p3 R p2) W p4)) R (G F (F !p1 R G p4) xor F p2))",
        ),
        (
            [6, 6],
            "F (p2 M (G (!((p0 <-> p2) W p4) M (((p0 U !p4) M p0) <-> G p2)) <-> ((G p4 | !F p2) U p4)))",
        ),
        (
            [5, 4],
            "G (G (X p0 M p4) U (p4 xor ((F (F p2 -> X p4) W X (F p1 R (p0 U (G p0 -> F p4)))) M F p0)))",
        ),
    ];
    for (states, formula) in expected {
        assert_eq!(sizes(&names("p", 5), formula), states, "{formula}");
    }
}

#[test]
fn untils_nested_to_the_right() {
    for count in [2, 8, 16, 20] {
        let names = names("x", count);
        assert_eq!(sizes(&names, &names.join(" U ")), [count + 1; 2]);
    }
}

/// These have 2ⁿ⁻¹ + 1 states, however they are made.
#[test]
fn untils_nested_to_the_left() {
    for count in [2, 4, 8, 11] {
        let names = names("x", count);
        let formula = names[1..].iter().fold(names[0].clone(), |inner, name| {
            format!("({inner}) U {name}")
        });
        assert_eq!(sizes(&names, &formula), [(1 << (count - 1)) + 1; 2]);
    }
}

#[test]
fn sinces_under_always() {
    for count in [2, 8, 16, 20] {
        let names = names("x", count);
        let formula = format!("G ({})", names.join(" S "));
        assert_eq!(sizes(&names, &formula), [count + 1; 2]);
    }
}

#[test]
fn a_ring_of_responses() {
    for count in [2, 6, 12, 18, 20] {
        let formula = all(count, |index| {
            format!("G (x{index} -> F x{})", (index + 1) % count)
        });
        assert_eq!(sizes(&names("x", count), &formula), [2, 1]);
    }
}

/// The family `gh-r` of Geldenhuys and Hansen.
#[test]
fn recurrence_or_persistence() {
    for count in [2, 6, 10] {
        let formula = all(count, |index| {
            format!("(G F x{index} | F G x{})", index + 1)
        });
        assert_eq!(sizes(&names("x", count + 1), &formula), [2, 1]);
    }
}

/// The same where every letter is one of the events.
#[test]
fn recurrence_or_persistence_of_events() {
    for count in [2, 4, 10, 19] {
        let formula = all(count, |index| {
            format!("(G F x{index} | F G x{})", index + 1)
        });
        assert_eq!(sizes_of_events(&names("x", count + 1), &formula), [2, 1]);
    }
}

#[test]
fn a_ring_of_events() {
    for count in [2, 4, 10, 20] {
        let formula = all(count, |index| {
            format!("G (x{index} -> F x{})", (index + 1) % count)
        });
        assert_eq!(sizes_of_events(&names("x", count), &formula), [2, 1]);
    }
}

/// The family `sejk-f` of Sickert, Esparza, Jaax and Křetínský.
#[test]
fn recurrence_until_recurrence() {
    for (depth, nexts) in [(2, 2), (3, 3), (4, 4), (5, 5)] {
        let innermost = format!("(G F a0) U ({}b)", "X ".repeat(nexts));
        let formula = (1..=depth).fold(innermost, |inner, index| {
            format!("(G F a{index}) U (G ({inner}))")
        });
        let mut names = names("a", depth + 1);
        names.push("b".to_owned());
        assert_eq!(sizes(&names, &formula), [1, 1]);
    }
}
