//! A bounded queue that loses a wake-up: `cargo run --example buffer` runs it in every order that makes a difference, until nobody can
//! go on; and the mended one to the end.

mod buffer;

use buffer::Wakes;
use portent::explore::Explorer;

fn main() {
    for (wakes, name) in [(Wakes::One, "as it is"), (Wakes::All, "mended")] {
        let report = Explorer::new().check(move || buffer::run(wakes));
        println!("{name}: {report}\n");
    }
}
