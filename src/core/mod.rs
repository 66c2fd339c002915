//! The decisions: pure, no clock, no randomness, no I/O, no JavaScript types.
//!
//! Words: an *attempt* is one `fetch`; a *request* is what the caller asked for and may take
//! several attempts; the *ladder* is the quick series of attempts of a request; a *hold* is
//! the slow series after it; a *verdict* is final; a *site* is the kind of thing asked for;
//! a *host* is an origin.

mod backoff;
mod classify;
mod clock;
mod config;
mod engine;
mod error;
mod estimate;
mod host;
mod log;
mod request;
mod retry;
pub mod retry_after;
mod site;
mod stall;
mod timer;

pub use backoff::{equal_jitter, exponential, full_jitter};
pub use classify::{Classification, Facts, FailureClass, Outcome, Retryable, Weight, classify};
pub use clock::Millis;
pub use config::Config;
pub use engine::{Action, Engine, ResponseFacts, StartRequest};
pub use error::{Failure, Reason};
pub use estimate::{Estimator, EstimatorConfig};
pub use log::{Entry, LogEvent};
pub use request::{Delivery, RequestId, RetryState};
pub use retry::{Alternatives, Exhausted, Wait, WaitReason};
pub use site::{Site, SiteClass, SitePolicy};
pub use stall::{Playback, StallPolicy};
pub use timer::Timer;
