//! A work queue: threads take jobs and store results, and somebody waits until no job is left and collects them.

use std::{mem, time::Duration};

use portent::{
    event,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

/// What a worker does first when a job is done.
#[derive(Clone, Copy)]
pub(crate) enum First {
    /// Says that one job less is left: one line too early.
    CountDown,
    /// Stores the result.
    Store,
}

struct WorkQueue {
    jobs: Mutex<Vec<u64>>,
    left: AtomicUsize,
    results: Mutex<Vec<u64>>,
}

impl WorkQueue {
    fn new(jobs: Vec<u64>) -> WorkQueue {
        WorkQueue {
            left: AtomicUsize::new(jobs.len()),
            jobs: Mutex::new(jobs),
            results: Mutex::new(Vec::new()),
        }
    }

    fn work(&self, first: First) {
        while let Some(job) = self.next() {
            let result = job * job;
            match first {
                First::CountDown => {
                    self.count_down();
                    self.store(result);
                }
                First::Store => {
                    self.store(result);
                    self.count_down();
                }
            }
        }
    }

    fn next(&self) -> Option<u64> {
        self.jobs.lock().unwrap().pop()
    }

    fn count_down(&self) {
        self.left.fetch_sub(1, SeqCst);
    }

    fn store(&self, result: u64) {
        self.results.lock().unwrap().push(result);
        event!(stored);
    }

    fn collect(&self) -> Vec<u64> {
        while self.left.load(SeqCst) > 0 {
            thread::sleep(Duration::from_millis(1));
        }
        event!(collected);
        mem::take(&mut self.results.lock().unwrap())
    }
}

/// How many results of so many jobs are collected.
pub(crate) fn run(jobs: u64, first: First) -> usize {
    let queue = WorkQueue::new((0..jobs).collect());
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| queue.work(first));
        }
        // Whoever collects has something else to do first: an eternity for a computer.
        thread::sleep(Duration::from_millis(20));
        queue.collect().len()
    })
}

/// How many of so many runs lose a result. They mostly sleep, so a few of them do so at once.
pub(crate) fn lost(runs: u64, jobs: u64, first: First) -> usize {
    const AT_ONCE: usize = 20;
    let loses = |_: &u64| (run(jobs, first) as u64) < jobs;
    std::thread::scope(|s| {
        let some = |begin| s.spawn(move || (begin..runs).step_by(AT_ONCE).filter(loses).count());
        let all: Vec<_> = (0..AT_ONCE as u64).map(some).collect();
        all.into_iter().map(|some| some.join().unwrap()).sum()
    })
}
