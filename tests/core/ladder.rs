//! The quick ladder: what is tried again, when, how often, and what the caller sees of it.

use holdfast::core::{
    Action, Alternatives, Config, Exhausted, FailureClass, LogEvent, Millis, Reason, RequestId,
    ResponseFacts, Site,
};

use crate::common::{World, ask, hang, ok, page, reject, silent, status, truncated};

/// A world where a spent ladder ends in rejection.
fn rejecting(seed: u64) -> World {
    let mut config = Config { seed, log_capacity: 10_000, ..Config::default() };
    for policy in &mut config.sites {
        policy.exhausted = Exhausted::Reject;
    }
    World::with(config)
}

#[test]
fn r8_a_healthy_request_is_sent_once() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment));
    world.drive_until_idle();
    assert_eq!(world.finished_at(id), 70.0);
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn r24_every_transient_failure_is_followed_by_another_attempt() {
    let failures =
        [status(500), status(503), status(408), status(425), status(429), status(599), reject()]
            .into_iter()
            .chain([hang(), truncated(10.0), silent(10.0), page(), status(200), status(421)]);
    for failure in failures {
        let mut world = World::new();
        let id = world.start(ask(Site::Manifest).answers([failure.clone(), ok(1_000.0)]));
        world.drive_until_idle();
        assert!(world.finished_at(id) < 20_000.0, "{failure:?}");
        assert_eq!(world.sent.len(), 2, "{failure:?}");
    }
}

#[test]
fn r24_every_final_refusal_is_passed_on_at_once() {
    for refusal in [400, 401, 403, 404, 405, 409, 410, 412, 413, 416, 426, 451, 302, 0] {
        let mut world = World::new();
        let id = world.start(ask(Site::Key).always(status(refusal)));
        world.drive_until_idle();
        let (at, failure) = world.failure(id);
        assert_eq!((at, failure.reason), (20.0, Reason::Terminal), "{refusal}");
        assert_eq!(world.sent.len(), 1, "{refusal}");
    }
}

#[test]
fn r4_a_final_refusal_keeps_its_response_for_the_caller() {
    for refusal in [403, 0] {
        let mut world = World::new();
        world.start(ask(Site::Segment).always(status(refusal)));
        world.drive_until_idle();
        assert!(!world.actions.iter().any(|(_, action)| matches!(action, Action::Cut { .. })));
    }
}

#[test]
fn r13_delays_of_the_ladder_stay_within_the_curve_and_above_the_floor() {
    let policy = Site::Manifest.defaults();
    for seed in 0..200 {
        let mut world = rejecting(seed);
        let id = world.start(ask(Site::Manifest).always(status(500)));
        world.drive_until_idle();
        let sent = world.sent_at(id);
        assert_eq!(sent.len(), policy.attempts as usize);
        for (n, pair) in sent.windows(2).enumerate() {
            let delay = pair[1] - pair[0] - 20.0;
            let span = (1_000.0 * 2.0_f64.powi(n as i32)).min(8_000.0);
            assert!((50.0 - 1e-6..=span).contains(&delay), "attempt {n}: {delay} of {span}");
        }
    }
}

#[test]
fn r13_delays_of_a_site_follow_its_own_numbers() {
    let mut config = Config::default();
    let policy = &mut config.sites[Site::Key as usize];
    (policy.backoff_base, policy.backoff_cap) = (Millis::new(50.0), Millis::new(50.0));
    let mut world = World::with(config);
    let id = world.start(ask(Site::Key).answers([status(500), status(500), ok(16.0)]));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [0.0, 70.0, 140.0]);
}

#[test]
fn r19_the_caller_sees_attempts_then_exhaustion_then_the_rejection() {
    let mut world = rejecting(3);
    let id = world.start(ask(Site::Key).always(status(500)));
    world.drive_until_idle();
    let heard: Vec<_> = world
        .actions
        .iter()
        .filter_map(|(_, action)| match action {
            Action::Send { .. } => Some("sent"),
            Action::Exhausted { .. } => Some("exhausted"),
            Action::Fail { .. } => Some("failed"),
            Action::Accept { .. } | Action::Finish { .. } => Some("leaked"),
            _ => None,
        })
        .collect();
    assert_eq!(heard, ["sent", "sent", "sent", "exhausted", "failed"]);
    let (_, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.status, failure.attempts), (Reason::Attempts, 500, 3));
    assert_eq!((failure.class, failure.svta), (FailureClass::Server, 3500));
}

#[test]
fn r19_the_log_tells_the_same_order() {
    use LogEvent::{Exhausted, Failed, GivenUp, Sent, Started, Waiting};
    let mut world = rejecting(3);
    let id = world.start(ask(Site::Steering).always(status(500)));
    world.drive_until_idle();
    let told = [Started, Sent, Failed, Waiting, Sent, Failed, Exhausted, GivenUp];
    assert_eq!(world.events(id), told);
}

#[test]
fn a_delay_that_would_pass_the_deadline_ends_the_ladder_at_once() {
    let mut world = rejecting(1);
    let asked = status(503).retry_after(19_000.0);
    let id = world.start(ask(Site::Segment).always(asked));
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    assert_eq!((at, failure.reason), (20.0, Reason::RateLimited));
}

#[test]
fn a_manifest_that_hangs_once_is_sent_again_after_three_and_a_half_seconds() {
    let mut world = World::new();
    let id = world.start(ask(Site::Manifest).answers([hang(), ok(1_000.0)]));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    assert!((3_550.0..=3_750.0).contains(&sent[1]), "{sent:?}");
    assert!(world.finished_at(id) < 5_000.0);
}

#[test]
fn a_host_that_has_answered_gets_the_whole_headers_bound() {
    let mut world = World::new();
    world.start(ask(Site::Segment));
    world.drive_until(1_000.0);
    let id = world.start(ask(Site::Manifest).answers([ok(1_000.0).after(9_900.0)]));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id).len(), 1);
    world.finished_at(id);
}

#[test]
fn the_first_headers_bound_widens_until_a_merely_slow_host_is_reached() {
    let mut world = World::new();
    let id = world.start(ask(Site::Manifest).always(ok(1_000.0).after(8_500.0)));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id).len(), 4, "3.5 s, 5.3 s, 7.9 s, and then 10 s are enough");
    world.finished_at(id);
}

#[test]
fn r29_too_early_is_sent_again_at_once_and_only_then_on_the_ladder() {
    let mut world = World::new();
    let id = world.start(ask(Site::Manifest).answers([status(425), status(425), ok(1_000.0)]));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    assert_eq!(sent[1] - sent[0], 70.0, "the floor after an answer of 20 ms");
    assert!(sent[2] - sent[1] > 70.0, "the ladder's own delay: {sent:?}");
}

#[test]
fn r29_too_early_is_sent_again_promptly_only_once_whatever_lies_between() {
    let answers = [status(425), status(500), status(425), ok(9.0)];
    let at_floor = |seed| {
        let mut world = World::seeded(seed);
        let id = world.start(ask(Site::Manifest).answers(answers.clone()));
        world.drive_until_idle();
        let sent = world.sent_at(id);
        assert_eq!(sent[1] - sent[0], 70.0);
        sent[3] - sent[2] == 70.0
    };
    assert!(!(0..20).all(at_floor));
}

#[test]
fn a_misdirected_request_is_sent_again_once() {
    let mut world = World::new();
    let id = world.start(ask(Site::Manifest).always(status(421)));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.attempts), (Reason::Terminal, 2));
}

#[test]
fn a_misdirected_request_is_sent_again_once_whatever_lies_between() {
    let mut world = World::new();
    let answers = [status(421), status(500), status(421), ok(9.0)];
    let id = world.start(ask(Site::Manifest).answers(answers));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.attempts), (Reason::Terminal, 3));
}

#[test]
fn r88_time_asleep_does_not_count_on_the_ladder() {
    let mut world = rejecting(1);
    let id = world.start(ask(Site::Segment).answers([hang(), ok(9.0)]));
    world.drive_until(1_000.0);
    world.freeze_until(3_600_000.0);
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn a_second_head_of_the_attempt_under_way_changes_nothing() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(ok(9.0)));
    world.drive_until(30.0);
    let head = ResponseFacts::of(503);
    world.engine.handle_response(RequestId(id), 1, head, Millis::new(30.0));
    world.drive_until_idle();
    assert_eq!(world.finished_at(id), 70.0);
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn r77_a_request_that_must_not_be_sent_twice_is_not() {
    for failure in [status(503), reject(), hang(), truncated(10.0)] {
        let mut world = World::new();
        let id = world.start(ask(Site::License).once_only().always(failure));
        world.drive_until_idle();
        assert_eq!(world.failure(id).1.reason, Reason::NotIdempotent);
        assert_eq!(world.sent.len(), 1);
    }
}

#[test]
fn other_requests_are_sent_once_whatever_happens_online() {
    for failure in [status(503), reject(), hang(), truncated(10.0), status(503).retry_after(0.0)] {
        let mut world = World::new();
        world.start(ask(Site::Other).alternatives(Alternatives::None).always(failure));
        world.drive_until_idle();
        assert_eq!(world.sent.len(), 1);
    }
}

#[test]
fn a_body_that_was_partly_released_is_not_sent_again() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).streaming().always(truncated(10.0)));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.class), (Reason::Released, FailureClass::Truncated));
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn a_streamed_body_that_broke_before_its_first_byte_is_sent_again() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).streaming().answers([truncated(0.0), ok(9.0)]));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.sent.len(), 2);
}

#[test]
fn an_empty_answer_counts_where_no_body_is_expected() {
    let mut world = World::new();
    let head = world.start(ask(Site::Segment).without_body().always(status(200)));
    let no_content = world.start(ask(Site::License).always(status(204)));
    world.drive_until_idle();
    world.finished_at(head);
    world.finished_at(no_content);
    assert_eq!(world.sent.len(), 2);
}

#[test]
fn r64_retries_do_not_move_the_estimate_of_the_bandwidth() {
    let estimate = |answers: Vec<_>| {
        let mut world = World::new();
        world.start(ask(Site::Segment).always(ok(500_000.0)));
        world.start(ask(Site::Segment).answers(answers));
        world.drive_until_idle();
        (world.engine.estimator().estimate(), world.engine.estimator().excluded_bytes())
    };
    let failing = [truncated(70_000.0), status(500), ok(9_000.0)];
    let (with_retries, excluded) = estimate(failing.to_vec());
    assert_eq!(with_retries, estimate(vec![status(404)]).0);
    assert_eq!(excluded, 79_000.0);
}

#[test]
fn every_success_says_that_the_bandwidth_has_changed() {
    let mut world = World::new();
    world.start(ask(Site::Segment));
    world.drive_until_idle();
    let said: Vec<_> = world.actions.iter().rev().take(2).map(|(_, action)| *action).collect();
    assert_eq!(said, [Action::Changed, Action::Finish { request: RequestId(1) }]);
}

#[test]
fn a_host_that_always_takes_longer_than_the_bound_is_reached_all_the_same() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(ok(1_000.0).after(20_000.0)));
    world.drive_until_idle();
    assert!(world.finished_at(id) < 150_000.0, "each time-out widens the next bound by half");
}
