//! What users of Shaka Player, dash.js, rx-player, ExoPlayer and video.js have reported, row by row;
//! `docs/field-reports.md` says which is which. This half is about failures that repeat, rights
//! that are missing, and silence; the other is about servers that ask for less, live streams,
//! estimates and licenses.

use holdfast::core::{
    Action, Alternatives, Answer, Config, FailureClass, Hooks, Matter, Millis, Reason, Recovery,
    Rule, Site,
};

use crate::common::{World, ask, ok, play, play_at};

const MINUTE: f64 = 60_000.0;

/// With 404 sent again as often as the ladder of its site has steps.
fn patient(site: Site, attempts: u32) -> Config {
    let rule = Rule { site: Some(site), matter: Matter::Status(404), action: Recovery::Retry };
    let mut config = Config { recovery: vec![rule], log_capacity: 100_000, ..Config::default() };
    config.sites[site as usize].attempts = attempts;
    config.sites[site as usize].deadline = Millis::new(10.0 * MINUTE);
    config.budget.host = 100.0;
    config.budget.source = 100.0;
    config.budget.session = 100.0;
    config
}

/// A world in which requests for segments reject after their ladder.
fn with_elsewhere() -> World {
    let mut world = World::new();
    world.alternatives(Site::Segment, Alternatives::Some);
    world
}

#[test]
fn r10_field_b1_an_abort_in_a_long_delay_is_immediate_and_leaves_nothing() {
    let mut config = Config::default();
    config.sites[Site::Segment as usize].backoff_base = Millis::new(10_000.0);
    config.sites[Site::Segment as usize].backoff_cap = Millis::new(10_000.0);
    for seed in 0..20 {
        let mut world = World::with(Config { seed, ..config.clone() });
        let id = world.scripted(ask(Site::Segment), "503*,abort@500");
        world.drive_until(500.0);
        let calls = world.sent_at(id).len();
        assert_eq!((world.engine.request_count(), world.engine.next_timeout()), (0, None));
        world.drive_until_idle();
        assert_eq!(world.sent_at(id).len(), calls);
    }
}

#[test]
fn r24_field_b2_a_segment_of_a_recording_that_is_not_there_is_asked_for_twice_at_most() {
    let play = play("404*");
    assert_eq!((play.calls(), play.world.failure(play.id).1.reason), (2, Reason::Terminal));
}

#[test]
fn r24_field_b3_b28_what_is_denied_is_asked_for_once() {
    for site in [Site::Manifest, Site::Playlist, Site::Segment, Site::Key] {
        let play = play_at(site, "403*");
        assert_eq!(play.calls(), 1, "{site:?}");
        assert_eq!(play.world.failure(play.id).1.class, FailureClass::Denied);
    }
}

#[test]
fn r17_field_b4_time_outs_in_a_row_end_with_the_deadline_of_the_ladder() {
    let mut config = Config::default();
    let policy = &mut config.sites[Site::Segment as usize];
    policy.headers_timeout = Millis::new(1_000.0);
    policy.first_headers_timeout = Millis::new(1_000.0);
    policy.deadline = Millis::new(3_000.0);
    let mut world = World::with(config);
    world.alternatives(Site::Segment, Alternatives::Some);
    let id = world.scripted(ask(Site::Segment), "hang*");
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    // The attempt that is under way by then is waited for.
    assert!(at <= 3_000.0 + 2_250.0, "{at}");
    assert!(world.sent_at(id).into_iter().all(|at| at <= 3_000.0));
    assert_eq!(failure.class, FailureClass::Timeout);
}

#[test]
fn r17_field_b5_a_link_that_is_slow_is_not_taken_for_dead() {
    let mut config = Config::default();
    config.sites[Site::Segment as usize].stall_timeout = Millis::new(5_000.0);
    let mut world = World::with(config);
    let id = world.scripted(ask(Site::Segment), "drip(20000,5e6)");
    world.drive_until_idle();
    assert!(world.finished_at(id) > 4.0 * MINUTE);
    assert_eq!(world.sent_at(id).len(), 1);
}

#[test]
fn r58_field_b7_a_hook_that_says_no_ends_the_retries() {
    let mut world = World::new();
    world.opinions = vec![(0.0, Answer::No)];
    let id = world.scripted(ask(Site::Segment).hooks(Hooks::SHOULD_RETRY), "503,ok");
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.attempts, failure.status), (1, 503), "and the failure is the server's");
}

#[test]
fn field_b8_a_ladder_of_no_attempts_is_one_attempt_and_no_panic() {
    let mut config = Config::default();
    config.sites[Site::Segment as usize].attempts = 0;
    let mut world = World::with(config);
    world.alternatives(Site::Segment, Alternatives::Some);
    let id = world.scripted(ask(Site::Segment), "503*");
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.attempts, 1);
}

#[test]
fn r13_field_b9_fifteen_retries_are_sixteen_requests() {
    let mut world = World::with(patient(Site::Segment, 16));
    world.alternatives(Site::Segment, Alternatives::Some);
    let id = world.scripted(ask(Site::Segment), "404*");
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.attempts, 16);
    assert_eq!(world.sent.len(), 16);
}

#[test]
fn r10_field_b12_a_request_that_is_aborted_twice_ends_once() {
    let play = play("hang@10,abort@300,abort@400");
    let forgotten = |(_, action): &&(f64, Action)| matches!(action, Action::Forget { .. });
    assert_eq!(play.world.actions.iter().filter(forgotten).count(), 1);
    assert!(play.world.verdict(play.id).is_none());
}

#[test]
fn r10_field_b13_no_retry_fires_after_an_abort() {
    for seed in 0..50 {
        let mut config = Config { seed, ..Config::default() };
        config.sites[Site::Segment as usize].backoff_base = Millis::new(1_000.0);
        let mut world = World::with(config);
        let id = world.scripted(ask(Site::Segment), "503*,abort@100");
        world.drive_until(100.0);
        let calls = world.sent_at(id).len();
        assert!(calls <= 2);
        world.drive_until_idle();
        assert_eq!(world.sent_at(id).len(), calls, "seed {seed}");
    }
}

/// How often two URLs, one a host, are sent in a minute to a player that asks again at once.
fn stubborn(script: &str) -> usize {
    let mut world = World::new();
    world.taped(&format!("host=A {script}"));
    world.taped(&format!("host=B {script}"));
    while world.now < MINUTE {
        for host in 0..2 {
            world.start(ask(Site::Playlist).host(host).url(1 + host));
        }
        world.drive_until(world.now + 1_000.0);
    }
    world.sent.len()
}

#[test]
fn r40_field_b14_two_playlists_that_are_denied_are_asked_for_eight_times_a_minute_at_most() {
    assert!(stubborn("401*") <= 8, "{}", stubborn("401*"));
}

#[test]
fn r40_field_b17_a_playlist_that_is_denied_from_its_second_load_on_is_no_flood() {
    assert!(stubborn("ok,403*") <= 10, "{}", stubborn("ok,403*"));
}

#[test]
fn field_b18_a_host_that_cors_refuses_is_asked_twice_while_others_answer() {
    let mut world = World::new();
    world.scripted(ask(Site::Manifest), "host=B ok");
    world.drive_until_idle();
    let id = world.scripted(ask(Site::Segment), "host=A net*");
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert!(failure.attempts <= 2 && failure.suspect_cors, "{failure:?}");
}

#[test]
fn r10_field_b19_a_new_request_does_not_wait_for_the_retries_of_an_old_one() {
    let mut world = World::with(patient(Site::Manifest, 4));
    world.scripted(ask(Site::Manifest), "404*,abort@700");
    world.drive_until(700.0);
    let id = world.scripted(ask(Site::Manifest), "ok");
    world.drive_until_idle();
    assert_eq!(world.finished_at(id), 770.0);
}

#[test]
fn r13_field_b20_two_retries_are_three_requests_for_a_single_playlist_too() {
    let mut world = World::with(patient(Site::Playlist, 3));
    world.alternatives(Site::Playlist, Alternatives::Some);
    let id = world.scripted(ask(Site::Playlist), "404*");
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.attempts, 3);
}

#[test]
fn r35_field_b21_five_minutes_without_a_server_are_waited_for_where_that_is_wanted() {
    let hold_limit = Millis::new(15.0 * MINUTE);
    let mut world = World::with(Config { hold_limit, log_capacity: 100_000, ..Config::default() });
    let ask = ask(Site::Segment).alternatives(Alternatives::None);
    let id = world.scripted(ask, "net..300000,ok");
    world.drive_until_idle();
    assert!(world.finished_at(id) < 5.0 * MINUTE + 12_000.0);
    let sent = world.sent_at(id);
    let busiest =
        |from: &f64| sent.iter().filter(|at| (*from..from + 30_000.0).contains(*at)).count();
    assert!(sent.iter().map(busiest).max() <= Some(25), "{:?}", sent.iter().map(busiest).max());
    assert_eq!(world.exhaustions(id).len(), 1);
}

#[test]
fn r52_field_b22_the_hook_is_asked_once_a_credential_and_then_it_is_final() {
    for (script, calls) in [("403,ok", 2), ("403*", 2)] {
        let mut world = World::new();
        world.refreshes = vec![(100.0, true)];
        let id = world.scripted(ask(Site::Segment).credential(1), script);
        world.drive_until_idle();
        assert_eq!((world.sent_at(id).len(), world.refresh_asked.len()), (calls, 1), "{script}");
        assert!(world.verdict(id).is_some());
    }
}

#[test]
fn r51_field_b23_twenty_that_are_denied_at_once_share_one_refresh() {
    let mut world = World::new();
    world.refreshes = vec![(100.0, true)];
    for _ in 0..20 {
        world.scripted(ask(Site::Segment).credential(1), "401,ok");
    }
    world.drive_until_idle();
    assert_eq!((world.refresh_asked.len(), world.sent.len()), (1, 40));
}

#[test]
fn r63_field_b27_an_expired_url_is_told_with_its_class_after_one_attempt() {
    let mut world = with_elsewhere();
    world.taped("ok,403*");
    for _ in 0..2 {
        world.start(ask(Site::Segment));
        world.drive_until_idle();
    }
    let told = world.exhaustions(2);
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].1.class, told[0].1.attempts), (FailureClass::Denied, 1));
}

#[test]
fn r50_field_b29_a_playlist_and_a_segment_of_a_live_event_are_refreshed_alike() {
    for site in [Site::PlaylistReload, Site::Segment] {
        let mut world = World::new();
        world.live = true;
        world.playback(None, Some(4_000.0));
        world.refreshes = vec![(100.0, true)];
        let id = world.scripted(ask(site).credential(1), "403,ok");
        world.drive_until_idle();
        assert_eq!((world.sent_at(id).len(), world.refresh_asked.len()), (2, 1), "{site:?}");
        world.finished_at(id);
    }
}

#[test]
fn r17_field_b31_b37_a_silence_is_counted_from_the_last_byte() {
    for script in ["hang@50000,ok", "hang@1,ok"] {
        let play = play(script);
        let cut = play
            .world
            .actions
            .iter()
            .find_map(|(at, action)| matches!(action, Action::Cut { .. }).then_some(*at));
        assert_eq!(cut, Some(5_070.0), "{script}");
        assert!(play.finished());
    }
}

#[test]
fn r17_field_b32_b34_b40_a_body_that_drips_is_never_cut() {
    for script in ["drip(2500,100000)", "drip(10000,1e6)", "drip(6000,3e5)"] {
        let play = play(script);
        assert!(play.finished(), "{script}");
        assert_eq!((play.calls(), play.world.exhaustions(play.id).len()), (1, 0), "{script}");
    }
}

#[test]
fn r17_field_b33_b35_each_site_has_a_bound_of_its_own_for_a_server_that_hangs() {
    for site in Site::ALL {
        let play = play_at(site, "hang,ok");
        let policy = site.defaults();
        let bound = policy.first_headers_timeout.get();
        let cut = play.world.actions.iter().find_map(|(at, action)| {
            matches!(action, Action::Cut { .. } | Action::Fail { .. }).then_some(*at)
        });
        assert_eq!(cut, Some(bound), "{site:?}");
        assert_eq!(play.finished(), policy.attempts > 1, "{site:?}");
    }
}

#[test]
fn r18_field_b38_an_answer_that_is_held_back_on_purpose_is_no_dead_connection() {
    let mut world = World::new();
    world.live = true;
    world.playback(None, Some(2_000.0));
    let held = ask(Site::PlaylistReload).blocking().answers([ok(9.0).after(6_000.0)]);
    let id = world.start(held);
    world.drive_until_idle();
    assert_eq!((world.finished_at(id), world.sent_at(id).len()), (6_050.0, 1));
}

#[test]
fn r17_field_b39_after_a_time_out_loading_goes_on() {
    let play = play("hang,ok");
    assert!(play.finished());
    assert_eq!(play.calls(), 2);
}

#[test]
fn r58_field_b42_a_hook_that_stops_the_retries_is_told_as_exhaustion_at_once() {
    let mut world = World::new();
    world.opinions = vec![(0.0, Answer::No)];
    let id = world.scripted(ask(Site::Segment).hooks(Hooks::SHOULD_RETRY), "503*");
    world.drive_until_idle();
    assert_eq!(world.exhaustions(id)[0].0, 20.0);
    assert_eq!(world.failure(id).0, 20.0);
}
