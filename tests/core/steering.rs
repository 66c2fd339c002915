//! Content steering, rotation, and the guard under every way that leads to one URL.

use holdfast::core::{Alternatives, Config, FailureClass, Millis, Reason, Site, WaitReason};

use crate::common::{Answer, Ask, Verdict, World, ask, hang, ok, reject, status};

const MINUTE: f64 = 60_000.0;

fn steering() -> Ask {
    ask(Site::Steering).url(7)
}

#[test]
fn r71_a_410_retires_the_url_for_the_session() {
    let mut world = World::new();
    let first = world.start(steering().always(status(410)));
    world.drive_until_idle();
    let (_, failure) = world.failure(first);
    assert_eq!((failure.class, failure.reason), (FailureClass::Gone, Reason::Terminal));
    // What else fails meanwhile, and however much of it, brings it back no more than time does.
    for _ in 0..200 {
        world.start(ask(Site::TextSegment).always(status(404)));
    }
    world.drive_until(60.0 * MINUTE);
    world.retry_now();
    let sent = world.sent.len();
    let again = world.start(steering());
    let (at, failure) = world.failure(again);
    assert_eq!((at, failure.attempts), (60.0 * MINUTE, 0), "at once, and without a send");
    assert_eq!(world.sent.len(), sent);
    assert_eq!(failure.reason, Reason::Retired);
    assert_eq!((failure.class, failure.status), (FailureClass::Gone, 410));
    assert_eq!(failure.svta, 3410);
}

#[test]
fn r71_a_410_retires_no_other_url_and_no_other_site() {
    let mut world = World::new();
    world.start(steering().always(status(410)));
    world.drive_until_idle();
    let other = world.start(steering().url(8));
    world.drive_until_idle();
    world.finished_at(other);
    let playlist = ask(Site::Playlist).url(9);
    world.start(playlist.clone().always(status(410)));
    world.drive_until(10.0 * MINUTE);
    let again = world.start(playlist);
    world.drive_until_idle();
    world.finished_at(again);
}

#[test]
fn r71_a_429_is_waited_for_as_long_as_it_asks() {
    for wait in [2_000.0, 120_000.0] {
        let limited = status(429).retry_after(wait);
        let mut world = World::new();
        let id = world.start(steering().answers([limited, ok(99.0)]));
        world.drive_until_idle();
        world.finished_at(id);
        let waited = world.sent_at(id)[1] - 20.0;
        assert!((wait..=1.25 * wait).contains(&waited), "{waited}");
    }
}

#[test]
fn r71_other_failures_reject_after_two_attempts_so_that_the_player_keeps_its_values() {
    for answer in [status(500), status(503), reject(), hang()] {
        for alternatives in [Alternatives::Unknown, Alternatives::None, Alternatives::Some] {
            let mut world = World::new();
            let request = steering().always(answer.clone()).alternatives(alternatives);
            let id = world.start(request);
            world.drive_until_idle();
            let (at, failure) = world.failure(id);
            assert_eq!((failure.attempts, failure.reason), (2, Reason::Attempts), "{answer:?}");
            assert!(at < 35_000.0, "{at}");
        }
    }
    let mut world = World::new();
    let id = world.start(steering().always(status(404)));
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.attempts, 1);
}

/// The full engine whose segments are given up after so many failures.
fn rotating(after: u32) -> World {
    let mut config = Config { seed: 1, ..Config::default() };
    for policy in &mut config.sites {
        policy.rotate_after = after;
    }
    World::with(config)
}

#[test]
fn r69_a_request_is_given_up_after_so_many_failures_where_there_is_somewhere_to_go() {
    for after in [1, 2, 3] {
        for code in [500, 404, 408] {
            let mut world = rotating(after);
            world.live = true;
            world.playback(None, Some(4_000.0));
            let request = ask(Site::Segment).alternatives(Alternatives::Some);
            let id = world.start(request.always(status(code)));
            world.drive_until_idle();
            let (_, failure) = world.failure(id);
            assert_eq!(failure.attempts, after, "{code}");
        }
    }
}

#[test]
fn r69_without_somewhere_to_go_the_ladder_is_whole() {
    for alternatives in [Alternatives::None, Alternatives::Unknown] {
        let mut world = rotating(1);
        let id = world.start(ask(Site::Segment).alternatives(alternatives).always(status(500)));
        world.drive_until(20_000.0);
        assert_eq!(world.exhaustions(id)[0].1.attempts, 4);
    }
}

#[test]
fn r69_more_failures_than_the_ladder_has_steps_change_nothing() {
    let mut world = rotating(9);
    let request = ask(Site::Segment).alternatives(Alternatives::Some).always(status(500));
    let id = world.start(request);
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.attempts, 4);
}

/// The player turns away from host 0.
fn rotate(world: &mut World) {
    world.engine.handle_rotation(0, Millis::new(world.now));
    // No news, but the actions are taken.
    world.online(true);
}

#[test]
fn r69_a_rotation_ends_the_waits_for_the_host_and_no_others() {
    let mut world = World::new();
    let none = Alternatives::None;
    let waiting = world.start(ask(Site::Segment).always(status(500)).alternatives(none));
    let elsewhere = world.start(ask(Site::Segment).host(1).always(status(500)).alternatives(none));
    let under_way = world.start(ask(Site::Segment).always(ok(9.0).after(5_000.0)));
    world.drive_until(4_000.0);
    rotate(&mut world);
    world.drive_until_idle();
    let (at, failure) = world.failure(waiting);
    assert_eq!((at, failure.reason), (4_000.0, Reason::Rotated));
    assert_eq!(world.exhaustions(waiting).len(), 1);
    world.finished_at(under_way);
    assert_ne!(world.failure(elsewhere).1.reason, Reason::Rotated);
}

#[test]
fn r69_a_url_that_was_given_up_for_a_rotation_does_not_rest() {
    let mut world = World::new();
    let request = ask(Site::Segment).url(7).always(status(500));
    world.start(request.clone());
    world.drive_until(100.0);
    rotate(&mut world);
    let again = world.start(request);
    assert_eq!(world.sent_at(again), [100.0]);
}

/// A player that asks again, `pause` ms after each refusal, by whichever of these URLs comes
/// next. Answers how many requests reached the server within a minute.
fn hot_loop(urls: u32, answer: &Answer, pause: f64, alternatives: Alternatives) -> usize {
    let mut world = World::new();
    let mut turn = 0;
    while world.now < MINUTE {
        turn += 1;
        let request = ask(Site::Playlist).url(turn % urls + 1).alternatives(alternatives);
        let id = world.start(request.always(answer.clone()));
        while world.verdict(id).is_none() && world.now < MINUTE {
            world.drive_until(world.now + 10.0);
        }
        world.drive_until(world.now + pause);
    }
    world.sent.len()
}

#[test]
fn r40_a_player_that_asks_again_at_once_for_what_was_denied_gets_a_few_requests_through() {
    for pause in [0.0, 100.0, 1_000.0] {
        let sent = hot_loop(1, &status(401), pause, Alternatives::Unknown);
        assert!((2..=4).contains(&sent), "{sent} of one URL");
        let sent = hot_loop(2, &status(401), pause, Alternatives::Unknown);
        assert!((4..=8).contains(&sent), "{sent} of two");
        let sent = hot_loop(1, &status(403), pause, Alternatives::Some);
        assert!((2..=4).contains(&sent), "{sent} with an alternative");
    }
}

#[test]
fn r40_a_player_that_asks_again_at_once_for_what_is_not_there_is_slowed_down() {
    for code in [404, 410] {
        let sent = hot_loop(1, &status(code), 0.0, Alternatives::Some);
        assert!((10..=17).contains(&sent), "{sent}");
        let sent = hot_loop(2, &status(code), 100.0, Alternatives::Some);
        assert!((10..=34).contains(&sent), "{sent} of two");
    }
}

#[test]
fn r40_a_player_that_asks_again_at_once_of_a_host_that_fails_is_slowed_down() {
    for answer in [reject(), status(500), status(503)] {
        for urls in [1, 2, 5] {
            let sent = hot_loop(urls, &answer, 0.0, Alternatives::Some);
            assert!((5..=60).contains(&sent), "{sent} of {urls} after {answer:?}");
        }
    }
}

#[test]
fn r40_many_callers_of_one_url_that_rests_do_not_add_up() {
    let mut world = World::new();
    let request = ask(Site::Key).url(7).always(status(403));
    let mut ids = Vec::new();
    for _ in 0..50 {
        ids.push(world.start(request.clone()));
        world.drive_until(world.now + 100.0);
    }
    world.drive_until_idle();
    assert!(ids.iter().all(|id| matches!(world.verdict(*id), Some((_, Verdict::Failed(_))))));
    let soon = world.sent.iter().filter(|sent| sent.at <= MINUTE).count();
    assert!(soon <= 8, "{soon} within a minute");
}

#[test]
fn r40_a_rest_is_shown_and_a_success_ends_it() {
    let mut world = World::new();
    let request = ask(Site::Playlist).url(7);
    world.start(request.clone().always(status(404)));
    world.drive_until(100.0);
    let rests = world.start(request.clone());
    let state = world.engine.retry_states().next().expect("it waits");
    assert_eq!((state.request.0, state.attempt), (rests, 0));
    assert_eq!(state.wait, Some(WaitReason::Cooldown));
    assert_eq!(state.next_at, Some(Millis::new(1_020.0)));
    world.drive_until_idle();
    assert_eq!(world.sent_at(rests), [1_020.0]);
    let free = world.start(request);
    assert_eq!(world.sent_at(free), [world.now]);
}

#[test]
fn r40_at_the_end_of_a_rest_one_goes_and_its_success_lets_the_others_go() {
    let mut world = World::new();
    let request = ask(Site::Key).url(7);
    world.start(request.clone().always(status(403)));
    world.drive_until(100.0);
    let ids: Vec<u32> = (0..5).map(|_| world.start(request.clone())).collect();
    world.drive_until(1_050.0);
    assert_eq!(world.sent.len(), 2, "one of the five");
    world.drive_until_idle();
    for id in ids {
        assert!(world.finished_at(id) < 1_400.0);
    }
}

#[test]
fn r40_retry_now_ends_a_rest() {
    let mut world = World::new();
    let request = ask(Site::Playlist).url(7);
    world.start(request.clone().always(status(403)));
    world.drive_until(100.0);
    let rests = world.start(request);
    world.drive_until(200.0);
    world.retry_now();
    world.drive_until_idle();
    assert!(world.sent_at(rests)[0] <= 300.0);
}

#[test]
fn r40_a_request_that_was_aborted_leaves_no_rest() {
    let mut world = World::new();
    let request = ask(Site::Segment).url(7).always(status(500));
    let id = world.start(request.clone());
    world.drive_until(100.0);
    world.abort(id);
    let again = world.start(request);
    assert_eq!(world.sent_at(again), [100.0]);
}
