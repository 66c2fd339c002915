//! While the browser says that there is no network.

use holdfast::core::{FailureClass, LogEvent, Reason, Site, WaitReason};

use crate::common::{World, ask, hang, ok, reject, status};

#[test]
fn nothing_is_sent_again_until_the_network_is_back() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).answers([reject(), ok(9.0)]));
    world.online(false);
    world.at(60_000.0, |world| world.online(true));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    assert_eq!(sent.len(), 2);
    assert!((60_050.0..=60_250.0).contains(&sent[1]), "{sent:?}");
    world.finished_at(id);
}

#[test]
fn p4_a_delay_that_ends_without_a_network_sends_nothing() {
    let mut world = World::new();
    let id = world.start(ask(Site::Manifest).answers([status(429), ok(9.0)]));
    world.at(100.0, |world| world.online(false));
    world.at(60_000.0, |world| world.online(true));
    world.drive_until(59_000.0);
    assert_eq!(world.sent_at(id).len(), 1);
    let waits: Vec<_> = world.engine.retry_states().map(|state| state.wait).collect();
    assert_eq!(waits, [Some(WaitReason::Offline)]);
    world.drive_until_idle();
    assert!(world.finished_at(id) < 60_500.0);
}

/// What the browser says may be wrong, and a first attempt is the only proof.
#[test]
fn a_first_attempt_is_sent_whatever_the_browser_says_and_its_retry_is_held() {
    let mut world = World::new();
    world.online(false);
    let fine = world.start(ask(Site::Segment));
    let failing = world.start(ask(Site::Segment).answers([reject(), ok(9.0)]));
    world.drive_until(60_000.0);
    assert_eq!(world.finished_at(fine), 70.0);
    assert_eq!(world.sent_at(failing), [0.0]);
    world.online(true);
    world.drive_until_idle();
    assert!((60_050.0..=60_150.0).contains(&world.sent_at(failing)[1]));
    world.finished_at(failing);
}

#[test]
fn r5_other_requests_are_not_sent_twice_because_the_network_came_back() {
    let mut world = World::new();
    world.online(false);
    world.start(ask(Site::Other).answers([reject(), ok(9.0)]));
    world.at(1_000.0, |world| world.online(true));
    world.drive_until_idle();
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn attempts_without_a_network_do_not_count_on_the_ladder() {
    let mut world = World::new();
    world.outage(0, 0.0, 100_000.0, reject().after(500.0));
    let id = world.start(ask(Site::Key));
    for flap in 0..10 {
        let at = f64::from(flap) * 10_000.0;
        world.at(at + 1.0, |world| world.online(false));
        world.at(at + 9_000.0, |world| world.online(true));
        world.at(at + 9_300.0, |world| world.online(false));
    }
    world.at(100_000.0, |world| world.online(true));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.exhaustions(id), []);
}

#[test]
fn time_without_a_network_does_not_count_on_the_ladder() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).answers([reject(), status(500), ok(9.0)]));
    world.online(false);
    world.at(100_000.0, |world| world.online(true));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.exhaustions(id), [], "the deadline of 15 s has not passed");
}

#[test]
fn the_wait_for_the_network_ends_after_the_limit_of_the_hold() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(reject()));
    world.online(false);
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    assert_eq!(at, 20.0 + 600_000.0);
    assert_eq!((failure.class, failure.svta), (FailureClass::Offline, 3001));
    assert_eq!(failure.reason, Reason::HoldLimit);
}

#[test]
fn a_network_that_is_back_ends_even_the_last_moment_of_the_wait() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).answers([reject(), ok(9.0)]));
    world.online(false);
    world.at(300_000.0, |world| world.online(true));
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn a_time_without_a_network_does_not_count_on_the_hold() {
    let mut world = World::new();
    world.outage(0, 0.0, 320_000.0, reject());
    let id = world.start(ask(Site::Segment));
    world.at(60_000.0, |world| world.online(false));
    world.at(310_000.0, |world| world.online(true));
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn the_caller_cannot_hurry_what_waits_for_the_network() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).answers([reject(), ok(9.0)]));
    world.online(false);
    world.drive_until(1_000.0);
    world.retry_now();
    world.drive_until(60_000.0);
    assert_eq!(world.sent_at(id).len(), 1);
}

#[test]
fn an_attempt_under_way_goes_on_when_the_network_is_said_to_be_gone() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(ok(9.0).after(3_000.0)));
    world.at(1_000.0, |world| world.online(false));
    world.drive_until_idle();
    assert_eq!(world.finished_at(id), 3_050.0);
}

#[test]
fn a_time_out_without_a_network_waits_for_it_too() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).answers([hang(), ok(9.0)]));
    world.at(1_000.0, |world| world.online(false));
    world.at(60_000.0, |world| world.online(true));
    world.drive_until_idle();
    assert!(world.sent_at(id)[1] > 60_000.0);
}

#[test]
fn whoever_looks_on_sees_that_the_network_is_waited_for() {
    let mut world = World::new();
    world.start(ask(Site::Segment).answers([reject(), ok(9.0)]));
    world.online(false);
    world.drive_until(1_000.0);
    let waits: Vec<_> = world.engine.retry_states().map(|state| state.wait).collect();
    assert_eq!(waits, [Some(WaitReason::Offline)]);
}

#[test]
fn a_request_that_holds_waits_for_the_network_and_goes_on() {
    let mut world = World::new();
    world.outage(0, 0.0, 200_000.0, reject());
    let id = world.start(ask(Site::Segment));
    world.at(60_000.0, |world| world.online(false));
    world.at(200_000.0, |world| world.online(true));
    world.drive_until_idle();
    assert!(world.finished_at(id) < 200_500.0);
    assert_eq!(world.exhaustions(id).len(), 1);
}

#[test]
fn what_the_browser_repeats_is_no_news() {
    let mut world = World::new();
    world.online(true);
    world.online(false);
    world.online(false);
    let news = world.engine.log().filter(|entry| entry.event == LogEvent::Network);
    assert_eq!(news.map(|entry| entry.detail).collect::<Vec<_>>(), [0]);
}

/// A breaker stands still without a network, and must not be asked over and over meanwhile.
#[test]
fn p4_a_probe_that_is_due_without_a_network_waits_for_it() {
    let mut world = World::new();
    world.outage(0, 0.0, 20_000.0, status(500));
    let all: Vec<_> = (0..6).map(|_| world.start(ask(Site::Segment))).collect();
    world.drive_until(2_000.0);
    world.online(false);
    let late = world.start(ask(Site::Segment));
    world.at(60_000.0, |world| world.online(true));
    world.drive_until_idle();
    for id in all.into_iter().chain([late]) {
        assert!(world.finished_at(id) > 60_000.0);
    }
}
