//! Atomics.

use super::{
    run,
    sync::atomic::{
        AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
        AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
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

#[test]
fn every_operation_on_every_integer() {
    macro_rules! integers {
        ($($name:ident $value:ty),*) => {$(
            let number = $name::new(5);
            assert_eq!((number.swap(6, SeqCst), number.load(SeqCst)), (5, 6));
            assert_eq!((number.fetch_add(4, SeqCst), number.load(SeqCst)), (6, 10));
            assert_eq!((number.fetch_sub(7, AcqRel), number.load(Acquire)), (10, 3));
            assert_eq!((number.fetch_and(6, Acquire), number.load(SeqCst)), (3, 2));
            assert_eq!((number.fetch_or(5, Release), number.load(SeqCst)), (2, 7));
            assert_eq!((number.fetch_xor(1, Relaxed), number.load(Relaxed)), (7, 6));
            assert_eq!((number.fetch_nand(3, SeqCst), number.load(SeqCst)), (6, !2));
            number.store(9, SeqCst);
            assert_eq!((number.fetch_max(8, SeqCst), number.fetch_min(8, SeqCst)), (9, 9));
            assert_eq!(number.load(SeqCst), 8);
            assert_eq!(number.compare_exchange(8, 1, AcqRel, Relaxed), Ok(8));
            assert_eq!(number.compare_exchange(8, 2, SeqCst, Acquire), Err(1));
            assert_eq!(number.compare_exchange_weak(8, 2, SeqCst, SeqCst), Err(1));
            number.store(<$value>::MAX, Relaxed);
            assert_eq!(number.fetch_add(1, SeqCst), <$value>::MAX);
            assert_eq!(number.fetch_sub(1, SeqCst), <$value>::MIN, "it wraps");
            assert_eq!($name::from(3).into_inner(), 3);
            assert_eq!(format!("{:?}", $name::default()), "0");
        )*};
    }
    run(|| {
        integers!(AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize);
        integers!(AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64, AtomicUsize usize);
    });
}

#[test]
fn truth_tables() {
    run(|| {
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            type Operation = fn(&AtomicBool, bool, Ordering) -> bool;
            let all: [(Operation, bool); 4] = [
                (AtomicBool::fetch_and, a & b),
                (AtomicBool::fetch_or, a | b),
                (AtomicBool::fetch_xor, a ^ b),
                (AtomicBool::fetch_nand, !(a & b)),
            ];
            for (operation, after) in all {
                let flag = AtomicBool::new(a);
                assert_eq!((operation(&flag, b, SeqCst), flag.load(SeqCst)), (a, after));
            }
        }
        let mut flag = AtomicBool::default();
        *flag.get_mut() = true;
        assert_eq!(
            flag.fetch_update(SeqCst, SeqCst, |flag| Some(!flag)),
            Ok(true)
        );
        assert!(!flag.into_inner());
    });
}

#[cfg(since = "1.91")]
#[test]
#[allow(clippy::incompatible_msrv)]
fn pointers_that_are_calculated_with() {
    run(|| {
        let mut numbers = [1u16, 2, 3, 4];
        let start = numbers.as_mut_ptr();
        let pointer = AtomicPtr::new(start);
        assert_eq!(pointer.fetch_ptr_add(3, SeqCst), start);
        assert_eq!(pointer.fetch_ptr_sub(1, SeqCst), start.wrapping_add(3));
        assert_eq!(pointer.load(SeqCst), start.wrapping_add(2));
        assert_eq!(pointer.fetch_byte_add(2, SeqCst), start.wrapping_add(2));
        assert_eq!(pointer.fetch_byte_sub(6, SeqCst), start.wrapping_add(3));
        assert_eq!(pointer.load(SeqCst), start);
        assert_eq!(pointer.fetch_or(1, SeqCst), start);
        assert_eq!(pointer.load(SeqCst).addr(), start.addr() | 1);
        assert_eq!(pointer.fetch_xor(1, SeqCst).addr(), start.addr() | 1);
        assert_eq!(pointer.fetch_and(!1, SeqCst), start);
        assert_eq!(pointer.load(SeqCst), start);
        assert_eq!(format!("{pointer:p}"), format!("{start:p}"));
    });
}

#[cfg(since = "1.95")]
#[test]
#[allow(clippy::incompatible_msrv)]
fn updates_by_closures() {
    run(|| {
        let number = AtomicU64::new(1);
        assert_eq!(
            number.update(SeqCst, SeqCst, |n| n + number.load(SeqCst)),
            1
        );
        assert_eq!(number.try_update(AcqRel, Acquire, |n| Some(n * 5)), Ok(2));
        assert_eq!(
            number.try_update(Relaxed, Relaxed, |n| (n > 50).then_some(0)),
            Err(10)
        );
        let flag = AtomicBool::new(true);
        assert!(flag.update(SeqCst, SeqCst, |flag| !flag) && !flag.load(SeqCst));
        let pointer = AtomicPtr::<i32>::default();
        assert_eq!(
            pointer.try_update(SeqCst, SeqCst, |_| None),
            Err(std::ptr::null_mut())
        );
    });
}

#[test]
fn a_pointer_is_handed_over() {
    run(|| {
        let slot = AtomicPtr::<i32>::default();
        let sum = thread::scope(|s| {
            let takes = s.spawn(|| {
                let mut address = slot.load(Acquire);
                while address.is_null() {
                    thread::yield_now();
                    address = slot.load(Acquire);
                }
                address.addr()
            });
            let mut number = 7;
            let there = &raw mut number;
            slot.store(there, Release);
            takes.join().unwrap() == there.addr()
        });
        assert!(sum);
    });
}

#[test]
fn a_spin_lock() {
    run(|| {
        let (taken, number) = (AtomicBool::new(false), AtomicU64::new(0));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..20 {
                        while taken.swap(true, Acquire) {
                            thread::yield_now();
                        }
                        let seen = number.load(Relaxed);
                        number.store(seen + 1, Relaxed);
                        taken.store(false, Release);
                    }
                });
            }
        });
        assert_eq!(number.into_inner(), 60);
    });
}

#[test]
fn fences_and_pointers_to_what_is_inside() {
    run(|| {
        super::sync::atomic::fence(SeqCst);
        super::sync::atomic::compiler_fence(SeqCst);
        let number = AtomicU64::new(7);
        let _: *mut u64 = number.as_ptr();
        static START: AtomicBool = AtomicBool::new(true);
        assert!(START.load(SeqCst));
    });
}
