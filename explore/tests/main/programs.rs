//! Programs of the literature, in small sizes: how many classes of runs they have is known.

use std::sync::Arc;

use portent_hooks::{
    sync::{
        Condvar, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
};

/// So many threads, which all do the same, joined.
pub(crate) fn threads(count: usize, body: impl Fn(usize) + Send + Sync + 'static) {
    let body = Arc::new(body);
    let spawned: Vec<JoinHandle<()>> = (0..count)
        .map(|number| {
            let body = Arc::clone(&body);
            thread::spawn(move || body(number))
        })
        .collect();
    for thread in spawned {
        thread.join().unwrap();
    }
}

/// Each thread adds to one number, several times.
pub(crate) fn updates(count: usize, times: usize) {
    let number = AtomicU32::new(0);
    threads(count, move |_| {
        for _ in 0..times {
            number.fetch_add(1, SeqCst);
        }
    });
}

/// Each thread reads a number and then writes it, several times.
pub(crate) fn loads_and_stores(count: usize, times: usize) {
    let number = AtomicU32::new(0);
    threads(count, move |_| {
        for _ in 0..times {
            let before = number.load(SeqCst);
            number.store(before + 1, SeqCst);
        }
    });
}

/// Each thread enters critical sections of one mutex.
pub(crate) fn sections(count: usize, times: usize) {
    let number = Arc::new(Mutex::new(0));
    let inside = Arc::clone(&number);
    threads(count, move |_| {
        for _ in 0..times {
            *inside.lock().unwrap() += 1;
        }
    });
    assert_eq!(*number.lock().unwrap(), count * times);
}

/// Each thread enters four words in a table of 128 places, by compare and swap.
pub(crate) fn indexer(count: usize) {
    let table: Vec<AtomicU32> = (0..128).map(|_| AtomicU32::new(0)).collect();
    threads(count, move |number| {
        for turn in 1..=4 {
            let word = (turn * 11 + number) as u32;
            let mut place = word as usize * 7 % 128;
            while table[place]
                .compare_exchange(0, word, SeqCst, SeqCst)
                .is_err()
            {
                place = (place + 1) % 128;
            }
        }
    });
}

/// Each thread looks for a free block for its file, under locks.
pub(crate) fn file_system(count: usize) {
    let files: Vec<Mutex<usize>> = (0..32).map(|_| Mutex::new(0)).collect();
    let blocks: Vec<Mutex<bool>> = (0..26).map(|_| Mutex::new(false)).collect();
    threads(count, move |number| {
        let file = number % 32;
        let mut held = files[file].lock().unwrap();
        if *held == 0 {
            let mut block = file * 2 % 26;
            loop {
                let mut busy = blocks[block].lock().unwrap();
                if !*busy {
                    *busy = true;
                    *held = block + 1;
                    break;
                }
                drop(busy);
                block = (block + 1) % 26;
            }
        }
    });
}

/// Two threads take two locks, each in its own order.
pub(crate) fn crossed_locks() {
    let locks = [Mutex::new(()), Mutex::new(())];
    let locks = Arc::new(locks);
    let spawned: Vec<JoinHandle<()>> = (0..2)
        .map(|number| {
            let locks = Arc::clone(&locks);
            thread::spawn(move || {
                let _first = locks[number].lock().unwrap();
                let _second = locks[1 - number].lock().unwrap();
            })
        })
        .collect();
    for thread in spawned {
        let _ = thread.join();
    }
}

/// One thread looks for the last zero of an array, from the end; each of the others writes a place after it has read the one before.
pub(crate) fn last_zero(places: usize) {
    let array: Vec<AtomicU32> = (0..=places).map(|_| AtomicU32::new(0)).collect();
    threads(places + 1, move |number| {
        if number == 0 {
            let mut place = places;
            while array[place].load(SeqCst) != 0 {
                place -= 1;
            }
        } else {
            let before = array[number - 1].load(SeqCst);
            array[number].store(before + 1, SeqCst);
        }
    });
}

/// One thread writes a number, the others read it.
pub(crate) fn readers(count: usize) {
    let number = AtomicU32::new(0);
    threads(count + 1, move |thread| {
        if thread == 0 {
            number.store(1, SeqCst);
        } else {
            number.load(SeqCst);
        }
    });
}

/// Each philosopher takes the fork on the left, then that on the right.
pub(crate) fn philosophers(count: usize) {
    let forks: Vec<Mutex<()>> = (0..count).map(|_| Mutex::new(())).collect();
    threads(count, move |number| {
        let _left = forks[number].lock();
        let _right = forks[(number + 1) % count].lock();
    });
}

/// Each thread writes the variables of its list, in order.
pub(crate) fn writes(lists: &'static [&'static [usize]]) {
    let variables = [const { AtomicU32::new(0) }; 4];
    threads(lists.len(), move |number| {
        for &variable in lists[number] {
            variables[variable].store(1, SeqCst);
        }
    });
}

/// Threads that only read.
pub(crate) fn readers_only(count: usize) {
    let number = AtomicU32::new(0);
    threads(count, move |_| {
        number.load(SeqCst);
    });
}

/// Some threads put so many items each into a ring of places, as many others take them out: with one mutex and two conditions, and who
/// puts or takes notifies one of the other side.
pub(crate) fn bounded_buffer(pairs: usize, items: usize, capacity: usize) {
    let ring = Mutex::new(0);
    let (has_room, has_items) = (Condvar::new(), Condvar::new());
    // All of them are met before there is a choice, as trees want it.
    drop(ring.lock());
    has_room.notify_all();
    has_items.notify_all();
    threads(2 * pairs, move |number| {
        for _ in 0..items {
            let mut full = ring.lock().unwrap();
            if number < pairs {
                while *full == capacity {
                    full = has_room.wait(full).unwrap();
                }
                *full += 1;
                has_items.notify_one();
            } else {
                while *full == 0 {
                    full = has_items.wait(full).unwrap();
                }
                *full -= 1;
                has_room.notify_one();
            }
        }
    });
}

/// One thread writes a number, another one writes it, too, and then reads what is there.
pub(crate) fn write_and_look() {
    let number = AtomicU32::new(0);
    threads(2, move |thread| {
        number.store(3 - thread as u32, SeqCst);
        if thread == 1 {
            number.load(SeqCst);
        }
    });
}
