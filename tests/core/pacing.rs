//! A player that wants one segment after the other, three at a time, from a server with a limit:
//! what a segment costs, with this engine and with a plain ladder.

use holdfast::core::{
    Action, Alternatives, Config, Delivery, Engine, Marks, Millis, RequestId, ResponseFacts, Site,
    StartRequest, Wanted,
};

const WANTED: u32 = 60;
const PARALLEL: u32 = 3;
const LATENCY: f64 = 100.0;

/// What a run cost, and how long it took.
#[derive(Debug)]
struct Run {
    requests: u32,
    seconds: f64,
}

impl Run {
    fn per_segment(&self) -> f64 {
        f64::from(self.requests) / f64::from(WANTED)
    }

    fn print_beside(&self, ladder: &Self) {
        println!(
            "{:.2} requests a segment in {:.0} s, where a ladder makes {:.2} in {:.0} s",
            self.per_segment(),
            self.seconds,
            ladder.per_segment(),
            ladder.seconds
        );
    }
}

/// Lets through two requests/s and a burst of four. Who asks for more is refused, and each
/// refusal adds half a second in which everybody is.
struct Strict {
    tokens: f64,
    at: f64,
    closed_until: f64,
}

impl Strict {
    const fn new() -> Self {
        Self { tokens: 4.0, at: 0.0, closed_until: 0.0 }
    }

    fn answer(&mut self, _segment: u32, now: f64) -> ResponseFacts {
        self.tokens = (self.tokens + (now - self.at) / 500.0).min(4.0);
        self.at = now;
        if now < self.closed_until || self.tokens < 1.0 {
            self.closed_until = self.closed_until.max(now) + 500.0;
            return ResponseFacts::of(429);
        }
        self.tokens -= 1.0;
        ResponseFacts::of(200)
    }
}

/// Prepares each segment when it is first asked for, which takes two seconds.
#[derive(Default)]
struct Lazy(Vec<(u32, f64)>);

impl Lazy {
    fn answer(&mut self, segment: u32, now: f64) -> ResponseFacts {
        match self.0.iter().find(|(of, _)| *of == segment) {
            Some((_, ready)) if now >= *ready => ResponseFacts::of(200),
            Some((_, ready)) => Self::refusal(*ready - now),
            None => {
                self.0.push((segment, now + 2_000.0));
                Self::refusal(2_000.0)
            }
        }
    }

    fn refusal(wait: f64) -> ResponseFacts {
        ResponseFacts { retry_after: Some(Millis::new(wait)), ..ResponseFacts::of(429) }
    }
}

/// With the engine as it comes.
fn with_engine(mut answer: impl FnMut(u32, f64) -> ResponseFacts, seed: u64) -> Run {
    let mut engine = Engine::new(Config { seed, ..Config::default() });
    let mut mail: Vec<(f64, RequestId, u32, ResponseFacts)> = Vec::new();
    let (mut now, mut started, mut delivered, mut requests) = (0.0, 0, 0, 0);
    while delivered < WANTED {
        while started < WANTED && started - delivered < PARALLEL {
            started += 1;
            let start = StartRequest {
                id: RequestId(started),
                site: Site::Segment,
                host: 0,
                delivery: Delivery::Buffered,
                idempotent: true,
                expects_body: true,
                blocking: false,
                alternatives: Alternatives::None,
                marks: Marks { url: started, ..Marks::default() },
                wanted: Wanted::default(),
            };
            engine.handle_start(start, Millis::new(now));
        }
        while let Some(action) = engine.poll() {
            match action {
                Action::Send { request, attempt, .. } => {
                    requests += 1;
                    mail.push((now + LATENCY, request, attempt, answer(request.0, now)));
                }
                Action::Finish { .. } => delivered += 1,
                Action::Fail { failure, .. } => panic!("{failure:?} at {now}"),
                _ => {}
            }
        }
        if delivered == WANTED || started < WANTED && started - delivered < PARALLEL {
            continue;
        }
        let timer = engine.next_timeout().map_or(f64::INFINITY, |(at, _)| at.get());
        let next = mail.iter().map(|(at, ..)| *at).fold(timer, f64::min);
        assert!(next < f64::INFINITY, "nothing happens any more");
        now = next.max(now);
        let due = mail.iter().position(|(at, ..)| *at <= now);
        let Some((_, request, attempt, facts)) = due.map(|place| mail.remove(place)) else {
            engine.handle_timeout(Millis::new(now));
            continue;
        };
        engine.handle_response(request, attempt, facts, Millis::new(now));
        engine.handle_chunk(request, attempt, 9.0, true, Millis::new(now));
        engine.handle_body_end(request, attempt, true, Millis::new(now));
    }
    Run { requests, seconds: now / 1_000.0 }
}

/// With a ladder of 1, 2 and 4 s; the player asks again a second after that.
fn with_ladder(mut answer: impl FnMut(u32, f64) -> ResponseFacts) -> Run {
    let mut loaders: Vec<(f64, u32, usize)> =
        (1..=PARALLEL).map(|segment| (0.0, segment, 0)).collect();
    let (mut started, mut delivered, mut requests, mut last) = (PARALLEL, 0, 0, 0.0);
    while delivered < WANTED {
        loaders.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (at, segment, failures) = &mut loaders[0];
        requests += 1;
        if answer(*segment, *at).status == 200 {
            delivered += 1;
            started += 1;
            (*at, *segment, *failures) = (*at + LATENCY, started, 0);
            last = *at;
        } else {
            *at += LATENCY + [1_000.0, 2_000.0, 4_000.0, 1_000.0][*failures];
            *failures = (*failures + 1) % 4;
        }
    }
    Run { requests, seconds: last / 1_000.0 }
}

#[test]
fn r46_a_server_that_punishes_haste_is_asked_less_often_than_by_a_plain_ladder() {
    let mut strict = Strict::new();
    let ladder = with_ladder(|segment, now| strict.answer(segment, now));
    for seed in 0..10 {
        let mut strict = Strict::new();
        let engine = with_engine(|segment, now| strict.answer(segment, now), seed);
        engine.print_beside(&ladder);
        assert!(engine.requests < ladder.requests, "{engine:?}, {ladder:?}");
        assert!(engine.per_segment() < 1.25, "it converges: {engine:?}");
    }
}

#[test]
fn r47_an_origin_that_prepares_its_segments_is_asked_twice_for_each() {
    let mut lazy = Lazy::default();
    let ladder = with_ladder(|segment, now| lazy.answer(segment, now));
    for seed in 0..10 {
        let mut lazy = Lazy::default();
        let engine = with_engine(|segment, now| lazy.answer(segment, now), seed);
        engine.print_beside(&ladder);
        assert_eq!(engine.requests, 2 * WANTED, "{engine:?}");
        let seconds = engine.seconds / f64::from(WANTED);
        assert!(seconds < 4.5, "{seconds} s a segment, though it says two");
        assert!(engine.requests < ladder.requests, "{engine:?}, {ladder:?}");
    }
}
