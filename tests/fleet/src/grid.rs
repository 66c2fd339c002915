//! The grid that is measured. It does not move when policies do.

use crate::calendar::Ms;
use crate::policy::budgets::{ADAPTIVE, FULL_JITTER, TOKEN_BUCKET};
use crate::policy::libraries::{COCKATIEL, KY, P_RETRY};
use crate::policy::peer::Policy;
use crate::policy::players::{
    DASH, FIXED_100, FIXED_1000, HLS, HLS_TUNED, NO_RETRY, SHAKA_LIVE, SHAKA_VOD,
};
use crate::scenario::{Mode, Phase, Scenario};

/// What is wrong. The second is the first with `Retry-After: 5`.
pub const MODES: [Mode; 4] = [Mode::Error, Mode::Busy, Mode::Blackhole, Mode::Brownout];

/// For how long, in milliseconds.
pub const OUTAGES: [Ms; 4] = [5_000, 15_000, 60_000, 300_000];

/// Capacity to steady load.
pub const HEADROOMS: [f64; 4] = [1.05, 1.15, 1.3, 2.0];

/// When viewers ask.
pub const PHASES: [Phase; 3] = [Phase::Uniform, Phase::Edge, Phase::Join];

/// Viewers of a run of the grid, and of the headline.
pub const VIEWERS: u32 = 10_000;
/// See [`VIEWERS`].
pub const MILLION: u32 = 1_000_000;

/// Steady play before the outage.
pub const WARM: Ms = 20_000;

/// What is looked at after it.
pub const TAIL: Ms = 120_000;

/// The queue of the phase diagram: longer than every time-out but one, which is where a fleet
/// can keep an origin busy with answers that nobody waits for.
pub const LONG_QUEUE: Ms = 30_000;

/// Its outages and head-rooms, finer than the grid's.
pub const PHASE_OUTAGES: [Ms; 6] = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000];
/// See [`PHASE_OUTAGES`].
pub const PHASE_HEADROOMS: [f64; 6] = [1.02, 1.05, 1.1, 1.2, 1.4, 2.0];

/// All peers.
pub static PEERS: [&Policy; 14] = [
    &NO_RETRY,
    &FIXED_100,
    &FIXED_1000,
    &HLS,
    &HLS_TUNED,
    &SHAKA_LIVE,
    &SHAKA_VOD,
    &DASH,
    &P_RETRY,
    &KY,
    &COCKATIEL,
    &FULL_JITTER,
    &TOKEN_BUCKET,
    &ADAPTIVE,
];

/// What the origin's queue holds: with viewers at the edge it must hold what they ask for in one
/// second, or a healthy origin refuses.
pub const fn queue(phase: Phase) -> Ms {
    if matches!(phase, Phase::Edge) { 4_000 } else { 2_000 }
}

/// A run of the grid.
pub fn scenario(mode: Mode, phase: Phase, outage: Ms, headroom: f64, seed: u64) -> Scenario {
    Scenario {
        mode,
        outage,
        headroom,
        phase,
        viewers: VIEWERS,
        queue: queue(phase),
        seed,
        warm: WARM,
        tail: TAIL,
    }
}
