//! The direct predecessors of an event, other than those in its own thread.

use super::Place;
use crate::{Knowledge, Object, ThreadId};

/// The last events of each thread that directly precede a thread's next event, and the position of the thread: carried along
/// the edges of the [table](crate::edges), through variables and locks only if they are `SHARED`. Without them the edges are
/// *hard*.
///
/// ```
/// use portent_monitor_core::{Event, Flow, Op, Place, Predecessors, Symbols};
///
/// let mut s = Symbols::default();
/// let (t1, t2, x) = (s.threads.intern("T1")?, s.threads.intern("T2")?, s.vars.intern("x")?);
/// let [write, read] = [t1, t2].map(|thread| Place { thread, position: 1 });
/// let mut flow: Flow<Predecessors<true>> = Flow::default();
/// flow.step(&Event::new(t1, Op::Write(x, None)), |before| before.arrive(write));
/// let before = flow.step(&Event::new(t2, Op::Read(x)), |before| before.arrive(read));
/// assert_eq!(before, [write]);
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Predecessors<const SHARED: bool> {
    here: Option<Place>,
    after: Vec<Place>,
}

impl<const SHARED: bool> Predecessors<SHARED> {
    /// The thread has reached its next event; returns the direct predecessors of that event.
    #[inline]
    pub fn arrive(&mut self, here: Place) -> Vec<Place> {
        self.here = Some(here);
        std::mem::take(&mut self.after)
    }
}

fn add(place: Place, to: &mut Vec<Place>) {
    match to.iter_mut().find(|other| other.thread == place.thread) {
        Some(other) => other.position = other.position.max(place.position),
        None => to.push(place),
    }
}

impl<const SHARED: bool> Knowledge for Predecessors<SHARED> {
    type Published = Vec<Place>;

    fn new(_: ThreadId) -> Self {
        Predecessors {
            here: None,
            after: Vec::new(),
        }
    }

    #[inline]
    fn travels(object: Object) -> bool {
        SHARED || !matches!(object, Object::Var(_) | Object::Lock(_))
    }

    fn is_empty(left: &Vec<Place>) -> bool {
        left.is_empty()
    }

    fn learn(&mut self, left: &Vec<Place>) {
        for &place in left {
            add(place, &mut self.after);
        }
    }

    fn add_to(&mut self, left: &mut Vec<Place>) {
        for &place in self.after.iter().chain(&self.here) {
            add(place, left);
        }
    }

    fn merge(&mut self, left: &Vec<Place>, into: &mut Vec<Place>) {
        for &place in left {
            add(place, into);
        }
    }

    fn left(&mut self) -> Vec<Place> {
        let mut left = Vec::new();
        self.add_to(&mut left);
        left
    }

    fn is_same(&self, _: &Vec<Place>) -> bool {
        false
    }
}
