//! The gates that an attempt passes when it is about to be sent, and what it tells afterwards to
//! those who keep them: the guard of its URL, its credential, the pacers, the host's breaker, the
//! budget. Nothing is spent before the last gate.

use super::path::is_held;
use super::{Action, Engine, Scope};
use crate::core::breaker::Health;
use crate::core::catch_up::{CatchUp, OUTAGE};
use crate::core::clock::Millis;
use crate::core::credential::Credential;
use crate::core::error::Reason;
use crate::core::hook::{Hook, Hooks};
use crate::core::host::Host;
use crate::core::log::LogEvent;
use crate::core::request::{Marks, Request, State};
use crate::core::resume::Ask;
use crate::core::retry::{Alternatives, Exhausted, USUAL, Wait, WaitReason, hold_interval};
use crate::core::site::Site;
use crate::core::throttle::{Cause, Slot, Throttle};
use crate::core::timer::Timer;

/// What the gates say.
enum Admission {
    /// Its credential has expired: a refresh comes first.
    Expired,
    /// The tabs have to agree on who probes the host.
    Elect,
    Go,
    /// The path or its lane has no room for it.
    Held(WaitReason),
    /// Not before then.
    Later(WaitReason, Millis),
    Never(Reason),
    /// The budget does not cover it.
    Unpaid,
}

/// The scopes of a request, in the order of its slots.
const SCOPES: [Scope; 3] = [Scope::Session, Scope::Host, Scope::Prefix];

/// How long other tabs may take to agree.
const ELECTION: Millis = Millis::new(1_000.0);

/// The shortest time that the answer to a probe is waited for, and what comes on top of it.
const LEASE: (Millis, Millis) = (Millis::new(10_000.0), Millis::new(2_000.0));

impl Engine {
    /// The one way to an attempt: sends it, or says why it waits.
    pub(super) fn depart(&mut self, index: usize, now: Millis) {
        if self.is_stuck(&self.requests[index], now) {
            // The way on that there was is closed: its host answers ranges with the whole.
            return self.give_up(index, Reason::Released, now);
        }
        let naive = self.config.naive;
        let request = &mut self.requests[index];
        let paid = request.is_probe();
        if let Some(last) = request.last_failure.as_mut().filter(|_| paid) {
            // Time has paid for it, and whoever puts it off now does not change that.
            last.cost = 0.0;
        }
        let admission = self.admission(&self.requests[index], now);
        if !matches!(admission, Admission::Held(_)) {
            self.requests[index].excuse_hold(now);
        }
        match admission {
            Admission::Expired => self.refresh(index, now),
            Admission::Elect => self.ask(index, Hook::Probe, ELECTION, now),
            Admission::Go if naive => self.send(index, now),
            Admission::Go => {
                if !self.ask_before_repeating(index, now) {
                    self.send(index, now);
                }
            }
            Admission::Held(reason) => {
                let host = self.requests[index].host;
                self.wait(index, Wait { delay: Millis::ZERO, reason }, now);
                self.handle_unread(host, now);
            }
            Admission::Later(reason, at) => self.defer(index, reason, at, now),
            Admission::Never(reason) => self.give_up(index, reason, now),
            Admission::Unpaid => {
                let at = self.next_probe(index, now);
                self.defer(index, WaitReason::Budget, at, now);
            }
        }
    }

    fn admission(&self, request: &Request, now: Millis) -> Admission {
        if self.config.naive {
            return Admission::Go;
        }
        if request.site == Site::Other {
            return self.held(request, now).map_or(Admission::Go, Admission::Held);
        }
        let Marks { url, hooks, credential, .. } = request.marks;
        if self.guard.is_retired(url) {
            return Admission::Never(Reason::Retired);
        }
        let first = request.attempts == 0;
        if first && let Some(at) = self.guard.rests_until(url, now) {
            return Admission::Later(WaitReason::Cooldown, at);
        }
        if hooks.has(Hooks::REFRESH_TOKEN)
            && self.credential(credential).is_some_and(|credential| credential.is_stale(now))
            && !request.refreshed
        {
            return Admission::Expired;
        }
        let paced = self.paced_until(request, now);
        if paced > now {
            return Admission::Later(WaitReason::Vrlt, paced);
        }
        if first && request.site == Site::Segment {
            let at = self.catches_up_at(request, now);
            if at > now {
                return Admission::Later(WaitReason::CatchUp, at);
            }
        }
        let host = self.host(request);
        if let Err(at) = host.breaker.check(now) {
            return Admission::Later(WaitReason::Breaker, at);
        }
        if !first && request.site.is_reload() {
            let at = if self.is_read(url) { now + self.target() } else { self.repeats_at(request) };
            if at > now {
                return Admission::Later(WaitReason::Backoff, at);
            }
        }
        let probes = host.breaker.health(&self.config.breaker, now).health != Health::Closed;
        if !request.is_free() && self.source.is_spent() {
            return Admission::Never(Reason::Budget);
        }
        if !request.is_free() && !probes && !request.is_probe() && !self.covers(request) {
            return Admission::Unpaid;
        }
        if let Some(reason) = self.held(request, now) {
            return Admission::Held(reason);
        }
        if probes && self.elects && !request.elected {
            return Admission::Elect;
        }
        Admission::Go
    }

    /// When catching up after an outage lets a segment through.
    fn catches_up_at(&self, request: &Request, now: Millis) -> Millis {
        let host = self.host(request);
        let buffer = self.buffer_ahead(now).unwrap_or_default();
        host.catch_up.map_or(now, |pace| pace.next_at(buffer, host.took * 1.5, now))
    }

    /// The headers of a success came: catching up begins, which is told, or may go on faster.
    pub(super) fn pace_catch_up(&mut self, index: usize, now: Millis) -> bool {
        let request = &self.requests[index];
        let (site, took) = (request.site, now - request.since);
        let refused = request.last_failure.is_some() && now - request.started >= OUTAGE;
        let buffer = self.buffer_ahead(now);
        let host = &mut self.hosts[request.host as usize];
        let usual = host.lateness[Site::Segment as usize].latest().unwrap_or_default();
        if (host.failing_for(now) >= OUTAGE || refused && host.throttle.is_on())
            && let Some(buffer) = buffer
        {
            host.catch_up = Some(CatchUp::new(buffer, usual, self.dice.f64(), now));
            return true;
        }
        if site == Site::Segment
            && let Some(pace) = &mut host.catch_up
        {
            pace.handle_answer(took, now);
        }
        false
    }

    /// An attempt is not sent yet. Where that takes longer than the ladder, the ladder is spent.
    pub(super) fn defer(&mut self, index: usize, wait: WaitReason, mut at: Millis, now: Millis) {
        // What the tabs agreed on was that it goes now.
        self.requests[index].elected = false;
        let request = &self.requests[index];
        let reason = match wait {
            WaitReason::Breaker => Some(Reason::Breaker),
            WaitReason::Budget => Some(Reason::Budget),
            WaitReason::RetryAfter | WaitReason::Vrlt => Some(Reason::RateLimited),
            _ => None,
        };
        if let Some(reason) = reason {
            let elsewhere = !self.may_hold(request);
            let over = match request.exhausted {
                Some(since) => since + self.config.hold_limit,
                None => request.started + request.offline + self.policy(request, now).deadline,
            };
            let hopes =
                wait == WaitReason::Vrlt && now < over && self.may_go_by(request, over, now);
            if hopes {
                at = at.min(over);
            }
            let late = at > over;
            // What is never held has its ladder's time to wait for the only host there is.
            let reject = self.config.site(request.site).exhausted == Exhausted::Reject;
            let waits = reject && self.alternatives(request) != Alternatives::Some;
            let refused = reason == Reason::Breaker && elsewhere && !waits;
            if refused || late && request.exhausted.is_some() {
                let reason = if elsewhere { reason } else { Reason::HoldLimit };
                return self.give_up(index, reason, now);
            }
            if late && elsewhere {
                return self.give_up(index, reason, now);
            }
            if late {
                self.exhaust(index, reason, true, now);
            }
        }
        self.wait(index, Wait { delay: at - now, reason: wait }, now);
    }

    #[inline(never)]
    pub(super) fn send(&mut self, index: usize, now: Millis) {
        self.give_up_late_directives(index, now);
        let timeout = self.headers_timeout(&self.requests[index], now);
        self.pay(index, now);
        let lease = timeout.max(LEASE.0) + LEASE.1;
        self.take_slots(index, lease, now);
        let request = &mut self.requests[index];
        if request.site != Site::Other && !self.config.naive {
            self.guard.handle_sent(request.marks.url, now);
            let breaker = &mut self.hosts[request.host as usize].breaker;
            request.permit = breaker
                .check(now)
                .is_ok()
                .then(|| breaker.acquire(&self.config.breaker, lease, now));
        }
        let place = request.marks.credential as usize;
        if let Some(credential) = place.checked_sub(1).and_then(|at| self.credentials.get_mut(at)) {
            credential.handle_used(now);
            request.generation = credential.generation;
        }
        let paced = matches!(request.state, State::Waiting(WaitReason::CatchUp));
        let waited = matches!(request.state, State::Waiting(_)) && request.since < now;
        let waited = waited || paced || is_held(request);
        request.unfailed = false;
        request.attempts += 1;
        request.ladder += 1;
        request.state = State::Headers;
        request.since = now;
        request.graced = false;
        request.elected = false;
        request.timers.stop_all();
        request.bound = timeout;
        request.timers.set(Timer::Headers, now + timeout);
        let (id, attempt, from_origin) = (request.id, request.attempts, request.reload);
        let reload = request.site.is_reload().then_some(request.marks.url);
        let shown = request.last_failure.is_some() || waited;
        if let Some(url) = reload {
            self.keep_reload(url, now);
        }
        let ask = self.set_out(index, now);
        let from = if let Ask::Part(first, _) = ask { first } else { 0.0 };
        self.note(now, id, attempt, LogEvent::Sent, ask.code(), from);
        self.actions.push(Action::Send { request: id, attempt, ask, reload: from_origin });
        if shown {
            self.actions.push(Action::Changed);
        }
    }

    // The budget.

    /// Whether all three buckets cover the retry.
    fn covers(&self, request: &Request) -> bool {
        let cost = cost_of(request);
        self.host(request).bucket.covers(cost)
            && self.source.covers(cost)
            && self.budget.covers(cost)
    }

    /// A retry is sent: it costs what it costs, unless time has paid for it.
    fn pay(&mut self, index: usize, now: Millis) {
        let request = &self.requests[index];
        let free = request.is_free();
        if free || request.site == Site::Other || self.config.naive {
            return;
        }
        let host = &mut self.hosts[request.host as usize];
        let probes = request.is_probe()
            || host.breaker.health(&self.config.breaker, now).health != Health::Closed;
        let cost = if probes { 0.0 } else { cost_of(request) };
        host.bucket.pay(cost);
        self.budget.pay(cost);
        self.source.draw(cost);
    }

    /// A success earns, if it is one of a first attempt; any ends an episode.
    pub(super) fn earn(&mut self, gone: &Request, now: Millis) {
        let earned = if gone.attempts == gone.legs + 1 { self.config.budget.earn } else { 0.0 };
        self.hosts[gone.host as usize].bucket.earn(earned);
        self.budget.earn(earned);
        self.source.handle_success(earned);
        self.guard.handle_success(gone.marks.url);
        if self.succeeded[0].0 != gone.host {
            self.succeeded.swap(0, 1);
        }
        self.succeeded[0] = (gone.host, Some(now));
    }

    /// When time grants this request a probe: a target duration after those that wait for
    /// theirs, which costs the server no more than steady play.
    fn next_probe(&mut self, index: usize, now: Millis) -> Millis {
        let reload = self.requests[index].site.is_reload();
        let interval = hold_interval(self.playback.target_duration, reload, Millis::MAX);
        let queue = if reload { Millis::ZERO } else { self.queue_of_probes(index, now) };
        now + queue + interval * (0.85 + 0.3 * self.dice.f64())
    }

    // The pacers.

    fn pacer(&mut self, request: usize, scope: Scope) -> Option<&mut Throttle> {
        let Request { host, marks, .. } = &self.requests[request];
        match scope {
            Scope::Session => Some(&mut self.session),
            Scope::Host => self.hosts.get_mut(*host as usize).map(|host| &mut host.throttle),
            Scope::Prefix => {
                let place = (marks.prefix as usize).checked_sub(1)?;
                self.prefixes.get_mut(place)
            }
        }
    }

    /// When the pacers of all its scopes let a request through.
    pub(super) fn paced_until(&self, request: &Request, now: Millis) -> Millis {
        self.pacers(request).map(|pacer| pacer.next_at(now)).fold(Millis::ZERO, Millis::max)
    }

    /// Whether it may be this request's turn by `at`, as far as its pacers know: a trial may be
    /// answered at any time.
    fn may_go_by(&self, request: &Request, at: Millis, now: Millis) -> bool {
        self.pacers(request).all(|pacer| pacer.is_trying() || pacer.next_at(now) <= at)
    }

    fn pacers(&self, request: &Request) -> impl Iterator<Item = &Throttle> {
        let prefix = (request.marks.prefix as usize).checked_sub(1);
        let prefix = prefix.and_then(|place| self.prefixes.get(place));
        [Some(&self.session), Some(&self.host(request).throttle), prefix].into_iter().flatten()
    }

    fn take_slots(&mut self, index: usize, lease: Millis, now: Millis) {
        let paced = self.requests[index].site != Site::Other && !self.config.naive;
        for (place, scope) in SCOPES.into_iter().enumerate() {
            let Some(pacer) = self.pacer(index, scope) else { continue };
            pacer.handle_sent(now);
            let slot = (paced && pacer.is_on()).then(|| pacer.take(now + lease, now));
            self.requests[index].slots[place] = slot;
        }
    }

    /// An attempt was answered with a success, with which catching up may begin.
    pub(super) fn handle_paced_success(&mut self, index: usize, catches_up: bool, now: Millis) {
        let slots = std::mem::take(&mut self.requests[index].slots);
        for (slot, scope) in slots.into_iter().zip(SCOPES) {
            if let Some(pacer) = self.pacer(index, scope)
                && pacer.is_on()
            {
                pacer.handle_success(slot, now);
                // It was down, and nobody asked too often: catching up has a pace of its own.
                let was_down = match pacer.cause() {
                    Cause::Guess => catches_up,
                    Cause::Busy => true,
                    Cause::Limit => false,
                };
                if was_down && slot.is_some_and(Slot::is_trial) {
                    pacer.end(now);
                }
                self.actions.push(Action::Changed);
            }
        }
        self.retime(now);
    }

    /// An attempt was refused because there is too much of what `scope` is about.
    pub(super) fn handle_throttled(
        &mut self,
        index: usize,
        (scope, cause): (Scope, Cause),
        wait: Option<Millis>,
        cap: Millis,
        now: Millis,
    ) {
        let policy = self.config.site(self.requests[index].site);
        let span = policy.backoff_base * 4.0;
        let unit = self.dice.f64();
        let slot = self.requests[index].slots[scope as usize].take();
        let Some(pacer) = self.pacer(index, scope) else { return };
        pacer.blame(cause);
        pacer.handle_throttled(slot, wait, span, cap, unit, now);
        let blocked = pacer.state(now).map_or(Millis::ZERO, |state| state.blocked_until - now);
        let (id, attempt) = (self.requests[index].id, self.requests[index].attempts);
        self.note(now, id, attempt, LogEvent::Throttled, scope as u32, blocked.get());
        self.actions.push(Action::Changed);
    }

    /// The attempt under way says nothing to its pacers.
    pub(super) fn give_slots_back(&mut self, index: usize, now: Millis) {
        let slots = std::mem::take(&mut self.requests[index].slots);
        for (slot, scope) in slots.into_iter().zip(SCOPES) {
            if let (Some(slot), Some(pacer)) = (slot, self.pacer(index, scope)) {
                pacer.handle_nothing(slot, now);
            }
        }
    }

    /// When it is this request's turn with the guard of its URL, its pacers and its host's
    /// breaker.
    pub(super) fn turn(&self, request: &Request, now: Millis) -> Millis {
        let guard = self.guard.rests_until(request.marks.url, now);
        let guard = guard.filter(|_| request.attempts == 0).unwrap_or_default();
        let breaker = self.host(request).breaker.check(now).err().unwrap_or_default();
        self.paced_until(request, now).max(breaker).max(guard)
    }

    // Odds and ends.

    /// A host that was perhaps not heard of before.
    #[inline(never)]
    pub(super) fn meet(&mut self, host: u32) {
        while self.hosts.len() <= host as usize {
            // Most engines know one host, and a host is large.
            self.hosts.reserve_exact(1);
            self.hosts.push(Host::new(&self.config));
        }
    }

    /// A prefix or a credential that was not heard of before.
    pub(super) fn make_room(&mut self, marks: &Marks) {
        while self.prefixes.len() < marks.prefix as usize {
            self.prefixes.push(Throttle::default());
        }
        while self.credentials.len() < marks.credential as usize {
            self.credentials.push(Credential::default());
        }
    }

    pub(super) fn host(&self, request: &Request) -> &Host {
        &self.hosts[request.host as usize]
    }

    /// The target duration, or a usual one.
    pub(super) fn target(&self) -> Millis {
        self.playback.target_duration.unwrap_or(USUAL)
    }
}

fn cost_of(request: &Request) -> f64 {
    request.last_failure.map_or(1.0, |last| last.cost)
}
