//! Questions to the embedder's hooks, and their answers.
//!
//! A hook is never called from in here. The engine asks with an action and goes on; the answer
//! comes back with the question's number. A number that is no longer open is ignored, and no
//! answer in time is an answer too.

use super::clock::Millis;

/// What is asked. The codes are stable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Hook {
    /// Whether a failed attempt is to be repeated (R58).
    ShouldRetry = 0,
    /// What a license or certificate request is to be sent with from now on (R56).
    RefreshLicense = 1,
    /// Whether a host that failed may be probed by this tab (cross-tab).
    Probe = 2,
}

/// The answer to [`Hook::ShouldRetry`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The hook has no opinion, threw, or did not answer in time.
    Default,
    /// Not again.
    No,
    /// Again, also where the class is final; not beyond the gates that protect the server.
    Yes,
    /// Again, after so long.
    After(Millis),
}

/// How long `shouldRetry` may take.
pub(super) const SHOULD_RETRY: Millis = Millis::new(250.0);

/// How long a refresh of a credential may take (R53).
pub(super) const REFRESH: Millis = Millis::new(10_000.0);

/// Which hooks there are for a request, as bits.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Hooks(pub u8);

impl Hooks {
    /// `shouldRetry`.
    pub const SHOULD_RETRY: Self = Self(1);
    /// `refreshPlaybackToken`.
    pub const REFRESH_TOKEN: Self = Self(2);
    /// `refreshLicenseRequest`.
    pub const REFRESH_LICENSE: Self = Self(4);
    /// `refreshLicenseRequest`, before each repetition.
    pub const REFRESH_BEFORE_RETRY: Self = Self(8);

    /// Whether all of `other` are there.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
