//! The rate-limited mode at large: how it gets on with servers that allow so and so much, and its
//! promises under random use.
#![cfg(not(target_family = "wasm"))]

use std::collections::VecDeque;

use holdfast::core::{Millis, Slot, Throttle};
use proptest::collection::vec;
use proptest::prelude::*;

const SPAN: Millis = Millis::new(4_000.0);
const CAP: Millis = Millis::new(30_000.0);
const LEASE: Millis = Millis::new(12_000.0);

fn at(secs: f64) -> Millis {
    Millis::from_secs(secs)
}

/// The slot that is offered at `now`, if any.
fn take(throttle: &mut Throttle, now: Millis) -> Option<Slot> {
    if throttle.next_at(now) > now {
        return None;
    }
    throttle.handle_sent(now);
    Some(throttle.take(now + LEASE, now))
}

/// On the ramp at second 10, at a pace of about `rate`.
fn ramping(rate: f64) -> Throttle {
    let mut throttle = Throttle::default();
    let count = (rate / 0.7 * 5.0) as u32;
    for step in 0..count {
        throttle.handle_sent(at(f64::from(step) * 0.7 / rate));
    }
    throttle.handle_throttled(None, Some(at(5.0)), SPAN, CAP, 0.0, at(5.0));
    let trial = take(&mut throttle, at(10.0)).expect("the trial");
    throttle.handle_success(Some(trial), at(10.0));
    throttle
}

/// What a server does with a request: serves it, or refuses it and may say for how long.
type Answer = Result<(), Option<Millis>>;

/// So many requests a second, and what was saved up in one second.
struct Bucket {
    rate: f64,
    tokens: f64,
    hints: bool,
    seen: Millis,
}

impl Bucket {
    fn new(rate: f64, hints: bool) -> Self {
        Self { rate, tokens: rate.max(1.0), hints, seen: Millis::ZERO }
    }

    fn answer(&mut self, now: Millis) -> Answer {
        let filled = self.tokens + self.rate * (now - self.seen).as_secs();
        self.tokens = filled.min(self.rate.max(1.0));
        self.seen = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        // Whole seconds, as `Retry-After` has them.
        let wait = ((1.0 - self.tokens) / self.rate).ceil();
        Err(self.hints.then(|| at(wait)))
    }
}

/// A bucket with a grudge: who is refused waits, and who asks meanwhile waits longer.
struct Grudge {
    bucket: Bucket,
    until: Millis,
}

impl Grudge {
    fn new(rate: f64) -> Self {
        Self { bucket: Bucket::new(rate, false), until: Millis::ZERO }
    }

    fn answer(&mut self, now: Millis) -> Answer {
        if now < self.until {
            self.until = (self.until + at(1.0)).min(now + at(60.0));
            return Err(None);
        }
        let answer = self.bucket.answer(now);
        if answer.is_err() {
            self.until = now + at(5.0);
        }
        answer
    }
}

#[derive(Debug, Default)]
struct Tally {
    sent: u32,
    delivered: u32,
    refused: u32,
}

/// So many runs make one figure.
const SEEDS: u64 = 10;

const ROUND_TRIP: Millis = Millis::new(50.0);

/// A client with `demand` requests a second, from second 0 to `until`; what is refused is asked
/// for again. Counts from second `from` on.
fn paced(
    seed: u64,
    demand: f64,
    mut server: impl FnMut(Millis) -> Answer,
    (from, until): (f64, f64),
) -> Tally {
    let mut throttle = Throttle::default();
    let mut dice = fastrand::Rng::with_seed(seed);
    let mut flying: VecDeque<(Millis, Option<Slot>, Answer)> = VecDeque::new();
    let mut tally = Tally::default();
    let mut wanted = 0.0;
    for step in 0..(until * 1_000.0) as u32 {
        let now = Millis::new(f64::from(step));
        let counts = now >= at(from);
        wanted += demand / 1_000.0;
        while flying.front().is_some_and(|(due, ..)| *due <= now) {
            let (_, slot, answer) = flying.pop_front().expect("just seen");
            match answer {
                Ok(()) => throttle.handle_success(slot, now),
                Err(wait) => {
                    throttle.handle_throttled(slot, wait, SPAN, CAP, dice.f64(), now);
                    wanted += 1.0;
                }
            }
        }
        while wanted >= 1.0 && throttle.next_at(now) <= now {
            let slot = throttle.is_on().then(|| throttle.take(now + LEASE, now));
            throttle.handle_sent(now);
            wanted -= 1.0;
            let answer = server(now);
            if counts {
                tally.sent += 1;
                tally.delivered += u32::from(answer.is_ok());
                tally.refused += u32::from(answer.is_err());
            }
            flying.push_back((now + ROUND_TRIP, slot, answer));
        }
    }
    tally
}

/// The same demand without the mode: each request is sent again after 1, 2 and 4 s, then lost.
fn laddered(demand: f64, mut server: impl FnMut(Millis) -> Answer, until: f64) -> Tally {
    let mut tally = Tally::default();
    let mut due: Vec<(u32, usize)> = (0..(until * demand) as u32)
        .map(|n| ((f64::from(n) * 1_000.0 / demand) as u32, 0))
        .collect();
    for step in 0..(until * 1_000.0) as u32 {
        let (ready, later): (Vec<_>, Vec<_>) = due.into_iter().partition(|(ms, _)| *ms <= step);
        due = later;
        for (_, attempt) in ready {
            tally.sent += 1;
            if server(Millis::new(f64::from(step))).is_ok() {
                tally.delivered += 1;
                continue;
            }
            tally.refused += 1;
            if let Some(delay) = [1_000, 2_000, 4_000].get(attempt) {
                due.push((step + delay, attempt + 1));
            }
        }
    }
    tally
}

#[test]
fn r46_the_pace_converges_to_what_the_server_allows() {
    let mut failed = Vec::new();
    for hints in [true, false] {
        for demand in [50.0, 1.0] {
            for rate in [20.0, 5.0, 2.0, 0.3] {
                let mut all = Tally::default();
                for seed in 0..SEEDS {
                    let mut server = Bucket::new(rate, hints);
                    let tally = paced(seed, demand, |now| server.answer(now), (20.0, 60.0));
                    all.sent += tally.sent;
                    all.delivered += tally.delivered;
                    all.refused += tally.refused;
                }
                let seconds = 40.0 * SEEDS as f64;
                let goodput = f64::from(all.delivered) / seconds / rate.min(demand);
                let share = f64::from(all.refused) / f64::from(all.sent);
                let line = format!(
                    "{rate}/s of {demand}/s, hints {hints}: goodput {goodput:.2}, refused {:.1} %",
                    100.0 * share
                );
                println!("{line}");
                // A server that allows less than the gentle pace and says when to come back is
                // asked at most twice for what it gives: so is one that prepares its media when it
                // is asked for them, and that one must not be starved.
                let most = if hints && rate < 0.5 { 0.51 } else { 0.2 };
                if !(0.5..=1.05).contains(&goodput) || share >= most {
                    failed.push(line);
                }
            }
        }
    }
    assert_eq!(failed, [] as [String; 0]);
}

#[test]
fn r46_a_server_with_a_grudge_is_asked_less_often_than_a_ladder_would() {
    for demand in [2.0, 4.0] {
        let mut server = Grudge::new(1.0);
        let mode = paced(1, demand, |now| server.answer(now), (0.0, 120.0));
        let mut server = Grudge::new(1.0);
        let ladder = laddered(demand, |now| server.answer(now), 120.0);
        println!("{demand}/s: mode {mode:?}, ladder {ladder:?}");
        let cost = |tally: &Tally| f64::from(tally.sent) / f64::from(tally.delivered);
        assert!(cost(&mode) < cost(&ladder), "per delivered request");
        assert!(mode.sent < ladder.sent, "in all");
    }
}

#[derive(Clone, Copy, Debug)]
enum Deed {
    Cancel,
    /// Reports nothing at all, ever.
    Forget,
    Pass,
    Refuse(Option<f64>),
    /// Tries to send.
    Take,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        2 => Just(Deed::Cancel),
        1 => Just(Deed::Forget),
        4 => Just(Deed::Pass),
        2 => proptest::option::of(0.0..20.0_f64).prop_map(Deed::Refuse),
        8 => Just(Deed::Take),
    ]
}

fn pause() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.0..0.3_f64, 2 => 0.0..5.0_f64, 1 => 0.0..100.0_f64]
}

fn deeds() -> impl Strategy<Value = Vec<(f64, usize, f64, Deed)>> {
    vec((pause(), 0..8_usize, 0.0..1.0_f64, deed()), 1..120)
}

/// Random use: attempts that are out, and what must hold of the next one.
#[derive(Default)]
struct Session {
    throttle: Throttle,
    now: Millis,
    out: Vec<Option<Slot>>,
    /// The trial that is out, and when it counts as lost.
    trial: Option<(Slot, Millis)>,
    /// No attempt before this: what was asked for.
    asked: Millis,
}

impl Session {
    fn play(&mut self, (pause, which, unit, deed): (f64, usize, f64, Deed)) {
        self.now = self.now + at(pause);
        let now = self.now;
        if let Deed::Take = deed {
            if !self.throttle.is_on() {
                assert!(self.throttle.next_at(now) <= now, "off is never in the way");
                self.throttle.handle_sent(now);
                self.out.push(None);
                return;
            }
            let Some(slot) = take(&mut self.throttle, now) else { return };
            assert!(now >= self.asked, "{now:?} is before {:?}", self.asked);
            if slot.is_trial() {
                assert!(self.trial.is_none_or(|(_, lease)| lease <= now), "two trials");
                self.trial = Some((slot, now + LEASE));
            }
            self.out.push(Some(slot));
            return;
        }
        if self.out.is_empty() {
            return;
        }
        let slot = self.out.remove(which % self.out.len());
        let forget = matches!(deed, Deed::Forget);
        if !forget && self.trial.is_some_and(|(trial, _)| slot == Some(trial)) {
            self.trial = None;
        }
        match deed {
            Deed::Cancel => {
                if let Some(slot) = slot {
                    self.throttle.handle_nothing(slot, now);
                }
            }
            Deed::Forget | Deed::Take => {}
            Deed::Pass => self.throttle.handle_success(slot, now),
            Deed::Refuse(wait) => {
                self.throttle.handle_throttled(slot, wait.map(at), SPAN, CAP, unit, now);
                assert!(self.throttle.is_on());
                self.asked = self.asked.max(now + at(wait.unwrap_or(0.0)));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn r46_one_trial_at_a_time_and_nothing_before_the_wait_is_over(deeds in deeds()) {
        let mut session = Session::default();
        for deed in deeds {
            session.play(deed);
        }
    }

    #[test]
    fn r46_no_interval_sees_more_than_the_burst_and_the_pace(
        rate in 0.5..30.0_f64,
        pauses in vec(pause(), 1..200),
    ) {
        let mut throttle = ramping(rate);
        let mut now = at(10.0);
        let mut grants = Vec::new();
        let mut fastest = 0.0_f64;
        for pause in pauses {
            now = now + at(pause);
            while let Some(slot) = take(&mut throttle, now) {
                let Some(state) = throttle.state(now) else { break };
                fastest = fastest.max(state.rate);
                grants.push(now);
                throttle.handle_success(Some(slot), now);
            }
            if !throttle.is_on() {
                break;
            }
        }
        // A bucket that leaks at the fastest pace and never holds more than its burst.
        let burst = fastest.floor().max(1.0);
        let (mut level, mut last) = (0.0_f64, Millis::ZERO);
        for grant in grants {
            level = (level - fastest * (grant - last).as_secs()).max(0.0) + 1.0;
            prop_assert!(level <= burst + 1e-3, "{level} at {grant:?}, where {burst} may be");
            last = grant;
        }
    }

    #[test]
    fn r46_whatever_happened_a_well_server_ends_the_mode(
        deeds in deeds(),
        demand in 0.1..20.0_f64,
    ) {
        let mut session = Session::default();
        for deed in deeds {
            session.play(deed);
        }
        let Session { mut throttle, now, .. } = session;
        // From here on every request succeeds; what was out before is never heard of again.
        let start = now;
        let mut now = now;
        while throttle.is_on() {
            now = throttle.next_at(now).max(now + at(1.0 / demand));
            prop_assert!(now < start + at(400.0), "{throttle:?} after {now:?}");
            let slot = take(&mut throttle, now);
            prop_assert!(slot.is_some());
            throttle.handle_success(slot, now);
        }
    }
}
