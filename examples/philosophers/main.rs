//! Philosophers who starve in one run of very many: `cargo run --example philosophers` runs them in every order that makes a difference, until
//! nobody can go on; and those who know how to take forks to the end.

mod philosophers;

use philosophers::First;
use portent::explore::Explorer;

fn main() {
    for (first, name) in [(First::Left, "as it is"), (First::Lower, "mended")] {
        let report = Explorer::new().check(move || philosophers::dine(first));
        println!("{name}: {report}\n");
    }
}
