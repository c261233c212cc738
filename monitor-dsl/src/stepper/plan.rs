//! What a write entails: a variable on a scale is compared with a few constants, any other has its gauges read again.

use portent_monitor_core::Type;

use crate::alphabet::{Alphabet, BitField, StateVariable, VariableId, gauge::Gauge};

/// What a write to each variable entails.
pub(crate) struct Plans(pub(super) Vec<Plan>);

pub(super) struct Plan {
    pub(super) type_of: Type,
    /// The variable is an integer that is compared with a few constants only.
    pub(super) scale: Option<Scale>,
    /// The gauges to read again otherwise.
    pub(super) gauges: Vec<(usize, BitField)>,
}

/// A variable on a scale is compared with at most this many constants.
const MARKS: usize = 2;

/// A gauge that reads one integer variable and has few marks: the usual case. Always as many
/// comparisons, because a loop of varying length costs more than they do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The gauge shows how many of these the value is above.
    marks: [i64; MARKS],
    /// The bits for what the gauge shows.
    codes: [u64; MARKS + 1],
    /// The bits of the letter that other gauges have.
    pub(super) others: u64,
    /// Whether the variable is on a scale at all.
    pub(super) exists: bool,
}

impl Scale {
    pub(super) const NONE: Scale = Scale {
        marks: [0; MARKS],
        codes: [0; MARKS + 1],
        others: 0,
        exists: false,
    };

    fn new(gauge: &Gauge, place: BitField) -> Option<Scale> {
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
    pub(super) fn code(&self, value: i64) -> u64 {
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
            let gauges: Vec<(usize, BitField)> = alphabet
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
