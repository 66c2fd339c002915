//! What a server advises: smaller windows, for a while (R89, R90).
//!
//! The fields that carry it are read in JavaScript (`js/advice.js`) and come as numbers, whatever
//! these are. Each is kept within the bounds of its window, and can only lower it.

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
    /// The highest bitrate, in bit/s: zero would read as none.
    const CAP: Self = Self { default: f64::INFINITY, min: 1_000.0, max: f64::INFINITY };

    /// What is advised, within the bounds; what holds without where nothing is.
    fn bound(&self, advised: Option<f64>) -> f64 {
        match advised {
            // `f64::clamp` would bring in the text of its panic.
            Some(value) if !value.is_nan() => value.min(self.max).max(self.min),
            _ => self.default,
        }
    }

    fn lower(&self, advised: Option<f64>) -> f64 {
        self.bound(advised).min(self.default)
    }
}

/// What the fields of a response advise, as they tell it. `None` and NaN are what they leave open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Advice {
    /// The length of a range that is asked for, in bytes.
    pub chunk: Option<f64>,
    /// Requests in flight in a lane.
    pub sessions: Option<f64>,
    /// Ranges in flight of a resource.
    pub ranges: Option<f64>,
    /// How long all of it stands, in seconds.
    pub ttl: Option<f64>,
    /// The highest bitrate to choose, in bit/s.
    pub abr_cap: Option<f64>,
    /// The server is overloaded: one request at a time, and nothing ahead of need.
    pub duress: bool,
}

/// What stands of the advice to a lane.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    chunk: f64,
    sessions: u32,
    ranges: u32,
    /// Infinite where there is none.
    abr_cap: f64,
    duress: bool,
    until: Millis,
}

impl Standing {
    /// Takes advice in; nothing of the former is left.
    pub fn adopt(&mut self, advice: Advice, now: Millis) {
        let Advice { chunk, sessions, ranges, ttl, abr_cap, duress } = advice;
        let sessions = if duress { Some(Window::SESSIONS.min) } else { sessions };
        *self = Self {
            chunk: Window::CHUNK.lower(chunk),
            sessions: Window::SESSIONS.lower(sessions) as u32,
            ranges: Window::RANGES.lower(ranges) as u32,
            abr_cap: Window::CAP.bound(abr_cap),
            duress,
            until: now + Millis::from_secs(Window::TTL.bound(ttl)),
        };
    }

    /// Of this and another standing, the lower of each, as they are now.
    pub fn lower(&mut self, other: Self, now: Millis) {
        let other = other.at(now);
        self.chunk = self.chunk.min(other.chunk);
        self.sessions = self.sessions.min(other.sessions);
        self.ranges = self.ranges.min(other.ranges);
        self.abr_cap = self.abr_cap.min(other.abr_cap);
        self.duress |= other.duress;
        self.until = Millis::MAX;
    }

    /// The length of a range that is asked for, in bytes.
    pub fn chunk(&self, now: Millis) -> f64 {
        self.at(now).chunk
    }

    /// How many requests of the lane may be in flight.
    pub fn sessions(&self, now: Millis) -> u32 {
        self.at(now).sessions
    }

    /// How many ranges of a resource may be in flight. One that has begun keeps its own.
    pub fn ranges(&self, now: Millis) -> u32 {
        self.at(now).ranges
    }

    /// The highest bitrate to choose, in bit/s.
    pub fn abr_cap(&self, now: Millis) -> Option<f64> {
        let cap = self.at(now).abr_cap;
        (cap < f64::INFINITY).then_some(cap)
    }

    /// Whether what is not needed yet should wait.
    pub fn is_in_duress(&self, now: Millis) -> bool {
        self.at(now).duress
    }

    /// When it ends, where any stands.
    pub fn expires_at(&self, now: Millis) -> Option<Millis> {
        (now < self.until).then_some(self.until)
    }

    fn at(&self, now: Millis) -> Self {
        if now < self.until { *self } else { Self::default() }
    }
}

impl Default for Standing {
    /// No advice.
    fn default() -> Self {
        Self {
            chunk: Window::CHUNK.default,
            sessions: Window::SESSIONS.default as u32,
            ranges: Window::RANGES.default as u32,
            abr_cap: f64::INFINITY,
            duress: false,
            until: Millis::ZERO,
        }
    }
}
