//! Channels that were found empty: a failed receive fails again wherever everything sent has been received.
//!
//! The number of messages in transit is known from a cut, because a receive comes after the sends of its message that were
//! seen before it. If this is inconclusive, because a message was received more often than it was sent or was still in transit
//! when the receive failed, the failed receive keeps its place among the sends and receives of its channel.

use portent_monitor_core::{ChanId, Event, Msg, Op};
use rustc_hash::FxHashMap;

use super::rules::{Place, Rules, Uses};

/// What an event does with a channel of the [rules](Rules::channels).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Traffic {
    Send(u32),
    Receive(u32),
    /// It finds the channel empty.
    Try(u32),
}

impl Traffic {
    pub(super) fn channel(self) -> u32 {
        match self {
            Traffic::Send(channel) | Traffic::Receive(channel) | Traffic::Try(channel) => channel,
        }
    }
}

/// The sends and receives on a channel, and where it is found empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Channel {
    sends: Uses<Sent>,
    pub(super) receives: Uses<u32>,
    /// Where threads find it empty.
    pub(super) tries: Uses<u32>,
}

/// A message that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    position: u32,
    /// Where it is received, if that is certain because no other message has its name.
    received: Option<Place>,
}

impl Channel {
    /// Whether everything sent in a cut has been received.
    pub(super) fn is_empty(&self, cut: &[u32]) -> bool {
        self.sent(cut) == self.received(|thread| cut[thread as usize])
    }

    /// Whether everything sent in a cut may have been received before an event, if threads can get as far as `limits`.
    pub(super) fn may_be_emptied(&self, cut: &[u32], limits: &[u32], before: Place) -> bool {
        let received = self.received(|thread| {
            let limit = limits[thread as usize];
            if thread == before.thread {
                limit.max(before.position - 1)
            } else {
                limit
            }
        });
        self.sent(cut) <= received
    }

    fn sent(&self, cut: &[u32]) -> usize {
        let counts = self.sends.of_threads.iter().map(|(thread, sends)| {
            sends.partition_point(|sent| sent.position <= cut[*thread as usize])
        });
        counts.sum()
    }

    fn received(&self, limit: impl Fn(u32) -> u32) -> usize {
        let counts = self.receives.of_threads.iter().map(|(thread, receives)| {
            let limit = limit(*thread);
            receives.partition_point(|&position| position <= limit)
        });
        counts.sum()
    }

    /// Where messages sent after one cut and before another are received.
    pub(super) fn received_between(
        &self,
        from: Option<&[u32]>,
        to: &[u32],
    ) -> impl Iterator<Item = Place> {
        self.sends
            .of_threads
            .iter()
            .flat_map(move |(thread, sends)| {
                let thread = *thread as usize;
                let until = |count: u32| sends.partition_point(|sent| sent.position <= count);
                let (from, to) = (from.map_or(0, |cut| until(cut[thread])), until(to[thread]));
                let sends = sends.get(from..to).unwrap_or_default();
                sends.iter().filter_map(|sent| sent.received)
            })
    }
}

/// The channels seen so far.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenChannels {
    numbers: FxHashMap<ChanId, u32>,
    channels: Vec<SeenChannel>,
}

#[derive(Clone, Debug, Default)]
struct SeenChannel {
    /// Events in observed order, with their effects.
    operations: Vec<(u32, ChannelOperation)>,
    is_tried: bool,
}

#[derive(Clone, Copy, Debug)]
enum ChannelOperation {
    Send(Msg),
    Receive(Msg),
    Try,
}

/// How often a message was sent and received, and where it was last received.
#[derive(Clone, Copy, Debug, Default)]
struct Message {
    sent: u32,
    received: u32,
    place: Option<Place>,
}

impl SeenChannels {
    /// Takes the next event of a trace.
    pub(super) fn read(&mut self, index: u32, event: &Event) {
        let (channel, operation) = match event.op {
            Op::Send(channel, message, _) => (channel, ChannelOperation::Send(message)),
            Op::Recv(channel, message, _) => (channel, ChannelOperation::Receive(message)),
            Op::TryRecv(channel) => (channel, ChannelOperation::Try),
            _ => return,
        };
        let fresh = self.channels.len() as u32;
        let number = *self.numbers.entry(channel).or_insert(fresh);
        if number == fresh {
            self.channels.push(SeenChannel::default());
        }
        let seen = &mut self.channels[number as usize];
        seen.operations.push((index, operation));
        seen.is_tried |= matches!(operation, ChannelOperation::Try);
    }

    /// Adds to the rules the demands of failed receives.
    pub(super) fn finish(self, rules: &mut Rules) {
        for channel in self.channels.iter().filter(|channel| channel.is_tried) {
            channel.finish(rules);
        }
    }
}

impl SeenChannel {
    fn finish(&self, rules: &mut Rules) {
        let messages = self.messages(rules);
        let explained = self.explain(rules, messages.is_some());
        let Some(messages) = messages.filter(|_| !explained.is_empty()) else {
            return;
        };
        let number = rules.channels.len() as u32;
        let mut channel = Channel::default();
        for &(event, operation) in &self.operations {
            let demands = &mut rules.events[event as usize];
            let Place { thread, position } = demands.place();
            demands.traffic = match operation {
                ChannelOperation::Send(name) => {
                    let message = messages.get(&name).filter(|message| message.sent == 1);
                    let received = message.and_then(|message| message.place);
                    channel.sends.push(thread, Sent { position, received });
                    Some(Traffic::Send(number))
                }
                ChannelOperation::Receive(_) => {
                    channel.receives.push(thread, position);
                    Some(Traffic::Receive(number))
                }
                ChannelOperation::Try if explained.binary_search(&event).is_ok() => {
                    channel.tries.push(thread, position);
                    Some(Traffic::Try(number))
                }
                ChannelOperation::Try => None,
            };
        }
        rules.channels.push(channel);
    }

    /// All messages; `None` if one was received more often than it was sent.
    fn messages(&self, rules: &Rules) -> Option<FxHashMap<Msg, Message>> {
        let mut messages: FxHashMap<Msg, Message> = FxHashMap::default();
        for &(event, operation) in &self.operations {
            match operation {
                ChannelOperation::Send(name) => messages.entry(name).or_default().sent += 1,
                ChannelOperation::Receive(name) => {
                    let message = messages.entry(name).or_default();
                    message.received += 1;
                    message.place = Some(rules.events[event as usize].place());
                    if message.received > message.sent {
                        return None;
                    }
                }
                ChannelOperation::Try => {}
            }
        }
        Some(messages)
    }

    /// The failed receives that are explained by an empty channel, as far as that `can_be_known`. The others keep their place
    /// among the sends and receives.
    fn explain(&self, rules: &mut Rules, can_be_known: bool) -> Vec<u32> {
        let mut on_the_way = 0_i64;
        let mut explained = Vec::new();
        // The last event of each thread.
        let (mut moved, mut unexplained) = (Vec::new(), Vec::new());
        for &(event, operation) in &self.operations {
            let demands = &mut rules.events[event as usize];
            let here = demands.place();
            match operation {
                ChannelOperation::Try if can_be_known && on_the_way == 0 => explained.push(event),
                ChannelOperation::Try => {
                    demands.add_after(&moved, here.thread);
                    here.join(&mut unexplained);
                }
                ChannelOperation::Send(_) | ChannelOperation::Receive(_) => {
                    let is_send = matches!(operation, ChannelOperation::Send(_));
                    on_the_way += if is_send { 1 } else { -1 };
                    demands.add_after(&unexplained, here.thread);
                    here.join(&mut moved);
                }
            }
        }
        explained
    }
}
