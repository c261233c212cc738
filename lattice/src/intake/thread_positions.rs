//! What the threads that may still act know: everything they do later comes after that.
//!
//! A thread knows at least as much as its last step, or the last step of the thread that forked it. A joined thread does
//! nothing more. A thread that was not forked may turn up at any time and know nothing; this is allowed for until the first
//! fork, after which the others are expected to be forked as well.

use portent_monitor_core::{ChainId, Event, Op, ThreadId};

/// After this many events, only forked threads are expected to appear.
const BEGINNING: u64 = 4096;

/// A thread that may still act.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadPosition<'a> {
    /// The chain of its steps; none if it has taken none yet.
    pub(crate) chain: Option<ChainId>,
    /// A lower bound on what it knows.
    pub(crate) clock: &'a [u32],
}

/// The positions of all threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadPositions {
    threads: Vec<KnownThread>,
    events: u64,
    /// Whether some thread was forked.
    forked: bool,
}

#[derive(Clone, Debug, Default)]
struct KnownThread {
    lives: bool,
    chain: Option<ChainId>,
    clock: Vec<u32>,
}

impl ThreadPositions {
    /// The next event of the run, with its chain and clock if it is a step.
    pub(super) fn note(&mut self, event: &Event, stamp: Option<(ChainId, &[u32])>) {
        self.events += 1;
        for thread in event.threads() {
            self.thread(thread).lives = true;
        }
        let actor = self.thread(event.thread);
        if let Some((chain, clock)) = stamp {
            actor.chain = Some(chain);
            actor.clock.clear();
            actor.clock.extend_from_slice(clock);
        }
        match event.op {
            Op::Fork(child) => {
                self.forked = true;
                let known = self.thread(event.thread).clock.clone();
                let child = self.thread(child);
                if !child.lives {
                    *child = KnownThread {
                        lives: true,
                        chain: None,
                        clock: known,
                    };
                }
            }
            Op::Join(child) => *self.thread(child) = KnownThread::default(),
            _ => {}
        }
    }

    fn thread(&mut self, id: ThreadId) -> &mut KnownThread {
        if id.index() >= self.threads.len() {
            self.threads
                .resize_with(id.index() + 1, KnownThread::default);
        }
        &mut self.threads[id.index()]
    }

    /// The threads that may still act, including unknown ones.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ThreadPosition<'_>> + '_ {
        let newcomer = ThreadPosition {
            chain: None,
            clock: &[],
        };
        let expected = !self.forked && self.events < BEGINNING;
        let known = self.threads.iter().filter(|thread| thread.lives);
        let known = known.map(|thread| ThreadPosition {
            chain: thread.chain,
            clock: &thread.clock,
        });
        known.chain(expected.then_some(newcomer))
    }
}
