//! Nobody decides what runs next, but for the model checker.

#![allow(dead_code, reason = "what is only controlled is never called")]

use std::rc::Rc;

use portent_monitor_core::Value;

use crate::live::{actor::Place, names::Name};

pub(crate) enum Class {
    Atomic,
    Mutex,
    ReadWrite,
    Once { done: bool },
}

pub(crate) struct Object<'a>(std::marker::PhantomData<&'a Name>);

impl<'a> Object<'a> {
    pub(crate) fn new(_: &'a Name, _: &'static str, _: Class) -> Object<'a> {
        Object(std::marker::PhantomData)
    }
}

pub(crate) enum Step {
    Read,
    Write,
    Update,
}

pub(crate) enum Release {
    Unlock,
    ReadUnlock,
}

pub(crate) struct Turn {
    pub(crate) succeeds: bool,
    pub(crate) tell: bool,
}

pub(crate) trait Controller {
    fn step(&self, step: Step, object: Object<'_>, place: Place) -> Turn;
    fn release(&self, release: Release, object: Object<'_>);
    fn wrote(&self, before: Option<Value>, value: Option<Value>);
    fn unchanged(&self);
    fn try_again(&self) -> bool;
    fn obstructed(&self, object: Object<'_>, place: Place) -> !;
}

pub(crate) fn current() -> Option<Rc<dyn Controller>> {
    None
}
