//! Programs that are instrumented with `tracing` and nothing else, or with hooks besides.

use portent::{
    Property, Recorder, Recording, Sidecar, TracingLayer, TracingLayerBuilder, TracingRule,
    lattice::report::WarningKind,
    sidecar::Summary,
    sync::Mutex,
    thread,
    trace::{Options as TraceOptions, TraceReader},
};
use tracing::{Level, info, info_span, span};
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

/// The events of a program, as a trace spells them.
fn events(rules: TracingLayerBuilder, names: &[&str], program: fn()) -> Vec<String> {
    let (recording, mut stream) = Recording::relevant(names).start();
    let entered = recording.enter();
    let subscriber = Registry::default().with(rules.build());
    tracing::subscriber::with_default(subscriber, program);
    drop(entered);
    let events = stream.finish();
    let spelled = events.iter().map(ToString::to_string);
    // Thread, event and place.
    spelled
        .map(|event| event.split('|').nth(1).unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn each_moment_of_a_span_can_be_meant() {
    let of_jobs = |rule: TracingRule, event: &str| rule.name("job").emits(event).arg("id");
    let rules = TracingLayer::builder()
        .rule(of_jobs(TracingRule::new_span(), "made"))
        .rule(of_jobs(TracingRule::enter(), "entered"))
        .rule(of_jobs(TracingRule::exit(), "left"))
        .rule(of_jobs(TracingRule::close(), "over"));
    let told = events(rules, &["made", "entered", "left", "over"], || {
        let job = info_span!("job", id = 7);
        // Another name, and another kind of thing of the same name.
        let other = info_span!("jobs", id = 8);
        info!(name: "job", id = 9);
        job.in_scope(|| other.in_scope(|| ()));
        // It is over when the last handle is gone.
        let again = job.clone();
        drop(job);
        again.in_scope(|| ());
    });
    let expected = ["made", "entered", "left", "entered", "left", "over"];
    assert_eq!(told, expected.map(|event| format!("{event}(7)")));
}

#[test]
fn an_event_can_be_meant_by_its_name() {
    let rules = TracingLayer::builder().rule(
        TracingRule::event()
            .name("paid")
            .emits("named")
            .arg("order"),
    );
    let told = events(rules, &["named"], || {
        info!(name: "paid", order = 1);
        info!(order = 2, "paid");
        drop(info_span!("paid", order = 3).entered());
    });
    assert_eq!(told, ["named(1)"]);
}

#[test]
fn fields_say_which_are_meant() {
    let kind = |rule: TracingRule, event: &str| rule.emits(event).arg("id");
    let rules = TracingLayer::builder()
        .rule(kind(TracingRule::event().field("kind", 3), "third"))
        .rule(kind(
            TracingRule::event().field("kind", "card").field("ok", true),
            "card",
        ))
        .rule(kind(TracingRule::exit().field("state", "done"), "ended"));
    let told = events(rules, &["third", "card", "ended"], || {
        for kind in [2, 3] {
            info!(kind, id = 1);
        }
        info!(id = 2);
        info!(kind = "3", id = 3);
        info!(kind = "card", ok = true, id = 4);
        info!(kind = "card", ok = false, id = 5);
        info!(kind = "card", id = 6);
        info!(kind = ?"card", ok = true, id = 7);
        info!(kind = %"card", ok = true, id = 8);
        // A field that is filled in later counts from then on.
        let span = span!(Level::INFO, "work", id = 9, state = tracing::field::Empty);
        span.in_scope(|| ());
        span.in_scope(|| span.record("state", "done"));
    });
    // The `Debug` of a text has quotes.
    assert_eq!(told, ["third(1)", "card(4)", "card(8)", "ended(9)"]);
}
