//! From events to the steps of properties: what each property sees of an event, and the event's place in the causal order;
//! the part of this that is kept until the run has ended; and the slice of it that belongs to one binding of a property's
//! parameters.
//!
//! | file | contents |
//! |---|---|
//! | [`stream`] | the entrance: events are matched, checked and ordered, and become arrivals |
//! | [`viewer`], [`relevance`] | one property, and what it sees of events |
//! | [`text`], [`values`] | values read out of text; values of variables |
//! | [`seen`], [`step`] | an event as a property sees it, and its effect on the property |
//! | [`spelling`], [`binding`], [`refused`] | values of parameters, bindings of events, and bindings refused for lack of room |
//! | [`stamps`] | events that carry their place in the order |
//! | [`clock_budget`] | a memory limit for the clocks of threads |
//! | [`waits`] | waits that were recorded too early, and locks that several threads seem to hold |
//! | [`thread_positions`] | the threads that may still act, and what they know |
//! | [`history`], [`record`], [`line_note`] | the data kept until the run has ended |
//! | [`occurrence`] | which names have occurred |
//! | [`slice`] | the run of one instance, when all bindings are known |
//! | [`joins`] | the instances while bindings are still arriving |
//! | [`spread`] | tables and lists that never grow all at once |

mod binding;
mod clock_budget;
mod history;
mod joins;
mod line_note;
mod occurrence;
mod record;
mod refused;
mod relevance;
mod seen;
mod slice;
mod spelling;
mod spread;
mod stamps;
mod step;
mod stream;
mod text;
mod thread_positions;
mod values;
mod viewer;
mod waits;

pub(crate) use binding::{Binding, BindingId, Bindings, Inequalities};
pub(crate) use clock_budget::ClockBudget;
pub(crate) use history::{History, HistoryIndex};
pub(crate) use joins::{JoinId, Joins};
pub use line_note::Note;
pub(crate) use line_note::{LineNote, is_silent};
pub(crate) use occurrence::Names;
pub(crate) use record::{Record, StepsTaken};
pub(crate) use slice::{Slice, slices};
pub(crate) use spread::Blocks;
pub(crate) use step::{Step, StepId};
pub(crate) use stream::{Arrival, Intake, IntakeLimits, PropertyStep};
pub(crate) use thread_positions::ThreadPositions;
pub(crate) use viewer::Viewer;
pub(crate) use waits::{EarlyWait, HeldAtEnd, UnloggedWaits, Waits};
