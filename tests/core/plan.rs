//! What the plan makes of a path that changes by itself, of a bad link and of sleep, and how a hold
//! ends (R83 to R86, R88). What it cancels is in `plan_cancel.rs`.

use holdfast::core::{
    Action, Config, ConnectionClass, Cost, Exhausted, Health, Interface, LogEvent, Millis,
    PathSample, Power, Reachability, Reason, Site, Thermal, Timer, WaitReason,
};

use crate::common::{Answer, World, ask, hang, ok, origin, reject, silent, status, truncated};

const MB: f64 = 1_048_576.0;
const MINUTE: f64 = 60_000.0;

/// All that is known is this.
pub(super) fn sample() -> PathSample {
    PathSample::default()
}

pub(super) fn metered() -> PathSample {
    PathSample { cost: Cost::Metered, ..sample() }
}

pub(super) fn unmetered() -> PathSample {
    PathSample { cost: Cost::Unmetered, ..sample() }
}

pub(super) fn heat(thermal: Thermal) -> PathSample {
    PathSample { thermal, ..sample() }
}

pub(super) fn gone() -> PathSample {
    PathSample { reachability: Reachability::None, ..sample() }
}

/// Why a request waits, if it does.
pub(super) fn wait(world: &World, id: u32) -> Option<WaitReason> {
    world.engine.retry_states().find(|state| state.request.0 == id).and_then(|state| state.wait)
}

/// The attempts that were cut, in their order.
pub(super) fn cuts(world: &World) -> Vec<(f64, u32)> {
    let of = |(at, action): &(f64, Action)| match action {
        Action::Cut { request, .. } => Some((*at, request.0)),
        _ => None,
    };
    world.actions.iter().filter_map(of).collect()
}

/// What the log has of one event: its details and its values.
pub(super) fn log_of(world: &World, event: LogEvent) -> Vec<(u32, f64)> {
    let of = |entry: &&holdfast::core::Entry| entry.event == event;
    world.engine.log().filter(of).map(|entry| (entry.detail, entry.value)).collect()
}

/// Three connections break; the link is adverse from then on.
fn break_thrice(world: &mut World) {
    for _ in 0..3 {
        let id = world.start(ask(Site::Key).host(9).always(reject()));
        world.drive_until(world.now + 20.0);
        world.abort(id);
    }
    assert_eq!(class(world), ConnectionClass::Adverse);
}

pub(super) fn class(world: &World) -> ConnectionClass {
    world.engine.path_state(Millis::new(world.now)).class
}

// The link (R84).

#[test]
fn r84_three_bad_events_hold_what_is_fetched_ahead_in_the_same_tick() {
    for answer in [reject(), hang(), silent(9.0), truncated(9.0)] {
        let mut world = World::new();
        let ahead = world.start(ask(Site::Segment).host(1).ahead().always(slow_origin(1_000.0)));
        let failing: Vec<_> =
            (0..3).map(|_| world.start(ask(Site::Key).always(answer.clone()))).collect();
        while cuts(&world).iter().all(|(_, id)| *id != ahead) && world.now < MINUTE {
            world.drive_until(world.now + 10.0);
        }
        let failed: Vec<_> = failing
            .iter()
            .map(|id| world.entries(*id).into_iter().find(|entry| entry.event == LogEvent::Failed))
            .map(|entry| entry.expect("a failure").at.get())
            .collect();
        assert!(cuts(&world).contains(&(failed[2], ahead)), "{answer:?}: {failed:?}");
        assert_eq!(class(&world), ConnectionClass::Adverse);
        assert_eq!(wait(&world, ahead), Some(WaitReason::Held));
    }
}

/// A file that takes long: 300 chunks, one every `gap`.
pub(super) const fn slow_origin(gap: f64) -> Answer {
    Answer::Origin { after: 20.0, size: 300.0 * MB, chunk: MB, gap }
}

#[test]
fn r84_a_clean_minute_with_a_success_lets_go_by_itself() {
    let mut world = World::new();
    break_thrice(&mut world);
    let bad = world.now;
    let ahead = world.start(ask(Site::Segment).ahead());
    world.start(ask(Site::Key));
    world.drive_until(1_000.0);
    assert_eq!(wait(&world, ahead), Some(WaitReason::Held));
    let timer = world.engine.next_timeout();
    assert_eq!(timer, Some((Millis::new(bad + MINUTE), Timer::Plan)));
    world.drive_until_idle();
    assert_eq!(world.sent_at(ahead), [bad + MINUTE]);
    assert_eq!(log_of(&world, LogEvent::Path).last(), Some(&(0, 0.0)), "and it is told");
}

/// What begins in the moment between the change and its timer does not take it for old news.
#[test]
fn r84_a_change_that_is_due_is_not_lost_where_something_else_comes_first() {
    let mut world = World::new();
    break_thrice(&mut world);
    let ahead = world.start(ask(Site::Segment).ahead());
    world.start(ask(Site::Key));
    world.drive_until(1_000.0);
    world.now = MINUTE + 70.0;
    world.start(ask(Site::Manifest).always(hang()));
    world.drive_until(MINUTE + 100.0);
    assert_eq!(world.sent_at(ahead), [MINUTE + 70.0]);
}

#[test]
fn r84_silence_proves_nothing_and_a_success_after_the_minute_lets_go_at_once() {
    let mut world = World::new();
    break_thrice(&mut world);
    let ahead = world.start(ask(Site::Segment).ahead());
    world.drive_until(150_000.0);
    assert_eq!(wait(&world, ahead), Some(WaitReason::Held));
    let fine = world.start(ask(Site::Key));
    world.drive_until(150_100.0);
    assert_eq!(world.sent_at(ahead), [world.finished_at(fine)]);
    assert_eq!(log_of(&world, LogEvent::Path), [(3, 0.0), (0, 0.0)]);
    world.drive_until_idle();
    world.finished_at(ahead);
}

#[test]
fn r84_what_says_nothing_of_the_link_does_not_hold() {
    let mut world = World::new();
    let ahead = world.start(ask(Site::Segment).host(1).ahead().always(slow_origin(1_000.0)));
    for code in [400, 403, 404, 408, 429, 500, 502, 503, 504] {
        world.start(ask(Site::Key).host(2).always(status(code)));
    }
    world.drive_until(5_000.0);
    for _ in 0..5 {
        let id = world.start(ask(Site::Segment).host(3).always(hang()));
        world.drive_until(world.now + 100.0);
        world.abort(id);
    }
    world.online(false);
    for _ in 0..5 {
        world.start(ask(Site::Key).host(4).always(reject()));
    }
    world.drive_until(world.now + 1_000.0);
    world.online(true);
    assert_eq!(class(&world), ConnectionClass::Unmetered);
    assert_eq!(world.sent_at(ahead), [0.0]);
    // Two are not three.
    for _ in 0..2 {
        world.start(ask(Site::Other).host(5).always(reject()));
        let id = world.start(ask(Site::Certificate).host(5).always(reject()));
        world.drive_until(world.now + 21.0);
        world.abort(id);
    }
    assert_eq!(class(&world), ConnectionClass::Unmetered, "beacons do not count");
}

/// What fails while the sample says that there is no path is no news of the link.
#[test]
fn r84_failures_without_a_path_do_not_count() {
    let mut world = World::new();
    for _ in 0..4 {
        world.start(ask(Site::License).once_only().always(reject().after(100.0)));
    }
    world.path(gone());
    world.drive_until(1_000.0);
    world.path(sample());
    assert_eq!(class(&world), ConnectionClass::Unmetered);
    assert_eq!(world.host(0).health.failures, 0);
}

#[test]
fn r84_r85_another_path_starts_over() {
    let mut world = World::new();
    break_thrice(&mut world);
    let ahead = world.start(ask(Site::Segment).ahead());
    world.drive_until(100.0);
    // The same path, with other power: the link is what it was.
    world.path(PathSample { power: Power::Battery, ..sample() });
    assert_eq!(class(&world), ConnectionClass::Adverse);
    assert_eq!(world.engine.path_state(Millis::ZERO).generation, 0);
    world.drive_until(200.0);
    assert_eq!(world.sent_at(ahead).len(), 0);
    world.path(PathSample { interface: Interface::Wifi, ..sample() });
    assert_eq!(world.engine.path_state(Millis::ZERO).generation, 1);
    world.drive_until_idle();
    assert_eq!(world.sent_at(ahead), [200.0]);
    assert_eq!(log_of(&world, LogEvent::Path), [(3, 0.0), (0, 1.0)]);
}

#[test]
fn r83_r85_class_and_generation_are_shown_and_told() {
    let mut world = World::new();
    let steps = [
        (metered(), ConnectionClass::Metered, 1),
        (PathSample { thermal: Thermal::Serious, ..metered() }, ConnectionClass::Metered, 1),
        (PathSample { cost: Cost::Constrained, ..sample() }, ConnectionClass::Constrained, 2),
        (gone(), ConnectionClass::Offline, 3),
        (sample(), ConnectionClass::Unmetered, 4),
    ];
    for (path, class, generation) in steps {
        world.path(path);
        let state = world.engine.path_state(Millis::new(world.now));
        assert_eq!((state.class, state.generation), (class, generation));
    }
    assert_eq!(log_of(&world, LogEvent::Path), [(1, 1.0), (2, 2.0), (4, 3.0), (0, 4.0)]);
    world.online(false);
    assert_eq!(class(&world), ConnectionClass::Offline);
}

/// A plan that changed unseen, while nobody waited for it, is no sign of sleep.
#[test]
fn r84_r88_a_change_of_the_plan_that_nobody_waited_for_excuses_nothing() {
    let excused = |story: fn(&mut World)| {
        let mut config = Config { log_capacity: 1_000, ..Config::default() };
        config.sites[Site::Segment as usize].exhausted = Exhausted::Reject;
        let mut world = World::with(config);
        break_thrice(&mut world);
        story(&mut world);
        let failing = world.start(ask(Site::Segment).host(2).always(hang()));
        let begun = world.now;
        world.start(ask(Site::Segment).host(3).ahead().always(slow_origin(1_000.0)));
        world.drive_until(begun + MINUTE);
        let (at, failure) = world.failure(failing);
        assert_eq!(failure.reason, Reason::Deadline);
        at - begun
    };
    let plain = excused(|_| {});
    // The link is well again at 60 s.
    let demoted = excused(|world| {
        world.start(ask(Site::Key));
        world.drive_until(200_000.0);
    });
    // The success that proves it comes late.
    let proved = excused(|world| {
        world.drive_until(200_000.0);
        world.start(ask(Site::Key));
        world.drive_until(200_100.0);
    });
    // The last minute in the background begins while nothing is under way.
    let hurried = excused(|world| {
        let until = Some(Millis::new(100_000.0));
        world.path(PathSample { background_until: until, ..sample() });
        world.drive_until(200_000.0);
    });
    for other in [demoted, proved, hurried] {
        assert!((other - plain).abs() < 5_000.0, "{other} ms against {plain} ms");
    }
}

#[test]
fn r86_the_last_minute_in_the_background_cuts_by_itself() {
    let mut world = World::new();
    let until = Some(Millis::new(3.0 * MINUTE));
    world.path(PathSample { background_until: until, ..sample() });
    let ahead = world.start(ask(Site::Segment).ahead().always(slow_origin(1_000.0)));
    let needed = world.start(ask(Site::Segment).always(slow_origin(1_000.0)));
    world.drive_until(5.0 * MINUTE);
    assert_eq!(cuts(&world), [(2.0 * MINUTE + 1.0, ahead)]);
    assert_eq!(world.sent_at(needed), [0.0]);
    world.path(sample());
    world.drive_until(5.0 * MINUTE + 1.0);
    assert_eq!(world.sent_at(ahead), [0.0, 5.0 * MINUTE]);
}

/// A timer in the past would look like sleep.
#[test]
fn r88_a_last_minute_that_is_told_late_is_no_sleep() {
    let mut world = World::new();
    let ahead = world.start(ask(Site::Segment).ahead().always(slow_origin(1_000.0)));
    world.drive_until(50_000.0);
    world.path(PathSample { background_until: Some(Millis::new(80_000.0)), ..sample() });
    assert_eq!(cuts(&world), [(50_000.0, ahead)]);
    let due = world.engine.next_timeout().map(|(at, _)| at.get());
    assert!(due.is_some_and(|at| at > 50_000.0), "{due:?}");
}

// The ends of a hold.

#[test]
fn r86_a_hold_ends_with_its_limit() {
    for (path, ahead) in [(metered(), true), (heat(Thermal::Critical), false), (gone(), false)] {
        let mut world = World::new();
        world.path(path);
        let mut made = ask(Site::Segment);
        made.marks.ahead = ahead;
        let id = world.start(made);
        world.drive_until_idle();
        let (at, failure) = world.failure(id);
        assert_eq!((at, failure.reason), (600_000.0, Reason::HoldLimit), "{path:?}");
        assert_eq!(failure.attempts, 0);
    }
}

#[test]
fn r86_whoever_is_let_go_at_the_last_moment_is_sent() {
    let mut world = World::new();
    world.path(metered());
    let id = world.start(ask(Site::Segment).ahead());
    world.at(300_000.0, |world| world.path(unmetered()));
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn r10_an_abort_in_a_hold_leaves_nothing_behind() {
    let mut world = World::new();
    let cut = world.start(ask(Site::Segment).ahead().always(origin(10.0 * MB)));
    world.drive_until(300.0);
    world.path(metered());
    let held = world.start(ask(Site::Segment).ahead());
    world.drive_until(400.0);
    world.abort(cut);
    world.abort(held);
    assert_eq!(world.engine.next_timeout(), None);
    assert_eq!(world.engine.request_count(), 0);
    world.path(unmetered());
    world.drive_until_idle();
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn r69_a_rotation_ends_what_is_held_and_another_source_does_not() {
    let mut world = World::new();
    world.path(metered());
    let moved = world.start(ask(Site::Segment).ahead());
    let stays = world.start(ask(Site::Segment).host(1).ahead());
    world.rotate(0);
    assert_eq!(world.failure(moved).1.reason, Reason::Rotated);
    world.engine.handle_source(Config::default().into(), Millis::ZERO);
    world.drive_until(1_000.0);
    assert_eq!(wait(&world, stays), Some(WaitReason::Held));
    world.path(unmetered());
    world.drive_until_idle();
    world.finished_at(stays);
}

#[test]
fn r86_the_caller_cannot_hurry_what_is_held() {
    let mut world = World::new();
    world.path(metered());
    let id = world.start(ask(Site::Segment).ahead());
    world.retry_now();
    world.drive_until(1_000.0);
    assert_eq!(world.sent_at(id).len(), 0);
}

// Sleep (R88).

#[test]
fn r88_a_device_that_slept_ten_minutes_wakes_without_a_burst() {
    let mut world = World::new();
    // A lane with one request at a time, and one that waits for it.
    world.path(heat(Thermal::Serious));
    let body = world.start(ask(Site::Segment).always(silent(500_000.0)));
    let window: Vec<_> = (0..5).map(|_| world.start(ask(Site::Segment))).collect();
    let held: Vec<_> = (0..5).map(|_| world.start(ask(Site::Segment).ahead())).collect();
    let headers: Vec<_> =
        (0..5).map(|_| world.start(ask(Site::Key).host(1).always(hang()))).collect();
    let backoff: Vec<_> = (0..5)
        .map(|_| world.start(ask(Site::Playlist).host(2).answers([status(500), ok(9.0)])))
        .collect();
    world.drive_until(30.0);
    let before = world.sent.len();
    let under_way = 6 + backoff.len();
    let asleep = world.now + 600_000.0;
    world.freeze_until(asleep);
    assert_eq!(cuts(&world).iter().filter(|(at, _)| *at >= asleep).count(), 0, "no cut on waking");
    for id in window.iter().chain(&held) {
        assert!(world.verdict(*id).is_none(), "nothing ends in its sleep: {}", world.story(*id));
    }
    world.drive_until(asleep + 999.0);
    assert!(world.sent.len() - before <= under_way, "{} attempts", world.sent.len() - before);
    assert_eq!(world.sent.iter().filter(|sent| held.contains(&sent.request)).count(), 0);
    assert_eq!(cuts(&world).iter().filter(|(at, _)| *at >= asleep).count(), 0, "the grace");
    assert!((0..3).all(|host| world.host(host).health.health == Health::Closed));
    assert_ne!(class(&world), ConnectionClass::Adverse);
    for id in headers {
        world.abort(id);
    }
    world.abort(body);
    world.drive_until(asleep + 30_000.0);
    for id in window.iter().chain(&backoff) {
        world.finished_at(*id);
    }
    world.path(sample());
    world.drive_until_idle();
    for id in held {
        world.finished_at(id);
    }
}

#[test]
fn r84_r88_sleep_is_no_clean_minute() {
    let mut world = World::new();
    break_thrice(&mut world);
    let ahead = world.start(ask(Site::Segment).ahead());
    world.start(ask(Site::Key));
    world.drive_until(10_000.0);
    // Its headers are due soon, and their timer rings late.
    let late = world.start(ask(Site::Key).always(hang()));
    world.freeze_until(610_000.0);
    world.abort(late);
    assert_eq!(class(&world), ConnectionClass::Adverse);
    assert_eq!(wait(&world, ahead), Some(WaitReason::Held));
    world.drive_until_idle();
    world.finished_at(ahead);
    assert!(world.sent_at(ahead)[0] < 700_000.0);
}
