//! A queue between threads, and its clocks.
//!
//! Built from a mutex and two condition variables rather than around the channel of the standard library: the
//! order of sends is part of the causal order, so sending a message and giving it its place
//! must be one step, and no thread may wait for room within that step.
//!
//! A message carries what its sender knew. Sends are ordered among themselves, and so are receives. A send that
//! uses the room of an earlier message comes after the receive that freed it. With capacity 0, a
//! sender continues after its message was received. A receiver that finds the channel empty has seen everything that was
//! sent. The end of the senders, or of the receiver, is a condition that the other side may learn of.

use std::{
    collections::VecDeque,
    panic::Location,
    sync::{Condvar, Mutex, MutexGuard, mpsc::TrySendError},
    time::Duration,
};

use portent_monitor_core::{Access, ChanId, CondId, Delivery, Msg, Op, Operation, Role};

use super::clocks::Clocks;
use crate::{
    control::{self, ChannelState, Class, Controller, Object, Release, Step},
    live::{
        actor::{self, Place, Ticket},
        line::OperationRecord,
        lock,
        names::Name,
        operation::access,
        version,
    },
};

const SEND: Access = access(Operation::Send, Role::Channel);
const SEND_MESSAGE: Access = access(Operation::Send, Role::Message);
const SEND_ORDER: Access = access(Operation::Send, Role::Sends);
const SEND_DELIVERY: Access = access(Operation::Send, Role::Delivery);
const RECV: Access = access(Operation::Recv, Role::Channel);
const RECV_MESSAGE: Access = access(Operation::Recv, Role::Message);
const RECV_ORDER: Access = access(Operation::Recv, Role::Receives);
const RECV_ROOM: Access = access(Operation::Recv, Role::Room);
const RECV_DELIVERY: Access = access(Operation::Recv, Role::Delivery);
const TRY_RECV: Access = access(Operation::TryRecv, Role::Channel);
const NOTIFY: Access = access(Operation::Notify, Role::Condition);
const WAIT: Access = access(Operation::Wait, Role::Condition);

// What the last send left is all that was sent, and what the last receive left is all that was received: so a message has no
// clock of its own, nor has the channel.
const _: () = assert!(
    matches!(SEND_ORDER, Access::Update) && matches!(RECV_ORDER, Access::Update),
    "sends come after sends, and receives after receives"
);
const _: () = assert!(
    matches!(
        (SEND, RECV, SEND_MESSAGE),
        (Access::Contribute, Access::Contribute, Access::Contribute)
    ),
    "who sends or receives leaves what it knows at the channel"
);

/// Both ends of a channel.
pub(super) struct Channel<T> {
    name: Name,
    end: Name,
    /// How many messages may wait to be received.
    bound: Option<usize>,
    state: Mutex<State<T>>,
    /// There is a message, or there are no more senders.
    sent: Condvar,
    /// There is room, or a message was received that its sender waits for, or there is no receiver.
    received: Condvar,
}

struct State<T> {
    queue: VecDeque<Message<T>>,
    senders: usize,
    has_receiver: bool,
    /// The receiver waits for a message.
    receiver_waits: bool,
    waiting_senders: usize,
    /// How many messages were sent and received.
    sent: u64,
    received: u64,
    clocks: Clocks,
}

struct Message<T> {
    number: u64,
    content: T,
}

/// What a receiver got.
pub(super) enum Taken<T> {
    Message(T),
    Nothing,
    Closed,
}

/// Why a message was not sent.
pub(super) struct NotSent<T>(TrySendError<T>);

impl<T> NotSent<T> {
    pub(super) fn into_message(self) -> T {
        match self.0 {
            TrySendError::Full(message) | TrySendError::Disconnected(message) => message,
        }
    }
}

impl<T> From<NotSent<T>> for TrySendError<T> {
    fn from(error: NotSent<T>) -> Self {
        error.0
    }
}

impl<T> Channel<T> {
    pub(super) fn new(name: Name, bound: Option<usize>) -> Channel<T> {
        Channel {
            end: name.another(),
            name,
            bound,
            state: Mutex::new(State {
                queue: VecDeque::new(),
                senders: 1,
                has_receiver: true,
                receiver_waits: false,
                waiting_senders: 0,
                sent: 0,
                received: 0,
                clocks: Clocks::default(),
            }),
            sent: Condvar::new(),
            received: Condvar::new(),
        }
    }

    /// As the controller of this thread sees it.
    fn object(&self) -> Object<'_> {
        let state = lock(&self.state);
        let state = ChannelState {
            bound: self.bound,
            messages: state.queue.len(),
            closed: state.senders == 0,
            has_receiver: state.has_receiver,
        };
        Object::new(&self.name, "mpsc", Class::Channel(state))
    }

    fn send_controlled(
        &self,
        controller: &dyn Controller,
        content: T,
        place: Place,
        may_wait: bool,
    ) -> Result<(), NotSent<T>> {
        let step = if may_wait { Step::Send } else { Step::TrySend };
        if step == Step::TrySend && self.bound == Some(0) {
            controller.refuse("tries to send into a channel that keeps no messages", place);
        }
        let turn = controller.step(step, self.object(), place);
        let mut state = lock(&self.state);
        if !state.has_receiver {
            return Err(NotSent(TrySendError::Disconnected(content)));
        }
        if !turn.succeeds {
            return Err(NotSent(TrySendError::Full(content)));
        }
        state.sent += 1;
        let number = state.sent;
        state.queue.push_back(Message { number, content });
        if self.bound == Some(0) {
            drop(state);
            controller.deliver(self.object(), place);
            let mut state = lock(&self.state);
            if state.received < number && !state.has_receiver {
                return state.take_back(number);
            }
        }
        Ok(())
    }

    pub(super) fn receive_controlled(
        &self,
        controller: &dyn Controller,
        step: Step,
        place: Place,
    ) -> Taken<T> {
        let turn = controller.step(step, self.object(), place);
        let mut state = lock(&self.state);
        if let Some(message) = state.queue.pop_front() {
            state.received = message.number;
            return Taken::Message(message.content);
        }
        let closed = state.senders == 0;
        drop(state);
        match step {
            _ if closed => Taken::Closed,
            Step::Receive if turn.succeeds => controller.obstructed(self.object(), place),
            Step::Receive => Taken::Closed,
            _ => Taken::Nothing,
        }
    }

    fn id(&self) -> ChanId {
        self.name.id("mpsc", |symbols| &mut symbols.chans)
    }

    fn end_id(&self) -> CondId {
        self.end.id("end of mpsc", |symbols| &mut symbols.conds)
    }

    fn delivery(&self) -> Delivery {
        match self.bound {
            None => Delivery::Fifo,
            Some(bound) => Delivery::Bounded(u32::try_from(bound).unwrap_or(u32::MAX)),
        }
    }

    fn prepare() -> Ticket {
        if version::is_hidden() {
            actor::prepare()
        } else {
            Ticket::NONE
        }
    }

    #[inline]
    pub(super) fn send(
        &self,
        content: T,
        place: &'static Location<'static>,
        may_wait: bool,
    ) -> Result<(), NotSent<T>> {
        let place = Some(place);
        if let Some(controller) = control::current() {
            return self.send_controlled(&*controller, content, place, may_wait);
        }
        let ticket = Self::prepare();
        let mut state = lock(&self.state);
        if let Some(bound) = self.bound {
            while state.has_receiver && !state.has_room(bound, may_wait) {
                if !may_wait {
                    return Err(NotSent(TrySendError::Full(content)));
                }
                state = self.wait_as_sender(state);
            }
        }
        if !state.has_receiver {
            self.saw_end(&mut state.clocks, place, ticket);
            return Err(NotSent(TrySendError::Disconnected(content)));
        }
        state.sent += 1;
        let number = state.sent;
        if state.clocks.are_news_to_sender() {
            self.note_send(&mut state.clocks, number, place, ticket);
        }
        state.queue.push_back(Message { number, content });
        if state.receiver_waits {
            self.sent.notify_one();
        }
        match self.bound {
            Some(0) => self.wait_for_delivery(state, number),
            _ => Ok(()),
        }
    }

    #[cold]
    fn note_send(&self, clocks: &mut Clocks, number: u64, place: Place, ticket: Ticket) {
        actor::with(|actor| {
            actor.receive_reads(&clocks.empty, SEND);
            // Whoever comes later comes after this send.
            clocks.empty.clear();
            if let Some((_, sends)) = clocks.sends.back() {
                actor.receive_updates(sends, SEND_ORDER);
            }
            if let Some(bound) = self.bound.filter(|bound| *bound > 0) {
                clocks.find_room(number.saturating_sub(bound as u64), actor);
            }
            actor.did(ticket, || {
                let message = Msg::Number(number.cast_signed());
                OperationRecord::new(Op::Send(self.id(), message, self.delivery()), place)
            });
            if clocks.sends_version() != actor.real_version() {
                let left = clocks.copy(actor, SEND_ORDER);
                clocks.sends.push_back((number, left));
            }
        });
    }

    fn wait_as_sender<'a>(&self, mut state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        state.waiting_senders += 1;
        let mut state = wait(&self.received, state, None);
        state.waiting_senders -= 1;
        state
    }

    /// Waits until the message of this number was received.
    fn wait_for_delivery(
        &self,
        mut state: MutexGuard<'_, State<T>>,
        number: u64,
    ) -> Result<(), NotSent<T>> {
        while state.received < number {
            if !state.has_receiver {
                return state.take_back(number);
            }
            state = self.wait_as_sender(state);
        }
        let clocks = &mut state.clocks;
        if let Some(at) = clocks.deliveries.iter().position(|(of, _)| *of == number)
            && let Some((_, left)) = clocks.deliveries.remove(at)
        {
            actor::with(|actor| actor.receive_awaited(&left, SEND_DELIVERY));
            clocks.recycle(left);
        }
        Ok(())
    }

    /// Receives a message; `time` is how long to wait for one, `None` for ever.
    #[inline]
    pub(super) fn receive(
        &self,
        place: &'static Location<'static>,
        time: impl Fn() -> Option<Duration>,
    ) -> Taken<T> {
        if let Some(controller) = control::current() {
            let step = match time() {
                None => Step::Receive,
                Some(_) => Step::TryReceive { timed: true },
            };
            return self.receive_controlled(&*controller, step, Some(place));
        }
        let ticket = Self::prepare();
        let mut state = lock(&self.state);
        loop {
            if let Some(message) = state.queue.pop_front() {
                return Taken::Message(self.took(state, message, Some(place), ticket));
            }
            if state.senders == 0 {
                self.saw_end(&mut state.clocks, Some(place), ticket);
                return Taken::Closed;
            }
            let left = time();
            if left.is_some_and(|left| left.is_zero()) {
                return Taken::Nothing;
            }
            state.receiver_waits = true;
            // With no room at all, one who only tries to send may now do so.
            state = wait(&self.sent, state, left);
            state.receiver_waits = false;
        }
    }

    #[inline]
    pub(super) fn try_receive(&self, place: &'static Location<'static>) -> Taken<T> {
        let place = Some(place);
        if let Some(controller) = control::current() {
            let step = Step::TryReceive { timed: false };
            return self.receive_controlled(&*controller, step, place);
        }
        let ticket = Self::prepare();
        let mut state = lock(&self.state);
        if let Some(message) = state.queue.pop_front() {
            return Taken::Message(self.took(state, message, place, ticket));
        }
        if state.senders == 0 {
            self.saw_end(&mut state.clocks, place, ticket);
            return Taken::Closed;
        }
        let clocks = &mut state.clocks;
        actor::with(|actor| {
            // All that was sent was received.
            actor.receive_updates(&clocks.receives, TRY_RECV);
            actor.did(ticket, || {
                OperationRecord::new(Op::TryRecv(self.id()), place)
            });
            actor.publish_reads(&mut clocks.empty, TRY_RECV);
        });
        Taken::Nothing
    }

    fn took(
        &self,
        mut state: MutexGuard<'_, State<T>>,
        message: Message<T>,
        place: Place,
        ticket: Ticket,
    ) -> T {
        let Message { number, content } = message;
        state.received = number;
        if state
            .clocks
            .are_news_to_receiver(number, self.bound.is_some())
        {
            self.note_receive(&mut state.clocks, number, place, ticket);
        }
        if state.waiting_senders > 0 {
            self.received.notify_all();
        }
        content
    }

    #[cold]
    fn note_receive(&self, clocks: &mut Clocks, number: u64, place: Place, ticket: Ticket) {
        actor::with(|actor| {
            actor.receive_reads(&clocks.empty, RECV);
            actor.receive_updates(&clocks.receives, RECV_ORDER);
            if let Some((_, sent)) = clocks.sends.front().filter(|(first, _)| *first <= number) {
                actor.receive_updates(sent, RECV_MESSAGE);
            }
            actor.did(ticket, || {
                let message = Msg::Number(number.cast_signed());
                OperationRecord::new(Op::Recv(self.id(), message, self.delivery()), place)
            });
            actor.publish_updates(&mut clocks.receives, RECV_ORDER);
            match self.bound {
                None => {}
                Some(0) => {
                    let left = clocks.copy(actor, RECV_DELIVERY);
                    clocks.deliveries.push_back((number, left));
                }
                Some(_) if clocks.last_room == actor.real_version() => {}
                Some(_) => {
                    let left = clocks.copy(actor, RECV_ROOM);
                    clocks.last_room = left.version();
                    clocks.room.push_back((number, left));
                }
            }
        });
    }

    /// The other end is known to be gone.
    fn saw_end(&self, clocks: &mut Clocks, place: Place, ticket: Ticket) {
        actor::with(|actor| {
            actor.receive_updates(&clocks.ends, WAIT);
            actor.did(ticket, || {
                OperationRecord::new(Op::Wait(self.end_id(), None), place)
            });
        });
    }

    fn end(&self, clocks: &mut Clocks, ticket: Ticket) {
        actor::with(|actor| {
            actor.did(ticket, || {
                OperationRecord::new(Op::Notify(self.end_id()), None)
            });
            actor.publish_updates(&mut clocks.ends, NOTIFY);
        });
    }

    pub(super) fn add_sender(&self) {
        lock(&self.state).senders += 1;
    }

    pub(super) fn drop_sender(&self) {
        if let Some(controller) = control::current() {
            controller.release(Release::Sender, self.object());
            let mut state = lock(&self.state);
            state.senders -= 1;
            let last = state.senders == 0;
            drop(state);
            if last {
                controller.release(Release::Senders, self.object());
            }
            return;
        }
        let ticket = Self::prepare();
        let mut state = lock(&self.state);
        self.end(&mut state.clocks, ticket);
        state.senders -= 1;
        if state.senders == 0 {
            self.sent.notify_all();
        }
    }

    pub(super) fn drop_receiver(&self) {
        let mut state;
        if let Some(controller) = control::current() {
            controller.step(Step::CloseReceiver, self.object(), None);
            state = lock(&self.state);
        } else {
            let ticket = Self::prepare();
            state = lock(&self.state);
            self.end(&mut state.clocks, ticket);
        }
        state.has_receiver = false;
        self.received.notify_all();
        if self.bound != Some(0) {
            // Messages that nobody will receive; their destructors may use the channel.
            let unread = std::mem::take(&mut state.queue);
            drop(state);
            drop(unread);
        }
    }
}

impl<T> State<T> {
    /// A message that will never be received.
    fn take_back(&mut self, number: u64) -> Result<(), NotSent<T>> {
        let mut unread = self.queue.iter();
        let at = unread.position(|message| message.number == number);
        match at.and_then(|at| self.queue.remove(at)) {
            Some(message) => Err(NotSent(TrySendError::Disconnected(message.content))),
            None => Ok(()),
        }
    }

    fn has_room(&self, bound: usize, may_wait: bool) -> bool {
        match bound {
            // It will wait for its message to be received; who may not wait needs one who waits for it.
            0 => may_wait || (self.receiver_waits && self.queue.is_empty()),
            bound => self.queue.len() < bound,
        }
    }
}

fn wait<'a, T>(
    condition: &Condvar,
    state: MutexGuard<'a, State<T>>,
    time: Option<Duration>,
) -> MutexGuard<'a, State<T>> {
    match time {
        None => condition
            .wait(state)
            .unwrap_or_else(std::sync::PoisonError::into_inner),
        Some(time) => match condition.wait_timeout(state, time) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        },
    }
}
