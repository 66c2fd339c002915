//! The core that ships, as its driver runs it: fed with facts, drained, woken at its time.

use std::sync::Arc;

use holdfast::core::{
    Action, Alternatives, Config, Delivery, Engine, Marks, Millis, Playback, RequestId,
    ResponseFacts, Site, StartRequest, Wanted,
};

use crate::calendar::Ms;
use crate::client::{Client, Context, Deed, SLOTS};
use crate::viewer::{BYTES, SEGMENT};

/// One viewer's engine.
pub struct Ours {
    engine: Engine,
    /// The request and its attempt in each slot.
    under_way: [(u32, u32); SLOTS],
    last: u32,
}

impl Ours {
    fn feed(
        &mut self,
        slot: u8,
        context: &mut Context<'_>,
        fact: impl FnOnce(&mut Engine, RequestId, u32, Millis),
    ) {
        let (request, attempt) = self.under_way[slot as usize];
        fact(&mut self.engine, RequestId(request), attempt, millis(context.now));
        self.drain(context);
    }

    /// Carries out what the engine asks for.
    fn drain(&mut self, context: &mut Context<'_>) {
        while let Some(action) = self.engine.poll() {
            let (request, deed): (_, fn(u8) -> Deed) = match action {
                Action::Send { request, attempt, .. } => {
                    if let Some(slot) = self.slot(request) {
                        self.under_way[slot as usize].1 = attempt;
                    }
                    (request, Deed::Send)
                }
                Action::Cut { request, .. } => (request, Deed::Cut),
                Action::Finish { request } => (request, Deed::Done),
                Action::Fail { request, .. } => (request, Deed::Lost),
                // What is said to whoever looks on.
                _ => continue,
            };
            if let Some(slot) = self.slot(request) {
                context.deeds.push(deed(slot));
            }
        }
    }

    fn slot(&self, request: RequestId) -> Option<u8> {
        let place = self.under_way.iter().position(|(id, _)| *id == request.0)?;
        Some(place as u8)
    }

    fn report(&mut self, context: &Context<'_>) {
        let playback = Playback {
            buffer_ahead: Some(millis(context.buffer)),
            target_duration: Some(millis(SEGMENT)),
            live: context.live,
        };
        self.engine.handle_playback(playback, millis(context.now));
    }
}

impl Client for Ours {
    type Kind = Arc<Config>;

    fn new(config: Arc<Config>, seed: u64) -> Self {
        let mut engine = Engine::sharing(config, seed);
        // As the adapters declare for a stream of one rendition on one host.
        for site in [Site::Playlist, Site::PlaylistReload, Site::Init, Site::Segment] {
            engine.handle_alternatives(site, Alternatives::None);
        }
        Self { engine, under_way: [(0, 0); SLOTS], last: 0 }
    }

    fn start(&mut self, slot: u8, site: Site, url: u32, context: &mut Context<'_>) {
        self.report(context);
        self.last += 1;
        self.under_way[slot as usize] = (self.last, 0);
        let start = StartRequest {
            id: RequestId(self.last),
            site,
            host: 0,
            delivery: Delivery::Buffered,
            idempotent: true,
            expects_body: true,
            blocking: false,
            alternatives: Alternatives::Unknown,
            marks: Marks { url, resource: url, ..Marks::default() },
            wanted: Wanted::default(),
        };
        self.feed(slot, context, |engine, _, _, now| engine.handle_start(start, now));
    }

    fn handle_head(&mut self, slot: u8, context: &mut Context<'_>) {
        self.feed(slot, context, |engine, request, attempt, now| {
            engine.handle_response(request, attempt, ResponseFacts::of(200), now);
        });
        self.feed(slot, context, |engine, request, attempt, now| {
            engine.handle_reading(request, attempt, now);
        });
    }

    fn handle_refusal(&mut self, slot: u8, retry_after: Option<Ms>, context: &mut Context<'_>) {
        let retry_after = retry_after.map(millis);
        self.feed(slot, context, |engine, request, attempt, now| {
            let facts = ResponseFacts { retry_after, ..ResponseFacts::of(503) };
            engine.handle_response(request, attempt, facts, now);
        });
    }

    fn handle_end(&mut self, slot: u8, context: &mut Context<'_>) {
        self.feed(slot, context, |engine, request, attempt, now| {
            engine.handle_chunk(request, attempt, BYTES, true, now);
        });
        self.feed(slot, context, |engine, request, attempt, now| {
            engine.handle_body_end(request, attempt, true, now);
        });
    }

    fn wake(&mut self, context: &mut Context<'_>) {
        // What media elements report several times a second.
        self.report(context);
        self.engine.handle_timeout(millis(context.now));
        self.drain(context);
    }

    fn next_wake(&self) -> Option<Ms> {
        let (due, _) = self.engine.next_timeout()?;
        Some(due.get().ceil() as Ms)
    }
}

fn millis(at: Ms) -> Millis {
    Millis::new(f64::from(at))
}
