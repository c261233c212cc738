//! A crate whose `std` is another one: so `proof/crates.sh` hooks crates that nobody here wrote. What macros expand to names the
//! standard library by way of Portent, as `::std` is not that any more; here it is Portent's façade itself.

extern crate portent as std;

use core::cell::{Cell, RefCell};

use portent::{Monitored, Shared};
use std::{sync::Mutex, thread};

portent::thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(1) };
    static LIST: RefCell<Vec<u32>> = RefCell::new(vec![1]);
}

#[derive(Monitored)]
struct Reservoir {
    level: Shared<i64>,
}

#[test]
fn locals_are_those_of_a_thread() {
    COUNT.set(2);
    LIST.with_borrow_mut(|list| list.push(2));
    let (count, list) = thread::spawn(|| (COUNT.get(), LIST.take())).join().unwrap();
    assert_eq!((count, list), (1, vec![1]));
    assert_eq!((COUNT.get(), LIST.take()), (2, vec![1, 2]));
}

#[test]
fn a_property_is_made_once() {
    let monitor = || portent::property! { "always (logout -> once login)" };
    assert!(core::ptr::eq(monitor(), monitor()));
}

#[portent::test(
    property = r#"property p {
        event filled
        var "Reservoir.level": int
        ltl: always (filled -> "Reservoir.level" > 0)
    }"#,
    find = "races",
    strict
)]
fn a_test_is_recorded() {
    let reservoir = Reservoir::new(0);
    let guarded = Mutex::new(());
    thread::scope(|s| {
        s.spawn(|| {
            let _guard = guarded.lock().unwrap();
            let _block = std::atomic_block("filling");
            reservoir.level.set(1);
            std::event!(filled, litres = 1);
        });
    });
}
