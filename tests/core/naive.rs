//! The naive preset: what a player does by itself, and no more (R7).

use holdfast::core::{
    Action, Alternatives, Config, Delivery, Engine, FailureClass, Health, Hooks, LogEvent, Marks,
    Millis, Reason, RequestId, ResponseFacts, Site, StartRequest, Timer, Wanted,
};

use crate::common::{Answer, World, ask, hang, ok, page, reject, silent, status, truncated};

/// The engine with the preset.
fn naive() -> World {
    World::with(Config { naive: true, log_capacity: 100_000, ..Config::default() })
}

/// The sites that the preset repeats.
fn sites() -> impl Iterator<Item = Site> {
    Site::ALL.into_iter().filter(|site| *site != Site::Other)
}

/// 1, 2 and 4 s after failures that take 20 ms.
const GOLDEN: [f64; 4] = [0.0, 1_020.0, 3_040.0, 7_060.0];

#[test]
fn r7_failures_of_the_server_and_of_the_network_are_repeated_after_one_two_and_four_seconds() {
    let mut answers: Vec<Answer> = (500..=599).map(status).collect();
    answers.push(reject());
    for site in sites() {
        for answer in &answers {
            let mut world = naive();
            let id = world.start(ask(site).always(answer.clone()));
            world.drive_until_idle();
            assert_eq!(world.sent_at(id), GOLDEN, "{site:?} after {answer:?}");
            let (at, failure) = world.failure(id);
            assert_eq!((at, failure.reason), (7_080.0, Reason::Attempts));
            assert_eq!((failure.attempts, failure.holding), (4, false));
        }
    }
}

#[test]
fn r7_the_timeline_is_the_same_with_every_seed() {
    for seed in 0..20 {
        let mut world = World::with(Config { naive: true, seed, ..Config::default() });
        let id = world.start(ask(Site::Segment).always(status(500)));
        world.drive_until_idle();
        assert_eq!(world.sent_at(id), GOLDEN);
    }
}

#[test]
fn r7_every_4xx_is_final_with_and_without_a_time_to_come_back() {
    for site in sites() {
        for code in 400..=499 {
            for answer in [status(code), status(code).retry_after(2_000.0)] {
                let mut world = naive();
                world.live = true;
                world.playback(None, Some(4_000.0));
                let id = world.start(ask(site).always(answer).directives());
                world.drive_until_idle();
                let (at, failure) = world.failure(id);
                assert_eq!((at, failure.reason), (20.0, Reason::Terminal), "{site:?} {code}");
                assert_eq!(failure.status, code);
            }
        }
    }
}

#[test]
fn r7_a_time_to_come_back_changes_nothing() {
    // Without the world, whose contract holds every other engine to that time.
    let mut engine = Engine::new(Config { naive: true, ..Config::default() });
    let id = RequestId(1);
    let start = StartRequest {
        id,
        site: Site::Segment,
        host: 0,
        delivery: Delivery::Buffered,
        idempotent: true,
        expects_body: true,
        blocking: false,
        alternatives: Alternatives::Unknown,
        marks: Marks::default(),
        wanted: Wanted::default(),
    };
    engine.handle_start(start, Millis::ZERO);
    let retry_after = Some(Millis::new(60_000.0));
    let busy = ResponseFacts { retry_after, ..ResponseFacts::of(503) };
    engine.handle_response(id, 1, busy, Millis::ZERO);
    assert_eq!(engine.next_timeout(), Some((Millis::new(1_000.0), Timer::Retry)));
}

#[test]
fn r7_silence_and_lost_bodies_are_failures_of_the_network() {
    for answer in [hang(), silent(9.0), truncated(9.0)] {
        let mut world = naive();
        let id = world.start(ask(Site::Segment).answers([answer.clone(), ok(9.0)]));
        world.drive_until_idle();
        world.finished_at(id);
        let failed = world
            .actions
            .iter()
            .find_map(|(at, action)| matches!(action, Action::Failed { .. }).then_some(*at));
        assert_eq!(world.sent_at(id)[1] - failed.unwrap_or_default(), 1_000.0, "{answer:?}");
    }
    let mut world = naive();
    let id = world.start(ask(Site::Segment).always(page()));
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.reason, Reason::Terminal, "a page is no failure of either");
}

#[test]
fn r7_what_the_browser_says_of_the_network_changes_nothing() {
    let mut world = naive();
    world.online(false);
    let id = world.start(ask(Site::Segment).always(reject()));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), GOLDEN);
    assert_eq!(world.failure(id).1.class, FailureClass::Offline);
    let mut world = naive();
    let id = world.start(ask(Site::Segment).always(status(500)));
    world.at(500.0, |world| world.online(false));
    world.at(2_000.0, |world| world.online(true));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), GOLDEN);
}

#[test]
fn r7_no_breaker_opens_and_no_budget_is_spent() {
    let mut world = naive();
    let ids: Vec<u32> =
        (0..100).map(|_| world.start(ask(Site::Segment).always(reject()))).collect();
    world.drive_until_idle();
    for id in ids {
        assert_eq!(world.sent_at(id), GOLDEN);
    }
    assert_eq!(world.host(0).health.health, Health::Closed);
    assert!(world.engine.log().all(|entry| entry.event != LogEvent::Health));
}

#[test]
fn r7_the_success_of_another_request_hurries_nobody() {
    let mut world = naive();
    let ids: Vec<u32> =
        (0..5).map(|_| world.start(ask(Site::Segment).always(status(500)))).collect();
    world.every(300.0, 6_000.0, &ask(Site::Segment));
    world.drive_until_idle();
    for id in ids {
        assert_eq!(world.sent_at(id), GOLDEN);
    }
}

#[test]
fn r7_reloads_of_one_playlist_are_not_merged() {
    let mut world = naive();
    let failing = ask(Site::PlaylistReload).url(7).always(status(500));
    let first = world.start(failing.clone());
    world.drive_until(500.0);
    let second = world.start(failing);
    world.drive_until_idle();
    assert_eq!(world.sent_at(first), GOLDEN);
    assert_eq!(world.sent_at(second), GOLDEN.map(|at| at + 500.0));
}

#[test]
fn r7_nothing_is_held_refreshed_asked_or_remembered() {
    let hooks = Hooks(
        Hooks::SHOULD_RETRY.0
            | Hooks::REFRESH_TOKEN.0
            | Hooks::REFRESH_LICENSE.0
            | Hooks::REFRESH_BEFORE_RETRY.0,
    );
    for answer in [status(403), status(500), status(429)] {
        for site in [Site::Segment, Site::License] {
            let mut world = naive();
            let request = ask(site).url(7).credential(1).hooks(hooks).always(answer.clone());
            let request = request.alternatives(Alternatives::None);
            let id = world.start(request.clone());
            world.drive_until_idle();
            let (ended, failure) = world.failure(id);
            assert!(!failure.holding && !world.exhaustions(id)[0].1.holding);
            assert!(world.asked.is_empty() && world.refresh_asked.is_empty(), "{answer:?}");
            let again = world.start(request);
            assert_eq!(world.sent_at(again), [ended], "sent again at once");
        }
    }
}

#[test]
fn r7_a_beacon_is_sent_once_here_too() {
    for answer in [status(500), reject()] {
        let mut world = naive();
        let id = world.start(ask(Site::Other).always(answer));
        world.drive_until_idle();
        assert_eq!(world.sent_at(id), [0.0]);
    }
}

#[test]
fn r7_bytes_that_were_released_and_what_must_not_be_sent_twice_are_not_repeated() {
    let mut world = naive();
    let released = world.start(ask(Site::Segment).streaming().always(truncated(9.0)));
    let once = world.start(ask(Site::License).once_only().always(status(500)));
    world.drive_until_idle();
    assert_eq!(world.failure(released).1.reason, Reason::Released);
    assert_eq!(world.failure(once).1.reason, Reason::NotIdempotent);
    assert_eq!(world.sent.len(), 2);
}

#[test]
fn r7_the_full_engine_differs_where_it_should() {
    let asked = |answer: Answer| {
        let mut world = World::new();
        let id = world.start(ask(Site::Segment).answers([answer, ok(9.0)]));
        world.drive_until_idle();
        (world.sent_at(id), world.verdict(id))
    };
    for code in [408, 425, 429] {
        assert_eq!(asked(status(code)).0.len(), 2, "{code} is repeated");
    }
    let (sent, _) = asked(status(503).retry_after(5_000.0));
    assert!(sent[1] >= 5_020.0, "a server is listened to");
    let (sent, _) = asked(status(500));
    assert_ne!(sent[1], GOLDEN[1], "jitter");
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(status(500)));
    world.drive_until(60_000.0);
    assert!(world.exhaustions(id)[0].1.holding, "a hold");
    assert_eq!(world.verdict(id), None);
}
