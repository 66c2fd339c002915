//! Random walks of the circuit breaker beside a model that is too plain to be wrong: it keeps
//! every result with its time, counts spans down instead of comparing timestamps, and knows a
//! probe by its number (R38).
#![cfg(not(target_family = "wasm"))]

use fastrand::Rng;
use holdfast::core::{
    Breaker, BreakerConfig, Evidence, Health, HealthState, Millis, Permit, Report,
};

/// What the model and the breaker may differ by in a time, in milliseconds: they add up
/// fractions in different orders.
const CLOSE: f64 = 1e-6;

/// A result while closed.
struct Entry {
    at: f64,
    evidence: Evidence,
    transport: bool,
    url: u32,
}

enum Phase {
    Closed,
    /// `left` is what remains of the cool-down, online.
    Open {
        left: f64,
    },
    /// The probe of this number, and what remains of its lease, online.
    Probing {
        probe: usize,
        left: f64,
    },
}

struct Model {
    config: BreakerConfig,
    now: f64,
    offline: bool,
    phase: Phase,
    /// The attempts whose results count, by number.
    valid: Vec<usize>,
    entries: Vec<Entry>,
    trips: u32,
    clean: f64,
    opened_at: f64,
    floor: f64,
    unit: f64,
    pulled_at: f64,
}

impl Model {
    fn new(config: BreakerConfig) -> Self {
        Self {
            config,
            now: 0.0,
            offline: false,
            phase: Phase::Closed,
            valid: Vec::new(),
            entries: Vec::new(),
            trips: 0,
            clean: 0.0,
            opened_at: 0.0,
            floor: 0.0,
            unit: 0.5,
            pulled_at: -1e9,
        }
    }

    fn pass(&mut self, span: f64) {
        self.now += span;
        match &mut self.phase {
            Phase::Closed => {
                self.clean += span;
                while self.clean >= self.config.clean_decay.get() {
                    self.clean -= self.config.clean_decay.get();
                    self.trips = self.trips.saturating_sub(1);
                }
            }
            Phase::Open { left } | Phase::Probing { left, .. } if !self.offline => *left -= span,
            Phase::Open { .. } | Phase::Probing { .. } => {}
        }
        self.lose_the_probe();
    }

    fn lose_the_probe(&mut self) {
        if let Phase::Probing { left, .. } = self.phase
            && left <= 0.0
        {
            let span = jittered(self.cool_down(), self.unit);
            self.phase = Phase::Open { left: left + span };
            self.trips += 1;
            self.valid.clear();
        }
    }

    fn cool_down(&self) -> f64 {
        let mut span = self.config.open_base.get();
        for _ in 0..self.trips.min(100) {
            span *= self.config.growth;
        }
        span.min(self.config.open_cap.get())
    }

    /// Whether the attempt of this number is admitted as a plain one, as a probe, or not.
    fn admit(&mut self, number: usize, lease: f64) -> Option<bool> {
        match self.phase {
            Phase::Closed => {
                self.valid.push(number);
                Some(false)
            }
            Phase::Open { left } if left <= CLOSE => {
                self.valid.push(number);
                self.phase = Phase::Probing { probe: number, left: lease };
                self.lose_the_probe();
                Some(true)
            }
            Phase::Open { .. } | Phase::Probing { .. } => None,
        }
    }

    fn report(&mut self, number: usize, report: Report) {
        if !self.valid.contains(&number) {
            return;
        }
        let evidence = report.evidence;
        let failed = matches!(evidence, Evidence::Failure | Evidence::Soft);
        if let Phase::Probing { probe, .. } = self.phase {
            assert_eq!(probe, number, "nothing else is valid");
            if matches!(evidence, Evidence::Alive | Evidence::Success) {
                self.close();
            } else if failed && !self.offline {
                self.open(report);
            } else {
                self.phase = Phase::Open { left: 0.0 };
                self.valid.clear();
            }
            return;
        }
        if self.offline {
            return;
        }
        let Report { transport, url, .. } = report;
        self.entries.push(Entry { at: self.now, evidence, transport, url });
        if evidence == Evidence::Failure {
            self.clean = 0.0;
        }
        if !failed && evidence != Evidence::Success {
            return;
        }
        let row = self.row();
        let (failures, results) = self.share();
        let many = row.len() >= self.config.consecutive as usize;
        let much = results >= self.config.min_requests as usize
            && failures.len() as f64 >= self.config.ratio * results as f64;
        if many && distinct(&row) || much && distinct(&failures) {
            self.open(report);
        }
    }

    /// The URLs of the failures in a row.
    fn row(&self) -> Vec<u32> {
        let mut urls = Vec::new();
        let mut answered = false;
        for entry in self.entries.iter().rev() {
            match entry.evidence {
                Evidence::Success => break,
                Evidence::Failure if entry.transport && answered => {}
                Evidence::Failure => urls.push(entry.url),
                Evidence::Alive => answered = true,
                Evidence::Soft => answered |= !entry.transport,
                Evidence::Nothing => {}
            }
        }
        urls
    }

    /// The URLs of the failures in the window, and how many results there are.
    fn share(&self) -> (Vec<u32>, usize) {
        let bucket = |at: f64| (at / (self.config.window.get() / 10.0)).floor();
        let (mut urls, mut results) = (Vec::new(), 0);
        for entry in &self.entries {
            if bucket(entry.at) <= bucket(self.now) - 10.0 {
                continue;
            }
            match entry.evidence {
                Evidence::Alive | Evidence::Nothing => {}
                Evidence::Failure | Evidence::Soft => {
                    urls.push(entry.url);
                    results += 1;
                }
                Evidence::Success => results += 1,
            }
        }
        (urls, results)
    }

    fn open(&mut self, report: Report) {
        if matches!(self.phase, Phase::Closed) {
            self.opened_at = self.now;
        }
        let span = report.pause.map_or_else(|| self.cool_down(), Millis::get);
        let hint = report.hint.map_or(0.0, Millis::get);
        let left = jittered(span, report.unit).max(hint * (1.0 + 0.2 * report.unit));
        self.phase = Phase::Open { left };
        self.floor = self.now + hint;
        self.unit = report.unit;
        self.trips += 1;
        self.valid.clear();
    }

    fn close(&mut self) {
        self.phase = Phase::Closed;
        self.entries.clear();
        self.valid.clear();
        self.clean = 0.0;
    }

    fn online(&mut self, online: bool, unit: f64) {
        let returned = online && self.offline;
        self.offline = !online;
        if returned {
            self.pull(unit);
        }
    }

    fn pull(&mut self, unit: f64) -> bool {
        let Phase::Open { left } = &mut self.phase else { return false };
        let sooner = (1_000.0 * unit).max(self.floor - self.now);
        if self.offline || self.now - self.pulled_at < 5_000.0 || *left <= sooner {
            return false;
        }
        *left = sooner;
        self.pulled_at = self.now;
        true
    }

    fn trip(&mut self, report: Report) -> bool {
        let closed = matches!(self.phase, Phase::Closed) && !self.offline;
        let trips = closed && (distinct(&self.row()) || distinct(&self.share().0));
        if trips {
            self.open(report);
        }
        trips
    }

    fn adopt(&mut self, span: f64, trips: u32) {
        if span <= 0.0 {
            return;
        }
        self.trips = self.trips.max(trips);
        match &mut self.phase {
            Phase::Closed => {
                self.phase = Phase::Open { left: span };
                self.opened_at = self.now;
                self.floor = 0.0;
                self.valid.clear();
            }
            Phase::Open { left } => *left = left.max(span),
            Phase::Probing { .. } => {}
        }
    }

    fn reset(&mut self) {
        *self = Self { now: self.now, offline: self.offline, ..Self::new(self.config) };
    }

    fn health(&self) -> HealthState {
        let (health, left) = match self.phase {
            Phase::Closed => (Health::Closed, None),
            Phase::Open { left } if left > CLOSE => (Health::Open, Some(left)),
            Phase::Open { .. } => (Health::HalfOpen, None),
            Phase::Probing { left, .. } => (Health::HalfOpen, Some(left)),
        };
        HealthState {
            health,
            failures: self.row().len() as u32,
            opened_at: (health != Health::Closed).then_some(Millis::new(self.opened_at)),
            retry_at: left.map(|left| Millis::new(self.now + left)),
            trips: self.trips,
        }
    }
}

fn jittered(span: f64, unit: f64) -> f64 {
    (span * (0.75 + 0.5 * unit)).max(50.0)
}

fn distinct(urls: &[u32]) -> bool {
    urls.iter().any(|url| *url != urls[0])
}

/// A walk: the breaker, the model, and the attempts under way.
struct Walk {
    seed: u64,
    dice: Rng,
    breaker: Breaker,
    model: Model,
    /// How often an attempt fails, from 0 to 1.
    badness: f64,
    flying: Vec<(usize, Permit)>,
    sent: usize,
    probes: Vec<Permit>,
}

impl Walk {
    fn new(seed: u64) -> Self {
        let mut dice = Rng::with_seed(seed);
        let mut config = BreakerConfig::default();
        if dice.bool() {
            // Thresholds that a short walk reaches often.
            config.consecutive = dice.u32(1..6);
            config.min_requests = dice.u32(1..10);
            config.ratio = f64::from(dice.u32(1..5)) * 0.25;
        }
        let badness = [0.2, 0.5, 0.8, 1.0][dice.usize(..4)];
        Self {
            seed,
            dice,
            breaker: Breaker::new(),
            model: Model::new(config),
            badness,
            flying: Vec::new(),
            sent: 0,
            probes: Vec::new(),
        }
    }

    fn now(&self) -> Millis {
        Millis::new(self.model.now)
    }

    /// In steps of 1/64, so that spans are added up without rounding.
    fn unit(&mut self) -> f64 {
        f64::from(self.dice.u32(..64)) / 64.0
    }

    fn step(&mut self) {
        match self.dice.u32(..40) {
            0..=13 => self.pass(),
            14..=25 => self.send(),
            26..=34 => self.end(),
            35 => {
                let (online, unit) = (self.dice.u32(..3) > 0, self.unit());
                self.model.online(online, unit);
                self.breaker.handle_online(online, unit, self.now());
            }
            36 => {
                let unit = self.unit();
                let pulled = self.breaker.pull_forward(unit, self.now());
                assert_eq!(pulled, self.model.pull(unit), "seed {}", self.seed);
            }
            37 => {
                let report = self.report();
                let (config, now) = (self.model.config, self.now());
                let tripped = self.breaker.trip(&config, report.pause, report.unit, now);
                let report = Report { hint: None, ..report };
                assert_eq!(tripped, self.model.trip(report), "seed {}", self.seed);
            }
            38 => {
                let (span, trips) = (f64::from(self.dice.u32(..20_000)), self.dice.u32(..6));
                let (config, now) = (self.model.config, self.now());
                let span = span - 5_000.0;
                self.breaker.adopt(&config, Millis::new(now.get() + span), trips, now);
                self.model.adopt(span, trips);
            }
            _ if self.dice.u32(..4) == 0 => {
                self.model.reset();
                self.breaker.reset();
            }
            _ => {}
        }
        self.compare();
    }

    fn pass(&mut self) {
        let span = match self.dice.u32(..10) {
            0 => 3_600_000.0 * f64::from(self.dice.u32(1..4)),
            1 => 30_000.0,
            2..=4 => f64::from(self.dice.u32(..6_000)),
            // To the very time that it says, or to the next millisecond.
            5..=6 => match self.breaker.check(self.now()) {
                Ok(()) => 1.0,
                Err(at) => (at.get() - self.model.now).ceil(),
            },
            _ => f64::from(self.dice.u32(..500)),
        };
        self.model.pass(span);
    }

    fn send(&mut self) {
        let lease = [12_000.0, 12_000.0, 32_000.0, 500.0][self.dice.usize(..4)];
        let now = self.now();
        let free = self.breaker.check(now).is_ok();
        if !free && self.dice.u32(..8) > 0 {
            return;
        }
        self.sent += 1;
        let permit = self.breaker.acquire(&self.model.config, Millis::new(lease), now);
        let admitted = self.model.admit(self.sent, lease);
        assert_eq!(free.then_some(permit.is_probe()), admitted, "seed {}", self.seed);
        if permit.is_probe() {
            assert!(!self.probes.contains(&permit), "seed {}: two probes at once", self.seed);
            assert!(self.breaker.check(now).is_err(), "seed {}: room for another", self.seed);
            self.probes.push(permit);
        }
        // One in eight is never heard of again.
        if self.dice.u32(..8) > 0 {
            self.flying.push((self.sent, permit));
        }
    }

    /// Any attempt under way ends, not the oldest first.
    fn end(&mut self) {
        if self.flying.is_empty() {
            return self.send();
        }
        let (number, permit) = self.flying.swap_remove(self.dice.usize(..self.flying.len()));
        let report = self.report();
        let before = self.model.health().health;
        self.model.report(number, report);
        let changed = self.breaker.report(&self.model.config, permit, report, self.now());
        assert_eq!(changed, before != self.model.health().health, "seed {}", self.seed);
    }

    fn report(&mut self) -> Report {
        let evidence = if self.dice.f64() < self.badness {
            [Evidence::Failure, Evidence::Failure, Evidence::Soft][self.dice.usize(..3)]
        } else {
            [Evidence::Success, Evidence::Success, Evidence::Alive, Evidence::Nothing]
                [self.dice.usize(..4)]
        };
        let some = |dice: &mut Rng, spans: u32| {
            (dice.u32(..5) == 0).then(|| Millis::new(f64::from(dice.u32(..spans)) - 500.0))
        };
        Report {
            evidence,
            transport: self.dice.bool(),
            url: self.dice.u32(..3),
            pause: some(&mut self.dice, 10_000),
            hint: some(&mut self.dice, 20_000),
            unit: self.unit(),
        }
    }

    fn compare(&self) {
        let found = self.breaker.health(&self.model.config, self.now());
        let expected = self.model.health();
        let at = |time: Option<Millis>| time.map_or(-1.0, Millis::get);
        let same = (at(found.retry_at) - at(expected.retry_at)).abs() < CLOSE
            && HealthState { retry_at: None, ..found }
                == HealthState { retry_at: None, ..expected };
        assert!(same, "seed {}: {found:?}, expected {expected:?}", self.seed);
        let refused = self.breaker.check(self.now()).err();
        assert_eq!(refused, found.retry_at, "seed {}", self.seed);
        assert!(refused.is_none_or(|at| at > self.now()), "seed {}: a hot loop", self.seed);
    }

    /// Whatever was left behind: who asks again when told to, and succeeds, gets through.
    fn get_through(mut self) {
        let config = self.model.config;
        let mut now = self.now();
        self.breaker.handle_online(true, 0.5, now);
        for _ in 0..=4 {
            match self.breaker.check(now) {
                Ok(()) if self.breaker.health(&config, now).health == Health::Closed => return,
                Ok(()) => {
                    let permit = self.breaker.acquire(&config, Millis::new(12_000.0), now);
                    let evidence = Evidence::Success;
                    let success = Report { evidence, pause: None, hint: None, ..self.report() };
                    assert!(self.breaker.report(&config, permit, success, now));
                }
                Err(at) => now = at,
            }
        }
        panic!("seed {}: stuck at {:?}", self.seed, self.breaker);
    }
}

#[test]
fn r38_a_hundred_thousand_random_walks_agree_with_the_model_and_none_gets_stuck() {
    let quick = std::env::var("HOLDFAST_QUICK").is_ok_and(|value| value == "1");
    let walks = if quick { 5_000 } else { 100_000 };
    // How often each state was seen at the end: a test that never gets there proves nothing.
    let mut ends = [0; 3];
    for seed in 0..walks {
        let mut walk = Walk::new(seed);
        for _ in 0..walk.dice.u32(20..80) {
            walk.step();
        }
        ends[walk.model.health().health as usize] += 1;
        walk.get_through();
    }
    assert!(ends.iter().all(|count| count * 10 > walks), "{ends:?}");
}
