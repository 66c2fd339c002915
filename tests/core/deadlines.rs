//! How long headers are waited for: the policy's bound, less where the buffer can pay for a second
//! try, and never less than the host is used to take (R16, R17, R18).

use holdfast::core::{Action, Alternatives, Entry, FailureClass, LogEvent, Site};
use proptest::prelude::*;

use crate::common::{Answer, Part, World, ask, hang, ok, reject, silent, status};

/// What a segment's policy has for headers, in ms, and what time-outs widen it to.
const POLICY: f64 = 8_000.0;
const WIDEST: f64 = 30_000.0;

/// A world whose host 0 is used to answer segments after so many ms.
fn used_to(after: f64) -> World {
    let mut world = World::new();
    learn(&mut world, Site::Segment, 0, after);
    world
}

fn learn(world: &mut World, site: Site, host: u32, after: f64) {
    for _ in 0..40 {
        world.start(ask(site).host(host).always(ok(9.0).after(after)));
        world.drive_until_idle();
    }
}

fn learn_once(world: &mut World, after: f64) {
    world.start(ask(Site::Segment).always(ok(9.0).after(after)));
    world.drive_until_idle();
}

/// How long the headers of each attempt that timed out had been waited for.
fn bounds(world: &World, id: u32) -> Vec<f64> {
    let mut sent = 0.0;
    let mut bounds = Vec::new();
    for entry in world.entries(id) {
        let at = entry.at.get();
        match entry.event {
            LogEvent::Sent => sent = at,
            LogEvent::Failed if entry.detail == FailureClass::Timeout as u32 => {
                bounds.push(at - sent);
            }
            _ => {}
        }
    }
    bounds
}

/// The bounds of a request whose attempts all hang, with so much buffered when it begins.
fn bounds_of(world: &mut World, site: Site, host: u32, buffer: Option<f64>) -> Vec<f64> {
    world.playback(buffer, None);
    let id = world.start(ask(site).host(host).alternatives(Alternatives::Some).always(hang()));
    world.drive_until(world.now + 120_000.0);
    bounds(world, id)
}

fn first_bound(world: &mut World, buffer: Option<f64>) -> f64 {
    bounds_of(world, Site::Segment, 0, buffer)[0]
}

#[track_caller]
fn assert_near(actual: f64, wanted: f64) {
    assert!((actual - wanted).abs() < 1.0, "{actual} instead of {wanted}");
}

#[test]
fn r16_without_a_report_of_the_buffer_the_policy_holds() {
    assert_near(first_bound(&mut used_to(20.0), None), POLICY);
    assert_near(first_bound(&mut World::new(), None), POLICY);
}

#[test]
fn r16_half_of_the_buffer_pays_for_the_first_try() {
    for buffer in [15_000.0, 6_000.0, 4_000.0, 2_000.0] {
        assert_near(first_bound(&mut World::new(), Some(buffer)), buffer / 2.0);
        assert_near(first_bound(&mut used_to(20.0), Some(buffer)), buffer / 2.0);
    }
    assert_near(first_bound(&mut World::new(), Some(60_000.0)), POLICY);
}

#[test]
fn r16_half_of_a_buffer_that_is_less_than_a_second_pays_for_no_second_try() {
    for buffer in [1_990.0, 500.0, 0.0] {
        // All of the ladder's time, which is 3 s at least.
        assert_near(first_bound(&mut used_to(20.0), Some(buffer)), 3_000.0);
    }
}

#[test]
fn r16_a_slow_host_is_not_cut_for_being_as_late_as_it_is_used_to_be() {
    let mut world = used_to(2_500.0);
    world.playback(Some(4_000.0), None);
    let id = world.start(ask(Site::Segment).always(ok(9.0).after(2_500.0)));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.sent_at(id).len(), 1);
}

#[test]
fn r16_a_host_is_waited_for_as_long_as_it_takes_though_the_buffer_runs_out() {
    // Four fifths of 4 s are less than what it takes.
    let bound = first_bound(&mut used_to(5_000.0), Some(4_000.0));
    assert!((5_000.0..5_100.0).contains(&bound), "{bound}");
    assert_near(first_bound(&mut used_to(7_990.0), Some(4_000.0)), 7_990.0);
}

#[test]
fn r16_the_half_that_a_slow_host_cannot_use_leaves_the_bound_that_there_was() {
    // Half of 2.8 s is less than the 1.5 s that it takes; all of the ladder's time is not.
    assert_near(first_bound(&mut used_to(1_500.0), Some(2_800.0)), 3_000.0);
    let mut world = used_to(1_500.0);
    assert_near(first_bound(&mut world, Some(3_200.0)), 1_600.0);
}

#[test]
fn r16_a_host_whose_answers_vary_is_waited_for_as_late_as_they_come() {
    let mut world = World::new();
    for _ in 0..20 {
        learn_once(&mut world, 500.0);
        learn_once(&mut world, 2_500.0);
    }
    let bound = first_bound(&mut world, Some(4_000.0));
    assert!(bound > 2_500.0, "{bound}, and 1.5 s is what they take in the mean");
}

#[test]
fn r16_a_host_that_was_slow_once_is_taken_for_what_it_is_now() {
    let mut world = used_to(5_000.0);
    for _ in 0..60 {
        learn_once(&mut world, 20.0);
    }
    assert_near(first_bound(&mut world, Some(4_000.0)), 2_000.0);
}

#[test]
fn r16_what_is_learned_is_learned_of_one_host() {
    let mut world = used_to(2_500.0);
    learn(&mut world, Site::Segment, 1, 20.0);
    assert_near(bounds_of(&mut world, Site::Segment, 1, Some(4_000.0))[0], 2_000.0);
    assert_near(bounds_of(&mut world, Site::Segment, 2, Some(4_000.0))[0], 2_000.0);
    assert_near(first_bound(&mut world, Some(4_000.0)), 3_200.0);
}

#[test]
fn r16_what_is_learned_is_learned_of_one_site() {
    let mut world = used_to(2_500.0);
    learn(&mut world, Site::Playlist, 0, 7_000.0);
    assert_near(bounds_of(&mut world, Site::Init, 0, Some(4_000.0))[0], 2_000.0);
    assert_near(first_bound(&mut world, Some(4_000.0)), 3_200.0);
}

#[test]
fn r16_the_second_try_has_twice_as_long_where_the_buffer_has_grown() {
    let mut world = World::new();
    world.playback(Some(4_000.0), None);
    let id = world.start(ask(Site::Segment).always(hang()));
    world.at(1_000.0, |world| world.playback(Some(60_000.0), None));
    world.drive_until(14_000.0);
    let bounds = bounds(&world, id);
    assert_near(bounds[0], 2_000.0);
    assert_near(bounds[1], 4_000.0);
}

#[test]
fn r16_the_second_try_is_not_cut_at_half_of_what_is_left() {
    let mut world = World::new();
    world.playback(Some(10_000.0), None);
    let answers = [hang(), ok(9.0).after(2_700.0)];
    let id = world.start(ask(Site::Segment).answers(answers));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.sent_at(id).len(), 2, "half of 5 s would be less than 2.7 s");
}

#[test]
fn r16_the_last_try_has_300_ms_however_little_time_is_left() {
    for seed in 0..20 {
        let mut world = World::seeded(seed);
        world.playback(Some(0.0), None);
        let late = reject().after(2_850.0);
        let ask = ask(Site::Segment).alternatives(Alternatives::Some);
        let id = world.start(ask.answers([late, hang()]));
        world.drive_until_idle();
        let sent = world.sent_at(id);
        if sent.len() > 1 {
            assert!(sent[1] < 3_000.0, "{sent:?}");
            assert_near(bounds(&world, id)[0], 300.0);
        }
    }
}

#[test]
fn time_outs_in_a_row_widen_the_bound_by_half_up_to_12_s_and_later_to_half_a_minute() {
    let mut world = World::new();
    let wait = ask(Site::Segment).alternatives(Alternatives::None);
    let id = world.start(wait.always(hang()));
    world.drive_until(290_000.0);
    let bounds = bounds(&world, id);
    // The second has what is left of the ladder's time; those of the hold go on from there.
    let widest = |n: i32| if n < 8 { 12_000.0 } else { WIDEST };
    let widened = |n: i32| (POLICY * 1.5_f64.powi(n)).min(widest(n));
    for (n, bound) in bounds.iter().enumerate() {
        assert!(*bound <= widened(n as i32) + 1.0, "{bounds:?}");
        if n > 1 {
            assert_near(*bound, (bounds[n - 1] * 1.5).min(widened(n as i32)));
        }
    }
    assert!(bounds.len() >= 10, "{bounds:?}");
}

/// What is asked of a host that is used to answer after so many ms, and now of nothing for so long.
fn bounds_in_the_dark(site: Site, after: f64, ms: f64) -> Vec<f64> {
    let mut world = World::new();
    learn(&mut world, site, 0, after);
    let id = world.start(ask(site).alternatives(Alternatives::None).always(hang()));
    world.drive_until(world.now + ms);
    bounds(&world, id)
}

#[test]
fn a_host_that_has_fallen_silent_is_probed_for_five_and_a_half_seconds() {
    let bounds = bounds_in_the_dark(Site::Segment, 20.0, 120_000.0);
    assert_near(bounds[0], POLICY);
    let mut probes = bounds[2..].iter().zip(3..).filter(|(_, nth)| nth % 6 != 0);
    assert!(probes.all(|(bound, _)| *bound <= 5_501.0), "{bounds:?}");
    assert!(bounds.len() > 12, "{bounds:?}");
}

#[test]
fn every_sixth_time_it_has_longer_as_it_may_be_slow_and_not_dead() {
    let bounds = bounds_in_the_dark(Site::Segment, 20.0, 200_000.0);
    assert!(bounds[5] > 7_500.0, "{bounds:?}");
    assert!(bounds[11] > 12_000.0, "{bounds:?}");
    for after in [6_000.0, 7_500.0, 9_000.0, 11_000.0] {
        let mut world = used_to(20.0);
        let began = world.now;
        let wait = ask(Site::Segment).alternatives(Alternatives::None);
        let id = world.start(wait.always(ok(9.0).after(after)));
        world.drive_until_idle();
        let took = world.finished_at(id) - began;
        assert!(took < 100_000.0, "{after} ms late: {took} ms");
    }
}

#[test]
fn a_host_that_is_used_to_take_longer_is_probed_for_as_long() {
    let bounds = bounds_in_the_dark(Site::Segment, 7_000.0, 120_000.0);
    assert!(bounds[2..].iter().all(|bound| *bound >= 7_000.0), "{bounds:?}");
}

/// The bounds of a request whose attempts all hang, of a host that is used to answer soon. So little
/// is buffered that the ladder has time for two, and the third is the first of the hold.
fn held_bounds(meanwhile: impl FnOnce(&mut World)) -> Vec<f64> {
    let mut world = used_to(20.0);
    world.playback(Some(4_000.0), None);
    let wait = ask(Site::Segment).alternatives(Alternatives::None);
    let id = world.start(wait.always(hang()));
    meanwhile(&mut world);
    world.drive_until(world.now + 30_000.0);
    let held_from = world.exhaustions(id)[0].0;
    assert_eq!(world.sent_at(id).iter().filter(|at| **at < held_from).count(), 2);
    bounds(&world, id).split_off(2)
}

#[test]
fn where_a_host_has_fallen_silent_the_bounds_of_a_hold_widen_by_a_quarter_from_two_seconds() {
    let bounds = held_bounds(|_| {});
    for (nth, bound) in [2_000.0, 2_500.0, 3_125.0].into_iter().enumerate() {
        assert_near(bounds[nth], bound);
    }
}

#[test]
fn where_a_host_answers_something_the_bounds_of_a_hold_widen_by_half_from_two_seconds() {
    let bounds = held_bounds(|world| {
        world.at(world.now + 2_500.0, |world| {
            world.start(ask(Site::Key).always(status(404)));
        });
    });
    for (nth, bound) in [2_000.0, 3_000.0, 4_500.0].into_iter().enumerate() {
        assert_near(bounds[nth], bound);
    }
}

#[test]
fn one_that_refuses_some_is_slow_and_not_dead() {
    let mut world = used_to(20.0);
    let wait = ask(Site::Segment).alternatives(Alternatives::None);
    let some: Vec<_> = (0..20).flat_map(|_| [hang(), hang(), status(503)]).collect();
    let id = world.start(wait.answers(some));
    world.drive_until(world.now + 60_000.0);
    let bounds = bounds(&world, id);
    assert!(bounds.iter().any(|bound| *bound > 6_000.0), "{bounds:?}");
}

#[test]
fn what_one_request_meets_shortens_the_first_attempt_of_no_other() {
    for site in [Site::Other, Site::TextSegment, Site::Key, Site::Manifest, Site::License] {
        let mut world = used_to(20.0);
        world
            .start(ask(Site::Segment).alternatives(Alternatives::None).answers([reject(), hang()]));
        let at = world.now;
        world.drive_until(at + 100.0);
        let id = world.start(ask(site).always(ok(9.0).after(7_000.0)));
        world.drive_until(at + 20_000.0);
        assert!(world.finished_at(id) < at + 8_000.0, "{site:?}");
    }
}

#[test]
fn neither_a_license_nor_what_is_unknown_is_a_probe() {
    for site in [Site::License, Site::Other] {
        let bounds = bounds_in_the_dark(site, 20.0, 200_000.0);
        assert!(bounds.iter().all(|bound| *bound >= 14_999.0), "{site:?}: {bounds:?}");
        assert!(!bounds.is_empty(), "{site:?}");
    }
}

#[test]
fn headers_end_the_row_of_time_outs() {
    let mut world = World::new();
    let answers = [hang(), status(500), hang(), ok(9.0)];
    let policy = ask(Site::Manifest).answers(answers);
    let id = world.start(policy);
    world.drive_until_idle();
    let bounds = bounds(&world, id);
    assert_near(bounds[0], 3_500.0);
    // It has answered: now it has the bound of a host that is known, which is not widened.
    assert_near(bounds[1], 10_000.0);
    assert_eq!(bounds.len(), 2);
}

#[test]
fn r16_no_other_request_than_for_media_is_cut_for_the_sake_of_the_buffer() {
    let sites = Site::ALL
        .into_iter()
        .filter(|site| !matches!(site, Site::Init | Site::Segment | Site::TextSegment));
    for site in sites {
        let mut world = World::new();
        learn(&mut world, site, 0, 20.0);
        let bound = bounds_of(&mut world, site, 0, Some(2_500.0))[0];
        assert_near(bound, site.defaults().headers_timeout.get());
    }
}

#[test]
fn r16_a_license_is_never_waited_for_shorter() {
    for buffer in [None, Some(0.0), Some(2_500.0), Some(60_000.0)] {
        let mut world = World::new();
        learn(&mut world, Site::License, 0, 20.0);
        world.playback(buffer, None);
        let id = world.start(ask(Site::License).always(ok(9.0).after(14_990.0)));
        world.drive_until_idle();
        world.finished_at(id);
        assert_eq!(world.sent_at(id).len(), 1, "{buffer:?}");
    }
}

#[test]
fn r18_a_blocking_reload_keeps_three_target_durations_whatever_is_buffered() {
    let bound_of = |buffer, target| {
        let mut world = World::new();
        learn(&mut world, Site::PlaylistReload, 0, 20.0);
        world.playback(buffer, target);
        let id = world.start(ask(Site::PlaylistReload).blocking().answers([hang(), ok(9.0)]));
        world.drive_until_idle();
        bounds(&world, id)[0]
    };
    for buffer in [None, Some(0.0), Some(2_500.0), Some(60_000.0)] {
        assert_near(bound_of(buffer, Some(6_000.0)), 3.0 * 6_000.0 + 2_000.0);
        assert_near(bound_of(buffer, Some(9_000.0)), 3.0 * 9_000.0 + 2_000.0);
        assert_near(bound_of(buffer, None), 20_000.0);
        assert_near(bound_of(buffer, Some(1_000.0)), 10_000.0);
    }
}

#[test]
fn r18_what_is_held_back_on_purpose_teaches_nothing() {
    let mut world = World::new();
    for _ in 0..10 {
        world.start(ask(Site::Segment).blocking().always(ok(9.0).after(7_000.0)));
        world.drive_until_idle();
    }
    assert_near(first_bound(&mut world, Some(4_000.0)), 2_000.0);
}

#[test]
fn r16_a_verdict_comes_by_four_fifths_of_the_buffer_and_three_seconds_at_the_earliest() {
    for seed in 0..20 {
        for buffer in [0.0, 800.0, 2_000.0, 3_900.0, 4_000.0, 7_000.0, 12_000.0, 18_000.0] {
            for dead in [hang(), reject(), status(500), reject().after(700.0)] {
                let mut world = World::seeded(seed);
                world.playback(Some(buffer), None);
                let ask = ask(Site::Segment).alternatives(Alternatives::Some);
                let id = world.start(ask.always(dead.clone()));
                world.drive_until(60_000.0);
                let (at, _) = world.failure(id);
                let most = (0.8 * buffer).clamp(3_000.0, 15_000.0) + 300.0;
                assert!(at <= most, "{dead:?}, {buffer} ms buffered: {at} ms");
            }
        }
    }
}

#[test]
fn r16_what_hangs_has_used_all_of_the_time_before_the_verdict() {
    let mut world = World::new();
    world.playback(Some(10_000.0), None);
    let ask = ask(Site::Segment).alternatives(Alternatives::Some);
    let id = world.start(ask.always(hang()));
    world.drive_until_idle();
    let (at, _) = world.failure(id);
    assert!((7_000.0..=8_300.0).contains(&at), "{at}");
}

#[test]
fn r17_a_body_of_twenty_bytes_a_second_lives_for_ten_minutes() {
    const SECONDS: usize = 600;
    let second = Part::Chunk { gap: 1_000.0, bytes: 20.0 };
    let mut parts = vec![second; SECONDS];
    parts.push(Part::End { gap: 0.0 });
    let slow = status(200).parts(parts).length(20.0 * SECONDS as f64);
    for buffer in [None, Some(2_500.0), Some(30_000.0)] {
        for streaming in [false, true] {
            let mut world = World::new();
            learn(&mut world, Site::Segment, 0, 20.0);
            let start = world.now;
            let ask = ask(Site::Segment).always(slow.clone());
            world.playback(buffer, None);
            let id = world.start(if streaming { ask.streaming() } else { ask });
            for report in 0..SECONDS {
                let at = start + 1_000.0 * report as f64;
                world.at(at, move |world| world.playback(buffer, None));
            }
            world.drive_until_idle();
            assert!(world.finished_at(id) - start >= 1_000.0 * SECONDS as f64);
            assert_eq!(world.sent_at(id).len(), 1);
        }
    }
}

#[test]
fn r17_a_silence_is_suspect_at_half_of_the_bound_whatever_the_bound_is() {
    for buffer in [None, Some(60_000.0), Some(8_000.0), Some(6_000.0), Some(1_000.0)] {
        let mut world = World::new();
        world.playback(buffer, None);
        let id = world.start(ask(Site::Segment).answers([silent(10.0), ok(9.0)]));
        world.drive_until_idle();
        let suspect = |entry: &&Entry| entry.event == LogEvent::StallSuspect;
        let suspected: Vec<f64> =
            world.engine.log().filter(suspect).map(|entry| entry.at.get()).collect();
        // Headers after 20 ms, and a chunk after 50 more.
        let cut = |entry: &&Entry| entry.event == LogEvent::Failed;
        let bound = world.engine.log().find(cut).map_or(0.0, |entry| entry.at.get()) - 70.0;
        assert_eq!(suspected.len(), 1, "{buffer:?}");
        assert_near(suspected[0] - 70.0, bound / 2.0);
        assert!((2_000.0..=5_000.0).contains(&bound), "{buffer:?}: {bound}");
        world.finished_at(id);
    }
}

#[test]
fn r17_a_consumer_that_does_not_read_is_no_silence_however_short_the_buffer_is() {
    for buffer in [None, Some(0.0), Some(2_500.0)] {
        let parts = [
            Part::LastRead { gap: 10.0, bytes: 5.0 },
            Part::Read { gap: 600_000.0 },
            Part::Chunk { gap: 10.0, bytes: 5.0 },
            Part::End { gap: 0.0 },
        ];
        let mut world = World::new();
        world.playback(buffer, None);
        let slow = ask(Site::Segment).streaming().always(status(200).parts(parts));
        let id = world.start(slow);
        for minute in 1..10 {
            world.at(60_000.0 * f64::from(minute), move |world| world.playback(buffer, None));
        }
        world.drive_until_idle();
        world.finished_at(id);
        assert_eq!(world.sent_at(id).len(), 1);
        assert!(!world.events(id).contains(&LogEvent::StallSuspect));
    }
}

/// Fewer where each of hundreds of mutants is given them.
fn cases() -> u32 {
    if std::env::var_os("HOLDFAST_QUICK").is_some() { 30 } else { 500 }
}

/// What a host that hangs now and then does.
fn faulty() -> impl Strategy<Value = Answer> {
    prop_oneof![
        4 => Just(hang()),
        1 => Just(reject()),
        1 => Just(status(503)),
        1 => Just(silent(10.0)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn r16_every_bound_is_between_300_ms_and_the_policy(
        seed in any::<u64>(),
        buffers in proptest::collection::vec(proptest::option::of(0.0..40_000.0), 1..6),
        lateness in proptest::collection::vec(0.0..7_900.0, 0..8),
        answers in proptest::collection::vec(faulty(), 1..8),
    ) {
        let mut world = World::seeded(seed);
        for after in &lateness {
            world.start(ask(Site::Segment).always(ok(9.0).after(*after)));
            world.drive_until_idle();
        }
        world.playback(buffers[0], None);
        let start = world.now;
        let id = world.start(
            ask(Site::Segment).alternatives(Alternatives::None).answers(answers),
        );
        for (n, buffer) in buffers.into_iter().enumerate() {
            world.at(start + 2_000.0 * n as f64, move |world| world.playback(buffer, None));
        }
        world.drive_until(start + 250_000.0);

        for (row, bound) in bounds(&world, id).into_iter().enumerate() {
            let most = (POLICY * 1.5_f64.powi(row as i32)).min(WIDEST);
            prop_assert!(bound >= 300.0 - 1e-6, "{bound}\n{}", world.story(id));
            prop_assert!(bound <= most + 1e-6, "{bound} > {most}\n{}", world.story(id));
        }
    }

    #[test]
    fn r16_a_host_that_answers_within_the_widest_bound_is_reached_in_the_end(
        seed in any::<u64>(),
        buffer in proptest::option::of(0.0..40_000.0),
        before in proptest::option::of(0.0..7_900.0),
        after in 0.0..(WIDEST - 100.0),
        hangs in 0_usize..4,
    ) {
        let mut world = World::seeded(seed);
        if let Some(before) = before {
            world.start(ask(Site::Segment).always(ok(9.0).after(before)));
            world.drive_until_idle();
        }
        world.playback(buffer, None);
        let mut answers = vec![hang(); hangs];
        answers.push(ok(9.0).after(after));
        let id = world.start(
            ask(Site::Segment).alternatives(Alternatives::None).answers(answers),
        );
        world.drive_until_idle();
        world.finished_at(id);
    }

    #[test]
    fn a_hung_attempt_is_cut_before_the_next_one_is_sent(
        seed in any::<u64>(),
        buffer in proptest::option::of(0.0..40_000.0),
        hangs in 1_usize..6,
    ) {
        let mut world = World::seeded(seed);
        world.playback(buffer, None);
        let mut answers = vec![hang(); hangs];
        answers.push(ok(9.0));
        let id = world.start(
            ask(Site::Segment).alternatives(Alternatives::None).answers(answers),
        );
        world.drive_until_idle();
        let order: Vec<&str> = world.actions.iter().filter_map(|(_, action)| match action {
            Action::Send { request, .. } if request.0 == id => Some("send"),
            Action::Cut { request, .. } if request.0 == id => Some("cut"),
            _ => None,
        }).collect();
        let mut wanted = ["send", "cut"].repeat(hangs);
        wanted.push("send");
        prop_assert_eq!(order, wanted);
    }
}
