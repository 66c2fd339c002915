//! A virtual clock and a scripted network for tests of the core.
//!
//! A test says what each attempt of a request meets ([`Answer`]), drives the [`World`], and
//! looks at what was sent and decided. Every step is held to the [`contract`](contract).
#![allow(dead_code, unused_imports, reason = "each test file uses its own part of this")]

mod answer;
mod ask;
mod contract;
mod network;
mod script;

use holdfast::core::{
    Action, Advice, Alternatives, Answer as Opinion, Config, Engine, Entry, Failure, Hook,
    HostState, LogEvent, Marks, Millis, PathSample, Playback, RequestId, Site, StartRequest,
};

pub(crate) use self::answer::{
    Answer, Part, hang, ok, origin, page, reject, silent, status, truncated,
};
pub(crate) use self::ask::{Ask, ask};
use self::contract::Contract;
use self::network::{Fact, Network};
pub(crate) use self::script::{Play, play, play_at};

/// An attempt that was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) request: u32,
    pub(crate) attempt: u32,
    pub(crate) at: f64,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    Finished,
    Failed(Failure),
}

/// An engine, a clock and a network.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) now: f64,
    pub(crate) sent: Vec<Sent>,
    /// All actions with their times, in their order.
    pub(crate) actions: Vec<(f64, Action)>,
    /// The hooks' answers, each after so many ms, the last one for ever. None: no answer.
    pub(crate) opinions: Vec<(f64, Opinion)>,
    /// The answers of the hook that refreshes credentials, likewise.
    pub(crate) refreshes: Vec<(f64, bool)>,
    /// When hooks were asked what.
    pub(crate) asked: Vec<(f64, u32, Hook)>,
    /// When which credential was to be refreshed.
    pub(crate) refresh_asked: Vec<(f64, u32)>,
    /// What the player says of the stream with its next report.
    pub(crate) live: bool,
    network: Network,
    contract: Contract,
    last_id: u32,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Config { seed: 1, log_capacity: 100_000, ..Config::default() })
    }

    pub(crate) fn seeded(seed: u64) -> Self {
        Self::with(Config { seed, log_capacity: 100_000, ..Config::default() })
    }

    pub(crate) fn with(config: Config) -> Self {
        Self {
            engine: Engine::new(config),
            now: 0.0,
            sent: Vec::new(),
            actions: Vec::new(),
            opinions: Vec::new(),
            refreshes: Vec::new(),
            asked: Vec::new(),
            refresh_asked: Vec::new(),
            live: false,
            network: Network::default(),
            contract: Contract::default(),
            last_id: 0,
        }
    }

    /// Lets attempts that were cut go on reporting, as a slow browser might.
    pub(crate) fn keep_leftovers(&mut self) {
        self.network.leftovers = true;
    }

    /// Whatever is sent to `host` from `from` until `to` meets `answer`.
    pub(crate) fn outage(&mut self, host: u32, from: f64, to: f64, answer: Answer) {
        self.network.outages.push((host, from, to, answer));
    }

    /// Whatever is sent to `host` meets the next of these; the last one goes on for ever.
    pub(crate) fn tape(&mut self, host: u32, answers: impl Into<Vec<Answer>>) {
        self.network.tapes.insert(host, answers.into());
    }

    /// Does something at a later time.
    pub(crate) fn at(&mut self, at: f64, deed: impl FnOnce(&mut Self) + 'static) {
        self.network.post(at, Fact::Deed(Box::new(deed)));
    }

    /// Starts a request now.
    pub(crate) fn start(&mut self, ask: Ask) -> u32 {
        self.last_id += 1;
        let id = self.last_id;
        self.network.script(id, ask.host, ask.wanted, ask.answers);
        let start = StartRequest {
            id: RequestId(id),
            site: ask.site,
            host: ask.host,
            delivery: ask.delivery,
            idempotent: ask.idempotent,
            expects_body: ask.expects_body,
            blocking: ask.blocking,
            alternatives: ask.alternatives,
            marks: Marks {
                url: if ask.marks.url == 0 { 1_000_000 + id } else { ask.marks.url },
                ..ask.marks
            },
            wanted: ask.wanted,
        };
        self.contract.handle_start(id);
        self.engine.handle_start(start, self.millis());
        self.drain();
        id
    }

    /// Starts such a request every `period` until `until`.
    pub(crate) fn every(&mut self, period: f64, until: f64, ask: &Ask) {
        let mut at = self.now + period;
        while at <= until {
            let ask = ask.clone();
            self.at(at, |world| {
                world.start(ask);
            });
            at += period;
        }
    }

    pub(crate) fn abort(&mut self, id: u32) {
        self.engine.handle_abort(RequestId(id), self.millis());
        self.drain();
    }

    pub(crate) fn online(&mut self, online: bool) {
        self.engine.handle_online(online, self.millis());
        self.drain();
    }

    /// What is known of the path.
    pub(crate) fn path(&mut self, sample: PathSample) {
        self.engine.handle_path(sample, self.millis());
        self.drain();
    }

    /// Whether the user agrees to what it costs.
    pub(crate) fn consent(&mut self, consent: bool) {
        self.engine.handle_consent(consent, self.millis());
        self.drain();
    }

    /// A host gives advice.
    pub(crate) fn advise(&mut self, host: u32, advice: Advice) {
        self.engine.handle_advice(host, advice, self.millis());
        self.drain();
    }

    /// Another tab says that a host lets one request a second through, from then on.
    pub(crate) fn gossip_limit(&mut self, host: u32, from: f64) {
        let limit = Some((Millis::new(from), 1.0));
        self.engine.handle_gossip(host, None, 0, limit, self.millis());
        self.drain();
    }

    /// The player turns to another host than this one.
    pub(crate) fn rotate(&mut self, host: u32) {
        self.engine.handle_rotation(host, self.millis());
        self.drain();
    }

    pub(crate) fn retry_now(&mut self) {
        self.contract.handle_hurry();
        self.engine.handle_retry_now(self.millis());
        self.drain();
    }

    pub(crate) fn alternatives(&mut self, site: Site, alternatives: Alternatives) {
        self.engine.handle_alternatives(site, alternatives);
        self.drain();
    }

    /// What the player says, in ms.
    pub(crate) fn playback(&mut self, buffer_ahead: Option<f64>, target_duration: Option<f64>) {
        let playback = Playback {
            buffer_ahead: buffer_ahead.map(Millis::new),
            target_duration: target_duration.map(Millis::new),
            live: self.live,
        };
        self.engine.handle_playback(playback, self.millis());
        self.drain();
    }

    /// The page is frozen until `at`: nothing runs, then the timer rings first and late, and
    /// what the network delivered meanwhile follows.
    pub(crate) fn freeze_until(&mut self, at: f64) {
        self.now = self.now.max(at);
        self.ring();
    }

    /// Time passes until nothing is left to happen.
    pub(crate) fn drive_until_idle(&mut self) {
        self.drive(f64::INFINITY);
    }

    /// Time passes until `at`.
    pub(crate) fn drive_until(&mut self, at: f64) {
        self.drive(at);
        self.now = self.now.max(at);
    }

    fn drive(&mut self, until: f64) {
        for _ in 0..100_000 {
            let timer = self.engine.next_timeout().map_or(f64::INFINITY, |(due, _)| due.get());
            let fact = self.network.next_at();
            let next = timer.min(fact);
            if next > until || next == f64::INFINITY {
                return;
            }
            self.now = self.now.max(next);
            if timer < fact {
                self.ring();
            } else if let Some(fact) = self.network.take() {
                self.feed(fact);
            }
        }
        panic!("the engine never comes to rest");
    }

    fn ring(&mut self) {
        self.engine.handle_timeout(self.millis());
        self.drain();
        let due = self.engine.next_timeout().map(|(due, _)| due.get());
        assert!(due.is_none_or(|due| due > self.now), "a timer is left in the past: {due:?}");
    }

    fn feed(&mut self, fact: Fact) {
        let now = self.millis();
        match fact {
            Fact::Deed(deed) => return deed(self),
            Fact::Opinion(id, number, opinion) => {
                self.engine.handle_answer(id, number, opinion, now);
            }
            Fact::Refreshed(credential, number, renewed) => {
                self.engine.handle_refreshed(credential, number, renewed, now);
            }
            Fact::Chunk(id, attempt, bytes, reading) => {
                self.engine.handle_chunk(id, attempt, bytes, reading, now);
            }
            Fact::End(id, attempt) => {
                self.engine.handle_body_end(id, attempt, true, now);
            }
            Fact::Lost(id, attempt) => self.engine.handle_body_lost(id, attempt, now),
            Fact::Page(id, attempt) => self.engine.handle_intercepted(id, attempt, now),
            Fact::Reading(id, attempt) => self.engine.handle_reading(id, attempt, now),
            Fact::Rejected(id, attempt) => self.engine.handle_rejected(id, attempt, now),
            Fact::Response(id, attempt, facts) => {
                self.contract.handle_response(id.0, attempt, &facts, self.now);
                self.engine.handle_response(id, attempt, facts, now);
            }
        }
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(action) = self.engine.poll() {
            self.contract.handle_action(&action, self.now);
            match action {
                Action::Send { request, attempt, ask, .. } => {
                    self.sent.push(Sent { request: request.0, attempt, at: self.now });
                    self.network.send(request, attempt, ask, self.now);
                }
                Action::Cut { request, attempt } => self.network.cut(request, attempt),
                Action::Forget { request } => self.network.forget(request),
                Action::Ask { request, hook, number } => {
                    self.asked.push((self.now, request.0, hook));
                    if let Some((after, opinion)) = next_of(&mut self.opinions) {
                        let fact = Fact::Opinion(request, number, opinion);
                        self.network.post(self.now + after, fact);
                    }
                }
                Action::Refresh { credential, number, .. } => {
                    self.refresh_asked.push((self.now, credential));
                    if let Some((after, renewed)) = next_of(&mut self.refreshes) {
                        let fact = Fact::Refreshed(credential, number, renewed);
                        self.network.post(self.now + after, fact);
                    }
                }
                _ => {}
            }
            self.actions.push((self.now, action));
        }
        self.contract.check_rest(&self.engine);
    }

    fn millis(&self) -> Millis {
        Millis::new(self.now)
    }

    /// How a request ended, and when.
    pub(crate) fn verdict(&self, id: u32) -> Option<(f64, Verdict)> {
        self.actions.iter().find_map(|(at, action)| match action {
            Action::Finish { request } if request.0 == id => Some((*at, Verdict::Finished)),
            Action::Fail { request, failure } if request.0 == id => {
                Some((*at, Verdict::Failed(*failure)))
            }
            _ => None,
        })
    }

    /// When a request succeeded; panics where it did not.
    pub(crate) fn finished_at(&self, id: u32) -> f64 {
        match self.verdict(id) {
            Some((at, Verdict::Finished)) => at,
            other => panic!("request {id} did not succeed: {other:?}\n{}", self.story(id)),
        }
    }

    /// When and why a request failed; panics where it did not.
    pub(crate) fn failure(&self, id: u32) -> (f64, Failure) {
        match self.verdict(id) {
            Some((at, Verdict::Failed(failure))) => (at, failure),
            other => panic!("request {id} did not fail: {other:?}\n{}", self.story(id)),
        }
    }

    /// What is shown of a host.
    pub(crate) fn host(&self, number: u32) -> HostState {
        let state = self.engine.hosts(self.millis()).nth(number as usize);
        state.expect("a host that was asked")
    }

    /// The exhaustion events of a request.
    pub(crate) fn exhaustions(&self, id: u32) -> Vec<(f64, Failure)> {
        let of = |(at, action): &(f64, Action)| match action {
            Action::Exhausted { request, failure } if request.0 == id => Some((*at, *failure)),
            _ => None,
        };
        self.actions.iter().filter_map(of).collect()
    }

    /// When the attempts of a request were sent.
    pub(crate) fn sent_at(&self, id: u32) -> Vec<f64> {
        self.sent.iter().filter(|sent| sent.request == id).map(|sent| sent.at).collect()
    }

    /// What the log has of one request.
    pub(crate) fn entries(&self, id: u32) -> Vec<Entry> {
        self.engine.log().filter(|entry| entry.request.0 == id).copied().collect()
    }

    /// The events of one request, in their order.
    pub(crate) fn events(&self, id: u32) -> Vec<LogEvent> {
        self.entries(id).iter().map(|entry| entry.event).collect()
    }

    /// The log of one request as lines, for a failed assertion.
    pub(crate) fn story(&self, id: u32) -> String {
        self.entries(id).iter().map(|entry| format!("{entry:?}\n")).collect()
    }
}

/// The first of a script; the last one stays.
fn next_of<T: Copy>(script: &mut Vec<T>) -> Option<T> {
    if script.len() > 1 { Some(script.remove(0)) } else { script.first().copied() }
}
