//! One request's life: attempt, wait, attempt, …, verdict.
//!
//! ```text
//!            ┌──────────────────── admitted ────────────────────┐
//!            ▼                                                  │
//! start ─► Headers ── accepted ─► Body ── lost ─► Asking ─► Waiting ◄─ not admitted
//!            │                      │               ▲           │
//!            └────── failed ────────┼───────────────┘           └─► verdict
//!                                   └─► success
//! ```
//!
//! A request that has its verdict is taken out of the engine, so it settles once by
//! construction. This file holds the state; the engine moves it.

use super::breaker::Permit;
use super::classify::{Classification, FailureClass};
use super::clock::Millis;
use super::engine::StartRequest;
use super::error::Reason;
use super::hook::{Hook, Hooks};
use super::resume::{Ask, Representation, Wanted};
use super::retry::{Alternatives, WaitReason};
use super::site::{Site, SitePolicy};
use super::stall::Stall;
use super::throttle::Slot;
use super::timer::{Timer, TimerTable};

/// The name of a request, unique within its engine. 0 names the engine itself.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RequestId(pub u32);

/// When bytes reach the caller.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Delivery {
    /// All at once, at the end: a lost body can be fetched again unseen.
    Buffered,
    /// As they come: what was released cannot be taken back.
    Streaming,
}

/// Where a request stands.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// An attempt was sent; its headers, its failure or its time-out end this.
    Headers,
    /// Headers were accepted; the end of the body, its loss or its silence end this.
    Body(Box<Body>),
    /// A hook is asked about what comes next; its answer, or its deadline, ends this.
    Asking(Hook),
    /// No attempt is under way; the retry timer, the network or the caller end this.
    Waiting(WaitReason),
}

/// The body under way.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) stall: Stall,
    pub(super) status: u16,
    pub(super) received: f64,
    /// So many of those were with the caller before, and so many are passed on at most.
    pub(super) skip: f64,
    pub(super) take: f64,
    /// The announced length, as a hint.
    pub(super) total: Option<f64>,
    pub(super) first_at: Millis,
    pub(super) last_at: Millis,
    /// Whether it came from a cache.
    pub(super) cached: bool,
}

impl Body {
    /// The bytes that were passed on.
    pub(super) fn delivered(&self) -> f64 {
        (self.received - self.skip).max(0.0).min(self.take)
    }

    /// Whether it has ended before its announced length, be it the length of an encoding: none
    /// makes a body longer by a hundredth. HTTP/1.1 ends such a body with an error; over HTTP/2
    /// Chromium takes it for whole (RFC 9113 section 8.1.1 has it malformed).
    pub(super) fn falls_short(&self) -> bool {
        let least = |total: f64| total * 0.99 - 64.0;
        self.take.is_infinite() && self.total.is_some_and(|total| self.received < least(total))
    }
}

/// What is remembered of the last failure.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastFailure {
    pub(super) class: FailureClass,
    pub(super) status: u16,
    pub(super) svta: u16,
    /// What a retry of it costs the budget.
    pub(super) cost: f64,
    /// When the server said to come back.
    pub(super) retry_at: Option<Millis>,
    /// The bound that was exceeded.
    pub(super) limit: Option<Millis>,
    /// Whether it counts against the host.
    pub(super) counts: bool,
}

/// A failure that nothing has been decided about yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) failure: Classification,
    /// Whether the same class came before.
    pub(super) repeated: bool,
    /// Whether bytes are with the caller already.
    pub(super) released: bool,
    pub(super) retry_after: Option<Millis>,
    /// Whether the server, or the detector, said that there is too much.
    pub(super) throttled: bool,
    /// Whether the attempt's response is left to the caller if this is final.
    pub(super) refusal: bool,
    /// Whether a plain reload follows at once: the time that it took has been paid.
    pub(super) at_once: bool,
}

/// What a rotation, a source or a list of scopes knows a request by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    /// The URL, as a number that tells it from others.
    pub url: u32,
    /// The credential that the URL carries, from 1; 0 where there is none.
    pub credential: u32,
    /// The URL prefix that is rate-limited by itself, from 1; 0 where there is none.
    pub prefix: u32,
    /// Which hooks there are for it.
    pub hooks: Hooks,
    /// Nothing is lost if it fails (R30).
    pub optional: bool,
    /// The URL asks for a delta, or for the server to hold the answer back (R33).
    pub directives: bool,
    /// Fetched ahead of need: nobody waits for it yet (R86).
    pub ahead: bool,
    /// The URL, whatever range of it is asked for.
    pub resource: u32,
}

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) id: RequestId,
    pub(super) site: Site,
    pub(super) host: u32,
    pub(super) delivery: Delivery,
    pub(super) idempotent: bool,
    pub(super) expects_body: bool,
    /// A blocking playlist reload: the server holds the answer back on purpose.
    pub(super) blocking: bool,
    pub(super) alternatives: Alternatives,
    pub(super) marks: Marks,
    pub(super) wanted: Wanted,
    pub(super) state: State,
    pub(super) timers: TimerTable,
    pub(super) started: Millis,
    /// Attempts sent.
    pub(super) attempts: u32,
    /// Attempts that the ladder counts: those that failed for want of a network are not.
    pub(super) ladder: u32,
    /// Time without a network or in a hold of the plan, which the ladder's deadline does not count
    /// either.
    pub(super) offline: Millis,
    /// When the current attempt was sent, or the current wait began.
    pub(super) since: Millis,
    pub(super) header_timeouts: u32,
    /// Bodies that were cut for their silence.
    pub(super) stalls: u32,
    pub(super) graced: bool,
    /// The classes of its failures so far, as bits.
    pub(super) failed_in: u32,
    /// The bound of the headers of the current attempt.
    pub(super) bound: Millis,
    pub(super) last_failure: Option<LastFailure>,
    /// See [`holds`](super::retry::holds).
    pub(super) beside: u32,
    /// Whether a request like this one was sent and answered since it last failed.
    pub(super) answered_beside: bool,
    pub(super) exhausted: Option<Millis>,
    /// The reason that the ladder was spent for.
    pub(super) spent: Option<Reason>,
    pub(super) pending: Option<Pending>,
    /// The number of the question that is open.
    pub(super) asked: u32,
    /// The breaker's leave for the attempt under way.
    pub(super) permit: Option<Permit>,
    /// The pacers' leaves, of the session, the host and the prefix.
    pub(super) slots: [Option<Slot>; 3],
    /// The generation of the credential that the attempt was sent with.
    pub(super) generation: u32,
    /// Whether its credential was refreshed for it.
    pub(super) refreshed: bool,
    /// Repetitions of what is perhaps not there yet.
    pub(super) graces: u32,
    /// Whether the other tabs left the next probe to this one.
    pub(super) elected: bool,
    /// Whether this fails like a request that CORS refuses.
    pub(super) suspect: bool,
    /// What the attempt under way asks for.
    pub(super) ask: Ask,
    /// The bytes that earlier attempts have delivered, and what of.
    pub(super) kept: f64,
    pub(super) known: Option<Representation>,
    /// The length of all that was asked for, where it is known.
    pub(super) whole: Option<f64>,
    /// Whether it is of no use to ask for a part.
    pub(super) in_one: bool,
    /// Whether what a cache has of it is known to be wrong.
    pub(super) reload: bool,
    /// Attempts that went on where a part ended as it was to.
    pub(super) legs: u32,
    /// Whether the next attempt is no retry: nothing has failed.
    pub(super) unfailed: bool,
    /// How many ranges of its resource may be under way, as it was when it began (A6).
    pub(super) ranges: u32,
}

impl Request {
    /// A request that is about to be sent for the first time.
    pub(super) fn new(start: StartRequest, now: Millis) -> Self {
        let StartRequest { id, site, host, delivery, idempotent, expects_body, blocking, .. } =
            start;
        Self {
            id,
            site,
            host,
            delivery,
            idempotent,
            expects_body,
            blocking,
            alternatives: start.alternatives,
            marks: start.marks,
            state: State::Waiting(WaitReason::Backoff),
            timers: TimerTable::default(),
            started: now,
            attempts: 0,
            ladder: 0,
            offline: Millis::ZERO,
            since: now,
            header_timeouts: 0,
            stalls: 0,
            graced: false,
            failed_in: 0,
            bound: Millis::ZERO,
            last_failure: None,
            beside: 0,
            answered_beside: false,
            exhausted: None,
            spent: None,
            pending: None,
            asked: 0,
            permit: None,
            slots: [None; 3],
            generation: 0,
            refreshed: false,
            graces: 0,
            elected: false,
            suspect: false,
            wanted: start.wanted,
            ask: Ask::All,
            kept: 0.0,
            known: None,
            whole: None,
            in_one: false,
            reload: false,
            legs: 0,
            unfailed: false,
            ranges: u32::MAX,
        }
    }

    /// Whether the next attempt is no retry: it is the first, or the one before with a fresh
    /// credential (R54), or goes on where nothing has failed.
    pub(super) const fn is_free(&self) -> bool {
        self.attempts == 0
            || self.unfailed
            || matches!(self.state, State::Waiting(WaitReason::TokenRefresh))
    }

    /// Whether the next attempt is one that time pays for, and not the budget.
    pub(super) const fn is_probe(&self) -> bool {
        matches!(self.state, State::Waiting(WaitReason::Hold | WaitReason::Budget))
    }

    /// Whether bytes are with the caller already.
    pub(super) fn has_released(&self) -> bool {
        self.delivery == Delivery::Streaming && self.kept_by_now() > 0.0
    }

    /// The bytes that all attempts have delivered.
    pub(super) fn kept_by_now(&self) -> f64 {
        let under_way = if let State::Body(body) = &self.state { body.delivered() } else { 0.0 };
        self.kept + under_way
    }

    /// The time that it was held back by the plan or its lane does not count on its ladder: nobody
    /// tried anything.
    pub(super) fn excuse_hold(&mut self, now: Millis) {
        if matches!(
            self.state,
            State::Waiting(WaitReason::Held | WaitReason::Window | WaitReason::CatchUp)
        ) {
            let held = now - self.since;
            self.offline = self.offline + held;
            self.exhausted = self.exhausted.map(|at| at + held);
            // Not to be counted twice.
            self.since = now;
        }
    }

    /// Whether an attempt is under way, and it is this one.
    pub(super) const fn is_current(&self, attempt: u32) -> bool {
        self.attempts == attempt && matches!(self.state, State::Headers | State::Body(_))
    }

    /// How the request stands for somebody who looks on, once it has failed or waits.
    pub(super) fn retry_state(&self, policy: &SitePolicy) -> Option<RetryState> {
        let wait = match self.state {
            State::Waiting(reason) => Some(reason),
            State::Asking(_) | State::Body(_) | State::Headers => None,
        };
        if self.last_failure.is_none() && wait.is_none() {
            return None;
        }
        Some(RetryState {
            request: self.id,
            site: self.site,
            attempt: self.attempts,
            max_attempts: policy.attempts,
            class: self.last_failure.map(|last| last.class),
            status: self.last_failure.map_or(0, |last| last.status),
            next_at: wait.and_then(|_| self.timers.at(Timer::Retry)),
            wait,
            exhausted: self.exhausted.is_some(),
        })
    }
}

/// A request that has failed at least once and goes on, or that is not sent yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryState {
    /// Whose.
    pub request: RequestId,
    /// Its site.
    pub site: Site,
    /// Attempts sent so far.
    pub attempt: u32,
    /// Attempts on its ladder.
    pub max_attempts: u32,
    /// The class of the last failure, where there was one.
    pub class: Option<FailureClass>,
    /// The status of the last failure, 0 where there was none.
    pub status: u16,
    /// When the next attempt is due, while it waits.
    pub next_at: Option<Millis>,
    /// Why it waits, while it waits.
    pub wait: Option<WaitReason>,
    /// Whether the quick ladder is spent.
    pub exhausted: bool,
}
