//! Whatever happens to the engine, in whatever order.
#![no_main]

#[path = "../engine.rs"]
mod engine;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| engine::run(bytes));
