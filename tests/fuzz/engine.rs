//! The engine, driven by any bytes: each few of them are a fact, true or not.
//!
//! Whatever comes, it does not panic and comes to rest; after a wake-up no timer is left in the
//! past; a request ends once and is not named afterwards; its attempts are numbered without a gap;
//! and once all are aborted, no timer is left but for refreshing a credential.

use std::collections::BTreeMap;

use holdfast::core::{
    Action, Alternatives, Answer, Coding, Config, ContentRange, Delivery, Engine, Exhausted,
    Expiry, FailureClass, Hooks, Limited, Marks, Matter, Millis, Playback, Recovery,
    Representation, RequestId, ResponseFacts, Rule, Scope, Site, StartRequest, Timer, Wanted,
};

/// Plays the bytes to their end.
pub(crate) fn run(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let config = config(&mut bytes);
    let mut session = Session {
        engine: Engine::new(config.clone()),
        config,
        now: 0.0,
        last_id: 0,
        attempts: BTreeMap::new(),
        questions: Vec::new(),
        refreshes: Vec::new(),
    };
    while !bytes.0.is_empty() {
        session.step(&mut bytes);
        session.drain();
    }
    session.finish();
}

/// Bytes that are read from the front; where there are no more, zeros.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn below(&mut self, count: u8) -> u8 {
        self.byte() % count
    }

    fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// One in eight.
    fn rarely(&mut self) -> bool {
        self.below(8) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::from(self.byte()) % all.len()]
    }

    /// A span in ms: often short, at times what no clock says.
    fn span(&mut self) -> f64 {
        let scale = self.of(&[0.0, 1.0, 10.0, 100.0, 1_000.0, 20_000.0, 1e9, 1e17]);
        scale * f64::from(self.byte())
    }

    /// A number that somebody else has made up.
    fn number(&mut self) -> f64 {
        if self.rarely() {
            self.of(&[
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                -1.0,
                f64::MAX,
                f64::MIN_POSITIVE,
            ])
        } else {
            self.span()
        }
    }

    fn maybe(&mut self) -> Option<Millis> {
        self.flag().then(|| Millis::new(self.number()))
    }
}

fn config(bytes: &mut Bytes<'_>) -> Config {
    let mut config = Config { seed: bytes.byte().into(), log_capacity: 16, ..Config::default() };
    config.naive = bytes.rarely();
    config.breaker.trip_exhausted = bytes.flag();
    let mode = bytes.of(&[Exhausted::Auto, Exhausted::Hold, Exhausted::Reject]);
    if bytes.flag() {
        config.hold_limit = Millis::new(bytes.span());
    }
    config.recovery = rules(bytes);
    for policy in &mut config.sites {
        policy.exhausted = mode;
    }
    if bytes.rarely() {
        let site = usize::from(bytes.below(Site::COUNT as u8));
        let policy = &mut config.sites[site];
        policy.attempts = bytes.below(101).into();
        policy.backoff_base = Millis::new(bytes.span());
        policy.backoff_cap = Millis::new(bytes.span());
        policy.deadline = Millis::new(bytes.span());
        policy.headers_timeout = Millis::new(bytes.span());
        policy.stall_timeout = Millis::new(bytes.span());
        policy.max_wait = Millis::new(bytes.span());
        policy.rotate_after = bytes.below(4).into();
    }
    config
}

fn rules(bytes: &mut Bytes<'_>) -> Vec<Rule> {
    let count = bytes.below(3);
    (0..count)
        .map(|_| Rule {
            site: bytes.flag().then(|| bytes.of(&Site::ALL)),
            matter: if bytes.flag() {
                Matter::Class(bytes.of(&FailureClass::ALL))
            } else {
                Matter::Status(bytes.of(&STATUSES))
            },
            action: bytes.of(&Recovery::ALL),
        })
        .collect()
}

const STATUSES: [u16; 24] = [
    0, 100, 200, 204, 206, 302, 304, 400, 401, 403, 404, 408, 410, 412, 413, 416, 421, 425, 429,
    451, 500, 503, 511, 999,
];

struct Session {
    engine: Engine,
    config: Config,
    now: f64,
    last_id: u32,
    /// Of requests that go on, how many attempts were sent.
    attempts: BTreeMap<u32, u32>,
    questions: Vec<(RequestId, u32)>,
    refreshes: Vec<(u32, u32)>,
}

impl Session {
    fn step(&mut self, bytes: &mut Bytes<'_>) {
        let fact = bytes.below(32);
        let now = Millis::new(self.now);
        match fact {
            0..=3 => self.start(bytes),
            4..=7 => {
                let (id, attempt) = self.attempt(bytes);
                let facts = response(bytes);
                self.engine.handle_response(id, attempt, facts, now);
            }
            8 | 9 => {
                let (id, attempt) = self.attempt(bytes);
                let (count, reading) = (bytes.span(), bytes.flag());
                self.engine.handle_chunk(id, attempt, count, reading, now);
            }
            10 | 11 => {
                let (id, attempt) = self.attempt(bytes);
                self.engine.handle_body_end(id, attempt, bytes.below(8) != 0, now);
            }
            12 => self.report(bytes),
            13 | 14 => {
                let (id, attempt) = self.attempt(bytes);
                self.engine.handle_rejected(id, attempt, now);
            }
            15 => {
                let (id, _) = self.attempt(bytes);
                self.engine.handle_abort(id, now);
            }
            16..=19 => self.wake(),
            20 => {
                self.now += bytes.span();
                self.wake_late();
            }
            21 => self.now += bytes.span().min(1e6),
            22 => self.engine.handle_online(bytes.flag(), now),
            23 => self.answer(bytes),
            24 => self.refreshed(bytes),
            _ => self.tell(fact, bytes),
        }
    }

    /// What happens seldom.
    fn tell(&mut self, fact: u8, bytes: &mut Bytes<'_>) {
        let now = Millis::new(self.now);
        match fact {
            25 => {
                let (buffer_ahead, target_duration) = (bytes.maybe(), bytes.maybe());
                let playback = Playback { buffer_ahead, target_duration, live: bytes.flag() };
                self.engine.handle_playback(playback, now);
            }
            26 => {
                let alternatives = alternatives(bytes);
                self.engine.handle_alternatives(bytes.of(&Site::ALL), alternatives);
            }
            27 => {
                let (id, attempt) = self.attempt(bytes);
                self.engine.handle_refusal_head(id, attempt, now);
                self.engine.handle_retry_now(now);
            }
            28 => {
                let (id, _) = self.attempt(bytes);
                let number = bytes.below(4).into();
                if bytes.flag() {
                    self.engine.handle_prefix(id, number);
                } else {
                    self.engine.handle_reassigned(id, number, now);
                }
            }
            29 => {
                let number = bytes.below(4).into();
                self.engine.handle_expiry(number, bytes.maybe(), now);
                self.engine.handle_elections(bytes.flag());
            }
            30 if bytes.flag() => self.engine.handle_rotation(bytes.below(3).into(), now),
            30 => {
                let sites = Site::ALL.map(Site::defaults);
                let config = Config { sites, recovery: rules(bytes), ..self.config.clone() };
                self.engine.handle_source(config.into(), now);
            }
            _ if bytes.flag() => {
                let host = bytes.flag().then(|| bytes.below(3).into());
                self.engine.handle_reset_health(host, now);
            }
            _ => {
                let limit = bytes.flag().then(|| (Millis::new(bytes.number()), bytes.number()));
                let (host, until, trips) = (bytes.below(3), bytes.maybe(), bytes.byte());
                self.engine.handle_gossip(host.into(), until, trips.into(), limit, now);
            }
        }
    }

    fn start(&mut self, bytes: &mut Bytes<'_>) {
        if bytes.rarely() {
            // A name that is taken changes nothing.
            let count = self.engine.request_count();
            if self.attempts.contains_key(&self.last_id) {
                self.engine.handle_start(request(self.last_id, bytes), Millis::new(self.now));
                assert_eq!(self.engine.request_count(), count);
            }
            return;
        }
        self.last_id += 1;
        self.attempts.insert(self.last_id, 0);
        self.engine.handle_start(request(self.last_id, bytes), Millis::new(self.now));
    }

    /// An attempt under way, or one that never was.
    fn attempt(&mut self, bytes: &mut Bytes<'_>) -> (RequestId, u32) {
        if bytes.rarely() || self.attempts.is_empty() {
            return (RequestId(bytes.byte().into()), bytes.below(5).into());
        }
        let place = usize::from(bytes.byte()) % self.attempts.len();
        let (id, attempt) = self.attempts.iter().nth(place).expect("within");
        (RequestId(*id), *attempt)
    }

    fn report(&mut self, bytes: &mut Bytes<'_>) {
        let (id, attempt) = self.attempt(bytes);
        let now = Millis::new(self.now);
        match bytes.below(3) {
            0 => self.engine.handle_body_lost(id, attempt, now),
            1 => self.engine.handle_intercepted(id, attempt, now),
            _ => self.engine.handle_reading(id, attempt, now),
        }
    }

    fn answer(&mut self, bytes: &mut Bytes<'_>) {
        let open = bytes.byte().into();
        let (id, number) = self.questions.pop().unwrap_or((RequestId(open), open));
        let after = Answer::After(Millis::new(bytes.number()));
        let answer = bytes.of(&[Answer::Default, Answer::No, Answer::Yes, after]);
        self.engine.handle_answer(id, number, answer, Millis::new(self.now));
    }

    fn refreshed(&mut self, bytes: &mut Bytes<'_>) {
        let open = bytes.byte().into();
        let (credential, number) = self.refreshes.pop().unwrap_or((open, open));
        self.engine.handle_refreshed(credential, number, bytes.flag(), Millis::new(self.now));
    }

    /// Time passes until the next timer.
    fn wake(&mut self) {
        if let Some((due, _)) = self.engine.next_timeout() {
            self.now = self.now.max(due.get());
            self.wake_late();
        }
    }

    fn wake_late(&mut self) {
        self.now = self.now.min(Millis::MAX.get() / 2.0);
        self.engine.handle_timeout(Millis::new(self.now));
        let left = self.engine.next_timeout();
        assert!(left.is_none_or(|(due, _)| due.get() > self.now), "{left:?} at {}", self.now);
    }

    fn drain(&mut self) {
        for _ in 0..10_000 {
            let Some(action) = self.engine.poll() else { return self.look() };
            self.note(action);
        }
        panic!("it never comes to rest");
    }

    fn note(&mut self, action: Action) {
        match action {
            Action::Send { request, attempt, .. } => {
                let sent = self.attempts.get_mut(&request.0).expect("it goes on");
                assert_eq!(attempt, *sent + 1, "{request:?}");
                *sent = attempt;
            }
            Action::Finish { request }
            | Action::Fail { request, .. }
            | Action::Forget { request } => {
                assert!(self.attempts.remove(&request.0).is_some(), "{action:?} is its second end");
            }
            Action::Ask { request, number, .. } => {
                assert!(self.attempts.contains_key(&request.0), "{action:?}");
                self.questions.push((request, number));
            }
            Action::Refresh { credential, number, .. } => self.refreshes.push((credential, number)),
            Action::Accept { request, .. }
            | Action::Cut { request, .. }
            | Action::Exhausted { request, .. }
            | Action::Failed { request, .. }
            | Action::Plain { request } => {
                assert!(self.attempts.contains_key(&request.0), "{action:?} after its end");
            }
            _ => {}
        }
    }

    /// What is shown can be shown.
    fn look(&self) {
        let now = Millis::new(self.now);
        assert_eq!(self.engine.request_count(), self.attempts.len());
        assert!(self.engine.retry_states().count() <= self.attempts.len());
        for host in self.engine.hosts(now) {
            assert!(host.throttle.is_none_or(|state| state.rate > 0.0), "{host:?}");
        }
        let estimate = self.engine.estimator().estimate();
        assert!(estimate.is_none_or(|estimate| !estimate.is_nan()), "{estimate:?}");
    }

    /// Its timers ring a while with nobody answering, and then all is aborted.
    fn finish(&mut self) {
        for _ in 0..32 {
            self.wake();
            self.drain();
        }
        let left: Vec<u32> = self.attempts.keys().copied().collect();
        for id in left {
            self.engine.handle_abort(RequestId(id), Millis::new(self.now));
            self.drain();
        }
        assert_eq!(self.engine.request_count(), 0);
        let timer = self.engine.next_timeout();
        assert!(timer.is_none_or(|(_, timer)| timer == Timer::Refresh), "{timer:?}");
    }
}

fn request(id: u32, bytes: &mut Bytes<'_>) -> StartRequest {
    let bits = bytes.byte();
    StartRequest {
        id: RequestId(id),
        site: bytes.of(&Site::ALL),
        host: bytes.below(3).into(),
        delivery: if bits & 1 == 0 { Delivery::Buffered } else { Delivery::Streaming },
        idempotent: bits & 6 != 6,
        expects_body: bits & 24 != 24,
        blocking: bits & 96 == 96,
        alternatives: alternatives(bytes),
        marks: Marks {
            url: bytes.below(6).into(),
            credential: bytes.below(3).into(),
            prefix: bytes.below(3).into(),
            hooks: Hooks(bytes.byte() & 15),
            optional: bytes.rarely(),
            directives: bits & 128 != 0,
            ahead: bytes.rarely(),
            resource: bytes.below(3).into(),
        },
        wanted: wanted(bytes),
    }
}

fn wanted(bytes: &mut Bytes<'_>) -> Wanted {
    let usual = Wanted { partial: !bytes.rarely(), ..Wanted::default() };
    if !bytes.rarely() {
        return usual;
    }
    let first = bytes.span();
    let last = if bytes.flag() { f64::INFINITY } else { first + bytes.span() };
    Wanted { first, last, ranged: true, exact: bytes.flag(), ..usual }
}

/// A representation of few different ones, so that some are alike.
fn representation(bytes: &mut Bytes<'_>) -> Representation {
    let (first, span) = (bytes.span(), bytes.span());
    Representation {
        range: match bytes.below(4) {
            0 => ContentRange::Unsatisfied { total: bytes.span() },
            1 => ContentRange::Part {
                first,
                last: first + span,
                total: bytes.flag().then(|| first + span + 1.0 + bytes.span()),
            },
            _ => ContentRange::Unknown,
        },
        length: bytes.flag().then(|| bytes.number()),
        etag: bytes.of(&[None, Some(1.0), Some(2.0)]),
        weak: bytes.rarely(),
        modified: bytes.of(&[None, Some(3.0), Some(4.0)]),
        source: bytes.of(&[0.0, 0.0, 5.0]),
        coding: bytes.of(&[Coding::Identity, Coding::Identity, Coding::Encoded, Coding::Hidden]),
        open: bytes.flag(),
    }
}

fn response(bytes: &mut Bytes<'_>) -> ResponseFacts {
    let scope = bytes.of(&[Scope::Session, Scope::Host, Scope::Prefix]);
    ResponseFacts {
        status: bytes.of(&STATUSES),
        representation: representation(bytes),
        retry_after: bytes.maybe(),
        limited: bytes.rarely().then(|| Limited { scope, wait: bytes.maybe() }),
        expiry: bytes.of(&[Expiry::Unknown, Expiry::Unknown, Expiry::Expired, Expiry::Denied]),
    }
}

fn alternatives(bytes: &mut Bytes<'_>) -> Alternatives {
    bytes.of(&[Alternatives::Unknown, Alternatives::None, Alternatives::Some])
}
