//! Programs of the literature on guided testing, in which many threads do no harm and few do: each fails in few of its runs.
//!
//! Ports of the descriptions in Rungta, *Guided testing for automatic error discovery in concurrent software* (2009). What is plain data
//! in the originals are atomics here, so that it is the values that go wrong and nothing else.

use std::sync::Arc;

use portent_hooks::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicI64, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
};

/// Where in this file something is: the line of the marker in a comment at its end.
pub(crate) fn place(marker: &str) -> String {
    let marker = format!("// {marker}");
    let lines = include_str!("benchmarks.rs").lines();
    let line = lines.zip(1..).find(|(line, _)| line.ends_with(&marker));
    let (_, number) = line.unwrap_or_else(|| panic!("nothing is marked `{marker}`"));
    format!("{}:{number}", file!())
}

fn join(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        let _ = thread.join();
    }
}

/// Setters write two numbers that belong together, without a lock; checkers read them.
pub(crate) fn reorder(setters: usize, checkers: usize) {
    let numbers = Arc::new((AtomicI64::new(0), AtomicI64::new(0)));
    let set = |_| {
        let numbers = Arc::clone(&numbers);
        thread::spawn(move || {
            numbers.0.store(1, SeqCst); // reorder: first
            numbers.1.store(-1, SeqCst); // reorder: second
        })
    };
    let check = |_| {
        let numbers = Arc::clone(&numbers);
        thread::spawn(move || {
            let (a, b) = (&numbers.0, &numbers.1);
            let is_new = || {
                let first = a.load(SeqCst);
                let second = b.load(SeqCst); // reorder: looks
                (first, second) == (1, -1)
            };
            let is_old = || a.load(SeqCst) == 0 && b.load(SeqCst) == 0; // reorder: begins
            assert!(is_old() || is_new(), "half of it is new");
        })
    };
    let mut threads: Vec<_> = (0..setters).map(set).collect();
    threads.extend((0..checkers).map(check));
    join(threads);
}

/// Stagers write one number under a lock, and another that depends on it under a second one; readers read them in the same way.
pub(crate) fn two_stage(stagers: usize, readers: usize) {
    struct Data {
        locks: [Mutex<()>; 2],
        numbers: [AtomicI64; 2],
    }
    let data = Arc::new(Data {
        locks: [Mutex::new(()), Mutex::new(())],
        numbers: [AtomicI64::new(0), AtomicI64::new(0)],
    });
    let stage = |_| {
        let data = Arc::clone(&data);
        thread::spawn(move || {
            {
                let _first = data.locks[0].lock();
                data.numbers[0].store(1, SeqCst); // two_stage: first
            }
            let _second = data.locks[1].lock(); // two_stage: stages
            let first = data.numbers[0].load(SeqCst);
            data.numbers[1].store(first + 1, SeqCst); // two_stage: second
        })
    };
    let read = |_| {
        let data = Arc::clone(&data);
        thread::spawn(move || {
            let first = {
                let _first = data.locks[0].lock();
                data.numbers[0].load(SeqCst)
            };
            if first == 0 {
                return;
            }
            let _second = data.locks[1].lock();
            let second = data.numbers[1].load(SeqCst); // two_stage: looks
            assert_eq!(second, first + 1, "one stage is ahead");
        })
    };
    let mut threads: Vec<_> = (0..stagers).map(stage).collect();
    threads.extend((0..readers).map(read));
    join(threads);
}

/// Some change a number under one lock, and others under another.
pub(crate) fn wrong_lock(careful: usize, wrong: usize) {
    let data = Arc::new((Mutex::new(()), Mutex::new(()), AtomicI64::new(0)));
    let change = |_| {
        let data = Arc::clone(&data);
        thread::spawn(move || {
            let _lock = data.0.lock();
            let before = data.2.load(SeqCst);
            data.2.fetch_add(1, SeqCst);
            let now = data.2.load(SeqCst); // wrong_lock: looks
            assert_eq!(now, before + 1, "somebody else was there");
        })
    };
    let disturb = |_| {
        let data = Arc::clone(&data);
        thread::spawn(move || {
            let _lock = data.1.lock();
            data.2.fetch_add(1, SeqCst); // wrong_lock: disturbs
        })
    };
    let mut threads: Vec<_> = (0..careful).map(change).collect();
    threads.extend((0..wrong).map(disturb));
    join(threads);
}

/// Tickets are sold until somebody says stop, which is when more are sold than there are seats; sales that are under way go on.
pub(crate) fn airline(tickets: i64, cushion: i64) {
    let seats = tickets - cushion;
    let office = Arc::new((AtomicI64::new(0), AtomicBool::new(false)));
    for _ in 0..tickets {
        if office.1.load(SeqCst) {
            office.0.fetch_sub(1, SeqCst);
            break;
        }
        let office = Arc::clone(&office);
        thread::spawn(move || {
            let sold = office.0.fetch_add(1, SeqCst) + 1; // airline: sells
            if sold > seats {
                office.1.store(true, SeqCst);
            }
        });
    }
    let sold = office.0.load(SeqCst); // airline: looks
    assert!(sold <= seats, "too many tickets are sold");
}

/// Managers of accounts in a ring pay in and out and pass on to the next one. Most of them lock both accounts for that, some only
/// their own.
pub(crate) fn account_subtype(careful: usize, careless: usize) {
    struct Account {
        lock: Mutex<()>,
        balance: AtomicI64,
    }
    fn add(account: &Account, amount: i64) {
        let before = account.balance.load(SeqCst);
        account.balance.store(before + amount, SeqCst); // account: adds
    }
    fn pay(account: &Account, amount: i64) {
        let _own = account.lock.lock();
        add(account, amount);
    }
    let count = careful + careless;
    let accounts: Vec<Account> = (0..count)
        .map(|_| Account {
            lock: Mutex::new(()),
            balance: AtomicI64::new(100),
        })
        .collect();
    let accounts = Arc::new(accounts);
    let manage = |number: usize| {
        let accounts = Arc::clone(&accounts);
        thread::spawn(move || {
            let (own, next) = (&accounts[number], &accounts[(number + 1) % accounts.len()]);
            let pass_on = || {
                pay(own, -10);
                if number < careful {
                    pay(next, 10);
                } else {
                    let before = next.balance.load(SeqCst);
                    next.balance.store(before + 10, SeqCst); // account: careless
                }
            };
            pay(own, 300);
            pass_on();
            pay(own, 10);
            pay(own, -20);
            pay(own, 10);
            pass_on();
            pay(own, -100);
        })
    };
    join((0..count).map(manage).collect());
    for account in accounts.iter() {
        assert_eq!(account.balance.load(SeqCst), 300, "an update is lost");
    }
}

/// Philosophers around a table, each of whom takes the left fork and then the right one.
pub(crate) fn dining(count: usize) {
    let forks: Vec<Mutex<()>> = (0..count).map(|_| Mutex::new(())).collect();
    let forks = Arc::new(forks);
    let dine = |number: usize| {
        let forks = Arc::clone(&forks);
        thread::spawn(move || {
            let _left = forks[number].lock();
            let _right = forks[(number + 1) % forks.len()].lock(); // dining: second
        })
    };
    join((0..count).map(dine).collect());
}
