//! The slow ladder after a spent one (R35).

use holdfast::core::{Alternatives, Config, FailureClass, LogEvent, Millis, Reason, Site};

use crate::common::{World, ask, hang, ok, reject, silent, status};

const MINUTE: f64 = 60_000.0;

const HELD: [Site; 6] =
    [Site::Manifest, Site::Playlist, Site::PlaylistReload, Site::Init, Site::Segment, Site::Key];

#[test]
fn r35_an_outage_of_ten_seconds_is_fatal_for_no_site_that_holds() {
    for site in HELD {
        for answer in [reject(), status(503), status(500), hang()] {
            for seed in 0..10 {
                let mut world = World::seeded(seed);
                world.outage(0, 0.0, 10_000.0, answer.clone());
                let id = world.start(ask(site));
                world.drive_until_idle();
                let at = world.finished_at(id);
                assert!(at < 25_500.0, "{site:?} after {answer:?}: at {at}");
            }
        }
    }
}

#[test]
fn r35_an_outage_of_four_minutes_ends_in_success_with_one_exhaustion() {
    for answer in [reject(), status(502), hang(), silent(10.0)] {
        let mut world = World::new();
        world.outage(0, 0.0, 4.0 * MINUTE, answer.clone());
        let id = world.start(ask(Site::Segment));
        world.drive_until_idle();
        assert!(world.finished_at(id) >= 4.0 * MINUTE);
        let exhaustions = world.exhaustions(id);
        assert_eq!(exhaustions.len(), 1, "{answer:?}");
        assert!(exhaustions[0].1.holding, "{answer:?}");
    }
}

#[test]
fn r35_an_outage_of_ten_minutes_within_a_longer_limit_ends_in_success_with_one_exhaustion() {
    for site in HELD {
        let hold_limit = Millis::new(15.0 * MINUTE);
        let mut world = World::with(Config { hold_limit, ..Config::default() });
        world.outage(0, 0.0, 10.0 * MINUTE, status(503));
        let id = world.start(ask(site));
        world.drive_until_idle();
        let at = world.finished_at(id);
        assert!((10.0 * MINUTE..10.2 * MINUTE).contains(&at), "{site:?}: at {at}");
        assert_eq!(world.exhaustions(id).len(), 1, "{site:?}");
    }
}

#[test]
fn r35_the_hold_ends_after_its_limit() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(status(500)));
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    let held = at - world.exhaustions(id)[0].0;
    assert_eq!(failure.reason, Reason::HoldLimit);
    assert!((580_000.0..=600_000.0).contains(&held), "{held}");
    assert!(!failure.holding);
    assert_eq!(world.exhaustions(id).len(), 1, "and says nothing more");
}

#[test]
fn r35_a_server_that_always_names_a_time_is_given_up_after_the_limit_of_the_hold() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(status(503).retry_after(10_000.0)));
    world.drive_until(1_000_000.0);
    let (at, failure) = world.failure(id);
    let held = at - world.exhaustions(id)[0].0;
    assert_eq!(failure.reason, Reason::HoldLimit);
    assert!((580_000.0..=600_100.0).contains(&held), "{held}");
}

#[test]
fn r35_r88_time_asleep_does_not_count_on_the_hold() {
    let mut world = World::new();
    world.outage(0, 0.0, 3_605_000.0, reject());
    let id = world.start(ask(Site::Segment));
    world.drive_until(MINUTE);
    world.freeze_until(3_600_000.0);
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn r35_a_final_refusal_ends_the_hold() {
    let mut world = World::new();
    world.outage(0, 0.0, MINUTE, status(500));
    let id = world.start(ask(Site::Segment).always(status(404)));
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.class), (Reason::Terminal, FailureClass::NotFound));
    assert!((MINUTE..MINUTE + 6_000.0).contains(&at), "{at}");
}

#[test]
fn r35_a_hold_goes_on_through_a_timeout_after_every_attempt() {
    let mut world = World::new();
    world.outage(0, 0.0, 2.0 * MINUTE, hang());
    let id = world.start(ask(Site::Manifest));
    world.drive_until_idle();
    let at = world.finished_at(id);
    // The attempt that hangs when the outage ends has a bound that is widened to half a minute.
    assert!(at < 2.0 * MINUTE + 31_000.0, "{at}");
}

#[test]
fn the_slow_ladder_asks_about_once_a_segment_and_sooner_at_first() {
    let mut world = World::new();
    world.playback(None, Some(6_000.0));
    let id = world.start(ask(Site::Segment).always(status(500)));
    world.drive_until_idle();
    let held_from = world.exhaustions(id)[0].0;
    let sent = world.sent_at(id);
    for pair in sent.windows(2).filter(|pair| pair[0] > held_from) {
        let gap = pair[1] - pair[0];
        let brisk = pair[0] < held_from + 10_000.0;
        let most = if brisk { 3_500.0 } else { 7_000.0 };
        assert!((500.0..most).contains(&gap), "{gap} ms, {} s after", pair[0] / 1_000.0);
    }
}

#[test]
fn where_no_player_is_known_to_wait_the_slow_ladder_asks_every_five_seconds_at_once() {
    for seed in 0..10 {
        let mut world = World::seeded(seed);
        let id = world.start(ask(Site::Segment).always(status(500)));
        world.drive_until(2.0 * MINUTE);
        let held_from = world.exhaustions(id)[0].0;
        // A refusal comes after 20 ms.
        let ended: Vec<f64> = world.sent_at(id).into_iter().map(|at| at + 20.0).collect();
        let held = ended.windows(2).filter(|pair| pair[0] >= held_from);
        let gaps: Vec<f64> = held.map(|pair| pair[1] - pair[0] - 20.0).collect();
        assert!(gaps.len() > 15, "{gaps:?}");
        let usual = 0.85 * 5_000.0 - 1e-6..=1.15 * 5_000.0;
        assert!(gaps.iter().all(|gap| usual.contains(gap)), "{gaps:?}");
    }
}

#[test]
fn many_held_requests_ask_a_dead_host_no_more_often_than_a_few() {
    let asked = |count| {
        let mut world = World::new();
        for _ in 0..count {
            world.start(ask(Site::Segment).always(status(500)));
        }
        world.drive_until(2.0 * MINUTE);
        world.sent.iter().filter(|sent| sent.at > MINUTE).count()
    };
    let (few, many) = (asked(2), asked(10));
    assert!(many <= few * 2, "{many} probes a minute against {few}");
}

#[test]
fn r35_many_held_requests_are_held_as_long_as_one() {
    let mut world = World::new();
    for _ in 0..100 {
        world.start(ask(Site::Segment).always(status(500)));
    }
    world.drive_until_idle();
    let first = (1..=100).map(|id| world.failure(id).0).fold(f64::INFINITY, f64::min);
    assert!(first > 250_000.0, "{first}");
}

#[test]
fn the_holds_of_one_host_take_turns() {
    let mut world = World::new();
    for _ in 0..4 {
        world.start(ask(Site::Segment).always(status(500)));
    }
    world.drive_until(4.0 * MINUTE);
    let sent: Vec<f64> = world.sent.iter().map(|sent| sent.at).filter(|at| *at > MINUTE).collect();
    assert!(sent.len() > 30, "{sent:?}");
    for pair in sent.windows(2) {
        assert!(pair[1] - pair[0] >= 0.75 * 4_000.0, "{pair:?}");
    }
}

#[test]
fn the_holds_of_one_host_do_not_put_off_those_of_another() {
    let probes = |others| {
        let mut world = World::new();
        let id = world.start(ask(Site::Segment).host(1).always(status(500)));
        for _ in 0..others {
            world.start(ask(Site::Segment).always(status(500)));
        }
        world.drive_until(4.0 * MINUTE);
        world.sent_at(id).len()
    };
    let (alone, beside) = (probes(0), probes(20));
    assert!(alone.abs_diff(beside) <= 10, "{alone} and {beside}");
}

#[test]
fn a_host_that_is_back_ends_every_hold_of_it_and_of_no_other() {
    let mut world = World::new();
    world.outage(0, 0.0, MINUTE, status(500));
    world.outage(1, 0.0, 2.0 * MINUTE, status(500));
    let held: Vec<u32> = (0..5).map(|_| world.start(ask(Site::Segment))).collect();
    let elsewhere = world.start(ask(Site::Segment).host(1));
    world.drive_until_idle();
    let ends: Vec<f64> = held.iter().map(|id| world.finished_at(*id)).collect();
    let first = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let last = ends.iter().copied().fold(0.0, f64::max);
    assert!(last - first < 400.0, "{ends:?}");
    assert!(world.finished_at(elsewhere) > 2.0 * MINUTE);
}

#[test]
fn waits_that_end_with_the_host_do_not_end_in_one_instant() {
    let mut world = World::new();
    world.outage(0, 0.0, MINUTE, status(500));
    for _ in 0..10 {
        world.start(ask(Site::Segment));
    }
    world.drive_until_idle();
    let mut after: Vec<f64> =
        world.sent.iter().map(|sent| sent.at).filter(|at| *at > MINUTE).collect();
    after.dedup();
    assert_eq!(after.len(), 10, "{after:?}");
}

#[test]
fn retry_now_ends_a_hold_at_once() {
    let mut world = World::new();
    world.outage(0, 0.0, MINUTE, status(500));
    let id = world.start(ask(Site::Segment));
    world.drive_until(MINUTE);
    let before = world.sent_at(id).len();
    world.retry_now();
    world.drive_until(MINUTE + 1.0);
    assert_eq!(world.sent_at(id).len(), before + 1);
    assert!(world.events(id).contains(&LogEvent::Hurried));
}

#[test]
fn retry_now_without_a_wait_does_nothing() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(ok(9.0).after(1_000.0)));
    world.drive_until(500.0);
    world.retry_now();
    world.drive_until_idle();
    assert_eq!(world.sent_at(id).len(), 1);
    assert!(!world.events(id).contains(&LogEvent::Hurried));
}

#[test]
fn an_alternative_that_is_declared_during_a_hold_ends_it_with_the_next_failure() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(status(500)));
    world.drive_until(MINUTE);
    world.alternatives(Site::Segment, Alternatives::Some);
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    assert!(at < MINUTE + 7_000.0, "{at}");
    assert_eq!(failure.reason, Reason::Attempts);
}

#[test]
fn what_holds_is_told_to_whoever_looks_on() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(status(500)));
    world.drive_until(MINUTE);
    let states: Vec<_> = world.engine.retry_states().collect();
    assert_eq!(states.len(), 1);
    assert_eq!((states[0].request.0, states[0].site), (id, Site::Segment));
    assert!(states[0].exhausted);
    assert_eq!((states[0].class, states[0].status), (Some(FailureClass::Server), 500));
    assert_eq!(states[0].attempt as usize, world.sent_at(id).len());
}
