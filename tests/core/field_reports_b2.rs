//! The second half of what users of other players have reported (`docs/field-reports.md`): servers
//! that ask for less, live streams, networks that go, estimates and licenses.

use holdfast::core::{
    Alternatives, Config, FailureClass, Health, Millis, Reason, RetryState, Site, WaitReason,
};

use crate::common::{World, ask, play, play_at};

const TARGET: f64 = 4_000.0;
const MINUTE: f64 = 60_000.0;

fn live(target: f64) -> World {
    let mut world = World::new();
    world.live = true;
    world.playback(None, Some(target));
    world
}

fn gap(sent: &[f64]) -> f64 {
    sent[1] - sent[0] - 20.0
}

#[test]
fn r26_field_b43_a_server_that_is_busy_is_waited_for_and_the_jitter_goes_upward_only() {
    for script in [
        "503{Retry-After:5},ok",
        "503{Date:Mon, 30 Nov 2026 12:00:00 GMT;Retry-After:Mon, 30 Nov 2026 12:00:05 GMT},ok",
    ] {
        for seed in 0..50 {
            let mut world = World::seeded(seed);
            let id = world.scripted(ask(Site::Segment), script);
            world.drive_until_idle();
            world.finished_at(id);
            let gap = gap(&world.sent_at(id));
            assert!((5_000.0..=6_250.0).contains(&gap), "{script}: {gap}");
        }
    }
}

#[test]
fn r26_field_b44_a_wait_of_a_day_is_given_up_with_its_time_and_never_cut_short() {
    let play = play("429{Retry-After:2},ok");
    assert!(play.finished());
    assert!((2_000.0..=2_400.0).contains(&gap(&play.sent())), "{:?}", play.sent());
    let play = self::play("429{Retry-After:86400}");
    let (at, failure) = play.world.failure(play.id);
    assert_eq!((at, failure.attempts, failure.reason), (20.0, 1, Reason::RetryAfter));
    assert_eq!(failure.retry_at, Some(Millis::new(20.0 + 86_400_000.0)));
}

#[test]
fn r13_field_b45_a_thousand_clients_come_back_spread_over_the_whole_delay() {
    let mut returns: Vec<f64> = Vec::new();
    for seed in 0..1_000 {
        let mut world = World::seeded(seed);
        let id = world.scripted(ask(Site::Segment), "503,ok");
        world.drive_until_idle();
        returns.push(gap(&world.sent_at(id)));
    }
    for fifth in 0..5 {
        let from = 80.0 * f64::from(fifth);
        let count = returns.iter().filter(|at| (from..from + 80.0).contains(*at)).count();
        assert!((100..=400).contains(&count), "{count} from {from}");
    }
}

#[test]
fn r69_field_b46_a_change_of_priority_ends_the_wait_for_the_old_host() {
    let mut world = World::new();
    world.alternatives(Site::Segment, Alternatives::Some);
    let old = world.scripted(ask(Site::Segment), "host=A 503*");
    world.at(300.0, |world| {
        world.engine.handle_rotation(0, Millis::new(world.now));
        world.scripted(ask(Site::Segment), "host=B ok");
    });
    world.drive_until_idle();
    let (at, failure) = world.failure(old);
    assert!(at <= 320.0 && failure.reason == Reason::Rotated, "{at}, {failure:?}");
    assert_eq!(world.sent_at(2), [300.0]);
}

#[test]
fn r38_field_b47_a_host_that_failed_is_tried_again_after_its_time() {
    let mut world = World::new();
    world.alternatives(Site::Segment, Alternatives::Some);
    for _ in 0..6 {
        world.scripted(ask(Site::Segment), "host=A 503*");
    }
    world.drive_until(2_000.0);
    assert_eq!(world.host(0).health.health, Health::Open);
    world.drive_until(10_000.0);
    let id = world.scripted(ask(Site::Segment), "host=A ok");
    world.drive_until_idle();
    assert_eq!(world.finished_at(id), 10_070.0);
    assert_eq!(world.host(0).health.health, Health::Closed);
}

#[test]
fn r42_field_b49_a_reset_forgets_all_and_leads_to_no_flood() {
    let mut world = World::new();
    world.alternatives(Site::Segment, Alternatives::Some);
    world.taped("503*");
    for reset in 0..5 {
        let before = world.sent.len();
        for url in 1..=5 {
            world.start(ask(Site::Segment).url(url));
        }
        world.drive_until(world.now + 20_000.0);
        let calls = world.sent.len() - before;
        assert!((1..=20).contains(&calls), "{calls} after {reset} resets");
        world.engine.handle_reset_health(None, Millis::new(world.now));
        while world.engine.poll().is_some() {}
        assert_eq!(world.host(0).health.health, Health::Closed);
        assert_eq!((world.host(0).health.failures, world.host(0).health.trips), (0, 0));
    }
}

#[test]
fn r24_field_b51_a_live_playlist_that_is_gone_for_a_moment_is_read_on() {
    let mut world = live(TARGET);
    world.taped("ok,404,404,ok");
    for _ in 0..2 {
        let id = world.start(ask(Site::PlaylistReload).url(7));
        world.drive_until(world.now + 2.0 * TARGET);
        world.finished_at(id);
    }
    assert_eq!(world.sent.len(), 4);
    assert_eq!(world.host(0).health.health, Health::Closed);
}

#[test]
fn r38_field_b53_how_long_a_host_is_left_alone_is_a_matter_of_configuration() {
    let opened = |base: f64| {
        let mut config = Config::default();
        config.breaker.open_base = Millis::new(base);
        let mut world = World::with(config);
        world.alternatives(Site::Segment, Alternatives::Some);
        for _ in 0..6 {
            world.scripted(ask(Site::Segment), "503*");
        }
        world.drive_until(2_000.0);
        let health = world.host(0).health;
        (health.retry_at.expect("open") - health.opened_at.expect("open")).get()
    };
    assert!((7_500.0..=12_500.0).contains(&opened(10_000.0)));
    assert!((15_000.0..=25_000.0).contains(&opened(20_000.0)));
}

#[test]
fn r71_field_b54_what_is_gone_is_never_asked_for_again_and_a_beacon_is_sent_once() {
    let mut world = World::new();
    world.taped("410*");
    for _ in 0..5 {
        world.start(ask(Site::Steering).url(7));
        world.drive_until_idle();
    }
    assert_eq!(world.sent.len(), 1);
    for script in ["429{Retry-After:1}", "410", "503", "net"] {
        assert_eq!(play_at(Site::Other, script).calls(), 1, "{script}");
    }
}

#[test]
fn field_b56_b64_an_outage_says_that_there_is_no_network_and_moves_nothing() {
    let mut world = World::new();
    world.online(false);
    let ids: Vec<u32> = (0..3).map(|_| world.scripted(ask(Site::Segment), "net*")).collect();
    world.drive_until(4.0 * MINUTE);
    let states: Vec<RetryState> = world.engine.retry_states().collect();
    assert_eq!(states.len(), 3);
    for state in states {
        assert_eq!(state.class, Some(FailureClass::Offline));
        assert_eq!(state.wait, Some(WaitReason::Offline));
    }
    assert!(ids.into_iter().all(|id| world.verdict(id).is_none()), "none is given up");
    assert_eq!(world.host(0).health.health, Health::Closed);
}

#[test]
fn field_b57_b60_what_waits_for_the_network_goes_on_with_it() {
    for back in [5_000.0, 60_000.0] {
        let play = play(&format!("offline@0,net..{back},online@{back},ok"));
        assert!(play.world.finished_at(play.id) < back + 300.0);
        assert_eq!(play.calls(), 2);
    }
}

#[test]
fn r35_field_b58_eight_seconds_of_a_broken_network_are_fatal_for_nobody() {
    for site in [Site::Manifest, Site::Playlist, Site::Segment, Site::Key] {
        // Nobody has told how long segments are: they are asked for every five seconds or so.
        let latest = 8_000.0 + site.defaults().backoff_cap.get().max(5_750.0) + 500.0;
        let play = play_at(site, "net..8000,ok");
        assert!(play.world.finished_at(play.id) < latest, "{site:?}");
        assert!(play_at(site, "net,net,net,ok").finished(), "{site:?}");
    }
}

#[test]
fn r31_field_b61_the_cadence_of_reloads_survives_one_that_fails() {
    let mut world = live(2_000.0);
    world.taped("ok,503,ok");
    for load in 0..3 {
        let id = world.start(ask(Site::PlaylistReload).url(7));
        world.drive_until(f64::from(load + 1) * 2_000.0);
        world.finished_at(id);
    }
    assert_eq!(world.sent.len(), 4);
}

#[test]
fn r35_field_b62_five_errors_of_a_live_playlist_in_a_row_are_not_final() {
    let mut world = live(TARGET);
    world.taped("ok,503 x5,ok");
    for _ in 0..2 {
        let id = world.start(ask(Site::PlaylistReload).url(7));
        world.drive_until(world.now + 30_000.0);
        world.finished_at(id);
    }
    assert_eq!(world.sent.len(), 7);
}

#[test]
fn r34_r63_field_b63_a_minute_of_failing_reloads_is_told_once_and_shown_all_the_while() {
    let mut world = live(TARGET);
    let id = world.scripted(ask(Site::PlaylistReload), "503..60000,ok");
    world.drive_until(30_000.0);
    let told = world.exhaustions(id);
    assert_eq!(told.len(), 1);
    assert!(told[0].1.holding && told[0].1.elapsed.get() > 0.0);
    let state = world.engine.retry_states().next().expect("it goes on");
    assert!(state.exhausted && state.next_at.is_some() && state.status == 503, "{state:?}");
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.exhaustions(id).len(), 1);
}

/// The estimate in kbit/s after so many requests with this script.
fn estimate(site: Site, script: &str, count: u32) -> Option<f64> {
    let mut world = World::new();
    for _ in 0..count {
        world.scripted(ask(site), script);
        world.drive_until_idle();
    }
    world.engine.estimator().estimate().map(|estimate| estimate / 1_000.0)
}

#[test]
fn r65_field_b67_the_estimate_is_that_of_real_bytes() {
    let estimate = estimate(Site::Segment, "drip(2.5e6,2.5e6)", 3).expect("enough was seen");
    assert!(estimate > 15_000.0, "{estimate}");
}

#[test]
fn r2_field_b68_the_time_until_the_headers_is_in_no_sample() {
    let estimate = estimate(Site::Segment, "ok(500000)@1000", 1).expect("enough was seen");
    assert!((3_900.0..=4_100.0).contains(&estimate), "{estimate}");
}

#[test]
fn r65_field_b69_small_samples_of_audio_add_up_to_the_rate_of_the_link() {
    let estimate = estimate(Site::Segment, "drip(18750,20000)", 20).expect("enough was seen");
    assert!((125.0..=175.0).contains(&estimate), "{estimate}");
}

#[test]
fn r65_field_b71_a_manifest_is_too_small_for_a_sample() {
    let mut world = World::new();
    world.scripted(ask(Site::Segment), "drip(500000,500000)");
    world.drive_until_idle();
    let before = world.engine.estimator().estimate();
    world.scripted(ask(Site::Manifest), "ok(3000)");
    world.drive_until_idle();
    assert_eq!(world.engine.estimator().estimate(), before);
}

#[test]
fn r77_field_b76_a_license_is_not_sent_again_where_it_was_created_and_is_where_the_server_failed() {
    let created = play_at(Site::License, "201(500)");
    assert!(created.finished());
    assert_eq!(created.calls(), 1);
    let failed = play_at(Site::License, "500,ok");
    assert!(failed.finished());
    assert_eq!(failed.calls(), 2);
}

#[test]
fn r17_field_b77_a_license_that_hangs_is_asked_for_again_within_its_own_bounds() {
    let play = play_at(Site::License, "hang,ok");
    assert!(play.finished());
    assert!((15_000.0..20_000.0).contains(&play.sent()[1]), "{:?}", play.sent());
}

#[test]
fn r64_field_b80_a_transfer_that_was_aborted_is_no_sample() {
    let mut world = World::new();
    world.scripted(ask(Site::Segment), "drip(100000,1e6),abort@3000");
    world.drive_until_idle();
    assert_eq!(world.engine.estimator().estimate(), None);
}

#[test]
fn r63_field_b81_exhaustion_is_told_once_and_shown() {
    let mut world = World::new();
    let id = world.scripted(ask(Site::Segment).alternatives(Alternatives::None), "503*");
    world.drive_until(MINUTE);
    assert_eq!(world.exhaustions(id).len(), 1);
    assert_eq!(world.exhaustions(id)[0].1.attempts, 4);
    assert!(world.engine.retry_states().next().is_some_and(|state| state.exhausted));
    world.drive_until_idle();
    assert_eq!(world.exhaustions(id).len(), 1);
    assert_eq!(world.failure(id).1.reason, Reason::HoldLimit);
}

#[test]
fn r5_field_b82_every_site_is_retried_by_the_same_engine_but_beacons() {
    for site in Site::ALL {
        let play = play_at(site, "503,ok");
        let calls = if site == Site::Other { 1 } else { 2 };
        assert_eq!((play.calls(), play.finished()), (calls, site != Site::Other), "{site:?}");
    }
}
