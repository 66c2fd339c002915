//! The facts that are nothing but numbers. They cross through one exported function: each
//! function of its own would cost more than what it does.

use super::fetch::now;
use crate::core::{
    Alternatives, Answer, Cost, Engine, Interface, Millis, PathSample, Playback, Power,
    Reachability, RequestId, Site, Thermal,
};

/// Somebody waits for the next byte of the attempt `number`, at the time `x`.
const READING: u32 = 0;
/// `x` bytes arrived, at `z`; `y` is not 0 where the next ones are waited for. Answers whether the
/// attempt still counts.
const CHUNK: u32 = 1;
/// The body ended, at `x`; `y` is 0 where its container did not. Answers whether all is there.
const BODY_END: u32 = 2;
/// The body is not what was asked for, such as a page in place of media, at `x`.
const PAGE: u32 = 3;
/// The head of a refusal arrived, at `x`, and JavaScript looks at its body before it settles it.
const REFUSAL_HEAD: u32 = 4;
/// The caller aborted.
const ABORT: u32 = 5;
/// The timer has rung.
pub(super) const WAKE: u32 = 6;
/// Whether the browser says that there is a network (`subject` 1). To be said before a failure is
/// reported: the event may still be on its way.
const ONLINE: u32 = 7;
/// What the player says: `x` ms are buffered and `y` is the target duration, negative where
/// unknown; `subject` is 1 for a live stream.
const PLAYBACK: u32 = 8;
/// Whether the player has somewhere else to go for what the site `subject` asks.
const ALTERNATIVES: u32 = 9;
/// The waits that may be ended are to end.
const RETRY_NOW: u32 = 10;
/// A hook answers the question `number`: `x` is 0 no opinion, 1 no, 2 yes, 3 after `y` ms.
const ANSWER: u32 = 11;
/// The question `number` for a fresh credential `subject` is answered; `x` is 1 if it is renewed.
/// The requests that carry it were told their new URLs before.
const REFRESHED: u32 = 12;
/// The credential `subject` expires at `x`, negative where unknown.
const EXPIRY: u32 = 13;
/// The request carries the credential `number` from now on.
const REASSIGN: u32 = 14;
/// The prefix `number` of the request's URL is rate-limited by itself.
const PREFIX: u32 = 15;
/// What is known against the host `subject` is forgotten, or against all where `x` is 1.
const RESET_HEALTH: u32 = 16;
/// The player has turned away from the host `subject`.
const ROTATE: u32 = 17;
/// Whether tabs agree on who probes a host (`subject` 1).
const ELECT: u32 = 18;
/// Another tab knows that the host `subject` is down until `x`, for the `number`-th time, and
/// that its rate is limited to `z` requests/s from `y`; times are negative where unknown.
const ADOPT: u32 = 19;
/// What is known of the path: `number` has the codes of cost, reachability, interface, power and
/// heat, three bits each from the lowest; `x` is what is left of the time in the background, in ms,
/// negative where there is no such end.
const PATH: u32 = 20;
/// Whether the user has said to go on whatever it costs (`subject` 1).
const CONSENT: u32 = 21;
/// The stream of a body broke, at `x`.
const BODY_LOST: u32 = 22;

/// Feeds the engine with a fact. A code that nobody knows is none.
pub(super) fn tell(
    engine: &mut Engine,
    fact: u32,
    subject: u32,
    number: u32,
    [x, y, z]: [f64; 3],
) -> bool {
    let (id, at) = (RequestId(subject), Millis::new(x));
    match fact {
        READING => engine.handle_reading(id, number, at),
        CHUNK => return engine.handle_chunk(id, number, x, y != 0.0, Millis::new(z)),
        BODY_END => {
            if y == 2.0 {
                engine.handle_cached(id, number);
            }
            return engine.handle_body_end(id, number, y != 0.0, at);
        }
        PAGE => engine.handle_intercepted(id, number, at),
        REFUSAL_HEAD => engine.handle_refusal_head(id, number, at),
        ABORT => engine.handle_abort(id, now()),
        WAKE => engine.handle_timeout(now()),
        ONLINE => engine.handle_online(subject != 0, now()),
        PLAYBACK => {
            let (buffer_ahead, target_duration) = (known(x), known(y));
            let playback = Playback { buffer_ahead, target_duration, live: subject != 0 };
            engine.handle_playback(playback, now());
        }
        ALTERNATIVES => {
            if let Some(site) = Site::from_code(subject) {
                engine.handle_alternatives(site, alternatives_from(number));
            }
        }
        RETRY_NOW => engine.handle_retry_now(now()),
        ANSWER => {
            let answer = match x as u32 {
                1 => Answer::No,
                2 => Answer::Yes,
                3 => Answer::After(Millis::new(y)),
                _ => Answer::Default,
            };
            engine.handle_answer(id, number, answer, now());
        }
        REFRESHED => engine.handle_refreshed(subject, number, x != 0.0, now()),
        EXPIRY => engine.handle_expiry(subject, known(x), now()),
        REASSIGN => engine.handle_reassigned(id, number, now()),
        PREFIX => engine.handle_prefix(id, number),
        RESET_HEALTH => engine.handle_reset_health((x == 0.0).then_some(subject), now()),
        ROTATE => engine.handle_rotation(subject, now()),
        ELECT => engine.handle_elections(subject != 0),
        ADOPT => {
            let limit = known(y).map(|from| (from, z));
            engine.handle_gossip(subject, known(x), number, limit, now());
        }
        PATH => {
            let code = |place: u32| number >> (3 * place) & 7;
            let sample = PathSample {
                cost: Cost::from_code(code(0)),
                reachability: Reachability::from_code(code(1)),
                interface: Interface::from_code(code(2)),
                power: Power::from_code(code(3)),
                thermal: Thermal::from_code(code(4)),
                background_until: known(x).map(|left| now() + left),
            };
            engine.handle_path(sample, now());
        }
        CONSENT => engine.handle_consent(subject != 0, now()),
        BODY_LOST => engine.handle_body_lost(id, number, at),
        _ => {}
    }
    true
}

/// What is negative stands for unknown.
pub(super) fn known(value: f64) -> Option<Millis> {
    (value >= 0.0).then(|| Millis::new(value))
}

/// By its code.
pub(super) const fn alternatives_from(code: u32) -> Alternatives {
    match code {
        1 => Alternatives::None,
        2 => Alternatives::Some,
        _ => Alternatives::Unknown,
    }
}
