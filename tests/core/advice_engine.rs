//! What advice does to requests: it narrows what is sent from then on at the host that gave it,
//! for a while, and nothing else (R89, R90).

use std::collections::BTreeMap;

use fastrand::Rng;
use holdfast::core::{
    Action, AdverseDetector, Advice, Alternatives, Ask as Asked, Config, Cost, FailureClass,
    LogEvent, Millis, PathSample, Power, Site, SiteClass, Thermal, Timer, WaitReason, Wanted,
};

use crate::common::{Answer, Ask, Part, World, ask, hang, ok, origin, reject, silent, status};

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
    let unread = status(200).parts([Part::LastRead { gap: 50.0, bytes: 9.0 }]);
    ask(Site::Segment).always(unread)
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
        let timer = Some((Millis::from_secs(secs), Timer::Plan));
        assert_eq!(world.engine.next_timeout(), timer);
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
    let shown = |world: &World| world.engine.path_state(Millis::new(world.now)).plan;
    assert_eq!((shown(&world).max_in_flight, shown(&world).abr_cap), (2, Some(9e6)));
    let told: Vec<_> = world
        .engine
        .log()
        .filter(|entry| entry.event == LogEvent::Advised)
        .map(|entry| (entry.request.0, entry.detail, entry.value))
        .collect();
    assert_eq!(told, [(0, 0, 4.0), (0, 3, 2.0)]);
    world.drive_until(300_000.0);
    assert_eq!((shown(&world).max_in_flight, shown(&world).abr_cap), (128, None));
}

// The same session with and without advice (R90).

#[derive(Clone, Debug)]
enum Deed {
    Start(Ask),
    Path(PathSample),
    Consent(bool),
}

fn deeds(dice: &mut Rng, paths: bool) -> Vec<(f64, Deed)> {
    let mut at = 0.0;
    let mut path = PathSample::default();
    let mut all = Vec::new();
    for _ in 0..dice.u32(3..12) {
        at += dice.f64() * dice.f64() * 3_000.0;
        let deed = match dice.u32(0..8) {
            0 if paths => {
                path.cost = [Cost::Metered, Cost::Unmetered][dice.usize(0..2)];
                Deed::Path(path)
            }
            1 if paths => {
                path.thermal = Thermal::ALL[dice.usize(0..5)];
                Deed::Path(path)
            }
            2 if paths => Deed::Consent(dice.bool()),
            _ => Deed::Start(random_ask(dice, paths)),
        };
        all.push((at, deed));
    }
    all
}

/// A request that succeeds after three failures at most. With `parts`, it can be fetched in parts.
fn random_ask(dice: &mut Rng, parts: bool) -> Ask {
    let sites =
        [Site::Segment, Site::Segment, Site::Segment, Site::Init, Site::Playlist, Site::Key];
    let mut answers = Vec::new();
    for _ in 0..dice.u32(0..8).saturating_sub(4) {
        answers.push(match dice.u32(0..4) {
            // What speaks of the link, or of the rate, holds back others: that depends on when.
            0 if parts => reject(),
            1 if parts => silent(99.0),
            2 if parts => status(503).retry_after(700.0),
            _ => status(500),
        });
    }
    let size = (dice.f64() * 3.0 * MB).ceil();
    answers.push(if parts {
        Answer::Origin { after: 20.0, size, chunk: (size / 4.0).ceil(), gap: dice.f64() * 500.0 }
    } else {
        ok(size).after(dice.f64() * 200.0)
    });
    let site = sites[dice.usize(0..sites.len())];
    let mut made = ask(site).host(dice.u32(0..2)).alternatives(Alternatives::None).answers(answers);
    made.marks.ahead = dice.bool();
    made.wanted.partial = parts;
    made
}

/// Advice that does not outlast a hold: what is held for longer fails, and that is as it should be.
fn random_advice(dice: &mut Rng) -> Advice {
    let mut some = |low: u32, high: u32| dice.bool().then(|| f64::from(dice.u32(low..high)));
    let mut advice = Advice {
        chunk: some(1, 128).map(|chunk| chunk * 65_536.0),
        sessions: some(1, 6),
        ranges: some(1, 6),
        abr_cap: some(1, 9).map(|cap| cap * 1e6),
        duress: some(0, 4) == Some(1.0),
        ttl: None,
    };
    advice.ttl = Some(dice.u32(0..40).into());
    advice
}

struct Run {
    world: World,
    /// When consent and samples changed.
    known: Vec<(f64, PathSample, bool)>,
    requests: u32,
}

fn run(seed: u64, deeds: &[(f64, Deed)], advised: bool) -> Run {
    let mut dice = Rng::with_seed(seed ^ 0xAD71CE);
    let mut config = Config { seed, log_capacity: 10_000, ..Config::default() };
    // What is a matter of luck in both is left out: who pays, and whose turn the probe is.
    config.budget.host = 1_000.0;
    config.budget.source = 1_000.0;
    config.budget.session = 1_000.0;
    let mut world = World::with(config);
    let (mut known, mut requests) = (vec![(0.0, PathSample::default(), false)], 0);
    for (at, deed) in deeds {
        world.drive_until(*at);
        let (_, path, consent) = known[known.len() - 1];
        match deed {
            Deed::Start(ask) => requests = world.start(ask.clone()),
            Deed::Path(path) => {
                known.push((*at, *path, consent));
                world.path(*path);
            }
            Deed::Consent(consent) => {
                known.push((*at, path, *consent));
                world.consent(*consent);
            }
        }
        if dice.bool() {
            let (host, advice) = (dice.u32(0..2), random_advice(&mut dice));
            if advised {
                world.advise(host, advice);
            }
        }
    }
    let at = world.now;
    known.push((at, PathSample::default(), true));
    world.path(PathSample::default());
    world.consent(true);
    world.drive_until(at + 100_000.0);
    // A success, which may prove that the link is well.
    world.start(ask(Site::Key));
    world.drive_until_idle();
    Run { world, known, requests }
}

impl Run {
    fn attempts(&self) -> BTreeMap<u32, usize> {
        (1..=self.requests).map(|id| (id, self.world.sent_at(id).len())).collect()
    }

    /// How each ended, and with how many bytes.
    fn ends(&self) -> Vec<Option<(LogEvent, f64)>> {
        let end = |id| self.world.entries(id).last().map(|entry| (entry.event, entry.value));
        (1..=self.requests).map(end).collect()
    }

    /// No attempt is sent that the path, the link and the user's word would not allow without any
    /// advice; no part is larger than without any.
    fn check_holds(&self, deeds: &[(f64, Deed)]) {
        let asks: Vec<_> = deeds
            .iter()
            .filter_map(|(_, deed)| if let Deed::Start(ask) = deed { Some(ask) } else { None })
            .collect();
        let (mut link, mut known) = (AdverseDetector::default(), 0);
        for entry in self.world.engine.log() {
            let now = entry.at;
            // The engine is told of a path before it does anything about it.
            while known + 1 < self.known.len() && self.known[known + 1].0 < now.get()
                || known + 1 < self.known.len()
                    && self.known[known + 1].0 == now.get()
                    && entry.event == LogEvent::Sent
            {
                known += 1;
                if self.known[known].1.cost != self.known[known - 1].1.cost {
                    link.reset();
                }
            }
            match entry.event {
                LogEvent::Failed => {
                    let bad = [FailureClass::Transport, FailureClass::Stall, FailureClass::Timeout];
                    if bad.iter().any(|class| *class as u32 == entry.detail) {
                        link.handle_bad(now);
                    }
                }
                LogEvent::Succeeded => link.handle_success(),
                LogEvent::Sent => {
                    let Some(ask) = asks.get(entry.request.0 as usize - 1) else { continue };
                    let (_, path, consent) = self.known[known];
                    let metered = path.cost == Cost::Metered;
                    let costly = !consent && (metered || link.is_adverse(now));
                    let is_hot = path.thermal == Thermal::Serious;
                    assert_ne!(path.thermal, Thermal::Critical, "{entry:?}");
                    assert!(!(ask.marks.ahead && (costly || is_hot)), "{entry:?}");
                }
                _ => {}
            }
        }
        for (_, action) in &self.world.actions {
            if let Action::Send { ask: Asked::Part(first, last), .. } = action {
                let whole = last.is_finite() && last - first >= MB;
                assert!(!whole || *first > 0.0, "{action:?}");
            }
        }
    }

    /// The most that was under way at once in a lane.
    fn most(&self, deeds: &[(f64, Deed)]) -> usize {
        let asks: Vec<_> = deeds
            .iter()
            .filter_map(|(_, deed)| if let Deed::Start(ask) = deed { Some(ask) } else { None })
            .collect();
        let (mut under_way, mut most) = (Vec::new(), 0);
        for (_, action) in &self.world.actions {
            match action {
                Action::Send { request, .. } => {
                    let Some(ask) = asks.get(request.0 as usize - 1) else { continue };
                    if ask.site.class() == SiteClass::BulkTransfer {
                        under_way.push((request.0, ask.host));
                    }
                }
                Action::Cut { request, .. }
                | Action::Ended { request, .. }
                | Action::Finish { request } => under_way.retain(|(id, _)| *id != request.0),
                _ => {}
            }
            for host in 0..2 {
                most = most.max(under_way.iter().filter(|(_, of)| *of == host).count());
            }
        }
        most
    }
}

fn sessions_of(kind: u64) -> std::ops::Range<u64> {
    let count = if std::env::var_os("HOLDFAST_QUICK").is_some() { 100 } else { 5_000 };
    kind * 1_000_000..kind * 1_000_000 + count
}

/// Each attempt meets what the one of the same number meets in the other run. So each request has
/// as many attempts, and ends alike, whatever is advised.
#[test]
fn r90_with_advice_each_request_has_as_many_attempts_and_the_same_end() {
    let (mut attempts, mut waits, mut narrower) = (0, 0, 0);
    for seed in sessions_of(1) {
        let deeds = deeds(&mut Rng::with_seed(seed), false);
        let (plain, advised) = (run(seed, &deeds, false), run(seed, &deeds, true));
        assert_eq!(advised.attempts(), plain.attempts(), "seed {seed}");
        assert_eq!(advised.ends(), plain.ends(), "seed {seed}");
        assert_eq!(advised.world.engine.request_count(), 0);
        advised.check_holds(&deeds);
        attempts += plain.world.sent.len();
        waits += advised.world.engine.log().filter(|entry| is_narrowed(entry)).count();
        narrower += usize::from(advised.most(&deeds) < plain.most(&deeds));
    }
    println!("{attempts} attempts in both; advice held {waits} back, {narrower} lanes narrower");
    assert!(waits > attempts / 100 && narrower > 5, "{waits} waits, {narrower} narrower");
}

fn is_narrowed(entry: &holdfast::core::Entry) -> bool {
    entry.event == LogEvent::Waiting && matches!(entry.detail, 10 | 11)
}

/// Where the path changes as well, the times differ, and with them what a change meets.
#[test]
fn r90_with_advice_no_hold_is_lifted_and_no_request_fails_that_would_not() {
    let (mut plain_attempts, mut advised_attempts, mut failures) = (0, 0, [0, 0]);
    for seed in sessions_of(2) {
        let deeds = deeds(&mut Rng::with_seed(seed), true);
        let (plain, advised) = (run(seed, &deeds, false), run(seed, &deeds, true));
        plain.check_holds(&deeds);
        advised.check_holds(&deeds);
        assert_eq!(advised.ends(), plain.ends(), "seed {seed}");
        plain_attempts += plain.world.sent.len();
        advised_attempts += advised.world.sent.len();
        for (run, count) in [plain, advised].iter().zip(&mut failures) {
            let failed = |entry: &&holdfast::core::Entry| entry.event == LogEvent::Failed;
            *count += run.world.engine.log().filter(failed).count();
        }
    }
    println!("{plain_attempts} attempts without advice, {advised_attempts} with; {failures:?}");
}
