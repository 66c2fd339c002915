//! The second half of what users of hls.js have reported (`docs/field-reports.md`): hosts that fail,
//! licenses, playlists of audio, and servers that ask for less.

use holdfast::core::{Alternatives, Config, Health, Reason, Site};

use crate::common::{World, ask, play, play_at, status};

const TARGET: f64 = 4_000.0;
const MINUTE: f64 = 60_000.0;

fn gaps(sent: &[f64]) -> Vec<f64> {
    sent.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn r38_field_a34_a_host_that_failed_is_left_alone_and_found_again() {
    let mut world = World::new();
    world.alternatives(Site::Segment, Alternatives::Some);
    world.outage(0, 0.0, 20_000.0, status(500));
    world.every(1_000.0, 2.0 * MINUTE, &ask(Site::Segment));
    world.drive_until_idle();
    let sent =
        |from: f64, to: f64| world.sent.iter().filter(|sent| (from..to).contains(&sent.at)).count();
    assert!(sent(0.0, 20_000.0) < 30, "{}", sent(0.0, 20_000.0));
    assert!(sent(60_000.0, 120_000.0) >= 59, "it plays from there again");
    assert_eq!(world.host(0).health.health, Health::Closed);
}

#[test]
fn r40_field_a35_whoever_asks_again_at_once_for_two_dead_playlists_is_slowed_down() {
    let mut world = World::new();
    for host in 0..2 {
        world.outage(host, 0.0, MINUTE, status(404));
    }
    for step in 0..600 {
        world.start(ask(Site::Playlist).host(step % 2).url(1 + step % 2));
        world.drive_until(world.now + 100.0);
    }
    // Rests of 1, 2, 4 s and then 5 s each.
    assert!(world.sent.len() <= 2 * 16, "{}", world.sent.len());
}

#[test]
fn r35_field_a36_a_segment_that_is_blocked_for_ever_is_given_up_by_the_clock() {
    let mut world = World::new();
    let id = world.scripted(ask(Site::Segment).alternatives(Alternatives::None), "net*");
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    assert_eq!(failure.reason, Reason::HoldLimit);
    assert!(at < 11.0 * MINUTE && failure.attempts < 200, "{at}, {failure:?}");
}

#[test]
fn r36_field_a38_a_key_that_is_never_there_costs_a_bounded_number_of_requests() {
    let mut world = World::new();
    world.alternatives(Site::Key, Alternatives::Some);
    world.taped("503*");
    for _ in 0..81 {
        world.start(ask(Site::Key).url(7));
        world.drive_until(world.now + 250.0);
    }
    assert!(world.sent.len() <= 20, "{}", world.sent.len());
}

#[test]
fn r19_r63_field_a39_a_license_that_is_blocked_is_said_to_be_exhausted_once() {
    let play = play_at(Site::License, "net*");
    assert_eq!(play.world.exhaustions(play.id).len(), 1);
    let (_, failure) = play.world.failure(play.id);
    assert_eq!((failure.attempts, failure.reason), (3, Reason::Attempts));
    assert!(gaps(&play.sent()).into_iter().all(|gap| gap >= 70.0));
}

#[test]
fn r26_field_a40_a_license_waits_for_as_long_as_its_server_asks() {
    let play = play_at(Site::License, "503{Retry-After:2},ok");
    assert!(play.finished());
    let gaps = gaps(&play.sent());
    assert!((2_020.0..=2_420.0).contains(&gaps[0]), "{gaps:?}");
}

#[test]
fn r17_field_a41_a_playlist_of_audio_that_hangs_is_a_time_out_like_any_other() {
    let play = play_at(Site::Playlist, "hang,ok");
    assert!(play.finished());
    assert_eq!(play.calls(), 2);
}

#[test]
fn r24_field_a42_a_playlist_of_audio_is_retried() {
    let play = play_at(Site::Playlist, "503,ok");
    assert!(play.finished());
    assert_eq!(play.calls(), 2);
}

#[test]
fn r5_field_a43_each_of_four_bad_segments_in_a_row_gets_its_attempts() {
    let mut config = Config { log_capacity: 100_000, ..Config::default() };
    config.budget.host = 100.0;
    let mut world = World::with(config);
    world.alternatives(Site::Segment, Alternatives::Some);
    let good = |world: &mut World| {
        for _ in 0..10 {
            world.start(ask(Site::Segment));
            world.drive_until(world.now + 100.0);
        }
    };
    good(&mut world);
    for _ in 0..4 {
        let id = world.scripted(ask(Site::Segment), "500*");
        world.drive_until_idle();
        assert_eq!(world.failure(id).1.attempts, 4);
        good(&mut world);
    }
}

#[test]
fn r24_field_a44_a_first_segment_that_is_not_there_is_known_to_be_so_within_a_second() {
    let play = play("404*");
    let (at, failure) = play.world.failure(play.id);
    assert!(at < 1_000.0 && failure.reason == Reason::Terminal, "{at}, {failure:?}");
}

#[test]
fn r16_field_a46_a_segment_without_headers_is_there_before_the_buffer_is_empty() {
    let mut world = World::new();
    world.playback(Some(5_000.0), Some(TARGET));
    let id = world.scripted(ask(Site::Segment), "hang,ok");
    world.drive_until_idle();
    assert!(world.finished_at(id) < 4_000.0, "half of the buffer pays for the first try");
    assert_eq!(world.exhaustions(id), []);
}

#[test]
fn r38_field_a47_a_host_of_audio_that_hangs_leaves_the_host_of_video_alone() {
    let mut world = World::new();
    for _ in 0..6 {
        world.scripted(ask(Site::Segment), "host=A hang*");
    }
    let video: Vec<u32> = (0..30)
        .map(|_| {
            let id = world.scripted(ask(Site::Segment), "host=B ok");
            world.drive_until(world.now + 1_000.0);
            id
        })
        .collect();
    assert_ne!(world.host(0).health.health, Health::Closed);
    assert_eq!(world.host(1).health.health, Health::Closed);
    for id in video {
        assert_eq!(world.finished_at(id), world.sent_at(id)[0] + 70.0);
    }
}

#[test]
fn field_a51_a_segment_that_is_redirected_to_where_cors_refuses_it_says_so() {
    let mut world = World::new();
    world.start(ask(Site::Manifest).host(1));
    world.drive_until(1_000.0);
    let id = world.scripted(ask(Site::Segment), "net*");
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert!(failure.suspect_cors);
    assert!(failure.attempts <= 2);
}

#[test]
fn r71_field_a53_a_steering_manifest_waits_for_as_long_as_its_server_asks() {
    let play = play_at(Site::Steering, "429{Retry-After:2},ok");
    assert!(play.finished());
    let gaps = gaps(&play.sent());
    assert!(gaps.len() == 1 && gaps[0] >= 2_020.0, "{gaps:?}");
}

#[test]
fn r25_r47_field_a55_an_origin_that_prepares_its_segments_is_waited_for_in_seconds_and_by_date() {
    let date =
        "503{Date:Mon, 30 Nov 2026 12:00:00 GMT;Retry-After:Mon, 30 Nov 2026 12:00:02 GMT},ok";
    for script in ["429{Retry-After:2},ok", date] {
        let play = play(script);
        assert!(play.finished());
        let gaps = gaps(&play.sent());
        assert!(gaps.len() == 1 && (2_020.0..=2_420.0).contains(&gaps[0]), "{script}: {gaps:?}");
    }
}

#[test]
fn r13_field_a58_a_hundred_clients_that_failed_together_do_not_come_back_together() {
    let mut returns: Vec<f64> = Vec::new();
    for seed in 0..100 {
        let mut world = World::seeded(seed);
        let id = world.scripted(ask(Site::Manifest), "503,ok");
        world.drive_until_idle();
        returns.push(world.sent_at(id)[1]);
    }
    for tenth in 0..10 {
        let bin = 20.0 + 100.0 * f64::from(tenth)..20.0 + 100.0 * f64::from(tenth + 1);
        let count = returns.iter().filter(|at| bin.contains(at)).count();
        assert!(count <= 25, "{count} in {bin:?}");
    }
}
