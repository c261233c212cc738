//! What belongs to one run of a model: lazy statics, and what must not be left over at its end.
//!
//! All threads of a model are on one thread of the operating system, so this is a variable of that.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::HashMap,
    mem,
    panic::Location,
    rc::Rc,
};

/// Something that must be gone when a run ends.
pub(crate) struct Kept {
    /// What it is.
    pub(crate) what: &'static str,
    /// Where it was made.
    pub(crate) made: &'static Location<'static>,
    /// What is known of it.
    pub(crate) data: Rc<dyn Any>,
}

#[derive(Default)]
struct Run {
    is_on: Cell<bool>,
    lazy: RefCell<HashMap<usize, Rc<dyn Any>>>,
    kept: RefCell<HashMap<usize, Kept>>,
    /// Whether somebody looks at how many references there are.
    counts: Cell<bool>,
    /// Whether somebody did so that had not been expected to.
    looked: Cell<bool>,
}

thread_local! {
    static RUN: Run = Run::default();
}

/// A run begins. Nothing is left of an earlier one, even if that was cut short.
pub(crate) fn begin() {
    RUN.with(|run| {
        run.is_on.set(true);
        // What they hold may be of a run that was ended by force: nobody may look at it.
        forget(&mut run.lazy.borrow_mut());
        forget(&mut run.kept.borrow_mut());
    });
}

fn forget<T>(left: &mut HashMap<usize, T>) {
    if !left.is_empty() {
        mem::forget(mem::take(left));
    }
}

/// What begins the function of the model is over.
pub(crate) fn end() {
    RUN.with(|run| run.is_on.set(false));
}

/// Whether this is inside of a model.
pub(crate) fn is_on() -> bool {
    RUN.with(|run| run.is_on.get())
}

/// The first thing that is left over.
pub(crate) fn leak() -> Option<String> {
    RUN.with(|run| {
        let kept = run.kept.borrow();
        let kept = kept
            .values()
            .min_by_key(|kept| (kept.made.file(), kept.made.line()));
        kept.map(|kept| format!("{} leaked, made at {}", kept.what, kept.made))
    })
}

/// A lazy static, if it was made.
pub(crate) fn lazy(key: usize) -> Option<Rc<dyn Any>> {
    RUN.with(|run| run.lazy.borrow().get(&key).map(Rc::clone))
}

/// A lazy static is made; the one that stays, if somebody was faster.
pub(crate) fn make_lazy(key: usize, value: Rc<dyn Any>) -> Rc<dyn Any> {
    RUN.with(|run| Rc::clone(run.lazy.borrow_mut().entry(key).or_insert(value)))
}

/// Drops the lazy statics.
pub(crate) fn drop_lazy() {
    // Their destructors may do anything.
    drop(RUN.with(|run| mem::take(&mut *run.lazy.borrow_mut())));
}

/// There is something that must be gone at the end.
pub(crate) fn keep(key: usize, kept: Kept) {
    RUN.with(|run| run.kept.borrow_mut().insert(key, kept));
}

/// What is known of it.
pub(crate) fn kept(key: usize) -> Option<Rc<dyn Any>> {
    RUN.with(|run| {
        run.kept
            .borrow()
            .get(&key)
            .map(|kept| Rc::clone(&kept.data))
    })
}

/// It is gone; `false` if it was not there.
pub(crate) fn gone(key: usize) -> bool {
    RUN.with(|run| run.kept.borrow_mut().remove(&key).is_some())
}

/// Whether changes of how many references there are can be noticed.
pub(crate) fn counts() -> bool {
    RUN.with(|run| run.counts.get())
}

/// Somebody looks at how many there are. If that was not expected the search ends here, and begins anew.
pub(crate) fn looks_at_counts() {
    let is_surprise = RUN.with(|run| {
        run.looked
            .set(run.looked.get() || run.is_on.get() && !run.counts.get());
        run.looked.get()
    });
    assert!(
        !is_surprise || std::thread::panicking(),
        "somebody looks at how many references there are"
    );
}

/// A search begins, in which this is known.
pub(crate) fn expect_counts(counts: bool) {
    RUN.with(|run| {
        run.counts.set(counts);
        run.looked.set(false);
    });
}

/// Whether the search has to begin anew, as somebody looked at counts that nobody kept.
pub(crate) fn is_surprised() -> bool {
    RUN.with(|run| run.looked.get())
}
