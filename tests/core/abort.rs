//! The caller's abort leaves nothing behind, whenever it comes (R10).

use holdfast::core::{Action, LogEvent, RequestId, Site};

use crate::common::{Answer, World, ask, hang, ok, reject, silent, status};

/// Aborts at `at`, and sees to it that the request is forgotten and nothing follows.
fn abort_at(at: f64, answer: Answer, prepare: impl FnOnce(&mut World)) -> World {
    let mut world = World::new();
    world.keep_leftovers();
    prepare(&mut world);
    let id = world.start(ask(Site::Segment).always(answer));
    world.drive_until(at);
    assert_eq!(world.verdict(id), None, "too late for an abort");
    let before = world.actions.len();
    world.abort(id);
    assert_eq!(world.engine.next_timeout(), None);
    assert_eq!(world.engine.request_count(), 0);
    assert_eq!(world.engine.retry_states().count(), 0);
    world.drive_until(1_000_000.0);
    let after = world.actions[before..].iter().map(|(_, action)| *action);
    let after: Vec<_> = after.filter(|action| *action != Action::Changed).collect();
    assert_eq!(after, [Action::Forget { request: RequestId(id) }]);
    world
}

#[test]
fn r10_before_the_headers_the_request_is_forgotten_and_nothing_follows() {
    for answer in [hang(), ok(9.0).after(500.0), reject().after(500.0), status(500).after(500.0)] {
        abort_at(100.0, answer, |_| {});
    }
}

#[test]
fn r10_in_the_tick_of_the_start_the_request_is_forgotten_and_nothing_follows() {
    abort_at(0.0, ok(9.0).after(1.0), |_| {});
}

#[test]
fn r10_within_the_body_the_request_is_forgotten_and_nothing_follows() {
    abort_at(100.0, silent(9.0), |_| {});
}

#[test]
fn r10_within_a_suspect_silence_the_request_is_forgotten_and_nothing_follows() {
    abort_at(4_000.0, silent(9.0), |_| {});
}

#[test]
fn r10_within_a_delay_the_request_is_forgotten_and_nothing_follows() {
    abort_at(100.0, status(429), |_| {});
}

#[test]
fn r10_within_a_wait_that_the_server_asked_for_the_request_is_forgotten_and_nothing_follows() {
    abort_at(5_000.0, status(503).retry_after(10_000.0), |_| {});
}

#[test]
fn r10_within_a_hold_the_request_is_forgotten_and_nothing_follows() {
    let world = abort_at(60_000.0, status(500), |_| {});
    assert_eq!(world.exhaustions(1).len(), 1);
}

#[test]
fn r10_without_a_network_nothing_follows_even_when_it_is_back() {
    abort_at(30_000.0, reject(), |world| {
        world.at(10.0, |world| world.online(false));
        world.at(60_000.0, |world| world.online(true));
    });
}

#[test]
fn r10_an_abort_is_the_last_word_of_the_log_on_its_request() {
    let world = abort_at(100.0, hang(), |_| {});
    assert_eq!(world.events(1).last(), Some(&LogEvent::Aborted));
}

#[test]
fn r10_an_abort_after_the_end_changes_nothing() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment));
    world.drive_until_idle();
    let before = world.actions.len();
    world.abort(id);
    assert_eq!(world.actions.len(), before);
    assert_eq!(world.events(id).last(), Some(&LogEvent::Succeeded));
}

#[test]
fn an_abort_of_one_request_leaves_the_others_alone() {
    let mut world = World::new();
    let first = world.start(ask(Site::Segment).always(hang()));
    let second = world.start(ask(Site::Segment).always(ok(9.0).after(1_000.0)));
    world.drive_until(500.0);
    world.abort(first);
    world.drive_until_idle();
    assert_eq!(world.finished_at(second), 1_050.0);
}

#[test]
fn r10_ten_thousand_aborted_requests_leave_no_trace_but_the_log() {
    let mut world = World::new();
    for _ in 0..10_000 {
        let id = world.start(ask(Site::Segment).always(hang()));
        world.abort(id);
    }
    assert_eq!((world.engine.request_count(), world.engine.next_timeout()), (0, None));
}
