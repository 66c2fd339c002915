//! What holds in every world: checked at each action, whatever the test is about.
//!
//! - A request settles at most once, or is forgotten once its caller aborts; nothing names it
//!   afterwards.
//! - No two attempts of a request are under way, and attempts are numbered without a gap.
//! - A failed attempt is followed by the next one after 50 ms at the earliest, unless the
//!   caller is in a hurry.
//! - What a server asked to wait is never undercut.
//! - Exhaustion is said once, and before the verdict of failure.
//! - No timer without a request, but to refresh a credential ahead of time, and no change of the retry states or of the bandwidth without
//!   a word.

use std::collections::{BTreeMap, BTreeSet};

use holdfast::core::{
    Action, Engine, Expiry, FailureClass, RequestId, ResponseFacts, RetryState, Timer,
};

const FLOOR: f64 = 50.0;

#[derive(Default)]
pub(crate) struct Contract {
    requests: BTreeMap<u32, Watch>,
    shown: Shown,
    changed: bool,
    hurried: BTreeSet<u32>,
}

/// What whoever looks on can see.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    states: Vec<RetryState>,
    bandwidth: Option<f64>,
    excluded_bytes: f64,
}

#[derive(Default)]
struct Watch {
    attempt: u32,
    under_way: bool,
    ended: Option<f64>,
    not_before: f64,
    denied: bool,
    exhausted: bool,
    over: bool,
}

impl Contract {
    pub(crate) fn handle_action(&mut self, action: &Action, now: f64) {
        match *action {
            Action::Send { request, attempt, .. } => self.handle_send(request.0, attempt, now),
            Action::Accept { request, attempt, .. } => {
                let watch = self.alive(request);
                assert!(watch.under_way && watch.attempt == attempt, "{action:?} names no attempt");
            }
            Action::Ask { request, .. } | Action::Plain { request } => {
                self.alive(request);
            }
            Action::Changed => self.changed = true,
            Action::Failed { request, failed } => {
                let watch = self.alive(request);
                assert!(watch.under_way && watch.attempt == failed.attempt, "{action:?}");
                // A fresh credential is tried at once (R54).
                watch.denied |= matches!(failed.class, FailureClass::Denied | FailureClass::Gone);
            }
            Action::Refresh { request, .. } => {
                if request.0 > 0 {
                    self.alive(request);
                }
            }
            Action::Cut { request, attempt } => {
                let watch = self.alive(request);
                assert!(watch.under_way && watch.attempt == attempt, "{action:?} names no attempt");
                watch.under_way = false;
                watch.ended = Some(now);
            }
            // A part is whole; the next one is no retry.
            Action::Ended { request, attempt } => {
                let watch = self.alive(request);
                assert!(watch.under_way && watch.attempt == attempt, "{action:?} names no attempt");
                watch.under_way = false;
            }
            Action::Exhausted { request, .. } => {
                let watch = self.alive(request);
                assert!(!watch.exhausted, "{request:?} is exhausted twice");
                watch.exhausted = true;
            }
            Action::Fail { request, .. } => {
                let watch = self.alive(request);
                assert!(watch.exhausted, "{request:?} fails without exhaustion (R19)");
                watch.over = true;
            }
            Action::Forget { request } => self.alive(request).over = true,
            Action::Finish { request } => {
                let watch = self.alive(request);
                assert!(watch.under_way, "{request:?} succeeds without an attempt");
                watch.over = true;
            }
            _ => panic!("{action:?} is not known here"),
        }
    }

    /// A request begins; it may have to wait before it is sent.
    pub(crate) fn handle_start(&mut self, request: u32) {
        self.requests.entry(request).or_default();
    }

    fn handle_send(&mut self, request: u32, attempt: u32, now: f64) {
        let hurried = self.hurried.remove(&request);
        let watch = self.requests.entry(request).or_default();
        assert!(!watch.over, "request {request} is over, yet sent");
        assert!(!watch.under_way, "request {request} has two attempts under way");
        assert_eq!(attempt, watch.attempt + 1, "request {request}: a gap in the attempts");
        if let Some(ended) = watch.ended {
            assert!(
                hurried || watch.denied || now - ended >= FLOOR - 1e-6,
                "a hot loop: {} ms",
                now - ended
            );
        }
        let early = watch.not_before - now;
        assert!(early <= 0.0, "Retry-After undercut by {early} ms");
        watch.attempt = attempt;
        watch.under_way = true;
        watch.denied = false;
    }

    /// The network delivers a head. What a refusal asks to wait holds, if it still counts.
    pub(crate) fn handle_response(
        &mut self,
        request: u32,
        attempt: u32,
        facts: &ResponseFacts,
        now: f64,
    ) {
        let Some(watch) = self.requests.get_mut(&request) else { return };
        if !watch.under_way || watch.attempt != attempt || matches!(facts.status, 200..=299 | 304) {
            return;
        }
        if let Some(wait) = facts.retry_after {
            watch.not_before = now + wait.get();
        }
        watch.denied = facts.expiry == Expiry::Expired;
    }

    pub(crate) fn handle_hurry(&mut self) {
        self.hurried.extend(self.requests.keys());
    }

    /// After each drain.
    pub(crate) fn check_rest(&mut self, engine: &Engine) {
        if engine.request_count() == 0 {
            let timer = engine.next_timeout().filter(|(_, timer)| *timer != Timer::Refresh);
            assert_eq!(timer, None, "a timer without a request");
        }
        let shown = Shown {
            states: engine.retry_states().collect(),
            bandwidth: engine.estimator().estimate(),
            excluded_bytes: engine.estimator().excluded_bytes(),
        };
        let changed = std::mem::take(&mut self.changed);
        assert!(
            changed || shown == self.shown,
            "what is shown changed without a word, from {:?} to {shown:?}",
            self.shown
        );
        self.shown = shown;
    }

    fn alive(&mut self, request: RequestId) -> &mut Watch {
        let watch = self.requests.get_mut(&request.0).expect("an action names a request");
        assert!(!watch.over, "{request:?} is over, yet named");
        watch
    }
}
