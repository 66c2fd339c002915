//! What an attempt meets.

use holdfast::core::{
    Ask, Coding, ContentRange, Expiry, Limited, Millis, Representation, ResponseFacts, Wanted,
};

/// How the network treats one attempt. Spans are in milliseconds.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Headers after `after`, then the parts.
    Head { after: f64, facts: ResponseFacts, parts: Vec<Part> },
    /// No headers, ever.
    Hang,
    /// What was asked for of a file of so many bytes, with a strong validator: headers after
    /// `after`, then a chunk of at most `chunk` bytes every `gap`.
    Origin { after: f64, size: f64, chunk: f64, gap: f64 },
    /// The promise is rejected.
    Reject { after: f64 },
}

/// A part of a body, `gap` after the one before it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Chunk {
        gap: f64,
        bytes: f64,
    },
    /// A chunk after which nobody reads on, until a `Read`.
    LastRead {
        gap: f64,
        bytes: f64,
    },
    Read {
        gap: f64,
    },
    End {
        gap: f64,
    },
    Lost {
        gap: f64,
    },
    /// The first bytes turn out to be a page.
    Page {
        gap: f64,
    },
}

/// A refusal or an empty answer with this status, 20 ms after the attempt.
pub(crate) fn status(status: u16) -> Answer {
    let parts = vec![Part::End { gap: 0.0 }];
    let facts = ResponseFacts::of(status);
    Answer::Head { after: 20.0, facts, parts }
}

/// A 200 with so many bytes, in one chunk of 50 ms.
pub(crate) fn ok(bytes: f64) -> Answer {
    status(200).parts([Part::Chunk { gap: 50.0, bytes }, Part::End { gap: 0.0 }])
}

/// A file of so many bytes that comes in ten chunks of 100 ms, from wherever it is asked for.
pub(crate) const fn origin(size: f64) -> Answer {
    Answer::Origin { after: 20.0, size, chunk: (size / 10.0).ceil(), gap: 100.0 }
}

/// A body that breaks off after so many bytes.
pub(crate) fn truncated(bytes: f64) -> Answer {
    status(200).parts([Part::Chunk { gap: 50.0, bytes }, Part::Lost { gap: 10.0 }])
}

/// A body that falls silent after so many bytes.
pub(crate) fn silent(bytes: f64) -> Answer {
    status(200).parts([Part::Chunk { gap: 50.0, bytes }])
}

/// A 200 whose first bytes are a page.
pub(crate) fn page() -> Answer {
    status(200).parts([Part::Page { gap: 5.0 }])
}

/// No headers, ever.
pub(crate) const fn hang() -> Answer {
    Answer::Hang
}

/// A rejection after 20 ms.
pub(crate) const fn reject() -> Answer {
    Answer::Reject { after: 20.0 }
}

impl Answer {
    /// The same as a script, where it depends on what is asked for.
    pub(crate) fn to(self, ask: Ask, wanted: &Wanted) -> Self {
        let Self::Origin { after, size, chunk, gap } = self else { return self };
        let part = if let Ask::Part(first, last) = ask { Some((first, last)) } else { None };
        let part = part.or_else(|| wanted.ranged.then_some((wanted.first, wanted.last)));
        let (first, last) = part.unwrap_or((0.0, f64::INFINITY));
        let last = last.min(size - 1.0);
        let (mut left, mut parts) = (last - first + 1.0, Vec::new());
        while left > 0.0 {
            parts.push(Part::Chunk { gap, bytes: left.min(chunk) });
            left -= chunk;
        }
        parts.push(Part::End { gap: 0.0 });
        let answer = status(if part.is_some() { 206 } else { 200 }).after(after).parts(parts);
        answer.with(|facts| {
            facts.representation = Representation {
                length: Some(last - first + 1.0),
                etag: Some(1.0),
                coding: Coding::Identity,
                open: true,
                ..Representation::UNKNOWN
            };
            if part.is_some() {
                let total = Some(size);
                facts.representation.range = ContentRange::Part { first, last, total };
            }
        })
    }

    /// The same, but its headers or its rejection come after so long.
    pub(crate) fn after(mut self, ms: f64) -> Self {
        match &mut self {
            Self::Head { after, .. } | Self::Origin { after, .. } | Self::Reject { after } => {
                *after = ms;
            }
            Self::Hang => {}
        }
        self
    }

    pub(crate) fn retry_after(self, ms: f64) -> Self {
        self.with(|facts| facts.retry_after = Some(Millis::new(ms)))
    }

    pub(crate) fn length(self, bytes: f64) -> Self {
        self.with(|facts| facts.representation.length = Some(bytes))
    }

    /// The same with another status.
    pub(crate) fn status(self, status: u16) -> Self {
        self.with(|facts| facts.status = status)
    }

    /// What its body is made from.
    pub(crate) fn of(self, representation: Representation) -> Self {
        self.with(|facts| facts.representation = representation)
    }

    pub(crate) fn limited(self, limited: Limited) -> Self {
        self.with(|facts| facts.limited = Some(limited))
    }

    pub(crate) fn expiry(self, expiry: Expiry) -> Self {
        self.with(|facts| facts.expiry = expiry)
    }

    fn with(mut self, change: impl FnOnce(&mut ResponseFacts)) -> Self {
        if let Self::Head { facts, .. } = &mut self {
            change(facts);
        }
        self
    }

    pub(crate) fn parts(mut self, body: impl Into<Vec<Part>>) -> Self {
        if let Self::Head { parts, .. } = &mut self {
            *parts = body.into();
        }
        self
    }
}
