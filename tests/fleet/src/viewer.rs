//! A viewer: a playhead, a buffer, and what its player asks for next.

use holdfast::core::Site;

use crate::calendar::{Ms, NONE};
use crate::client::SLOTS;

/// The duration of a segment.
pub const SEGMENT: Ms = 4_000;

/// The bytes of a segment; only the bandwidth estimate looks at them.
pub const BYTES: f64 = 1_000_000.0;

/// What a player buffers ahead, at most.
pub const GOAL: Ms = 12_000;

/// What a player asks for before its first segment, be it at the start or after a reload.
pub const STARTUP: [Site; 5] =
    [Site::Manifest, Site::Playlist, Site::Playlist, Site::Init, Site::Init];

/// How many segments a live playlist holds.
pub const WINDOW: u32 = 6;

/// How many of them a live player stays behind.
pub const BEHIND: u32 = 3;

/// Where a session is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// There is none yet.
    Absent,
    /// So many requests of the start-up are done.
    Starting(u8),
    /// Segments are fetched.
    Running,
    /// The player has stopped with an error; its user may load the page again.
    Dead,
}

/// One viewer.
pub struct Viewer<C> {
    /// Its policy of retries.
    pub client: C,
    /// When the buffer runs dry, or ran dry.
    pub dry_at: Ms,
    /// The next segment.
    pub next: u32,
    /// The newest segment that the player knows of.
    pub edge: u32,
    /// When the client is woken next.
    pub wake_at: Ms,
    /// When the buffer is looked at next.
    pub play_at: Ms,
    /// Before this, the server has asked not to be asked again.
    pub not_before: [Ms; SLOTS],
    /// The number of the attempt in each slot.
    pub tags: [u16; SLOTS],
    /// Whether there is a request in the slot.
    pub busy: [bool; SLOTS],
    /// How long after its time the viewer looks for a new segment.
    pub offset: u16,
    /// Where its session is.
    pub stage: Stage,
    /// Whether a session of it has ended with an error.
    pub has_died: bool,
}

impl<C> Viewer<C> {
    /// A viewer who has not come yet.
    pub const fn new(client: C) -> Self {
        Self {
            client,
            dry_at: NONE,
            next: 0,
            edge: 0,
            wake_at: NONE,
            play_at: NONE,
            not_before: [0; SLOTS],
            tags: [0; SLOTS],
            busy: [false; SLOTS],
            offset: 0,
            stage: Stage::Absent,
            has_died: false,
        }
    }

    /// What is buffered.
    pub const fn buffer(&self, now: Ms) -> Ms {
        self.dry_at.saturating_sub(now)
    }

    /// An attempt that is under way there, if any, is none of its business any more.
    pub const fn forget(&mut self, slot: u8) {
        self.tags[slot as usize] = self.tags[slot as usize].wrapping_add(1);
    }
}
