//! A pool on a lock-free stack that gives one slot to two: `cargo run --example pool` runs it in every order that makes a difference, until
//! that happens; and the mended one to the end.

mod pool;

use pool::Head;
use portent::explore::Explorer;

fn main() {
    for (head, name) in [(Head::Slot, "as it is"), (Head::Counted, "mended")] {
        let report = Explorer::new().check(move || pool::run(head));
        println!("{name}: {report}\n");
    }
}
