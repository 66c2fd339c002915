//! The adverse detector: a link that breaks or falls silent too often (R84).
//!
//! It is read lazily from times and needs no timer. One level, in and out: in with too many bad
//! events in a window, out after a clean one.

use crate::core::clock::{Last, Millis};

/// So many bad events within [`CLEAN`] make a link adverse.
const BAD: usize = 3;

/// The window of bad events, and how long a link must be clean to be trusted again.
const CLEAN: Millis = Millis::new(60_000.0);

/// Whether connections break or fall silent too often (R84).
///
/// A bad event is a transport failure, a stall, a headers time-out or a body that ended early.
/// Aborts, statuses and what failed while offline say nothing of the link, and the caller leaves
/// them out. A clean minute needs a success: silence alone proves nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AdverseDetector {
    /// The latest bad events, the newest first.
    bad: [Last; BAD],
    /// Whether there was a success after the newest of them.
    succeeded: bool,
    /// Whether the link was adverse at the newest of them.
    adverse: bool,
}

impl AdverseDetector {
    /// A bad event.
    pub fn handle_bad(&mut self, now: Millis) {
        let adverse = self.is_adverse(now);
        self.bad.copy_within(..BAD - 1, 1);
        self.bad[0] = Last::at(now);
        self.adverse = adverse || self.bad.iter().all(|at| at.is_within(CLEAN, now));
        self.succeeded = false;
    }

    /// An attempt succeeded.
    pub const fn handle_success(&mut self) {
        self.succeeded = true;
    }

    /// So long nobody could have done anything: it is taken out of the window.
    pub fn excuse(&mut self, slept: Millis) {
        for at in &mut self.bad {
            at.put_off(slept);
        }
    }

    /// Forgets everything: this is another path.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Whether the link is adverse.
    pub fn is_adverse(&self, now: Millis) -> bool {
        self.adverse && self.clean_at().is_none_or(|at| now < at)
    }

    /// When an adverse link will be trusted again if nothing else happens; `None` where that needs
    /// a success first, and where the link is not adverse.
    pub fn changes_at(&self, now: Millis) -> Option<Millis> {
        self.clean_at().filter(|at| self.adverse && now < *at)
    }

    /// When the minute after the newest bad event ends, if there was a success since.
    fn clean_at(&self) -> Option<Millis> {
        self.succeeded.then(|| self.bad[0].plus(CLEAN))
    }
}
