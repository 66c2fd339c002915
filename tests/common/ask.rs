//! What a test asks the engine for.

use holdfast::core::{Alternatives, Delivery, Site};

use super::answer::{Answer, ok};

/// A request with what its attempts will meet.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) site: Site,
    pub(crate) host: u32,
    pub(crate) delivery: Delivery,
    pub(crate) idempotent: bool,
    pub(crate) expects_body: bool,
    pub(crate) blocking: bool,
    pub(crate) alternatives: Alternatives,
    pub(crate) answers: Vec<Answer>,
}

/// A request to host 0 whose first attempt succeeds.
pub(crate) fn ask(site: Site) -> Ask {
    Ask {
        site,
        host: 0,
        delivery: Delivery::Buffered,
        idempotent: true,
        expects_body: true,
        blocking: false,
        alternatives: Alternatives::Unknown,
        answers: vec![ok(100_000.0)],
    }
}

impl Ask {
    /// One answer an attempt; the last one goes on for ever.
    pub(crate) fn answers(self, answers: impl Into<Vec<Answer>>) -> Self {
        Self { answers: answers.into(), ..self }
    }

    /// The same answer for ever.
    pub(crate) fn always(self, answer: Answer) -> Self {
        self.answers([answer])
    }

    pub(crate) fn host(self, host: u32) -> Self {
        Self { host, ..self }
    }

    pub(crate) fn streaming(self) -> Self {
        Self { delivery: Delivery::Streaming, ..self }
    }

    pub(crate) fn once_only(self) -> Self {
        Self { idempotent: false, ..self }
    }

    pub(crate) fn without_body(self) -> Self {
        Self { expects_body: false, ..self }
    }

    pub(crate) fn blocking(self) -> Self {
        Self { blocking: true, ..self }
    }

    pub(crate) fn alternatives(self, alternatives: Alternatives) -> Self {
        Self { alternatives, ..self }
    }
}
