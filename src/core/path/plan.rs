//! The plan: what a path allows, from its inputs alone (R86).

use super::{ConnectionClass, LAST_MINUTE, PathSample, Power, Thermal, class};
use crate::core::clock::Millis;

/// What may be fetched; more is greater. The codes are stable.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum Allowed {
    /// Nothing: what waits is held, and does not fail.
    Nothing = 0,
    /// What the player needs; not what is fetched ahead.
    Needed = 1,
    /// Everything.
    All = 2,
}

/// All that a plan depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanInputs {
    /// The path's last sample.
    pub sample: PathSample,
    /// What the browser says; only a no counts.
    pub online: bool,
    /// What the [`AdverseDetector`](super::AdverseDetector) says.
    pub adverse: bool,
    /// Whether the user wants it whatever the cost.
    pub consent: bool,
    /// What is left of the time in the background; `None` in the foreground.
    pub background_left: Option<Millis>,
    /// The size of a range, in bytes, after the server's advice.
    pub chunk: f64,
    /// How many requests may be in flight, after the server's advice; at least 1.
    pub sessions: u32,
    /// The server's advice for the highest bit rate, in bit/s.
    pub abr_cap: Option<f64>,
}

/// What may be done on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// What may be fetched.
    pub allowed: Allowed,
    /// How many requests may be in flight; 0 where nothing may be fetched.
    pub max_in_flight: u32,
    /// How many bytes to ask for at once; `None` for all that there are.
    pub range_window: Option<f64>,
    /// A hint for the player: the highest bit rate, in bit/s.
    pub abr_cap: Option<f64>,
    /// A hint for the player: how much to buffer at most; `None` for its own goal.
    pub max_buffer_ahead: Option<Millis>,
}

impl Plan {
    /// Whether this plan forbids work that `before` allowed. Windows of bytes and hints forbid
    /// nothing.
    pub fn narrows(&self, before: &Self) -> bool {
        self.allowed < before.allowed || self.max_in_flight < before.max_in_flight
    }
}

/// The plan (R86). No path, or a critical heat, stops everything. A cost, a bad link, low power,
/// serious heat or the last minute in the background hold what is fetched ahead; consent lifts the
/// first two. Low power and serious heat leave one request at a time.
pub fn plan(inputs: &PlanInputs) -> Plan {
    let PlanInputs { sample, online, adverse, consent, chunk, sessions, abr_cap, .. } = *inputs;
    let class = class(&sample, online, adverse);
    let stopped = class == ConnectionClass::Offline || sample.thermal == Thermal::Critical;
    let weak = sample.power == Power::LowPower || sample.thermal == Thermal::Serious;
    let costly = class != ConnectionClass::Unmetered && !consent;
    let hurried = inputs.background_left.is_some_and(|left| left < LAST_MINUTE);

    let (allowed, most) = if stopped {
        (Allowed::Nothing, 0)
    } else if weak {
        (Allowed::Needed, 1)
    } else if costly || hurried {
        (Allowed::Needed, u32::MAX)
    } else {
        (Allowed::All, u32::MAX)
    };
    Plan {
        allowed,
        max_in_flight: sessions.min(most),
        range_window: (class == ConnectionClass::Adverse).then_some(chunk),
        abr_cap,
        max_buffer_ahead: (allowed != Allowed::All).then_some(BUFFER_WHILE_HELD),
    }
}

/// What a player should buffer while nothing is fetched ahead: enough to play on through a whole
/// ladder of attempts, and little that is paid for and never watched.
const BUFFER_WHILE_HELD: Millis = Millis::new(30_000.0);
