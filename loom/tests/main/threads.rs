//! Threads: names, numbers, what they wait for, and what need not be `Send`.

use std::rc::Rc;

use loom::{
    sync::{Arc, Condvar, Mutex, RwLock, mpsc},
    thread,
};

use crate::failure;

#[test]
fn they_have_names_and_numbers() {
    loom::model(|| {
        let builder = thread::Builder::new().name(String::from("reader"));
        let named = builder.spawn(thread::current).unwrap();
        let (id, name) = (named.thread().id(), named.thread().name().map(String::from));
        let there = named.join().unwrap();
        assert_eq!((there.id(), there.name().map(String::from)), (id, name));
        assert_ne!(id, thread::current().id());
    });
}

#[test]
fn what_moves_to_them_need_not_be_send() {
    loom::model(|| {
        let number = Rc::new(5);
        let doubled = thread::spawn(move || Rc::new(*number * 2));
        assert_eq!(*doubled.join().unwrap(), 10);
    });
}

#[test]
fn locks_channels_and_parking() {
    loom::model(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new(), RwLock::new(0)));
        let (sender, receiver) = mpsc::channel();
        let main = thread::current();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                *shared.0.lock().unwrap() = true;
                shared.1.notify_one();
                *shared.2.write().unwrap() += 1;
                sender.send(5).unwrap();
                main.unpark();
            }
        });
        let mut ready = shared.0.lock().unwrap();
        while !*ready {
            ready = shared.1.wait(ready).unwrap();
        }
        drop(ready);
        assert_eq!(receiver.recv().unwrap(), 5);
        assert_eq!(*shared.2.read().unwrap(), 1);
        thread::park();
        other.join().unwrap();
    });
}

#[test]
fn a_thread_that_panics_fails_the_model() {
    let text = failure(|| {
        let other = thread::spawn(|| panic!("no more"));
        assert!(other.join().is_err());
    });
    assert!(text.contains("no more"), "{text}");
}
