//! Following one run, one step at a time.
//!
//! A stepper keeps the number of the current letter. A write recomputes only the gauges that read
//! the written variable and adds the difference; a step is then one look-up. Nothing is allocated.

use portent_monitor_core::{Type, Value};

use crate::{
    alphabet::{Alphabet, EventId, Letter, VariableId, gauge::Gauge},
    error::Error,
    explain::Explanation,
    monitor::{Monitor, StateId},
    verdict::Verdict,
};

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
    state: u32,
    /// The letter for the current values and no event.
    base: u64,
    /// What each gauge contributes to `base`.
    shares: Vec<u64>,
    /// The current values of variables that are read together with others.
    values: Vec<Value>,
    steps: u64,
    decided: Option<u64>,
    /// The letters so far, if they are remembered.
    trail: Option<Vec<Letter>>,
}

/// What a write to each variable entails.
pub(crate) struct Plans {
    of_variable: Vec<Plan>,
    of_gauge: Vec<u64>,
}

struct Plan {
    type_of: Type,
    /// The variable is an integer that is compared with constants only.
    scale: Option<Scale>,
    /// The gauges to read again otherwise.
    gauges: Vec<u32>,
}

/// A gauge that reads one integer variable.
struct Scale {
    gauge: usize,
    thresholds: Vec<i64>,
    /// What the gauge contributes to the letter, by the number of thresholds reached.
    shares: Vec<u64>,
}

impl Plans {
    pub(crate) fn new(alphabet: &Alphabet) -> Self {
        let mut stride = alphabet.event_cells() as u64;
        let mut of_gauge = Vec::with_capacity(alphabet.gauges().len());
        for gauge in alphabet.gauges() {
            of_gauge.push(stride);
            stride *= u64::from(gauge.cells);
        }
        let plan = |(index, variable): (usize, &crate::alphabet::StateVariable)| {
            let id = VariableId::new(index);
            let reads = |(_, gauge): &(usize, &Gauge)| gauge.variables().contains(&id);
            let gauges: Vec<usize> = alphabet
                .gauges()
                .iter()
                .enumerate()
                .filter(reads)
                .map(|(gauge, _)| gauge)
                .collect();
            let scale = match gauges.as_slice() {
                &[gauge] => alphabet.gauges()[gauge]
                    .as_integer_scale()
                    .map(|(_, thresholds)| {
                        let cells = alphabet.gauges()[gauge].cell_at.iter();
                        let shares = cells
                            .map(|&cell| u64::from(cell) * of_gauge[gauge])
                            .collect();
                        Scale {
                            gauge,
                            thresholds,
                            shares,
                        }
                    }),
                _ => None,
            };
            let gauges = gauges.into_iter().map(|gauge| gauge as u32).collect();
            Plan {
                type_of: variable.type_of,
                scale,
                gauges,
            }
        };
        let of_variable = alphabet.variables().iter().enumerate().map(plan).collect();
        Plans {
            of_variable,
            of_gauge,
        }
    }
}

impl Stepper {
    pub(crate) fn new(
        monitor: Monitor,
        mut initial: impl FnMut(&str) -> Option<Value>,
    ) -> Result<Stepper, Error> {
        let mut values = Vec::with_capacity(monitor.alphabet().variables().len());
        for variable in monitor.alphabet().variables() {
            let value = initial(&variable.name).or_else(|| variable.initial.clone());
            let value = value.ok_or_else(|| Error::NoInitialValue {
                variable: variable.name.clone(),
            })?;
            values.push(fit(&monitor, VariableId::new(values.len()), value)?);
        }
        let mut stepper = Stepper {
            state: monitor.initial().0,
            base: 0,
            shares: vec![0; monitor.alphabet().gauges().len()],
            values,
            steps: 0,
            decided: None,
            trail: None,
            monitor,
        };
        for gauge in 0..stepper.shares.len() {
            stepper.read(gauge);
        }
        if stepper.monitor.alphabet().reads_variables() {
            stepper.state = stepper
                .monitor
                .table()
                .next(stepper.state, Letter(stepper.base));
        }
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
        StateId(self.state)
    }

    /// The verdict on the run so far.
    pub fn verdict(&self) -> Verdict {
        self.monitor.outputs()[self.state as usize]
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
        Letter(self.base + self.monitor.alphabet().event_offset(event).unwrap_or(0))
    }

    /// A step that is an event and writes nothing.
    #[inline]
    pub fn event(&mut self, event: EventId) -> Verdict {
        let offset = event.index() as u64 + u64::from(self.monitor.alphabet().has_silent_letter());
        self.advance(Letter(self.base + offset))
    }

    /// A step that writes a variable and is none of the events.
    #[inline]
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

    #[inline]
    fn advance(&mut self, letter: Letter) -> Verdict {
        self.state = self.monitor.table().next(self.state, letter);
        self.steps += 1;
        if let Some(trail) = &mut self.trail {
            trail.push(letter);
        }
        let verdict = self.verdict();
        if verdict.is_final() && self.decided.is_none() {
            self.decided = Some(self.steps);
        }
        verdict
    }

    #[inline]
    fn assign(&mut self, variable: VariableId, value: Value) -> Result<(), Error> {
        let plan = &self.monitor.plans().of_variable[variable.index()];
        if let (Some(scale), &Value::Int(value)) = (&plan.scale, &value) {
            let reached = scale
                .thresholds
                .iter()
                .map(|&threshold| usize::from(threshold <= value))
                .sum::<usize>();
            let share = scale.shares[reached];
            self.base = self.base - self.shares[scale.gauge] + share;
            self.shares[scale.gauge] = share;
            return Ok(());
        }
        self.assign_slowly(variable, value)
    }

    #[inline(never)]
    fn assign_slowly(&mut self, variable: VariableId, value: Value) -> Result<(), Error> {
        self.values[variable.index()] = fit(&self.monitor, variable, value)?;
        for index in 0..self.monitor.plans().of_variable[variable.index()]
            .gauges
            .len()
        {
            let gauge = self.monitor.plans().of_variable[variable.index()].gauges[index];
            self.read(gauge as usize);
        }
        Ok(())
    }

    /// Reads a gauge again.
    fn read(&mut self, gauge: usize) {
        let cell = self.monitor.alphabet().gauges()[gauge].read(&self.values);
        let share = u64::from(cell) * self.monitor.plans().of_gauge[gauge];
        self.base = self.base - self.shares[gauge] + share;
        self.shares[gauge] = share;
    }
}

/// The value as one of the variable's type; integers are numbers too.
fn fit(monitor: &Monitor, variable: VariableId, value: Value) -> Result<Value, Error> {
    let expected = monitor.plans().of_variable[variable.index()].type_of;
    match (expected, value) {
        (Type::Float, Value::Int(n)) => Ok(Value::Float(n as f64)),
        (expected, value) if value.type_of() == expected => Ok(value),
        (expected, value) => Err(Error::WrongType {
            variable: monitor.alphabet().variables()[variable.index()]
                .name
                .clone(),
            expected,
            found: value.type_of(),
        }),
    }
}
