//! The decisions: pure, no clock, no randomness, no I/O, no JavaScript types.
//!
//! Words: an *attempt* is one `fetch`; a *request* is what the caller asked for and may take
//! several attempts; the *ladder* is the quick series of attempts of a request; a *hold* is
//! the slow series after it; a *verdict* is final; a *site* is the kind of thing asked for;
//! a *host* is an origin.

mod backoff;
mod breaker;
mod budget;
mod classify;
mod clock;
mod config;
mod credential;
mod engine;
mod error;
mod estimate;
mod guard;
mod hook;
mod host;
mod http_date;
mod log;
mod opaque;
mod recovery;
mod request;
mod retry;
pub mod retry_after;
mod site;
mod stall;
mod throttle;
mod timer;

pub use backoff::{equal_jitter, exponential, full_jitter};
pub use breaker::{Breaker, BreakerConfig, Evidence, Health, HealthState, Permit, Report};
pub use budget::{Bucket, BudgetConfig};
pub use classify::{Classification, Facts, FailureClass, Outcome, Retryable, Weight, classify};
pub use clock::Millis;
pub use config::Config;
pub use engine::{Action, Engine, Expiry, HostState, Limited, ResponseFacts, Scope, StartRequest};
pub use error::{FailedAttempt, Failure, Reason};
pub use estimate::{Estimator, EstimatorConfig};
pub use hook::{Answer, Hook, Hooks};
pub use log::{Entry, LogEvent};
pub use opaque::OpaqueBurst;
pub use recovery::{Matter, Recovery, Rule};
pub use request::{Delivery, Marks, RequestId, RetryState};
pub use retry::{Alternatives, Exhausted, Wait, WaitReason};
pub use site::{Site, SiteClass, SitePolicy};
pub use stall::{Playback, StallPolicy};
pub use throttle::{Cubic, Slot, Throttle, ThrottleState};
pub use timer::Timer;
