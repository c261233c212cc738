//! Tasks of tokio: their clocks against the order that really was, and what only they have.

mod program;
mod stress;
mod traps;

use portent_hooks::{Recorded, Recording, Stream};
use tokio::runtime::{Builder, Runtime};

/// One thread carries all tasks, or two do.
pub(crate) fn runtime(threads: usize) -> Runtime {
    match threads {
        1 => Builder::new_current_thread().build(),
        threads => Builder::new_multi_thread().worker_threads(threads).build(),
    }
    .unwrap()
}

/// What a program of tasks records of these events.
fn recorded<F: Future>(names: &[&str], threads: usize, program: F) -> (Vec<Recorded>, Stream) {
    let runtime = runtime(threads);
    let (recording, mut stream) = Recording::relevant(names).start();
    let entered = recording.enter();
    runtime.block_on(program);
    drop((entered, runtime));
    (stream.finish(), stream)
}
