//! What becomes of a server's word on when to come back (R26).

use holdfast::core::{Millis, Reason, Site, WaitReason};

use crate::common::{Answer, World, ask, ok, status};

const SECOND: f64 = 1_000.0;

fn busy(wait: f64) -> Answer {
    status(503).retry_after(wait)
}

#[test]
fn r26_a_server_is_never_asked_before_the_time_it_named() {
    for seed in 0..200 {
        let mut world = World::seeded(seed);
        let answers = [busy(7.0 * SECOND), busy(2.0 * SECOND), ok(9.0)];
        let id = world.start(ask(Site::Manifest).answers(answers));
        world.drive_until_idle();
        let sent = world.sent_at(id);
        assert!(sent[1] - sent[0] - 20.0 >= 7.0 * SECOND);
        assert!(sent[2] - sent[1] - 20.0 >= 2.0 * SECOND);
    }
}

#[test]
fn r26_jitter_goes_on_top_of_what_was_asked_and_stays_within_a_fifth() {
    let second_attempt = |seed| {
        let mut world = World::seeded(seed);
        let id = world.start(ask(Site::Manifest).answers([busy(20.0 * SECOND), ok(9.0)]));
        world.drive_until_idle();
        world.sent_at(id)[1] - 20.0
    };
    let waits: Vec<f64> = (0..100).map(second_attempt).collect();
    assert!(waits.iter().all(|wait| (20.0 * SECOND..=24.0 * SECOND).contains(wait)), "{waits:?}");
    assert!(waits.iter().any(|wait| *wait > 22.0 * SECOND));
}

#[test]
fn r26_a_wait_of_nothing_leaves_the_ladder_its_delay() {
    let mut world = World::new();
    let id = world.start(ask(Site::Manifest).answers([busy(0.0), ok(9.0)]));
    world.drive_until_idle();
    assert!(world.sent_at(id)[1] >= 70.0);
}

#[test]
fn r26_an_interactive_site_gives_up_at_once_and_says_when_to_come_back() {
    for site in [Site::Playlist, Site::Key, Site::License, Site::Certificate] {
        let mut world = World::new();
        let id = world.start(ask(site).always(busy(21.0 * SECOND)));
        world.drive_until_idle();
        let (at, failure) = world.failure(id);
        assert_eq!((at, failure.reason), (20.0, Reason::RetryAfter), "{site:?}");
        assert_eq!(failure.retry_at, Some(Millis::new(20.0 + 21.0 * SECOND)));
        assert_eq!(world.exhaustions(id).len(), 1);
    }
}

#[test]
fn r26_the_manifest_waits_minutes_if_the_server_says_so() {
    for wait in [30.0, 100.0, 240.0] {
        let mut world = World::new();
        let id = world.start(ask(Site::Manifest).answers([busy(wait * SECOND), ok(9.0)]));
        world.drive_until_idle();
        assert!(world.finished_at(id) >= wait * SECOND, "{wait} s");
        assert_eq!(world.sent_at(id).len(), 2);
    }
}

#[test]
fn r26_the_manifest_waits_for_all_of_five_minutes() {
    for wait in [260.0, 290.0, 300.0] {
        for seed in 0..20 {
            let mut world = World::seeded(seed);
            let answers = [busy(wait * SECOND), ok(9.0)];
            let id = world.start(ask(Site::Manifest).answers(answers));
            world.drive_until_idle();
            world.finished_at(id);
        }
    }
}

#[test]
fn r26_what_a_server_asked_for_survives_a_wait_for_the_network() {
    let mut world = World::new();
    world.online(false);
    let id = world.start(ask(Site::Manifest).answers([busy(60.0 * SECOND), ok(9.0)]));
    world.at(SECOND, |world| world.online(true));
    world.drive_until(2.0 * SECOND);
    let waits: Vec<_> = world.engine.retry_states().map(|state| state.wait).collect();
    assert_eq!(waits, [Some(WaitReason::RetryAfter)]);
    world.drive_until_idle();
    assert!(world.sent_at(id)[1] >= 60.0 * SECOND + 20.0);
}

#[test]
fn r26_what_a_server_asked_for_is_not_hurried_within_a_longer_delay() {
    let mut world = World::new();
    world.outage(0, 0.0, 60.0 * SECOND, busy(SECOND));
    let id = world.start(ask(Site::Segment));
    for at in [59_000.0, 59_100.0, 59_200.0] {
        world.at(at, World::retry_now);
    }
    world.drive_until_idle();
    world.finished_at(id);
    for pair in world.sent_at(id).windows(2) {
        assert!(pair[1] - pair[0] >= SECOND + 20.0, "{pair:?}");
    }
}

#[test]
fn r26_more_than_five_minutes_are_given_up_and_not_sent_early() {
    for site in [Site::Manifest, Site::PlaylistReload, Site::Segment] {
        let mut world = World::new();
        let id = world.start(ask(site).always(busy(301.0 * SECOND)));
        world.drive_until_idle();
        let (at, failure) = world.failure(id);
        assert_eq!((at, failure.reason), (20.0, Reason::RetryAfter), "{site:?}");
        assert_eq!(failure.retry_at, Some(Millis::new(20.0 + 301.0 * SECOND)), "{site:?}");
        assert_eq!(world.sent_at(id).len(), 1);
    }
}

#[test]
fn r25_every_retryable_status_may_name_a_time() {
    for refusal in [408, 413, 421, 425, 429, 500, 502, 503, 504, 511] {
        let mut world = World::new();
        let asked = status(refusal).retry_after(9.0 * SECOND);
        let id = world.start(ask(Site::Manifest).answers([asked, ok(9.0)]));
        world.drive_until_idle();
        assert!(world.sent_at(id)[1] >= 9.0 * SECOND, "{refusal}");
    }
}

#[test]
fn r25_a_time_named_by_a_final_refusal_is_passed_on_and_not_waited_for() {
    let mut world = World::new();
    let id = world.start(ask(Site::Key).always(status(404).retry_after(9.0 * SECOND)));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!(failure.reason, Reason::Terminal);
    assert_eq!(failure.retry_at, Some(Millis::new(20.0 + 9.0 * SECOND)));
}

#[test]
fn neither_the_caller_nor_the_host_hurries_what_the_server_asked_for() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).answers([busy(10.0 * SECOND), ok(9.0)]));
    world.drive_until(2.0 * SECOND);
    world.retry_now();
    world.every(500.0, 9.0 * SECOND, &ask(Site::Segment));
    world.drive_until(9.9 * SECOND);
    let waits: Vec<_> = world.engine.retry_states().map(|state| state.wait).collect();
    assert_eq!(waits[0], Some(WaitReason::RetryAfter));
    // What comes meanwhile waits as well: the server has said it of itself.
    assert!(waits[1..].iter().all(|wait| *wait == Some(WaitReason::Vrlt)), "{waits:?}");
    assert_eq!(world.sent_at(id).len(), 1);
}

#[test]
fn a_host_that_is_back_does_not_hurry_a_limit_of_rate() {
    let mut world = World::new();
    for _ in 0..3 {
        world.start(ask(Site::Key).always(status(500)));
    }
    let id = world.start(ask(Site::Manifest).answers([status(429), ok(9.0)]));
    world.drive_until(100.0);
    world.start(ask(Site::Playlist).always(ok(9.0).after(5.0)));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    assert!(sent[1] >= SECOND, "{sent:?}");
}

#[test]
fn without_a_named_time_a_limit_of_rate_waits_four_times_as_long_and_never_luckily_short() {
    for seed in 0..200 {
        let mut world = World::seeded(seed);
        let id = world.start(ask(Site::Manifest).answers([status(429), ok(9.0)]));
        world.drive_until_idle();
        let wait = world.sent_at(id)[1] - 20.0;
        assert!((SECOND..=2.0 * SECOND).contains(&wait), "{wait}");
    }
}
