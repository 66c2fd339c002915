//! What a server advises: smaller windows, for a while (R89, R90).
//!
//! Two fields carry advice, both of them structured (RFC 9651): one of our own, a dictionary of
//! integers, and `CMSD-Dynamic` (CTA-5006), a list with an item for each hop. A field that breaks
//! the grammar says nothing; a member of the wrong type is as if absent; of duplicates the last
//! one counts; what is not known is ignored. Values are clamped, and can only lower.

mod fields;

use super::clock::Millis;

/// What holds without advice, and the bounds of what is advised.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// What holds without advice, and the most that holds with it.
    pub default: f64,
    /// Lower advice is raised to this.
    pub min: f64,
    /// Higher advice is lowered to this.
    pub max: f64,
}

impl Window {
    /// The length of a range that is asked for, in bytes.
    pub const CHUNK: Self = Self { default: 1_048_576.0, min: 65_536.0, max: 8_388_608.0 };
    /// Requests in flight in a lane.
    pub const SESSIONS: Self = Self { default: 128.0, min: 1.0, max: 128.0 };
    /// Ranges in flight of a resource.
    pub const RANGES: Self = Self { default: 6.0, min: 1.0, max: 6.0 };
    /// How long advice stands, in seconds. Not a window: up to a day, it may be longer than by
    /// default. At zero or below, the advice is over at once.
    pub const TTL: Self = Self { default: 300.0, min: 0.0, max: 86_400.0 };

    // `f64::clamp` would bring in the text of its panic.
    const fn clamp(&self, value: f64) -> f64 {
        value.min(self.max).max(self.min)
    }
}

/// What one field, or the fields of one response, advise; `None` is what they leave open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Advice {
    /// The length of a range that is asked for, in bytes.
    pub chunk: Option<f64>,
    /// Requests in flight in a lane.
    pub sessions: Option<u32>,
    /// Ranges in flight of a resource.
    pub ranges: Option<u32>,
    /// How long all of it stands, where not for [`Window::TTL`]'s default.
    pub ttl: Option<Millis>,
    /// The highest bitrate to choose, in bit/s.
    pub abr_cap: Option<f64>,
    /// The server is overloaded: one request at a time, and nothing ahead of need.
    pub duress: bool,
}

impl Advice {
    /// Reads a dictionary of `chunk`, `sessions`, `ranges` and `ttl`; `None` where it says nothing
    /// at all, not even that there is no advice any more.
    pub fn parse(field: &str) -> Option<Self> {
        fields::dictionary(field)
    }

    /// Reads `CMSD-Dynamic`: `du`, `mb` and `etp`, and the members of our own under a vendor's
    /// prefix, as in `com.example-chunk`. The lowest value of all hops counts, and any duress.
    pub fn parse_cmsd_dynamic(field: &str) -> Option<Self> {
        fields::list(field)
    }

    /// What both advise: the lower of each value, and any duress.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self {
            chunk: lower(self.chunk, other.chunk),
            sessions: lower(self.sessions, other.sessions),
            ranges: lower(self.ranges, other.ranges),
            ttl: lower(self.ttl, other.ttl),
            abr_cap: lower(self.abr_cap, other.abr_cap),
            duress: self.duress || other.duress,
        }
    }
}

/// What stands of the advice to a lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    advice: Advice,
    until: Millis,
}

impl Standing {
    /// Takes advice in; nothing of the former is left.
    pub fn adopt(&mut self, advice: Advice, now: Millis) {
        let ttl = advice.ttl.unwrap_or(Millis::from_secs(Window::TTL.default));
        *self = Self { advice, until: now + ttl };
    }

    /// The length of a range that is asked for, in bytes.
    pub fn chunk(&self, now: Millis) -> f64 {
        let chunk = Window::CHUNK.default;
        self.at(now).chunk.map_or(chunk, |advised| advised.min(chunk))
    }

    /// How many requests of the lane may be in flight.
    pub fn sessions(&self, now: Millis) -> u32 {
        let advice = self.at(now);
        let sessions = if advice.duress { Window::SESSIONS.min } else { Window::SESSIONS.default };
        advice.sessions.map_or(sessions as u32, |advised| advised.min(sessions as u32))
    }

    /// How many ranges of a resource may be in flight. One that has begun keeps its own.
    pub fn ranges(&self, now: Millis) -> u32 {
        let ranges = Window::RANGES.default as u32;
        self.at(now).ranges.map_or(ranges, |advised| advised.min(ranges))
    }

    /// The highest bitrate to choose, in bit/s.
    pub fn abr_cap(&self, now: Millis) -> Option<f64> {
        self.at(now).abr_cap
    }

    /// Whether what is not needed yet should wait.
    pub fn is_in_duress(&self, now: Millis) -> bool {
        self.at(now).duress
    }

    /// When it ends, where any stands.
    pub fn expires_at(&self, now: Millis) -> Option<Millis> {
        (now < self.until).then_some(self.until)
    }

    fn at(&self, now: Millis) -> Advice {
        if now < self.until { self.advice } else { Advice::default() }
    }
}

fn lower<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other < one { other } else { one }),
        (one, other) => one.or(other),
    }
}
