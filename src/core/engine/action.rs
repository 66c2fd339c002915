//! What comes out of the engine.

use crate::core::breaker::HealthState;
use crate::core::error::{FailedAttempt, Failure};
use crate::core::hook::Hook;
use crate::core::request::RequestId;
use crate::core::resume::Ask;
use crate::core::throttle::ThrottleState;

/// What the driver has to do.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// The response may be handed to the caller; read its body.
    Accept {
        /// Whose.
        request: RequestId,
        /// Which attempt's.
        attempt: u32,
        /// Whether the bytes must be looked at: a page is not what was asked for.
        inspect: bool,
        /// Whether the body follows what was delivered; otherwise it starts over.
        resumed: bool,
        /// Whether it answers for a part that only the engine asked for.
        part: bool,
        /// So many bytes of it are with the caller already.
        skip: f64,
        /// So many are passed on then at most; infinite where its own end counts.
        take: f64,
    },
    /// Ask a hook; the answer goes to [`Engine::handle_answer`](super::Engine::handle_answer).
    Ask {
        /// Whose.
        request: RequestId,
        /// What.
        hook: Hook,
        /// The number of the question.
        number: u32,
    },
    /// Something has changed of what [`Engine`](super::Engine) shows: its requests, its hosts, the bandwidth.
    Changed,
    /// Abort the attempt.
    Cut {
        /// Whose.
        request: RequestId,
        /// Which attempt.
        attempt: u32,
    },
    /// The attempt has ended as it was to, and another one follows.
    Ended {
        /// Whose.
        request: RequestId,
        /// Which attempt.
        attempt: u32,
    },
    /// The ladder of a request is spent, or its failure is final. Once a request.
    Exhausted {
        /// Whose.
        request: RequestId,
        /// What came of it.
        failure: Failure,
    },
    /// An attempt came to nothing. What follows is not decided yet.
    Failed {
        /// Whose.
        request: RequestId,
        /// How.
        failed: FailedAttempt,
    },
    /// The verdict: failure. The request is over.
    Fail {
        /// Whose.
        request: RequestId,
        /// Why.
        failure: Failure,
    },
    /// The caller has aborted. The request is over, and so is its attempt, if there is one.
    Forget {
        /// Whose.
        request: RequestId,
    },
    /// The verdict: success. The request is over.
    Finish {
        /// Whose.
        request: RequestId,
    },
    /// The request is to be sent without its directives from now on (R33).
    Plain {
        /// Whose.
        request: RequestId,
    },
    /// Ask for a credential to be refreshed; the answer goes to [`Engine::handle_refreshed`](super::Engine::handle_refreshed).
    Refresh {
        /// Which.
        credential: u32,
        /// The request that needs it; 0 where it is refreshed ahead of time.
        request: RequestId,
        /// The number of the question.
        number: u32,
    },
    /// Send an attempt.
    Send {
        /// Whose.
        request: RequestId,
        /// Which attempt, from 1.
        attempt: u32,
        /// What it asks for.
        ask: Ask,
        /// Whether what a cache has of it is known to be wrong.
        reload: bool,
    },
}

/// What is shown of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostState {
    /// The host's number.
    pub host: u32,
    /// Its breaker.
    pub health: HealthState,
    /// Its rate limit, while there is one.
    pub throttle: Option<ThrottleState>,
}
