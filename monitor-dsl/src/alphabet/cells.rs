//! Which values of a variable no letter tells apart.

use portent_monitor_core::Value;

use super::{Alphabet, VariableId};

impl Alphabet {
    /// The cells in which a value puts the gauges of a variable: values with equal cells are the
    /// same to the property. `None` if the property compares the variable with another one, since
    /// then no two values are known to be the same.
    ///
    /// ```
    /// use portent_monitor_dsl::{Property, Value};
    ///
    /// let property = Property::parse("always (w > 30 -> x >= y)")?;
    /// let alphabet = property.alphabet();
    /// let [w, x] = ["w", "x"].map(|name| alphabet.variable(name).unwrap());
    /// assert_eq!(alphabet.cells(w, &Value::from(31)), alphabet.cells(w, &Value::from(90)));
    /// assert_ne!(alphabet.cells(w, &Value::from(31)), alphabet.cells(w, &Value::from(30)));
    /// assert_eq!(alphabet.cells(x, &Value::from(31)), None);
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the value is not of the variable's type.
    pub fn cells(&self, variable: VariableId, value: &Value) -> Option<Vec<u32>> {
        // Only the place of the variable is ever read.
        let values = vec![value.clone(); self.variables.len()];
        let mut cells = Vec::new();
        for gauge in &self.gauges {
            let read = gauge.variables();
            if read.contains(&variable) {
                if read.iter().any(|other| *other != variable) {
                    return None;
                }
                cells.push(gauge.read(&values));
            }
        }
        Some(cells)
    }
}
