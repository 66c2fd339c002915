//! Classification: what an attempt came to, and what that is worth (R23, R24).
//!
//! A total function from facts to a class. It names no delay and takes no decision; it says
//! what kind of failure this is, whether the kind may be tried again, and how much it weighs
//! with the breaker, the budget and the adverse-network detector.

/// The class of an outcome. The codes are stable: they cross the boundary and stand in logs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[repr(u8)]
pub enum FailureClass {
    /// No failure: a 2xx, or a 304 that the caller's own conditional request asked for.
    Success = 0,
    /// The caller's abort.
    Aborted = 1,
    /// A partial response that is not the part asked for: 416, or a wrong `Content-Range`.
    BadRange = 2,
    /// The request itself is at fault: no repetition helps.
    Contract = 3,
    /// 401 or 403.
    Denied = 4,
    /// A 2xx without the body that was expected.
    Empty = 5,
    /// 410: gone for good.
    Gone = 6,
    /// Something between here and the server answered: a captive portal, an error page with
    /// a status of success.
    Intercepted = 7,
    /// 451: unavailable for legal reasons.
    Legal = 8,
    /// 421: sent to a server that does not answer for this origin.
    Misdirected = 9,
    /// 404.
    NotFound = 10,
    /// The network failed while the browser says that there is none.
    Offline = 11,
    /// An opaque response: nothing of it can be read, so it is of no use to a player.
    Opaque = 12,
    /// A resume was asked for, and what came cannot be placed.
    RangeIgnored = 13,
    /// 429.
    RateLimited = 14,
    /// 408: the server gave up waiting for the request.
    RequestTimeout = 15,
    /// 5xx but 503 and 511.
    Server = 16,
    /// 503.
    ServerBusy = 17,
    /// A body that fell silent.
    Stall = 18,
    /// No headers in time.
    Timeout = 19,
    /// 425: not yet willing to take a request that could be replayed.
    TooEarly = 20,
    /// The fetch was rejected. DNS, TLS, refused, reset and CORS look all the same to a page.
    Transport = 21,
    /// A body that ended, or broke off, before its end.
    Truncated = 22,
    /// A status that no request of this engine leads to: 1xx, a surfaced 3xx, none at all.
    Unexpected = 23,
    /// What broke off cannot be fetched on: it is not shown to be the same any more.
    Changed = 24,
}

impl FailureClass {
    /// All classes, in the order of their codes.
    pub const ALL: [Self; 25] = [
        Self::Success,
        Self::Aborted,
        Self::BadRange,
        Self::Contract,
        Self::Denied,
        Self::Empty,
        Self::Gone,
        Self::Intercepted,
        Self::Legal,
        Self::Misdirected,
        Self::NotFound,
        Self::Offline,
        Self::Opaque,
        Self::RangeIgnored,
        Self::RateLimited,
        Self::RequestTimeout,
        Self::Server,
        Self::ServerBusy,
        Self::Stall,
        Self::Timeout,
        Self::TooEarly,
        Self::Transport,
        Self::Truncated,
        Self::Unexpected,
        Self::Changed,
    ];

    /// The class with this code, if there is one.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }
}

/// What an attempt came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The caller aborted.
    Aborted,
    /// A 206 whose `Content-Range` is not the one asked for.
    BadContentRange,
    /// The response to a resume is not shown to be the same representation.
    Changed,
    /// A 2xx with no bytes where bytes were expected.
    Empty,
    /// No headers within the bound.
    HeadersTimeout,
    /// An HTML page or a JSON document where media or a playlist was asked for.
    Intercepted,
    /// A response of type `opaque` or `opaqueredirect`.
    Opaque,
    /// A 200 for a resume.
    RangeIgnored,
    /// The promise of `fetch` was rejected by somebody other than the caller.
    Rejected,
    /// A body without a byte within the bound, while somebody waited for it.
    Stall,
    /// A response with this status.
    Status(u16),
    /// A body shorter than announced, or one whose stream broke.
    Truncated,
}

/// The facts that classification reads, and nothing else.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Facts {
    /// What happened.
    pub outcome: Outcome,
    /// What the browser says of the network. `true` proves nothing.
    pub online: bool,
    /// Whether the response carried a usable `Retry-After`.
    pub retry_after: bool,
}

/// Whether a class may be tried again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Retryable {
    /// As often as the ladder has steps.
    Always,
    /// A few times, since it is perhaps not there yet ([`Recovery::Grace`](super::Recovery)).
    Grace,
    /// Never: the verdict is final.
    Never,
    /// Slowly, since it is being prepared ([`Recovery::NotReady`](super::Recovery)).
    NotReady,
    /// Once a request: a second time it is final.
    Once,
}

/// How much a failure says about the host's health (R39).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Weight {
    /// A countable failure.
    Full,
    /// Nothing: the host is alive, or it was not asked.
    None,
    /// A failure that counts in a ratio, but is no evidence alone.
    Soft,
}

/// All that classification says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Classification {
    /// The class.
    pub class: FailureClass,
    /// Whether the class may be tried again.
    pub retryable: Retryable,
    /// What it weighs with the circuit breaker.
    pub breaker: Weight,
    /// Whether it is evidence of an adverse network: transport failures and silences are,
    /// statuses are not.
    pub adverse: bool,
    /// What a retry of it costs the retry budget, in tokens.
    pub cost: f32,
    /// The SVTA-2070 cause: 3000 plus the status, or one of 3001 (no connection), 3002
    /// (time-out), 3007 (download error), 3011 (content type). Zero where there is no
    /// failure. 3003 is never given: a browser cannot tell DNS from the rest (R27).
    pub svta: u16,
}

/// Classifies an outcome. Total: every input has an answer.
pub const fn classify(facts: Facts) -> Classification {
    use FailureClass as C;
    let Facts { outcome, online, retry_after } = facts;
    match outcome {
        Outcome::Aborted => terminal(C::Aborted, 0),
        Outcome::BadContentRange => once(C::BadRange, DOWNLOAD_ERROR),
        Outcome::Changed => neutral(C::Changed, 0.5, DOWNLOAD_ERROR),
        Outcome::Empty => counted(C::Empty, false, 1.0, DOWNLOAD_ERROR),
        Outcome::HeadersTimeout => counted(C::Timeout, true, 1.0, TIME_OUT),
        Outcome::Intercepted => intercepted(CONTENT_TYPE),
        Outcome::Opaque => terminal(C::Opaque, DOWNLOAD_ERROR),
        Outcome::RangeIgnored => neutral(C::RangeIgnored, 0.5, DOWNLOAD_ERROR),
        Outcome::Rejected if online => counted(C::Transport, true, 1.0, DOWNLOAD_ERROR),
        Outcome::Rejected => neutral(C::Offline, 0.0, NO_CONNECTION),
        Outcome::Stall => counted(C::Stall, true, 1.0, TIME_OUT),
        Outcome::Status(status) => classify_status(status, retry_after),
        Outcome::Truncated => counted(C::Truncated, true, 0.5, DOWNLOAD_ERROR),
    }
}

const NO_CONNECTION: u16 = 3001;
const TIME_OUT: u16 = 3002;
const DOWNLOAD_ERROR: u16 = 3007;
const CONTENT_TYPE: u16 = 3011;
const UNKNOWN: u16 = 3000;

/// The budget's price of a retry that the server itself asked to space (5 of 14, as the AWS
/// SDKs price throttling against transient errors).
const THROTTLED: f32 = 0.36;

const fn classify_status(status: u16, retry_after: bool) -> Classification {
    use FailureClass as C;
    let svta = if status <= 999 { UNKNOWN + status } else { UNKNOWN };
    match status {
        200..=299 | 304 => terminal(C::Success, 0),
        401 | 403 => terminal(C::Denied, svta),
        404 => terminal(C::NotFound, svta),
        408 => Classification { breaker: Weight::Soft, ..neutral(C::RequestTimeout, 1.0, svta) },
        410 => terminal(C::Gone, svta),
        413 if retry_after => neutral(C::RateLimited, THROTTLED, svta),
        416 => terminal(C::BadRange, svta),
        421 => once(C::Misdirected, svta),
        425 => neutral(C::TooEarly, 1.0, svta),
        429 => neutral(C::RateLimited, THROTTLED, svta),
        451 => terminal(C::Legal, svta),
        400..=499 => terminal(C::Contract, svta),
        503 if retry_after => neutral(C::ServerBusy, THROTTLED, svta),
        503 => counted(C::ServerBusy, false, 1.0, svta),
        511 => intercepted(svta),
        500..=599 => counted(C::Server, false, 1.0, svta),
        _ => terminal(C::Unexpected, svta),
    }
}

const fn terminal(class: FailureClass, svta: u16) -> Classification {
    Classification {
        class,
        retryable: Retryable::Never,
        breaker: Weight::None,
        adverse: false,
        cost: 0.0,
        svta,
    }
}

const fn neutral(class: FailureClass, cost: f32, svta: u16) -> Classification {
    Classification { retryable: Retryable::Always, cost, ..terminal(class, svta) }
}

const fn once(class: FailureClass, svta: u16) -> Classification {
    Classification { retryable: Retryable::Once, ..neutral(class, 0.5, svta) }
}

const fn counted(class: FailureClass, adverse: bool, cost: f32, svta: u16) -> Classification {
    Classification { breaker: Weight::Full, adverse, ..neutral(class, cost, svta) }
}

/// The host was not even asked, so it is not to blame; the network is.
const fn intercepted(svta: u16) -> Classification {
    Classification { adverse: true, ..neutral(FailureClass::Intercepted, 1.0, svta) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_positions() {
        for (code, class) in (0..).zip(FailureClass::ALL) {
            assert_eq!(class as u32, code);
            assert_eq!(FailureClass::from_code(code), Some(class));
        }
        assert_eq!(FailureClass::from_code(25), None);
    }
}
