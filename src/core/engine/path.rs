//! What the path allows right now, and what a change of it does to requests (R81, R86 to R90).

use super::hurry::Hurry;
use super::resume::WORTH;
use super::{Action, Engine};
use crate::core::advice::{Advice, Standing};
use crate::core::backoff::FLOOR;
use crate::core::breaker::Evidence;
use crate::core::clock::Millis;
use crate::core::error::Reason;
use crate::core::log::LogEvent;
use crate::core::path::{Allowed, ConnectionClass, PathSample, Plan, PlanInputs, class, plan};
use crate::core::request::{Request, RequestId, State};
use crate::core::retry::{Wait, WaitReason};
use crate::core::site::{Site, SiteClass};
use crate::core::timer::Timer;

/// A body that nobody has read from for so long does not count in its lane.
const UNREAD: Millis = Millis::new(1_000.0);

/// What is shown of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathState {
    /// The kind of connection.
    pub class: ConnectionClass,
    /// The number of the path.
    pub generation: u32,
    /// What is allowed on it; over all hosts, the least.
    pub plan: Plan,
}

impl Engine {
    /// What is known of the path now.
    pub fn handle_path(&mut self, sample: PathSample, now: Millis) {
        let was_offline = self.is_offline();
        if self.path.handle_sample(sample) {
            self.adverse.reset();
            for host in &mut self.hosts {
                host.breaker.pull_forward(self.dice.f64(), now);
            }
            self.tell_class(now);
        }
        if was_offline && !self.is_offline() {
            self.hurry(Hurry::NetworkBack, now);
        }
        self.replan(now);
    }

    /// Whether the user has said to go on whatever it costs (P7).
    pub fn handle_consent(&mut self, consent: bool, now: Millis) {
        self.consent = consent;
        self.replan(now);
    }

    /// What a host advises (R89).
    pub fn handle_advice(&mut self, host: u32, advice: Advice, now: Millis) {
        self.meet(host);
        let standing = &mut self.hosts[host as usize].advice;
        standing.adopt(advice, now);
        let sessions = f64::from(standing.sessions(now));
        self.note(now, RequestId(0), 0, LogEvent::Advised, host, sessions);
        self.actions.push(Action::Changed);
        self.retime(now);
    }

    /// What is shown of the path.
    pub fn path_state(&self, now: Millis) -> PathState {
        let mut least = Standing::default();
        for host in &self.hosts {
            least.lower(host.advice, now);
        }
        let plan = self.plan_for(least, self.online, now);
        PathState { class: self.class(now), generation: self.path.generation(), plan }
    }

    /// Whether there is no way to the network, as far as anybody said.
    pub(super) fn is_offline(&self) -> bool {
        class(self.path.sample(), self.online, false) == ConnectionClass::Offline
    }

    fn class(&self, now: Millis) -> ConnectionClass {
        class(self.path.sample(), self.online, self.adverse.is_adverse(now))
    }

    fn tell_class(&mut self, now: Millis) {
        let generation = f64::from(self.path.generation());
        let class = self.class(now) as u32;
        self.note(now, RequestId(0), 0, LogEvent::Path, class, generation);
    }

    #[inline(never)]
    fn plan_for(&self, advice: Standing, online: bool, now: Millis) -> Plan {
        let sample = *self.path.sample();
        let mut plan = plan(&PlanInputs {
            sample,
            online,
            adverse: self.adverse.is_adverse(now),
            consent: self.consent,
            background_left: sample.background_left(now),
            chunk: advice.chunk(now),
            sessions: advice.sessions(now),
            abr_cap: advice.abr_cap(now),
        });
        if advice.is_in_duress(now) {
            plan.allowed = plan.allowed.min(Allowed::Needed);
        }
        plan
    }

    /// The plan of a request. That the browser says that there is no network is not in it: it may
    /// be wrong, and a first attempt is the only proof.
    fn plan_of(&self, request: &Request, now: Millis) -> Plan {
        self.plan_for(self.host(request).advice, true, now)
    }

    /// The length of what is asked for at once, on an adverse connection (R91).
    pub(super) fn window(&self, request: &Request, now: Millis) -> Option<f64> {
        let window = self.plan_of(request, now).range_window;
        window.filter(|_| self.host(request).knows_ranges && !self.refuses_ranges(request, now))
    }

    /// Why a request cannot be sent now, as far as the path and the lane go.
    pub(super) fn held(&self, request: &Request, now: Millis) -> Option<WaitReason> {
        // Only these are counted.
        let lane = if is_bulk(request) { self.lane(request.host, now) } else { 0 };
        self.held_beside(lane, request, now)
    }

    /// The same where so many requests are under way in its lane.
    fn held_beside(&self, lane: u32, request: &Request, now: Millis) -> Option<WaitReason> {
        let Plan { allowed, max_in_flight, .. } = self.plan_of(request, now);
        if allowed == Allowed::Nothing && self.is_offline() || !self.online && request.attempts > 0
        {
            return Some(WaitReason::Offline);
        }
        if allowed == Allowed::Nothing || allowed == Allowed::Needed && request.marks.ahead {
            return Some(WaitReason::Held);
        }
        let is_full = lane >= max_in_flight || self.is_full(request, now);
        (is_bulk(request) && is_full).then_some(WaitReason::Window)
    }

    /// How many requests are under way in a lane. What playback needs to know first is not counted
    /// (R81).
    fn lane(&self, host: u32, now: Millis) -> u32 {
        let lane =
            self.requests.iter().filter(|other| other.host == host && takes_place(other, now));
        lane.count() as u32
    }

    /// Whether as many ranges of its resource are under way as may be (R81).
    fn is_full(&self, request: &Request, now: Millis) -> bool {
        let same = |other: &&Request| {
            other.marks.resource == request.marks.resource
                && other.host == request.host
                && takes_place(other, now)
        };
        let ranges = || self.requests.iter().filter(same).count() as u32;
        request.wanted.ranged && ranges() >= request.ranges
    }

    /// The plan may have changed: what is forbidden is cancelled in this very tick, and costs
    /// nothing (P9, P10); what was held and is allowed goes on.
    pub(super) fn replan(&mut self, now: Millis) {
        self.planned_at = now;
        self.must_replan = false;
        // The least needed goes first.
        for id in self.in_order(is_under_way).into_iter().rev() {
            if let Some(index) = self.position(id)
                && self.is_forbidden(index, now)
            {
                self.suspend(index, now);
            }
        }
        self.actions.push(Action::Changed);
        self.retime(now);
    }

    /// Whether what is under way may not go on. What cannot be continued later is left to finish,
    /// unless nobody waits for it yet. No advice ends what has begun (A7).
    fn is_forbidden(&self, index: usize, now: Millis) -> bool {
        let request = &self.requests[index];
        let is_ours = request.site != Site::Other && !self.config.naive;
        if !is_ours || !request.idempotent {
            return false;
        }
        let Plan { allowed, max_in_flight, .. } = self.plan_for(Standing::default(), true, now);
        let is_forbidden = match allowed {
            Allowed::Nothing => true,
            Allowed::Needed if request.marks.ahead => true,
            Allowed::Needed => {
                max_in_flight == 1 && is_bulk(request) && self.lane(request.host, now) > 1
            }
            Allowed::All => false,
        };
        is_forbidden && (request.marks.ahead || self.can_continue(request, now))
    }

    /// Whether little is lost where a request is cut now and sent again later.
    fn can_continue(&self, request: &Request, now: Millis) -> bool {
        let is_little = !request.has_released() && request.kept_by_now() < WORTH;
        is_little || self.way_on(request, now).is_some()
    }

    /// Cancels an attempt on the plan's behalf: no attempt, no budget, no evidence (R87).
    fn suspend(&mut self, index: usize, now: Millis) {
        self.report_health(index, Evidence::Nothing, false, now);
        self.give_slots_back(index, now);
        self.keep(index);
        let request = &mut self.requests[index];
        request.ladder = request.ladder.saturating_sub(1);
        request.unfailed = true;
        request.timers.stop_all();
        let (id, attempt) = (request.id, request.attempts);
        self.actions.push(Action::Cut { request: id, attempt });
        if self.is_stuck(&self.requests[index], now) {
            return self.give_up(index, Reason::Released, now);
        }
        let reason = self.held(&self.requests[index], now).unwrap_or(WaitReason::Held);
        self.wait(index, Wait { delay: Millis::ZERO, reason }, now);
    }

    /// The requests of one kind by precedence: what is needed before what is fetched ahead, then by
    /// the sites' ranks, then by age.
    fn in_order(&self, kind: fn(&Request) -> bool) -> Vec<RequestId> {
        let mut order = Vec::new();
        for place in 0..2 * Site::RANKS {
            for request in &self.requests {
                let own = request.site.rank() + Site::RANKS * u8::from(request.marks.ahead);
                if own == place && kind(request) {
                    order.push(request.id);
                }
            }
        }
        order
    }

    /// Where nobody reads a body on, and that stays so, there is room in its lane.
    pub(super) fn handle_unread(&mut self, host: u32, now: Millis) {
        if !self.is_crowded {
            return;
        }
        let bodies = self.requests.iter().filter(|request| request.host == host);
        let dues = bodies.filter_map(leaves_at).filter(|&at| at > now);
        let due = dues.fold(Millis::MAX, Millis::min);
        for request in &mut self.requests {
            let waits = matches!(request.state, State::Waiting(WaitReason::Window));
            let is_later = request.timers.at(Timer::Retry).is_some_and(|at| at > due);
            if waits && is_later && request.host == host {
                request.timers.set(Timer::Retry, due);
                self.actions.push(Action::Changed);
            }
        }
    }

    /// What waits for the plan or for its lane, and may go now, is due: as many as there is room
    /// for.
    pub(super) fn release_held(&mut self, now: Millis) {
        if !self.is_crowded {
            return;
        }
        let held = self.in_order(is_held);
        self.is_crowded = !held.is_empty();
        let mut lanes = vec![0; self.hosts.len()];
        for request in self.requests.iter().filter(|request| takes_place(request, now)) {
            lanes[request.host as usize] += 1;
        }
        for id in held {
            let Some(index) = self.position(id) else { continue };
            let request = &self.requests[index];
            let lane = &mut lanes[request.host as usize];
            if self.held_beside(*lane, request, now).is_some() {
                continue;
            }
            *lane += u32::from(is_bulk(request));
            // What was sent before is not sent again at once, whatever the path does.
            let repeats = request.attempts > 0;
            let at = if repeats { now.max(request.since + FLOOR) } else { now };
            self.requests[index].timers.set(Timer::Retry, at);
            self.actions.push(Action::Changed);
        }
    }

    /// When the plan changes by itself, where somebody waits for that.
    pub(super) fn plan_due(&self) -> Option<Millis> {
        let since = self.planned_at;
        let mut earliest = Millis::MAX;
        for request in &self.requests {
            if !request.marks.ahead && !is_held(request) {
                continue;
            }
            let changes = [
                self.host(request).advice.expires_at(since),
                self.adverse.changes_at(since),
                self.path.sample().last_minute_at(),
            ];
            for at in changes.into_iter().flatten() {
                if at > since {
                    earliest = earliest.min(at);
                }
            }
        }
        (earliest < Millis::MAX).then_some(earliest)
    }

    /// Somebody begins to wait for a change of the plan. One that has come while nobody did is
    /// not news any more.
    pub(super) fn await_plan(&mut self, now: Millis) {
        if self.plan_due().is_none_or(|at| at > now) {
            self.planned_at = now;
        }
    }

    /// Where that time has come, the plan is made again.
    pub(super) fn replan_if_due(&mut self, now: Millis) {
        let due = self.plan_due().is_some_and(|at| at <= now);
        self.planned_at = now;
        if due {
            self.tell_class(now);
            self.replan(now);
        }
    }

    /// An attempt broke, or fell silent, in a way that speaks of the link (R84).
    pub(super) fn handle_bad_link(&mut self, now: Millis) {
        let before = self.adverse.is_adverse(now);
        self.adverse.handle_bad(now);
        if !before && self.adverse.is_adverse(now) {
            self.tell_class(now);
            self.must_replan = true;
        }
    }

    /// An attempt succeeded, which may prove that the link is well again.
    pub(super) fn handle_good_link(&mut self, now: Millis) {
        let before = self.adverse.is_adverse(now);
        self.adverse.handle_success();
        if before && !self.adverse.is_adverse(now) {
            self.planned_at = now;
            self.tell_class(now);
        }
    }
}

pub(super) fn is_bulk(request: &Request) -> bool {
    request.site.class() == SiteClass::BulkTransfer
}

pub(super) const fn is_under_way(request: &Request) -> bool {
    matches!(request.state, State::Headers | State::Body(_))
}

/// Whether a request waits for the plan or for its lane.
pub(super) const fn is_held(request: &Request) -> bool {
    matches!(request.state, State::Waiting(WaitReason::Held | WaitReason::Window))
}

/// Whether a request counts in the window of its lane. A body that nobody reads, such as one whose
/// buffer is full, must not keep another's from being filled.
fn takes_place(request: &Request, now: Millis) -> bool {
    let is_read = match &request.state {
        State::Body(_) => leaves_at(request).is_none_or(|at| now < at),
        state => matches!(state, State::Headers),
    };
    is_bulk(request) && is_read
}

/// When a body that nobody reads on leaves its place.
fn leaves_at(request: &Request) -> Option<Millis> {
    let State::Body(body) = &request.state else { return None };
    (!body.stall.is_awaited()).then(|| body.last_at + UNREAD)
}
