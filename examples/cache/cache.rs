//! A cache before a slow store: who misses loads from the store and fills the cache; who changes the store invalidates the cache.

use std::{collections::HashMap, thread as unhooked, time::Duration};

use portent::{
    event,
    sync::{
        Mutex, RwLock,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
};

/// Whether a value that was loaded is looked at again before it fills the cache.
#[derive(Clone, Copy)]
pub(crate) enum Fill {
    /// It fills the cache, though it may have become old meanwhile.
    Always,
    /// Only if nothing was invalidated since it was loaded.
    IfFresh,
}

struct Cache {
    entries: RwLock<HashMap<u64, u64>>,
    /// How often something was invalidated.
    invalidations: AtomicU64,
    store: Mutex<HashMap<u64, u64>>,
    fill: Fill,
}

impl Cache {
    fn get(&self, key: u64) -> u64 {
        if let Some(value) = self.entries.read().unwrap().get(&key) {
            return *value;
        }
        let before = self.invalidations.load(SeqCst);
        let value = self.load(key);
        let mut entries = self.entries.write().unwrap();
        let fills = match self.fill {
            Fill::Always => true,
            Fill::IfFresh => self.invalidations.load(SeqCst) == before,
        };
        if fills {
            entries.insert(key, value);
            event!(fill, key);
        }
        value
    }

    fn load(&self, key: u64) -> u64 {
        let store = self.store.lock().unwrap();
        event!(load, key);
        store[&key]
    }

    fn set(&self, key: u64, value: u64) {
        self.store.lock().unwrap().insert(key, value);
        let mut entries = self.entries.write().unwrap();
        entries.remove(&key);
        self.invalidations.fetch_add(1, SeqCst);
        event!(invalidate, key);
    }
}

/// An eternity for a computer.
pub(crate) const LATER: Duration = Duration::from_millis(20);

/// One thread reads what another changes later. Returns what the cache says afterwards, and what the store does.
pub(crate) fn run(fill: Fill, later: Duration) -> (u64, u64) {
    let cache = Cache {
        entries: RwLock::new(HashMap::new()),
        invalidations: AtomicU64::new(0),
        store: Mutex::new(HashMap::from([(7, 1)])),
        fill,
    };
    thread::scope(|s| {
        s.spawn(|| cache.get(7));
        s.spawn(|| {
            unhooked::sleep(later);
            cache.set(7, 2);
        });
    });
    (cache.get(7), cache.store.lock().unwrap()[&7])
}

/// The same at once, to be explored.
pub(crate) fn is_up_to_date(fill: Fill) {
    let (cached, stored) = run(fill, Duration::ZERO);
    assert_eq!(cached, stored, "the cache keeps an old value");
}

/// How many of so many runs keep an old value. They mostly sleep, so a few of them do so at once.
pub(crate) fn stale(runs: u64, fill: Fill) -> usize {
    const AT_ONCE: usize = 20;
    let is_stale = |_: &u64| {
        let (cached, stored) = run(fill, LATER);
        cached != stored
    };
    unhooked::scope(|s| {
        let some = |begin| s.spawn(move || (begin..runs).step_by(AT_ONCE).filter(is_stale).count());
        let all: Vec<_> = (0..AT_ONCE as u64).map(some).collect();
        all.into_iter().map(|some| some.join().unwrap()).sum()
    })
}
