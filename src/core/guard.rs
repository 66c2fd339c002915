//! The floor under every way that leads to one URL.
//!
//! A player may ask again at once for what was just refused, by another path of its own and for
//! ever. Whoever asks, a URL whose request was given up rests a while before it is sent again,
//! longer each time. This is the finer key beside the host's breaker (R40).

use super::backoff::power;
use super::clock::Millis;

/// So many URLs are remembered; the one given up longest ago is forgotten first, but for those
/// that are retired.
const CAPACITY: usize = 64;

/// The first rest.
const BASE: Millis = Millis::new(1_000.0);

/// What was refused for want of rights does not get better by asking: 1, 4, 16, 60 s.
const DENIED: (f64, Millis) = (4.0, Millis::new(60_000.0));

/// For the rest: 1, 2, 4, 5 s.
const OTHER: (f64, Millis) = (2.0, Millis::new(5_000.0));

#[derive(Clone, Copy, Debug)]
struct Entry {
    url: u32,
    /// How often in a row.
    times: u32,
    at: Millis,
    rest: Millis,
    /// The rest that it grows to.
    longest: Millis,
    /// Never to be asked for again (410 of a steering manifest).
    retired: bool,
}

impl Entry {
    /// A while after its rest the slate is clean.
    fn is_recent(&self, now: Millis) -> bool {
        now - self.at < self.rest + self.longest
    }
}

/// The URLs that were given up of late, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard(Vec<Entry>);

impl Guard {
    /// Until when this URL rests, where it does.
    pub(super) fn rests_until(&self, url: u32, now: Millis) -> Option<Millis> {
        let entry = self.0.iter().find(|entry| entry.url == url)?;
        let until = entry.at + entry.rest;
        (until > now).then_some(until)
    }

    /// Whether this URL is never to be asked for again.
    pub(super) fn is_retired(&self, url: u32) -> bool {
        self.0.iter().any(|entry| entry.url == url && entry.retired)
    }

    /// This URL is tried again. Whoever else asks for it rests as long as before, or until there
    /// is an answer: at the end of a rest one request goes, and not all that waited.
    pub(super) fn handle_sent(&mut self, url: u32, now: Millis) {
        if let Some(entry) =
            self.0.iter_mut().find(|entry| entry.url == url && entry.is_recent(now))
        {
            entry.at = now;
        }
    }

    /// A request for this URL was given up.
    pub(super) fn handle_given_up(&mut self, url: u32, denied: bool, retired: bool, now: Millis) {
        let before = self.0.iter().position(|entry| entry.url == url);
        let before = before.map(|place| self.0.remove(place));
        let (growth, longest) = if denied { DENIED } else { OTHER };
        let lately = before.filter(|entry| entry.is_recent(now));
        let times = lately.map_or(0, |entry| entry.times + 1);
        let rest = (BASE * power(growth, times.min(16))).min(longest);
        if self.0.len() == CAPACITY {
            // Not one that is never to be asked for again.
            let oldest = self.0.iter().position(|entry| !entry.retired).unwrap_or(0);
            self.0.remove(oldest);
        }
        let retired = retired || before.is_some_and(|entry| entry.retired);
        self.0.push(Entry { url, times, at: now, rest, longest, retired });
    }

    /// This URL was answered.
    pub(super) fn handle_success(&mut self, url: u32) {
        self.0.retain(|entry| entry.url != url || entry.retired);
    }

    /// Forgets all rests.
    pub(super) fn clear(&mut self) {
        self.0.retain(|entry| entry.retired);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rests(denied: bool) -> Vec<f64> {
        let mut guard = Guard::default();
        let mut now = Millis::ZERO;
        let mut rests = Vec::new();
        for _ in 0..5 {
            guard.handle_given_up(7, denied, false, now);
            let until = guard.rests_until(7, now).expect("it rests");
            rests.push((until - now).as_secs());
            now = until;
            assert_eq!(guard.rests_until(7, now), None);
        }
        rests
    }

    #[test]
    fn r40_a_url_that_was_given_up_rests_longer_each_time() {
        assert_eq!(rests(false), [1.0, 2.0, 4.0, 5.0, 5.0]);
        assert_eq!(rests(true), [1.0, 4.0, 16.0, 60.0, 60.0]);
    }

    #[test]
    fn r40_one_url_says_nothing_of_another_and_a_success_ends_its_rest() {
        let mut guard = Guard::default();
        guard.handle_given_up(7, false, false, Millis::ZERO);
        assert_eq!(guard.rests_until(8, Millis::ZERO), None);
        guard.handle_success(7);
        assert_eq!(guard.rests_until(7, Millis::ZERO), None);
    }

    #[test]
    fn the_slate_is_clean_after_a_while() {
        let mut guard = Guard::default();
        guard.handle_given_up(7, false, false, Millis::ZERO);
        let later = Millis::new(6_000.0);
        guard.handle_given_up(7, false, false, later);
        assert_eq!(guard.rests_until(7, later), Some(Millis::new(7_000.0)));
        let soon = Millis::new(7_999.0);
        guard.handle_given_up(7, false, false, soon);
        assert_eq!(guard.rests_until(7, soon), Some(Millis::new(9_999.0)));
    }

    #[test]
    fn r71_what_is_retired_stays_so() {
        let mut guard = Guard::default();
        guard.handle_given_up(7, false, true, Millis::ZERO);
        guard.handle_success(7);
        guard.clear();
        guard.handle_given_up(7, false, false, Millis::ZERO);
        assert!(guard.is_retired(7));
        assert!(!guard.is_retired(8));
    }

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut guard = Guard::default();
        for url in 0..=CAPACITY as u32 {
            guard.handle_given_up(url, false, false, Millis::ZERO);
        }
        assert_eq!(guard.0.len(), CAPACITY);
        assert_eq!(guard.rests_until(0, Millis::ZERO), None);
        assert!(guard.rests_until(1, Millis::ZERO).is_some());
        // One that is given up again becomes the newest.
        guard.handle_given_up(1, false, false, Millis::ZERO);
        guard.handle_given_up(1_000, false, false, Millis::ZERO);
        assert!(guard.rests_until(1, Millis::ZERO).is_some());
        assert_eq!(guard.rests_until(2, Millis::ZERO), None);
    }
}
