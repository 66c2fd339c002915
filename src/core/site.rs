//! The fetch sites and the one table of their defaults (requirement R5).

use super::clock::Millis;
use super::retry::Exhausted;

/// What a request asks for. The policy of a request is that of its site.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Site {
    /// The multivariant playlist: playback cannot start without it.
    Manifest = 0,
    /// A media playlist, the first time.
    Playlist = 1,
    /// A media playlist that is read again (live).
    PlaylistReload = 2,
    /// An initialization segment: small, and nothing plays without it.
    Init = 3,
    /// A media segment or part.
    Segment = 4,
    /// An AES-128 key.
    Key = 5,
    /// A DRM license; usually a POST.
    License = 6,
    /// A DRM server certificate.
    Certificate = 7,
    /// A subtitle segment or the header of a WebVTT file: nice to have.
    TextSegment = 8,
    /// A content steering manifest: playback never waits for it.
    Steering = 9,
    /// Beacons, telemetry and whatever else is none of the above: never sent twice.
    Other = 10,
}

/// How a site's requests behave as a kind. Each class has an invariant that its sites keep.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SiteClass {
    /// Much data, worth resuming.
    BulkTransfer,
    /// Never gives up silently: a slow ladder goes on after the quick one.
    Control,
    /// Somebody waits for the answer: at most two retries.
    Interactive,
}

/// The policy of one site. All spans are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SitePolicy {
    /// How long to wait for the response's headers. Each time-out of a request widens it by half,
    /// up to 12 s for the first eight and then to 30 s: a host that is merely slow must be reached
    /// in the end.
    pub headers_timeout: Millis,
    /// The same while the host has never answered; it widens likewise, or to `headers_timeout`,
    /// whichever is longer.
    pub first_headers_timeout: Millis,
    /// How long a body may stay silent while somebody waits for it (R17). Widened likewise.
    pub stall_timeout: Millis,
    /// Attempts on the quick ladder, the first one included.
    pub attempts: u32,
    /// The largest first delay.
    pub backoff_base: Millis,
    /// Growth of the delay with each attempt.
    pub backoff_factor: f64,
    /// The largest delay of the quick ladder.
    pub backoff_cap: Millis,
    /// The quick ladder ends this long after the request began.
    pub deadline: Millis,
    /// The longest wait that a server may ask for with `Retry-After` (R26).
    pub max_wait: Millis,
    /// What follows when the quick ladder is spent.
    pub exhausted: Exhausted,
    /// With a declared alternative, the request is given up after so many failures (R69); 0
    /// keeps to `attempts`.
    pub rotate_after: u32,
    /// How bodies that broke are fetched on.
    pub resume: Resume,
}

/// How bodies that broke are fetched on (R20, R21).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Resume {
    /// Not at all: they are fetched again.
    pub off: bool,
    /// These bodies are never encoded, though CORS hides it.
    pub assume_identity: bool,
    /// A part whose `Content-Range` is hidden is the one that was asked for if it is as long, and
    /// was changed at the same time.
    pub trust_unexposed_range: bool,
    /// Ask for the range of all bytes at once, so that the answer tells where they belong.
    pub range_first: bool,
}

impl Resume {
    /// By the bits 1 off, 2 assume identity, 4 trust an unexposed range, 8 range first.
    pub const fn from_bits(bits: u32) -> Self {
        Self {
            off: bits & 1 != 0,
            assume_identity: bits & 2 != 0,
            trust_unexposed_range: bits & 4 != 0,
            range_first: bits & 8 != 0,
        }
    }
}

impl Site {
    /// All sites, in the order of their codes.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Manifest,
        Self::Playlist,
        Self::PlaylistReload,
        Self::Init,
        Self::Segment,
        Self::Key,
        Self::License,
        Self::Certificate,
        Self::TextSegment,
        Self::Steering,
        Self::Other,
    ];

    /// How many sites there are.
    pub const COUNT: usize = 11;

    /// How many [ranks](Self::rank) there are.
    pub(super) const RANKS: u8 = 4;

    /// The site with this code, if there is one.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }

    /// The class that the site belongs to.
    pub const fn class(self) -> SiteClass {
        match self {
            Self::Manifest | Self::PlaylistReload | Self::Steering => SiteClass::Control,
            Self::Init | Self::Segment | Self::TextSegment => SiteClass::BulkTransfer,
            Self::Playlist | Self::Key | Self::License | Self::Certificate | Self::Other => {
                SiteClass::Interactive
            }
        }
    }

    /// Whether an HTML page or a JSON document is certainly not what was asked for (R28).
    /// Keys and licenses are opaque bytes and are never judged.
    pub const fn expects_media(self) -> bool {
        matches!(
            self,
            Self::Manifest
                | Self::Playlist
                | Self::PlaylistReload
                | Self::Init
                | Self::Segment
                | Self::TextSegment
        )
    }

    /// Who goes first where not all may: 0 before 1 (R46). Nothing plays without keys and
    /// initialization segments, and nothing goes on without playlists.
    pub const fn rank(self) -> u8 {
        match self {
            Self::Init | Self::Key | Self::License | Self::Certificate => 0,
            Self::Manifest | Self::Playlist | Self::PlaylistReload => 1,
            Self::Segment => 2,
            Self::TextSegment | Self::Steering | Self::Other => 3,
        }
    }

    /// Whether the cadence of retries is bound to the target duration of a live playlist.
    pub const fn is_reload(self) -> bool {
        matches!(self, Self::PlaylistReload)
    }

    /// The defaults.
    pub const fn defaults(self) -> SitePolicy {
        match self {
            Self::Manifest => SitePolicy {
                first_headers_timeout: Millis::new(3_500.0),
                ..row(10.0, 6.0, 6, 0.5, 8.0, 60.0, LONG_WAIT)
            },
            Self::Playlist => row(10.0, 8.0, 3, 0.5, 4.0, 20.0, 20.0),
            Self::PlaylistReload => row(10.0, 8.0, 3, 0.5, 4.0, 20.0, LONG_WAIT),
            Self::Init => row(6.0, 5.0, 4, 0.4, 3.0, 15.0, LONG_WAIT),
            Self::Segment => row(8.0, 5.0, 4, 0.4, 3.0, 15.0, LONG_WAIT),
            Self::Key => row(8.0, 5.0, 3, 0.5, 4.0, 15.0, 15.0),
            // A license request may be good for one use only: two retries, and no hold.
            Self::Certificate => SitePolicy {
                exhausted: Exhausted::Reject,
                ..row(8.0, 5.0, 3, 0.5, 4.0, 15.0, 15.0)
            },
            Self::License => SitePolicy {
                exhausted: Exhausted::Reject,
                ..row(15.0, 10.0, 3, 1.0, 4.0, 20.0, 20.0)
            },
            Self::TextSegment => SitePolicy {
                exhausted: Exhausted::Reject,
                ..row(8.0, 5.0, 3, 0.5, 4.0, 10.0, LONG_WAIT)
            },
            Self::Steering => SitePolicy {
                exhausted: Exhausted::Reject,
                ..row(10.0, 10.0, 2, 1.0, 4.0, 300.0, LONG_WAIT)
            },
            Self::Other => SitePolicy {
                exhausted: Exhausted::Reject,
                ..row(30.0, 30.0, 1, 1.0, 4.0, 30.0, 0.0)
            },
        }
    }
}

/// The longest wait for a server's own request, in seconds (R26).
const LONG_WAIT: f64 = 300.0;

// Where the bounds of the table end, whatever moves them: the buffer, failures, a probe.

/// No ladder is shorter than this, however little is buffered (R16).
pub(super) const SHORTEST_LADDER: Millis = Millis::new(3_000.0);

/// No attempt that another can follow has less than this for its headers,
pub(super) const SHORTEST_WAIT: Millis = Millis::new(1_000.0);
/// no other less than this,
pub(super) const SHORTEST_LAST: Millis = Millis::new(300.0);
/// no attempt of a hold less than this,
pub(super) const SHORTEST_HELD: Millis = Millis::new(2_000.0);
/// and no reload of a playlist less than this.
pub(super) const SHORTEST_RELOAD: Millis = Millis::new(4_000.0);

/// No probe of a host that is known to be down, or has fallen silent, has more: others wait for what
/// it finds, and the end of a black hole is noticed when the bound is over.
pub(super) const LONGEST_PROBE: Millis = Millis::new(5_500.0);
/// Every so manieth time-out of a request has: the host may be slow and not dead.
pub(super) const SOUNDING: u32 = 6;

/// What looks like CORS is asked for twice, to be sure, and not more.
pub(super) const SUSPECT_ATTEMPTS: u32 = 2;

/// One row of the table, in seconds, with what most rows share.
const fn row(
    headers: f64,
    stall: f64,
    attempts: u32,
    base: f64,
    cap: f64,
    deadline: f64,
    max_wait: f64,
) -> SitePolicy {
    SitePolicy {
        headers_timeout: Millis::from_secs(headers),
        first_headers_timeout: Millis::from_secs(headers),
        stall_timeout: Millis::from_secs(stall),
        attempts,
        backoff_base: Millis::from_secs(base),
        backoff_factor: 2.0,
        backoff_cap: Millis::from_secs(cap),
        deadline: Millis::from_secs(deadline),
        max_wait: Millis::from_secs(max_wait),
        exhausted: Exhausted::Auto,
        rotate_after: 0,
        resume: Resume::from_bits(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_positions() {
        for (code, site) in Site::ALL.into_iter().enumerate() {
            assert_eq!(site as usize, code);
            assert_eq!(Site::from_code(code as u32), Some(site));
        }
        assert_eq!(Site::from_code(Site::COUNT as u32), None);
    }

    #[test]
    fn r5_every_site_keeps_the_invariant_of_its_class() {
        for site in Site::ALL {
            let policy = site.defaults();
            if site.class() == SiteClass::Interactive {
                assert!(policy.attempts <= 3, "{site:?}: at most two retries");
            }
            assert!(policy.first_headers_timeout <= policy.headers_timeout, "{site:?}");
            assert!(policy.backoff_base <= policy.backoff_cap, "{site:?}");
            assert!(policy.attempts >= 1, "{site:?}");
        }
    }

    #[test]
    fn r15_the_manifest_ladder_outlasts_the_segment_ladder() {
        let (manifest, segment) = (Site::Manifest.defaults(), Site::Segment.defaults());
        assert!(manifest.attempts > segment.attempts);
        assert!(manifest.deadline > segment.deadline);
    }
}
