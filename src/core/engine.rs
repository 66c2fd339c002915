//! The engine: hosts and requests, and the only type that the boundary sees.

use self::recover::{Aside, GRACE, Hurry};
use super::classify::{Facts, FailureClass, Outcome, classify};
use super::clock::Millis;
use super::config::Config;
use super::error::Failure;
use super::estimate::Estimator;
use super::host::Host;
use super::log::{Entry, Log, LogEvent};
use super::request::{Body, Delivery, Request, RequestId, RetryState, State};
use super::retry::{Alternatives, WaitReason};
use super::site::Site;
use super::stall::{Playback, Stall, StallPolicy};
use super::timer::Timer;

mod plan;
mod recover;

/// A wake-up that is later than this means that the page or the device slept.
const SLEEP: Millis = Millis::new(5_000.0);

/// What the driver has to do.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// The response may be handed to the caller; read its body. `inspect` asks to look at its
    /// first bytes for a page where media was asked for.
    Accept {
        /// Whose.
        request: RequestId,
        /// Which attempt's.
        attempt: u32,
        /// Whether the first bytes must be looked at.
        inspect: bool,
    },
    /// [`Engine::retry_states`] or [`Engine::estimator`] has changed.
    Changed,
    /// Abort the attempt.
    Cut {
        /// Whose.
        request: RequestId,
        /// Which attempt.
        attempt: u32,
    },
    /// The ladder of a request is spent, or its failure is final. Once a request.
    Exhausted {
        /// Whose.
        request: RequestId,
        /// What came of it.
        failure: Failure,
    },
    /// The verdict: failure. The request is over.
    Fail {
        /// Whose.
        request: RequestId,
        /// Why.
        failure: Failure,
    },
    /// The caller has aborted. The request is over, and so is its attempt, if there is one.
    Forget {
        /// Whose.
        request: RequestId,
    },
    /// The verdict: success. The request is over.
    Finish {
        /// Whose.
        request: RequestId,
    },
    /// Send an attempt.
    Send {
        /// Whose.
        request: RequestId,
        /// Which attempt, from 1.
        attempt: u32,
    },
}

/// What a caller asks for.
#[derive(Clone, Copy, Debug)]
pub struct StartRequest {
    /// The request's name. Names ascend.
    pub id: RequestId,
    /// The site.
    pub site: Site,
    /// The host, as a number that the caller gives to each.
    pub host: u32,
    /// When bytes reach the caller.
    pub delivery: Delivery,
    /// Whether it is safe to send twice.
    pub idempotent: bool,
    /// Whether a success has a body.
    pub expects_body: bool,
    /// Whether the server may hold the answer back (blocking playlist reload).
    pub blocking: bool,
    /// What was declared for this URL; the site's own declaration counts where unknown.
    pub alternatives: Alternatives,
}

/// The head of a response, as facts.
#[derive(Clone, Copy, Debug)]
pub struct ResponseFacts {
    /// The status; 0 for a response of type `opaque` or `opaqueredirect`.
    pub status: u16,
    /// `Content-Length`, where it can be read. It is a hint: that of an encoded body is not
    /// the length of the bytes that are seen, and whether it is encoded may be hidden. Bodies
    /// that end too early are refused by the browser itself.
    pub length: Option<f64>,
    /// `Retry-After`, where it can be read and is in the grammar.
    pub retry_after: Option<Millis>,
}

/// The engine.
#[derive(Debug)]
pub struct Engine {
    config: Config,
    requests: Vec<Request>,
    hosts: Vec<Host>,
    alternatives: [Alternatives; Site::COUNT],
    playback: Playback,
    playback_at: Millis,
    online: bool,
    /// When time asleep was excused last.
    excused: Millis,
    estimator: Estimator,
    actions: Vec<Action>,
    log: Log,
    dice: fastrand::Rng,
}

impl Engine {
    /// An engine without requests.
    pub fn new(config: Config) -> Self {
        Self {
            requests: Vec::new(),
            hosts: Vec::new(),
            alternatives: [Alternatives::Unknown; Site::COUNT],
            playback: Playback::default(),
            playback_at: Millis::ZERO,
            online: true,
            excused: Millis::ZERO,
            estimator: Estimator::new(config.estimator),
            actions: Vec::new(),
            log: Log::new(config.log_capacity),
            dice: fastrand::Rng::with_seed(config.seed),
            config,
        }
    }

    /// Takes a request on and sends its first attempt. A name that does not ascend is
    /// refused, and nothing happens.
    pub fn handle_start(&mut self, start: StartRequest, now: Millis) {
        let StartRequest { id, site, host, delivery, idempotent, expects_body, blocking, .. } =
            start;
        if self.requests.last().is_some_and(|last| last.id >= id) {
            return;
        }
        while self.hosts.len() <= host as usize {
            self.hosts.push(Host::default());
        }
        self.requests.push(Request {
            id,
            site,
            host,
            delivery,
            idempotent,
            expects_body,
            blocking,
            alternatives: start.alternatives,
            state: State::Headers,
            timers: Default::default(),
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
        });
        self.note(now, id, 0, LogEvent::Started, site as u32, 0.0);
        self.send(self.requests.len() - 1, now);
    }

    /// The head of a response arrived.
    pub fn handle_response(
        &mut self,
        request: RequestId,
        attempt: u32,
        response: ResponseFacts,
        now: Millis,
    ) {
        let Some(index) = self.current(request, attempt) else { return };
        if !matches!(self.requests[index].state, State::Headers) {
            return;
        }
        self.requests[index].header_timeouts = 0;
        let outcome = match response.status {
            0 => Outcome::Opaque,
            status => Outcome::Status(status),
        };
        let facts = Facts { outcome, online: self.online, retry_after: false };
        let success = classify(facts).class == FailureClass::Success;
        let host = self.requests[index].host;
        if !self.requests[index].blocking {
            let took = now - self.requests[index].since;
            self.hosts[host as usize].handle_lateness(took);
        }
        let recovered = self.hosts[host as usize].handle_answer(success);
        if !success {
            let aside = Aside { retry_after: response.retry_after, limit: None };
            self.fail_attempt(index, outcome, aside, now);
            return;
        }
        let stall_timeout = self.config.site(self.requests[index].site).stall_timeout;
        let request = &mut self.requests[index];
        request.timers.stop(Timer::Headers);
        request.state = State::Body(Box::new(Body {
            stall: Stall::new(StallPolicy::new(stall_timeout).widened(request.stalls)),
            status: response.status,
            received: 0.0,
            total: response.length,
            first_at: now,
            last_at: now,
        }));
        let (id, inspect) = (request.id, request.site.expects_media());
        self.note(now, id, attempt, LogEvent::Accepted, response.status.into(), 0.0);
        self.actions.push(Action::Accept { request: id, attempt, inspect });
        if recovered {
            self.hurry(Hurry::HostBack(host), now);
        }
    }

    /// Somebody waits for a byte of the body.
    pub fn handle_reading(&mut self, request: RequestId, attempt: u32, now: Millis) {
        let Some(index) = self.current(request, attempt) else { return };
        if let State::Body(body) = &mut self.requests[index].state {
            body.stall.handle_reading(now);
            self.arm_stall(index, now);
        }
    }

    /// Bytes of the body arrived; `reading` says whether the next ones are waited for at
    /// once. Answers whether the attempt still counts.
    pub fn handle_chunk(
        &mut self,
        request: RequestId,
        attempt: u32,
        bytes: f64,
        reading: bool,
        now: Millis,
    ) -> bool {
        let Some(index) = self.current(request, attempt) else { return false };
        let State::Body(body) = &mut self.requests[index].state else { return false };
        body.received += bytes;
        body.last_at = now;
        body.stall.handle_progress(reading, now);
        self.arm_stall(index, now);
        true
    }

    /// The body ended. Answers whether it was whole.
    pub fn handle_body_end(&mut self, request: RequestId, attempt: u32, now: Millis) -> bool {
        let Some(index) = self.current(request, attempt) else { return false };
        let request = &self.requests[index];
        let State::Body(body) = &request.state else { return false };
        // A beacon is answered with nothing, and rightly so.
        let expects_body = request.expects_body
            && request.site != Site::Other
            && !matches!(body.status, 204 | 205 | 304);
        if expects_body && body.received == 0.0 {
            self.fail_attempt(index, Outcome::Empty, Aside::default(), now);
            return false;
        }
        self.succeed(index, now);
        true
    }

    /// The body's stream broke.
    pub fn handle_body_lost(&mut self, request: RequestId, attempt: u32, now: Millis) {
        self.fail_current(request, attempt, Outcome::Truncated, now);
    }

    /// The first bytes show a page where media was asked for.
    pub fn handle_intercepted(&mut self, request: RequestId, attempt: u32, now: Millis) {
        self.fail_current(request, attempt, Outcome::Intercepted, now);
    }

    /// The promise of `fetch` was rejected.
    pub fn handle_rejected(&mut self, request: RequestId, attempt: u32, now: Millis) {
        self.fail_current(request, attempt, Outcome::Rejected, now);
    }

    /// The caller aborted: the request is over, its attempt is cut, nothing is left behind.
    pub fn handle_abort(&mut self, request: RequestId, now: Millis) {
        let Some(index) = self.position(request) else { return };
        let gone = self.requests.remove(index);
        self.note(now, gone.id, gone.attempts, LogEvent::Aborted, 0, 0.0);
        self.actions.push(Action::Forget { request: gone.id });
        if gone.last_failure.is_some() {
            self.actions.push(Action::Changed);
        }
    }

    /// What the browser says of the network.
    pub fn handle_online(&mut self, online: bool, now: Millis) {
        if self.online == online {
            return;
        }
        self.online = online;
        self.note(now, RequestId(0), 0, LogEvent::Network, online.into(), 0.0);
        if online {
            self.hurry(Hurry::NetworkBack, now);
        }
    }

    /// What the player says of its playback.
    pub fn handle_playback(&mut self, playback: Playback, now: Millis) {
        self.playback = playback;
        self.playback_at = now;
        for index in 0..self.requests.len() {
            self.arm_stall(index, now);
        }
    }

    /// Whether the player has somewhere else to go for what `site` asks.
    pub const fn handle_alternatives(&mut self, site: Site, alternatives: Alternatives) {
        self.alternatives[site as usize] = alternatives;
    }

    /// The caller wants the waits to end now. What a server asked to wait, and what waits for
    /// the network, stays.
    pub fn handle_retry_now(&mut self, now: Millis) {
        self.hurry(Hurry::Caller, now);
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Millis) {
        self.excuse_sleep(now);
        let mut index = 0;
        while let Some(request) = self.requests.get_mut(index) {
            match request.timers.expire(now) {
                None => index += 1,
                // The same place again: the request may have another timer that is due, or a
                // verdict took it out and the place is the next one's.
                Some((due, timer)) => self.fire(index, timer, due, now),
            }
        }
    }

    /// A wake-up far too late: the device slept, and nobody could have done anything.
    fn excuse_sleep(&mut self, now: Millis) {
        let Some((due, _)) = self.next_timeout() else { return };
        let slept = now - due.max(self.excused);
        if slept < SLEEP {
            return;
        }
        self.excused = now;
        for request in &mut self.requests {
            if matches!(request.state, State::Waiting(WaitReason::Offline)) {
                // Its time is made good when the network is back, and that news may be in line.
                if let Some(limit) = request.timers.at(Timer::Retry) {
                    request.timers.set(Timer::Retry, limit + slept + GRACE);
                }
                continue;
            }
            request.offline = request.offline + slept;
            request.exhausted = request.exhausted.map(|at| at + slept);
        }
        self.actions.push(Action::Changed);
    }

    /// The next thing to do, until `None`.
    pub fn poll(&mut self) -> Option<Action> {
        // The queue is a handful at most.
        (!self.actions.is_empty()).then(|| self.actions.remove(0))
    }

    /// When [`handle_timeout`](Self::handle_timeout) has to be called next, and why.
    pub fn next_timeout(&self) -> Option<(Millis, Timer)> {
        let armed = self.requests.iter().filter_map(|request| request.timers.next());
        armed.reduce(|first, other| if other.0 < first.0 { other } else { first })
    }

    /// The requests that have failed and go on.
    pub fn retry_states(&self) -> impl Iterator<Item = RetryState> {
        self.requests.iter().filter_map(|request| {
            let policy = self.config.site(request.site);
            request.retry_state(policy)
        })
    }

    /// The estimate of the bandwidth, and the bytes that are left out of it.
    pub const fn estimator(&self) -> &Estimator {
        &self.estimator
    }

    /// The decision log, oldest first.
    pub fn log(&self) -> impl Iterator<Item = &Entry> {
        self.log.iter()
    }

    /// How many requests are under way.
    pub const fn request_count(&self) -> usize {
        self.requests.len()
    }

    #[inline(never)]
    fn note(
        &mut self,
        at: Millis,
        request: RequestId,
        attempt: u32,
        event: LogEvent,
        detail: u32,
        value: f64,
    ) {
        self.log.push(Entry { at, request, attempt, event, detail, value });
    }

    #[inline(never)]
    fn position(&self, request: RequestId) -> Option<usize> {
        self.requests.binary_search_by_key(&request, |request| request.id).ok()
    }

    /// The place of a request whose attempt under way is this one. Whatever else still
    /// reports is a leftover of an attempt that was cut.
    fn current(&self, request: RequestId, attempt: u32) -> Option<usize> {
        self.position(request).filter(|index| self.requests[*index].is_current(attempt))
    }

    #[inline(never)]
    fn send(&mut self, index: usize, now: Millis) {
        let timeout = self.headers_timeout(&self.requests[index], now);
        let request = &mut self.requests[index];
        request.attempts += 1;
        request.ladder += 1;
        request.state = State::Headers;
        request.since = now;
        request.graced = false;
        request.timers.stop_all();
        request.bound = timeout;
        request.timers.set(Timer::Headers, now + timeout);
        let (id, attempt) = (request.id, request.attempts);
        let failed_before = request.last_failure.is_some();
        self.note(now, id, attempt, LogEvent::Sent, 0, 0.0);
        self.actions.push(Action::Send { request: id, attempt });
        if failed_before {
            self.actions.push(Action::Changed);
        }
    }

    #[inline(never)]
    fn succeed(&mut self, index: usize, now: Millis) {
        let gone = self.requests.remove(index);
        let State::Body(body) = &gone.state else { return };
        if gone.attempts == 1 {
            self.estimator.sample((body.last_at - body.first_at).get(), body.received);
        } else {
            self.estimator.exclude(body.received);
        }
        self.note(now, gone.id, gone.attempts, LogEvent::Succeeded, 0, body.received);
        self.actions.push(Action::Finish { request: gone.id });
        // The bandwidth has changed, at least.
        self.actions.push(Action::Changed);
        for other in &mut self.requests {
            let alike = other.host == gone.host && other.site == gone.site;
            if alike && other.last_failure.is_some() && other.since <= gone.since {
                other.answered_beside = true;
            }
        }
    }
}
