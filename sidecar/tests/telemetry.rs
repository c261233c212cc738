//! What collectors of events and numbers are told.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

use metrics::{
    Counter, CounterFn, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use portent_hooks::event;
use portent_monitor_dsl::Property;
use portent_sidecar::Sidecar;
use tracing_subscriber::{Layer, layer::SubscriberExt};

type Counted = Arc<Mutex<BTreeMap<String, u64>>>;

struct Counters(Counted);

struct One(String, Counted);

impl CounterFn for One {
    fn increment(&self, value: u64) {
        *self.1.lock().unwrap().entry(self.0.clone()).or_default() += value;
    }

    fn absolute(&self, _: u64) {
        panic!("counters of several sidecars are one");
    }
}

impl Recorder for Counters {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(Arc::new(One(key.name().to_owned(), Arc::clone(&self.0))))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// Keeps what events with the target `portent` say.
struct Lines(Arc<Mutex<Vec<String>>>);

#[derive(Default)]
struct Fields(String);

impl tracing::field::Visit for Fields {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn fmt::Debug) {
        self.0 += &format!("{}={value:?};", field.name());
    }
}

impl<S: tracing::Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        if event.metadata().target() == "portent" {
            let mut fields = Fields::default();
            event.record(&mut fields);
            self.0.lock().unwrap().push(fields.0);
        }
    }
}

#[test]
fn violations_are_events_and_counts_are_counters() {
    let (counted, lines) = (Counted::default(), Arc::default());
    assert!(metrics::set_global_recorder(Counters(Arc::clone(&counted))).is_ok());
    let layer = Lines(Arc::clone(&lines));
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let text = "property file(f) { event open(f), read(f)  ltl: always (read -> once open) }";
    let sidecar = Sidecar::builder().property(Property::parse(text).unwrap());
    let sidecar = sidecar.start().unwrap();
    let entered = sidecar.enter();
    event!(open, file = 1);
    event!(read, file = 1);
    event!(read, file = 2);
    drop(entered);
    sidecar.stop().unwrap();

    let counted = counted.lock().unwrap();
    let expected = [("portent_events_total", 3), ("portent_violations_total", 1)];
    let expected: BTreeMap<String, u64> = { expected.into_iter() }
        .map(|(name, count)| (name.to_owned(), count))
        .collect();
    assert_eq!(*counted, expected);
    assert_eq!(
        *lines.lock().unwrap(),
        [
            "message=property `file` with f = 2 was violated;property=\"file\";binding=\"f = 2\";observed=true;\
             lost=nothing;"
        ]
    );
}
