//! Failing tests.
#![cfg(not(target_family = "wasm"))]

mod common;

use common::{Part, World, ask, hang, ok, reject, silent, status};
use holdfast::core::{Action, Alternatives, Config, Exhausted, Millis, Reason, RequestId, Site};

#[test]
fn b01_auto_rejects_where_the_host_answers_others_while_this_url_hangs() {
    let mut world = World::new();
    world.every(2_000.0, 60_000.0, &ask(Site::Segment).always(ok(9.0)));
    let id = world.start(ask(Site::Segment).always(hang()));
    world.drive_until_idle();
    let (at, _) = world.failure(id);
    assert!(at < 60_000.0, "{at}");
}

#[test]
fn b02_auto_holds_where_one_other_answer_slipped_through_an_outage() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(reject()));
    world.drive_until(200.0);
    world.start(ask(Site::Segment).always(ok(9.0).after(1.0)));
    world.drive_until_idle();
    assert!(world.exhaustions(id)[0].1.holding);
}

#[test]
fn b02_auto_holds_where_a_body_that_was_under_way_outlives_the_outage() {
    let mut world = World::new();
    world.outage(0, 10.0, 10_000.0, reject());
    world.start(ask(Site::Segment).always(status(200).parts([
        Part::Chunk { gap: 300.0, bytes: 9.0 },
        Part::End { gap: 0.0 },
    ])));
    world.drive_until(10.0);
    let id = world.start(ask(Site::Segment));
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn b03_r26_what_a_server_asked_for_survives_a_wait_for_the_network() {
    let mut world = World::new();
    world.online(false);
    let id = world
        .start(ask(Site::Manifest).answers([status(503).retry_after(60_000.0), ok(9.0)]));
    world.at(1_000.0, |world| world.online(true));
    world.drive_until_idle();
    assert!(world.sent_at(id)[1] >= 60_020.0);
}

#[test]
fn b03_r26_what_a_server_asked_for_is_not_hurried_within_a_longer_delay() {
    let mut world = World::new();
    world.outage(0, 0.0, 60_000.0, status(503).retry_after(1_000.0));
    let id = world.start(ask(Site::Segment));
    world.at(59_000.0, World::retry_now);
    world.at(59_100.0, World::retry_now);
    world.at(59_200.0, World::retry_now);
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn b04_other_requests_are_not_sent_twice_because_the_network_came_back() {
    let mut world = World::new();
    world.online(false);
    world.start(ask(Site::Other).answers([reject(), ok(9.0)]));
    world.at(1_000.0, |world| world.online(true));
    world.drive_until_idle();
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn b05_p4_a_delay_that_ends_without_a_network_sends_nothing() {
    let mut world = World::new();
    let id = world.start(ask(Site::Manifest).answers([status(429), ok(9.0)]));
    world.at(100.0, |world| world.online(false));
    world.drive_until(60_000.0);
    assert_eq!(world.sent_at(id).len(), 1);
}

#[test]
fn b05_p4_a_request_that_begins_without_a_network_is_not_sent() {
    let mut world = World::new();
    world.online(false);
    let id = world.start(ask(Site::Segment));
    world.drive_until(60_000.0);
    assert_eq!(world.sent_at(id).len(), 0);
}

#[test]
fn b06_a_request_is_misdirected_twice_at_most_whatever_lies_between() {
    let mut world = World::new();
    let answers = [status(421), status(500), status(421), ok(9.0)];
    let id = world.start(ask(Site::Manifest).answers(answers));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.attempts), (Reason::Terminal, 3));
}

#[test]
fn b06_r29_too_early_is_sent_again_promptly_only_once() {
    let answers = [status(425), status(500), status(425), ok(9.0)];
    let at_floor = |seed| {
        let mut world = World::seeded(seed);
        let id = world.start(ask(Site::Manifest).answers(answers.clone()));
        world.drive_until_idle();
        let sent = world.sent_at(id);
        sent[3] - sent[2] == 70.0
    };
    assert!(!(0..20).all(at_floor));
}

#[test]
fn b07_r26_the_manifest_waits_for_all_of_five_minutes() {
    for wait in [260_000.0, 290_000.0, 300_000.0] {
        for seed in 0..20 {
            let mut world = World::seeded(seed);
            let id = world
                .start(ask(Site::Manifest).answers([status(503).retry_after(wait), ok(9.0)]));
            world.drive_until_idle();
            world.finished_at(id);
        }
    }
}

#[test]
fn b08_time_asleep_does_not_count_on_the_hold() {
    let mut world = World::new();
    world.outage(0, 0.0, 3_605_000.0, reject());
    let id = world.start(ask(Site::Segment));
    world.drive_until(60_000.0);
    world.freeze_until(3_600_000.0);
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn b08_time_asleep_does_not_count_on_the_ladder() {
    let mut config = Config::default();
    config.sites[Site::Segment as usize].exhausted = Exhausted::Reject;
    let mut world = World::with(config);
    let id = world.start(ask(Site::Segment).answers([hang(), ok(9.0)]));
    world.drive_until(1_000.0);
    world.freeze_until(3_600_000.0);
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn b09_r16_a_hang_after_a_quick_failure_keeps_the_deadline_of_the_buffer() {
    let mut world = World::new();
    world.playback(Some(4_000.0), None);
    let id = world.start(ask(Site::Segment).answers([reject().after(1_000.0), hang()]));
    world.drive_until(60_000.0);
    let at = world.exhaustions(id)[0].0;
    assert!(at <= 3_300.0, "{at}");
}

#[test]
fn b10_the_limit_of_a_time_out_after_a_late_wake_up_is_the_bound() {
    let mut world = World::new();
    world.start(ask(Site::License).once_only().always(hang()));
    world.freeze_until(600_000.0);
    world.drive_until_idle();
    let (_, failure) = world.failure(1);
    assert_eq!(failure.limit, Some(Millis::new(15_000.0)));
}

#[test]
fn b12_a_buffer_that_is_reported_to_be_short_cuts_a_long_silence_at_once() {
    let mut world = World::new();
    world.playback(Some(60_000.0), None);
    world.start(ask(Site::Segment).answers([silent(10.0), ok(9.0)]));
    world.at(4_000.0, |world| world.playback(Some(1_000.0), None));
    world.drive_until_idle();
    let cut = world.actions.iter().find(|(_, action)| matches!(action, Action::Cut { .. }));
    assert_eq!(cut.map(|(at, _)| *at), Some(4_000.0));
}

#[test]
fn b17_a_host_that_is_back_does_not_hurry_a_limit_of_rate() {
    let mut world = World::new();
    for _ in 0..3 {
        world.start(ask(Site::Key).always(status(500)));
    }
    let id = world.start(ask(Site::Manifest).answers([status(429), ok(9.0)]));
    world.drive_until(100.0);
    world.start(ask(Site::Playlist).always(ok(9.0).after(5.0)));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    assert!(sent[1] >= 2_000.0, "{sent:?}");
}

#[test]
fn b18_many_held_requests_hold_as_long_as_one() {
    let mut world = World::new();
    for _ in 0..100 {
        world.start(ask(Site::Segment).always(status(500)));
    }
    world.drive_until_idle();
    let first = (1..=100).map(|id| world.failure(id).0).fold(f64::INFINITY, f64::min);
    assert!(first > 250_000.0, "{first}");
}

#[test]
fn b19_an_interactive_site_is_sent_three_times_at_most() {
    let mut world = World::new();
    let id = world.start(ask(Site::License).always(status(500)));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id).len(), 3);
}

#[test]
fn b20_a_network_that_is_back_ends_even_the_last_moment_of_the_wait() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).answers([reject(), ok(9.0)]));
    world.online(false);
    world.at(300_000.0, |world| world.online(true));
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn b21_a_time_without_network_does_not_count_on_the_hold() {
    let mut world = World::new();
    world.outage(0, 0.0, 320_000.0, reject());
    let id = world.start(ask(Site::Segment));
    world.at(60_000.0, |world| world.online(false));
    world.at(310_000.0, |world| world.online(true));
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn b22_a_second_head_of_the_same_attempt_changes_nothing() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(ok(9.0)));
    world.drive_until(30.0);
    let head = holdfast::core::ResponseFacts { status: 503, length: None, retry_after: None };
    world.engine.handle_response(RequestId(id), 1, head, Millis::new(30.0));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.sent.len(), 1);
    let _ = Alternatives::None;
}
