//! The state of one run of a model: lazy statics, and resources that must not be left over at its end.
//!
//! All threads of a model are on one thread of the operating system, so this state is a thread-local.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::HashMap,
    mem,
    panic::Location,
    rc::Rc,
};

/// A resource that must be released before a run ends.
pub(crate) struct Kept {
    /// The kind of resource.
    pub(crate) what: &'static str,
    /// The place where it was made.
    pub(crate) made: &'static Location<'static>,
    /// The data recorded for it.
    pub(crate) data: Rc<dyn Any>,
}

#[derive(Default)]
struct Run {
    is_on: Cell<bool>,
    lazy: RefCell<HashMap<usize, Rc<dyn Any>>>,
    kept: RefCell<HashMap<usize, Kept>>,
    /// Whether reference counts are read.
    counts: Cell<bool>,
    /// Whether they were read unexpectedly.
    looked: Cell<bool>,
}

thread_local! {
    static RUN: Run = Run::default();
}

/// Starts a run. Nothing is left of an earlier one, even if that was cut short.
pub(crate) fn begin() {
    RUN.with(|run| {
        run.is_on.set(true);
        // These values may hold references into a run that was ended by force, so they must not be accessed.
        forget(&mut run.lazy.borrow_mut());
        forget(&mut run.kept.borrow_mut());
    });
}

fn forget<T>(left: &mut HashMap<usize, T>) {
    if !left.is_empty() {
        mem::forget(mem::take(left));
    }
}

/// The function of the model has returned.
pub(crate) fn end() {
    RUN.with(|run| run.is_on.set(false));
}

/// Whether this is inside of a model.
pub(crate) fn is_on() -> bool {
    RUN.with(|run| run.is_on.get())
}

/// The first resource left over.
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

/// Stores a lazy static; returns the one that stays, if another thread was faster.
pub(crate) fn make_lazy(key: usize, value: Rc<dyn Any>) -> Rc<dyn Any> {
    RUN.with(|run| Rc::clone(run.lazy.borrow_mut().entry(key).or_insert(value)))
}

/// Drops the lazy statics.
pub(crate) fn drop_lazy() {
    // Their destructors may do anything.
    drop(RUN.with(|run| mem::take(&mut *run.lazy.borrow_mut())));
}

/// Records a resource that must be released before the end.
pub(crate) fn keep(key: usize, kept: Kept) {
    RUN.with(|run| run.kept.borrow_mut().insert(key, kept));
}

/// The data recorded for a resource.
pub(crate) fn kept(key: usize) -> Option<Rc<dyn Any>> {
    RUN.with(|run| {
        run.kept
            .borrow()
            .get(&key)
            .map(|kept| Rc::clone(&kept.data))
    })
}

/// Removes a resource; `false` if it was not recorded.
pub(crate) fn gone(key: usize) -> bool {
    RUN.with(|run| run.kept.borrow_mut().remove(&key).is_some())
}

/// Whether changes of reference counts can be observed.
pub(crate) fn counts() -> bool {
    RUN.with(|run| run.counts.get())
}

/// A thread reads a reference count. If that was not expected, the search ends here, and starts over.
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

/// Begins a search with this knowledge.
pub(crate) fn expect_counts(counts: bool) {
    RUN.with(|run| {
        run.counts.set(counts);
        run.looked.set(false);
    });
}

/// Whether the search must start over because untracked reference counts were read.
pub(crate) fn is_surprised() -> bool {
    RUN.with(|run| run.looked.get())
}
