//! The windows of a lane: as much media is under way at a host as its own window, its advice and
//! the plan allow, and what has to wait for that goes on when there is room (R81).

use std::collections::BTreeMap;

use fastrand::Rng;
use holdfast::core::{
    Action, Advice, Alternatives, Config, Cost, Failure, Hooks, Limited, LogEvent, Millis,
    PathSample, Power, Reason, Scope, Site, SiteClass, Thermal, WaitReason, Wanted,
};

use crate::common::{
    Answer, Ask, Part, Verdict, World, ask, hang, ok, origin, reject, silent, status,
};

const KB: f64 = 1_024.0;
const MB: f64 = 1_024.0 * KB;

fn sessions(sessions: u32) -> Advice {
    Advice { sessions: Some(sessions.into()), ttl: Some(86_400.0), ..Advice::default() }
}

fn wait(world: &World, id: u32) -> Option<WaitReason> {
    world.engine.retry_states().find(|state| state.request.0 == id).and_then(|state| state.wait)
}

/// A world whose host 0 advises one request at a time.
fn narrow() -> World {
    narrow_with(Config { log_capacity: 10_000, ..Config::default() })
}

fn narrow_with(config: Config) -> World {
    let mut world = World::with(config);
    world.advise(0, sessions(1));
    world
}

#[test]
fn r81_a_slot_that_frees_is_taken_at_once_in_the_order_of_need() {
    let mut world = narrow();
    let first = world.start(ask(Site::Segment).always(origin(MB)));
    let start = |world: &mut World, site, ahead| {
        let mut made = ask(site).always(origin(MB));
        made.marks.ahead = ahead;
        world.start(made)
    };
    let ahead = start(&mut world, Site::Init, true);
    let text = start(&mut world, Site::TextSegment, false);
    let younger = start(&mut world, Site::Segment, false);
    let youngest = start(&mut world, Site::Segment, false);
    let init = start(&mut world, Site::Init, false);
    world.drive_until(100.0);
    for id in [ahead, text, younger, youngest, init] {
        assert_eq!(wait(&world, id), Some(WaitReason::Window));
    }
    world.drive_until_idle();
    let order = [first, init, younger, youngest, text, ahead];
    for (one, next) in order.iter().zip(&order[1..]) {
        assert_eq!(world.sent_at(*next), [world.finished_at(*one)], "no timer is waited for");
    }
}

/// However a request leaves its lane, the next one takes its place in the same instant.
#[test]
fn r81_a_lane_empties_by_every_end_of_an_attempt() {
    let next_is_sent = |story: &str, made: Ask, deed: fn(&mut World, u32)| {
        let mut world = narrow();
        world.opinions = vec![(100_000.0, holdfast::core::Answer::Default)];
        let first = world.start(made);
        let second = world.start(ask(Site::Segment));
        assert_eq!(wait(&world, second), Some(WaitReason::Window), "{story}");
        world.at(500.0, move |world| deed(world, first));
        world.drive_until(20_000.0);
        let is_end = |(_, action): &&(f64, Action)| match action {
            Action::Cut { request, .. }
            | Action::Failed { request, .. }
            | Action::Fail { request, .. }
            | Action::Finish { request }
            | Action::Forget { request } => request.0 == first,
            _ => false,
        };
        let end = world.actions.iter().find(is_end).map(|(at, _)| *at);
        let end = end.unwrap_or_else(|| panic!("{story}: {}", world.story(first)));
        assert_eq!(world.sent_at(second), [end], "{story}");
        world.finished_at(second);
    };
    let nothing: fn(&mut World, u32) = |_, _| {};
    let segment = ask(Site::Segment);
    next_is_sent("success", segment.clone(), nothing);
    next_is_sent("a retryable status", segment.clone().answers([status(500), ok(9.0)]), nothing);
    next_is_sent("a final status", segment.clone().always(status(404)), nothing);
    next_is_sent("a rejection", segment.clone().answers([reject(), ok(9.0)]), nothing);
    next_is_sent("no headers", segment.clone().answers([hang(), ok(9.0)]), nothing);
    next_is_sent("silence", segment.clone().answers([silent(9.0), ok(9.0)]), nothing);
    next_is_sent("a page", segment.clone().always(crate::common::page()), nothing);
    next_is_sent("nothing in it", segment.clone().answers([ok(0.0), ok(9.0)]), nothing);
    next_is_sent(
        "a question",
        segment.clone().always(status(500)).hooks(Hooks::SHOULD_RETRY),
        nothing,
    );
    next_is_sent("an abort in the headers", segment.clone().always(hang()), World::abort);
    next_is_sent("an abort in the body", segment.clone().always(origin(MB)), World::abort);
    next_is_sent("the plan", segment.always(hang()).ahead(), |world, _| {
        world.path(PathSample { cost: Cost::Metered, ..PathSample::default() });
    });
}

/// The next part of a body may have to wait for something that concerns nobody else.
#[test]
fn r81_a_lane_empties_where_a_body_cannot_go_on_with_its_next_part() {
    let mut config = Config { log_capacity: 10_000, ..Config::default() };
    config.sites[Site::Segment as usize].resume.range_first = true;
    let mut world = narrow_with(config);
    world.start(ask(Site::Segment).always(origin(MB)));
    world.drive_until(2_000.0);
    for _ in 0..3 {
        world.start(ask(Site::Other).host(8).always(reject()));
        let id = world.start(ask(Site::Key).host(9).always(reject()));
        world.drive_until(world.now + 21.0);
        world.abort(id);
    }
    let parts = world.start(ask(Site::Segment).prefix(1).always(origin(3.0 * MB)));
    let other = world.start(ask(Site::Segment).always(origin(100.0 * KB)));
    world.drive_until(world.now + 20.0);
    let limited = Limited { scope: Scope::Prefix, wait: Some(Millis::from_secs(30.0)) };
    world.start(ask(Site::Key).prefix(1).always(status(429).limited(limited)));
    world.drive_until(world.now + 10_000.0);
    let of = |(at, action): &(f64, Action)| match action {
        Action::Ended { request, .. } if request.0 == parts => Some(*at),
        _ => None,
    };
    let ended: Vec<_> = world.actions.iter().filter_map(of).collect();
    assert_eq!(ended.len(), 1, "{}", world.story(parts));
    assert_eq!(wait(&world, parts), Some(WaitReason::Vrlt));
    assert_eq!(world.sent_at(other), ended, "{}", world.story(other));
}

/// Whose turn it is may meanwhile have to wait for something that concerns nobody else.
#[test]
fn r81_a_slot_that_is_not_taken_goes_to_the_next() {
    let mut world = narrow();
    let first = world.start(ask(Site::Segment).always(origin(MB)));
    let second = world.start(ask(Site::Segment).prefix(1));
    let third = world.start(ask(Site::Segment));
    let limited = Limited { scope: Scope::Prefix, wait: Some(Millis::from_secs(30.0)) };
    world.start(ask(Site::Key).prefix(1).always(status(429).limited(limited)));
    world.drive_until(5_000.0);
    assert_eq!(wait(&world, second), Some(WaitReason::Vrlt));
    assert_eq!(world.sent_at(third), [world.finished_at(first)]);
}

#[test]
fn r81_a_wait_for_a_slot_ends_with_the_limit_of_a_hold() {
    let mut world = narrow();
    let slow = status(200).parts(vec![Part::Chunk { gap: 1_000.0, bytes: 9.0 }; 700]);
    world.start(ask(Site::Segment).always(slow));
    let id = world.start(ask(Site::Segment));
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    assert_eq!((at, failure.reason, failure.attempts), (600_000.0, Reason::HoldLimit, 0));
}

#[test]
fn r10_r69_a_wait_for_a_slot_ends_with_an_abort_and_with_a_rotation() {
    let mut world = narrow();
    let first = world.start(ask(Site::Segment).always(origin(MB)));
    let aborted = world.start(ask(Site::Segment));
    let moved = world.start(ask(Site::Segment));
    world.abort(aborted);
    world.rotate(0);
    assert_eq!(world.failure(moved).1.reason, Reason::Rotated);
    world.drive_until_idle();
    world.finished_at(first);
    assert_eq!(world.engine.request_count(), 0);
    assert_eq!(world.engine.next_timeout(), None);
}

/// Time in the queue of a lane is nobody's failure.
#[test]
fn r81_the_wait_for_a_slot_does_not_use_up_the_time_of_the_ladder() {
    let mut config = Config { log_capacity: 10_000, ..Config::default() };
    config.sites[Site::Segment as usize].exhausted = holdfast::core::Exhausted::Reject;
    let mut world = narrow_with(config);
    let long = Answer::Origin { after: 20.0, size: 60.0 * MB, chunk: MB, gap: 1_000.0 };
    world.start(ask(Site::Segment).always(long));
    let late = ok(9.0).after(7_000.0);
    let id = world.start(ask(Site::Segment).answers([status(500), late]));
    world.drive_until_idle();
    assert!(world.finished_at(id) > 60_000.0);
}

// Whatever happens.

/// What held when, by the side of the engine.
#[derive(Clone, Copy, Debug)]
struct Windows {
    sessions: u32,
    ranges: u32,
    until: f64,
}

#[derive(Default)]
struct Model {
    /// By host.
    advised: BTreeMap<u32, Windows>,
    /// By time: whether one at a time is all that power and heat allow.
    weak: bool,
    /// By request: its host, its site, its resource where it asks for a range, and how many of
    /// that may be under way.
    requests: BTreeMap<u32, (u32, Site, Option<u32>, u32)>,
    under_way: Vec<u32>,
    seen: usize,
}

impl Model {
    fn sessions(&self, host: u32, now: f64) -> u32 {
        let advised = self.advised.get(&host).filter(|windows| now < windows.until);
        let advised = advised.map_or(128, |windows| windows.sessions);
        if self.weak { 1 } else { advised }
    }

    fn ranges(&self, host: u32, now: f64) -> u32 {
        let advised = self.advised.get(&host).filter(|windows| now < windows.until);
        advised.map_or(6, |windows| windows.ranges)
    }

    fn is_bulk(&self, id: u32) -> bool {
        self.requests[&id].1.class() == SiteClass::BulkTransfer
    }

    /// Follows the actions since the last time.
    fn check(&mut self, world: &World) {
        for (at, action) in &world.actions[self.seen..] {
            match action {
                Action::Send { request, .. } => self.check_send(request.0, *at),
                Action::Cut { request, .. }
                | Action::Ended { request, .. }
                | Action::Failed { request, .. }
                | Action::Fail { request, .. }
                | Action::Finish { request }
                | Action::Forget { request } => self.under_way.retain(|id| *id != request.0),
                _ => {}
            }
        }
        self.seen = world.actions.len();
    }

    fn check_send(&mut self, id: u32, now: f64) {
        let (host, _, resource, ranges) = self.requests[&id];
        self.under_way.push(id);
        if !self.is_bulk(id) {
            return;
        }
        let lane = self.under_way.iter().filter(|id| self.is_bulk(**id));
        let lane: Vec<_> = lane.filter(|id| self.requests[id].0 == host).collect();
        let most = self.sessions(host, now);
        assert!(lane.len() <= most as usize, "{lane:?} at {now} ms, and {most} may be");
        if resource.is_some() {
            let same = lane.iter().filter(|id| self.requests[id].2 == resource).count();
            assert!(same <= ranges as usize, "{same} ranges at {now} ms, and {ranges} may be");
        }
    }
}

fn random_ask(dice: &mut Rng, faults: bool) -> Ask {
    let site = Site::ALL[dice.usize(0..Site::COUNT - 1)];
    let site = if dice.bool() { Site::Segment } else { site };
    let size = (dice.f64() * 400.0 * KB).ceil() + 1.0;
    let chunk = (size / f64::from(dice.u32(1..5))).ceil();
    let gap = dice.f64() * 400.0;
    let whole = Answer::Origin { after: dice.f64() * 300.0, size, chunk, gap };
    let mut answers = Vec::new();
    for _ in 0..if faults { dice.u32(0..3) } else { 0 } {
        answers.push(match dice.u32(0..5) {
            0 => reject(),
            1 => status(503).retry_after(300.0),
            2 => silent(9.0),
            3 => status(404),
            _ => status(500),
        });
    }
    answers.push(whole);
    let mut made = ask(site).host(dice.u32(0..3)).alternatives(Alternatives::None).answers(answers);
    made.marks.ahead = dice.u32(0..3) == 0;
    made.marks.resource = dice.u32(1..4);
    if site == Site::Segment && dice.bool() {
        made.wanted = Wanted { first: 0.0, last: size - 1.0, ranged: true, ..Wanted::default() };
    }
    if dice.bool() { made.streaming() } else { made }
}

fn random_session(seed: u64, faults: bool) -> (World, Model) {
    let mut dice = Rng::with_seed(seed);
    let (mut world, mut model) = (World::seeded(seed), Model::default());
    let mut path = PathSample::default();
    for _ in 0..dice.u32(5..40) {
        world.drive_until(world.now + dice.f64() * dice.f64() * 1_500.0);
        model.check(&world);
        let now = world.now;
        match dice.u32(0..12) {
            0..7 => {
                let made = random_ask(&mut dice, faults);
                let resource = made.wanted.ranged.then_some(made.marks.resource);
                let ranges = model.ranges(made.host, now);
                let id = model.requests.len() as u32 + 1;
                model.requests.insert(id, (made.host, made.site, resource, ranges));
                world.start(made);
            }
            7 | 8 => {
                let host = dice.u32(0..3);
                let (sessions, ranges) = (dice.u32(1..5), dice.u32(1..4));
                let secs = dice.f64() * 20.0;
                let advice = Advice {
                    sessions: Some(sessions.into()),
                    ranges: Some(ranges.into()),
                    ttl: Some(secs),
                    ..Advice::default()
                };
                let windows = Windows { sessions, ranges, until: now + secs * 1_000.0 };
                model.advised.insert(host, windows);
                world.advise(host, advice);
            }
            9 if faults && !model.requests.is_empty() => {
                let id = dice.u32(1..=model.requests.len() as u32);
                if !is_over(&world, id) {
                    world.abort(id);
                }
            }
            10 => {
                path.power = if dice.bool() { Power::LowPower } else { Power::Battery };
                path.thermal = [Thermal::Nominal, Thermal::Serious][dice.usize(0..2)];
                model.weak = path.power == Power::LowPower || path.thermal == Thermal::Serious;
                world.path(path);
            }
            11 if dice.bool() => {
                path.cost = [Cost::Metered, Cost::Unmetered][dice.usize(0..2)];
                world.path(path);
            }
            _ => world.consent(dice.bool()),
        }
        model.check(&world);
    }
    model.weak = false;
    world.consent(true);
    world.path(PathSample::default());
    world.drive_until_idle();
    model.check(&world);
    (world, model)
}

fn is_over(world: &World, id: u32) -> bool {
    let ends = [LogEvent::Succeeded, LogEvent::GivenUp, LogEvent::Aborted];
    world.events(id).iter().any(|event| ends.contains(event))
}

fn quick() -> bool {
    std::env::var_os("HOLDFAST_QUICK").is_some()
}

#[test]
fn r81_no_lane_and_no_resource_ever_has_more_under_way_than_its_windows() {
    let (mut waits, mut most) = (0, 0);
    for seed in 0..if quick() { 60 } else { 1_500 } {
        let (world, model) = random_session(seed, true);
        most = most.max(model.requests.len());
        for entry in world.engine.log() {
            let reason = entry.event == LogEvent::Waiting && entry.detail == 11;
            if reason {
                waits += 1;
                assert!(model.is_bulk(entry.request.0), "the index waits for no window");
            }
        }
        assert_eq!(world.engine.request_count(), 0, "seed {seed}: all have their end");
        for id in model.requests.keys() {
            assert!(is_over(&world, *id), "seed {seed}: {}", world.story(*id));
            if let Some((_, Verdict::Failed(Failure { reason, .. }))) = world.verdict(*id) {
                assert_ne!(reason, Reason::HoldLimit, "seed {seed}: {}", world.story(*id));
            }
        }
    }
    assert!(waits > if quick() { 20 } else { 800 }, "{waits} waits");
    assert!(most > 20);
}

#[test]
fn r81_without_faults_a_window_of_one_leads_to_the_same_verdicts() {
    for seed in 0..if quick() { 20 } else { 400 } {
        let play = |advised: Option<u32>| {
            let mut dice = Rng::with_seed(seed);
            let mut world = World::seeded(seed);
            for (host, most) in (0..3).zip(advised.into_iter().cycle()) {
                world.advise(host, sessions(most));
            }
            for _ in 0..20 {
                let made = random_ask(&mut dice, false);
                world.start(made);
                world.drive_until(world.now + dice.f64() * 300.0);
            }
            world.drive_until_idle();
            let verdicts: Vec<_> = (1..=20).map(|id| world.verdict(id)).collect();
            let bytes = |id| world.entries(id).last().map(|entry| (entry.event, entry.value));
            let ends: Vec<_> = (1..=20).map(bytes).collect();
            assert!(verdicts.iter().all(Option::is_some), "seed {seed}: nothing is stuck");
            let sent: Vec<_> = (1..=20).map(|id| world.sent_at(id).len()).collect();
            (ends, sent)
        };
        let wide = play(None);
        assert_eq!(play(Some(1)), wide, "seed {seed}");
        assert_eq!(play(Some(128)), wide, "seed {seed}");
        assert!(wide.0.iter().all(|end| matches!(end, Some((LogEvent::Succeeded, _)))));
    }
}

/// A full buffer is no reason for another one to stay empty.
#[test]
fn r81_a_body_that_nobody_reads_leaves_its_place_to_others() {
    let mut world = World::new();
    world.path(PathSample { power: Power::LowPower, ..PathSample::default() });
    let full = status(200).parts([
        Part::LastRead { gap: 50.0, bytes: 1_000.0 },
        Part::Read { gap: 60_000.0 },
        Part::Chunk { gap: 50.0, bytes: 1_000.0 },
        Part::End { gap: 0.0 },
    ]);
    let video = world.start(ask(Site::Segment).streaming().always(full));
    let audio = world.start(ask(Site::Segment));
    world.drive_until_idle();
    assert_eq!(world.sent_at(audio), [1_070.0], "one second after the last byte was taken");
    world.finished_at(audio);
    assert!(world.finished_at(video) > 60_000.0);
    assert_eq!(world.sent_at(video).len(), 1);
}
