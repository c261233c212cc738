//! Following one run, one step at a time.
//!
//! A stepper keeps the number of the letter for the current values. A write replaces the bits of the
//! gauges that read the written variable; a step is then one look-up. Nothing is allocated, and on
//! the usual way nothing is called and no pointer is followed but those in the stepper itself, so
//! that a stepper on the stack can live in registers: that is most of what a step costs.

mod hot;
mod plan;

use portent_monitor_core::{Type, Value};
use std::sync::Arc;

use self::hot::{VERDICT, verdict_of};
use crate::{
    alphabet::{EventId, Letter, VariableId},
    error::{Error, Mismatch},
    explain::Explanation,
    monitor::{Monitor, StateId},
    verdict::Verdict,
};

pub(crate) use self::{hot::Hot, plan::Plans};

/// One run of a [`Monitor`].
///
/// ```
/// use portent_monitor_dsl::{Property, Verdict};
///
/// let property = Property::parse(
///     "property reservoir {
///          var w: int = 20   var v: int = 40
///          let p = w > 26    let q = w > 30    let r = v > 55
///          ltl: always (q -> ((r && p) since start(p)))
///      }",
/// )?;
/// let monitor = property.monitor()?;
/// let [w, v] = ["w", "v"].map(|name| monitor.alphabet().variable(name).unwrap());
///
/// let mut run = monitor.start()?;
/// run.write(w, 27)?;
/// run.write(v, 50)?; // not above 55 while w is above 26 ...
/// assert_eq!(run.verdict(), Verdict::Ok);
/// run.write(w, 31)?; // ... and then w goes above 30
/// assert_eq!(run.verdict(), Verdict::Violated);
/// assert_eq!(run.decided_after(), Some(3));
/// # Ok::<(), portent_monitor_dsl::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stepper {
    monitor: Monitor,
    hot: Hot,
    /// The current state, as the row of the table.
    row: u32,
    /// The letter for the current values and no event.
    base: u64,
    /// The current values of variables that are not on a scale.
    values: Vec<Value>,
    steps: u64,
    decided: Option<u64>,
    /// The letters so far, if they are remembered.
    trail: Option<Vec<Letter>>,
}

impl Stepper {
    pub(crate) fn new(
        monitor: Monitor,
        mut initial: impl FnMut(&str) -> Option<Value>,
    ) -> Result<Stepper, Error> {
        let mut values = Vec::with_capacity(monitor.alphabet().variables().len());
        for variable in monitor.alphabet().variables() {
            let value = initial(&variable.name).or_else(|| variable.initial.clone());
            let value =
                value.ok_or_else(|| Error::NoInitialValue(variable.name.as_str().into()))?;
            values.push(fit(&monitor, VariableId::new(values.len()), value)?);
        }
        let alphabet = monitor.alphabet();
        let gauges = alphabet.gauges().iter().zip(&alphabet.places()[1..]);
        let base = gauges.fold(0, |base, (gauge, place)| {
            base | place.code(gauge.read(&values))
        });
        let mut state = 0;
        if alphabet.reads_variables() {
            state = monitor.table().next(0, Letter(base));
        }
        let hot = monitor.hot().clone();
        let row = hot.row(monitor.outputs(), state);
        let mut stepper = Stepper {
            monitor,
            hot,
            row,
            base,
            values,
            steps: 0,
            decided: None,
            trail: None,
        };
        stepper.decided = stepper.verdict().is_final().then_some(0);
        Ok(stepper)
    }

    /// The same run, with its letters remembered from here on, so that [`Stepper::explain`] has
    /// something to go by. This allocates; call it before the first step.
    pub fn remembering(mut self) -> Stepper {
        let initial = self
            .monitor
            .alphabet()
            .reads_variables()
            .then_some(Letter(self.base));
        self.trail = Some(initial.into_iter().collect());
        self.hot.next = Arc::default();
        self
    }

    /// Why the verdict is final; `None` if it is open, or if the run was not
    /// [remembered](Stepper::remembering).
    pub fn explain(&self) -> Option<Explanation> {
        self.monitor.explain(self.trail.as_deref()?)
    }

    /// The monitor of this run.
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// The current state.
    pub fn state(&self) -> StateId {
        StateId(self.row >> self.hot.shift)
    }

    /// The verdict on the run so far.
    #[inline(always)]
    pub fn verdict(&self) -> Verdict {
        verdict_of(self.row)
    }

    /// The number of steps so far; the initial values are not a step.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// After how many steps the verdict became final, if it is.
    pub fn decided_after(&self) -> Option<u64> {
        self.decided
    }

    /// The letter for the current values and an event, or none.
    pub fn letter(&self, event: Option<EventId>) -> Letter {
        Letter(self.base | self.monitor.alphabet().event_code(event).unwrap_or(0))
    }

    /// A step that is an event and writes nothing.
    #[inline(always)]
    pub fn event(&mut self, event: EventId) -> Verdict {
        self.advance(Letter(
            self.base | (event.index() as u64 + u64::from(self.hot.first_event)),
        ))
    }

    /// A step that writes a variable and is none of the events.
    #[inline(always)]
    pub fn write(
        &mut self,
        variable: VariableId,
        value: impl Into<Value>,
    ) -> Result<Verdict, Error> {
        self.assign(variable, value.into())?;
        Ok(self.advance(Letter(self.base)))
    }

    /// A step that is an event, or none, and writes any number of variables. In an `ere` or `never`
    /// over events alone every step is an event; without one nothing happens.
    pub fn step(
        &mut self,
        event: Option<EventId>,
        writes: impl IntoIterator<Item = (VariableId, Value)>,
    ) -> Result<Verdict, Error> {
        for (variable, value) in writes {
            self.assign(variable, value)?;
        }
        if event.is_none() && !self.monitor.alphabet().has_silent_letter() {
            return Ok(self.verdict());
        }
        Ok(self.advance(self.letter(event)))
    }

    #[inline(always)]
    fn advance(&mut self, letter: Letter) -> Verdict {
        let entry = (self.row & !VERDICT) as usize + letter.0 as usize;
        self.row = match self.hot.next.get(entry) {
            Some(&row) => row,
            None => self.look_up(letter),
        };
        self.steps += 1;
        if self.row & VERDICT <= Verdict::Satisfied as u32 && self.decided.is_none() {
            self.decided = Some(self.steps);
        }
        self.verdict()
    }

    /// The next row, for a machine that is too large for a table, or if letters are remembered.
    #[inline(never)]
    fn look_up(&mut self, letter: Letter) -> u32 {
        if let Some(trail) = &mut self.trail {
            trail.push(letter);
        }
        let state = self
            .monitor
            .table()
            .next(self.row >> self.hot.shift, letter);
        self.hot.row(self.monitor.outputs(), state)
    }

    #[inline(always)]
    fn assign(&mut self, variable: VariableId, value: Value) -> Result<(), Error> {
        let scale = &self.hot.scales[variable.index()];
        if let (true, Value::Int(value)) = (scale.exists, &value) {
            self.base = (self.base & scale.others) | scale.code(*value);
            return Ok(());
        }
        self.base = reread(&self.monitor, &mut self.values, self.base, variable, value)?;
        Ok(())
    }
}

/// The letter after a write to a variable that is not on a scale.
#[inline(never)]
fn reread(
    monitor: &Monitor,
    values: &mut [Value],
    base: u64,
    variable: VariableId,
    value: Value,
) -> Result<u64, Error> {
    values[variable.index()] = fit(monitor, variable, value)?;
    let gauges = &monitor.plans().0[variable.index()].gauges;
    Ok(gauges.iter().fold(base, |base, &(gauge, place)| {
        let cell = monitor.alphabet().gauges()[gauge].read(values);
        (base & !place.mask) | place.code(cell)
    }))
}

/// The value as one of the variable's type; integers are numbers too.
fn fit(monitor: &Monitor, variable: VariableId, value: Value) -> Result<Value, Error> {
    let expected = monitor.plans().0[variable.index()].type_of;
    match (expected, value) {
        (Type::Float, Value::Int(n)) => Ok(Value::Float(n as f64)),
        (expected, value) if value.type_of() == expected => Ok(value),
        (expected, value) => Err(Error::WrongType(Box::new(Mismatch {
            variable: monitor.alphabet().variables()[variable.index()]
                .name
                .clone(),
            expected,
            found: value.type_of(),
        }))),
    }
}
