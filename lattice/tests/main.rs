//! The analyzer against independent references, in one binary: linking many would take longer than
//! running them.

mod agreement;
mod engines;
mod golden;
mod handed;
mod intake;
mod leaving_out;
mod locks;
mod logs;
mod memory;
mod nesting;
mod online;
mod operations;
mod oracle;
mod overtaking;
mod picture;
mod random;
mod reductions;
mod shapes;
mod slicing;
mod swaps;

use portent_monitor_core::Value;

/// The initial value of every variable.
fn zero(_: &str) -> Option<Value> {
    Some(Value::from(0))
}
