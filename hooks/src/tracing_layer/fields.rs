//! The fields of spans and events of `tracing`.

use std::fmt;

use portent_monitor_core::Value;
use tracing::field::{Field, Visit};

use crate::ToValue;

/// The fields of a span or an event.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let mut latest = self.0.iter().rev();
        latest
            .find(|(other, _)| *other == name)
            .map(|(_, value)| value)
    }

    fn put(&mut self, field: &Field, value: Value) {
        match self.0.iter_mut().find(|(name, _)| *name == field.name()) {
            Some((_, there)) => *there = value,
            None => self.0.push((field.name(), value)),
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.to_value());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.to_value());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.to_value());
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.put(field, value.to_value());
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.put(field, value.to_value());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.to_value());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.to_value());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}").to_value());
    }
}
