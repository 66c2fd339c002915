//! What one fact costs an engine that has many requests under way.
#![allow(clippy::disallowed_methods, reason = "it measures by the clock")]

mod session;

use std::collections::VecDeque;
use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use holdfast::core::{RequestId, Site};

use session::Session;

/// Requests under way at a time. A page has a dozen; the last number is for the shape of the curve.
const COUNTS: [usize; 4] = [10, 100, 10_000, 100_000];

/// Leaves out larger counts: making that many takes a while.
const MOST: &str = "HOLDFAST_MICRO_MOST";

/// What is needed first: no lane holds it back, so all of them are under way.
const SITE: Site = Site::Playlist;

/// Hosts, among which the requests are dealt out.
const HOSTS: u32 = 10;

/// An engine with many requests that wait for their headers, and one whose body is being read.
struct Live {
    session: Session,
    count: usize,
    reader: RequestId,
    /// The others, oldest first.
    waiting: VecDeque<RequestId>,
}

impl Live {
    fn new(count: usize) -> Self {
        let mut session = Session::new();
        let reader = session.start(SITE, 0);
        session.response(reader, 1, 200);
        session.reading(reader, 1);
        let mut live = Self { session, count, reader, waiting: VecDeque::new() };
        live.refill();
        live
    }

    /// Starts as many as are missing.
    fn refill(&mut self) {
        while self.waiting.len() < self.count - 1 {
            self.session.now += 0.01;
            let host = self.waiting.len() as u32 % HOSTS;
            self.waiting.push_back(self.session.begin(SITE, host));
        }
    }

    fn oldest(&mut self) -> RequestId {
        self.waiting.pop_front().expect("it was refilled")
    }

    /// What a fact did to this request is undone.
    fn restore(&mut self, touched: RequestId) {
        self.session.abort(touched);
        self.session.feed(|engine, now| engine.handle_reset_health(None, now));
        self.refill();
    }
}

/// One kind of fact.
struct Case {
    name: &'static str,
    kind: Kind,
}

enum Kind {
    /// Leaves the engine as it was, so that it is timed many times in one go.
    Steady(fn(&mut Session, RequestId)),
    /// Changes the engine. What comes before it, and what undoes it, is not timed; reading the
    /// clock around it is, which takes some 30 ns. Answers which request has to be restored.
    Once { prepare: fn(&mut Live) -> RequestId, fact: fn(&mut Session, RequestId) -> RequestId },
}

const CASES: [Case; 8] = [
    Case {
        name: "start",
        kind: Kind::Once { prepare: |live| live.reader, fact: |session, _| session.start(SITE, 0) },
    },
    Case {
        name: "headers",
        kind: Kind::Once {
            prepare: Live::oldest,
            fact: |session, id| {
                session.response(id, 1, 200);
                id
            },
        },
    },
    Case { name: "chunk", kind: Kind::Steady(|session, reader| session.chunk(reader, 1)) },
    Case {
        name: "end of a body",
        kind: Kind::Once {
            prepare: |live| {
                let id = live.oldest();
                live.session.response(id, 1, 200);
                live.session.reading(id, 1);
                live.session.chunk(id, 1);
                id
            },
            fact: |session, id| {
                session.end(id, 1);
                id
            },
        },
    },
    Case {
        name: "failure",
        kind: Kind::Once {
            prepare: Live::oldest,
            fact: |session, id| {
                session.response(id, 1, 500);
                id
            },
        },
    },
    Case {
        name: "time-out of one",
        kind: Kind::Once {
            prepare: Live::oldest,
            fact: |session, id| {
                session.wake();
                id
            },
        },
    },
    Case {
        name: "poll, nothing to do",
        kind: Kind::Steady(|session, _| _ = black_box(session.engine.poll())),
    },
    Case {
        name: "next_timeout",
        kind: Kind::Steady(|session, _| _ = black_box(session.engine.next_timeout())),
    },
];

impl Case {
    fn time(&self, live: &mut Live, times: u64) -> Duration {
        match self.kind {
            Kind::Steady(fact) => {
                let begun = Instant::now();
                for _ in 0..times {
                    fact(&mut live.session, live.reader);
                }
                begun.elapsed()
            }
            Kind::Once { prepare, fact } => {
                let mut took = Duration::ZERO;
                for _ in 0..times {
                    let id = prepare(live);
                    let begun = Instant::now();
                    let touched = fact(&mut live.session, id);
                    took += begun.elapsed();
                    live.restore(touched);
                }
                took
            }
        }
    }
}

fn with_many_requests(criterion: &mut Criterion) {
    let most = env::var(MOST).map_or(usize::MAX, |most| most.parse().expect("a number"));
    let mut group = criterion.benchmark_group("under way");
    group.sampling_mode(SamplingMode::Flat);
    for count in COUNTS.into_iter().filter(|count| *count <= most) {
        let mut live = Live::new(count);
        for case in &CASES {
            group.bench_function(BenchmarkId::new(case.name, count), |bencher| {
                bencher.iter_custom(|times| case.time(&mut live, times));
            });
        }
    }
}

criterion_group!(benches, with_many_requests);
criterion_main!(benches);
