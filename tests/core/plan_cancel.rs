//! What the plan cancels, in the tick that forbids it, and how that goes on later at no cost (R87).

use holdfast::core::{
    Action, Ask, Config, ConnectionClass, Cost, Exhausted, Health, Interface, LogEvent, Millis,
    PathSample, Power, Reason, Site, Thermal, WaitReason,
};

use super::plan::{class, cuts, gone, heat, log_of, metered, sample, slow_origin, unmetered, wait};
use crate::common::{Answer, Part, Verdict, World, ask, hang, ok, origin, reject, status};

const MB: f64 = 1_048_576.0;
const MINUTE: f64 = 60_000.0;

/// What the attempts of a request asked for.
fn asks(world: &World, id: u32) -> Vec<Ask> {
    let of = |(_, action): &(f64, Action)| match action {
        Action::Send { request, ask, .. } if request.0 == id => Some(*ask),
        _ => None,
    };
    world.actions.iter().filter_map(of).collect()
}

#[test]
fn r87_what_is_fetched_ahead_is_cut_in_the_tick_that_forbids_it_and_goes_on_from_its_last_byte() {
    for at in [10.0, 25.0, 130.0, 555.0, 1_015.0] {
        let mut world = World::new();
        let id = world.start(ask(Site::Segment).ahead().streaming().always(origin(10.0 * MB)));
        world.drive_until(at);
        world.path(metered());
        assert_eq!(cuts(&world), [(at, id)], "in the same tick");
        assert_eq!(wait(&world, id), Some(WaitReason::Held));
        world.drive_until(5_000.0);
        assert_eq!(world.sent_at(id), [0.0], "held");
        world.path(unmetered());
        world.drive_until_idle();
        world.finished_at(id);
        let delivered = ((at - 20.0) / 100.0).floor().max(0.0) * MB;
        let rest = if delivered > 0.0 { Ask::Part(delivered, 10.0 * MB - 1.0) } else { Ask::All };
        assert_eq!(asks(&world, id), [Ask::All, rest], "no delivered byte is asked for again");
        let ends = log_of(&world, LogEvent::Succeeded);
        assert_eq!(ends, [(0, 10.0 * MB)], "and none is missing");
        assert_eq!(log_of(&world, LogEvent::Failed), []);
    }
}

#[test]
fn r87_what_is_needed_is_cut_without_a_path_and_in_critical_heat_and_goes_on_likewise() {
    for (forbidden, reason) in
        [(gone(), WaitReason::Offline), (heat(Thermal::Critical), WaitReason::Held)]
    {
        for site in [Site::Segment, Site::Init, Site::Key, Site::Playlist, Site::Manifest] {
            for at in [10.0, 555.0] {
                let mut world = World::new();
                let id = world.start(ask(site).always(origin(10_000.0)));
                let big = world.start(ask(Site::Segment).always(origin(10.0 * MB)));
                world.drive_until(at);
                world.path(forbidden);
                assert_eq!(cuts(&world).len(), 2, "{site:?}");
                assert!(cuts(&world).iter().all(|(cut, _)| *cut == at));
                assert_eq!(wait(&world, id), Some(reason));
                world.drive_until(30_000.0);
                assert_eq!(world.sent.len(), 2, "nothing runs");
                world.path(sample());
                world.drive_until_idle();
                world.finished_at(id);
                world.finished_at(big);
                assert_eq!(world.sent.len(), 4);
                if at > 100.0 {
                    assert_eq!(asks(&world, big)[1], Ask::Part(5.0 * MB, 10.0 * MB - 1.0));
                }
            }
        }
    }
}

/// Whatever is cut is as it was: the ladder, the budget, the breaker, the link, the estimate.
#[test]
fn r87_a_cancel_of_the_plan_costs_nothing() {
    let mut world = World::new();
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(world.start(ask(Site::Segment).always(slow_origin(100.0))));
    }
    for cycle in 0..30 {
        let at = f64::from(cycle) * 1_000.0;
        world.drive_until(at + 25.0);
        world.path(heat(Thermal::Critical));
        world.drive_until(at + 500.0);
        world.path(sample());
    }
    assert_eq!(cuts(&world).len(), 180);
    assert_eq!(class(&world), ConnectionClass::Unmetered);
    assert_eq!(world.host(0).health.health, Health::Closed);
    assert_eq!(world.host(0).health.failures, 0);
    world.drive_until_idle();
    assert!(ids.iter().all(|id| matches!(world.verdict(*id), Some((_, Verdict::Finished)))));
    assert_eq!(log_of(&world, LogEvent::Failed), []);
    assert_eq!(log_of(&world, LogEvent::Exhausted), []);
}

/// The ladder has four attempts, whatever the plan cuts between them.
#[test]
fn r87_a_cancel_costs_no_attempt_of_the_ladder_and_no_budget() {
    let play = |cancels: u32| {
        let mut config = Config { log_capacity: 1_000, ..Config::default() };
        config.sites[Site::Segment as usize].exhausted = Exhausted::Reject;
        // What four attempts cost, and not a token more.
        config.budget.host = 3.0;
        let mut world = World::with(config);
        let id = world.start(ask(Site::Segment).always(status(500).after(50.0)));
        for cycle in 0..cancels {
            let at = f64::from(cycle) * 100.0;
            world.at(at + 10.0, |world| world.path(heat(Thermal::Critical)));
            world.at(at + 20.0, |world| world.path(sample()));
        }
        world.drive_until_idle();
        let (_, failure) = world.failure(id);
        assert_eq!(failure.reason, Reason::Attempts, "{}", world.story(id));
        let failed = world.events(id).iter().filter(|event| **event == LogEvent::Failed).count();
        assert_eq!(failed, 4);
        world.sent.len()
    };
    assert_eq!(play(0), 4);
    assert_eq!(play(1), 5);
}

/// A minute in a hold is not a minute of the ladder's time.
#[test]
fn r87_a_hold_does_not_use_up_the_time_of_the_ladder() {
    for first in [true, false] {
        let mut config = Config { log_capacity: 1_000, ..Config::default() };
        config.sites[Site::Segment as usize].exhausted = Exhausted::Reject;
        let mut world = World::with(config);
        if first {
            world.path(heat(Thermal::Critical));
        }
        let late = ok(9.0).after(7_000.0);
        let id = world.start(ask(Site::Segment).answers(if first {
            vec![reject(), late]
        } else {
            vec![hang(), reject(), late]
        }));
        world.drive_until(10.0);
        world.path(heat(Thermal::Critical));
        world.drive_until(MINUTE);
        world.path(sample());
        world.drive_until_idle();
        world.finished_at(id);
    }
}

/// Nor where another hold, or another wait, follows; and it is counted once.
#[test]
fn r87_a_hold_does_not_use_up_the_time_of_a_wait_that_follows() {
    let mut config = Config { log_capacity: 1_000, ..Config::default() };
    config.sites[Site::Segment as usize].exhausted = Exhausted::Reject;
    let mut world = World::with(config);
    world.path(heat(Thermal::Critical));
    world.start(ask(Site::Segment).always(origin(10.0 * MB)));
    let fine = world.start(ask(Site::Segment).answers([reject(), ok(9.0)]));
    let paced = world.start(ask(Site::Segment).host(1));
    let hopeless = world.start(ask(Site::Segment).host(2).always(hang()));
    world.drive_until(MINUTE);
    // One after the other in each lane; and a pacer's turn comes first.
    world.path(heat(Thermal::Serious));
    for host in [1, 2] {
        world.gossip_limit(host, MINUTE + 5_000.0);
    }
    world.drive_until_idle();
    world.finished_at(fine);
    world.finished_at(paced);
    assert!(world.sent_at(paced)[0] >= MINUTE + 5_000.0);
    assert_eq!(world.exhaustions(paced), []);
    let (at, failure) = world.failure(hopeless);
    assert_eq!(failure.reason, Reason::Deadline);
    assert!(at < MINUTE + 25_000.0, "{at} ms");
}

#[test]
fn r87_a_flapping_path_is_no_hot_loop() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(origin(10.0 * MB)));
    for cycle in 0..500 {
        let at = f64::from(cycle) * 4.0;
        world.at(at + 1.0, |world| world.path(heat(Thermal::Critical)));
        world.at(at + 3.0, |world| world.path(sample()));
    }
    world.drive_until_idle();
    assert!(world.sent_at(id).len() <= 42, "{}", world.sent_at(id).len());
    world.finished_at(id);
}

/// Bytes that are with the caller, and could not be followed by others.
#[test]
fn r87_what_is_needed_and_cannot_be_continued_is_left_to_finish() {
    let mut world = World::new();
    let ends = ok(100_000.0).after(20.0);
    let streaming = world.start(ask(Site::Segment).streaming().always(slow(100_000.0)));
    let once = world.start(ask(Site::License).once_only().always(ends.after(2_000.0)));
    let large = world.start(ask(Site::Segment).always(slow(1_000_000.0)));
    world.drive_until(200.0);
    world.path(heat(Thermal::Critical));
    assert_eq!(cuts(&world), []);
    world.drive_until_idle();
    for id in [streaming, once, large] {
        world.finished_at(id);
        assert_eq!(world.sent_at(id), [0.0]);
    }
}

/// A body without a validator: half of it at once, the rest a second later.
fn slow(bytes: f64) -> Answer {
    let half = bytes / 2.0;
    status(200).parts([
        Part::Chunk { gap: 50.0, bytes: half },
        Part::Chunk { gap: 1_000.0, bytes: half },
        Part::End { gap: 0.0 },
    ])
}

/// Nothing is ever delivered twice: where bytes are with the caller that no others can follow, the
/// cut is the end.
#[test]
fn r87_what_is_fetched_ahead_and_cannot_be_continued_ends_with_the_cut() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).ahead().streaming().always(slow(100_000.0)));
    let buffered = world.start(ask(Site::Segment).ahead().always(slow(100_000.0)));
    let once = world.start(ask(Site::Segment).ahead().once_only().always(slow(100_000.0)));
    world.drive_until(200.0);
    world.path(metered());
    let (at, failure) = world.failure(id);
    assert_eq!((at, failure.reason), (200.0, Reason::Released));
    assert_eq!(wait(&world, buffered), Some(WaitReason::Held), "nobody has a byte of it");
    world.path(unmetered());
    world.drive_until_idle();
    world.finished_at(buffered);
    world.finished_at(once);
    assert_eq!(world.sent_at(once), [0.0], "what is not safe to send twice is not");
}

#[test]
fn r87_requests_that_nobody_plans_for_are_left_alone() {
    let mut world = World::new();
    let beacon = world.start(ask(Site::Other).always(ok(9.0).after(1_000.0)));
    world.drive_until(10.0);
    world.path(heat(Thermal::Critical));
    world.drive_until_idle();
    world.finished_at(beacon);
    assert_eq!(world.sent.len(), 1, "a beacon is never sent twice (R5)");

    let mut naive = World::with(Config { naive: true, ..Config::default() });
    let id = naive.start(ask(Site::Segment).ahead().always(ok(9.0).after(1_000.0)));
    naive.drive_until(10.0);
    naive.path(gone());
    naive.drive_until_idle();
    naive.finished_at(id);
    assert_eq!(naive.sent.len(), 1, "hls.js has no plan (R7)");
}

#[test]
fn r86_r87_with_little_power_the_most_needed_one_of_each_lane_stays_and_the_others_follow_in_order()
{
    for weak in [heat(Thermal::Serious), PathSample { power: Power::LowPower, ..sample() }] {
        let mut world = World::new();
        let start = |world: &mut World, site, ahead, host| {
            let mut made = ask(site).host(host).always(origin(10.0 * MB));
            made.marks.ahead = ahead;
            world.start(made)
        };
        let ahead = start(&mut world, Site::Init, true, 0);
        let text = start(&mut world, Site::TextSegment, false, 0);
        let younger = start(&mut world, Site::Segment, false, 0);
        let playlist = start(&mut world, Site::Playlist, false, 0);
        let youngest = start(&mut world, Site::Segment, false, 0);
        let init = start(&mut world, Site::Init, false, 0);
        let elsewhere = start(&mut world, Site::TextSegment, false, 1);
        world.drive_until(300.0);
        world.path(weak);
        let cut: Vec<_> = cuts(&world).into_iter().map(|(_, id)| id).collect();
        assert_eq!(cut, [ahead, text, youngest, younger], "the least needed first");
        assert_eq!(wait(&world, ahead), Some(WaitReason::Held));
        for id in [text, younger, youngest] {
            assert_eq!(wait(&world, id), Some(WaitReason::Window));
        }
        world.drive_until(10_000.0);
        for id in [init, elsewhere, playlist, younger, youngest, text] {
            world.finished_at(id);
        }
        let resumed: Vec<_> = world.sent[7..].iter().map(|sent| sent.request).collect();
        assert_eq!(resumed, [younger, youngest, text], "one after the other, in their order");
        assert_eq!(world.finished_at(init), world.sent_at(younger)[1]);
        assert_eq!(world.finished_at(younger), world.sent_at(youngest)[1]);
        assert_eq!(wait(&world, ahead), Some(WaitReason::Held));
        world.path(sample());
        world.drive_until_idle();
        world.finished_at(ahead);
    }
}

#[test]
fn r87_what_is_lifted_lets_go_in_the_order_of_need() {
    let mut world = World::new();
    world.path(heat(Thermal::Critical));
    let text = world.start(ask(Site::TextSegment));
    let ahead = world.start(ask(Site::Init).ahead());
    let segment = world.start(ask(Site::Segment));
    let manifest = world.start(ask(Site::Manifest));
    let init = world.start(ask(Site::Init));
    world.drive_until(1_000.0);
    assert_eq!(world.sent.len(), 0);
    world.path(sample());
    world.drive_until_idle();
    let order: Vec<_> = world.sent.iter().map(|sent| sent.request).collect();
    assert_eq!(order, [init, manifest, segment, text, ahead]);
}

#[test]
fn r86_consent_lifts_the_hold_of_cost_and_link_and_nothing_else() {
    for (path, lifts) in [
        (metered(), true),
        (PathSample { cost: Cost::Constrained, ..sample() }, true),
        (PathSample { interface: Interface::Cellular, ..sample() }, true),
        (PathSample { power: Power::LowPower, ..metered() }, false),
        (PathSample { thermal: Thermal::Serious, ..metered() }, false),
        (heat(Thermal::Critical), false),
        (gone(), false),
        (PathSample { background_until: Some(Millis::new(59_000.0)), ..metered() }, false),
    ] {
        let mut world = World::new();
        world.path(path);
        let id = world.start(ask(Site::Segment).ahead());
        world.drive_until(10.0);
        assert_eq!(world.sent.len(), 0, "{path:?}");
        world.consent(true);
        world.drive_until(1_000.0);
        assert_eq!(world.sent_at(id).len(), usize::from(lifts), "{path:?}");
    }
}

#[test]
fn r87_consent_that_is_taken_back_cuts_at_once() {
    let mut world = World::new();
    world.path(metered());
    world.consent(true);
    let id = world.start(ask(Site::Segment).ahead().always(origin(10.0 * MB)));
    let needed = world.start(ask(Site::Segment).always(origin(10.0 * MB)));
    world.drive_until(300.0);
    world.consent(false);
    assert_eq!(cuts(&world), [(300.0, id)]);
    world.drive_until(5_000.0);
    world.finished_at(needed);
    assert_eq!(wait(&world, id), Some(WaitReason::Held));
}
