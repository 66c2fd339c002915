//! The retry policies of the players, by their sources and by the request logs in `logs/`.

use holdfast::core::Site;

use super::budgets::Book;
use super::peer::{Failure, Limits, Next, Policy};
use crate::calendar::Ms;

/// hls.js 1.7 as it comes: `fragLoadPolicy`, `playlistLoadPolicy` and `manifestLoadPolicy` of its
/// `config.ts`, delays by `getRetryDelay` of `error-helper.ts`; one ladder for all tracks.
pub static HLS: Policy = Policy {
    name: "hls.js",
    limits: |site| match site {
        Site::Manifest => Limits { head: 20_000, whole: 20_000 },
        Site::Playlist | Site::PlaylistReload => Limits { head: 10_000, whole: 20_000 },
        _ => Limits { head: 10_000, whole: 120_000 },
    },
    next: |site, failure, count, _, _| {
        let (errors, timeouts) = match site {
            Site::Manifest => (1, 2),
            Site::Playlist | Site::PlaylistReload => (2, 2),
            _ => (6, 4),
        };
        match failure {
            Failure::Refused(_) if count <= errors => Next::Retry(exponential(1_000, count, 8_000)),
            Failure::TimedOut if count <= timeouts => Next::Retry(0),
            _ => Next::Die,
        }
    },
    gate: None,
    note: None,
};

/// hls.js as its documentation lets it be tuned (`www/players/tuned.js`): short limits, twelve
/// retries, at once after a time-out, and an application that calls `startLoad()` two seconds
/// after a fatal error.
pub static HLS_TUNED: Policy = Policy {
    name: "hls.js tuned",
    limits: |_| Limits { head: 4_000, whole: 10_000 },
    next: |_, failure, count, _, _| {
        Next::Retry(match (count % 13, failure) {
            (0, _) => 2_000,
            (_, Failure::TimedOut) => 0,
            (retry, Failure::Refused(_)) => exponential(500, retry, 4_000),
        })
    },
    gate: None,
    note: None,
};

/// Shaka Player 5.2, live: two attempts, then `failureCallbackBackoff_` and `retryStreaming(1)`,
/// for ever (`defaultStreamingFailureCallback_`); a playlist is read again 0.1 s after it failed.
pub static SHAKA_LIVE: Policy = Policy {
    name: "Shaka live",
    limits: |_| SHAKA_LIMITS,
    next: |site, failure, count, _, dice| {
        let fuzzed = fuzz(1_000, dice);
        Next::Retry(match (site, failure) {
            _ if count % 2 == 1 => fuzzed,
            (Site::PlaylistReload, _) => 100,
            (_, Failure::Refused(_)) => fuzzed + 1_000,
            (_, Failure::TimedOut) => fuzzed + 100,
        })
    },
    gate: None,
    note: None,
};

/// Shaka Player 5.2, on demand: two attempts; what then fails is fatal, but for the playlist.
pub static SHAKA_VOD: Policy = Policy {
    name: "Shaka VOD",
    limits: |_| SHAKA_LIMITS,
    next: |site, _, count, _, dice| match (site, count) {
        (_, 1) => Next::Retry(fuzz(1_000, dice)),
        (Site::PlaylistReload, _) => Next::Drop,
        _ => Next::Die,
    },
    gate: None,
    note: None,
};

const SHAKA_LIMITS: Limits = Limits { head: 10_000, whole: 30_000 };

/// dash.js 5.2: three retries a second apart, of a manifest half a second; no limit shorter than
/// 20 s.
pub static DASH: Policy = Policy {
    name: "dash.js",
    limits: |site| match site {
        Site::Manifest | Site::Playlist | Site::PlaylistReload => {
            Limits { head: 10_000, whole: 10_000 }
        }
        _ => Limits { head: 20_000, whole: 20_000 },
    },
    next: |site, _, count, _, _| match (site, count) {
        (Site::Manifest | Site::Playlist | Site::PlaylistReload, 1..=3) => Next::Retry(500),
        (Site::PlaylistReload, _) => Next::Drop,
        (_, 1..=3) => Next::Retry(1_000),
        _ => Next::Die,
    },
    gate: None,
    note: None,
};

/// `base` doubled with each failure after the first, up to `cap`.
pub fn exponential(base: Ms, count: u32, cap: Ms) -> Ms {
    base.saturating_mul(1_u32.checked_shl(count.saturating_sub(1)).unwrap_or(Ms::MAX)).min(cap)
}

/// Half as long to half as long again (`Backoff.fuzz_`).
fn fuzz(span: Ms, dice: &mut fastrand::Rng) -> Ms {
    span / 2 + dice.u32(..span)
}

/// No retries.
pub static NO_RETRY: Policy = Policy {
    name: "no retry",
    limits: |_| TEN,
    next: |_, _, _, _: &mut Book, _| Next::Die,
    gate: None,
    note: None,
};

/// A retry every 100 ms.
pub static FIXED_100: Policy = Policy {
    name: "fixed 100 ms",
    limits: |_| TEN,
    next: |_, _, _, _, _| Next::Retry(100),
    gate: None,
    note: None,
};

/// A retry every second.
pub static FIXED_1000: Policy = Policy {
    name: "fixed 1 s",
    limits: |_| TEN,
    next: |_, _, _, _, _| Next::Retry(1_000),
    gate: None,
    note: None,
};

/// What an application would give `AbortSignal.timeout`.
pub const TEN: Limits = Limits { head: 10_000, whole: 10_000 };
