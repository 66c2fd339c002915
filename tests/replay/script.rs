//! One long session, the same wherever it runs: several hosts, failures of all kinds, limits,
//! outages, credentials, hooks, a network that goes and a device that sleeps. Everything in it is
//! fixed, so the decisions are too, to the last bit of every number (R14).
//!
//! It uses the core and nothing else, as it is played natively and in a browser.

use holdfast::core::{
    Action, Alternatives, Answer, Config, Delivery, Engine, Expiry, Hooks, Limited, Marks, Matter,
    Millis, Playback, Recovery, RequestId, ResponseFacts, Rule, Scope, Site, StartRequest, Wanted,
};

/// The decision log of the session, one entry a line, and what is known at its end.
pub(crate) fn play() -> String {
    let mut session = Session::new();
    for (at, deed) in deeds() {
        session.drive_until(at);
        session.now = at;
        session.perform(deed);
        session.drain();
    }
    session.drive_until(END);
    session.told()
}

/// In milliseconds.
const END: f64 = 900_000.0;

/// What an attempt meets. Spans are in milliseconds.
#[derive(Clone, Copy)]
enum Meets {
    /// A body of so many bytes, after so long.
    Body(f64, f64),
    /// Bytes, and then the stream breaks.
    Broken(f64),
    Denied,
    Expired(u16),
    Hang,
    /// The detector's word, and how long.
    Limit(u16, Scope, f64),
    Page,
    Reject,
    /// A status with a `Retry-After`.
    Told(u16, f64),
    /// Bytes, and then silence.
    Silence(f64),
    Slow(u16, f64),
    Status(u16),
}

enum Deed {
    Abort(u32),
    Alternatives(Site, Alternatives),
    Expiry(u32, f64),
    Online(bool),
    Playback(f64, f64, bool),
    RetryNow,
    Rotate(u32),
    /// The device sleeps until then, and its timer rings first.
    Sleep(f64),
    Start(Asked),
}

#[derive(Clone, Copy)]
struct Asked {
    site: Site,
    host: u32,
    marks: Marks,
    alternatives: Alternatives,
    streaming: bool,
    blocking: bool,
    once: bool,
    /// One an attempt; the last one goes on for ever.
    meets: &'static [Meets],
}

const fn asked(site: Site, host: u32, meets: &'static [Meets]) -> Asked {
    Asked {
        site,
        host,
        marks: Marks {
            url: 0,
            credential: 0,
            prefix: 0,
            hooks: Hooks(0),
            optional: false,
            directives: false,
            ahead: false,
            resource: 0,
        },
        alternatives: Alternatives::Unknown,
        streaming: false,
        blocking: false,
        once: false,
        meets,
    }
}

impl Asked {
    const fn url(mut self, url: u32) -> Self {
        self.marks.url = url;
        self
    }

    const fn hooks(mut self, hooks: u8) -> Self {
        self.marks.hooks = Hooks(hooks);
        self
    }

    const fn credential(mut self, credential: u32) -> Self {
        self.marks.credential = credential;
        self.hooks(2)
    }

    const fn alternatives(mut self, alternatives: Alternatives) -> Self {
        self.alternatives = alternatives;
        self
    }
}

/// The session, in the order of its times.
fn deeds() -> Vec<(f64, Deed)> {
    use Meets::{
        Body, Broken, Denied, Expired, Hang, Limit, Page, Reject, Silence, Slow, Status, Told,
    };
    use Site::{
        Certificate, Init, Key, License, Manifest, Other, Playlist, PlaylistReload, Segment,
        Steering, TextSegment,
    };
    const OK: Meets = Body(400_000.0, 300.0);
    let start = |at: f64, asked: Asked| (at, Deed::Start(asked));
    let mut deeds = vec![
        // A start that is slow and then well.
        start(0.0, asked(Manifest, 0, &[Hang, Status(503), Body(2_000.0, 80.0)])),
        start(10.0, asked(Steering, 5, &[Told(503, 2_000.0), Status(500), Status(500)])),
        start(9_000.0, asked(Playlist, 0, &[Status(425), Status(425), Body(5_000.0, 30.0)])),
        (9_500.0, Deed::Playback(0.0, 6_000.0, false)),
        start(10_000.0, asked(Init, 0, &[Status(421), Body(900.0, 20.0)])),
        start(10_010.0, asked(Key, 0, &[Page, Body(16.0, 20.0)])),
        start(
            10_020.0,
            asked(License, 4, &[Status(500), Expired(403), Body(700.0, 90.0)]).hooks(12),
        ),
        start(10_030.0, asked(Certificate, 4, &[Denied])),
        // Bodies of all kinds.
        start(20_000.0, asked(Segment, 0, &[Broken(70_000.0), Silence(9_000.0), OK])),
        start(20_100.0, asked(Segment, 0, &[Status(200), Page, OK])),
        start(20_200.0, Asked { streaming: true, ..asked(Segment, 0, &[Broken(70_000.0)]) }),
        start(20_300.0, asked(Segment, 0, &[Slow(500, 3_000.0), Reject, OK])),
        start(20_400.0, asked(Other, 0, &[Status(500)])),
        start(20_500.0, asked(TextSegment, 0, &[Status(404)]).url(77)),
        start(20_600.0, asked(TextSegment, 0, &[Status(404)]).url(77)),
        start(21_600.0, asked(TextSegment, 0, &[Status(404), OK]).url(77)),
        start(23_000.0, asked(Segment, 0, &[Status(404), OK])),
        start(24_000.0, Asked { once: true, ..asked(License, 4, &[Status(503)]) }),
        start(25_000.0, asked(Key, 0, &[Status(412)])),
        // The caller is in a hurry.
        start(30_000.0, asked(Manifest, 3, &[Status(500)]).alternatives(Alternatives::Some)),
        (32_000.0, Deed::RetryNow),
        (36_000.0, Deed::RetryNow),
        // What shouldRetry says: no, yes, after a while, nothing in time.
        start(40_000.0, asked(Key, 0, &[Status(500)]).hooks(1)),
        start(40_500.0, asked(Key, 0, &[Status(404), Body(16.0, 5.0)]).hooks(1)),
        start(41_000.0, asked(Key, 0, &[Status(429), Body(16.0, 5.0)]).hooks(1)),
        start(50_000.0, asked(Key, 0, &[Status(500), Status(451)]).hooks(1)),
        // A credential: shared, refreshed, refused, expired, ahead of time.
        start(60_000.0, asked(Segment, 1, &[Status(403), OK]).credential(1)),
        start(60_000.0, asked(Segment, 1, &[Slow(403, 900.0), OK]).credential(1)),
        start(60_005.0, asked(Segment, 1, &[Expired(410), Status(403)]).credential(1)),
        start(61_000.0, asked(Segment, 1, &[Status(401)]).credential(2)),
        start(62_000.0, asked(Segment, 1, &[Denied]).credential(2)),
        (75_000.0, Deed::Expiry(1, 74_000.0)),
        start(75_100.0, asked(Segment, 1, &[OK]).credential(1)),
        (76_000.0, Deed::Expiry(1, 110_000.0)),
        start(99_000.0, asked(Segment, 1, &[OK]).credential(1)),
        // Limits of a host, of a prefix, of the session, and one that nobody can read.
        start(120_000.0, asked(Segment, 1, &[Told(429, 3_000.0), Status(429), OK])),
        start(120_500.0, asked(TextSegment, 1, &[OK])),
        start(120_600.0, asked(Key, 1, &[Body(16.0, 40.0)])),
        start(120_700.0, asked(Segment, 1, &[OK]).alternatives(Alternatives::Some)),
        start(140_000.0, asked(Segment, 0, &[Limit(403, Scope::Session, 4_000.0), OK])),
        start(140_500.0, asked(Segment, 2, &[OK])),
        start(140_600.0, asked(Segment, 0, &[OK])),
        (141_000.0, Deed::RetryNow),
        (142_000.0, Deed::Abort(36)),
        // A host that is down while another answers.
        (200_000.0, Deed::Playback(12_000.0, 4_000.0, false)),
        start(260_000.0, asked(Segment, 3, &[Reject])),
        start(300_000.0, asked(Segment, 2, &[OK])),
    ];
    for n in 0..8 {
        let at = 300_100.0 + 90.0 * f64::from(n);
        let fails = asked(Segment, 2, &[Status(500), Status(500), Status(502), Reject, OK]);
        deeds.push(start(at, fails.alternatives(Alternatives::None)));
    }
    deeds.extend([
        start(302_000.0, asked(Segment, 2, &[OK]).alternatives(Alternatives::Some)),
        start(303_000.0, asked(Manifest, 2, &[OK])),
        // The player turns to another host.
        (306_000.0, Deed::Alternatives(Segment, Alternatives::Some)),
        start(330_000.0, asked(Segment, 1, &[Status(500), Status(500), OK])),
        (330_080.0, Deed::Rotate(1)),
        // Three instant failures, unread.
        start(359_000.0, asked(Segment, 0, &[OK])),
        start(360_000.0, asked(Segment, 0, &[Reject, OK]).alternatives(Alternatives::None)),
        start(360_010.0, asked(Segment, 0, &[Reject, OK]).alternatives(Alternatives::None)),
        start(360_020.0, asked(Segment, 0, &[Reject, OK]).alternatives(Alternatives::None)),
        start(360_500.0, asked(Key, 0, &[Body(16.0, 30.0)])),
        // The network goes, and comes back.
        start(400_000.0, asked(Segment, 1, &[Reject, OK])),
        (400_010.0, Deed::Online(false)),
        start(401_000.0, asked(Segment, 1, &[Expired(403), OK]).credential(3)),
        (430_000.0, Deed::Online(true)),
        // The device sleeps within an attempt and within a wait.
        start(450_000.0, asked(Segment, 1, &[Hang, OK])),
        start(450_100.0, asked(Manifest, 1, &[Told(503, 5_000.0), OK])),
        (451_000.0, Deed::Sleep(520_000.0)),
        // Live: reloads that are late, merged, blocked, plain.
        (550_000.0, Deed::Playback(8_000.0, 4_000.0, true)),
    ]);
    for n in 0..12 {
        let meets: &[Meets] = match n {
            2 => &[Status(404), Status(404), Body(3_000.0, 30.0)],
            4 => &[Status(500)],
            5 => &[Hang],
            7 => &[Status(400), Body(3_000.0, 30.0)],
            9 => &[Told(503, 1_500.0), Body(3_000.0, 30.0)],
            _ => &[Body(3_000.0, 30.0)],
        };
        let mut reload = asked(PlaylistReload, 0, meets).url(900);
        (reload.marks.directives, reload.blocking) = (n == 7, n == 3);
        let at = 550_100.0 + 4_000.0 * f64::from(n);
        deeds.push(start(at, reload));
        deeds.push(start(at + 400.0, asked(Segment, 0, &[Status(403), OK])));
        deeds.push((at + 500.0, Deed::Playback(8_000.0 - 500.0 * f64::from(n), 4_000.0, true)));
    }
    let mut part = asked(Segment, 1, &[Limit(429, Scope::Prefix, 2_000.0), OK]);
    part.marks.prefix = 1;
    let mut optional = asked(Segment, 1, &[Status(500)]);
    (optional.marks.prefix, optional.marks.optional) = (1, true);
    deeds.extend([
        start(620_000.0, part),
        start(620_500.0, optional),
        // An outage that outlasts every ladder.
        (640_000.0, Deed::Alternatives(Segment, Alternatives::None)),
    ]);
    for n in 0..16 {
        let at = 640_000.0 + 700.0 * f64::from(n);
        deeds.push(start(at, asked(Segment, 1, &[Status(500)]).url(1_000 + n % 2)));
    }
    deeds
}

enum Fact {
    Chunk(f64),
    End,
    Lost,
    Opinion(u32, Answer),
    Page,
    Reading,
    Refreshed(u32, u32, bool),
    Rejected,
    Response(ResponseFacts),
}

struct Session {
    engine: Engine,
    now: f64,
    asked: Vec<Asked>,
    /// What arrives when, of which attempt; by time, and in the order of posting.
    mail: Vec<(f64, RequestId, u32, Fact)>,
    /// How many questions were asked of hooks, and for credentials.
    questions: (usize, usize),
}

/// Hooks answer in turn, each after so long.
const OPINIONS: [(f64, Answer); 7] = [
    (40.0, Answer::Yes),
    (10.0, Answer::Yes),
    (30.0, Answer::No),
    (30.0, Answer::Yes),
    (249.0, Answer::After(Millis::new(2_500.0))),
    (251.0, Answer::No),
    (5.0, Answer::Yes),
];

/// So does the hook for credentials.
const REFRESHES: [(f64, bool); 5] =
    [(400.0, true), (250.0, false), (90.0, true), (120.0, true), (11_000.0, true)];

impl Session {
    fn new() -> Self {
        let not_ready =
            Rule { site: None, matter: Matter::Status(412), action: Recovery::NotReady };
        let config = Config {
            seed: 14,
            log_capacity: 100_000,
            recovery: vec![not_ready],
            ..Config::default()
        };
        let engine = Engine::new(config);
        Self { engine, now: 0.0, asked: Vec::new(), mail: Vec::new(), questions: (0, 0) }
    }

    fn perform(&mut self, deed: Deed) {
        let now = Millis::new(self.now);
        match deed {
            Deed::Abort(request) => self.engine.handle_abort(RequestId(request), now),
            Deed::Alternatives(site, said) => self.engine.handle_alternatives(site, said),
            Deed::Expiry(credential, at) => {
                self.engine.handle_expiry(credential, Some(Millis::new(at)), now);
            }
            Deed::Online(online) => self.engine.handle_online(online, now),
            Deed::Playback(buffer, target, live) => {
                let buffer_ahead = Some(Millis::new(buffer));
                let target_duration = Some(Millis::new(target));
                self.engine.handle_playback(Playback { buffer_ahead, target_duration, live }, now);
            }
            Deed::RetryNow => self.engine.handle_retry_now(now),
            Deed::Rotate(host) => self.engine.handle_rotation(host, now),
            Deed::Sleep(until) => {
                self.now = until;
                self.engine.handle_timeout(Millis::new(until));
            }
            Deed::Start(asked) => self.start(asked),
        }
    }

    fn start(&mut self, asked: Asked) {
        self.asked.push(asked);
        let id = self.asked.len() as u32;
        let url = if asked.marks.url == 0 { 10_000 + id } else { asked.marks.url };
        let delivery = if asked.streaming { Delivery::Streaming } else { Delivery::Buffered };
        let start = StartRequest {
            id: RequestId(id),
            site: asked.site,
            host: asked.host,
            delivery,
            idempotent: !asked.once,
            expects_body: true,
            blocking: asked.blocking,
            alternatives: asked.alternatives,
            marks: Marks { url, ..asked.marks },
            wanted: Wanted::default(),
        };
        self.engine.handle_start(start, Millis::new(self.now));
    }

    fn drive_until(&mut self, until: f64) {
        loop {
            let timer = self.engine.next_timeout().map_or(f64::INFINITY, |(at, _)| at.get());
            let fact = self.mail.first().map_or(f64::INFINITY, |(at, ..)| *at);
            let next = timer.min(fact);
            if next > until {
                return;
            }
            self.now = self.now.max(next);
            if timer < fact {
                self.engine.handle_timeout(Millis::new(self.now));
            } else {
                let (_, request, attempt, fact) = self.mail.remove(0);
                self.feed(request, attempt, fact);
            }
            self.drain();
        }
    }

    fn feed(&mut self, request: RequestId, attempt: u32, fact: Fact) {
        let now = Millis::new(self.now);
        let engine = &mut self.engine;
        match fact {
            Fact::Chunk(bytes) => {
                engine.handle_chunk(request, attempt, bytes, true, now);
            }
            Fact::End => {
                engine.handle_body_end(request, attempt, true, now);
            }
            Fact::Lost => engine.handle_body_lost(request, attempt, now),
            Fact::Opinion(number, answer) => engine.handle_answer(request, number, answer, now),
            Fact::Page => engine.handle_intercepted(request, attempt, now),
            Fact::Reading => engine.handle_reading(request, attempt, now),
            Fact::Refreshed(credential, number, renewed) => {
                engine.handle_refreshed(credential, number, renewed, now);
            }
            Fact::Rejected => engine.handle_rejected(request, attempt, now),
            Fact::Response(facts) => engine.handle_response(request, attempt, facts, now),
        }
    }

    fn drain(&mut self) {
        while let Some(action) = self.engine.poll() {
            match action {
                Action::Ask { request, number, .. } => {
                    let (after, answer) = OPINIONS[self.questions.0 % OPINIONS.len()];
                    self.questions.0 += 1;
                    self.post(after, request, 0, Fact::Opinion(number, answer));
                }
                Action::Refresh { credential, request, number } => {
                    let (after, renewed) = REFRESHES[self.questions.1 % REFRESHES.len()];
                    self.questions.1 += 1;
                    self.post(after, request, 0, Fact::Refreshed(credential, number, renewed));
                }
                Action::Send { request, attempt, .. } => self.send(request, attempt),
                _ => {}
            }
        }
    }

    fn post(&mut self, after: f64, request: RequestId, attempt: u32, fact: Fact) {
        let at = self.now + after;
        let place = self.mail.partition_point(|(other, ..)| *other <= at);
        self.mail.insert(place, (at, request, attempt, fact));
    }

    fn send(&mut self, request: RequestId, attempt: u32) {
        let meets = self.asked[request.0 as usize - 1].meets;
        let meets = meets[(attempt as usize - 1).min(meets.len() - 1)];
        let mut facts = ResponseFacts::of(200);
        let mut after = 20.0;
        let mut parts: Vec<(f64, Fact)> = Vec::new();
        match meets {
            Meets::Body(bytes, takes) => {
                facts.representation.length = Some(bytes);
                parts.extend([(takes / 2.0, Fact::Chunk(bytes / 2.0))]);
                parts.extend([(takes / 2.0, Fact::Chunk(bytes / 2.0)), (0.0, Fact::End)]);
            }
            Meets::Broken(bytes) => parts.extend([(60.0, Fact::Chunk(bytes)), (5.0, Fact::Lost)]),
            Meets::Denied => (facts.status, facts.expiry) = (403, Expiry::Denied),
            Meets::Expired(status) => (facts.status, facts.expiry) = (status, Expiry::Expired),
            Meets::Hang => return,
            Meets::Limit(status, scope, wait) => {
                facts.status = status;
                facts.limited = Some(Limited { scope, wait: Some(Millis::new(wait)) });
            }
            Meets::Page => parts.push((5.0, Fact::Page)),
            Meets::Reject => return self.post(after, request, attempt, Fact::Rejected),
            Meets::Told(status, wait) => {
                (facts.status, facts.retry_after) = (status, Some(Millis::new(wait)));
            }
            Meets::Silence(bytes) => parts.push((60.0, Fact::Chunk(bytes))),
            Meets::Slow(status, span) => (facts.status, after) = (status, span),
            // An empty body where there should be one.
            Meets::Status(200) => parts.push((0.0, Fact::End)),
            Meets::Status(status) => facts.status = status,
        }
        self.post(after, request, attempt, Fact::Response(facts));
        self.post(after, request, attempt, Fact::Reading);
        for (gap, fact) in parts {
            after += gap;
            self.post(after, request, attempt, fact);
        }
    }

    fn told(&self) -> String {
        let mut told = String::from("at\trequest\tattempt\tevent\tdetail\tvalue\n");
        for entry in self.engine.log() {
            let (at, request, event) = (entry.at.get(), entry.request.0, entry.event);
            let (attempt, detail, value) = (entry.attempt, entry.detail, entry.value);
            told += &format!("{at:?}\t{request}\t{attempt}\t{event:?}\t{detail}\t{value:?}\n");
        }
        for host in self.engine.hosts(Millis::new(self.now)) {
            told += &format!("{host:?}\n");
        }
        let estimator = self.engine.estimator();
        told += &format!("{:?}\t{:?}\n", estimator.estimate(), estimator.excluded_bytes());
        told
    }
}
