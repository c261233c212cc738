//! The generated Rust code compiles without a warning, and steps exactly like the library: thousands of random steps of
//! properties of all kinds, with all values that are hard to compare.
//!
//! All properties are modules of one program, so that the compiler runs once. The program reads the steps and prints the
//! verdict after each; the library says what they should be. `RUSTC` names another compiler than `rustc`.

use portent_monitor_dsl::{Config, EventId, Monitor, Property, Type, Value, VariableId, Verdicts};
use portent_testing::Rng;
use std::{
    fmt::Write,
    fs,
    process::{Command, Stdio},
};

const RUNS: usize = 40;
const STEPS: usize = 50;

/// Properties, with the number of verdicts they are made for.
const PROPERTIES: [(&str, Verdicts); 21] = [
    ("always (close -> once open)", Verdicts::Four),
    ("ere: (open (read | write)* close)*", Verdicts::Four),
    ("never: .* open .{3} open .*", Verdicts::Four),
    (
        "property reservoir {
            var w: int = 20   var v: int = 40
            let p = w > 26    let q = w > 30    let r = v > 55
            ltl: always (q -> ((r && p) since start(p))) /* */
        }",
        Verdicts::Four,
    ),
    ("always (x == 3 -> next (x != 3 && x < 7))", Verdicts::Three),
    (
        "property between { var x: int = 0 var y: int = 1 ltl: always (x <= y || x - y == 2 || 2 * x + 3 * y == 12 -> once x * y > 6) }",
        Verdicts::Four,
    ),
    (
        "property floats { var f: float = 0.5 var g: float = 2 ltl: eventually (f > 2.5 && prev (f <= -1.0 || f == 0.0 || g + f >= g * 2.0)) }",
        Verdicts::Four,
    ),
    (
        "property numbers { var n: int = 0 var f: float = 0.5 ltl: always (n < f || n >= 2.5 || f != 7 -> next n + f > 1) }",
        Verdicts::Four,
    ),
    (
        "property overflow { var f: float = 0.5 var g: float = 2 ltl: always (f * f - g * g >= 0.0 || f * f - g * g < 0.0 || once !(f < g || f >= g)) }",
        Verdicts::Four,
    ),
    (
        "property nan { var f: float = 0.5 ltl: eventually (!(f < 2.5) && !(f >= 2.5) && next (f == f && next (f != 7 && !(f > 1e308 * 10.0) && next f <= 1e308 * 10.0))) }",
        Verdicts::Four,
    ),
    (
        "property converted { var n: int = 0 var f: float = 0.5 ltl: always (n + 2.5 > 3 || n * 1e300 * f != 0.0 || n < 9223372036854775808.0 -> next (n + f == f || f - n <= 2)) }",
        Verdicts::Three,
    ),
    (
        "property strings { var s: string = \"shut\" var t: string = \"it's \\\"\\\\ {}\" ltl: always (s == \"open\" -> next (s != \"open\" || s == t || t == \"it's \\\"\\\\ {}\")) }",
        Verdicts::Four,
    ),
    (
        "property flags { var a: bool = true var b: bool = false ltl: always ((a xor b) -> next (a == b || next a != b)) }",
        Verdicts::Four,
    ),
    (
        "property mixed(f) {
            event open(f), close(f)
            var n: int = 0  var ok: bool = true  var s: string = \"a\"
            ltl: always (open && ok -> (n < 9 until (close || s == \"b\")))
        }",
        Verdicts::Four,
    ),
    (
        "property steps { event go var n: int = 0 never: {}* {go, n > 3} {!go, n <= 3}+ {go} }",
        Verdicts::Four,
    ),
    (
        "property keywords { event type, match, fn, \"Self\", \"self\" var state: int = 0 var event: bool = false var crate: int = 0 var \"let\": float = 1
            ltl: always (type -> next (match || state > 3 || event || crate == 2 || \"Self\" || \"self\" || let > 0.5)) }",
        Verdicts::Four,
    ),
    (
        "property quoted { event \"a b\", \"a-b\", a_b, \"größe\", \"1st\", \"\\\"\", \"*/\" var \"x y\": int = 0 var \"x-y\": int = 0 var \"Größe\": bool = false
            ltl: always (\"a b\" || \"a-b\" -> eventually (a_b || \"größe\" || \"1st\" || \"\\\"\" || \"*/\" || \"x y\" > \"x-y\" || \"Größe\")) }",
        Verdicts::Four,
    ),
    ("true", Verdicts::Four),
    (
        "property parity { var p0: bool = false var p1: bool = false var p2: bool = false var p3: bool = false var p4: bool = false var p5: bool = false var p6: bool = false var p7: bool = false var p8: bool = false var p9: bool = false var p10: bool = false var p11: bool = false var p12: bool = false var p13: bool = false var p14: bool = false var p15: bool = false
            ltl: always ((p0 xor p1 xor p2 xor p3 xor p4 xor p5 xor p6 xor p7 xor p8 xor p9 xor p10 xor p11 xor p12 xor p13 xor p14 xor p15) -> next (p0 || next !p1)) }",
        Verdicts::Four,
    ),
    (
        // At least three of seven.
        "property threshold { var p0: bool = false var p1: bool = false var p2: bool = false var p3: bool = false var p4: bool = false var p5: bool = false var p6: bool = false
            ltl: eventually (prev (p0 xor p1) && (
                (p0 && (p1 && (p2 && true || (p3 && true || (p4 && true || (p5 && true || (p6 && true || false))))) || (p2 && (p3 && true || (p4 && true || (p5 && true || (p6 && true || false)))) || (p3 && (p4 && true || (p5 && true || (p6 && true || false))) || (p4 && (p5 && true || (p6 && true || false)) || (p5 && (p6 && true || false) || false))))) || (p1 && (p2 && (p3 && true || (p4 && true || (p5 && true || (p6 && true || false)))) || (p3 && (p4 && true || (p5 && true || (p6 && true || false))) || (p4 && (p5 && true || (p6 && true || false)) || (p5 && (p6 && true || false) || false)))) || (p2 && (p3 && (p4 && true || (p5 && true || (p6 && true || false))) || (p4 && (p5 && true || (p6 && true || false)) || (p5 && (p6 && true || false) || false))) || (p3 && (p4 && (p5 && true || (p6 && true || false)) || (p5 && (p6 && true || false) || false)) || (p4 && (p5 && (p6 && true || false) || false) || false))))))) }",
        Verdicts::Four,
    ),
    ("always (x > 9223372036854775806 || x < -9223372036854775807 || x * x * x > 1000 -> next x == 0)", Verdicts::Three),
];

fn monitors() -> Vec<Monitor> {
    let monitor = |&(text, verdicts): &(&str, Verdicts)| {
        Property::parse(text)
            .and_then(|property| Config::new().verdicts(verdicts).monitor(&property))
            .unwrap_or_else(|error| panic!("{text}\n{error}"))
    };
    PROPERTIES.iter().map(monitor).collect()
}

/// The identifiers that the generated code has for variables and events: what stands between `opening` and the next `}`.
fn identifiers(source: &str, opening: &str) -> Vec<String> {
    let begin = source.find(opening).expect("the generated type") + opening.len();
    let end = begin + source[begin..].find('}').expect("the end of the type");
    let lines = source[begin..end].lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    let fields = code.filter(|line| !line.starts_with("state:"));
    let name = |line: &str| {
        let line = line.trim_start_matches("pub ").trim_end_matches(',');
        line.split(':').next().unwrap_or_default().to_owned()
    };
    fields.map(name).collect()
}

/// A function that reads the values of all variables after the first two fields of a line.
fn driver(index: usize, monitor: &Monitor, source: &str) -> String {
    let fields = identifiers(source, "pub struct Monitor {");
    let events = identifiers(source, "pub enum Event {");
    assert_eq!(
        fields.len(),
        monitor.alphabet().variables().len(),
        "{source}"
    );
    assert_eq!(events.len(), monitor.alphabet().events().len(), "{source}");
    let values: Vec<String> = monitor
        .alphabet()
        .variables()
        .iter()
        .enumerate()
        .map(|(place, variable)| match variable.type_of {
            Type::Int | Type::Bool => format!("line[{}].parse().unwrap()", place + 2),
            Type::Float => format!("f64::from_bits(line[{}].parse().unwrap())", place + 2),
            Type::Str => format!("line[{}].to_owned()", place + 2),
        })
        .collect();
    let module = format!("m{index}");
    let all_declared = monitor
        .alphabet()
        .variables()
        .iter()
        .all(|variable| variable.initial.is_some());
    let start = if !fields.is_empty() && all_declared {
        format!(
            "let fresh = {module}::Monitor::new(); drop(fresh.clone()); {module}::Monitor::with({})",
            values.join(", ")
        )
    } else {
        format!("{module}::Monitor::new({})", values.join(", "))
    };
    let mut text = String::new();
    writeln!(text, "fn start_{module}(line: &[&str]) -> {module}::Monitor {{ let _ = line; {start} }}")
        .and_then(|()| {
            let writes: Vec<String> =
                fields.iter().zip(&values).map(|(field, value)| format!("monitor.{field} = {value};")).collect();
            let event: Vec<String> =
                events.iter().enumerate().map(|(event, name)| format!("\"{event}\" => Some({module}::Event::{name}),")).collect();
            writeln!(
                text,
                "fn step_{module}(monitor: &mut {module}::Monitor, line: &[&str]) -> String {{ {} let event = match line[1] {{ {} _ => None }}; \
                 let verdict = monitor.step(event); assert_eq!(verdict, monitor.verdict()); format!(\"{{verdict:?}}\") }}",
                writes.join(" "),
                event.join(" ")
            )
        })
        .expect("writing to a string does not fail");
    text
}

fn random_value(rng: &mut Rng, type_of: Type) -> Value {
    match type_of {
        Type::Bool => Value::Bool(rng.one_in(2)),
        Type::Int => Value::Int(match rng.below(12) {
            0 => [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX][rng.below(4)],
            1..=3 => 20 + rng.below(40) as i64,
            _ => rng.between(0, 20) as i64 - 5,
        }),
        Type::Float => Value::Float(match rng.below(4) {
            0 => [
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                -0.0,
                f64::MIN_POSITIVE,
                f64::MAX,
                1e308,
                -1e308,
            ][rng.below(8)],
            1 => [0.0, 0.5, 1.0, 2.0, 2.5, 7.0, -1.0, 2.500_000_000_000_000_4][rng.below(8)],
            _ => rng.between(0, 200) as f64 / 16.0 - 3.0,
        }),
        Type::Str => Value::from(["open", "shut", "a", "b", "", "it's \"\\ {}"][rng.below(6)]),
    }
}

fn written(value: &Value) -> String {
    match value {
        Value::Float(x) => x.to_bits().to_string(),
        Value::Str(text) => text.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Bool(b) => b.to_string(),
    }
}

/// Random steps, one a line: the property, the event (or `start`, or `-`), and the values of all variables. With them the
/// verdicts of the library.
fn random_steps(index: usize, monitor: &Monitor, rng: &mut Rng) -> (String, Vec<String>) {
    let alphabet = monitor.alphabet();
    let variables: Vec<(VariableId, Type)> = alphabet
        .variables()
        .iter()
        .map(|variable| {
            (
                alphabet.variable(&variable.name).expect("its own name"),
                variable.type_of,
            )
        })
        .collect();
    let events: Vec<EventId> = alphabet
        .events()
        .iter()
        .map(|event| alphabet.event(&event.name).expect("its own name"))
        .collect();
    let (mut lines, mut verdicts) = (String::new(), Vec::new());
    let mut line = |word: &str, values: &[Value]| {
        let values: Vec<String> = values
            .iter()
            .map(|value| format!("\t{}", written(value)))
            .collect();
        writeln!(lines, "{index}\t{word}{}", values.concat())
            .expect("writing to a string does not fail");
    };
    for _ in 0..RUNS {
        let mut values: Vec<Value> = variables
            .iter()
            .map(|(_, type_of)| random_value(rng, *type_of))
            .collect();
        let initial = |name: &str| alphabet.variable(name).map(|id| values[id.index()].clone());
        let mut run = monitor
            .start_with(initial)
            .unwrap_or_else(|error| panic!("{error}"));
        line("start", &values);
        verdicts.push(format!("{:?}", run.verdict()));
        for _ in 0..STEPS {
            let event = match events.len() {
                0 => None,
                _ if alphabet.has_silent_letter() && rng.one_in(3) => None,
                count => Some(rng.below(count)),
            };
            let mut writes = Vec::new();
            for (place, (id, type_of)) in variables.iter().enumerate() {
                if rng.one_in(2) {
                    values[place] = random_value(rng, *type_of);
                    writes.push((*id, values[place].clone()));
                }
            }
            let verdict = run
                .step(event.map(|event| events[event]), writes)
                .unwrap_or_else(|error| panic!("{error}"));
            line(
                &event.map_or("-".to_owned(), |event| event.to_string()),
                &values,
            );
            verdicts.push(format!("{verdict:?}"));
        }
    }
    (lines, verdicts)
}

#[test]
fn generated_code_steps_like_the_library() {
    let monitors = monitors();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| directory.path().join(name);
    let (mut modules, mut drivers, mut arms) = (String::new(), String::new(), String::new());
    for (index, monitor) in monitors.iter().enumerate() {
        let source = monitor.to_rust();
        fs::write(path(&format!("m{index}.rs")), &source).expect("a file to write");
        writeln!(modules, "mod m{index};").expect("writing to a string does not fail");
        drivers += &driver(index, monitor, &source);
        writeln!(
            arms,
            "        {index} => {{ let mut monitor = start_m{index}(&lines[0]); println!(\"{{:?}}\", monitor.verdict()); \
             for line in &lines[1..] {{ if line[1] == \"start\" {{ monitor = start_m{index}(line); println!(\"{{:?}}\", monitor.verdict()); }} \
             else {{ println!(\"{{}}\", step_m{index}(&mut monitor, line)); }} }} }}"
        )
        .expect("writing to a string does not fail");
    }
    let main = format!(
        "#![deny(warnings)]\n{modules}\n{drivers}\nfn run(index: usize, lines: &[Vec<&str>]) {{\n    match index {{\n{arms}        _ => panic!(),\n    }}\n}}\n\
         fn main() {{\n    let text = std::io::read_to_string(std::io::stdin()).unwrap();\n    \
         let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\\t').collect()).collect();\n    \
         for part in lines.chunk_by(|a, b| a[0] == b[0]) {{ run(part[0][0].parse().unwrap(), part); }}\n}}\n"
    );
    fs::write(path("main.rs"), main).expect("a file to write");

    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiled = Command::new(compiler)
        .args(["--edition", "2024", "-o"])
        .arg(path("driver"))
        .arg(path("main.rs"))
        .output()
        .expect("a Rust compiler");
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );

    let mut rng = Rng::new(0x9e4e_4a7e);
    let (mut lines, mut expected) = (String::new(), Vec::new());
    for (index, monitor) in monitors.iter().enumerate() {
        let (steps, verdicts) = random_steps(index, monitor, &mut rng);
        lines += &steps;
        expected.extend(verdicts);
    }
    fs::write(path("steps.txt"), &lines).expect("a file to write");
    let output = Command::new(path("driver"))
        .stdin(Stdio::from(
            fs::File::open(path("steps.txt")).expect("the file just written"),
        ))
        .output()
        .expect("the program just compiled");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let output = String::from_utf8(output.stdout).expect("verdicts");
    let found: Vec<&str> = output.lines().collect();
    assert_eq!(found.len(), PROPERTIES.len() * RUNS * (STEPS + 1));
    assert_eq!(found.len(), expected.len());
    for ((line, found), expected) in lines.lines().zip(&found).zip(&expected) {
        assert_eq!(found, expected, "after {line}");
    }
    // The runs are worth comparing only if verdicts vary.
    for verdict in ["Violated", "Satisfied", "Pending", "Ok", "Unknown"] {
        assert!(
            found.iter().filter(|found| **found == verdict).count() > 50,
            "{verdict}"
        );
    }
}
