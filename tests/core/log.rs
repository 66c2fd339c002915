//! The decision log, and that a run can be repeated (R14).

use holdfast::core::{Config, Entry, LogEvent, Site, WaitReason};

use crate::common::{World, ask, hang, ok, reject, silent, status, truncated};

/// A session with a bit of everything.
fn session(seed: u64) -> World {
    let mut world = World::seeded(seed);
    world.outage(0, 30_000.0, 60_000.0, reject());
    world.every(2_000.0, 90_000.0, &ask(Site::Segment).answers([silent(9.0), ok(90_000.0)]));
    world.every(3_000.0, 90_000.0, &ask(Site::Playlist).host(1).answers([status(503), ok(9.0)]));
    world.start(ask(Site::Manifest).answers([hang(), truncated(9.0), ok(9.0)]));
    world.at(10_000.0, |world| world.playback(Some(9_000.0), Some(4_000.0)));
    world.at(40_000.0, |world| world.online(false));
    world.at(45_000.0, |world| world.online(true));
    world.at(50_000.0, World::retry_now);
    world.at(62_000.0, |world| world.abort(5));
    world.drive_until_idle();
    world
}

fn log(world: &World) -> Vec<Entry> {
    world.engine.log().copied().collect()
}

#[test]
fn r14_the_same_script_and_seed_give_the_identical_log() {
    let (first, second) = (session(42), session(42));
    assert_eq!(log(&first), log(&second));
    assert_eq!(first.actions, second.actions);
    assert!(log(&first).len() > 200);
}

#[test]
fn r14_another_seed_gives_other_delays() {
    assert_ne!(log(&session(42)), log(&session(43)));
}

#[test]
fn the_log_never_goes_back_in_time() {
    let log = log(&session(42));
    assert!(log.windows(2).all(|pair| pair[0].at <= pair[1].at));
}

#[test]
fn every_attempt_that_was_sent_is_in_the_log() {
    let world = session(42);
    let logged: Vec<(u32, u32, f64)> = log(&world)
        .iter()
        .filter(|entry| entry.event == LogEvent::Sent)
        .map(|entry| (entry.request.0, entry.attempt, entry.at.get()))
        .collect();
    let sent: Vec<_> =
        world.sent.iter().map(|sent| (sent.request, sent.attempt, sent.at)).collect();
    assert_eq!(logged, sent);
}

#[test]
fn every_request_ends_in_the_log_with_one_verdict() {
    let log = log(&session(42));
    let count = |event| log.iter().filter(|entry| entry.event == event).count();
    let ends = count(LogEvent::Succeeded) + count(LogEvent::GivenUp) + count(LogEvent::Aborted);
    assert_eq!(count(LogEvent::Started), ends);
}

#[test]
fn every_wait_in_the_log_is_as_long_as_it_says_unless_it_was_cut_short() {
    let world = session(42);
    for id in 1..=70 {
        for pair in world.entries(id).windows(2) {
            if pair[0].event == LogEvent::Waiting && pair[1].event == LogEvent::Sent {
                // What waits for its turn is told a new time when others have had theirs.
                let turns = [WaitReason::Breaker as u32, WaitReason::Vrlt as u32];
                if turns.contains(&pair[0].detail) {
                    continue;
                }
                let waited = pair[1].at - pair[0].at;
                assert!((waited.get() - pair[0].value).abs() < 1e-6, "{pair:?}");
            }
        }
    }
}

#[test]
fn a_full_log_keeps_the_newest_entries() {
    let mut world = World::with(Config { log_capacity: 4, ..Config::default() });
    for _ in 0..10 {
        world.start(ask(Site::Segment));
    }
    world.drive_until_idle();
    let kept: Vec<_> = log(&world).iter().map(|entry| entry.request.0).collect();
    assert_eq!(kept, [7, 8, 9, 10]);
}

#[test]
fn r2_time_between_attempts_is_in_no_sample_of_the_bandwidth() {
    let estimate = |before| {
        let mut world = World::new();
        world.start(ask(Site::Segment).answers([ok(500_000.0)]));
        world.drive_until_idle();
        world.start(ask(Site::Segment).answers([before, ok(500_000.0)]));
        world.drive_until_idle();
        world.engine.estimator().estimate()
    };
    assert_eq!(estimate(status(503).retry_after(10_000.0)), estimate(status(500)));
}
