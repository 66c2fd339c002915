//! What one request, and one chunk, cost in decisions.

mod session;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use holdfast::core::Site;

use session::Session;

/// Chunks of a body, as a segment of 256 KiB has.
const CHUNKS: usize = 4;

fn succeed(session: &mut Session) {
    let id = session.start(Site::Segment, 0);
    session.now += 10.0;
    session.response(id, 1, 200);
    for _ in 0..CHUNKS {
        session.reading(id, 1);
        session.now += 1.0;
        session.chunk(id, 1);
    }
    session.end(id, 1);
    assert_eq!(session.engine.request_count(), 0);
}

/// A first attempt breaks, its wait is over, and the second one succeeds.
fn recover(session: &mut Session) {
    let id = session.start(Site::Segment, 0);
    session.now += 10.0;
    session.fail(id, 1);
    session.wake();
    session.now += 10.0;
    session.response(id, 2, 200);
    session.reading(id, 2);
    session.now += 1.0;
    session.chunk(id, 2);
    session.end(id, 2);
    assert_eq!(session.engine.request_count(), 0);
}

fn decisions(criterion: &mut Criterion) {
    let mut session = Session::new();
    criterion.bench_function("request that succeeds", |bencher| {
        bencher.iter(|| succeed(&mut session));
    });
    criterion.bench_function("request that breaks once", |bencher| {
        // A fresh one each time: the retries of one engine are paid from a budget.
        bencher.iter_batched_ref(Session::new, recover, BatchSize::SmallInput);
    });
    let mut session = Session::new();
    let id = session.start(Site::Segment, 0);
    session.response(id, 1, 200);
    session.reading(id, 1);
    criterion.bench_function("chunk", |bencher| {
        bencher.iter(|| {
            session.now += 1.0;
            session.chunk(id, 1);
        });
    });
}

criterion_group!(benches, decisions);
criterion_main!(benches);
