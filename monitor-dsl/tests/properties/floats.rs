//! Floating-point numbers compare as IEEE 754 says: every comparison with not-a-number is false but `!=`, however it came
//! about, and no letter exists for values that cannot.

use portent_monitor_dsl::{Monitor, Property, Value, Verdict};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn monitor(text: &str) -> Monitor {
    Property::parse(text)
        .and_then(|property| property.monitor())
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// Whether a condition over the floats `f` and `g` holds at their initial values, and again after a write of them.
fn holds(condition: &str, f: f64, g: f64) -> bool {
    let text = format!(
        "property p {{ var f: float = 0 var g: float = 0 var used: bool = true
         ltl: next ({condition}) && used && f * 0.0 + g * 0.0 != 1.0 }}"
    );
    let monitor = monitor(&text);
    let values = [("f", f), ("g", g)].map(|(name, value)| {
        let variable = monitor.alphabet().variable(name).expect("it is mentioned");
        (variable, Value::Float(value))
    });
    let mut run = monitor.start().expect("initial values");
    let after_write = run.step(None, values.clone()).expect("floats");
    let mut run = monitor
        .start_with(|name| match name {
            "f" => Some(f.into()),
            "g" => Some(g.into()),
            _ => None,
        })
        .expect("initial values");
    let unwritten = run.step(None, []).expect("nothing to go wrong");
    assert_eq!(after_write, unwritten, "{condition} at {f:?}, {g:?}");
    match after_write {
        Verdict::Satisfied => true,
        Verdict::Violated => false,
        open => panic!("{condition} is {open} at {f:?}, {g:?}"),
    }
}

const SIGNS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

fn compare(sign: &str, left: f64, right: f64) -> bool {
    match sign {
        "==" => left == right,
        "!=" => left != right,
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        _ => left >= right,
    }
}

#[test]
fn nan_compares_with_constants_as_different_only() {
    for sign in SIGNS {
        assert_eq!(
            holds(&format!("f {sign} 3.0"), NAN, 0.0),
            sign == "!=",
            "{sign}"
        );
        assert_eq!(
            holds(&format!("3.0 {sign} f"), NAN, 0.0),
            sign == "!=",
            "{sign}"
        );
        assert_eq!(
            holds(&format!("!(f {sign} 3.0)"), NAN, 0.0),
            sign != "!=",
            "{sign}"
        );
    }
}

#[test]
fn nan_compares_with_variables_as_different_only() {
    for sign in SIGNS {
        for (f, g) in [(NAN, 1.0), (1.0, NAN), (NAN, NAN), (NAN, INF)] {
            assert_eq!(
                holds(&format!("f {sign} g"), f, g),
                sign == "!=",
                "{f} {sign} {g}"
            );
        }
    }
    assert!(holds("f != f", NAN, 0.0) && !holds("f != f", INF, 0.0));
    assert!(!holds("f == f", NAN, 0.0) && holds("f == f", INF, 0.0));
}

#[test]
fn several_conditions_on_one_quantity_with_nan() {
    // With two points there are five places for numbers, and one for what is none.
    let conditions = ["f < 1.0", "f == 1.0", "f > 1.0", "f <= 2.0", "f >= 2.0"];
    for f in [NAN, -INF, 0.0, 1.0, 1.5, 2.0, 3.0, INF] {
        let expected = [f < 1.0, f == 1.0, f > 1.0, f <= 2.0, f >= 2.0];
        let signed = conditions.iter().zip(expected);
        let all: Vec<String> = signed
            .map(|(condition, holds)| format!("({condition}) == {holds}"))
            .collect();
        assert!(holds(&all.join(" && "), f, 0.0), "{f}");
    }
}

#[test]
fn arithmetic_that_leaves_the_finite_numbers() {
    // 1e308 squared is infinite, and infinity less infinity is no number.
    for sign in SIGNS {
        let condition = format!("f * f - g * g {sign} 0.0");
        assert_eq!(holds(&condition, 1e308, 1e308), sign == "!=", "{sign}");
        assert_eq!(
            holds(&condition, 1e308, 1.0),
            compare(sign, INF, 0.0),
            "{sign}"
        );
        assert_eq!(
            holds(&condition, 1.0, -1e308),
            compare(sign, -INF, 0.0),
            "{sign}"
        );
        // Zero times infinity is no number either.
        assert_eq!(
            holds(&format!("f * g {sign} 0.0"), 0.0, INF),
            sign == "!=",
            "{sign}"
        );
        // Expressions against expressions.
        let squares = format!("f * f - g * g {sign} f - f");
        assert_eq!(holds(&squares, 1e308, 1e308), sign == "!=", "{sign}");
    }
}

#[test]
fn infinities_are_the_extremes() {
    for (sign, value) in SIGNS
        .iter()
        .flat_map(|sign| [INF, -INF].map(|value| (sign, value)))
    {
        for (text, constant) in [
            ("1e308", 1e308),
            ("1e308 * 10.0", INF),
            ("-1e308 * 10.0", -INF),
        ] {
            let holds = holds(&format!("f {sign} {text}"), value, 0.0);
            assert_eq!(
                holds,
                compare(sign, value, constant),
                "{value} {sign} {text}"
            );
        }
    }
}

#[test]
fn both_zeros_are_one_number() {
    for (f, g) in [(0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0)] {
        assert!(holds(
            "f == 0.0 && f == -0.0 && g >= 0.0 && g <= -0.0",
            f,
            g
        ));
        assert!(holds("f == g && !(f < g) && !(f > g)", f, g));
    }
}

#[test]
fn a_constant_that_is_no_number() {
    let nan = "(1e308 * 10.0 - 1e308 * 10.0)";
    for sign in SIGNS {
        for value in [NAN, INF, 0.0] {
            assert_eq!(
                holds(&format!("f {sign} {nan}"), value, 0.0),
                sign == "!=",
                "{sign}"
            );
        }
        // A constant comparison decides the property, whatever the variables are.
        let text = format!("property p {{ var n: int = 0 ltl: always (n {sign} {nan}) }}");
        assert_eq!(monitor(&text).states(), 1, "{sign}");
        let expected = if sign == "!=" {
            Verdict::Satisfied
        } else {
            Verdict::Violated
        };
        let monitor = monitor(&text);
        assert_eq!(monitor.verdict(monitor.initial()), expected, "{sign}");
    }
}

/// How many letters a property has that compares in these ways.
fn letters(declarations: &str, condition: &str) -> usize {
    let text = format!("property p {{ {declarations} ltl: always ({condition}) }}");
    monitor(&text).alphabet().letters().count()
}

#[test]
fn letters_exist_for_values_that_do() {
    let float = "var f: float = 0";
    assert_eq!(
        letters(float, "f < 3.0 -> f < 5.0"),
        3,
        "below 3, below 5, neither"
    );
    assert_eq!(
        letters(float, "f < 3.0 -> f >= 3.0"),
        3,
        "a number below or not, or no number"
    );
    assert_eq!(letters(float, "f < f || f == f"), 2, "a number or none");
    assert_eq!(
        letters(float, "f < 1e308 * 10.0 -> f > 1e308 * 10.0"),
        2,
        "nothing is beyond infinity"
    );
    assert_eq!(
        letters("var s: string = \"\"", "s == s"),
        1,
        "a string is itself"
    );
    // An integer is always a number, and so is what stays in the range of floats.
    let int = "var n: int = 0";
    assert_eq!(letters(int, "n + 2.5 < 3.0 -> n + 2.5 >= 3.0"), 2);
    assert_eq!(letters(int, "n * 2.5 < n + 1.5 -> n * 2.5 >= n + 1.5"), 2);
    assert_eq!(letters(int, "n + 2.5 < 1e300"), 1);
    let overflowing = "n * 1e300 - n * 1e300";
    assert_eq!(
        letters(int, &format!("{overflowing} < 3.0 -> {overflowing} >= 3.0")),
        3
    );
}

#[test]
fn integers_compare_exactly_with_floating_point_constants() {
    let verdict = |condition: &str, n: i64| {
        let text = format!("property p {{ var n: int = 0 ltl: {condition} && n * 0 == 0 }}");
        let monitor = monitor(&text);
        let run = monitor.start_with(|_| Some(n.into())).expect("a value");
        run.verdict() == Verdict::Satisfied
    };
    // The nearest float to the largest integer is one more than it.
    assert!(verdict("n < 9223372036854775808.0", i64::MAX));
    assert!(!verdict("n == 9223372036854775808.0", i64::MAX));
    assert!(verdict("n == -9223372036854775808.0", i64::MIN));
    assert!(verdict("n >= 1.5e18", 1_500_000_000_000_000_000));
    assert!(!verdict("n >= 1.5e18", 1_499_999_999_999_999_999));
    assert!(verdict(
        "n < 1e300 && n > -1e300 && n != 1e300 && !(n >= 1e300)",
        i64::MAX
    ));
}
