//! A playback credential that several requests carry: who refreshes it, when, and who waits
//! (R50 to R55).
//!
//! What a credential looks like, and what a refreshed one replaces, is text and stays in
//! JavaScript. Here it is a number with generations.

use super::backoff::{exponential, full_jitter};
use super::clock::Millis;
use super::hook::REFRESH;

/// Two refreshes are so far apart, at least, be the first a failure (R53) or not.
const PAUSE: Millis = Millis::new(5_000.0);

/// Repeated failures space the next refresh up to this.
const LONGEST_PAUSE: Millis = Millis::new(30_000.0);

/// Nobody refreshes ahead of time what has not been used for so long.
const IDLE: Millis = Millis::new(60_000.0);

/// So many requests wait for one refresh, at most.
pub(super) const MOST_WAITERS: usize = 512;

/// What a refused request does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// It was sent with a credential that has been replaced since: send it again with the new.
    Replay,
    /// A refresh is under way: wait for it.
    Join,
    /// Ask for a refresh, and wait.
    Ask,
    /// It was replaced just now: it is not refused for its age.
    Keep,
    /// A refresh has failed just now.
    Refuse,
}

/// One credential.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Credential {
    /// How often it was replaced.
    pub(super) generation: u32,
    /// The number of the open question, and when it is no longer waited for.
    asked: Option<(u32, Millis)>,
    refused_until: Millis,
    failures: u32,
    renewed_at: Option<Millis>,
    expires_at: Option<Millis>,
    /// When it is refreshed ahead of time.
    refresh_at: Option<Millis>,
    used_at: Option<Millis>,
}

impl Credential {
    /// What follows for a request that was refused with the credential of this generation.
    pub(super) fn handle_refused(&self, generation: u32, now: Millis) -> Step {
        if generation < self.generation {
            Step::Replay
        } else if self.asked.is_some() {
            Step::Join
        } else if now < self.refused_until {
            Step::Refuse
        } else if self.is_fresh(now) {
            Step::Keep
        } else {
            Step::Ask
        }
    }

    /// Whether there is no use in sending it: it has expired, or is being replaced because it
    /// has, and a refresh may help.
    pub(super) fn is_stale(&self, now: Millis) -> bool {
        // What had expired when it was new is fine, and the clocks differ.
        let late = |at| at <= now && self.renewed_at.is_none_or(|renewed| at > renewed);
        self.expires_at.is_some_and(late) && now >= self.refused_until && !self.is_fresh(now)
    }

    fn is_fresh(&self, now: Millis) -> bool {
        self.renewed_at.is_some_and(|at| now - at < PAUSE)
    }

    /// Whether a refresh is under way.
    pub(super) const fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Whether the question with this number is open.
    pub(super) fn is_open(&self, number: u32) -> bool {
        self.asked.is_some_and(|(open, _)| open == number)
    }

    /// The question with this number was asked.
    pub(super) fn ask(&mut self, number: u32, now: Millis) {
        self.asked = Some((number, now + REFRESH));
        self.refresh_at = None;
    }

    /// A request is sent with it.
    pub(super) const fn handle_used(&mut self, now: Millis) {
        self.used_at = Some(now);
    }

    /// It is known to expire then. `unit` spreads the refresh ahead of it.
    pub(super) fn set_expiry(&mut self, at: Option<Millis>, unit: f64, now: Millis) {
        if at == self.expires_at {
            return;
        }
        self.expires_at = at;
        self.refresh_at = at.and_then(|at| {
            let lead = ((at - now) * 0.1).clamp(Millis::new(5_000.0), Millis::new(60_000.0));
            let ahead = at - lead * (0.9 + 0.2 * unit);
            // One that hardly lives is refreshed when it is needed.
            (ahead > now).then_some(ahead)
        });
    }

    /// The open question is answered.
    pub(super) fn handle_answer(&mut self, renewed: bool, unit: f64, now: Millis) {
        let Some((_, deadline)) = self.asked.take() else { return };
        if renewed {
            self.generation += 1;
            self.failures = 0;
            self.refused_until = Millis::ZERO;
            self.renewed_at = Some(now);
            self.expires_at = None;
        } else {
            self.failures += 1;
            let span = exponential(Millis::new(1_000.0), 2.0, LONGEST_PAUSE, self.failures);
            self.refused_until = now.min(deadline) + full_jitter(span, unit).max(PAUSE);
        }
    }

    /// The open question counts for nothing, and so does its answer.
    pub(super) const fn withdraw(&mut self) {
        self.asked = None;
    }

    /// The time until the answer is made good after a sleep.
    pub(super) fn excuse(&mut self, slept: Millis) {
        self.asked = self.asked.map(|(number, deadline)| (number, deadline + slept));
    }

    /// When something is due: the answer, if somebody waits for it, or a refresh ahead of time.
    pub(super) fn next_at(&self, waited_for: impl FnOnce() -> bool) -> Option<Millis> {
        match self.asked {
            Some((_, deadline)) => waited_for().then_some(deadline),
            None => self.refresh_at,
        }
    }

    /// The open question whose time is over, if there is one.
    pub(super) fn overdue(&self, now: Millis) -> Option<u32> {
        self.asked.and_then(|(number, deadline)| (deadline <= now).then_some(number))
    }

    /// Whether it is to be refreshed ahead of time, now; asked once.
    pub(super) fn take_refresh(&mut self, now: Millis) -> bool {
        if self.asked.is_some() || self.refresh_at.is_none_or(|at| at > now) {
            return false;
        }
        self.refresh_at = None;
        self.used_at.is_some_and(|at| now - at < IDLE) && now >= self.refused_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: f64) -> Millis {
        Millis::from_secs(seconds)
    }

    #[test]
    fn r55_what_is_due_at_this_very_moment_is_refreshed_when_it_is_needed() {
        let mut credential = Credential::default();
        // The lead of half the shortest spread is five seconds: it begins right now.
        credential.set_expiry(Some(at(105.0)), 0.5, at(100.0));
        assert_eq!(credential.refresh_at, None);
        credential.set_expiry(Some(at(105.001)), 0.5, at(100.0));
        assert!(credential.refresh_at.is_some());
    }

    #[test]
    fn r51_one_question_at_a_time() {
        let mut credential = Credential::default();
        assert_eq!(credential.handle_refused(0, at(1.0)), Step::Ask);
        credential.ask(7, at(1.0));
        assert_eq!(credential.handle_refused(0, at(1.0)), Step::Join);
        assert!(!credential.is_open(6), "another question");
        assert!(credential.is_open(7));
        credential.handle_answer(true, 0.5, at(2.0));
        assert!(!credential.is_open(7), "answered");
        credential.handle_answer(true, 0.5, at(2.0));
        assert_eq!(credential.generation, 1);
    }

    #[test]
    fn r51_a_request_of_an_older_generation_is_replayed() {
        let mut credential = Credential::default();
        credential.ask(7, at(1.0));
        credential.handle_answer(true, 0.5, at(2.0));
        assert_eq!(credential.handle_refused(0, at(2.0)), Step::Replay);
    }

    #[test]
    fn r52_one_that_was_renewed_just_now_is_not_refused_for_its_age() {
        let mut credential = Credential::default();
        credential.ask(7, at(1.0));
        credential.handle_answer(true, 0.5, at(2.0));
        assert_eq!(credential.handle_refused(1, at(6.9)), Step::Keep);
        assert_eq!(credential.handle_refused(1, at(7.0)), Step::Ask);
    }

    #[test]
    fn r53_a_failed_refresh_is_remembered_for_five_seconds_and_longer_each_time() {
        let mut credential = Credential::default();
        let mut now = at(100.0);
        let mut rests = Vec::new();
        for number in 0..7 {
            assert_eq!(credential.handle_refused(0, now), Step::Ask);
            credential.ask(number, now);
            credential.handle_answer(false, 1.0, now);
            assert_eq!(credential.handle_refused(0, now), Step::Refuse);
            rests.push((credential.refused_until - now).as_secs());
            now = credential.refused_until;
        }
        assert_eq!(rests, [5.0, 5.0, 5.0, 8.0, 16.0, 30.0, 30.0]);
        credential.ask(9, now);
        credential.handle_answer(true, 1.0, now);
        assert_eq!(credential.failures, 0);
    }

    #[test]
    fn r53_a_question_is_overdue_after_ten_seconds() {
        let mut credential = Credential::default();
        credential.ask(7, at(1.0));
        assert_eq!(credential.next_at(|| true), Some(at(11.0)));
        assert_eq!(credential.next_at(|| false), None, "nobody waits");
        assert_eq!(credential.overdue(at(10.999)), None);
        assert_eq!(credential.overdue(at(11.0)), Some(7));
    }

    #[test]
    fn r55_a_refresh_comes_a_tenth_of_its_life_before_the_end_five_seconds_at_least() {
        let lead = |life: f64, unit| {
            let mut credential = Credential::default();
            credential.set_expiry(Some(at(1_000.0 + life)), unit, at(1_000.0));
            credential.refresh_at.map(|ahead| (at(1_000.0 + life) - ahead).as_secs())
        };
        assert_eq!(lead(100.0, 0.5), Some(10.0));
        assert_eq!(lead(100.0, 0.0), Some(9.0));
        assert_eq!(lead(86_400.0, 0.5), Some(60.0));
        assert_eq!(lead(20.0, 0.5), Some(5.0));
        assert_eq!(lead(4.0, 0.5), None, "it hardly lives");
        assert_eq!(lead(-5.0, 0.5), None);
    }

    #[test]
    fn r55_only_what_is_in_use_is_refreshed_ahead_of_time_and_once() {
        let mut credential = Credential::default();
        credential.set_expiry(Some(at(100.0)), 0.5, at(0.0));
        credential.handle_used(at(31.0));
        assert!(!credential.take_refresh(at(89.0)));
        assert!(credential.take_refresh(at(90.0)));
        assert!(!credential.take_refresh(at(90.0)));
        let mut idle = Credential::default();
        idle.set_expiry(Some(at(100.0)), 0.5, at(0.0));
        idle.handle_used(at(30.0));
        assert!(!idle.take_refresh(at(90.0)), "unused for a minute");
        let mut unused = Credential::default();
        unused.set_expiry(Some(at(20.0)), 0.5, at(0.0));
        assert!(!unused.take_refresh(at(15.0)), "never used");
        assert_eq!(idle.next_at(|| true), None);
    }

    #[test]
    fn r55_what_has_expired_is_stale_unless_a_refresh_failed_just_now() {
        let mut credential = Credential::default();
        assert!(!credential.is_stale(at(100.0)));
        credential.set_expiry(Some(at(100.0)), 0.5, at(0.0));
        assert!(!credential.is_stale(at(99.9)));
        assert!(credential.is_stale(at(100.0)));
        credential.ask(1, at(100.0));
        assert!(credential.is_asked());
        credential.handle_answer(false, 0.0, at(100.0));
        assert!(!credential.is_stale(at(101.0)));
        assert!(credential.is_stale(at(105.0)));
    }

    #[test]
    fn r55_a_clock_that_is_ahead_does_not_make_every_fresh_one_stale() {
        let mut credential = Credential::default();
        credential.ask(1, at(100.0));
        credential.handle_answer(true, 0.0, at(101.0));
        credential.set_expiry(Some(at(50.0)), 0.5, at(101.0));
        assert!(!credential.is_stale(at(200.0)), "it had expired when it came");
        credential.set_expiry(Some(at(150.0)), 0.5, at(101.0));
        assert!(credential.is_stale(at(200.0)));
    }
}
