//! Catching up after an outage: the buffer grows by little more than is played.

use holdfast::core::{Entry, LogEvent, Site};

use crate::common::{Part, World, ask, ok, status};

const TARGET: f64 = 4_000.0;

/// Plays from an empty buffer after an outage: each segment fills it, and the next is asked for at
/// once. Gives the times at which segments were sent after the outage, and the least that was buffered
/// meanwhile.
fn plays(world: &mut World, outage: f64, late: f64, segments: usize) -> (Vec<f64>, f64) {
    world.outage(0, 0.0, outage, status(503));
    let (mut sent, mut dry_at, mut least) = (Vec::new(), 0.0_f64, f64::INFINITY);
    for _ in 0..segments {
        world.playback(Some((dry_at - world.now).max(0.0)), Some(TARGET));
        let id = world.start(ask(Site::Segment).always(ok(100_000.0).after(late)));
        world.drive_until_idle();
        let at = world.finished_at(id);
        if !sent.is_empty() {
            least = least.min(dry_at - at);
        }
        dry_at = dry_at.max(at) + TARGET;
        sent.extend(world.sent_at(id).last().copied());
    }
    (sent, least)
}

fn gaps(sent: &[f64]) -> Vec<f64> {
    sent.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn after_an_outage_segments_are_asked_for_little_faster_than_they_are_played() {
    for seed in 0..10 {
        let (sent, least) = plays(&mut World::seeded(seed), 20_000.0, 20.0, 6);
        let gaps = gaps(&sent);
        assert!(gaps.iter().all(|gap| *gap > TARGET * 0.7), "{gaps:?}");
        assert!(least > 0.0, "playback does not stop for it: {least}");
    }
}

#[test]
fn timely_answers_make_it_faster_and_late_ones_slower_again() {
    let mut world = World::new();
    let (sent, _) = plays(&mut world, 20_000.0, 20.0, 16);
    let fast = gaps(&sent);
    assert!(fast[14] < fast[1] * 0.85, "{fast:?}");
    let mut world = World::new();
    world.outage(0, 20_000.0, 40_000.0, status(503));
    let (sent, _) = plays(&mut world, 20_000.0, 700.0, 16);
    assert!(gaps(&sent)[14] > TARGET * 0.8, "{sent:?}");
}

#[test]
fn without_an_outage_nothing_waits() {
    for outage in [0.0, 1_000.0] {
        let (sent, _) = plays(&mut World::new(), outage, 20.0, 6);
        assert!(gaps(&sent).iter().skip(1).all(|gap| *gap < 200.0), "{sent:?}");
    }
}

#[test]
fn a_player_that_says_nothing_of_its_buffer_is_not_paced() {
    let mut world = World::new();
    world.outage(0, 0.0, 20_000.0, status(503));
    for _ in 0..3 {
        world.start(ask(Site::Segment).always(ok(9.0)));
        world.drive_until_idle();
    }
    assert!(world.sent_at(3)[0] - world.sent_at(2)[0] < 200.0);
}

#[test]
fn the_wait_is_in_the_log_with_its_reason_and_costs_no_time_of_the_ladder() {
    let mut world = World::new();
    plays(&mut world, 20_000.0, 20.0, 2);
    world.playback(Some(30_000.0), Some(TARGET));
    let refused = [status(500), status(500), ok(9.0)];
    let id = world.start(ask(Site::Segment).answers(refused));
    world.drive_until_idle();
    let waits = world.entries(id).into_iter().filter(|entry| entry.event == LogEvent::Waiting);
    let wait = waits.clone().next().map(|entry| (entry.detail, entry.value > 15_000.0));
    assert_eq!(wait, Some((12, true)));
    assert_eq!(world.exhaustions(id), [], "the ladder of 15 s begins after the wait");
    world.finished_at(id);
}

/// How long the next segment waits with so much buffered, after an outage and segments whose bodies
/// took so long.
fn wait_after(bodies: &[f64], buffer: f64) -> f64 {
    let mut world = World::new();
    world.outage(0, 0.0, 20_000.0, status(503));
    world.playback(Some(0.0), Some(TARGET));
    let at_once = [Part::Chunk { gap: 0.0, bytes: 9.0 }, Part::End { gap: 0.0 }];
    world.start(ask(Site::Segment).always(status(200).parts(at_once)));
    world.drive_until(30_000.0);
    for gap in bodies {
        let body = [Part::Chunk { gap: *gap, bytes: 9.0 }, Part::End { gap: 0.0 }];
        let id = world.start(ask(Site::Segment).always(status(200).parts(body)));
        world.drive_until(world.now + 2_000.0);
        world.finished_at(id);
    }
    world.playback(Some(buffer), Some(TARGET));
    let id = world.start(ask(Site::Segment));
    let waiting = |entry: &&Entry| entry.event == LogEvent::Waiting;
    world.entries(id).iter().find(waiting).map_or(0.0, |entry| entry.value)
}

/// How long segments are taken to need after these.
fn taken(bodies: &[f64]) -> f64 {
    let instant = vec![0.0; bodies.len()];
    // What is buffered lasts longer, by the time in which the buffer may grow.
    let growing = 10_000.0 / (wait_after(bodies, 30_000.0) - wait_after(bodies, 20_000.0));
    (wait_after(&instant, 20_000.0) - wait_after(bodies, 20_000.0)) * growing / 1.5
}

#[test]
fn a_short_segment_takes_a_quarter_off_the_time_that_a_long_one_before_it_took() {
    for (bodies, expected) in [
        (vec![1_000.0], 1_000.0),
        (vec![1_000.0, 50.0], 750.0),
        (vec![1_000.0, 50.0, 50.0], 562.5),
        (vec![1_000.0, 800.0], 800.0),
        (vec![50.0, 1_000.0], 1_000.0),
    ] {
        let taken = taken(&bodies);
        assert!((taken - expected).abs() < 0.01, "{taken} after {bodies:?}");
    }
}
