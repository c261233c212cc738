//! Programs that are instrumented with `tracing` and nothing else, or with hooks besides.

use portent::{
    Property, Recorder, Sidecar, TracingLayer, TracingRule,
    lattice::report::WarningKind,
    sidecar::Summary,
    sync::Mutex,
    thread,
    trace::{Options as TraceOptions, TraceReader},
};
use tracing::{info, info_span};
use tracing_subscriber::{Registry, layer::SubscriberExt};

fn rules() -> portent::TracingLayerBuilder {
    TracingLayer::builder()
        .rule(
            { TracingRule::event().target("bank").message("closed") }
                .emits("close")
                .arg("account"),
        )
        .rule(
            TracingRule::enter()
                .name("payment")
                .emits("pay")
                .arg("account"),
        )
        .rule(
            TracingRule::event()
                .target("bank::till")
                .writes("cash", "amount", 0),
        )
}

/// A program whose threads share nothing, and what a sidecar says of it.
fn program(layer: TracingLayer) {
    let dispatch = tracing::Dispatch::new(Registry::default().with(layer));
    let spawn = |pays: bool| {
        let dispatch = dispatch.clone();
        thread::spawn(move || {
            tracing::dispatcher::with_default(&dispatch, || {
                if pays {
                    let _around = info_span!("customer", account = 7).entered();
                    let _payment = info_span!("payment").entered();
                    info!(target: "bank::till", amount = 3, "counted");
                } else {
                    info!(target: "bank", account = 7, "closed");
                    info!(target: "banking", account = 7, "closed");
                }
            });
        })
    };
    spawn(true).join().unwrap();
    let closing = spawn(false);
    let paying = spawn(true);
    closing.join().unwrap();
    paying.join().unwrap();
}

const ACCOUNT: &str =
    "property account(a) { event close(a), pay(a)  ltl: always (close -> always !pay) }";

fn watched(layer: TracingLayer, text: &str, run: fn(TracingLayer)) -> Summary {
    let sidecar = Sidecar::builder();
    let sidecar = { sidecar.property(Property::parse(text).unwrap()) }.initial("cash", 0);
    let sidecar = sidecar.start().unwrap();
    let entered = sidecar.enter();
    run(layer);
    drop(entered);
    sidecar.stop().unwrap()
}

#[test]
fn alone_it_looks_at_the_observed_order_and_says_so() {
    /// In this order, whatever the threads do.
    fn one_after_the_other(layer: TracingLayer) {
        let dispatch = tracing::Dispatch::new(Registry::default().with(layer));
        let inside = |f: fn()| {
            let dispatch = dispatch.clone();
            std::thread::scope(|s| {
                s.spawn(|| tracing::dispatcher::with_default(&dispatch, f));
            });
        };
        tracing::dispatcher::with_default(&dispatch, || {
            drop(info_span!("payment", account = 7).entered());
        });
        inside(|| info!(target: "bank", account = 8, "closed"));
        tracing::dispatcher::with_default(&dispatch, || {
            info!(target: "bank", account = 7, "closed");
        });
    }
    let summary = watched(rules().build(), ACCOUNT, one_after_the_other);
    assert!(
        !summary.report.is_violated(),
        "only if another order is looked at"
    );
    assert!(!summary.is_exhaustive());
    assert_eq!((summary.counts.events, summary.counts.assumed), (2, 2));
    let mut warnings = summary.report.warnings.iter();
    let warning = warnings.find(|warning| warning.kind == WarningKind::OrderAssumed);
    assert!(
        warning
            .unwrap()
            .text
            .starts_with("2 events were seen through `tracing`")
    );
}

#[test]
fn with_hooks_other_orders_are_looked_at() {
    let summary = watched(rules().hooked().build(), ACCOUNT, program);
    assert!(
        summary.report.is_violated(),
        "a payment may come after the end"
    );
    assert_eq!((summary.counts.events, summary.counts.assumed), (3, 0));
    assert!(summary.is_exhaustive());
}

#[test]
fn hooked_locks_order_what_tracing_sees() {
    static OPEN: Mutex<bool> = Mutex::new(true);
    fn locked(layer: TracingLayer) {
        let dispatch = tracing::Dispatch::new(Registry::default().with(layer));
        let inside = |f: fn()| {
            let dispatch = dispatch.clone();
            let _open = OPEN.lock().unwrap();
            tracing::dispatcher::with_default(&dispatch, f);
        };
        thread::scope(|s| {
            s.spawn(|| inside(|| drop(info_span!("payment", account = 7).entered())))
                .join()
                .unwrap();
            s.spawn(|| inside(|| info!(target: "bank", account = 7, "closed")));
        });
    }
    let summary = watched(rules().hooked().build(), ACCOUNT, locked);
    assert!(!summary.report.is_violated());
    assert!(summary.is_exhaustive());
}

#[test]
fn rules_can_say_what_comes_before_what() {
    /// Threads that are not hooked; what is told between them is said by rules.
    fn messages(layer: TracingLayer) {
        let dispatch = tracing::Dispatch::new(Registry::default().with(layer));
        let run = |f: fn()| {
            let dispatch = dispatch.clone();
            thread::spawn(move || tracing::dispatcher::with_default(&dispatch, f))
        };
        let first = run(|| drop(info_span!("payment", account = 7).entered()));
        while !first.is_finished() {
            std::thread::yield_now();
        }
        let second = run(|| info!(target: "bank", account = 7, "closed"));
        first.join().unwrap();
        second.join().unwrap();
    }
    let text = ACCOUNT;
    let rules = |told: bool| {
        let layer = TracingLayer::builder()
            .rule(
                {
                    TracingRule::enter()
                        .name("payment")
                        .emits("pay")
                        .arg("account")
                }
                .signals("paid"),
            )
            .rule({
                let closed = TracingRule::event()
                    .message("closed")
                    .emits("close")
                    .arg("account");
                closed.waits_for(if told { "paid" } else { "something else" })
            });
        layer.build()
    };
    let summary = watched(rules(true), text, messages);
    assert!(!summary.report.is_violated());
    assert_eq!((summary.counts.events, summary.counts.assumed), (2, 0));
    assert!(watched(rules(false), text, messages).report.is_violated());
}

#[test]
fn fields_become_variables() {
    let text = "always (cash < 3)";
    let summary = watched(rules().hooked().build(), text, program);
    assert!(summary.report.is_violated());
    assert_eq!(summary.counts.events, 2);
}

#[test]
fn a_recorder_writes_the_observed_order_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let recorder = Recorder::to_file(&path).initial("cash", 0).start().unwrap();
    let entered = recorder.enter();
    program(rules().build());
    drop(entered);
    let summary = recorder.stop().unwrap();
    assert_eq!(summary.counts.assumed, 5);
    let mut reader = TraceReader::open(&path, &TraceOptions::default()).unwrap();
    let (mut symbols, mut locks) = (portent::Symbols::default(), 0);
    while let Some(event) = reader.next_event(&mut symbols).unwrap() {
        locks += usize::from(matches!(event.op, portent::Op::Lock(_)));
    }
    assert_eq!(locks, 5, "each inside of the order that was observed");
}
