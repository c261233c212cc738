//! What loom tests rely on, and what loom itself gets wrong.

mod arcs;
mod cells;
mod futures;
mod guide;
mod models;
mod outcomes;
mod statics;
mod threads;

use std::panic::{self, AssertUnwindSafe};

/// What a model fails with.
fn failure(model: impl Fn() + Send + Sync + 'static) -> String {
    let failed = panic::catch_unwind(AssertUnwindSafe(|| loom::model(model)));
    let panic = failed.expect_err("the model should fail");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().unwrap_or(&"").to_string(),
    }
}
