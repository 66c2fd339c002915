//! The one timer of an engine.

use gloo_timers::callback::Timeout;

use crate::core::Millis;

/// Browsers keep long timers badly; a longer wait is armed again when it wakes.
const LONGEST: f64 = 60_000.0;

/// A wake-up call that is armed, if any.
pub(super) struct Wake {
    /// Whether it stays armed when nothing is due. A page does not notice, and its next request
    /// finds it; Node would not end before it has rung.
    lasting: bool,
    armed: Option<(Millis, Timeout)>,
    /// The timeout that rang last. Its callback may still be running, so it is dropped later.
    spent: Option<Timeout>,
}

impl Wake {
    pub(super) const fn new(lasting: bool) -> Self {
        Self { lasting, armed: None, spent: None }
    }

    /// Arms a wake-up at `due`, unless an earlier one is armed: waking too early costs a look
    /// at the table, and moving a timer at every chunk costs more.
    pub(super) fn arm(&mut self, due: Option<Millis>, now: Millis, ring: impl FnOnce() + 'static) {
        let Some(due) = due else {
            if !self.lasting {
                self.disarm();
            }
            return;
        };
        if self.armed.as_ref().is_some_and(|(armed, _)| *armed <= due) {
            return;
        }
        // Rounded up: a timer must not ring before its time.
        let delay = (due - now).get().min(LONGEST);
        self.armed = Some((now + Millis::new(delay), Timeout::new(delay.ceil() as u32, ring)));
    }

    /// Clears the timer, which dropping it does.
    pub(super) fn disarm(&mut self) {
        self.armed = None;
    }

    /// The timer has rung.
    pub(super) fn rung(&mut self) {
        self.spent = self.armed.take().map(|(_, timeout)| timeout);
    }
}
