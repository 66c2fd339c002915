//! What advice does to requests: it narrows what is sent from then on at the host that gave it,
//! for a while, and nothing else (R89).

use holdfast::core::{
    Action, Advice, Allowed, Cost, LogEvent, Millis, PathSample, Power, Site, WaitReason, Wanted,
};

use crate::common::{Ask, Part, World, ask, hang, origin, status};

const MB: f64 = 1_048_576.0;

fn advice(sessions: u32) -> Advice {
    Advice { sessions: Some(sessions.into()), ..Advice::default() }
}

fn ranges(ranges: u32) -> Advice {
    Advice { ranges: Some(ranges.into()), ..Advice::default() }
}

fn duress() -> Advice {
    Advice { duress: true, ..Advice::default() }
}

fn lasting(advice: Advice, secs: f64) -> Advice {
    Advice { ttl: Some(secs), ..advice }
}

fn wait(world: &World, id: u32) -> Option<WaitReason> {
    world.engine.retry_states().find(|state| state.request.0 == id).and_then(|state| state.wait)
}

fn cuts(world: &World) -> usize {
    world.actions.iter().filter(|(_, action)| matches!(action, Action::Cut { .. })).count()
}

/// A segment whose body nobody reads on: it stays under way without a timer.
fn endless() -> Ask {
    let slow = status(200).parts(vec![Part::Chunk { gap: 1_500.0, bytes: 9.0 }; 400]);
    ask(Site::Segment).always(slow)
}

#[test]
fn r89_advice_counts_for_what_is_sent_from_then_on_and_cuts_nothing() {
    let mut world = World::new();
    let early: Vec<_> =
        (0..4).map(|_| world.start(ask(Site::Segment).always(origin(MB)))).collect();
    world.advise(0, advice(2));
    let late: Vec<_> = (0..3).map(|_| world.start(ask(Site::Segment))).collect();
    // The plan is made again, for a reason that forbids nothing.
    world.path(PathSample { power: Power::Battery, ..PathSample::default() });
    world.drive_until(100.0);
    assert_eq!((cuts(&world), world.sent.len()), (0, 4));
    assert!(late.iter().all(|id| wait(&world, *id) == Some(WaitReason::Window)));
    let index = world.start(ask(Site::Playlist));
    assert_eq!(world.sent_at(index), [100.0], "the index is outside");
    world.drive_until_idle();
    // All four end together; two take their places, and then the third.
    let at = world.finished_at(early[3]);
    assert_eq!(world.sent_at(late[0]), [at]);
    assert_eq!(world.sent_at(late[1]), [at]);
    assert_eq!(world.sent_at(late[2]), [world.finished_at(late[0])]);
}

/// Not even where the plan is narrower for another reason.
#[test]
fn r89_r90_what_is_under_way_is_not_cut_on_advice_whatever_the_plan_is() {
    for narrowed in [advice(1), duress()] {
        let mut world = World::new();
        let needed: Vec<_> =
            (0..3).map(|_| world.start(ask(Site::Segment).always(origin(MB)))).collect();
        world.advise(0, narrowed);
        world.path(PathSample { cost: Cost::Metered, ..PathSample::default() });
        world.drive_until_idle();
        assert_eq!(cuts(&world), 0);
        assert!(needed.iter().all(|id| world.sent_at(*id) == [0.0]));
    }
}

#[test]
fn r89_advice_ends_with_its_ttl_and_lets_go_without_any_other_event() {
    for (given, secs) in [(lasting(advice(1), 10.0), 10.0), (advice(1), 300.0)] {
        let mut world = World::new();
        world.start(endless());
        world.advise(0, given);
        world.drive_until(5_000.0);
        let second = world.start(ask(Site::Segment));
        world.drive_until(400_000.0);
        assert_eq!(world.sent_at(second), [secs * 1_000.0]);
        world.finished_at(second);
    }
}

#[test]
fn r89_advice_that_is_over_at_once_holds_nothing() {
    let mut world = World::new();
    world.start(endless());
    world.advise(0, advice(1));
    let second = world.start(ask(Site::Segment));
    assert_eq!(wait(&world, second), Some(WaitReason::Window));
    world.drive_until(100.0);
    world.advise(0, lasting(advice(1), 0.0));
    world.drive_until(1_000.0);
    assert_eq!(world.sent_at(second), [100.0], "what replaces it counts at once");
}

#[test]
fn r89_duress_means_one_at_a_time_and_nothing_ahead_until_it_is_over() {
    let mut world = World::new();
    let early = world.start(ask(Site::Segment).ahead().always(origin(MB)));
    world.advise(0, lasting(duress(), 10.0));
    let needed = world.start(ask(Site::Segment));
    let ahead = world.start(ask(Site::Segment).ahead());
    world.drive_until(5_000.0);
    assert_eq!(cuts(&world), 0, "what is under way goes on");
    assert_eq!(world.sent_at(needed), [world.finished_at(early)]);
    assert_eq!(wait(&world, ahead), Some(WaitReason::Held));
    world.drive_until_idle();
    assert_eq!(world.sent_at(ahead), [10_000.0]);
}

#[test]
fn r89_advice_is_its_hosts_alone() {
    let mut world = World::new();
    world.start(endless());
    world.advise(0, duress());
    world.start(endless().host(1));
    let elsewhere = world.start(ask(Site::Segment).host(1));
    let ahead = world.start(ask(Site::Segment).host(2).ahead());
    let here = world.start(ask(Site::Segment));
    assert_eq!(world.sent_at(elsewhere), [0.0]);
    assert_eq!(world.sent_at(ahead), [0.0]);
    assert_eq!(wait(&world, here), Some(WaitReason::Window));
    // Nobody has asked that one for anything yet.
    world.advise(7, advice(1));
    world.start(endless().host(7));
    let there = world.start(ask(Site::Segment).host(7));
    assert_eq!(wait(&world, there), Some(WaitReason::Window));
}

#[test]
fn r89_ranges_are_as_they_were_when_a_resource_was_begun() {
    let part = |world: &mut World, resource| {
        let mut made = ask(Site::Segment).always(hang());
        made.marks.resource = resource;
        made.wanted = Wanted { first: 0.0, last: 99.0, ranged: true, ..Wanted::default() };
        world.start(made)
    };
    let mut world = World::new();
    let first = part(&mut world, 1);
    for _ in 0..5 {
        part(&mut world, 1);
    }
    let seventh = part(&mut world, 1);
    assert_eq!(wait(&world, seventh), Some(WaitReason::Window), "six by default");
    world.advise(0, lasting(ranges(1), 1.0));
    let other = part(&mut world, 2);
    let second = part(&mut world, 2);
    world.drive_until(2_000.0);
    assert_eq!(world.sent_at(other), [0.0]);
    assert_eq!(wait(&world, second), Some(WaitReason::Window), "however old the advice is");
    let whole = world.start(ask(Site::Segment).always(hang()));
    assert_eq!(world.sent_at(whole), [2_000.0], "it is no range");
    let third = part(&mut world, 3);
    let fourth = part(&mut world, 3);
    assert_eq!(world.sent_at(third), world.sent_at(fourth), "begun after the advice");
    world.abort(other);
    world.abort(first);
    world.drive_until(2_000.0);
    assert_eq!(world.sent_at(second), [2_000.0]);
    assert_eq!(world.sent_at(seventh), [2_000.0]);
}

#[test]
fn r86_r89_the_plan_that_is_shown_is_the_least_of_all_hosts_and_advice_is_told() {
    let mut world = World::new();
    world.start(endless());
    world.advise(0, lasting(advice(4), 5.0));
    world.advise(3, Advice { abr_cap: Some(9e6), ..advice(2) });
    assert_eq!(world.engine.path_state(Millis::ZERO).plan.allowed, Allowed::All);
    let shown = |world: &World| world.engine.path_state(Millis::new(world.now)).plan;
    assert_eq!((shown(&world).max_in_flight, shown(&world).abr_cap), (2, Some(9e6)));
    let told: Vec<_> = world
        .engine
        .log()
        .filter(|entry| entry.event == LogEvent::Advised)
        .map(|entry| (entry.request.0, entry.detail, entry.value))
        .collect();
    assert_eq!(told, [(0, 0, 4.0), (0, 3, 2.0)]);
    world.advise(1, lasting(duress(), 5.0));
    assert_eq!(shown(&world).allowed, Allowed::Needed);
    world.drive_until(300_000.0);
    assert_eq!(shown(&world).allowed, Allowed::All);
    assert_eq!((shown(&world).max_in_flight, shown(&world).abr_cap), (128, None));
}
