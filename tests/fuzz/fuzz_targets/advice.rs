//! Whatever a server writes into its advice.
#![no_main]

#[path = "../advice.rs"]
mod advice;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| advice::run(bytes));
