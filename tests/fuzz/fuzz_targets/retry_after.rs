//! Whatever a server writes into `Retry-After` and `Date`.
#![no_main]

#[path = "../judge.rs"]
mod judge;
#[path = "../retry_after.rs"]
mod retry_after;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| retry_after::run(bytes));
