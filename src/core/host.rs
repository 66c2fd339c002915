//! What is remembered of a host: whether it has ever answered (the first headers timeout), how
//! late its answers are of late, and whether it is in an outage.

use super::clock::Millis;

/// The record of one host.
#[derive(Clone, Debug, Default)]
pub(super) struct Host {
    answered: bool,
    /// How long its headers take at worst, of late.
    pub(super) lateness: Millis,
    /// Failures in a row, over all requests.
    failures: u32,
}

/// So many failures in a row, with no success between, are an outage of the host and not of
/// one URL.
const OUTAGE: u32 = 3;

impl Host {
    /// Headers came, of a success or of a refusal. Says whether that ends an outage: the
    /// headers of a success prove enough, its body may take long.
    pub(super) const fn handle_answer(&mut self, success: bool) -> bool {
        self.answered = true;
        let recovered = success && self.failures >= OUTAGE;
        if success {
            self.failures = 0;
        }
        recovered
    }

    /// Headers took so long; what was long ago fades.
    pub(super) fn handle_lateness(&mut self, took: Millis) {
        self.lateness = took.max(self.lateness * 0.8);
    }

    /// An attempt failed in a way that speaks of the host.
    pub(super) const fn handle_failure(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }

    /// Whether the host has ever answered anything.
    pub(super) const fn is_known(&self) -> bool {
        self.answered
    }
}
