//! Fetching on from the byte where a body stopped (R20, R21): what was delivered is never asked
//! for again, and nothing is spliced that is not shown to be the same (RFC 9110 sections 8.8, 14).
//!
//! There are two ways. Where the bytes are known to be those of the representation itself, and not
//! of an encoding of it, the missing ones are asked for. Otherwise all are asked for again, and
//! those that were delivered are dropped. Neither is taken without a validator.

/// How the bytes that a page sees relate to those that ranges and lengths count.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Coding {
    /// They are the same.
    Identity,
    /// They were decoded: nothing can be counted.
    Encoded,
    /// CORS hides `Content-Encoding`.
    #[default]
    Hidden,
}

/// `Content-Range`, as far as it can be read (RFC 9110 section 14.4).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ContentRange {
    /// There is none, or it is hidden, or it makes no sense.
    #[default]
    Unknown,
    /// The bytes from `first` to `last`, inclusive, of `total`, where that is told.
    Part {
        /// The first byte.
        first: f64,
        /// The last byte.
        last: f64,
        /// The length of the whole.
        total: Option<f64>,
    },
    /// Nothing of that range: the whole has only so many bytes.
    Unsatisfied {
        /// The length of the whole.
        total: f64,
    },
}

/// What a response says of the representation that its body is made from. Its texts are numbers that
/// tell them apart: who reads them keeps the words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Representation {
    /// Its place.
    pub range: ContentRange,
    /// `Content-Length`, in bytes of the encoding.
    pub length: Option<f64>,
    /// `ETag`.
    pub etag: Option<f64>,
    /// Whether that is a weak one, which proves nothing (RFC 9110 section 8.8.3).
    pub weak: bool,
    /// `Last-Modified`.
    pub modified: Option<f64>,
    /// The origin that it came from in the end, and its type.
    pub source: f64,
    /// How it is encoded.
    pub coding: Coding,
    /// Whether a page may read all its header fields: CORS has no part in it.
    pub open: bool,
}

impl Representation {
    /// One of which nothing is known.
    pub const UNKNOWN: Self = Self {
        range: ContentRange::Unknown,
        length: None,
        etag: None,
        weak: false,
        modified: None,
        source: 0.0,
        coding: Coding::Hidden,
        open: false,
    };

    /// The length of the whole, or of all that its request asked for.
    fn total(&self) -> Option<f64> {
        match self.range {
            ContentRange::Part { total, .. } => total,
            ContentRange::Unsatisfied { total } => Some(total),
            ContentRange::Unknown => self.length,
        }
    }

    /// Whether it can be told later that something is the same as this: by a strong `ETag`, or by
    /// the time of its last change together with its length.
    pub fn is_marked(&self) -> bool {
        self.etag.is_some() && !self.weak || self.modified.is_some() && self.total().is_some()
    }

    fn has_etag_of(&self, other: &Self) -> bool {
        self.etag.is_some() && self.etag == other.etag && !self.weak && !other.weak
    }

    /// Whether both were changed at the same time, or have the same strong validator.
    fn is_dated_like(&self, other: &Self) -> bool {
        self.has_etag_of(other) || self.modified.is_some() && self.modified == other.modified
    }

    /// Whether nothing speaks against both being the same, as far as their lengths are left aside.
    fn agrees_with(&self, other: &Self) -> bool {
        !differ(self.etag, other.etag)
            && !differ(self.modified, other.modified)
            && self.source == other.source
            && other.coding != Coding::Encoded
    }

    /// Whether `other` is shown to be the same; nothing may speak against it.
    fn is(&self, other: &Self) -> bool {
        let (before, after) = (self.total(), other.total());
        let lengths = before.is_some() && before == after;
        let is_shown = self.has_etag_of(other) || lengths && self.is_dated_like(other);
        is_shown && self.agrees_with(other) && !differ(before, after)
    }
}

/// Whether both are known, and are not the same.
fn differ(one: Option<f64>, other: Option<f64>) -> bool {
    one.is_some() && other.is_some() && one != other
}

/// What an attempt asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Ask {
    /// What the caller asked for, from its first byte.
    #[default]
    All,
    /// The same, and what was delivered is to be dropped.
    Again,
    /// The bytes from the first to the last, inclusive; the last may be infinite.
    Part(f64, f64),
}

impl Ask {
    /// 0 all, 1 all again, 2 a part.
    pub const fn code(self) -> u32 {
        match self {
            Self::All => 0,
            Self::Again => 1,
            Self::Part(..) => 2,
        }
    }
}

/// The bytes that the caller has asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// The first one.
    pub first: f64,
    /// The last one, inclusive; infinite where it is the last of all.
    pub last: f64,
    /// Whether the caller asked for a range.
    pub ranged: bool,
    /// Whether the caller sees no status, and takes what comes for what it asked for.
    pub exact: bool,
    /// Whether it can be asked for in parts: a GET for one range at most, without `integrity`.
    pub partial: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { first: 0.0, last: f64::INFINITY, ranged: false, exact: true, partial: true }
    }
}

impl Wanted {
    /// Whether a response is passed on as it is, whatever was asked for, and none is fitted to it.
    /// Who sees the status is given what the head says.
    pub fn takes_as_is(&self, is_part: bool, status: u16, new: &Representation) -> bool {
        let is_other = match (status, new.range) {
            (206, ContentRange::Part { first, last, total }) => {
                let end = self.last.min(total.map_or(last, |total| total - 1.0));
                !is_part && (first != self.first || last != end)
            }
            (206, _) => !self.ranged && !is_part,
            _ => self.ranged,
        };
        // Of what is encoded nothing can be counted.
        let is_encoded = new.coding == Coding::Encoded && !is_part;
        !self.partial || is_encoded || !self.exact && is_other
    }
}

/// How the body of a response is to be read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// So many bytes of it are with the caller already.
    pub skip: f64,
    /// So many are passed on at most; infinite where nobody knows.
    pub take: f64,
    /// The length of all that the caller has asked for, where it is known.
    pub whole: Option<f64>,
}

/// Why a response cannot be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Misfit {
    /// It is not shown to be the same representation.
    Changed,
    /// It is a part, and its place is hidden.
    Hidden,
    /// It is another part than the one asked for.
    Elsewhere,
}

/// Fits the response of an attempt to what is wanted and to the `kept` bytes that were delivered
/// of `known`. `trusts`: a part whose place is hidden is the one asked for if it is as long and
/// was changed at the same time.
///
/// # Errors
/// Why it cannot be used.
pub fn fit(
    ask: Ask,
    wanted: &Wanted,
    kept: f64,
    known: Option<&Representation>,
    status: u16,
    new: &Representation,
    trusts: bool,
) -> Result<Fit, Misfit> {
    let Wanted { first, last, ranged, partial, .. } = *wanted;
    let (asked, is_part) = match ask {
        Ask::All | Ask::Again => ((first, last), false),
        Ask::Part(first, last) => ((first, last), true),
    };
    let length = new.length.filter(|_| new.coding == Coding::Identity);
    if is_part && kept == 0.0 && new.coding == Coding::Encoded {
        return Err(Misfit::Hidden);
    }
    if kept == 0.0 && wanted.takes_as_is(is_part, status, new) {
        return Ok(Fit { skip: 0.0, take: f64::INFINITY, whole: length.filter(|_| partial) });
    }
    let next = first + kept;
    let until = |from: f64| length.map_or(f64::INFINITY, |length| from + length - 1.0);
    // The first and the last byte of the body, and the length of the whole.
    let (begins, ends, total) = match (status, new.range) {
        (206, ContentRange::Part { first, last, total }) => (first, last, total),
        (206, _) if !is_part && !ranged => return Err(Misfit::Elsewhere),
        (206, _) if !is_part => (first, until(first), None),
        (206, _) => {
            let span = asked.1 - asked.0 + 1.0;
            let alike =
                known.is_some_and(|known| known.is_dated_like(new) && known.agrees_with(new));
            if !(trusts && alike && length == Some(span)) {
                return Err(Misfit::Hidden);
            }
            (asked.0, asked.1, None)
        }
        // That there is none, or that it has not changed, is no answer to who has a part of it.
        _ if kept > 0.0 && status != 200 => return Err(Misfit::Elsewhere),
        // Some servers answer a range with the part alone and 200.
        _ if ranged && length == Some(last - first + 1.0) => (first, last, None),
        _ => (0.0, until(0.0), length),
    };
    let is_shown = known.is_some_and(|known| known.is(new));
    let is_trusted = status == 206 && is_part && new.range == ContentRange::Unknown;
    if kept > 0.0 && !is_shown && !is_trusted {
        return Err(Misfit::Changed);
    }
    let whole = match total {
        Some(total) => Some(last.min(total - 1.0) - first + 1.0),
        // There may be more behind a part that the engine has asked for.
        None if is_part && ends < last => None,
        None => ends.is_finite().then(|| ends.min(last) - first + 1.0),
    };
    // What was lost may have been nothing but the end.
    let is_over = kept > 0.0 && whole == Some(kept);
    let is_empty = total == Some(0.0);
    if begins > next || ends < next && !is_over && !is_empty {
        return Err(Misfit::Elsewhere);
    }
    // The end of a body is where its stream ends, unless it is known to end before.
    let bounded = status == 206 || last.is_finite() || is_over;
    let take = if bounded { (ends.min(last) - next + 1.0).max(0.0) } else { f64::INFINITY };
    Ok(Fit { skip: next - begins, take, whole })
}
