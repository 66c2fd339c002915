//! The driver: it obeys the core and decides nothing.
//!
//! Numbers, handles and flat records cross here; bytes of bodies never do. No JavaScript is
//! called while the engine is borrowed: an action is taken out first and carried out after,
//! so that whatever it calls may call back.

mod driver;
mod fact;
mod fetch;
mod flight;
mod options;
mod records;
mod sink;
mod wake;

pub use driver::Driver;
pub use sink::Sink;

/// Throws this instance away: the next call starts on a fresh one. For when it has trapped.
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn renew() {
    wasm_bindgen::handler::schedule_reinit();
}
