//! What a fleet goes through.

use crate::calendar::Ms;
use crate::origin::Fault;
use crate::viewer::SEGMENT;

/// What is wrong during the outage.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// 503 at once.
    Error,
    /// 503 at once with `Retry-After`, also where the queue is full.
    Busy,
    /// Nothing is answered.
    Blackhole,
    /// A fifth of the capacity.
    Brownout,
    /// Nothing: what others are compared with.
    Healthy,
}

impl Mode {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Busy => "busy",
            Self::Blackhole => "blackhole",
            Self::Brownout => "brownout",
            Self::Healthy => "healthy",
        }
    }

    /// What the origin does.
    pub const fn fault(self) -> Fault {
        match self {
            Self::Error | Self::Busy => Fault::Error,
            Self::Blackhole => Fault::Blackhole,
            Self::Brownout => Fault::Brownout,
            Self::Healthy => Fault::Nothing,
        }
    }

    /// What refusals ask to wait.
    pub const fn retry_after(self) -> Option<Ms> {
        if matches!(self, Self::Busy) { Some(5_000) } else { None }
    }
}

/// When viewers ask.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// On demand: each in its own time.
    Uniform,
    /// Live: all within a second after a segment appears.
    Edge,
    /// On demand, and a fifth of the viewers comes within 30 s after the onset.
    Join,
}

/// The span in which the last fifth comes.
pub const SURGE: Ms = 30_000;

impl Phase {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Edge => "edge",
            Self::Join => "join",
        }
    }

    /// Requests of one viewer in a segment's time: a live player reads its playlist too.
    pub const fn requests(self) -> u32 {
        if matches!(self, Self::Edge) { 2 } else { 1 }
    }
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// What is wrong.
    pub mode: Mode,
    /// For how long.
    pub outage: Ms,
    /// The capacity, as a multiple of the steady load.
    pub headroom: f64,
    /// When viewers ask.
    pub phase: Phase,
    /// How many there are.
    pub viewers: u32,
    /// What the origin's queue holds, in milliseconds of work.
    pub queue: Ms,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Steady play before the outage.
    pub warm: Ms,
    /// What is looked at after it.
    pub tail: Ms,
}

impl Scenario {
    /// When the outage begins and ends.
    pub const fn span(&self) -> (Ms, Ms) {
        (self.warm, self.warm + self.outage)
    }

    /// When the run ends.
    pub const fn horizon(&self) -> Ms {
        self.warm + self.outage + self.tail
    }

    /// Requests a second of steady play.
    pub fn steady(&self) -> f64 {
        f64::from(self.viewers * self.phase.requests()) * 1_000.0 / f64::from(SEGMENT)
    }
}
