//! From events to the steps of properties: what each property sees of an event and where it is in the causal order,
//! what is kept of that until the run has ended, and the slice of it that belongs to one binding of a property's parameters.
//!
//! | file | its notion |
//! |---|---|
//! | [`stream`] | the way in: events are looked at, checked and ordered, and arrive |
//! | [`viewer`], [`relevance`] | one property that looks at them, and what it sees |
//! | [`text`], [`values`] | what is read out of text; values of variables |
//! | [`seen`], [`step`] | what an event is to a property, and what it does to it |
//! | [`spelling`], [`binding`], [`refused`] | values of parameters, what events bind, and what there is no room for |
//! | [`stamps`] | events that bring their place in the order |
//! | [`clock_budget`] | how much the clocks of threads may take |
//! | [`waits`] | waits that were recorded too early, and locks that several threads seem to hold |
//! | [`thread_positions`] | the threads that may still act, and what they know |
//! | [`history`], [`record`], [`line_note`] | what is kept until the run has ended |
//! | [`occurrence`] | which names have occurred |
//! | [`slice`] | the run of one instance, when all bindings are known |
//! | [`joins`] | the instances while they are not |
//! | [`spread`] | tables and lists that never grow at once |

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
