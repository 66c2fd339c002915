//! The bounds of a request as they are right now: its site's policy, seen with what the
//! player has said and with what is known of the host.

use super::Engine;
use crate::core::backoff::widened;
use crate::core::breaker::Health;
use crate::core::clock::Millis;
use crate::core::request::{Delivery, Request, State};
use crate::core::retry::Alternatives;
use crate::core::site::{
    LONGEST_PROBE, SHORTEST_HELD, SHORTEST_LADDER, SHORTEST_LAST, SHORTEST_RELOAD, SHORTEST_WAIT,
    SOUNDING, SUSPECT_ATTEMPTS, Site, SiteClass, SitePolicy,
};
use crate::core::stall::Means;
use crate::core::timer::Timer;

impl Engine {
    /// The policy of a request, bound to the target duration where it reloads a playlist and
    /// to the buffer where it fetches media.
    #[inline(never)]
    pub(super) fn policy(&self, request: &Request, now: Millis) -> SitePolicy {
        let mut policy = *self.config.site(request.site);
        if request.site.is_reload() {
            if let Some(target) = self.playback.target_duration {
                policy.backoff_cap = policy.backoff_cap.min(target * 0.5);
                policy.deadline = target;
                if !request.blocking {
                    let patience = (target * 1.5).max(SHORTEST_RELOAD);
                    policy.headers_timeout = policy.headers_timeout.min(patience);
                    policy.first_headers_timeout = policy.first_headers_timeout.min(patience);
                }
            }
        } else if request.site.class() == SiteClass::BulkTransfer
            && let Some(buffer) = self.buffer_ahead(now)
        {
            // What was buffered when the request began, as far as can be told now.
            let at_start = buffer + (now - request.started);
            policy.deadline = (at_start * 0.8).clamp(SHORTEST_LADDER, policy.deadline);
        }
        if request.suspect {
            policy.attempts = policy.attempts.min(SUSPECT_ATTEMPTS);
        }
        policy
    }

    /// Whether a request has failed so often that the player is to turn to another host (R69).
    pub(super) fn rotates(&self, request: &Request) -> bool {
        let after = self.config.site(request.site).rotate_after;
        let movable = self.alternatives(request) == Alternatives::Some;
        movable && after > 0 && request.ladder >= after
    }

    /// The bound for the headers of the attempt that is about to be sent.
    pub(super) fn headers_timeout(&self, request: &Request, now: Millis) -> Millis {
        let policy = self.policy(request, now);
        let usual = if self.hosts[request.host as usize].is_known() {
            policy.headers_timeout
        } else {
            policy.first_headers_timeout
        };
        let usual = widened(usual, request.header_timeouts, policy.headers_timeout);
        let host = self.host(request);
        // A host is not cut for being as late as it is used to be.
        let latest = host.lateness[request.site as usize].latest().unwrap_or_default();
        let open = host.breaker.health(&self.config.breaker, now).health != Health::Closed;
        let sounds = (request.header_timeouts + 1).is_multiple_of(SOUNDING);
        let probes = (open || host.is_silent() && request.header_timeouts > 0)
            && !sounds
            && !matches!(request.site, Site::License | Site::Other);
        let usual = if probes { usual.min(LONGEST_PROBE.max(latest * 1.5)) } else { usual };
        if request.blocking {
            // The server may hold a blocking reload for three target durations (R18).
            let target = self.playback.target_duration.unwrap_or(Millis::from_secs(6.0));
            return usual.max(target * 3.0 + Millis::from_secs(2.0));
        }
        if request.site.class() != SiteClass::BulkTransfer {
            return usual;
        }
        if request.exhausted.is_some() {
            // Little by little, and less so where nothing is answered at all: the end of a black hole
            // is noticed when the bound is over.
            let growth = if host.is_silent() { 1.25 } else { 1.5 };
            let longer = (request.bound * growth).max(SHORTEST_HELD).max(latest);
            return if request.header_timeouts > 0 && !sounds { usual.min(longer) } else { usual };
        }
        let left = request.started + request.offline + policy.deadline - now;
        // Half of what is buffered, where the other half can pay for a second try, which then has
        // twice as long.
        let half = self.buffer_ahead(now).map(|buffer| buffer * 0.5);
        let half = match half.filter(|half| *half >= latest.max(SHORTEST_WAIT)) {
            _ if request.header_timeouts > 0 => request.bound * 2.0,
            half => half.unwrap_or(Millis::MAX),
        };
        usual.min(left.min(half).max(latest).max(SHORTEST_LAST))
    }

    /// Arms the timers of a body that somebody waits for.
    pub(super) fn arm_stall(&mut self, index: usize, now: Millis) {
        let means = self.means(&self.requests[index], now);
        let request = &mut self.requests[index];
        let is_text = matches!(request.site.class(), SiteClass::Control | SiteClass::Interactive)
            && request.site != Site::Other;
        let State::Body(body) = &request.state else { return };
        match body.stall.deadlines(means) {
            None => {
                request.timers.stop(Timer::Stall);
                request.timers.stop(Timer::StallSuspect);
            }
            Some((suspect, mut cut)) => {
                if is_text && request.delivery == Delivery::Buffered {
                    // One that moves on for ever is no better than one that does not move.
                    cut = cut.min(body.first_at + body.stall.longest());
                }
                // A bound that shrank may have passed already; that is no late wake-up.
                request.timers.set(Timer::Stall, cut.max(now));
                if suspect > now {
                    request.timers.set(Timer::StallSuspect, suspect);
                }
            }
        }
    }

    /// Whether a body drips that can be fetched on from where it is. That is done once; if it is no
    /// faster, it is the link that is slow.
    pub(super) fn drips(&self, index: usize, now: Millis) -> bool {
        let request = &self.requests[index];
        let (State::Body(body), Some(means)) = (&request.state, self.means(request, now)) else {
            return false;
        };
        request.stalls == 0 && body.stall.drips(means) && self.way_on(request, now).is_some()
    }

    /// What the player's buffer can pay for while this body is silent.
    #[inline(never)]
    pub(super) fn means(&self, request: &Request, now: Millis) -> Option<Means> {
        let State::Body(body) = &request.state else { return None };
        if request.site.class() != SiteClass::BulkTransfer {
            return None;
        }
        let buffer_ahead = self.buffer_ahead(now)?;
        let missing = body.total.map_or(0.0, |total| total - body.received);
        let remaining = self.estimator.estimate().map_or(Millis::ZERO, |bits_per_second| {
            Millis::from_secs(8.0 * missing / bits_per_second)
        });
        Some(Means { buffer_ahead, missing, remaining })
    }

    /// The buffer by now: what was reported, less the time that has passed since.
    pub(super) fn buffer_ahead(&self, now: Millis) -> Option<Millis> {
        self.playback.buffer_ahead.map(|buffer| buffer - (now - self.playback_at))
    }
}
