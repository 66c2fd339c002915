//! The gates between a failure and the next attempt, and the rule for what follows when the
//! ladder is spent.
//!
//! The order of the gates is fixed, and the first refusal wins: the hook's veto, released bytes,
//! idempotence, class, `Retry-After`, attempts, delay, deadline, network. Those that ask others,
//! and what costs something, come when the attempt is about to be sent (`engine/admit.rs`), so
//! that nothing is spent before the last gate.

use super::backoff::{FLOOR, after_timeout, exponential, full_jitter};
use super::classify::{Classification, FailureClass, Retryable};
use super::clock::Millis;
use super::error::Reason;
use super::hook::Answer;
use super::recovery::{grace, not_ready};
use super::site::SitePolicy;

/// What follows when the quick ladder is spent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Exhausted {
    /// Reject where the player can go elsewhere, else hold.
    Auto = 0,
    /// Go on slowly until success, a terminal failure, an abort, or the hold's limit.
    Hold = 1,
    /// Reject.
    Reject = 2,
}

/// Whether the player has somewhere else to go.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(u8)]
pub enum Alternatives {
    /// Nobody said. If the host answers for other URLs, it is assumed.
    #[default]
    Unknown = 0,
    /// Declared: nowhere.
    None = 1,
    /// Declared: another host, level or pathway.
    Some = 2,
}

/// Why a request waits. The codes are stable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[repr(u8)]
pub enum WaitReason {
    /// The ladder's delay.
    Backoff = 0,
    /// The ladder is spent; this is the slow one.
    Hold = 1,
    /// The browser says that there is no network.
    Offline = 2,
    /// The server said when.
    RetryAfter = 3,
    /// The host is known to be down; the next probe is due then (R38).
    Breaker = 4,
    /// The budget is spent; time grants a probe (R36).
    Budget = 5,
    /// The server asks for less: it is this request's turn then (R47).
    Vrlt = 6,
    /// The credential is being refreshed (R49).
    TokenRefresh = 7,
    /// The URL was given up just now; whoever asks, it rests (R40).
    Cooldown = 8,
    /// What was asked for is perhaps not there yet.
    NotReady = 9,
    /// The path allows only what is needed, or nothing at all (R86).
    Held = 10,
    /// As much is under way in its lane as may be (R81).
    Window = 11,
    /// The host is back from an outage, and enough is buffered to leave others their turn.
    CatchUp = 12,
}

/// A wait before the next attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// How long.
    pub delay: Millis,
    /// Why.
    pub reason: WaitReason,
}

/// All that the gates look at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    pub(super) policy: SitePolicy,
    pub(super) failure: Classification,
    /// What the hook said.
    pub(super) answer: Answer,
    /// Whether an earlier attempt failed in the same class.
    pub(super) repeated: bool,
    /// Repetitions so far of what is perhaps not there yet.
    pub(super) graces: u32,
    pub(super) live: bool,
    /// The target duration, where it is known.
    pub(super) target: Option<Millis>,
    /// Attempts of the ladder so far, this one included.
    pub(super) attempts: u32,
    /// Whether these are as many as it may take before the player turns to another host.
    pub(super) rotates: bool,
    /// What is left of the ladder's time.
    pub(super) time_left: Millis,
    pub(super) idempotent: bool,
    pub(super) released: bool,
    pub(super) online: bool,
    pub(super) retry_after: Option<Millis>,
}

/// Passes the gates of the quick ladder: the wait before the next attempt, or the first
/// refusal.
pub(super) fn next_on_ladder(
    situation: &Situation,
    dice: &mut fastrand::Rng,
) -> Result<Wait, Reason> {
    may_repeat(situation)?;
    if situation.rotates {
        return Err(Reason::Attempts);
    }
    if let Some(step) = next_in_patience(situation, dice) {
        return step;
    }
    if situation.attempts >= situation.policy.attempts {
        return Err(Reason::Attempts);
    }
    let delay = asked_by_hook(situation).unwrap_or_else(|| ladder_delay(situation, dice));
    let wait = above_retry_after(situation, Wait { delay, reason: WaitReason::Backoff }, dice);
    if wait.delay > situation.time_left {
        return Err(Reason::Deadline);
    }
    Ok(for_the_network(situation, wait))
}

/// Passes the gates of the slow ladder, which has neither attempts nor a deadline to lose.
/// `queue` is how far ahead the other probes of the host are scheduled.
pub(super) fn next_on_hold(
    situation: &Situation,
    interval: Millis,
    queue: Millis,
    time_left: Millis,
    dice: &mut fastrand::Rng,
) -> Result<Wait, Reason> {
    may_repeat(situation)?;
    if let Some(step) = next_in_patience(situation, dice) {
        return step;
    }
    // Waiting for an answer that did not come was most of the pause.
    let waited = matches!(situation.failure.class, FailureClass::Stall | FailureClass::Timeout);
    let interval = interval * if waited { 0.25 } else { 1.0 } * (0.85 + 0.3 * dice.f64());
    // A long queue is no reason to be given up before the limit.
    let queue = queue.min(time_left - interval).max(Millis::ZERO);
    let jittered = queue + interval;
    let delay = asked_by_hook(situation).unwrap_or(jittered);
    let mut wait = above_retry_after(situation, Wait { delay, reason: WaitReason::Hold }, dice);
    // It is the server's word that must fit, not the jitter on top.
    if let Some(asked) = situation.retry_after
        && wait.reason == WaitReason::RetryAfter
    {
        wait.delay = wait.delay.min(time_left.max(asked));
    }
    if wait.delay > time_left {
        return Err(Reason::HoldLimit);
    }
    Ok(for_the_network(situation, wait))
}

/// The ladder of the naive preset (R7): 1, 2 and 4 s after failures of the server and of the
/// network, and nothing else.
pub(super) const fn next_naive(situation: &Situation) -> Result<Wait, Reason> {
    use FailureClass as C;
    // A page of a portal is a refusal of the server's here, by its status.
    let refused = matches!(situation.failure.svta, 3_500..=3_599);
    let again = refused
        || matches!(
            situation.failure.class,
            C::Offline | C::Stall | C::Timeout | C::Transport | C::Truncated
        );
    if situation.released {
        return Err(Reason::Released);
    }
    if !situation.idempotent {
        return Err(Reason::NotIdempotent);
    }
    if !again {
        return Err(Reason::Terminal);
    }
    if situation.policy.attempts == 1 {
        return Err(Reason::Attempts);
    }
    let delay = match situation.attempts {
        1 => Millis::new(1_000.0),
        2 => Millis::new(2_000.0),
        3 => Millis::new(4_000.0),
        _ => return Err(Reason::Attempts),
    };
    Ok(Wait { delay, reason: WaitReason::Backoff })
}

/// The gates that no ladder passes by.
pub(super) fn may_repeat(situation: &Situation) -> Result<(), Reason> {
    if situation.answer == Answer::No {
        return Err(Reason::Vetoed);
    }
    if situation.released {
        return Err(Reason::Released);
    }
    if !situation.idempotent {
        return Err(Reason::NotIdempotent);
    }
    // The law has the last word, whatever a hook says.
    let promoted = matches!(situation.answer, Answer::Yes | Answer::After(_))
        && situation.failure.class != FailureClass::Legal;
    match situation.failure.retryable {
        _ if promoted => {}
        Retryable::Never => return Err(Reason::Terminal),
        Retryable::Once if situation.repeated => return Err(Reason::Terminal),
        Retryable::Always | Retryable::Grace | Retryable::NotReady | Retryable::Once => {}
    }
    if situation.retry_after.is_some_and(|wait| wait > situation.policy.max_wait) {
        return Err(Reason::RetryAfter);
    }
    Ok(())
}

/// The wait for what is perhaps not there yet, or that it is no use any more; `None` for all
/// other failures.
fn next_in_patience(
    situation: &Situation,
    dice: &mut fastrand::Rng,
) -> Option<Result<Wait, Reason>> {
    let n = situation.graces + 1;
    let delay = match situation.failure.retryable {
        _ if situation.answer != Answer::Default => return None,
        Retryable::Grace => grace(situation.live, situation.target, n),
        Retryable::NotReady => not_ready(n),
        _ => return None,
    };
    let Some(delay) = delay else { return Some(Err(Reason::Terminal)) };
    // So far apart at least: what is not there must not be asked for too often.
    let wait = Wait { delay: delay * (1.0 + 0.1 * dice.f64()), reason: WaitReason::NotReady };
    let wait = above_retry_after(situation, wait, dice);
    Some(Ok(for_the_network(situation, wait)))
}

/// The delay that the hook named, within what the site may wait.
pub(super) fn asked_by_hook(situation: &Situation) -> Option<Millis> {
    match situation.answer {
        Answer::After(delay) => Some(delay.min(situation.policy.max_wait).max(FLOOR)),
        _ => None,
    }
}

fn ladder_delay(situation: &Situation, dice: &mut fastrand::Rng) -> Millis {
    let SitePolicy { backoff_base, backoff_factor, backoff_cap, .. } = situation.policy;
    let span = exponential(backoff_base, backoff_factor, backoff_cap, situation.attempts);
    let unit = dice.f64();
    match situation.failure.class {
        FailureClass::Stall | FailureClass::Timeout => after_timeout(span, unit),
        // The same request again, at once, and only then the ladder (RFC 8470 section 5.2).
        FailureClass::TooEarly if !situation.repeated => FLOOR,
        _ => full_jitter(span, unit),
    }
}

/// The server's word is a floor: jitter goes on top, never below (R26).
fn above_retry_after(situation: &Situation, wait: Wait, dice: &mut fastrand::Rng) -> Wait {
    let Some(asked) = situation.retry_after else { return wait };
    let asked = asked * (1.0 + 0.2 * dice.f64());
    if asked < wait.delay { wait } else { Wait { delay: asked, reason: WaitReason::RetryAfter } }
}

/// Nothing is sent while the browser says that there is no network.
const fn for_the_network(situation: &Situation, wait: Wait) -> Wait {
    if situation.online { wait } else { Wait { reason: WaitReason::Offline, ..wait } }
}

/// So many failures of one request while its host answers others of the same site, each sent
/// after such an answer, say that the URL is at fault and not the host.
const BESIDE: u32 = 2;

/// Whether a request whose ladder is spent goes on slowly. `beside` counts its failures
/// beside successes of others, as above.
pub(super) const fn holds(mode: Exhausted, alternatives: Alternatives, beside: u32) -> bool {
    match (mode, alternatives) {
        (Exhausted::Hold, _) | (Exhausted::Auto, Alternatives::None) => true,
        (Exhausted::Reject, _) | (Exhausted::Auto, Alternatives::Some) => false,
        (Exhausted::Auto, Alternatives::Unknown) => beside < BESIDE,
    }
}

/// How long after exhaustion the slow ladder is still brisk, where a player is known to wait.
const BRISK: Millis = Millis::new(10_000.0);

/// The target duration where nobody has told of one.
pub(super) const USUAL: Millis = Millis::new(5_000.0);

/// The interval of a host's slow ladder, and of its probes while playback has nowhere else to go
/// (R41): half a segment at first, because most outages end within seconds and somebody is
/// watching a spinner; later a whole one, which asks no more of the server than steady play.
/// `target` is the target duration, if known; `held` how long it has been slow.
pub(super) fn hold_interval(target: Option<Millis>, reload: bool, held: Millis) -> Millis {
    let is_watched = target.is_some();
    let target = target.unwrap_or(USUAL);
    if reload {
        // A playlist is never read more often than its target duration (RFC 8216 6.3.4).
        return target.clamp(Millis::new(1_000.0), Millis::new(10_000.0)) * (1.0 / 0.85);
    }
    if is_watched && held < BRISK {
        (target * 0.5).clamp(Millis::new(750.0), Millis::new(3_000.0))
    } else {
        target.clamp(Millis::new(2_000.0), Millis::new(10_000.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(target: Option<f64>, reload: bool, held: f64) -> f64 {
        hold_interval(target.map(Millis::new), reload, Millis::new(held)).get()
    }

    #[test]
    fn where_nobody_has_told_of_a_target_duration_it_is_five_seconds_from_the_beginning() {
        for held in [0.0, 9_999.0, 10_000.0, 600_000.0] {
            assert_eq!(interval(None, false, held), 5_000.0, "{held}");
        }
    }

    #[test]
    fn a_player_that_waits_has_half_a_target_duration_for_ten_seconds_and_then_the_whole() {
        for (target, half, whole) in [
            (1_000.0, 750.0, 2_000.0),
            (4_000.0, 2_000.0, 4_000.0),
            (5_000.0, 2_500.0, 5_000.0),
            (20_000.0, 3_000.0, 10_000.0),
        ] {
            for (held, expected) in [(0.0, half), (9_999.0, half), (10_000.0, whole)] {
                assert_eq!(interval(Some(target), false, held), expected, "{target} after {held}");
            }
        }
    }

    #[test]
    fn a_playlist_is_never_read_more_often_than_its_target_duration_whatever_the_dice_say() {
        for held in [0.0, 600_000.0] {
            for (target, least) in [(Some(4_000.0), 4_000.0), (None, 5_000.0)] {
                let shortest = 0.85 * interval(target, true, held);
                assert!((shortest - least).abs() < 1e-6, "{shortest} for {target:?}");
            }
        }
    }
}
