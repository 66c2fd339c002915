//! An engine that is fed as the driver feeds it: a fact, then all actions, then the next time-out.
#![allow(dead_code, reason = "each benchmark uses its own part of this")]

use std::hint::black_box;

use holdfast::core::{
    Action, Alternatives, Config, Delivery, Engine, Marks, Millis, RequestId, ResponseFacts, Site,
    StartRequest, Wanted,
};

/// What a segment's body comes in.
pub(crate) const CHUNK: f64 = 65_536.0;

/// An engine and its clock.
pub(crate) struct Session {
    pub(crate) engine: Engine,
    pub(crate) now: f64,
    last_id: u32,
}

impl Session {
    pub(crate) fn new() -> Self {
        let config = Config { seed: 1, ..Config::default() };
        Self { engine: Engine::new(config), now: 0.0, last_id: 0 }
    }

    /// Feeds one fact and takes what follows.
    pub(crate) fn feed<T>(&mut self, fact: impl FnOnce(&mut Engine, Millis) -> T) {
        black_box(fact(&mut self.engine, Millis::new(self.now)));
        self.drain();
        black_box(self.engine.next_timeout());
    }

    fn drain(&mut self) {
        while let Some(action) = self.engine.poll() {
            black_box::<Action>(action);
        }
    }

    /// Starts a request, and gives its name.
    pub(crate) fn start(&mut self, site: Site, host: u32) -> RequestId {
        let id = self.begin(site, host);
        black_box(self.engine.next_timeout());
        id
    }

    /// The same for the first of many: nobody asks for the time-out in between.
    pub(crate) fn begin(&mut self, site: Site, host: u32) -> RequestId {
        self.last_id += 1;
        let id = RequestId(self.last_id);
        self.engine.handle_start(request(id, site, host), Millis::new(self.now));
        self.drain();
        id
    }

    pub(crate) fn response(&mut self, id: RequestId, attempt: u32, status: u16) {
        let facts = ResponseFacts::of(status);
        self.feed(|engine, now| engine.handle_response(id, attempt, facts, now));
    }

    pub(crate) fn reading(&mut self, id: RequestId, attempt: u32) {
        self.feed(|engine, now| engine.handle_reading(id, attempt, now));
    }

    pub(crate) fn chunk(&mut self, id: RequestId, attempt: u32) {
        self.feed(|engine, now| engine.handle_chunk(id, attempt, CHUNK, true, now));
    }

    pub(crate) fn end(&mut self, id: RequestId, attempt: u32) {
        self.feed(|engine, now| engine.handle_body_end(id, attempt, true, now));
    }

    pub(crate) fn fail(&mut self, id: RequestId, attempt: u32) {
        self.feed(|engine, now| engine.handle_rejected(id, attempt, now));
    }

    pub(crate) fn abort(&mut self, id: RequestId) {
        self.feed(|engine, now| engine.handle_abort(id, now));
    }

    /// Time passes until the next timer rings.
    pub(crate) fn wake(&mut self) {
        let Some((due, _)) = self.engine.next_timeout() else { return };
        self.now = self.now.max(due.get());
        self.feed(Engine::handle_timeout);
    }
}

/// Each request has a URL of its own.
fn request(id: RequestId, site: Site, host: u32) -> StartRequest {
    StartRequest {
        id,
        site,
        host,
        delivery: Delivery::Streaming,
        idempotent: true,
        expects_body: true,
        blocking: false,
        alternatives: Alternatives::Unknown,
        marks: Marks { url: id.0, resource: id.0, ..Marks::default() },
        wanted: Wanted::default(),
    }
}
