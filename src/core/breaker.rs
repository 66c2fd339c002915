//! The circuit breaker of one host: while the host is down, nothing is sent to it but one
//! probe now and then (R38 to R42).
//!
//! It opens after failures in a row, or after too large a share of failures in a window, and
//! only where they are of two URLs at least: one URL that fails is a broken file, not a dead
//! host (R40). No timer runs: what time does is computed from timestamps when somebody asks.
//! An attempt holds a permit with the number of the generation that it was sent in; what is
//! reported under an old generation says nothing of this one and is ignored.

mod config;
mod tally;

pub use self::config::BreakerConfig;
use self::tally::Tally;
use super::backoff::FLOOR;
use super::clock::Millis;

/// What a breaker says of its host. The codes are stable: they cross the boundary.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Health {
    /// Requests pass.
    Closed = 0,
    /// The cool-down runs: no request passes.
    Open = 1,
    /// The cool-down is over: one probe may be sent, or is on its way.
    HalfOpen = 2,
}

/// All that can be read of a breaker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HealthState {
    /// Whether requests pass.
    pub health: Health,
    /// Countable failures in a row; while it is not closed, as many as there were when it
    /// opened.
    pub failures: u32,
    /// The start of the outage; failed probes do not move it. `None` while closed.
    pub opened_at: Option<Millis>,
    /// When to ask again; `None` while a request may be sent.
    pub retry_at: Option<Millis>,
    /// Trips that are not forgotten yet; the next cool-down grows with them.
    pub trips: u32,
}

/// Leave to send one attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Permit {
    generation: u32,
    probe: bool,
}

impl Permit {
    /// Whether the attempt is the one that tries whether the host is back.
    pub const fn is_probe(self) -> bool {
        self.probe
    }
}

/// What an attempt came to, as far as it speaks of the host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Evidence {
    /// A response that says nothing against the host, such as a 404. It ends the row of
    /// transport failures, as the network got there, and closes after a probe.
    Alive,
    /// A countable failure: in the row, in the share, and of a probe.
    Failure,
    /// Nothing: cancelled, offline, ignorable. After a probe, another may be sent at once.
    Nothing,
    /// A failure that counts in the share but not in the row. It fails a probe.
    Soft,
    /// The host did what it should.
    Success,
}

/// The end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// What it came to.
    pub evidence: Evidence,
    /// Whether a failure is one of the network: no response came, or it broke off.
    pub transport: bool,
    /// The URL, as a number: equal numbers are equal URLs.
    pub url: u32,
    /// Replaces the growing cool-down, where playback waits on its only host (R41).
    pub pause: Option<Millis>,
    /// What the server asked for; a cool-down is never shorter.
    pub hint: Option<Millis>,
    /// A random number in `[0, 1)`.
    pub unit: f64,
}

/// The breaker.
#[derive(Clone, Debug)]
pub struct Breaker {
    state: State,
    generation: u32,
    trips: u32,
    opened_at: Millis,
    /// Before this, no signal of the network cuts a cool-down short: the server asked for it.
    floor: Millis,
    /// The random number of the last trip. It serves again where a lease runs out, as nobody
    /// is there to draw another.
    unit: f64,
    /// When a signal of the network may cut a cool-down short again.
    next_pull: Millis,
    offline_since: Option<Millis>,
    tally: Tally,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Requests pass. Ends with a trip. Trips are forgotten from `since` on.
    Closed { since: Millis },
    /// A probe is on its way. Ends with its report, or with its lease: a probe that was not
    /// reported by then has failed, and the cool-down `relapse` begins.
    Probing { lease: Millis, relapse: Millis },
    /// Nothing passes before `until`. Ends with the first permit after it.
    Shut { until: Millis },
}

/// A signal of the network cuts a cool-down to less than this,
const PULL: Millis = Millis::new(1_000.0);
/// and at most once in this span.
const PULL_PAUSE: Millis = Millis::new(5_000.0);

impl Breaker {
    /// A closed breaker that has seen nothing.
    pub const fn new() -> Self {
        Self {
            state: State::Closed { since: Millis::ZERO },
            generation: 0,
            trips: 0,
            opened_at: Millis::ZERO,
            floor: Millis::ZERO,
            unit: 0.5,
            next_pull: Millis::ZERO,
            offline_since: None,
            tally: Tally::EMPTY,
        }
    }

    /// Takes leave to send; to be asked for after `check` granted it at the same `now`. An
    /// attempt that is sent in spite of a refusal gets a permit too, one that counts for
    /// nothing. A probe that is not reported within `lease` has failed.
    pub fn acquire(&mut self, config: &BreakerConfig, lease: Millis, now: Millis) -> Permit {
        self.settle(now);
        let clock = self.clock(now);
        let generation = self.generation;
        match self.state {
            State::Closed { .. } => Permit { generation, probe: false },
            State::Shut { until } if until <= clock => {
                let relapse = self.relapse(config);
                self.state = State::Probing { lease: clock + lease, relapse };
                Permit { generation, probe: true }
            }
            State::Probing { .. } | State::Shut { .. } => {
                Permit { generation: generation.wrapping_sub(1), probe: false }
            }
        }
    }

    /// An attempt is over. Says whether the health changed by it.
    pub fn report(
        &mut self,
        config: &BreakerConfig,
        permit: Permit,
        report: Report,
        now: Millis,
    ) -> bool {
        self.settle(now);
        if permit.generation != self.generation {
            return false;
        }
        let Report { evidence, pause, hint, unit, .. } = report;
        // Offline, no failure is the host's. A probe that is answered even so has found it.
        let offline = self.offline_since.is_some();
        match (self.state, evidence) {
            (State::Closed { .. }, _) if !offline => {
                let trips = self.tally.record(config, &report, now);
                if evidence == Evidence::Failure {
                    self.trips = self.trips(config, now);
                    self.state = State::Closed { since: now };
                }
                if trips {
                    self.open(config, (pause, hint), unit, now);
                }
                trips
            }
            (State::Probing { .. }, Evidence::Alive | Evidence::Success) => {
                self.state = State::Closed { since: now };
                self.generation = self.generation.wrapping_add(1);
                self.tally = Tally::EMPTY;
                true
            }
            (State::Probing { .. }, Evidence::Failure | Evidence::Soft) if !offline => {
                self.open(config, (pause, hint), unit, now);
                true
            }
            (State::Probing { .. }, _) => {
                self.state = State::Shut { until: self.clock(now) };
                self.generation = self.generation.wrapping_add(1);
                false
            }
            // Of a shut breaker's generation, no permit was given yet.
            (State::Closed { .. } | State::Shut { .. }, _) => false,
        }
    }

    /// The browser says whether there is a network. While there is none, cool-downs and
    /// leases stand still; its return cuts a cool-down short.
    pub fn handle_online(&mut self, online: bool, unit: f64, now: Millis) {
        let Some(since) = self.offline_since else {
            if !online {
                self.settle(now);
                self.offline_since = Some(now);
            }
            return;
        };
        if !online {
            return;
        }
        self.offline_since = None;
        match &mut self.state {
            State::Closed { .. } => {}
            State::Probing { lease: at, .. } | State::Shut { until: at } => {
                *at = *at + (now - since);
            }
        }
        self.pull_forward(unit, now);
    }

    /// The network, or the way to the host, has changed: what is left of a cool-down shrinks
    /// to less than a second, at most once in five, and never below what the server asked
    /// for. Says whether it did.
    pub fn pull_forward(&mut self, unit: f64, now: Millis) -> bool {
        self.settle(now);
        let State::Shut { until } = self.state else { return false };
        let sooner = (now + PULL * unit).max(self.floor);
        if self.offline_since.is_some() || now < self.next_pull || until <= sooner {
            return false;
        }
        self.next_pull = now + PULL_PAUSE;
        self.state = State::Shut { until: sooner };
        true
    }

    /// A ladder is spent, where that is configured to open it: fewer failures suffice then,
    /// but they must be of two URLs all the same. `pause` is that of a report. Says whether
    /// it opened.
    pub fn trip(
        &mut self,
        config: &BreakerConfig,
        pause: Option<Millis>,
        unit: f64,
        now: Millis,
    ) -> bool {
        let trips = matches!(self.state, State::Closed { .. })
            && self.offline_since.is_none()
            && self.tally.spans_urls(config, now);
        if trips {
            self.open(config, (pause, None), unit, now);
        }
        trips
    }

    /// Another tab says that the host is down until `open_until`, on this clock. The later
    /// time and the larger count win; nothing is closed, and a probe on its way goes on.
    pub fn adopt(&mut self, config: &BreakerConfig, open_until: Millis, trips: u32, now: Millis) {
        self.settle(now);
        if open_until <= now {
            return;
        }
        self.trips = self.trips(config, now).max(trips);
        let theirs = self.clock(now) + (open_until - now);
        match self.state {
            State::Closed { .. } => {
                self.opened_at = now;
                self.floor = Millis::ZERO;
                self.generation = self.generation.wrapping_add(1);
                self.state = State::Shut { until: theirs };
            }
            State::Probing { lease, .. } => {
                self.state = State::Probing { lease, relapse: self.relapse(config) };
            }
            State::Shut { until } => self.state = State::Shut { until: until.max(theirs) },
        }
    }

    /// Closes it and forgets everything but whether there is a network.
    pub const fn reset(&mut self) {
        let generation = self.generation.wrapping_add(1);
        *self = Self { generation, offline_since: self.offline_since, ..Self::new() };
    }

    /// Whether a request may be sent; else when to ask again.
    pub fn check(&self, now: Millis) -> Result<(), Millis> {
        let clock = self.clock(now);
        match self.settled(now).0 {
            State::Closed { .. } => Ok(()),
            State::Shut { until } if until <= clock => Ok(()),
            State::Probing { lease: at, .. } | State::Shut { until: at } => Err(at + (now - clock)),
        }
    }

    /// What it says of its host.
    pub fn health(&self, config: &BreakerConfig, now: Millis) -> HealthState {
        let health = match self.settled(now).0 {
            State::Closed { .. } => Health::Closed,
            State::Shut { until } if until > self.clock(now) => Health::Open,
            State::Probing { .. } | State::Shut { .. } => Health::HalfOpen,
        };
        HealthState {
            health,
            failures: self.tally.in_a_row(),
            opened_at: (health != Health::Closed).then_some(self.opened_at),
            retry_at: self.check(now).err(),
            trips: self.trips(config, now),
        }
    }

    /// Begins a cool-down of `pause`, or of the length whose turn it is, and of `hint` at
    /// least.
    fn open(
        &mut self,
        config: &BreakerConfig,
        (pause, hint): (Option<Millis>, Option<Millis>),
        unit: f64,
        now: Millis,
    ) {
        let trips = self.trips(config, now);
        if matches!(self.state, State::Closed { .. }) {
            self.opened_at = now;
        }
        let span = jittered(pause.unwrap_or_else(|| config.cool_down(trips)), unit);
        let hint = hint.unwrap_or(Millis::ZERO);
        // The server's word is a floor: jitter goes on top, never below.
        self.state = State::Shut { until: now + span.max(hint * (1.0 + 0.2 * unit)) };
        self.floor = now + hint;
        self.unit = unit;
        self.trips = trips.saturating_add(1);
        self.generation = self.generation.wrapping_add(1);
    }

    /// The cool-down after a probe that is lost.
    fn relapse(&self, config: &BreakerConfig) -> Millis {
        jittered(config.cool_down(self.trips), self.unit)
    }

    /// Does what time has done to a probe.
    fn settle(&mut self, now: Millis) {
        let (state, trips) = self.settled(now);
        if matches!((self.state, state), (State::Probing { .. }, State::Shut { .. })) {
            (self.state, self.trips) = (state, trips);
            self.generation = self.generation.wrapping_add(1);
        }
    }

    /// The state and the trips once a lease that has run out became a trip.
    fn settled(&self, now: Millis) -> (State, u32) {
        match self.state {
            State::Probing { lease, relapse } if lease <= self.clock(now) => {
                (State::Shut { until: lease + relapse }, self.trips.saturating_add(1))
            }
            state => (state, self.trips),
        }
    }

    /// The trips that are not forgotten yet.
    fn trips(&self, config: &BreakerConfig, now: Millis) -> u32 {
        match self.settled(now) {
            (State::Closed { since }, trips) => {
                let clean = (now - since).get() / config.clean_decay.get();
                trips.saturating_sub(clean as u32)
            }
            (_, trips) => trips,
        }
    }

    /// The time that cool-downs and leases see: it stands still while there is no network.
    fn clock(&self, now: Millis) -> Millis {
        self.offline_since.unwrap_or(now)
    }
}

impl Default for Breaker {
    fn default() -> Self {
        Self::new()
    }
}

/// Spreads clients by a quarter to either side, and never lets probes follow each other hot.
fn jittered(span: Millis, unit: f64) -> Millis {
    (span * (0.75 + 0.5 * unit)).max(FLOOR)
}
