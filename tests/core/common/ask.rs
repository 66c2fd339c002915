//! What a test asks the engine for.

use holdfast::core::{Alternatives, Delivery, Hooks, Marks, Site, Wanted};

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
    /// A URL of 0 stands for one that no other request has.
    pub(crate) marks: Marks,
    pub(crate) wanted: Wanted,
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
        marks: Marks::default(),
        wanted: Wanted::default(),
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

    pub(crate) fn url(mut self, url: u32) -> Self {
        self.marks.url = url;
        self
    }

    pub(crate) fn credential(mut self, credential: u32) -> Self {
        self.marks.credential = credential;
        self.hooks(Hooks::REFRESH_TOKEN)
    }

    pub(crate) fn prefix(mut self, prefix: u32) -> Self {
        self.marks.prefix = prefix;
        self
    }

    pub(crate) fn hooks(mut self, hooks: Hooks) -> Self {
        self.marks.hooks = Hooks(self.marks.hooks.0 | hooks.0);
        self
    }

    pub(crate) fn optional(mut self) -> Self {
        self.marks.optional = true;
        self
    }

    pub(crate) fn ahead(mut self) -> Self {
        self.marks.ahead = true;
        self
    }

    pub(crate) fn directives(mut self) -> Self {
        self.marks.directives = true;
        self
    }
}
