//! Random schedules of an origin that misbehaves, a link that breaks and a reader that does as it
//! is told: whatever happens, the bytes that were asked for come out, once each and of one version,
//! or an error that says why not.

use std::collections::BTreeMap;

use fastrand::Rng;
use holdfast::core::{
    Action, Advice, Alternatives, Ask, Config, Delivery, Engine, FailureClass, Marks, Millis,
    Reason, RequestId, ResponseFacts, Resume, Site, StartRequest, Wanted,
};

use crate::resume_origin::{Origin, Ranges, Reply, Run, wanted};

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

/// What a caller has to be given.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Due {
    from: f64,
    to: f64,
    version: u32,
}

/// What has happened to a request.
#[derive(Debug, Default)]
struct Story {
    faults: u32,
    failures: u32,
    changed: bool,
    part: bool,
    again: bool,
    restarted: bool,
    legs: u32,
    unsatisfied: bool,
    stalled: bool,
    truncated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Finished,
    Failed(FailureClass, Reason),
}

/// One caller, its reader and its link.
struct Caller<'a> {
    engine: &'a mut Engine,
    origin: &'a mut Origin,
    rng: &'a mut Rng,
    now: f64,
    id: RequestId,
    wanted: Wanted,
    streaming: bool,
    attempt: Option<Attempt>,
    output: Vec<Run>,
    due: Option<Due>,
    /// The tag of what was delivered, where a part may be bound to it.
    condition: Option<f64>,
    /// Whether anybody could know how long it is, and whether it was closed early all the same.
    told: bool,
    closed_early: bool,
    story: Story,
    verdict: Option<Verdict>,
}

impl Caller<'_> {
    fn millis(&self) -> Millis {
        Millis::new(self.now)
    }

    fn run(&mut self) -> Verdict {
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
        panic!(
            "the engine never comes to rest {:?} {:?} {:?} {:?} {:?}",
            self.story,
            self.attempt.as_ref().map(|a| (a.ask, a.number, a.skip, a.take, a.reply.clone())),
            self.wanted,
            self.origin,
            self.output
        );
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
            assert!(!released, "what was released cannot be taken back");
            self.story.restarted |= before;
            self.output.clear();
            self.told = false;
            self.closed_early = false;
            let bound = reply.representation.open && !reply.representation.weak;
            self.condition = reply.representation.etag.filter(|_| bound);
            self.due = Some(due(&self.wanted, reply, part, self.origin));
        }
        self.told |= reply.told && self.wanted.partial;
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
    fn check(&self, verdict: Verdict) -> Result<(), &'static str> {
        if self.attempt.is_some() && verdict == Verdict::Finished {
            return Err("an attempt is left");
        }
        let Some(due) = self.due else {
            return if verdict == Verdict::Finished { Err("nothing was accepted") } else { Ok(()) };
        };
        let whole = Run { version: due.version, from: due.from, to: due.to };
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
fn due(wanted: &Wanted, reply: &Reply, part: bool, origin: &Origin) -> Due {
    let Run { version, from, to } = reply.body;
    let Wanted { first, last, ranged, exact, partial } = *wanted;
    // Who sees the head is given what it says.
    if !part && (!partial || !exact && ranged) {
        return Due { from, to, version };
    }
    // The window that was asked for, of the bytes that there are, or that are told of.
    let is_all = !ranged || part || reply.status != 206 || reply.placed;
    let end = if is_all { origin.size(version) } else { to };
    Due { from: first, to: end.min(last + 1.0), version }
}

/// How often what has come of the requests.
#[derive(Debug, Default)]
struct Tally {
    requests: u32,
    counts: BTreeMap<String, u32>,
}

impl Tally {
    fn count(&mut self, what: &str) {
        *self.counts.entry(what.into()).or_default() += 1;
    }

    fn add(&mut self, story: &Story, verdict: Verdict) {
        self.requests += 1;
        if let Verdict::Failed(class, reason) = verdict {
            self.count(&format!("failed: {reason:?}"));
            self.count(&format!("failed as {class:?}"));
            return;
        }
        let marks = [
            ("finished without a failure", story.failures == 0),
            ("finished by parts", story.part),
            ("finished by all again", story.again),
            ("finished by starting over", story.restarted),
            ("finished though changed", story.changed),
            ("finished in windows", story.legs > 0),
            ("finished by a 416", story.unsatisfied),
            ("finished after a stall", story.stalled),
            ("finished after a cut", story.truncated),
        ];
        for (name, is) in marks {
            if is {
                self.count(name);
            }
        }
    }
}

/// Plays one schedule: a few requests to one origin, one after the other.
fn play(seed: u64, tally: &mut Tally) {
    let rng = &mut Rng::with_seed(seed);
    let mut origin = Origin::new(rng);
    let resume = Resume {
        off: rng.u32(..25) == 0,
        assume_identity: origin.never_encodes() && rng.bool(),
        trust_unexposed_range: origin.is_honest() && rng.bool(),
        range_first: rng.u32(..10) == 0,
    };
    let mut config =
        Config { seed, log_capacity: 0, naive: rng.u32(..40) == 0, ..Config::default() };
    for policy in &mut config.sites {
        policy.resume = resume;
    }
    let naive = config.naive;
    let mut engine = Engine::new(config);
    let mut now = 0.0;
    for id in 1..=rng.u32(1..=3) {
        let streaming = rng.bool();
        let wanted = wanted(&origin, !streaming, rng);
        if wanted.ranged && origin.must_be_believed() {
            origin.ranges = Ranges::Honest;
        }
        let site = match rng.u32(..12) {
            0 => Site::TextSegment,
            1 => Site::Init,
            2 => Site::Manifest,
            _ => Site::Segment,
        };
        let start = StartRequest {
            id: RequestId(id),
            site,
            host: 0,
            delivery: if streaming { Delivery::Streaming } else { Delivery::Buffered },
            idempotent: true,
            expects_body: true,
            blocking: false,
            alternatives: Alternatives::Some,
            marks: Marks { url: id, ..Marks::default() },
            wanted,
        };
        engine.handle_start(start, Millis::new(now));
        let advice = Advice { chunk: Some(65_536.0), ..Advice::default() };
        engine.handle_advice(0, advice, Millis::new(now));
        let mut caller = Caller {
            engine: &mut engine,
            origin: &mut origin,
            rng,
            now,
            id: RequestId(id),
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
        };
        let verdict = caller.run();
        let outcome = caller.check(verdict);
        let Caller { output, due, story, told, closed_early, now: ended, .. } = caller;
        let facts = || {
            format!(
                "seed {seed}, request {id}, {site:?}: {verdict:?}\nout {output:?}\n{due:?} told \
                 {told} closed early {closed_early}\n{wanted:?} streaming {streaming} naive \
                 {naive}\n{resume:?}\n{story:?}\n{origin:?}"
            )
        };
        if let Err(problem) = outcome {
            panic!("{problem}\n{}", facts());
        }
        let usual = matches!(origin.ranges, Ranges::Honest | Ranges::Ignored);
        if id == 1 && story.faults == 0 && usual && !resume.range_first {
            assert_eq!(verdict, Verdict::Finished, "nothing went wrong\n{}", facts());
        }
        tally.add(&story, verdict);
        now = ended + f64::from(rng.u32(..20_000));
    }
}

#[test]
fn r20_r21_r76_wherever_it_breaks_the_bytes_are_right_or_an_error_says_why() {
    let mut tally = Tally::default();
    for seed in 0..100_000 {
        play(seed, &mut tally);
    }
    println!("{tally:#?}");
}
