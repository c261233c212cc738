//! What the searches take to commute, against the table of edges by which clocks and the lattice order events: for all pairs of kinds.

use portent_explore::Kind;
use portent_monitor_core::{Access, access_of};

/// What an operation is about. The two sides of a channel are objects of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Variable,
    Lock,
    Condition,
    Sends,
    Receives,
    Barrier,
    Once,
    Token,
    /// Who asks for a lock.
    Requests,
    /// Whatever it looks at.
    Anything,
    Nothing,
}

fn about(kind: Kind) -> About {
    match kind {
        Kind::Read | Kind::Write | Kind::Update => About::Variable,
        Kind::Lock
        | Kind::TryLock
        | Kind::FailedTryLock
        | Kind::Unlock
        | Kind::ReadLock
        | Kind::TryReadLock
        | Kind::FailedTryReadLock
        | Kind::ReadUnlock
        | Kind::Downgrade => About::Lock,
        Kind::Request => About::Requests,
        Kind::Wait | Kind::Wake | Kind::NotifyOne | Kind::NotifyAll => About::Condition,
        Kind::Send
        | Kind::TrySend
        | Kind::FullSend
        | Kind::FailedSend
        | Kind::FailedTrySend
        | Kind::CloseReceiver => About::Sends,
        Kind::Receive | Kind::TryReceive | Kind::EmptyReceive | Kind::CloseSender => {
            About::Receives
        }
        Kind::Arrive => About::Barrier,
        Kind::Initialise | Kind::FindDone | Kind::Done => About::Once,
        Kind::Park | Kind::Unpark => About::Token,
        Kind::Await => About::Anything,
        Kind::Event => About::Nothing,
        kind => panic!("{kind:?} is not known here"),
    }
}

/// What the table of edges says of it.
fn access(kind: Kind) -> Option<Access> {
    let (operation, role) = kind.in_table()?;
    access_of(operation, role)
}

fn are_about_the_same(one: Kind, other: Kind) -> bool {
    let (one, other) = (about(one), about(other));
    one == other && one != About::Nothing || one == About::Anything || other == About::Anything
}

/// Left out of a search must be nothing that the table orders.
#[test]
fn what_the_table_orders_does_not_commute() {
    let mut ordered = 0;
    for &one in Kind::ALL {
        for &other in Kind::ALL {
            let (Some(first), Some(second)) = (access(one), access(other)) else {
                continue;
            };
            if are_about_the_same(one, other) && (first.orders(second) || second.orders(first)) {
                ordered += 1;
                // A thread that waits for a sender to go comes after that because it was let go on by it (`engine/pause.rs`).
                if [
                    (Kind::Await, Kind::CloseSender),
                    (Kind::CloseSender, Kind::Await),
                ]
                .contains(&(one, other))
                {
                    continue;
                }
                assert!(!one.commutes_with(other), "{one:?} and {other:?}");
            }
        }
    }
    assert!(ordered > 100, "{ordered}");
}

/// Where a search keeps an order that the table does not have.
#[test]
fn what_a_search_orders_besides_is_listed() {
    let mut strict = Vec::new();
    for &kind in Kind::ALL {
        let is_ordered = access(kind).is_some_and(|access| access.orders(access));
        if !is_ordered && !kind.commutes_with(kind) {
            strict.push(kind);
        }
    }
    assert_eq!(
        strict,
        [
            // Until it is done nobody knows that it fails.
            Kind::FailedTryLock,
            // Only where somebody shares a lock twice, and only a scheduler sees it.
            Kind::Request,
            // Who waits first may be woken up first, and a notify wakes up those who wait already.
            Kind::Wait,
            Kind::Wake,
            Kind::NotifyOne,
            Kind::NotifyAll,
            // Until it is done nobody knows that there is nothing.
            Kind::EmptyReceive,
            // There is one of a channel.
            Kind::CloseReceiver,
            // The last one is the leader.
            Kind::Arrive,
            // What was unparked twice is parked once.
            Kind::Park,
            Kind::Unpark,
        ]
    );
}

/// Every kind is in the table but for two; a line more there or a kind more here has to be thought about.
#[test]
fn every_kind_is_in_the_table() {
    let without: Vec<Kind> = { Kind::ALL.iter().copied() }
        .filter(|kind| access(*kind).is_none())
        .collect();
    assert_eq!(without, [Kind::Request, Kind::Event]);
    for (at, kind) in Kind::ALL.iter().enumerate() {
        assert_eq!(*kind as usize, at, "{kind:?}");
    }
}
