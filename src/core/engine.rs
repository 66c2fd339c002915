//! The engine: hosts and requests, and the only type that the boundary sees.

use std::sync::Arc;

pub use self::action::{Action, HostState};
pub use self::facts::{Expiry, Limited, ResponseFacts, Scope, StartRequest};
use self::hurry::Hurry;
pub use self::path::PathState;
use self::recover::{Aside, GRACE};
use self::reload::Reloads;
use self::resume::Ending;
use super::breaker::Evidence;
use super::budget::{Bucket, SourceBudget};
use super::classify::{Facts, FailureClass, Outcome, classify};
use super::clock::Millis;
use super::config::Config;
use super::credential::Credential;
use super::estimate::Estimator;
use super::guard::Guard;
use super::host::Host;
use super::log::{Entry, Log, LogEvent};
use super::path::{AdverseDetector, Path};
use super::request::{Body, Request, RequestId, State};
use super::resume::{Ask, Fit};
use super::retry::{Alternatives, WaitReason};
use super::site::Site;
use super::stall::{Playback, Stall, StallPolicy};
use super::throttle::Throttle;
use super::timer::Timer;

mod action;
mod admit;
mod ask;
mod facts;
mod health;
mod hurry;
mod outside;
mod path;
mod plan;
mod recover;
mod refresh;
mod reload;
mod resume;
mod verdict;
mod views;

/// A wake-up that is later than this means that the page or the device slept.
const SLEEP: Millis = Millis::new(5_000.0);

/// A body that still comes so long after its headers shows that the host is well where bodies
/// failed; slow ones may take longer than a probe has time.
const FLOW: Millis = Millis::new(1_000.0);

/// So many requests at a time need no room for more.
const FEW: usize = 4;

/// How much of the time that a segment took still counts after the next one, which may be of audio.
const FADES: f64 = 0.75;

/// How long a refusal may be looked at.
const LOOK: Millis = Millis::new(1_000.0);

/// The engine.
#[derive(Debug)]
pub struct Engine {
    config: Arc<Config>,
    requests: Vec<Request>,
    hosts: Vec<Host>,
    credentials: Vec<Credential>,
    /// The pacers of the session, and of the prefixes.
    session: Throttle,
    prefixes: Vec<Throttle>,
    budget: Bucket,
    source: SourceBudget,
    guard: Guard,
    /// When playlists were read last.
    reloads: Reloads,
    /// When a host last succeeded, and which: proof that the network is well.
    succeeded: [(u32, Option<Millis>); 2],
    /// Whether tabs agree on who probes a host.
    elects: bool,
    /// The number of the last question to a hook.
    questions: u32,
    alternatives: [Alternatives; Site::COUNT],
    playback: Playback,
    playback_at: Millis,
    online: bool,
    path: Path,
    adverse: AdverseDetector,
    /// Whether the user has said to go on whatever it costs.
    consent: bool,
    /// When the plan was looked at last, and whether it has changed since.
    planned_at: Millis,
    must_replan: bool,
    /// Whether somebody may be waiting for room in a lane.
    is_crowded: bool,
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
        let seed = config.seed;
        Self::sharing(Arc::new(config), seed)
    }

    /// An engine that may share its configuration with others; `seed` is its own.
    pub fn sharing(config: Arc<Config>, seed: u64) -> Self {
        Self {
            requests: Vec::new(),
            hosts: Vec::new(),
            credentials: Vec::new(),
            session: Throttle::default(),
            prefixes: Vec::new(),
            budget: Bucket::new(config.budget.session),
            source: SourceBudget::new(&config.budget),
            guard: Guard::default(),
            reloads: reload::NONE,
            succeeded: [(0, None); 2],
            elects: false,
            questions: 0,
            alternatives: [Alternatives::Unknown; Site::COUNT],
            playback: Playback::default(),
            playback_at: Millis::ZERO,
            online: true,
            path: Path::default(),
            adverse: AdverseDetector::default(),
            consent: false,
            planned_at: Millis::ZERO,
            must_replan: false,
            is_crowded: false,
            excused: Millis::ZERO,
            estimator: Estimator::new(config.estimator),
            actions: Vec::new(),
            log: Log::new(config.log_capacity),
            dice: fastrand::Rng::with_seed(seed),
            config,
        }
    }

    /// Takes a request on and sends its first attempt. A name that does not ascend is
    /// refused, and nothing happens.
    pub fn handle_start(&mut self, start: StartRequest, now: Millis) {
        let StartRequest { id, site, host, marks, .. } = start;
        if self.requests.last().is_some_and(|last| last.id >= id) {
            return;
        }
        self.await_plan(now);
        self.meet(host);
        self.make_room(&marks);
        if site.is_reload() {
            self.merge_reloads(marks.url, now);
        }
        let ranges = self.hosts[host as usize].advice.ranges(now);
        if self.requests.len() < FEW {
            // A vector grows to four at once, and most engines have fewer requests.
            self.requests.reserve_exact(1);
        }
        self.requests.push(Request { ranges, ..Request::new(start, now) });
        self.note(now, id, 0, LogEvent::Started, site as u32, 0.0);
        self.depart(self.requests.len() - 1, now);
    }

    /// The head of a refusal arrived, and its body is being looked at before it is judged: the
    /// headers are no longer waited for, and the look has a second.
    pub fn handle_refusal_head(&mut self, request: RequestId, attempt: u32, now: Millis) {
        let Some(index) = self.current(request, attempt) else { return };
        let request = &mut self.requests[index];
        if let (State::Headers, Some(due)) = (&request.state, request.timers.at(Timer::Headers)) {
            request.timers.set(Timer::Headers, due.max(now + LOOK));
        }
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
        // What can be read is nothing that CORS refuses.
        self.requests[index].suspect = false;
        let outcome = match response.status {
            0 => Outcome::Opaque,
            status => Outcome::Status(status),
        };
        let facts = Facts { outcome, online: self.online, retry_after: false };
        let success = classify(facts).class == FailureClass::Success;
        let ResponseFacts { status, representation, retry_after, limited, expiry } = response;
        let Request { host, ask, .. } = self.requests[index];
        let is_missing = status == 416 && matches!(ask, Ask::Part(..));
        let catches_up = success && self.pace_catch_up(index, now);
        if !self.requests[index].blocking {
            let took = now - self.requests[index].since;
            let site = self.requests[index].site;
            self.hosts[host as usize].lateness[site as usize].handle_answer(took);
        }
        let recovered = self.hosts[host as usize].handle_answer(success, now);
        let length = representation.length;
        let fit = if is_missing {
            self.unsatisfied(index, representation.range)
        } else if success {
            self.fit(index, status, representation, now)
        } else {
            Err(outcome)
        };
        let fit = match fit {
            Ok(fit) => fit,
            Err(outcome) => {
                let aside = Aside { retry_after, limited, expiry, limit: None };
                self.fail_attempt(index, outcome, aside, now);
                return;
            }
        };
        let probes = self.requests[index].permit.is_some_and(|permit| permit.is_probe());
        if probes && !self.hosts[host as usize].fails_in_bodies() {
            // The host is alive, and its body may take long.
            self.report_health(index, Evidence::Success, false, now);
        }
        self.handle_paced_success(index, catches_up, now);
        let stall_timeout = self.config.site(self.requests[index].site).stall_timeout;
        let Fit { skip, take, .. } = fit;
        let request = &mut self.requests[index];
        request.timers.stop(Timer::Headers);
        request.state = State::Body(Box::new(Body {
            stall: Stall::new(StallPolicy::new(stall_timeout).widened(request.stalls), now),
            status,
            received: 0.0,
            skip,
            take,
            total: length,
            first_at: now,
            last_at: now,
            cached: false,
        }));
        let (id, kept) = (request.id, request.kept);
        let (resumed, part) = (kept > 0.0, matches!(ask, Ask::Part(..)) && !is_missing);
        let inspect = request.site.expects_media();
        self.note(now, id, attempt, LogEvent::Accepted, status.into(), kept);
        self.actions.push(Action::Accept {
            request: id,
            attempt,
            inspect,
            resumed,
            part,
            skip,
            take,
        });
        // Perhaps nobody ever reads it.
        self.handle_unread(host, now);
        if recovered && !self.config.naive {
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
        body.stall.handle_progress(body.received, reading, now);
        let flows = now - body.first_at >= FLOW;
        if !reading {
            let host = self.requests[index].host;
            self.handle_unread(host, now);
        }
        if flows && self.requests[index].permit.is_some_and(|permit| permit.is_probe()) {
            self.report_health(index, Evidence::Success, false, now);
            self.retime(now);
        }
        self.arm_stall(index, now);
        if self.drips(index, now) {
            self.requests[index].timers.set(Timer::Stall, now);
        }
        true
    }

    /// The body came from a cache, and is no sample of the bandwidth. To be said before it ends.
    pub fn handle_cached(&mut self, request: RequestId, attempt: u32) {
        let Some(index) = self.current(request, attempt) else { return };
        if let State::Body(body) = &mut self.requests[index].state {
            body.cached = true;
        }
    }

    /// The body ended; `whole` says whether its container did, as far as anybody looked. Answers
    /// whether all that was asked for is there.
    pub fn handle_body_end(
        &mut self,
        request: RequestId,
        attempt: u32,
        whole: bool,
        now: Millis,
    ) -> bool {
        let Some(index) = self.current(request, attempt) else { return false };
        let request = &mut self.requests[index];
        let State::Body(body) = &request.state else { return false };
        // A beacon is answered with nothing, and rightly so.
        let expects_body = request.expects_body
            && request.site != Site::Other
            && !matches!(body.status, 204 | 205 | 304);
        let is_empty = body.received == 0.0 && body.take > 0.0;
        if expects_body && is_empty {
            self.fail_attempt(index, Outcome::Empty, Aside::default(), now);
            return false;
        }
        // A cache may have taken it for the whole.
        request.reload |= !whole;
        match self.ending(index) {
            Ending::Whole if whole => {
                self.succeed(index, now);
                true
            }
            Ending::Part if whole => {
                self.go_on(index, now);
                self.retime(now);
                false
            }
            _ => {
                self.fail_attempt(index, Outcome::Truncated, Aside::default(), now);
                false
            }
        }
    }

    /// The body's stream broke.
    pub fn handle_body_lost(&mut self, request: RequestId, attempt: u32, now: Millis) {
        self.fail_current(request, attempt, Outcome::Truncated, now);
    }

    /// The bytes are not those of what was asked for: a page, or what the embedder refuses.
    pub fn handle_intercepted(&mut self, request: RequestId, attempt: u32, now: Millis) {
        if let Some(index) = self.current(request, attempt) {
            let request = &mut self.requests[index];
            request.known = None;
            request.reload = true;
        }
        self.fail_current(request, attempt, Outcome::Intercepted, now);
    }

    /// The promise of `fetch` was rejected.
    pub fn handle_rejected(&mut self, request: RequestId, attempt: u32, now: Millis) {
        self.fail_current(request, attempt, Outcome::Rejected, now);
    }

    /// The caller aborted: the request is over, its attempt is cut, nothing is left behind.
    pub fn handle_abort(&mut self, request: RequestId, now: Millis) {
        let Some(index) = self.position(request) else { return };
        self.report_health(index, Evidence::Nothing, false, now);
        self.give_slots_back(index, now);
        let gone = self.requests.remove(index);
        self.note(now, gone.id, gone.attempts, LogEvent::Aborted, 0, 0.0);
        self.actions.push(Action::Forget { request: gone.id });
        if gone.last_failure.is_some() || !path::is_under_way(&gone) {
            self.actions.push(Action::Changed);
        }
        self.retime(now);
    }

    /// What the browser says of the network.
    pub fn handle_online(&mut self, online: bool, now: Millis) {
        if self.online == online {
            return;
        }
        self.online = online;
        self.note(now, RequestId(0), 0, LogEvent::Network, online.into(), 0.0);
        for host in &mut self.hosts {
            host.breaker.handle_online(online, self.dice.f64(), now);
        }
        if online {
            self.hurry(Hurry::NetworkBack, now);
        }
        self.retime(now);
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
        for host in &mut self.hosts {
            host.breaker.pull_forward(0.0, now);
        }
        self.guard.clear();
        self.hurry(Hurry::Caller, now);
        self.retime(now);
    }

    /// Time has passed. What is due is done in the order of the sites' ranks.
    pub fn handle_timeout(&mut self, now: Millis) {
        self.excuse_sleep(now);
        self.expire_credentials(now);
        self.replan_if_due(now);
        loop {
            let due = |(index, request): (usize, &Request)| {
                let (at, _) = request.timers.next()?;
                (at <= now).then_some((request.marks.ahead, request.site.rank(), index))
            };
            // Again from the start each time: a verdict takes a request out.
            let Some((.., index)) = self.requests.iter().enumerate().filter_map(due).min() else {
                break;
            };
            if let Some((due, timer)) = self.requests[index].timers.expire(now) {
                self.fire(index, timer, due, now);
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
        self.adverse.excuse(slept);
        for credential in &mut self.credentials {
            credential.excuse(slept + GRACE);
        }
        for request in &mut self.requests {
            if let Some(limit) = request.timers.at(Timer::Hook) {
                request.timers.set(Timer::Hook, limit + slept + GRACE);
            }
            if matches!(request.state, State::Waiting(WaitReason::Offline)) {
                // Its time is made good when the network is back, and that news may be in line.
                if let Some(limit) = request.timers.at(Timer::Retry) {
                    request.timers.set(Timer::Retry, limit + slept + GRACE);
                }
                continue;
            }
            if path::is_held(request) {
                // Nor could the plan have changed, or a lane have emptied.
                request.since = request.since + slept;
            }
            request.offline = request.offline + slept;
            request.exhausted = request.exhausted.map(|at| at + slept);
        }
        self.actions.push(Action::Changed);
    }

    /// The next thing to do, until `None`.
    pub fn poll(&mut self) -> Option<Action> {
        if self.actions.is_empty() {
            // Nothing is kept between facts but what is known.
            self.actions = Vec::new();
            return None;
        }
        // The queue is a handful at most.
        Some(self.actions.remove(0))
    }

    /// When [`handle_timeout`](Self::handle_timeout) has to be called next, and why.
    pub fn next_timeout(&self) -> Option<(Millis, Timer)> {
        let mut earliest = (Millis::MAX, Timer::Refresh);
        for request in &self.requests {
            if let Some(next) = request.timers.next()
                && next.0 < earliest.0
            {
                earliest = next;
            }
        }
        for at in self.credentials_due() {
            if at < earliest.0 {
                earliest = (at, Timer::Refresh);
            }
        }
        if let Some(at) = self.plan_due()
            && at < earliest.0
        {
            earliest = (at, Timer::Plan);
        }
        (earliest.0 < Millis::MAX).then_some(earliest)
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
    fn succeed(&mut self, index: usize, now: Millis) {
        let Request { site, host, ref state, .. } = self.requests[index];
        if let (Site::Segment, State::Body(body)) = (site, state) {
            let host = &mut self.hosts[host as usize];
            host.took = (now - body.first_at).max(host.took * FADES);
        }
        self.report_health(index, Evidence::Success, false, now);
        self.sample(index);
        let gone = self.requests.remove(index);
        let bytes = gone.kept_by_now();
        self.note(now, gone.id, gone.attempts, LogEvent::Succeeded, 0, bytes);
        self.earn(&gone, now);
        self.handle_good_link(now);
        let recovered = self.hosts[gone.host as usize].handle_success();
        self.actions.push(Action::Finish { request: gone.id });
        // The bandwidth has changed, at least.
        self.actions.push(Action::Changed);
        for other in &mut self.requests {
            let alike = other.host == gone.host && other.site == gone.site;
            if alike && other.last_failure.is_some() && other.since <= gone.since {
                other.answered_beside = true;
            }
        }
        if recovered && !self.config.naive {
            self.hurry(Hurry::HostBack(gone.host), now);
        }
        if gone.site.is_reload() {
            self.merge_reloads(gone.marks.url, now);
            self.forget_reload(gone.marks.url);
        }
        self.retime(now);
    }
}
