//! What users of hls.js have reported, row by row; `docs/field-reports.md` says which is which.

use holdfast::core::{Config, LogEvent, Matter, Millis, Recovery, Rule, Site};

use crate::common::{World, ask, ok, play, play_at};

const TARGET: f64 = 4_000.0;

/// A live stream with segments of four seconds.
fn live() -> World {
    let mut world = World::new();
    world.live = true;
    world.playback(None, Some(TARGET));
    world
}

fn with_rule(site: Site, status: u16, action: Recovery) -> Config {
    let rule = Rule { site: Some(site), matter: Matter::Status(status), action };
    Config { recovery: vec![rule], log_capacity: 100_000, seed: 1, ..Config::default() }
}

fn gaps(sent: &[f64]) -> Vec<f64> {
    sent.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn r24_field_a1_a_live_segment_that_is_refused_until_it_is_published_is_asked_for_in_its_time() {
    let mut world = live();
    let id = world.scripted(ask(Site::Segment), "403..2000,ok");
    world.drive_until_idle();
    world.finished_at(id);
    let gaps = gaps(&world.sent_at(id));
    assert!(gaps.len() <= 2 && gaps.iter().all(|gap| *gap >= 0.5 * TARGET), "{gaps:?}");
}

#[test]
fn r24_field_a2_a_live_404_is_repeated_as_the_site_says() {
    let mut world = live();
    let id = world.scripted(ask(Site::Segment), "404,404,ok");
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.sent_at(id).len(), 3);
}

#[test]
fn r13_field_a3_a_segment_that_is_never_there_is_not_asked_for_without_a_delay() {
    for live in [true, false] {
        let mut world = World::new();
        world.live = live;
        world.playback(None, Some(TARGET));
        world.taped("404*");
        for _ in 0..20 {
            let id = world.start(ask(Site::Segment).url(7));
            while world.verdict(id).is_none() {
                world.drive_until(world.now + 10.0);
            }
        }
        let sent: Vec<f64> = world.sent.iter().map(|sent| sent.at).collect();
        let least = gaps(&sent).into_iter().fold(f64::INFINITY, f64::min);
        assert!(least >= 400.0, "{least}, live: {live}");
    }
}

#[test]
fn r5_field_a4_a_manifest_that_is_not_ready_is_waited_for_where_its_site_says_so() {
    let mut world = World::with(with_rule(Site::Manifest, 404, Recovery::NotReady));
    let id = world.scripted(ask(Site::Manifest), "404..5000,ok");
    world.drive_until_idle();
    assert!(world.finished_at(id) < 6_000.0);
    assert_eq!(world.sent_at(id).len(), 2);
}

#[test]
fn r5_field_a5_the_delays_of_a_manifest_are_those_of_its_policy_each_time_and_logged() {
    let mut config = with_rule(Site::Manifest, 404, Recovery::Retry);
    let policy = &mut config.sites[Site::Manifest as usize];
    policy.backoff_base = Millis::new(5_000.0);
    policy.backoff_cap = Millis::new(5_000.0);
    let mut world = World::with(config);
    let id = world.scripted(ask(Site::Manifest), "404,404,404,ok");
    world.drive_until_idle();
    world.finished_at(id);
    let waits: Vec<_> = world
        .entries(id)
        .into_iter()
        .filter(|entry| entry.event == LogEvent::Waiting)
        .map(|entry| entry.value)
        .collect();
    let gaps = gaps(&world.sent_at(id));
    assert_eq!(waits.len(), 3);
    for (wait, gap) in waits.iter().zip(gaps) {
        assert!((gap - wait - 20.0).abs() < 1e-6 && *wait <= 5_000.0, "{wait}, {gap}");
    }
}

#[test]
fn r19_field_a7_one_503_is_never_seen_by_the_player() {
    let play = play("503,ok");
    assert!(play.finished());
    assert_eq!((play.calls(), play.world.exhaustions(play.id).len()), (2, 0));
}

#[test]
fn r17_field_a8_the_attempt_after_a_time_out_counts_whatever_the_cut_one_still_reports() {
    let mut world = World::new();
    world.keep_leftovers();
    let id =
        world.start(ask(Site::Segment).answers([ok(9.0).after(8_100.0), ok(9.0).after(3_000.0)]));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    assert_eq!((sent.len(), world.finished_at(id)), (2, sent[1] + 3_050.0));
}

#[test]
fn r19_field_a10_two_500s_are_retried_by_the_one_who_retries() {
    let play = play("500,500,ok");
    assert!(play.finished());
    assert_eq!(play.calls(), 3);
}

#[test]
fn r13_field_a11_a_connection_that_breaks_in_a_tunnel_is_backed_off_from_though_the_browser_is_online()
 {
    let play = play("net,net,ok");
    assert!(play.finished());
    assert!(gaps(&play.sent()).into_iter().all(|gap| gap >= 70.0));
}

#[test]
fn p4_field_a12_without_a_network_no_segment_is_sent_twice_and_all_go_on_when_it_is_back() {
    let mut world = World::new();
    let script = "offline@0,net..10000,online@10000,ok";
    let ids: Vec<u32> = (0..20).map(|_| world.scripted(ask(Site::Segment), script)).collect();
    world.drive_until(9_999.0);
    assert_eq!(world.sent.len(), 20);
    world.drive_until_idle();
    let again: Vec<f64> = ids.iter().map(|id| world.sent_at(*id)[1]).collect();
    assert!(again.iter().all(|at| (10_050.0..10_200.0).contains(at)), "{again:?}");
    assert!(again.windows(2).any(|pair| pair[0] != pair[1]), "not all in the same instant");
    for id in ids {
        world.finished_at(id);
    }
}

#[test]
fn r35_field_a13_a_live_playlist_outlives_half_a_minute_without_a_network_like_a_recording() {
    for site in [Site::PlaylistReload, Site::Playlist, Site::Segment] {
        let mut world = live();
        let id = world.scripted(ask(site), "net,offline@10,net..30000,online@30000,ok");
        world.drive_until_idle();
        assert!(world.finished_at(id) < 31_000.0, "{site:?}");
        assert_eq!(world.exhaustions(id).len(), 0, "{site:?}");
    }
}

#[test]
fn r24_field_a16_one_refused_connection_is_no_reason_to_stop() {
    let play = play_at(Site::Manifest, "net,ok");
    assert!(play.finished());
    assert_eq!(play.calls(), 2);
}

#[test]
fn r35_field_a17_a_live_stream_goes_on_by_itself_after_a_minute_of_503() {
    let mut world = live();
    let reload = world.scripted(ask(Site::PlaylistReload), "503..60000,ok");
    let segment = world.start(ask(Site::Segment));
    world.drive_until_idle();
    for id in [reload, segment] {
        assert!(world.finished_at(id) < 60_000.0 + 2.0 * TARGET);
    }
}

#[test]
fn r17_field_a18_a56_a_body_that_stops_at_two_fifths_is_cut_for_its_silence() {
    let play = play("hang@400000,ok");
    assert!(play.finished());
    let sent = play.sent();
    assert_eq!(sent.len(), 2);
    assert!(sent[1] < 7_000.0, "five seconds of silence and a delay: {sent:?}");
}

#[test]
fn r65_field_a21_the_estimate_follows_the_link_down_and_up_again() {
    let mut world = World::new();
    let mut estimate = |megabits: f64, count: u32| {
        for _ in 0..count {
            let rate = megabits * 125_000.0;
            world.scripted(ask(Site::Segment), &format!("drip({rate},{rate})"));
            world.drive_until_idle();
        }
        world.engine.estimator().estimate().expect("enough was seen") / 1e6
    };
    assert!(estimate(25.0, 10) > 20.0);
    assert!(estimate(0.7, 10) < 2.0);
    assert!(estimate(25.0, 10) > 15.0);
}

#[test]
fn r64_field_a23_what_is_too_small_or_aborted_is_no_sample() {
    let mut world = World::new();
    let before = "drip(500000,500000)";
    world.scripted(ask(Site::Segment), before);
    world.drive_until_idle();
    let estimate = world.engine.estimator().estimate();
    assert!(estimate.is_some());
    for script in ["ok(1000)@60", "hang,abort@60", "hang@0,abort@200"] {
        world.scripted(ask(Site::Segment), script);
        world.drive_until_idle();
        assert_eq!(world.engine.estimator().estimate(), estimate, "{script}");
    }
}

#[test]
fn r10_field_a24_what_has_succeeded_is_not_aborted_afterwards() {
    let play = play("ok,abort@200");
    assert!(play.finished());
    assert!(!play.world.events(play.id).contains(&LogEvent::Aborted));
}

#[test]
fn r49_field_a29_a31_an_expired_url_is_asked_for_again_with_the_credential_of_the_hook() {
    for refresh in [0.0, 2_000.0] {
        let mut world = World::new();
        world.refreshes = vec![(refresh, true)];
        let id = world.scripted(ask(Site::Segment).credential(1), "403,ok");
        world.drive_until_idle();
        world.finished_at(id);
        assert_eq!(world.sent_at(id), [0.0, 20.0 + refresh], "as soon as it is there");
    }
}

#[test]
fn r13_field_a33_a_stream_that_is_refused_until_it_is_ready_is_asked_for_at_a_steady_pace() {
    let mut config = with_rule(Site::Manifest, 403, Recovery::Retry);
    let policy = &mut config.sites[Site::Manifest as usize];
    policy.backoff_base = Millis::new(5_000.0);
    policy.backoff_factor = 1.0;
    policy.attempts = 20;
    let mut world = World::with(config);
    let id = world.scripted(ask(Site::Manifest), "403..20000,ok");
    world.drive_until_idle();
    assert!(world.finished_at(id) < 25_100.0);
    assert!(gaps(&world.sent_at(id)).into_iter().all(|gap| gap <= 5_020.0), "it does not grow");
}
