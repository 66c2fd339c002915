//! The same random session with and without advice: what advice can change, and what it cannot
//! (R90).

use std::collections::BTreeMap;

use fastrand::Rng;
use holdfast::core::{
    Action, AdverseDetector, Advice, Alternatives, Ask as Asked, Config, Cost, FailureClass,
    LogEvent, PathSample, Site, SiteClass, Thermal,
};

use crate::common::{Answer, Ask, World, ask, ok, reject, silent, status};

const MB: f64 = 1_048_576.0;

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
    assert!(waits > attempts / 100 && narrower > 0, "{waits} waits, {narrower} narrower");
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
