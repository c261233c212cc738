//! Monitors programs that are instrumented with `tracing`, without any other change.
//!
//! Rules say which spans and events of `tracing` are events of properties. `tracing` does not know what orders them, since it sees no locks.
//! Unless hooks or rules supply that order, the observed one is taken to be the only one: all events are recorded under one lock, and the
//! recording counts them.
//!
//! | file | |
//! |---|---|
//! | `rule` | which spans and events match, and what they are turned into |
//! | `fields` | their fields |

mod fields;
mod rule;

use std::{collections::HashMap, sync::Arc};

use portent_monitor_core::{LocId, Value};
use tracing::{
    Event, Metadata, Subscriber,
    callsite::Identifier,
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    layer::Context,
    registry::{LookupSpan, SpanRef},
};

pub use self::rule::TracingRule;
use self::{
    fields::Fields,
    rule::{Edge, When},
};
use crate::{
    Shared,
    live::{
        actor, any_open,
        event::{self, NamedVariable},
        lock,
    },
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

/// A layer of `tracing` that turns spans and events into events of recordings, by [rules](TracingRule).
///
/// A thread takes part in a recording as usual: it entered one, or inherited one from its spawner, or one is global.
///
/// ```
/// use portent_hooks::{Recording, TracingRule, TracingLayer};
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let layer = TracingLayer::builder()
///     .rule(TracingRule::event().message("order paid").emits("pay").arg("order"))
///     .rule(TracingRule::new_span().name("shipment").emits("ship").arg("order"))
///     .build();
/// let subscriber = tracing_subscriber::registry().with(layer);
///
/// let (recording, mut stream) = Recording::relevant(["pay", "ship"]).start();
/// let entered = recording.enter();
/// tracing::subscriber::with_default(subscriber, || {
///     // The program, as it always was.
///     tracing::info!(order = 7, by = "card", "order paid");
///     let _span = tracing::info_span!("shipment", order = 7).entered();
/// });
/// drop(entered);
///
/// let events = stream.finish();
/// assert!(events[0].to_string().contains("|pay(7)|"), "{}", events[0]);
/// assert_eq!((events.len(), stream.counts().assumed), (2, 2));
/// ```
///
/// # What orders these events
///
/// | | |
/// |---|---|
/// | nothing else is hooked | only the observed order is checked; [`Counts::assumed`](crate::Counts::assumed) and reports say for how many events |
/// | the program's synchronisation is hooked: [`hooked`](TracingLayerBuilder::hooked) | its order, as for [`event!`](crate::event!) |
/// | rules have [`signals`](TracingRule::signals) and [`waits_for`](TracingRule::waits_for) | these edges, and hooks: whoever writes them says that there are no others |
#[derive(Debug)]
pub struct TracingLayer {
    rules: Vec<BoundRule>,
    /// What each event happens inside of, if nothing else orders them.
    observed: Option<Mutex<()>>,
    /// The places of callsites.
    places: std::sync::Mutex<HashMap<Identifier, LocId>>,
}

/// A rule, and the objects that it is about.
#[derive(Debug)]
struct BoundRule {
    rule: TracingRule,
    variable: Option<(Arc<Shared<Value>>, NamedVariable)>,
    edge: Option<(Edge, Arc<AtomicBool>)>,
}

/// How spans and events are to be understood; made by [`TracingLayer::builder`].
#[derive(Debug, Default)]
#[must_use]
pub struct TracingLayerBuilder {
    rules: Vec<TracingRule>,
    hooked: bool,
}

impl TracingLayer {
    /// A layer without rules, which sees nothing.
    pub fn builder() -> TracingLayerBuilder {
        TracingLayerBuilder::default()
    }

    fn are_about(&self, when: When, metadata: &Metadata<'_>) -> bool {
        let mut rules = self.rules.iter();
        any_open() && rules.any(|known| known.rule.is_about(when, metadata))
    }

    /// Something happened that rules may be about; `get` finds a field of it, or of what is around it.
    fn apply(
        &self,
        when: When,
        metadata: &'static Metadata<'static>,
        own: &Fields,
        get: impl Fn(&str) -> Option<Value>,
    ) {
        for known in &self.rules {
            let rule = &known.rule;
            if !rule.is_about(when, metadata) || !rule.fits(own) {
                continue;
            }
            if let Some((Edge::Waits, at)) = &known.edge {
                at.load(Ordering::SeqCst);
            }
            let written = { rule.writes.as_ref() }.and_then(|(_, field, _)| get(field));
            if let (Some((variable, id)), Some(value)) = (&known.variable, written) {
                if id.is_wanted() {
                    self.in_order(|| variable.set(value));
                } else {
                    variable.set(value);
                }
            }
            if let Some((event, args)) = rule.event_of(&get) {
                let place = self.place(metadata);
                self.in_order(|| event.happened(place, args));
            }
            if let Some((Edge::Signals, at)) = &known.edge {
                at.store(true, Ordering::SeqCst);
            }
        }
    }

    /// Does something in observed order, if there is no other.
    fn in_order(&self, happens: impl FnOnce()) {
        match &self.observed {
            None => happens(),
            Some(observed) => {
                let _inside = observed.lock();
                happens();
                actor::with(|actor| actor.assumed());
            }
        }
    }

    fn place(&self, metadata: &'static Metadata<'static>) -> LocId {
        *lock(&self.places)
            .entry(metadata.callsite())
            .or_insert_with(|| {
                let file = metadata.file().unwrap_or("?");
                event::place(&format!("{file}:{}", metadata.line().unwrap_or(0)))
            })
    }

    fn span_changes<S>(&self, when: When, id: &Id, ctx: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let Some(span) = ctx.span(id) else { return };
        if !self.are_about(when, span.metadata()) {
            return;
        }
        let extensions = span.extensions();
        let empty = Fields::default();
        let own = extensions.get::<Fields>().unwrap_or(&empty);
        let metadata = span.metadata();
        self.apply(when, metadata, own, |field| {
            own.get(field)
                .cloned()
                .or_else(|| in_spans(span.parent(), field))
        });
    }
}

/// The field of the innermost span that has it.
fn in_spans<'a, S: LookupSpan<'a>>(span: Option<SpanRef<'a, S>>, field: &str) -> Option<Value> {
    let mut scope = span?.scope();
    scope.find_map(|span| span.extensions().get::<Fields>()?.get(field).cloned())
}

impl TracingLayerBuilder {
    /// Adds a rule. All that fit apply, in this order.
    pub fn rule(mut self, rule: TracingRule) -> TracingLayerBuilder {
        self.rules.push(rule);
        self
    }

    /// What the program synchronises with is hooked ([`sync`](crate::sync), [`thread`](crate::thread)): events are ordered by that, and not taken
    /// to be possible in the observed order alone. **If it is not, what is predicted need not be real.**
    pub fn hooked(mut self) -> TracingLayerBuilder {
        self.hooked = true;
        self
    }

    /// The layer, to be added to a subscriber.
    pub fn build(self) -> TracingLayer {
        let has_edges = self.rules.iter().any(|rule| rule.edge.is_some());
        let (mut variables, mut edges) = (HashMap::new(), HashMap::new());
        let rules = self.rules.into_iter().map(|rule| BoundRule {
            variable: rule.writes.as_ref().map(|(name, _, initial)| {
                let made = || Arc::new(Shared::with_name(name, initial.clone()));
                let variable = Arc::clone(variables.entry(name.clone()).or_insert_with(made));
                (variable, NamedVariable::new(name))
            }),
            edge: rule.edge.as_ref().map(|(edge, name)| {
                let made = || Arc::new(AtomicBool::with_name(name, false));
                (
                    *edge,
                    Arc::clone(edges.entry(name.clone()).or_insert_with(made)),
                )
            }),
            rule,
        });
        TracingLayer {
            rules: rules.collect(),
            observed: (!self.hooked && !has_edges)
                .then(|| Mutex::with_name("observed order of tracing", ())),
            places: std::sync::Mutex::default(),
        }
    }
}

impl<S> Layer<S> for TracingLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = ctx.span(id) {
            span.extensions_mut().insert(fields);
        }
        self.span_changes(When::NewSpan, id, &ctx);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, ctx: Context<'_, S>) {
        if let Some(span) = ctx.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        let metadata = event.metadata();
        if !self.are_about(When::Event, metadata) {
            return;
        }
        let mut own = Fields::default();
        event.record(&mut own);
        self.apply(When::Event, metadata, &own, |field| {
            own.get(field)
                .cloned()
                .or_else(|| in_spans(ctx.event_span(event), field))
        });
    }

    fn on_enter(&self, id: &Id, ctx: Context<'_, S>) {
        self.span_changes(When::Enter, id, &ctx);
    }

    fn on_exit(&self, id: &Id, ctx: Context<'_, S>) {
        self.span_changes(When::Exit, id, &ctx);
    }

    fn on_close(&self, id: Id, ctx: Context<'_, S>) {
        self.span_changes(When::Close, &id, &ctx);
    }
}
