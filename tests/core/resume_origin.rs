//! An origin for the model of resume: an object whose versions follow one another, behind a server
//! with its own ideas of ranges, validators and encodings. Its validators are honest, and what it
//! sends is not held in memory: a byte is known by its version and its place.

use fastrand::Rng;
use holdfast::core::{Coding, ContentRange, Representation, Wanted};

/// Bytes of one version, from the first up to and without the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) version: u32,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Run {
    pub(crate) fn len(&self) -> f64 {
        self.to - self.from
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Tag {
    None,
    Strong,
    Weak,
    /// A weak one that is the same for all versions.
    Vague,
}

/// What becomes of a request for a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ranges {
    Honest,
    /// 200, and the whole.
    Ignored,
    /// No more than so many bytes of it.
    Capped(f64),
    /// From so many bytes before it, or behind.
    Early(f64),
    Late(f64),
    /// 416, whatever is asked for.
    Refused,
    /// A 206 that does not say what of; it begins, and ends, so many bytes too early.
    Unplaced(f64),
    /// The part, as a 200.
    Plain,
}

/// How the bytes of whole bodies are encoded.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gzip {
    Never,
    /// Whenever it may be, and the tag is a weak one, one of its own, or the same.
    Weak,
    Own,
    Same,
    /// By some servers of many.
    Sometimes,
    /// It is kept so, and parts are parts of that: what is made of them is no use.
    Stored,
}

#[derive(Debug)]
pub(crate) struct Origin {
    open: bool,
    shows_tag: bool,
    shows_range: bool,
    shows_coding: bool,
    tag: Tag,
    dated: bool,
    /// The date is the same for all versions: the tag tells them apart.
    coarse: bool,
    sized: bool,
    sizes_parts: bool,
    totals: bool,
    gzip: Gzip,
    /// It knows `If-Range`.
    conditional: bool,
    changes: f64,
    pub(crate) ranges: Ranges,
    pub(crate) version: u32,
}

/// The head of a response, and what its body would be.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) representation: Representation,
    pub(crate) body: Run,
    /// Whether a reader can know how long the body is.
    pub(crate) told: bool,
    /// Whether it says where it belongs, and of how much.
    pub(crate) placed: bool,
}

/// What is no version's.
const NONSENSE: u32 = u32::MAX;

const PARTS: [f64; 3] = [450.0, 3_000.0, 70_000.0];

impl Origin {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let cap = rng.choice(PARTS).unwrap_or(1.0);
        let ranges = match rng.u32(..20) {
            0 => Ranges::Ignored,
            1 => Ranges::Capped(cap * 2.0),
            2 => Ranges::Early(cap),
            3 => Ranges::Late(cap),
            4 => Ranges::Refused,
            5 => Ranges::Unplaced(0.0),
            6 => Ranges::Unplaced(cap),
            7 => Ranges::Plain,
            _ => Ranges::Honest,
        };
        let gzips = [Gzip::Weak, Gzip::Own, Gzip::Same, Gzip::Sometimes, Gzip::Stored];
        let gzip = if rng.u32(..4) > 0 { None } else { rng.choice(gzips) };
        let open = rng.bool();
        let shows_tag = rng.bool();
        let tag = rng.choice([Tag::None, Tag::Strong, Tag::Strong, Tag::Weak, Tag::Vague]);
        let tag = tag.unwrap_or(Tag::None);
        // A part that looks like a whole has to be as long as its caller knows.
        let changes = if ranges == Ranges::Plain { [0.0; 4] } else { [0.0, 0.0, 0.1, 0.5] };
        let told_apart = matches!(tag, Tag::Strong | Tag::Weak) && (open || shows_tag);
        Self {
            open,
            shows_tag,
            shows_range: rng.bool(),
            shows_coding: rng.bool(),
            tag,
            dated: rng.u32(..5) > 0,
            coarse: told_apart && rng.u32(..4) == 0,
            sized: ranges == Ranges::Plain || rng.u32(..5) > 0,
            sizes_parts: rng.u32(..8) > 0,
            totals: rng.u32(..8) > 0,
            gzip: gzip.unwrap_or(Gzip::Never),
            conditional: rng.bool(),
            changes: rng.choice(changes).unwrap_or(0.0),
            ranges,
            version: rng.u32(..1_000),
        }
    }

    /// Whether a part is what was asked for, even where that is hidden.
    pub(crate) fn is_honest(&self) -> bool {
        let shift = matches!(self.ranges, Ranges::Unplaced(shift) if shift > 0.0);
        !shift && !matches!(self.ranges, Ranges::Early(_) | Ranges::Late(_))
    }

    pub(crate) fn never_encodes(&self) -> bool {
        self.gzip == Gzip::Never
    }

    /// What can be asked for of it is all, or nothing that makes sense.
    pub(crate) fn is_stored_encoded(&self) -> bool {
        self.gzip == Gzip::Stored
    }

    fn shows_range(&self) -> bool {
        self.open || self.shows_range
    }

    /// Who asks for a range itself has to believe what it is given where nothing is said of it.
    pub(crate) fn must_be_believed(&self) -> bool {
        !self.is_honest() && (!self.shows_range() || matches!(self.ranges, Ranges::Unplaced(_)))
    }

    pub(crate) fn may_change(&mut self, rng: &mut Rng) -> bool {
        let changes = rng.f64() < self.changes;
        self.version += u32::from(changes);
        changes
    }

    /// Different for each version, small ones and large ones.
    pub(crate) fn size(&self, version: u32) -> f64 {
        let mut rng = Rng::with_seed(u64::from(version) ^ 0xB0D7);
        f64::from(if version.is_multiple_of(3) {
            rng.u32(1_000..9_000)
        } else {
            rng.u32(70_000..300_000)
        })
    }

    /// Answers a request for `range`, first to last, or for all.
    pub(crate) fn reply(
        &self,
        range: Option<(f64, f64)>,
        condition: Option<f64>,
        rng: &mut Rng,
    ) -> Reply {
        // A part of something else is of no use (`If-Range`).
        let differs = condition.is_some_and(|tag| tag != f64::from(self.version));
        let valid = range.filter(|_| !(self.conditional && differs));
        let Some((first, last)) = valid.filter(|_| self.ranges != Ranges::Ignored) else {
            return self.whole(range.is_none(), rng);
        };
        let stored = self.gzip == Gzip::Stored;
        let size = self.size(self.version) * if stored { 0.5 } else { 1.0 };
        let size = size.floor();
        if first >= size || self.ranges == Ranges::Refused {
            return self.unsatisfied(size);
        }
        let (mut from, mut to) = (first, (last + 1.0).min(size));
        match self.ranges {
            Ranges::Capped(most) => to = to.min(from + most),
            Ranges::Early(shift) => from = (from - shift).max(0.0),
            Ranges::Unplaced(shift) if shift <= from => (from, to) = (from - shift, to - shift),
            Ranges::Late(shift) => from = (from + shift).min(to - 1.0),
            _ => {}
        }
        let mut reply = self.whole(stored, rng);
        let version = if stored { NONSENSE } else { self.version };
        reply.body = Run { version, from, to };
        let sized = self.sizes_parts || self.ranges == Ranges::Plain;
        reply.representation.length = sized.then_some(to - from);
        reply.told = sized;
        if self.ranges == Ranges::Plain {
            return reply;
        }
        reply.status = 206;
        reply.placed = false;
        if self.shows_range() && !matches!(self.ranges, Ranges::Unplaced(_)) {
            let total = self.totals.then_some(size);
            reply.representation.range = ContentRange::Part { first: from, last: to - 1.0, total };
            reply.placed = total.is_some();
            reply.told = true;
        }
        reply
    }

    fn whole(&self, may_encode: bool, rng: &mut Rng) -> Reply {
        let size = self.size(self.version);
        let encodes = may_encode
            && match self.gzip {
                Gzip::Never => false,
                Gzip::Sometimes => rng.bool(),
                _ => true,
            };
        let seen = self.open || self.shows_coding;
        let coding = match encodes {
            true if seen => Coding::Encoded,
            // That there is none can be read by whoever may read all, or if it is said.
            false if self.open || self.shows_coding && self.version.is_multiple_of(2) => {
                Coding::Identity
            }
            _ => Coding::Hidden,
        };
        let length = if encodes { (size * 0.5).floor() } else { size };
        let length = self.sized.then_some(length);
        let date = if self.coarse { 0 } else { self.version };
        let shown = self.open || self.shows_tag;
        let (etag, weak) = self.tag_of(encodes, rng);
        let representation = Representation {
            range: ContentRange::Unknown,
            length,
            etag: etag.filter(|_| shown),
            weak,
            modified: self.dated.then_some(date.into()),
            source: f64::from(rng.u32(..60) / 59),
            coding,
            open: self.open,
        };
        let body = Run { version: self.version, from: 0.0, to: size };
        let told = length.is_some() && (coding == Coding::Identity || !may_encode);
        Reply { status: 200, representation, body, told, placed: told }
    }

    fn unsatisfied(&self, size: f64) -> Reply {
        let placed = self.shows_range() && self.ranges != Ranges::Refused;
        let range = ContentRange::Unsatisfied { total: size };
        let range = if placed { range } else { ContentRange::Unknown };
        let representation = Representation { range, ..Representation::UNKNOWN };
        let body = Run { version: self.version, from: 0.0, to: 0.0 };
        Reply { status: 416, representation, body, told: false, placed: false }
    }

    /// Its tag, and whether that is a weak one.
    fn tag_of(&self, encodes: bool, rng: &mut Rng) -> (Option<f64>, bool) {
        let weak = !matches!(self.tag, Tag::Strong) || encodes && self.gzip == Gzip::Weak;
        let own = encodes && (self.gzip == Gzip::Own || self.gzip == Gzip::Sometimes && rng.bool());
        let version = if self.tag == Tag::Vague { 0 } else { self.version };
        let name = f64::from(version) + if own { 1e6 } else { 0.0 };
        ((self.tag != Tag::None).then_some(name), weak)
    }
}

/// What a caller asks for: the window of bytes, if it is one.
pub(crate) fn wanted(origin: &Origin, buffered: bool, rng: &mut Rng) -> Wanted {
    let size = origin.size(origin.version);
    let exact = buffered || rng.bool();
    let partial = rng.u32(..25) > 0;
    if rng.u32(..3) > 0 || origin.is_stored_encoded() {
        return Wanted { exact, partial, ..Wanted::default() };
    }
    let first = (size * rng.f64()).floor();
    let last = match rng.u32(..4) {
        0 if origin.ranges != Ranges::Plain => f64::INFINITY,
        1 if origin.ranges != Ranges::Plain => size + 500.0,
        _ => first + ((size - first) * rng.f64()).floor(),
    };
    Wanted { first, last, ranged: true, exact, partial }
}
