//! What stands between a player and the network, seen from the simulation: a policy of retries.

use holdfast::core::Site;

use crate::calendar::Ms;

/// Where a request of a viewer is: one for media, one for the playlist that is read again.
pub const MEDIA: u8 = 0;
/// See [`MEDIA`].
pub const PLAYLIST: u8 = 1;
/// How many slots there are.
pub const SLOTS: usize = 2;

/// What a client wants done, or says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Deed {
    /// Send an attempt.
    Send(u8),
    /// Cut the attempt under way.
    Cut(u8),
    /// The request has succeeded.
    Done(u8),
    /// The request is given up for now; the player asks again at its next occasion.
    Dropped(u8),
    /// The request has failed, and the player stops for good.
    Lost(u8),
}

/// What a client is told with each fact.
pub struct Context<'a> {
    /// The time.
    pub now: Ms,
    /// What the player has buffered.
    pub buffer: Ms,
    /// Whether the stream is live.
    pub live: bool,
    /// The simulation's randomness.
    pub dice: &'a mut fastrand::Rng,
    /// What follows.
    pub deeds: &'a mut Vec<Deed>,
}

/// A policy of retries at work for one viewer. Facts of attempts that were cut are never told.
pub trait Client {
    /// What all of its kind share.
    type Kind: Clone + Send + Sync;

    /// A client of a fresh session.
    fn new(kind: Self::Kind, seed: u64) -> Self;
    /// The player asks for something.
    fn start(&mut self, slot: u8, site: Site, url: u32, context: &mut Context<'_>);
    /// The head of a success.
    fn handle_head(&mut self, slot: u8, context: &mut Context<'_>);
    /// The head of a refusal: a 503, perhaps with a wait.
    fn handle_refusal(&mut self, slot: u8, retry_after: Option<Ms>, context: &mut Context<'_>);
    /// The body is there, whole.
    fn handle_end(&mut self, slot: u8, context: &mut Context<'_>);
    /// A timer is due.
    fn wake(&mut self, context: &mut Context<'_>);
    /// When the next timer is due.
    fn next_wake(&self) -> Option<Ms>;
}
