//! Lets someone else end a search while it runs.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Ends searches when it is raised, from whatever thread; clones share it. The default is one that nobody can raise.
///
/// A search that is ended reports what it knows by then, and [which limit](crate::Limit::Time) it met. This crate reads
/// no time of day, so a limit of time is a signal that is raised when the time is up.
///
/// ```
/// use portent_lattice::{Checker, Limit, Options, Stop};
/// use portent_monitor_core::{Event, Op, Value};
/// use portent_monitor_dsl::Property;
///
/// let stop = Stop::new();
/// let options = Options::default().stop(stop.clone());
/// let monitor = Property::parse("always (x >= y)")?.monitor()?;
/// let mut checker = Checker::new([monitor], |_| Some(Value::from(0)), options)?;
/// let s = checker.symbols_mut();
/// let (t1, t2) = (s.threads.intern("T1")?, s.threads.intern("T2")?);
/// let (x, y) = (s.vars.intern("x")?, s.vars.intern("y")?);
/// checker.take(&Event::new(t1, Op::Write(x, Some(Value::from(5)))))?;
/// checker.take(&Event::new(t2, Op::Write(y, Some(Value::from(2)))))?;
///
/// stop.raise(); // as another thread would, after a while
/// let report = checker.finish("run")?;
/// assert_eq!(report.properties[0].lattice.limit, Some(Limit::Time));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Option<Arc<AtomicBool>>);

impl Stop {
    /// A signal that can be raised.
    pub fn new() -> Stop {
        Stop(Some(Arc::default()))
    }

    /// Ends all searches that were given this signal or a clone of it.
    pub fn raise(&self) {
        // Nothing is handed over with the signal, so no order is asked for.
        if let Some(raised) = &self.0 {
            raised.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it was raised.
    #[inline]
    pub fn is_raised(&self) -> bool {
        let raised = self.0.as_deref();
        raised.is_some_and(|raised| raised.load(Ordering::Relaxed))
    }
}

/// Equal signals are the same signal.
impl PartialEq for Stop {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Stop {}
