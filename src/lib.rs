//! Holdfast: the network layer of a browser media player.
//!
//! [`core`] decides and [`web`](crate) obeys. The core is a state machine without a clock,
//! randomness, I/O or JavaScript: it is fed with what happened and asked what to do.
//!
//! # The run loop
//!
//! 1. Feed one fact with a `handle_*` method of [`core::Engine`], with the time it happened.
//! 2. Call [`core::Engine::poll`] until it answers `None`, and carry out each
//!    [`core::Action`].
//! 3. Ask [`core::Engine::next_timeout`] when to call
//!    [`core::Engine::handle_timeout`], and arm one timer for it.
//!
//! Every fact is followed by a whole drain. The same facts with the same times and the same
//! seed give the same actions and the same decision log, natively and in wasm.

pub mod core;

#[cfg(target_family = "wasm")]
pub mod web;

/// A tenth of the size of the standard allocator. Its free list is searched from the front, and there
/// is little in it: what this module allocates lives long, or for one call.
#[cfg(target_family = "wasm")]
#[global_allocator]
#[allow(unsafe_code, reason = "whoever makes it promises that there is one thread")]
// SAFETY: built without atomics, a module has one thread.
static ALLOCATOR: lol_alloc::AssumeSingleThreaded<lol_alloc::FreeListAllocator> =
    unsafe { lol_alloc::AssumeSingleThreaded::new(lol_alloc::FreeListAllocator::new()) };
