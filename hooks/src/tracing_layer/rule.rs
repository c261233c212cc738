//! Rules: which spans and events match, and what they are turned into.

use portent_monitor_core::Value;
use tracing::Metadata;

use super::fields::Fields;
use crate::live::event::NamedEvent;

/// What happens to a span, or that there is an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Event,
    NewSpan,
    Enter,
    Exit,
    Close,
}

/// What a span or an event of `tracing` means: made by [`TracingRule::event`] and kin, and given to a [`TracingLayer`](crate::TracingLayer).
///
/// It says first which are meant, and then what they do; several rules may be about the same.
///
/// ```
/// use portent_hooks::TracingRule;
///
/// // `tracing::info!(target: "shop::orders", order = 7, "order paid")` is `pay(7)`.
/// let pay = TracingRule::event().target("shop").message("order paid").emits("pay").arg("order");
/// // To enter a span `request` is `begin(id)`.
/// let begin = TracingRule::enter().name("request").emits("begin").arg("id");
/// // The variable `level` takes the value of the field `litres`.
/// let level = TracingRule::event().target("tank").writes("level", "litres", 0);
/// # let _ = (pay, begin, level);
/// ```
#[derive(Debug)]
#[must_use]
pub struct TracingRule {
    when: When,
    target: Option<String>,
    name: Option<String>,
    equal: Vec<(String, Value)>,
    emits: Option<(NamedEvent, Vec<String>)>,
    /// The variable, the field and the value before.
    pub(super) writes: Option<(String, String, Value)>,
    pub(super) edge: Option<(Edge, String)>,
}

/// What a rule says of the order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edge {
    Signals,
    Waits,
}

impl TracingRule {
    fn new(when: When) -> TracingRule {
        TracingRule {
            when,
            target: None,
            name: None,
            equal: Vec::new(),
            emits: None,
            writes: None,
            edge: None,
        }
    }

    /// Matches events.
    pub fn event() -> TracingRule {
        TracingRule::new(When::Event)
    }

    /// Matches when a span is created.
    pub fn new_span() -> TracingRule {
        TracingRule::new(When::NewSpan)
    }

    /// Matches when a span is entered; the span of a future is entered at every poll.
    pub fn enter() -> TracingRule {
        TracingRule::new(When::Enter)
    }

    /// Matches when a span is exited.
    pub fn exit() -> TracingRule {
        TracingRule::new(When::Exit)
    }

    /// Matches when a span is closed.
    pub fn close() -> TracingRule {
        TracingRule::new(When::Close)
    }

    /// Only with this target or one inside it: `shop` also matches `shop::orders`.
    pub fn target(mut self, target: &str) -> TracingRule {
        self.target = Some(target.to_owned());
        self
    }

    /// Only with this name: that of a span, or of an event that has one (`name: "paid"`).
    pub fn name(mut self, name: &str) -> TracingRule {
        self.name = Some(name.to_owned());
        self
    }

    /// Only with this message.
    pub fn message(self, text: &str) -> TracingRule {
        self.field("message", text)
    }

    /// Only if the field has this value. A field that is recorded by its `Debug` or `Display` output is a text.
    pub fn field(mut self, name: &str, value: impl Into<Value>) -> TracingRule {
        self.equal.push((name.to_owned(), value.into()));
        self
    }

    /// Emits the event with this name.
    pub fn emits(mut self, event: &str) -> TracingRule {
        self.emits = Some((NamedEvent::new(event), Vec::new()));
        self
    }

    /// Adds this field as the next argument of the event. If the span or event has no such field, the innermost enclosing span that
    /// has it supplies the value; if there is none, no event is emitted.
    ///
    /// # Panics
    ///
    /// If called before [`emits`](Self::emits).
    pub fn arg(mut self, field: &str) -> TracingRule {
        match &mut self.emits {
            Some((_, args)) => args.push(field.to_owned()),
            None => panic!("`arg` says what an event has: say `emits` before"),
        }
        self
    }

    /// Writes the value of the field to a variable of properties, which has the given initial value.
    pub fn writes(mut self, variable: &str, field: &str, initial: impl Into<Value>) -> TracingRule {
        self.writes = Some((variable.to_owned(), field.to_owned(), initial.into()));
        self
    }

    /// Comes before everything later that [waits for](Self::waits_for) the same: an edge of the causal order, like one from the write of an atomic to a read.
    /// With such a rule, only rules and hooks order anything.
    pub fn signals(mut self, what: &str) -> TracingRule {
        self.edge = Some((Edge::Signals, what.to_owned()));
        self
    }

    /// Comes after everything that [signalled](Self::signals) the same.
    pub fn waits_for(mut self, what: &str) -> TracingRule {
        self.edge = Some((Edge::Waits, what.to_owned()));
        self
    }

    /// Whether it may be about this, as far as is known before it happens.
    pub(super) fn is_about(&self, when: When, metadata: &Metadata<'_>) -> bool {
        let is_inside = |target: &String| {
            let rest = metadata.target().strip_prefix(target.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        self.when == when && self.target.as_ref().is_none_or(is_inside) && { self.name.as_ref() }
            .is_none_or(|name| metadata.name() == name)
    }

    /// Whether the fields are as they have to be.
    pub(super) fn fits(&self, fields: &Fields) -> bool {
        let mut equal = self.equal.iter();
        equal.all(|(name, value)| fields.get(name) == Some(value))
    }

    /// The event, if somebody records it and its arguments are there.
    pub(super) fn event_of(
        &self,
        get: impl Fn(&str) -> Option<Value>,
    ) -> Option<(&NamedEvent, Vec<Value>)> {
        let (event, args) = self.emits.as_ref()?;
        if !event.is_wanted() {
            return None;
        }
        let args: Option<Vec<Value>> = args.iter().map(|arg| get(arg)).collect();
        Some((event, args?))
    }
}
