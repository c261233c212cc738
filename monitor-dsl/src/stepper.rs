//! Following one run, one step at a time.
//!
//! A stepper keeps the number of the letter for the current values. A write replaces the bits of the
//! gauges that read the written variable; a step is then one look-up. Nothing is allocated, and on
//! the usual way nothing is called and no pointer is followed but those in the stepper itself, so
//! that a stepper on the stack can live in registers: that is most of what a step costs.

use portent_monitor_core::{Type, Value};
use std::sync::Arc;

use crate::{
    alphabet::{Alphabet, EventId, Letter, Place, StateVariable, VariableId, gauge::Gauge},
    error::{Error, Mismatch},
    explain::Explanation,
    machine::Table,
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

/// The parts of a monitor that every step needs, at hand.
#[derive(Clone, Debug)]
pub(crate) struct Hot {
    /// For every row and letter the next row. The low bits of a row tell its verdict, the others
    /// where it begins. Empty if the machine is too large for that, or if more is to be done in a
    /// step than to look here.
    next: Arc<[u32]>,
    scales: Arc<[Scale]>,
    /// The number of the first event in a letter.
    first_event: u32,
    /// A row is a state shifted by this, and its verdict.
    shift: u32,
}

/// The bits of a row that tell its verdict.
const VERDICT: u32 = 7;
/// No table is made with more entries than this.
const MAX_ENTRIES: usize = 1 << 20;

impl Hot {
    pub(crate) fn new(
        alphabet: &Alphabet,
        table: &Table,
        outputs: &[Verdict],
        plans: &Plans,
    ) -> Self {
        let codes = alphabet
            .places()
            .iter()
            .fold(0, |codes, place| codes | place.mask);
        let shift = (u64::BITS - codes.leading_zeros()).max(VERDICT.count_ones());
        let scales = plans
            .0
            .iter()
            .map(|plan| plan.scale.unwrap_or(Scale::NONE))
            .collect();
        let first_event = u32::from(alphabet.has_silent_letter());
        let mut hot = Hot {
            next: Arc::default(),
            scales,
            first_event,
            shift,
        };
        if codes < MAX_ENTRIES as u64 && outputs.len() << shift <= MAX_ENTRIES {
            let mut next = vec![0; outputs.len() << shift];
            for state in 0..outputs.len() as u32 {
                for letter in alphabet.letters() {
                    let entry = ((state as usize) << shift) + letter.0 as usize;
                    next[entry] = hot.row(outputs, table.next(state, letter));
                }
            }
            hot.next = next.into();
        }
        hot
    }

    fn row(&self, outputs: &[Verdict], state: u32) -> u32 {
        (state << self.shift) | outputs[state as usize] as u32
    }
}

/// The verdict that a row tells. A look-up, because a `match` becomes a jump that is hard to predict.
#[inline(always)]
fn verdict_of(row: u32) -> Verdict {
    const OF_BITS: [Verdict; VERDICT as usize + 1] = [
        Verdict::Violated,
        Verdict::Satisfied,
        Verdict::Pending,
        Verdict::Ok,
        Verdict::Unknown,
        Verdict::Unknown,
        Verdict::Unknown,
        Verdict::Unknown,
    ];
    OF_BITS[(row & VERDICT) as usize]
}

/// What a write to each variable entails.
pub(crate) struct Plans(Vec<Plan>);

struct Plan {
    type_of: Type,
    /// The variable is an integer that is compared with a few constants only.
    scale: Option<Scale>,
    /// The gauges to read again otherwise.
    gauges: Vec<(usize, Place)>,
}

/// A variable on a scale is compared with at most so many constants.
const MARKS: usize = 2;

/// A gauge that reads one integer variable and has few marks: the usual case. Always as many
/// comparisons, because a loop of varying length costs more than they do.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// The gauge shows how many of these the value is above.
    marks: [i64; MARKS],
    /// The bits for what the gauge shows.
    codes: [u64; MARKS + 1],
    /// The bits of the letter that other gauges have.
    others: u64,
    /// Whether the variable is on a scale at all.
    exists: bool,
}

impl Scale {
    const NONE: Scale = Scale {
        marks: [0; MARKS],
        codes: [0; MARKS + 1],
        others: 0,
        exists: false,
    };

    fn new(gauge: &Gauge, place: Place) -> Option<Scale> {
        let (_, thresholds) = gauge.as_integer_scale()?;
        if thresholds.len() > MARKS {
            return None;
        }
        // Marks that are not needed are above every value.
        let mut scale = Scale {
            marks: [i64::MAX; MARKS],
            codes: [0; MARKS + 1],
            others: !place.mask,
            exists: true,
        };
        for (mark, threshold) in scale.marks.iter_mut().zip(thresholds) {
            *mark = threshold - 1; // no threshold is the smallest number: see `Gauge::new`
        }
        for (code, &cell) in scale.codes.iter_mut().zip(&gauge.cell_at) {
            *code = place.code(cell);
        }
        Some(scale)
    }

    #[inline(always)]
    fn code(&self, value: i64) -> u64 {
        let code = if value > self.marks[0] {
            self.codes[1]
        } else {
            self.codes[0]
        };
        if value > self.marks[1] {
            self.codes[2]
        } else {
            code
        }
    }
}

impl Plans {
    pub(crate) fn new(alphabet: &Alphabet) -> Self {
        let plan = |(index, variable): (usize, &StateVariable)| {
            let id = VariableId::new(index);
            let gauges: Vec<(usize, Place)> = alphabet
                .gauges()
                .iter()
                .zip(&alphabet.places()[1..])
                .enumerate()
                .filter(|(_, (gauge, _))| gauge.variables().contains(&id))
                .map(|(gauge, (_, place))| (gauge, *place))
                .collect();
            let scale = match gauges.as_slice() {
                &[(gauge, place)] => Scale::new(&alphabet.gauges()[gauge], place),
                _ => None,
            };
            Plan {
                type_of: variable.type_of,
                scale,
                gauges,
            }
        };
        Plans(alphabet.variables().iter().enumerate().map(plan).collect())
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
