//! Cells whose accesses are checked: unordered accesses are a data race, and fail the model.

mod plain;
mod unsafe_cell;

pub use plain::Cell;
pub use unsafe_cell::{ConstPtr, MutPtr, UnsafeCell};

use portent_hooks::control::{Access, Memory};

/// Ends the thread if an access is not in order. The report explains the problem.
#[track_caller]
fn check(is_ordered: bool) {
    assert!(
        is_ordered || std::thread::panicking(),
        "Causality violation: two threads access a cell, one of them writes, and nothing orders them"
    );
}

/// A thread reads a cell.
#[track_caller]
fn read(memory: &Memory) -> Access {
    let access = memory.read();
    check(access.is_ordered());
    access
}

/// A thread writes a cell.
#[track_caller]
fn write(memory: &Memory) -> Access {
    let access = memory.write();
    check(access.is_ordered());
    access
}
