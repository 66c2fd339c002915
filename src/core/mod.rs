//! The decisions: pure, no clock, no randomness, no I/O, no JavaScript types.
//!
//! Words: an *attempt* is one `fetch`; a *request* is what the caller asked for and may take
//! several attempts; the *ladder* is the quick series of attempts of a request; a *hold* is
//! the slow series after it; a *verdict* is final; a *site* is the kind of thing asked for;
//! a *host* is an origin.

mod advice;
mod backoff;
mod breaker;
mod budget;
mod catch_up;
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
mod lateness;
mod log;
mod opaque;
mod path;
mod recovery;
mod request;
mod resume;
mod retry;
mod site;
mod stall;
mod throttle;
mod timer;

pub use advice::{Advice, Standing, Window};
pub use backoff::{equal_jitter, exponential, full_jitter};
pub use breaker::{Breaker, BreakerConfig, Evidence, Health, HealthState, Permit, Report};
pub use budget::{Bucket, BudgetConfig};
pub use classify::{Classification, Facts, FailureClass, Outcome, Retryable, Weight, classify};
pub use clock::Millis;
pub use config::Config;
pub use engine::{
    Action, Engine, Expiry, HostState, Limited, PathState, ResponseFacts, Scope, StartRequest,
};
pub use error::{FailedAttempt, Failure, Reason};
pub use estimate::{Estimator, EstimatorConfig};
pub use hook::{Answer, Hook, Hooks};
pub use log::{Entry, LogEvent};
pub use opaque::OpaqueBurst;
pub use path::{
    AdverseDetector, Allowed, ConnectionClass, Cost, Interface, Path, PathSample, Plan, PlanInputs,
    Power, Reachability, Thermal, class, plan,
};
pub use recovery::{Matter, Recovery, Rule};
pub use request::{Delivery, Marks, RequestId, RetryState};
pub use resume::{Ask, Coding, ContentRange, Fit, Misfit, Representation, Wanted, fit};
pub use retry::{Alternatives, Exhausted, Wait, WaitReason};
pub use site::{Resume, Site, SiteClass, SitePolicy};
pub use stall::{Playback, StallPolicy};
pub use throttle::{Cubic, Slot, Throttle, ThrottleState};
pub use timer::Timer;
