//! Small programs whose every run is checked against a property.

use portent_explore::{Explorer, Report};
use portent_hooks::sync::{
    Mutex,
    atomic::{AtomicU32, Ordering::SeqCst},
};
use portent_monitor_dsl::{Monitor, Property};

use crate::programs;

/// The programs by name.
pub(crate) const PROGRAMS: [(&str, fn()); 3] = [
    ("updates 2x3", || updates(2, 3)),
    ("sections 3x2", || sections(3, 2)),
    ("sections 4x2", || sections(4, 2)),
];

/// As [`programs::updates`], of a variable that the property names.
fn updates(count: usize, times: usize) {
    let number = AtomicU32::with_name("x", 0);
    programs::threads(count, move |_| {
        for _ in 0..times {
            number.fetch_add(1, SeqCst);
        }
    });
}

/// As [`programs::sections`], with such a variable inside.
fn sections(count: usize, times: usize) {
    let (lock, number) = (Mutex::new(()), AtomicU32::with_name("x", 0));
    programs::threads(count, move |_| {
        for _ in 0..times {
            let _inside = lock.lock().unwrap();
            number.fetch_add(1, SeqCst);
        }
    });
}

pub(crate) fn monitor() -> Monitor {
    let property = Property::parse("always (x > 0 -> once (x == 1) && x < 99)");
    property.unwrap().monitor().unwrap()
}

/// Checks the property in every run. None violates it.
pub(crate) fn explore(monitor: &Monitor, program: fn()) -> Report {
    let report = Explorer::new().property(monitor.clone()).check(program);
    assert!(report.is_proof(), "{report}");
    report
}
