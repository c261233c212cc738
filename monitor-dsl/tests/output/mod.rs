//! A monitor in the forms in which it leaves the library.
//!
//! | module | which form |
//! |---|---|
//! | `conditions` | conditions of edges as text |
//! | `json` | the description, as JSON |
//! | `stored` | stored monitors, read again |
//! | `sealed` | monitors as data of a program |
//! | `generated_rust` | monitors as code |
//! | `explained` | why a verdict is final |

mod conditions;
mod explained;
mod generated_rust;
mod json;
mod sealed;
mod stored;

use crate::oracle::case::Case;
use crate::oracle::random::{self, Shape, Subject};
use portent_monitor_dsl::{Config, Monitor, Property, Stepper};
use portent_testing::Rng;

const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<Monitor>();
    shared_between_threads::<Property>();
    shared_between_threads::<Config>();
    shared_between_threads::<portent_monitor_dsl::Error>();
    const fn sent_between_threads<T: Send>() {}
    sent_between_threads::<Stepper>();
};

/// Properties of all kinds, the same ones every time.
pub(super) fn properties(seed: u64, count: usize) -> impl Iterator<Item = (Property, Case)> {
    let subjects = [
        Subject::Flags,
        Subject::Events,
        Subject::Comparisons,
        Subject::Mixed,
        Subject::Floats,
    ];
    let shapes = [Shape::Future, Shape::Past, Shape::Mixed];
    (0..count).map(move |index| {
        let mut rng = Rng::new(seed + index as u64);
        let subject = subjects[index % 5];
        let size = rng.between(2, 12);
        let case = match index % 3 {
            0 => random::ere_case(&mut rng, subject, size, index % 2 == 0),
            _ => random::ltl_case(&mut rng, subject, shapes[index / 15 % 3], size),
        };
        let text = case.text(Some(rng.any()));
        let property = Property::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        (property, case)
    })
}

pub(super) fn monitor(property: &Property) -> Monitor {
    property
        .monitor()
        .unwrap_or_else(|error| panic!("{property:?}\n{error}"))
}
