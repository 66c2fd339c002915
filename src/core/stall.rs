//! The stall detector of one body: silence, and slowness only where it is a drip (R17).
//!
//! The clock runs only while somebody waits for a byte: a consumer that does not read is not
//! a silent server. The bound is the site's. Where the player has said how much it has
//! buffered, and that cannot pay for the whole bound and for fetching the rest again, the
//! bound shrinks to what it can pay; never below two seconds, and never below four times the
//! gaps that this very body is used to.
//!
//! A body drips if it would take longer than the buffer lasts, and by far longer than the link has
//! been seen to need.

use super::backoff::widened;
use super::clock::Millis;

/// What the player says of its playback (`engine.reportPlayback`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Playback {
    /// Media buffered ahead of the playhead.
    pub buffer_ahead: Option<Millis>,
    /// The target duration of the playlist.
    pub target_duration: Option<Millis>,
    /// Whether the stream is live.
    pub live: bool,
}

/// The numbers of the detector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StallPolicy {
    /// The longest silence.
    pub bound: Millis,
    /// The shortest bound that a short buffer leads to.
    pub floor: Millis,
}

impl StallPolicy {
    /// A policy with the default floor of 2 s.
    pub const fn new(bound: Millis) -> Self {
        Self { bound, floor: Millis::new(2_000.0) }
    }

    /// The same for a request that had `stalls` bodies cut: half as long again each time, as a
    /// server whose every body pauses for longer than the bound would never get one through.
    #[must_use]
    pub fn widened(self, stalls: u32) -> Self {
        Self {
            bound: widened(self.bound, stalls, self.bound),
            floor: widened(self.floor, stalls, self.bound),
        }
    }
}

/// How often one silence is given the benefit of a late wake-up, and for how long.
const GRACE: Millis = Millis::new(1_000.0);

/// How many of a body's gaps are remembered.
const GAPS: usize = 16;

/// The pace of a body is that of so long.
const PACE: Millis = Millis::new(1_500.0);

/// How many times slower than the link a drip is.
const DRIPS: f64 = 8.0;

/// A small body has so many times the longest silence in all.
const SMALL: f64 = 1.5;

/// The detector of one body.
#[derive(Clone, Debug)]
pub(super) struct Stall {
    policy: StallPolicy,
    /// The start of the silence, while somebody waits.
    silent_since: Option<Millis>,
    graced: bool,
    gaps: [Millis; GAPS],
    /// How many were seen, modulo 256.
    seen: u8,
    /// The start of the window that the pace is measured in, and the bytes that had come by then.
    mark: (Millis, f64),
    /// The pace of the last window since somebody reads, in bytes/ms; infinite if none has ended.
    pace: f64,
}

/// What the buffer can pay for: how much is ahead, how many bytes of the body are missing, and how
/// long the link usually takes for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Means {
    pub(super) buffer_ahead: Millis,
    pub(super) missing: f64,
    pub(super) remaining: Millis,
}

impl Stall {
    /// The detector of a body whose headers have come.
    pub(super) const fn new(policy: StallPolicy, now: Millis) -> Self {
        Self {
            policy,
            silent_since: None,
            graced: false,
            gaps: [Millis::ZERO; GAPS],
            seen: 0,
            mark: (now, 0.0),
            pace: f64::INFINITY,
        }
    }

    /// Somebody waits for a byte from now on.
    pub(super) const fn handle_reading(&mut self, now: Millis) {
        if self.silent_since.is_none() {
            self.silent_since = Some(now);
            self.graced = false;
            // What came while nobody read is no pace of the server's.
            self.mark.0 = now;
            self.pace = f64::INFINITY;
        }
    }

    /// Bytes came, `received` by now; `reading` says whether somebody waits for the next.
    pub(super) fn handle_progress(&mut self, received: f64, reading: bool, now: Millis) {
        let window = now - self.mark.0;
        if window >= PACE {
            self.pace = (received - self.mark.1) / window.get();
        }
        if window >= PACE || !reading {
            self.mark = (now, received);
        }
        if let Some(since) = self.silent_since {
            self.gaps[usize::from(self.seen) % GAPS] = now - since;
            self.seen = self.seen.wrapping_add(1);
        }
        self.silent_since = if reading { Some(now) } else { None };
        self.graced = false;
    }

    /// Whether somebody waits for a byte.
    pub(super) const fn is_awaited(&self) -> bool {
        self.silent_since.is_some()
    }

    /// A wake-up came much later than its time: the page was frozen, and bytes may be waiting
    /// in line. Starts a short grace instead of a cut, once a silence. Says whether it did.
    pub(super) fn grant_grace(&mut self, due: Millis, now: Millis) -> bool {
        if self.graced || now - due < GRACE {
            return false;
        }
        self.graced = true;
        let bound = self.policy.bound;
        self.silent_since = Some(now - (bound - GRACE));
        true
    }

    /// The silence that is too long.
    pub(super) fn bound(&self, means: Option<Means>) -> Millis {
        let Some(means) = means else { return self.policy.bound };
        if self.graced {
            return self.policy.bound;
        }
        let affordable = (means.buffer_ahead - means.remaining) * 0.5;
        let usual = self.largest_gap() * 4.0;
        affordable.clamp(self.policy.floor.max(usual).min(self.policy.bound), self.policy.bound)
    }

    /// When the silence becomes suspect, and when it is too long; `None` while nobody waits.
    pub(super) fn deadlines(&self, means: Option<Means>) -> Option<(Millis, Millis)> {
        let since = self.silent_since?;
        let bound = self.bound(means);
        Some((since + bound * 0.5, since + bound))
    }

    /// How long a body may take in all that is small, whatever moves.
    pub(super) fn longest(&self) -> Millis {
        self.policy.bound * SMALL
    }

    /// Whether the body drips. To be asked after each progress.
    pub(super) fn drips(&self, means: Means) -> bool {
        let patience = means.buffer_ahead.max(means.remaining * DRIPS);
        Millis::new(means.missing / self.pace) > patience
    }

    fn largest_gap(&self) -> Millis {
        self.gaps.iter().fold(Millis::ZERO, |largest, gap| largest.max(*gap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: Millis = Millis::new(5_000.0);

    fn at(ms: f64) -> Millis {
        Millis::new(ms)
    }

    fn means(buffer_ahead: f64, remaining: f64) -> Option<Means> {
        Some(Means { buffer_ahead: at(buffer_ahead), missing: 0.0, remaining: at(remaining) })
    }

    #[test]
    fn the_bound_is_the_sites_when_the_buffer_is_unknown() {
        let stall = Stall::new(StallPolicy::new(BOUND), at(0.0));
        assert_eq!(stall.bound(None), BOUND);
    }

    #[test]
    fn a_short_buffer_shortens_the_bound_to_half_of_what_it_can_pay() {
        let stall = Stall::new(StallPolicy::new(BOUND), at(0.0));
        assert_eq!(stall.bound(means(6_400.0, 400.0)), at(3_000.0));
        assert_eq!(stall.bound(means(1_000.0, 400.0)), at(2_000.0), "never below the floor");
        assert_eq!(stall.bound(means(60_000.0, 400.0)), BOUND, "never above the site's");
    }

    #[test]
    fn r17_a_body_that_is_used_to_gaps_keeps_its_gaps() {
        let mut stall = Stall::new(StallPolicy::new(BOUND), at(0.0));
        stall.handle_reading(at(0.0));
        stall.handle_progress(9.0, true, at(1_000.0));
        assert_eq!(stall.bound(means(0.0, 0.0)), at(4_000.0));
        stall.handle_progress(9.0, true, at(5_000.0));
        assert_eq!(stall.bound(means(0.0, 0.0)), BOUND);
    }

    /// A body of 1 MB that has 500 kB at once, and then 2 kB/s in pieces `gap` apart, for 1.5 s.
    fn dripping(gap: f64, reading: bool) -> Stall {
        let mut stall = Stall::new(StallPolicy::new(BOUND), at(0.0));
        stall.handle_progress(500_000.0, false, at(0.0));
        for piece in 1..=(1_500.0 / gap) as u32 {
            let now = gap * f64::from(piece);
            stall.handle_progress(500_000.0 + 2.0 * now, reading, at(now));
        }
        stall
    }

    #[test]
    fn a_body_drips_that_outlasts_the_buffer_and_the_link_by_far() {
        let drips = |buffer_ahead, remaining| {
            let (buffer_ahead, remaining) = (at(buffer_ahead), at(remaining));
            let means = Means { buffer_ahead, missing: 497_000.0, remaining };
            dripping(100.0, true).drips(means)
        };
        // At 2 kB/s the rest takes 248.5 s.
        assert!(drips(248_000.0, 31_000.0));
        assert!(!drips(249_000.0, 31_000.0), "the buffer lasts longer");
        assert!(!drips(248_000.0, 31_100.0), "an eighth of it is what the link takes");
    }

    #[test]
    fn the_pace_is_that_of_a_whole_window_with_a_reader() {
        let means = Means { buffer_ahead: at(9_000.0), missing: 497_000.0, remaining: at(0.0) };
        let mut stall = dripping(100.0, true);
        assert!(stall.drips(means));
        stall.handle_progress(503_200.0, true, at(1_500.0));
        assert!(stall.drips(means), "a piece that comes in two is none faster");
        stall.handle_progress(990_000.0, true, at(3_000.0));
        assert!(!stall.drips(means), "the next window was faster");
        assert!(!dripping(100.0, false).drips(means), "nobody reads, so nothing is to flow");
    }

    #[test]
    fn a_reader_that_comes_back_after_a_while_finds_no_drip() {
        let means = Means { buffer_ahead: at(9_000.0), missing: 497_000.0, remaining: at(0.0) };
        let mut stall = Stall::new(StallPolicy::new(BOUND), at(0.0));
        for piece in 1..5 {
            let now = 2_000.0 * f64::from(piece);
            stall.handle_reading(at(now));
            stall.handle_progress(16_000.0 * f64::from(piece), false, at(now + 1.0));
            assert!(!stall.drips(means));
        }
        stall.handle_reading(at(9_000.0));
        stall.handle_progress(64_500.0, false, at(10_600.0));
        assert!(stall.drips(means), "this one it has waited for");
    }

    #[test]
    fn the_clock_stands_while_nobody_reads() {
        let mut stall = Stall::new(StallPolicy::new(BOUND), at(0.0));
        stall.handle_reading(at(0.0));
        stall.handle_progress(9.0, false, at(10.0));
        assert_eq!(stall.deadlines(None), None);
        stall.handle_reading(at(60_000.0));
        assert_eq!(stall.deadlines(None), Some((at(62_500.0), at(65_000.0))));
    }

    #[test]
    fn a_late_wake_up_grants_one_second_once_a_silence() {
        let mut stall = Stall::new(StallPolicy::new(BOUND), at(0.0));
        stall.handle_reading(at(0.0));
        assert!(!stall.grant_grace(BOUND, at(5_100.0)), "on time");
        assert!(stall.grant_grace(BOUND, at(600_000.0)));
        assert_eq!(stall.deadlines(None).map(|(_, cut)| cut), Some(at(601_000.0)));
        assert!(!stall.grant_grace(at(601_000.0), at(700_000.0)), "only once");
    }
}
