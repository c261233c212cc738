//! Atomics.

use super::{
    run,
    sync::atomic::{
        AtomicBool, AtomicI8, AtomicI64, AtomicPtr, AtomicU16, AtomicU64, AtomicUsize,
        Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst},
    },
    thread,
};

#[test]
fn bools() {
    run(|| {
        let flag = AtomicBool::new(false);
        assert_eq!(
            flag.compare_exchange(false, true, SeqCst, SeqCst),
            Ok(false)
        );
        assert_eq!(
            flag.compare_exchange(false, true, SeqCst, SeqCst),
            Err(true)
        );
        flag.store(false, SeqCst);
        assert!(!flag.swap(true, SeqCst));
        assert!(flag.fetch_and(false, SeqCst) && !flag.load(SeqCst));
        assert!(!flag.fetch_or(true, SeqCst) && flag.load(SeqCst));
        assert!(flag.fetch_xor(true, SeqCst) && !flag.load(SeqCst));
        assert!(!flag.fetch_nand(true, SeqCst) && flag.load(SeqCst));
        assert!(flag.fetch_not(SeqCst) && !flag.load(SeqCst));
    });
}

#[test]
fn integers() {
    run(|| {
        let number = AtomicU64::new(0xf731);
        assert_eq!(number.fetch_and(0x137f, SeqCst), 0xf731);
        assert_eq!(number.load(SeqCst), 0xf731 & 0x137f);
        number.store(0xf731, Release);
        assert_eq!(number.fetch_or(0x137f, SeqCst), 0xf731);
        assert_eq!(number.load(Relaxed), 0xf731 | 0x137f);
        number.store(0xf731, Relaxed);
        assert_eq!(number.fetch_xor(0x137f, AcqRel), 0xf731);
        assert_eq!(number.load(Acquire), 0xf731 ^ 0x137f);
        let number = AtomicU16::new(0x13);
        assert_eq!(number.fetch_nand(0x31, SeqCst), 0x13);
        assert_eq!(number.load(SeqCst), !(0x13 & 0x31));
        let number = AtomicI64::new(7);
        assert_eq!((number.fetch_max(23, SeqCst), number.load(SeqCst)), (7, 23));
        assert_eq!(
            (number.fetch_min(-3, SeqCst), number.load(SeqCst)),
            (23, -3)
        );
        let number = AtomicI8::new(i8::MAX);
        assert_eq!(
            (number.fetch_add(1, SeqCst), number.load(SeqCst)),
            (i8::MAX, i8::MIN)
        );
        assert_eq!(
            (number.fetch_sub(1, SeqCst), number.load(SeqCst)),
            (i8::MIN, i8::MAX)
        );
        let mut number = AtomicUsize::default();
        *number.get_mut() += 3;
        assert_eq!(number.fetch_update(SeqCst, SeqCst, |n| Some(n * 2)), Ok(3));
        assert_eq!(number.fetch_update(SeqCst, SeqCst, |_| None), Err(6));
        assert_eq!(format!("{number:?}"), "6");
        assert_eq!(number.into_inner(), 6);
    });
}

#[test]
fn pointers() {
    run(|| {
        let (mut a, mut b) = (1, 2);
        let pointer = AtomicPtr::new(&raw mut a);
        assert_eq!(pointer.swap(&raw mut b, SeqCst), &raw mut a);
        assert_eq!(pointer.load(SeqCst), &raw mut b);
        assert!(
            pointer
                .compare_exchange(&raw mut a, &raw mut a, SeqCst, SeqCst)
                .is_err()
        );
    });
}

/// It is deprecated, and programs are still written with it. (The ordering of a failure is the strongest that there is.)
#[test]
#[allow(deprecated)]
fn compare_and_swap() {
    run(|| {
        let number = AtomicU64::new(3);
        for order in [Relaxed, Acquire, Release, AcqRel, SeqCst] {
            assert_eq!(number.compare_and_swap(3, 4, order), 3);
            assert_eq!(number.compare_and_swap(3, 5, order), 4);
            assert_eq!(number.swap(3, SeqCst), 4);
        }
    });
}

#[test]
fn in_statics_and_threads() {
    run(|| {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let before = COUNT.load(SeqCst);
        thread::scope(|s| {
            for order in [SeqCst, Relaxed, AcqRel] {
                s.spawn(move || {
                    for _ in 0..200 {
                        COUNT.fetch_add(1, order);
                    }
                });
            }
        });
        assert!(COUNT.load(Relaxed) >= before + 600);
    });
}

#[test]
fn weak_exchange_in_a_loop() {
    run(|| {
        let number = AtomicU64::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..50 {
                        let mut seen = number.load(Relaxed);
                        while let Err(now) =
                            number.compare_exchange_weak(seen, seen + 1, Release, Ordering::Relaxed)
                        {
                            seen = now;
                        }
                    }
                });
            }
        });
        assert_eq!(number.load(SeqCst), 150);
    });
}

#[test]
fn a_closure_may_use_the_same_atomic() {
    run(|| {
        let number = AtomicU64::new(1);
        let other = AtomicU64::new(5);
        let before = number.fetch_update(SeqCst, SeqCst, |n| {
            Some(n + other.load(SeqCst) + number.load(SeqCst))
        });
        assert_eq!((before, number.load(SeqCst)), (Ok(1), 7));
    });
}

#[test]
fn store_buffering_does_not_show() {
    run(|| {
        // Of two threads that write one variable and read the other, one sees the other's write.
        for _ in 0..200 {
            let (x, y) = (AtomicBool::new(false), AtomicBool::new(false));
            let (a, b) = thread::scope(|s| {
                let one = s.spawn(|| {
                    x.store(true, SeqCst);
                    y.load(SeqCst)
                });
                y.store(true, SeqCst);
                let b = x.load(SeqCst);
                (one.join().unwrap(), b)
            });
            assert!(a || b);
        }
    });
}
