//! Live playlists: the cadence of failing reloads, and blocking reloads (R18, R31).

use holdfast::core::{Config, Failure, LogEvent, Millis, Site};

use crate::common::{Ask, World, ask, hang, ok, reject, status};

const TARGET: f64 = 4_000.0;

fn live() -> World {
    let mut world = World::new();
    world.playback(None, Some(TARGET));
    world
}

/// The most attempts in any span of one target duration.
fn densest(sent: &[f64]) -> usize {
    let within = |from: f64| sent.iter().filter(|at| (from..from + TARGET).contains(*at)).count();
    sent.iter().map(|from| within(*from)).max().unwrap_or(0)
}

#[test]
fn r31_a_reload_that_fails_is_never_sent_more_than_three_times_a_target_duration() {
    for seed in 0..50 {
        for failure in [status(500), reject(), status(404).after(0.0), status(503)] {
            let mut world = World::seeded(seed);
            world.playback(None, Some(TARGET));
            let id = world.start(ask(Site::PlaylistReload).always(failure));
            world.drive_until(300_000.0);
            assert!(densest(&world.sent_at(id)) <= 3, "{:?}", world.sent_at(id));
        }
    }
}

#[test]
fn r31_after_its_ladder_a_reload_is_sent_once_a_target_duration_at_most() {
    for seed in 0..50 {
        let mut world = World::seeded(seed);
        world.playback(None, Some(TARGET));
        let id = world.start(ask(Site::PlaylistReload).always(status(500)));
        world.drive_until(300_000.0);
        let held_from = world.exhaustions(id)[0].0;
        let sent: Vec<f64> = world.sent_at(id).into_iter().filter(|at| *at > held_from).collect();
        assert!(sent.len() > 40, "never silently given up: {}", sent.len());
        for pair in sent.windows(2) {
            assert!(pair[1] - pair[0] >= TARGET, "{} ms", pair[1] - pair[0]);
        }
    }
}

#[test]
fn r31_the_quick_ladder_of_a_reload_fits_into_a_target_duration() {
    for seed in 0..50 {
        let mut world = World::seeded(seed);
        world.playback(None, Some(TARGET));
        let id = world.start(ask(Site::PlaylistReload).always(status(500)));
        world.drive_until(60_000.0);
        assert!(world.exhaustions(id)[0].0 <= TARGET);
    }
}

#[test]
fn r31_an_hour_of_healthy_reloads_is_one_request_each() {
    let mut world = live();
    world.every(TARGET, 3_600_000.0, &ask(Site::PlaylistReload).always(ok(2_000.0)));
    world.drive_until_idle();
    assert_eq!(world.sent.len(), 900);
}

#[test]
fn r35_a_reload_survives_an_outage_of_four_minutes() {
    let mut world = live();
    world.outage(0, 0.0, 240_000.0, reject());
    let id = world.start(ask(Site::PlaylistReload));
    world.drive_until_idle();
    let at = world.finished_at(id);
    assert!((240_000.0..247_000.0).contains(&at), "{at}");
    assert_eq!(world.exhaustions(id).len(), 1);
}

#[test]
fn r31_a_reload_takes_no_turns_with_the_holds_of_its_host() {
    let mut world = live();
    for _ in 0..20 {
        world.start(ask(Site::Segment).always(status(500)));
    }
    let id = world.start(ask(Site::PlaylistReload).always(status(500)));
    world.drive_until(240_000.0);
    let held_from = world.exhaustions(id)[0].0;
    let sent: Vec<f64> = world.sent_at(id).into_iter().filter(|at| *at > held_from).collect();
    // The host is down, and its breaker lets one probe through at a time.
    assert!(sent.len() > 25, "{}", sent.len());
    for pair in sent.windows(2) {
        let gap = pair[1] - pair[0];
        assert!((TARGET..3.0 * TARGET).contains(&gap), "{gap} ms");
    }
}

#[test]
fn r18_a_blocking_reload_that_is_held_for_nearly_three_target_durations_is_let_be() {
    let mut world = live();
    let held = ok(2_000.0).after(2.9 * TARGET);
    let id = world.start(ask(Site::PlaylistReload).blocking().always(held));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn r18_a_blocking_reload_that_hangs_is_sent_again_after_three_target_durations_and_two_seconds() {
    let mut world = live();
    let id = world.start(ask(Site::PlaylistReload).blocking().answers([hang(), ok(9.0)]));
    world.drive_until_idle();
    let wait = world.sent_at(id)[1] - 3.0 * TARGET - 2_000.0;
    assert!((0.0..=2.0 * TARGET).contains(&wait), "{wait}");
}

#[test]
fn r18_a_refusal_after_a_held_wait_is_tried_again_as_a_plain_reload() {
    let mut world = live();
    let refused = status(503).after(3.0 * TARGET);
    let answers = [refused, hang(), ok(2_000.0)];
    let id = world.start(ask(Site::PlaylistReload).blocking().answers(answers));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    let plain = Site::PlaylistReload.defaults().headers_timeout.get();
    assert!(sent[2] - sent[1] < plain + 2.0 * TARGET, "the bound of a plain reload: {sent:?}");
    world.finished_at(id);
}

/// Whether the answer to such reloads, after they were sent again, ended an outage.
fn ends_an_outage(reload: &Ask, seed: u64) -> bool {
    let mut world = World::seeded(seed);
    world.playback(None, Some(TARGET));
    // A request that holds and says nothing of its host.
    let held = world.start(ask(Site::Segment).always(status(408)));
    world.drive_until(60_000.0);
    for _ in 0..3 {
        world.start(reload.clone());
    }
    world.drive_until(90_000.0);
    world.events(held).contains(&LogEvent::Hurried)
}

#[test]
fn r18_a_wait_that_was_held_back_is_no_evidence_against_the_host() {
    let reload = ask(Site::PlaylistReload).answers([hang(), ok(2_000.0)]);
    // A probe that is due just then is not hurried, so one seed proves little.
    let ends = (0..10).any(|seed| ends_an_outage(&reload, seed));
    assert!(ends, "three plain ones are an outage");
    let reload = reload.blocking();
    assert!(!(0..10).any(|seed| ends_an_outage(&reload, seed)));
}

#[test]
fn r18_a_long_bound_of_the_site_is_not_shortened_by_blocking() {
    let mut config = Config::default();
    let policy = &mut config.sites[Site::PlaylistReload as usize];
    policy.headers_timeout = Millis::from_secs(60.0);
    policy.first_headers_timeout = Millis::from_secs(60.0);
    let mut world = World::with(config);
    world.playback(None, Some(TARGET));
    let held = ok(2_000.0).after(59_000.0);
    let id = world.start(ask(Site::PlaylistReload).blocking().always(held));
    world.drive_until_idle();
    assert_eq!(world.finished_at(id), 59_050.0);
}

#[test]
fn a_failing_reload_tells_its_exhaustion_and_goes_on() {
    let mut world = live();
    let id = world.start(ask(Site::PlaylistReload).always(status(500)));
    world.drive_until(60_000.0);
    let told: Vec<Failure> = world.exhaustions(id).into_iter().map(|(_, told)| told).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].holding);
    assert_eq!(world.verdict(id), None);
}
