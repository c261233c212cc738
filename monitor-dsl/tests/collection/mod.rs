//! Two thousand random formulas of 15 to 40 nodes, with the sizes of their minimal monitors.
//!
//! `data/formulas/random.tsv` holds them: the states with 3 and with 4 verdicts over five boolean variables, and the
//! formula in LBT's prefix notation. They are drawn as Spot's `randltl` draws, every operator as often as any other, and
//! [`generate`] makes the same ones again. After a change of the generator, `UPDATE_FORMULAS=1` writes the file anew, with
//! the sizes that the crate finds; they are then worth as much as the comparison with the oracle below.
//!
//! `PORTENT_CASES=n` lets the oracle try the first `n` formulas instead of its usual number. The cost of its tableau
//! doubles with every temporal operator, so it decides those only that have few: of all 2,080, it confirms 985.

use crate::oracle::case::{Body, Case};
use crate::oracle::check::{Effort, Outcome, compare};
use crate::oracle::formula::{Binary, Formula, Unary};
use crate::oracle::many;
use crate::oracle::refine::Moore;
use crate::oracle::tableau::Tableau;
use portent_monitor_dsl::{Config, Property, Verdicts};
use portent_testing::Rng;
use std::fmt::Write;
use std::path::Path;

const NAMES: [&str; 5] = ["p0", "p1", "p2", "p3", "p4"];
const SIZES: std::ops::RangeInclusive<usize> = 15..=40;
const OF_EACH_SIZE: usize = 80;

const UNARY: [(Unary, &str); 4] = [
    (Unary::Not, "!"),
    (Unary::Next, "X"),
    (Unary::Eventually, "F"),
    (Unary::Always, "G"),
];
const BINARY: [(Binary, &str); 9] = [
    (Binary::And, "&"),
    (Binary::Or, "|"),
    (Binary::Xor, "^"),
    (Binary::Implies, "i"),
    (Binary::Iff, "e"),
    (Binary::Until, "U"),
    (Binary::WeakUntil, "W"),
    (Binary::Release, "R"),
    (Binary::StrongRelease, "M"),
];

/// The `index`-th formula of the collection.
fn generate(index: usize) -> Formula {
    let size = SIZES.start() + index / OF_EACH_SIZE;
    let mut rng = Rng::new(Rng::new(0x5eed_0000 + index as u64).any());
    formula(&mut rng, size)
}

/// A formula with this many nodes. As `randltl` does: of one node a proposition or a constant, of two a unary operator,
/// of more any operator, its operands sharing the rest at random.
fn formula(rng: &mut Rng, size: usize) -> Formula {
    if size == 1 {
        return match rng.below(NAMES.len() + 2) {
            constant if constant >= NAMES.len() => Formula::Const(constant > NAMES.len()),
            name => Formula::Prop(name),
        };
    }
    let operators = if size == 2 {
        UNARY.len()
    } else {
        UNARY.len() + BINARY.len()
    };
    let operator = rng.below(operators);
    match UNARY.get(operator) {
        Some(&(operator, _)) => Formula::unary(operator, formula(rng, size - 1)),
        None => {
            let left = rng.between(1, size - 2);
            let operands = [left, size - 1 - left].map(|size| formula(rng, size));
            let [left, right] = operands;
            Formula::binary(BINARY[operator - UNARY.len()].0, left, right)
        }
    }
}

/// In LBT's prefix notation, as `ltlfilt --lbt-input` reads it.
fn written(formula: &Formula) -> String {
    match formula {
        Formula::Const(value) => (if *value { "t" } else { "f" }).to_owned(),
        Formula::Prop(name) => NAMES[*name].to_owned(),
        Formula::Unary(operator, a) => {
            let known = UNARY.iter().find(|(known, _)| known == operator);
            format!(
                "{} {}",
                known.expect("an operator of the collection").1,
                written(a)
            )
        }
        Formula::Binary(operator, a, b) => {
            let known = BINARY.iter().find(|(known, _)| known == operator);
            let sign = known.expect("an operator of the collection").1;
            format!("{sign} {} {}", written(a), written(b))
        }
    }
}

fn case(formula: Formula) -> Case {
    Case::of_flags(&NAMES, Body::Ltl(formula))
}

/// The states with 3 and with 4 verdicts.
fn sizes(case: &Case) -> [usize; 2] {
    let text = case.text(None);
    let property = Property::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    [Verdicts::Three, Verdicts::Four].map(|verdicts| {
        let monitor = Config::new().verdicts(verdicts).monitor(&property);
        monitor
            .unwrap_or_else(|error| panic!("{text}\n{error}"))
            .states()
    })
}

struct Row {
    sizes: [usize; 2],
    formula: &'static str,
}

fn rows() -> Vec<Row> {
    let text = include_str!("../data/formulas/random.tsv");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [three, four, formula] = columns[..] else {
            panic!("three columns: {line}");
        };
        let sizes = [three, four].map(|size| size.parse().expect("a number of states"));
        Row { sizes, formula }
    };
    lines.map(row).collect()
}

fn count() -> usize {
    SIZES.count() * OF_EACH_SIZE
}

#[test]
fn all_sizes() {
    if std::env::var_os("UPDATE_FORMULAS").is_some() {
        let mut text = "# states with 3 verdicts, with 4 verdicts, formula (LBT)\n".to_owned();
        for index in 0..count() {
            let formula = generate(index);
            let written = written(&formula);
            let [three, four] = sizes(&case(formula));
            writeln!(text, "{three}\t{four}\t{written}")
                .expect("writing to a string does not fail");
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/formulas/random.tsv");
        std::fs::write(path, text).expect("a file to write");
        return;
    }
    let rows = rows();
    assert_eq!(rows.len(), count());
    for (index, row) in rows.iter().enumerate() {
        let formula = generate(index);
        assert_eq!(written(&formula), row.formula);
        assert_eq!(
            sizes(&case(formula)),
            row.sizes,
            "formula {index}: {}",
            row.formula
        );
    }
}

/// This many atoms of the oracle's tableau are bearable.
const MOST_ATOMS: usize = 1 << 13;

/// The sizes against those of the oracle's own machines, and the machines against each other on their whole product.
#[test]
fn what_the_oracle_can_decide() {
    let tried = many::cases(400).min(count());
    let mut decided = 0;
    // The same share of every size.
    for index in (0..count()).filter(|index| index % OF_EACH_SIZE * count() < tried * OF_EACH_SIZE)
    {
        let formula = generate(index);
        let case = case(formula.clone());
        let letters = case.letters();
        let atoms = letters.len() << formula.temporal_operators().min(30);
        if atoms > MOST_ATOMS {
            continue;
        }
        let tableau = Tableau::new(&formula, &letters);
        let Some(four) = Moore::of_oracle(&tableau, &letters, 5_000, |truth| truth) else {
            continue;
        };
        let three = Moore::of_oracle(&tableau, &letters, 5_000, |truth| {
            truth.is_final().then_some(truth)
        });
        let three = three.expect("as many states as with four verdicts");
        let found = [three.minimal_states(), four.minimal_states()];
        assert_eq!(found, rows()[index].sizes, "{}", case.text(None));
        let effort = Effort {
            words: 100,
            longest: 2,
            three: true,
        };
        let outcome = compare(&case, None, effort);
        assert!(
            matches!(outcome, Outcome::Agrees),
            "{}\n{outcome:?}",
            case.text(None)
        );
        decided += 1;
    }
    println!("the oracle decided {decided} of {tried} formulas");
    assert!(
        decided * 4 > tried,
        "the oracle decided {decided} of {tried} only"
    );
}
