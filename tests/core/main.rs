//! Behaviour of the core, on a virtual clock with a scripted network.
//!
//! One binary, because linking one for each file would make every change slow.
#![cfg(not(target_family = "wasm"))]

mod common;

mod abort;
mod advice;
mod advice_differential;
mod advice_engine;
mod asleep;
mod breaker;
mod breaker_engine;
mod breaker_exhausted;
mod breaker_model;
mod budget;
mod catch_up;
mod classify;
mod deadlines;
mod field_reports_a;
mod field_reports_a2;
mod field_reports_b;
mod field_reports_b2;

mod fuzz;
mod hold;
mod hooks;
mod http_date;
mod ladder;
mod lanes;
mod license;
mod limit;
mod live_reload;
mod log;
mod naive;
mod offline;
mod pacing;
mod path;
mod plan;
mod plan_cancel;
mod plan_table;
mod properties;
mod recovery;
mod reload;
mod replay;
mod resume;
mod resume_caller;
mod resume_engine;
mod resume_model;
mod resume_origin;
mod retry_after_policy;
mod sites;
mod stall;
mod steering;
mod structured;
mod throttle;
mod throttle_load;
mod token;
mod vectors;
mod verdict;
