//! What a request needs to be sent again.

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, RequestInit};

/// The network side of one request.
pub(super) struct Flight {
    /// A URL, or a `Request` that is cloned for each attempt.
    pub(super) input: JsValue,
    /// The init of each attempt; only its signal changes.
    pub(super) init: RequestInit,
    /// What to call instead of the global `fetch`.
    pub(super) fetch: Option<Function>,
    /// The attempt that JavaScript has sent before the engine was there.
    pub(super) adopted: Option<AbortController>,
    /// The attempt under way.
    pub(super) attempt: u32,
    /// Aborts the attempt under way; absent when there is none.
    pub(super) controller: Option<AbortController>,
    /// Whether that was answered.
    pub(super) answered: bool,
}

impl Flight {
    /// Whether this attempt is under way.
    pub(super) const fn carries(&self, attempt: u32) -> bool {
        self.attempt == attempt && self.controller.is_some()
    }

    /// Ends the attempt under way, if there is one. What aborts it is left to the caller.
    pub(super) fn cut(&mut self) -> Option<AbortController> {
        self.answered = false;
        self.controller.take()
    }
}
