//! A caller, its reader and its link, for the model of resume. The reader does with the bodies of
//! attempts what it is told, as `js/body.js` does; what came out is compared with what is due.

use fastrand::Rng;
use holdfast::core::{
    Action, Ask, Engine, FailureClass, Millis, Reason, RequestId, ResponseFacts, Wanted,
};

use crate::resume_origin::{Origin, Reply, Run};

/// What a reader meets next of a body.
#[derive(Clone, Copy, Debug)]
enum Piece {
    Chunk(Run),
    Broken,
    Done,
    /// Nothing, until it is cut.
    Silence,
}

/// The attempt under way.
struct Attempt {
    number: u32,
    ask: Ask,
    reply: Option<Reply>,
    pieces: Vec<Piece>,
    skip: f64,
    take: f64,
    /// How far its body has come.
    reached: f64,
    reading: bool,
}

/// What has happened to a request.
#[derive(Debug, Default)]
pub(crate) struct Story {
    pub(crate) faults: u32,
    pub(crate) failures: u32,
    pub(crate) changed: bool,
    pub(crate) part: bool,
    pub(crate) again: bool,
    pub(crate) restarted: bool,
    pub(crate) legs: u32,
    pub(crate) unsatisfied: bool,
    pub(crate) stalled: bool,
    pub(crate) truncated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    Finished,
    Failed(FailureClass, Reason),
}

/// One caller, its reader and its link.
pub(crate) struct Caller<'a> {
    engine: &'a mut Engine,
    origin: &'a mut Origin,
    rng: &'a mut Rng,
    pub(crate) now: f64,
    id: RequestId,
    wanted: Wanted,
    streaming: bool,
    attempt: Option<Attempt>,
    output: Vec<Run>,
    /// What the caller has to be given.
    due: Option<Run>,
    /// The tag of what was delivered, where a part may be bound to it.
    condition: Option<f64>,
    /// Whether anybody could know how long it is, and whether it was closed early all the same.
    told: bool,
    closed_early: bool,
    pub(crate) story: Story,
    verdict: Option<Verdict>,
}

impl<'a> Caller<'a> {
    pub(crate) fn new(
        engine: &'a mut Engine,
        origin: &'a mut Origin,
        rng: &'a mut Rng,
        now: f64,
        id: RequestId,
        wanted: Wanted,
        streaming: bool,
    ) -> Self {
        Self {
            engine,
            origin,
            rng,
            now,
            id,
            wanted,
            streaming,
            attempt: None,
            output: Vec::new(),
            due: None,
            condition: None,
            told: false,
            closed_early: false,
            story: Story::default(),
            verdict: None,
        }
    }

    fn millis(&self) -> Millis {
        Millis::new(self.now)
    }

    /// Until the verdict.
    pub(crate) fn run(&mut self) -> Verdict {
        for _ in 0..2_000 {
            self.drain();
            if let Some(verdict) = self.verdict {
                return verdict;
            }
            match &self.attempt {
                Some(attempt) if attempt.reading => self.read(),
                Some(attempt) if attempt.reply.is_some() => self.answer(),
                _ => self.ring(),
            }
        }
        panic!("{:?} never comes to rest: {:?}", self.wanted, self.story);
    }

    fn ring(&mut self) {
        let (due, _) = self.engine.next_timeout().expect("something is waited for");
        self.now = self.now.max(due.get());
        self.engine.handle_timeout(self.millis());
    }

    fn drain(&mut self) {
        while let Some(action) = self.engine.poll() {
            match action {
                Action::Send { attempt, ask, .. } => self.send(attempt, ask),
                Action::Accept { attempt, resumed, part, skip, take, .. } => {
                    assert_eq!(self.attempt.as_ref().map(|now| now.number), Some(attempt));
                    self.accept(resumed, part, skip, take);
                }
                Action::Cut { .. } => {
                    assert!(self.attempt.take().is_some(), "nothing to cut");
                }
                Action::Ended { .. } => {
                    assert!(self.attempt.take().is_some(), "nothing has ended");
                    self.story.legs += 1;
                }
                Action::Failed { failed, .. } => {
                    self.story.failures += 1;
                    match failed.class {
                        FailureClass::Changed => self.story.changed = true,
                        FailureClass::Stall => self.story.stalled = true,
                        FailureClass::Truncated => self.story.truncated = true,
                        _ => {}
                    }
                }
                Action::Fail { failure, .. } => {
                    self.verdict = Some(Verdict::Failed(failure.class, failure.reason));
                }
                Action::Finish { .. } => {
                    assert!(self.attempt.take().is_some(), "finished without an attempt");
                    self.verdict = Some(Verdict::Finished);
                }
                _ => {}
            }
        }
    }

    fn send(&mut self, number: u32, ask: Ask) {
        assert!(self.attempt.is_none(), "two attempts are under way");
        self.now += 20.0;
        let mut attempt = Attempt {
            number,
            ask,
            reply: None,
            pieces: Vec::new(),
            skip: 0.0,
            take: 0.0,
            reached: 0.0,
            reading: false,
        };
        if number > 1 && self.origin.may_change(self.rng) {
            self.story.faults += 1;
        }
        let calm = f64::from(number) * 0.12;
        let fails = self.rng.f64() < 0.75 - calm;
        let range = match ask {
            Ask::Part(first, last) => {
                assert!(first <= last, "{ask:?} is no range");
                Some((first, last))
            }
            _ if self.wanted.ranged => Some((self.wanted.first, self.wanted.last)),
            _ => None,
        };
        let is_part = matches!(ask, Ask::Part(..));
        let condition = self.condition.filter(|_| is_part && !self.output.is_empty());
        let mut reply = self.origin.reply(range, condition, self.rng);
        self.story.faults += u32::from(fails);
        let fate = if fails { self.rng.u32(..16) } else { 16 };
        match fate {
            0 => {
                self.attempt = Some(attempt);
                return self.engine.handle_rejected(self.id, number, self.millis());
            }
            // No headers, ever.
            1 => {
                self.attempt = Some(attempt);
                return;
            }
            2 => {
                reply.status = self.rng.choice([500, 503, 408]).unwrap_or(500);
                reply.body.to = reply.body.from;
            }
            _ => {}
        }
        attempt.pieces = self.pieces(&reply, fate);
        attempt.reply = Some(reply);
        self.attempt = Some(attempt);
    }

    /// What comes of a body, the first piece last.
    fn pieces(&mut self, reply: &Reply, fate: u32) -> Vec<Piece> {
        let Reply { body, status, .. } = reply;
        let stop = body.from + (body.len() * self.rng.f64()).floor();
        let stop = if self.rng.u32(..12) == 0 { body.to } else { stop };
        let (to, last) = match fate {
            3..=6 => (stop, Piece::Broken),
            7..=9 => (stop, Piece::Silence),
            10 => (stop, Piece::Done),
            // More than was announced: only where it is cut can anybody tell.
            11 if *status == 206 && reply.told && self.wanted.exact && self.wanted.partial => {
                (body.to + 300.0, Piece::Done)
            }
            _ => (body.to, Piece::Done),
        };
        let mut pieces = vec![last];
        let mut at = to;
        while at > body.from {
            let most = if at - body.from > 66_000.0 { 66_000 } else { 900 };
            let from = if self.rng.u32(..4) == 0 {
                body.from
            } else {
                (at - f64::from(self.rng.u32(1..=most))).max(at - body.len() * 0.7).floor()
            };
            let from = from.max(body.from).min(at - 1.0);
            pieces.push(Piece::Chunk(Run { from, to: at, ..*body }));
            at = from;
        }
        pieces
    }

    fn answer(&mut self) {
        let now = self.millis();
        let Some(attempt) = &mut self.attempt else { return };
        let Some(reply) = &attempt.reply else { return };
        attempt.reading = true;
        attempt.reached = reply.body.from;
        let facts = ResponseFacts {
            representation: reply.representation,
            ..ResponseFacts::of(reply.status)
        };
        let number = attempt.number;
        self.engine.handle_response(self.id, number, facts, now);
    }

    fn accept(&mut self, resumed: bool, part: bool, skip: f64, take: f64) {
        let before = self.due.is_some();
        let Some(attempt) = &mut self.attempt else { return };
        attempt.skip = skip;
        attempt.take = take;
        let reply = attempt.reply.as_ref().expect("a reply that is accepted");
        if resumed {
            match attempt.ask {
                Ask::Part(..) if reply.status == 416 => self.story.unsatisfied = true,
                // A part that goes on where another ended is nothing to be proud of.
                Ask::Part(..) => self.story.part |= self.story.failures > 0,
                _ => self.story.again = true,
            }
        } else {
            let released = self.streaming && !self.output.is_empty();
            assert!(!released, "what was released cannot be taken back: {:?}", self.story);
            self.story.restarted |= before;
            self.output.clear();
            self.told = false;
            self.closed_early = false;
            let bound = reply.representation.open && !reply.representation.weak;
            self.condition = reply.representation.etag.filter(|_| bound);
            self.due = Some(due(&self.wanted, reply, part, self.origin));
        }
        let as_is = !self.wanted.exact && self.wanted.ranged && !part;
        let told = reply.told && (!as_is || reply.representation.length.is_some());
        self.told |= told && self.wanted.partial;
    }

    /// What `js/body.js` does once it is read from.
    fn read(&mut self) {
        let now = self.millis();
        self.now += 5.0;
        let (id, Some(attempt)) = (self.id, &mut self.attempt) else { return };
        let number = attempt.number;
        let mut piece = Piece::Done;
        if attempt.take > 0.0 {
            self.engine.handle_reading(id, number, now);
            piece = *attempt.pieces.last().expect("a piece");
        }
        match piece {
            Piece::Silence => self.ring(),
            Piece::Broken => self.engine.handle_body_lost(id, number, now),
            Piece::Done => {
                let body = &attempt.reply.as_ref().expect("a reply").body;
                let early = attempt.take > 0.0 && attempt.reached < body.to;
                let is_there = attempt.skip == 0.0 || attempt.take == 0.0;
                self.closed_early |= early;
                self.engine.handle_body_end(id, number, is_there, now);
            }
            Piece::Chunk(chunk) => {
                attempt.pieces.pop();
                attempt.reached = chunk.to;
                let skipped = attempt.skip.min(chunk.len());
                let from = chunk.from + skipped;
                let to = chunk.to.min(from + attempt.take);
                attempt.skip -= skipped;
                attempt.take -= to - from;
                let counts = self.engine.handle_chunk(id, number, to - chunk.from, true, now);
                if counts && to > from {
                    self.deliver(Run { from, to, ..chunk });
                }
            }
        }
    }

    fn deliver(&mut self, run: Run) {
        match self.output.last_mut() {
            Some(last) if last.version == run.version && last.to == run.from => last.to = run.to,
            _ => self.output.push(run),
        }
    }

    /// Whether what came out is what the verdict says.
    pub(crate) fn check(&self, verdict: Verdict) -> Result<(), &'static str> {
        if self.attempt.is_some() && verdict == Verdict::Finished {
            return Err("an attempt is left");
        }
        let Some(whole) = self.due else {
            return if verdict == Verdict::Finished { Err("nothing was accepted") } else { Ok(()) };
        };
        match (verdict, &self.output[..]) {
            (Verdict::Finished, [run]) if *run == whole => Ok(()),
            (Verdict::Finished, [run]) if self.closed_early && !self.told => {
                is_prefix(run, &whole).then_some(()).ok_or("no prefix of what was asked for")
            }
            (Verdict::Finished, []) if whole.len() == 0.0 => Ok(()),
            (Verdict::Finished, _) => Err("not what was asked for"),
            (Verdict::Failed(..), []) => Ok(()),
            (Verdict::Failed(..), [run]) => {
                is_prefix(run, &whole).then_some(()).ok_or("released what was not asked for")
            }
            (Verdict::Failed(..), _) => Err("released a splice"),
        }
    }
}

fn is_prefix(run: &Run, whole: &Run) -> bool {
    run.version == whole.version && run.from == whole.from && run.to <= whole.to
}

/// What is due to a caller once its body begins with this response.
fn due(wanted: &Wanted, reply: &Reply, part: bool, origin: &Origin) -> Run {
    let Run { version, to, .. } = reply.body;
    let Wanted { first, last, ranged, exact, partial } = *wanted;
    // Who sees the head is given what it says.
    if !part && (!partial || !exact && ranged) {
        return reply.body;
    }
    // The window that was asked for, of the bytes that there are, or that are told of.
    let is_all = !ranged || part || reply.status != 206 || reply.placed;
    let end = if is_all { origin.size(version) } else { to };
    Run { from: first, to: end.min(last + 1.0), version }
}
