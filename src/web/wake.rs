//! The one timer of an engine.

use gloo_timers::callback::Timeout;

use crate::core::Millis;

/// Browsers keep long timers badly; a longer wait is armed again when it wakes.
const LONGEST: f64 = 60_000.0;

/// A wake-up call that is armed, if any.
#[derive(Default)]
pub(super) struct Wake {
    armed: Option<(Millis, Timeout)>,
    /// The timeout that rang last. Its callback may still be running, so it is dropped later.
    spent: Option<Timeout>,
}

impl Wake {
    /// Arms a wake-up at `due`, unless an earlier one is armed: waking too early costs a look
    /// at the table, and moving a timer at every chunk costs more.
    pub(super) fn arm(&mut self, due: Option<Millis>, now: Millis, ring: impl FnOnce() + 'static) {
        let Some(due) = due else { return self.disarm() };
        if self.armed.as_ref().is_some_and(|(armed, _)| *armed <= due) {
            return;
        }
        // Rounded up: a timer must not ring before its time.
        let delay = (due - now).get().min(LONGEST).ceil();
        self.armed = Some((now + Millis::new(delay), Timeout::new(delay as u32, ring)));
    }

    /// Clears the timer, which dropping it does: an idle engine leaves none behind.
    pub(super) fn disarm(&mut self) {
        self.armed = None;
    }

    /// The timer has rung.
    pub(super) fn rung(&mut self) {
        self.spent = self.armed.take().map(|(_, timeout)| timeout);
    }
}
