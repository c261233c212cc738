//! The channel.

use super::super::program::{CLOSED, EMPTY, FULL, Instruction, NOT_SENT, Program, Receivers};
use super::{Looks, Object, Phase, RECEIVER, State, Step};

impl State {
    pub(super) fn close_sender(&mut self, looks: Looks, number: usize, now: usize) -> Step {
        self.threads[number].has_sender = false;
        self.channel.senders -= 1;
        self.channel.ends.push(now);
        if looks.channels {
            Step::reads(Object::Receives)
        } else {
            Step::default()
        }
    }

    pub(super) fn close_receiver(&mut self, number: usize, now: usize) -> Step {
        self.threads[number].has_receiver = false;
        self.channel.has_receiver = false;
        self.channel.messages.clear();
        for thread in &mut self.threads {
            if let Phase::Sent(_) = thread.phase {
                thread.phase = Phase::Begins;
                thread.at += 1;
                thread.register = NOT_SENT;
                thread.after.push(now);
            }
        }
        Step::changes(Object::Sends)
    }

    pub(super) fn send(
        &mut self,
        program: &Program,
        number: usize,
        now: usize,
        instruction: Instruction,
    ) -> Option<Step> {
        let thread = &mut self.threads[number];
        let channel = &mut self.channel;
        if let Phase::Sent(_) = thread.phase {
            return None;
        }
        // Only senders of channels with some room can try.
        let tries = instruction == Instruction::TrySend;
        let bound = program.bound.filter(|bound| *bound > 0);
        if !channel.has_receiver {
            thread.register = NOT_SENT;
            thread.at += 1;
            return Some(Step::reads(Object::Sends));
        }
        if bound.is_some_and(|bound| channel.messages.len() >= bound) {
            if !tries {
                return None;
            }
            thread.register = FULL;
            thread.at += 1;
            return Some(Step::changes(Object::Sends).and(Object::Receives, false));
        }
        let mut step = Step::changes(Object::Sends);
        if let Some(before) = bound.and_then(|bound| channel.sent.checked_sub(bound)) {
            step.after.push(channel.receives[before]);
        }
        channel.messages.push_back((thread.register, now));
        channel.sent += 1;
        if program.bound == Some(0) {
            thread.phase = Phase::Sent(channel.sent);
        } else {
            thread.at += 1;
        }
        Some(step)
    }

    pub(super) fn receive_one(
        &mut self,
        program: &Program,
        looks: Looks,
        found: &mut Looks,
        number: usize,
        now: usize,
        instruction: Instruction,
    ) -> Option<Step> {
        let several = program.receivers() == Receivers::Several;
        if several && self.owners[RECEIVER] != Some(number) {
            return self.lock(RECEIVER, number);
        }
        if self.threads[number].phase == Phase::Received {
            let thread = &mut self.threads[number];
            thread.phase = Phase::Begins;
            thread.at += 1;
            return Some(self.unlock(looks, RECEIVER));
        }
        let tries = instruction != Instruction::Receive;
        found.channels |= tries;
        let channel = &mut self.channel;
        let mut step = Step::changes(Object::Receives);
        let thread = &mut self.threads[number];
        let mut served = None;
        match channel.messages.pop_front() {
            Some((value, sent)) => {
                thread.register = value;
                channel.receives.push(now);
                served = Some(channel.receives.len());
                step.after.push(sent);
            }
            None if channel.senders == 0 => {
                thread.register = CLOSED;
                step.after.extend(&channel.ends);
                if tries {
                    step = step.and(Object::Sends, false);
                }
            }
            None if tries => {
                thread.register = EMPTY;
                step = step.and(Object::Sends, false);
            }
            None => return None,
        }
        if several {
            thread.phase = Phase::Received;
        } else {
            thread.at += 1;
        }
        for other in &mut self.threads {
            if served.is_some_and(|message| other.phase == Phase::Sent(message)) {
                other.phase = Phase::Begins;
                other.at += 1;
                other.after.push(now);
            }
        }
        Some(step)
    }
}
