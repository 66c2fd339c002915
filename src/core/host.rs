//! What is remembered of a host: whether it has ever answered, how late its answers are of late,
//! whether it is in an outage, and what protects it from us.

use super::advice::Standing;
use super::breaker::{Breaker, Health};
use super::budget::Bucket;
use super::catch_up::CatchUp;
use super::clock::Millis;
use super::config::Config;
use super::lateness::Lateness;
use super::opaque::OpaqueBurst;
use super::request::LastFailure;
use super::site::Site;
use super::throttle::Throttle;

/// The record of one host, or of whatever the embedder takes for one.
#[derive(Clone, Debug)]
pub(super) struct Host {
    /// When headers of it came last, if ever.
    pub(super) answered_at: Option<Millis>,
    /// How long its headers take, by site.
    pub(super) lateness: [Lateness; Site::COUNT],
    /// Failures in a row, over all requests.
    failures: u32,
    /// When the row began.
    failing_since: Millis,
    /// Whether the last of them was one of a body: headers prove nothing then.
    in_bodies: bool,
    /// What failed last.
    pub(super) cause: Option<LastFailure>,
    pub(super) breaker: Breaker,
    /// What the log has of its health.
    pub(super) told: Health,
    pub(super) bucket: Bucket,
    pub(super) throttle: Throttle,
    pub(super) burst: OpaqueBurst,
    /// How playback catches up after its last outage.
    pub(super) catch_up: Option<CatchUp>,
    /// How long the bodies of its last segments took, the longest of them.
    pub(super) took: Millis,
    /// What it advises.
    pub(super) advice: Standing,
    /// Whether it has answered a range with the part that was asked for.
    pub(super) knows_ranges: bool,
    /// It has answered one with the whole, and is not asked for one until then.
    pub(super) no_range_until: Millis,
}

/// So many failures in a row, with no success between, are an outage of the host and not of
/// one URL.
const OUTAGE: u32 = 3;

impl Host {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            answered_at: None,
            lateness: [Lateness::NONE; Site::COUNT],
            failures: 0,
            failing_since: Millis::ZERO,
            in_bodies: false,
            cause: None,
            breaker: Breaker::default(),
            told: Health::Closed,
            bucket: Bucket::new(config.budget.host),
            throttle: Throttle::default(),
            burst: OpaqueBurst::default(),
            catch_up: None,
            took: Millis::ZERO,
            advice: Standing::default(),
            knows_ranges: false,
            no_range_until: Millis::ZERO,
        }
    }

    /// Whether nothing at all has come since it began to fail: it may be a black hole.
    pub(super) fn is_silent(&self) -> bool {
        self.failures > 0 && self.answered_at.is_some_and(|at| at < self.failing_since)
    }

    /// Headers came, of a success or of a refusal. Says whether that ends an outage: the
    /// headers of a success prove enough, as its body may take long, unless it is bodies that
    /// fail.
    pub(super) const fn handle_answer(&mut self, success: bool, now: Millis) -> bool {
        self.answered_at = Some(now);
        success && !self.in_bodies && self.handle_success()
    }

    /// An attempt succeeded. Says whether that ends an outage.
    pub(super) const fn handle_success(&mut self) -> bool {
        let recovered = self.failures >= OUTAGE;
        self.failures = 0;
        self.in_bodies = false;
        recovered
    }

    /// An attempt failed in a way that speaks of the host, before its headers or in its body.
    pub(super) const fn handle_failure(&mut self, in_body: bool, now: Millis) {
        if self.failures == 0 {
            self.failing_since = now;
        }
        self.failures = self.failures.saturating_add(1);
        self.in_bodies = in_body;
    }

    /// Whether its headers come and its bodies do not.
    pub(super) const fn fails_in_bodies(&self) -> bool {
        self.in_bodies
    }

    /// Whether the host has ever answered anything.
    pub(super) const fn is_known(&self) -> bool {
        self.answered_at.is_some()
    }

    /// How long nothing has come of it.
    pub(super) fn failing_for(&self, now: Millis) -> Millis {
        if self.failures == 0 { Millis::ZERO } else { now - self.failing_since }
    }
}
