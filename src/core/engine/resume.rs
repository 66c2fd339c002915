//! What is asked for next of a body, and what becomes of its end (R20 to R22, R91).

use super::{Action, Engine};
use crate::core::backoff::FLOOR;
use crate::core::breaker::Evidence;
use crate::core::classify::Outcome;
use crate::core::clock::Millis;
use crate::core::request::{Request, State};
use crate::core::resume::{Ask, Coding, ContentRange, Fit, Misfit, Representation, fit};
use crate::core::retry::{Wait, WaitReason};
use crate::core::site::{Site, SiteClass};

/// Less than so many bytes, or than a tenth, are sooner fetched again than fitted to others, unless
/// they are with the caller.
pub(super) const WORTH: f64 = 65_536.0;

/// For so long a host that answered a range with the whole is not asked for one.
const NO_RANGE: Millis = Millis::from_secs(600.0);

impl Engine {
    /// What the next attempt asks for. Where there is no way on, it starts over.
    pub(super) fn set_out(&mut self, index: usize, now: Millis) -> Ask {
        let way = self.way_on(&self.requests[index], now);
        let request = &mut self.requests[index];
        if way.is_none() {
            request.kept = 0.0;
            request.known = None;
            request.whole = None;
        }
        let ask = way.unwrap_or_else(|| self.within_window(&self.requests[index], 0.0, now));
        self.requests[index].ask = ask;
        ask
    }

    /// Whether bytes are with the caller that cannot be followed by others.
    pub(super) fn is_stuck(&self, request: &Request, now: Millis) -> bool {
        request.has_released() && self.way_on(request, now).is_none()
    }

    /// How to go on from the bytes that were delivered, if there are any, and there is a way.
    pub(super) fn way_on(&self, request: &Request, now: Millis) -> Option<Ask> {
        let known = request.known.as_ref()?;
        let kept = request.kept_by_now();
        let worth = request.has_released()
            || request.legs > 0
            || kept >= WORTH
            || request.whole.is_some_and(|whole| kept >= whole * 0.1);
        if kept == 0.0 || !worth {
            return None;
        }
        self.way_from(request, known, kept, now)
    }

    /// How others can be fitted to `kept` bytes of `known`, if there is a way.
    fn way_from(
        &self,
        request: &Request,
        known: &Representation,
        kept: f64,
        now: Millis,
    ) -> Option<Ask> {
        let policy = &self.config.site(request.site).resume;
        let able = !policy.off
            && !self.config.naive
            && request.site.class() == SiteClass::BulkTransfer
            && known.coding != Coding::Encoded
            && known.is_marked();
        if !able {
            return None;
        }
        let is_identity = known.coding == Coding::Identity;
        let is_placed = known.open
            || known.range != ContentRange::Unknown
            || !request.wanted.ranged
            || policy.trust_unexposed_range;
        if is_identity && is_placed && !request.in_one && !self.refuses_ranges(request, now) {
            return Some(self.within_window(request, kept, now));
        }
        // Text is decoded in one go, and its servers encode it.
        (request.site != Site::TextSegment).then_some(Ask::Again)
    }

    pub(super) fn refuses_ranges(&self, request: &Request, now: Millis) -> bool {
        now < self.host(request).no_range_until
    }

    /// The bytes after the `kept` ones; not more than one window of them on an adverse connection
    /// whose host has proved that it knows ranges.
    fn within_window(&self, request: &Request, kept: f64, now: Millis) -> Ask {
        let (wanted, policy) = (&request.wanted, &self.config.site(request.site).resume);
        let next = wanted.first + kept;
        let last = match request.whole {
            Some(whole) if kept > 0.0 => wanted.first + whole - 1.0,
            _ => wanted.last,
        };
        let bulk = request.site.class() == SiteClass::BulkTransfer;
        let able = bulk && wanted.partial && !request.in_one && !self.config.naive;
        let window = self.window(request, now).filter(|_| able && !policy.off);
        match window {
            Some(window) if next + window <= last => Ask::Part(next, next + window - 1.0),
            // Where all is there, and only its end was lost, one byte more is asked for.
            _ if kept > 0.0 => Ask::Part(next, last.max(next)),
            _ if able && policy.range_first && !wanted.ranged => Ask::Part(next, last),
            _ => Ask::All,
        }
    }

    /// Fits an accepted response to what was asked for.
    pub(super) fn fit(
        &mut self,
        index: usize,
        status: u16,
        mut new: Representation,
        now: Millis,
    ) -> Result<Fit, Outcome> {
        let request = &self.requests[index];
        let policy = &self.config.site(request.site).resume;
        let Request { ask, wanted, kept, .. } = request;
        let (known, trusts) = (request.known.as_ref(), policy.trust_unexposed_range);
        let is_part = matches!(ask, Ask::Part(..));
        if new.coding == Coding::Hidden && (is_part || wanted.ranged || policy.assume_identity) {
            // Whoever asks for a range asks for bytes that are not encoded (Fetch, 5.6).
            new.coding = Coding::Identity;
        }
        let as_is = *kept == 0.0 && wanted.takes_as_is(is_part, status, &new);
        let mut fitted = fit(*ask, wanted, *kept, known, status, &new, trusts);
        if let Ok(Fit { take, whole, .. }) = fitted
            && *kept == 0.0
            && whole.map_or(is_part && status == 206, |whole| take < whole)
            && self.way_from(request, &new, take, now).is_none()
        {
            // What follows it could not be told to belong to it.
            fitted = Err(if is_part { Misfit::Hidden } else { Misfit::Elsewhere });
        }
        if is_part {
            let host = &mut self.hosts[request.host as usize];
            if status == 206 {
                host.knows_ranges |= fitted.is_ok() && new.is_marked();
            } else if status == 200 {
                host.no_range_until = now + NO_RANGE;
            }
        }
        let request = &mut self.requests[index];
        match fitted {
            Ok(fit) => {
                if request.kept == 0.0 {
                    request.known = (!as_is).then_some(new);
                }
                request.whole = request.whole.or(fit.whole);
                Ok(fit)
            }
            Err(misfit) => {
                request.in_one = true;
                Err(match misfit {
                    Misfit::Changed => {
                        request.known = None;
                        Outcome::Changed
                    }
                    Misfit::Elsewhere => Outcome::BadContentRange,
                    Misfit::Hidden => Outcome::RangeIgnored,
                })
            }
        }
    }

    /// A part that was asked for is not there. Where the whole has ended before it, that is the
    /// end; what was lost was the news of it.
    pub(super) fn unsatisfied(
        &mut self,
        index: usize,
        range: ContentRange,
    ) -> Result<Fit, Outcome> {
        let request = &mut self.requests[index];
        let next = request.wanted.first + request.kept;
        let ended = matches!(range, ContentRange::Unsatisfied { total } if total == next);
        if ended && request.kept > 0.0 && request.whole.is_none_or(|whole| whole == request.kept) {
            return Ok(Fit { skip: 0.0, take: 0.0, whole: Some(request.kept) });
        }
        request.in_one = true;
        Err(Outcome::BadContentRange)
    }

    /// What has come of the body under way is with the caller, whatever happens to it.
    pub(super) fn keep(&mut self, index: usize) -> f64 {
        let request = &mut self.requests[index];
        let State::Body(body) = &mut request.state else { return 0.0 };
        let delivered = body.delivered();
        request.kept += delivered;
        // Not to be counted twice.
        body.received = 0.0;
        delivered
    }

    /// A part has ended as it was to: the next one is asked for, which is no retry.
    pub(super) fn go_on(&mut self, index: usize, now: Millis) {
        self.sample(index);
        self.report_health(index, Evidence::Success, false, now);
        let is_much = self.keep(index) >= WORTH;
        let request = &mut self.requests[index];
        let (id, attempt) = (request.id, request.attempts);
        request.timers.stop_all();
        request.legs += 1;
        self.actions.push(Action::Ended { request: id, attempt });
        if is_much {
            request.ladder = request.ladder.saturating_sub(1);
            request.unfailed = true;
            request.state = State::Waiting(WaitReason::Backoff);
            request.since = now;
            self.actions.push(Action::Changed);
            self.depart(index, now);
        } else {
            // A server that gives crumbs is asked no more often than one that fails.
            self.wait(index, Wait { delay: FLOOR, reason: WaitReason::Backoff }, now);
        }
    }

    /// A body that came over the network without a failure before it is a sample of the bandwidth
    /// (R64).
    pub(super) fn sample(&mut self, index: usize) {
        let request = &self.requests[index];
        let State::Body(body) = &request.state else { return };
        if request.attempts == request.legs + 1 && !body.cached {
            self.estimator.sample((body.last_at - body.first_at).get(), body.received);
        } else {
            self.estimator.exclude(body.received);
        }
    }

    /// Whether the body has ended before it was to, or goes on in a further part.
    pub(super) fn ending(&self, index: usize) -> Ending {
        let request = &self.requests[index];
        let State::Body(body) = &request.state else { return Ending::Whole };
        if !request.expects_body || matches!(body.status, 204 | 205 | 304) {
            return Ending::Whole;
        }
        let delivered = body.delivered();
        let sum = request.kept + delivered;
        let is_part = body.status == 206 && matches!(request.ask, Ask::Part(..));
        let is_told = is_part || request.whole.is_some();
        let short = is_told && body.take.is_finite() && delivered < body.take;
        match request.whole {
            _ if short || body.falls_short() => Ending::Cut,
            Some(whole) if body.take.is_finite() && sum < whole => Ending::Part,
            Some(whole) if sum != whole => Ending::Cut,
            None if is_part => Ending::Part,
            _ => Ending::Whole,
        }
    }
}

/// How a body has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ending {
    /// Bytes are missing, or there are too many.
    Cut,
    /// The part that was asked for is whole, and there is more.
    Part,
    /// All that was asked for is there.
    Whole,
}
