//! What a step and a synthesis cost.
//!
//! Stepping is measured as a ratio to a hand-written `match` state machine for the same property,
//! over the same input, in the same run. Synthesis is measured against what Spot 2.x needs for the
//! same formulas on a comparable core (70 ms for the 55 Dwyer patterns, 70 ms for twelve nexts).
//!
//! Measured on two cores of an AMD EPYC, everything in one run:
//!
//! | | by hand | monitor | ratio |
//! |---|---|---|---|
//! | a step, events | 1.98 ns | 2.14 ns | 1.08 |
//! | a step, integers | 5.85 ns | 2.84 ns | 0.49 |
//!
//! | synthesis | |
//! |---|---|
//! | 55 Dwyer patterns | 2.8 ms |
//! | twelve nexts, 4,097 states | 8.2 ms |
//! | an `a` thirteen from the end, 8,192 states | 16.2 ms |
//!
//! Run with `cargo bench --bench monitor`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use portent::{Property, Verdict};
use std::hint::black_box;

/// Long enough that the branch predictor cannot learn a whole run by heart: with ten thousand steps it
/// does, and then measures its memory instead of the machines.
const STEPS: usize = 200_000;

/// A small generator, so that the inputs are the same in every run.
fn numbers() -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}

/// `ere: (open read* close)*`, by hand.
struct FileByHand(u8);

impl FileByHand {
    #[inline]
    fn step(&mut self, event: u8) -> Verdict {
        self.0 = match (self.0, event) {
            (0, 0) => 1,
            (1, 1) => 1,
            (1, 2) => 0,
            _ => 2,
        };
        match self.0 {
            0 => Verdict::Ok,
            1 => Verdict::Pending,
            _ => Verdict::Violated,
        }
    }
}

fn step_events(criterion: &mut Criterion) {
    let monitor = Property::parse("ere: (open read* close)*")
        .unwrap()
        .monitor()
        .unwrap();
    let ids = ["open", "read", "close"].map(|name| monitor.alphabet().event(name).unwrap());
    // A legal run: the machine keeps moving instead of resting in a final state.
    let mut open = false;
    let run: Vec<u8> = numbers()
        .take(STEPS)
        .map(|number| match (open, number % 4) {
            (false, _) => {
                open = true;
                0
            }
            (true, 0) => {
                open = false;
                2
            }
            (true, _) => 1,
        })
        .collect();
    let events: Vec<_> = run.iter().map(|&event| ids[usize::from(event)]).collect();

    let mut group = criterion.benchmark_group("step: events");
    group.throughput(Throughput::Elements(STEPS as u64));
    group.bench_function("by hand", |bencher| {
        bencher.iter(|| {
            let mut machine = FileByHand(0);
            for &event in &run {
                black_box(black_box(&mut machine).step(event));
            }
        });
    });
    group.bench_function("monitor", |bencher| {
        bencher.iter(|| {
            let mut stepper = monitor.start().unwrap();
            for &event in &events {
                black_box(black_box(&mut stepper).event(event));
            }
        });
    });
    group.finish();
}

/// The reservoir property, by hand.
struct ReservoirByHand {
    w: i64,
    v: i64,
    state: u8,
}

impl ReservoirByHand {
    #[inline]
    fn write(&mut self, variable: u8, value: i64) -> Verdict {
        match variable {
            0 => self.w = value,
            _ => self.v = value,
        }
        let (p, q, r) = (self.w > 26, self.w > 30, self.v > 55);
        self.state = match self.state {
            0 if p => 1,
            0 => 0,
            1 | 2 if !p => 0,
            1 if r => 1,
            1 if q => 3,
            1 => 2,
            2 if q => 3,
            2 => 2,
            _ => 3,
        };
        if self.state == 3 {
            Verdict::Violated
        } else {
            Verdict::Ok
        }
    }
}

fn step_integers(criterion: &mut Criterion) {
    let text = "property reservoir {
        var w: int = 20  var v: int = 40
        let p = w > 26  let q = w > 30  let r = v > 55
        ltl: always (q -> ((r && p) since start(p)))
    }";
    let monitor = Property::parse(text).unwrap().monitor().unwrap();
    let ids = ["w", "v"].map(|name| monitor.alphabet().variable(name).unwrap());
    // Never violated: w stays below 31, so that the machine keeps moving.
    let run: Vec<(u8, i64)> = numbers()
        .take(STEPS)
        .map(|number| match number % 2 {
            0 => (0, 20 + (number >> 8) as i64 % 11),
            _ => (1, 50 + (number >> 8) as i64 % 11),
        })
        .collect();
    let writes: Vec<_> = run
        .iter()
        .map(|&(variable, value)| (ids[usize::from(variable)], value))
        .collect();

    let mut group = criterion.benchmark_group("step: integers");
    group.throughput(Throughput::Elements(STEPS as u64));
    group.bench_function("by hand", |bencher| {
        bencher.iter(|| {
            let mut machine = ReservoirByHand {
                w: 20,
                v: 40,
                state: 0,
            };
            for &(variable, value) in &run {
                black_box(black_box(&mut machine).write(variable, value));
            }
        });
    });
    group.bench_function("monitor", |bencher| {
        bencher.iter(|| {
            let mut stepper = monitor.start().unwrap();
            for &(variable, value) in &writes {
                black_box(black_box(&mut stepper).write(variable, value).is_ok());
            }
        });
    });
    group.finish();
}

/// `p0`, `p1`, ...
fn names(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("p{index}")).collect()
}

/// A property over the boolean variables that a formula mentions.
fn over_flags(formula: &str) -> String {
    let mentioned = |name: &String| {
        let mut words = formula.split(|c: char| !c.is_alphanumeric());
        words.any(|word| word == name)
    };
    let variables: Vec<String> = names(20)
        .iter()
        .filter(|name| mentioned(name))
        .map(|name| format!("var {name}: bool = false"))
        .collect();
    format!(
        "property flags {{ {} ltl: {formula} }}",
        variables.join(" ")
    )
}

/// The formula that tokens in prefix notation begin with.
fn infix<'a>(tokens: &mut impl Iterator<Item = &'a str>) -> String {
    let token = tokens.next().expect("a formula");
    let sign = match token {
        "t" => return "true".to_owned(),
        "f" => return "false".to_owned(),
        "!" | "X" | "F" | "G" => return format!("{token} ({})", infix(tokens)),
        "i" => "->",
        "e" => "<->",
        "^" => "xor",
        "&" | "|" | "U" | "W" | "R" | "M" => token,
        name => return name.to_owned(),
    };
    let left = infix(tokens);
    format!("({left}) {sign} ({})", infix(tokens))
}

fn synthesis(criterion: &mut Criterion) {
    let patterns: Vec<String> = include_str!("../monitor-dsl/tests/data/formulas/dac.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split('\t').nth(6))
        .map(str::to_owned)
        .collect();
    assert_eq!(patterns.len(), 55);
    let mut group = criterion.benchmark_group("synthesis");
    group.sample_size(20);
    group.bench_function("55 Dwyer patterns", |bencher| {
        bencher.iter(|| {
            for pattern in &patterns {
                black_box(Property::parse(pattern).unwrap().monitor().unwrap());
            }
        });
    });
    let nexts = format!("G (p -> {} q)", "X ".repeat(12));
    group.bench_function("twelve nexts", |bencher| {
        bencher.iter(|| Property::parse(&nexts).unwrap().monitor().unwrap().states());
    });
    // One formula in eight of the collection, as text, with their variables.
    let random: Vec<String> = include_str!("../monitor-dsl/tests/data/formulas/random.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .step_by(8)
        .filter_map(|line| line.split('\t').nth(2))
        .map(|formula| over_flags(&infix(&mut formula.split(' '))))
        .collect();
    assert_eq!(random.len(), 260);
    group.bench_function("260 random formulas of 15 to 40 nodes", |bencher| {
        bencher.iter(|| {
            for formula in &random {
                black_box(Property::parse(formula).unwrap().monitor().unwrap());
            }
        });
    });
    let chain = over_flags(&names(20).join(" U "));
    group.bench_function("twenty untils", |bencher| {
        bencher.iter(|| Property::parse(&chain).unwrap().monitor().unwrap().states());
    });
    let responses: Vec<String> = (0..20)
        .map(|index| format!("G (p{index} -> F p{})", (index + 1) % 20))
        .collect();
    let ring = over_flags(&responses.join(" && "));
    group.bench_function("a ring of twenty responses", |bencher| {
        bencher.iter(|| Property::parse(&ring).unwrap().monitor().unwrap().states());
    });
    let positions = "property thirteenth { event a, b  ere: .* a .{12} }";
    group.bench_function("an a thirteen from the end", |bencher| {
        bencher.iter(|| {
            Property::parse(positions)
                .unwrap()
                .monitor()
                .unwrap()
                .states()
        });
    });
    group.finish();
}

criterion_group!(benches, step_events, step_integers, synthesis);
criterion_main!(benches);
