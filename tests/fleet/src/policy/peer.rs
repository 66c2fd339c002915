//! A peer at work: its attempts, its time-outs and its waits. What it decides is in a [`Policy`].

use holdfast::core::Site;

use super::budgets::Book;
use crate::calendar::{Ms, NONE};
use crate::client::{Client, Context, Deed, SLOTS};

/// How an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    /// It was refused with a 503, perhaps with a wait.
    Refused(Option<Ms>),
    /// It took too long.
    TimedOut,
}

/// What follows a failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Another attempt after so long.
    Retry(Ms),
    /// None; the player asks again at its next occasion.
    Drop,
    /// None; the player stops with a fatal error.
    Die,
}

/// Whether an attempt may be sent now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// Yes.
    Open,
    /// It fails on the spot, unsent.
    Shut,
}

/// How long an attempt may take to its headers, and in all.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// To its headers.
    pub head: Ms,
    /// In all.
    pub whole: Ms,
}

/// A policy of retries.
#[derive(Clone, Copy)]
pub struct Policy {
    /// Its name in results.
    pub name: &'static str,
    /// The limits of an attempt.
    pub limits: fn(Site) -> Limits,
    /// What follows the failure of a request that has failed `count` times in a row.
    pub next: fn(Site, Failure, u32, &mut Book, &mut fastrand::Rng) -> Next,
    /// Asked before an attempt is sent, where a policy holds back by itself.
    pub gate: Option<fn(&mut Book, Ms, &mut fastrand::Rng) -> Gate>,
    /// Told what attempts come to, where a policy keeps a book.
    pub note: Option<fn(&mut Book, bool, Ms, &mut fastrand::Rng)>,
}

/// One viewer's requests under a policy.
pub struct Peer {
    policy: &'static Policy,
    ladders: [Ladder; SLOTS],
    book: Book,
}

#[derive(Clone, Copy)]
struct Ladder {
    site: Site,
    /// Failures so far.
    failures: u32,
    /// When the attempt under way is too late, or the next one is due.
    due: Ms,
    /// When the attempt under way was sent.
    sent: Ms,
    waits: bool,
}

const IDLE: Ladder = Ladder { site: Site::Segment, failures: 0, due: NONE, sent: 0, waits: false };

impl Peer {
    fn send(&mut self, slot: u8, context: &mut Context<'_>) {
        if let Some(gate) = self.policy.gate
            && gate(&mut self.book, context.now, context.dice) == Gate::Shut
        {
            return self.fail(slot, Failure::Refused(None), context);
        }
        let ladder = &mut self.ladders[slot as usize];
        let Limits { head, whole } = (self.policy.limits)(ladder.site);
        ladder.waits = false;
        ladder.sent = context.now;
        ladder.due = context.now.saturating_add(head.min(whole));
        context.deeds.push(Deed::Send(slot));
    }

    fn fail(&mut self, slot: u8, failure: Failure, context: &mut Context<'_>) {
        let ladder = &mut self.ladders[slot as usize];
        ladder.failures += 1;
        let Ladder { site, failures, .. } = *ladder;
        let next = (self.policy.next)(site, failure, failures, &mut self.book, context.dice);
        match next {
            Next::Retry(delay) => {
                ladder.waits = true;
                ladder.due = context.now + delay.max(1);
            }
            Next::Drop => {
                *ladder = IDLE;
                context.deeds.push(Deed::Dropped(slot));
            }
            Next::Die => {
                *ladder = IDLE;
                context.deeds.push(Deed::Lost(slot));
            }
        }
    }

    fn note(&mut self, success: bool, context: &mut Context<'_>) {
        if let Some(note) = self.policy.note {
            note(&mut self.book, success, context.now, context.dice);
        }
    }
}

impl Client for Peer {
    type Kind = &'static Policy;

    fn new(policy: &'static Policy, _seed: u64) -> Self {
        Self { policy, ladders: [IDLE; SLOTS], book: Book::default() }
    }

    fn start(&mut self, slot: u8, site: Site, _url: u32, context: &mut Context<'_>) {
        self.ladders[slot as usize] = Ladder { site, ..IDLE };
        self.send(slot, context);
    }

    fn handle_head(&mut self, slot: u8, _context: &mut Context<'_>) {
        let ladder = &mut self.ladders[slot as usize];
        ladder.due = ladder.sent.saturating_add((self.policy.limits)(ladder.site).whole);
    }

    fn handle_refusal(&mut self, slot: u8, retry_after: Option<Ms>, context: &mut Context<'_>) {
        self.note(false, context);
        self.fail(slot, Failure::Refused(retry_after), context);
    }

    fn handle_end(&mut self, slot: u8, context: &mut Context<'_>) {
        self.note(true, context);
        self.ladders[slot as usize] = IDLE;
        context.deeds.push(Deed::Done(slot));
    }

    fn wake(&mut self, context: &mut Context<'_>) {
        for slot in 0..SLOTS as u8 {
            let Ladder { due, waits, .. } = self.ladders[slot as usize];
            if due > context.now {
                continue;
            }
            if waits {
                self.send(slot, context);
            } else {
                context.deeds.push(Deed::Cut(slot));
                self.note(false, context);
                self.fail(slot, Failure::TimedOut, context);
            }
        }
    }

    fn next_wake(&self) -> Option<Ms> {
        let due = self.ladders.iter().map(|ladder| ladder.due).min()?;
        (due != NONE).then_some(due)
    }
}
