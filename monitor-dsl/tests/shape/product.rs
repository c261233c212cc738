//! A product and its table follow random runs as the stepper does, which knows nothing of classes.

use portent_monitor_dsl::{EventId, Property, Value, VariableId, automaton::Product};
use portent_testing::Rng;

const TEXTS: [&str; 7] = [
    "always (d -> [a, b))",
    "always (x > 5 -> once x == 3)",
    "always !(x > 5 && y > 5 && x * x > 50)",
    "always (x >= y || once a)",
    "always (a -> x + y < 12 && x != 7)",
    "eventually (x == y && b)",
    "property p { var s: string = \"\"  var t: string = \"t\"  var f: float = 0.0
        ltl: always (s == t -> f > 0.5 || s == \"b\") }",
];

type Step = (Option<EventId>, Vec<(VariableId, Value)>);

/// A value for a variable that has such values as this one.
fn value(rng: &mut Rng, like: &Value) -> Value {
    match like {
        Value::Str(_) => Value::from(rng.pick(&["a", "b", "t"])),
        Value::Float(_) => Value::from(rng.pick(&[f64::NAN, -0.0, 0.0, 0.5, 0.75, 1e9])),
        _ => Value::from(rng.below(9) as i64),
    }
}

#[test]
fn a_product_follows_runs_as_the_stepper_does() {
    for seed in 0..3_000 {
        let mut rng = Rng::new(seed);
        let text = rng.pick(&TEXTS);
        let monitor = Property::parse(text).unwrap().monitor().unwrap();
        let alphabet = monitor.alphabet();
        let initial: Vec<Value> = { alphabet.variables().iter() }
            .map(|variable| variable.initial.clone().unwrap_or(Value::from(0)))
            .collect();
        let events: Vec<EventId> = alphabet.iter_events().map(|(id, _)| id).collect();
        let steps: Vec<Step> = (0..rng.between(1, 12))
            .map(|_| {
                let mut writes = Vec::new();
                for ((id, _), like) in alphabet.iter_variables().zip(&initial) {
                    if rng.one_in(2) {
                        writes.push((id, value(&mut rng, like)));
                    }
                }
                let is_event = !events.is_empty() && (writes.is_empty() || rng.one_in(3));
                (is_event.then(|| rng.pick(&events)), writes)
            })
            .filter(|(event, writes)| event.is_some() || !writes.is_empty())
            .collect();

        let mut product = Product::new(monitor.clone(), &initial);
        let actions: Vec<_> = { steps.iter() }
            .map(|(event, writes)| product.act(*event, writes))
            .collect();
        let (table, numbers) = product.table(10_000, 1_000_000).expect("small");
        let mut index = { alphabet.iter_variables() }.map(|(id, _)| id.index());
        let mut run = { &monitor }
            .start_with(|_| Some(initial[index.next()?].clone()))
            .unwrap();
        let (mut state, mut row) = (product.initial(), table.initial);
        for ((event, writes), action) in steps.iter().zip(actions) {
            assert_eq!(
                product.find(*event, writes),
                Some(action),
                "seed {seed}: {text}"
            );
            run.step(*event, writes.iter().cloned()).unwrap();
            state = product.step(&state, action);
            row = table.step(row, numbers[action.index()]);
            let expected = run.verdict();
            assert_eq!(product.verdict(&state), expected, "seed {seed}: {text}");
            assert_eq!(table.verdict(row), expected, "seed {seed}: {text}");

            // A product that has forgotten all but this state goes on from there.
            let mut known = state.clone();
            let mut renewed = product.renewed([&mut known].into_iter());
            assert_eq!(renewed.actions(), 0);
            let again = renewed.act(*event, writes);
            assert_eq!(
                renewed.verdict(&renewed.step(&known, again)),
                product.verdict(&product.step(&state, action)),
                "seed {seed}: {text}"
            );
        }
    }
}
