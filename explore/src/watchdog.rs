//! Notices that an explored program is blocked outside the scheduler.
//!
//! All threads of an explored program share one OS thread. If one of them blocks other than through the hooks, for example on a `std::sync`
//! lock that another thread holds, the whole program hangs. A watchdog thread checks all explorations of the process four times a
//! second. If one has made no step for a second, and its OS thread has slept all that time, it prints a message and ends the process.

use std::{
    fs,
    path::PathBuf,
    process,
    sync::{
        Arc, Mutex, Once, PoisonError, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

static WATCHED: Mutex<Vec<Weak<Heartbeat>>> = Mutex::new(Vec::new());

/// That an exploration goes on.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    /// Changes with every step; 0 while no program runs.
    step: AtomicU64,
    /// What the system tells of its thread, if it does.
    told: Option<PathBuf>,
}

/// How often a look is taken, and how many of them without a step are too many.
const PAUSE: Duration = Duration::from_millis(250);
const PATIENCE: u32 = 4;

impl Heartbeat {
    /// Of an exploration on this thread of the operating system, which is watched from now on.
    pub(crate) fn watched() -> Arc<Heartbeat> {
        thread_local! {
            static TOLD: Option<PathBuf> = {
                let link = fs::read_link("/proc/thread-self").ok();
                link.map(|link| PathBuf::from("/proc").join(link).join("stat"))
            };
        }
        static STARTED: Once = Once::new();
        STARTED.call_once(|| {
            // Without it nothing is noticed, but nothing is wrong either.
            let _ = thread::Builder::new()
                .name(String::from("portent watchdog"))
                .spawn(watch);
        });
        let heartbeat = Arc::new(Heartbeat {
            step: AtomicU64::new(0),
            told: TOLD.with(Clone::clone),
        });
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|other| other.strong_count() > 0);
        watched.push(Arc::downgrade(&heartbeat));
        heartbeat
    }

    /// This thread of this run is about to go on.
    #[inline]
    pub(crate) fn step(&self, run: u64, point: usize, thread: usize) {
        let step = run << 24 | (point as u64 & 0xffff) << 8 | thread as u64;
        self.step.store(step, Relaxed);
    }

    /// No program runs.
    pub(crate) fn rests(&self) {
        self.step.store(0, Relaxed);
    }

    /// Whether its thread sleeps, and how much time it has used; `None` if the system does not tell.
    fn sleeps(&self) -> Option<u64> {
        let text = fs::read_to_string(self.told.as_ref()?).ok()?;
        // What comes after the name, which may have any characters in it.
        let mut fields = text.rsplit_once(") ")?.1.split(' ');
        let state = fields.next()?;
        let user: u64 = fields.nth(10)?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        matches!(state, "S" | "D").then_some(user + system)
    }
}

fn watch() {
    // For each that stands still: where, how much time it has used, and since how many looks.
    let mut still: Vec<(Weak<Heartbeat>, u64, u64, u32)> = Vec::new();
    loop {
        thread::sleep(PAUSE);
        let watched = WATCHED
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let mut now = Vec::new();
        for weak in watched {
            let Some(progress) = weak.upgrade() else {
                continue;
            };
            let step = progress.step.load(Relaxed);
            let Some(used) = progress.sleeps().filter(|_| step != 0) else {
                continue;
            };
            let before = still
                .iter()
                .find(|(other, at, time, _)| other.ptr_eq(&weak) && *at == step && *time == used);
            let looks = before.map_or(0, |(_, _, _, looks)| looks + 1);
            if looks >= PATIENCE {
                report(step);
            }
            now.push((weak, step, used, looks));
        }
        still = now;
    }
}

fn report(step: u64) -> ! {
    let (thread, point) = (step & 0xff, step >> 8 & 0xffff);
    let name = match thread {
        0 => String::from("main"),
        number => format!("thread {number}"),
    };
    eprintln!(
        "portent: {name} of an explored program waits for something real, after {point} steps of the run: a lock, channel or sleep that is \
         not one of portent's. All threads of an explored program share one thread of the operating system, so nobody will ever end that. \
         The process ends here."
    );
    process::exit(1);
}
