//! Random schedules of an origin that misbehaves, a link that breaks and a reader that does as it
//! is told: whatever happens, the bytes that were asked for come out, once each and of one version,
//! or an error that says why not.

use std::collections::BTreeMap;

use fastrand::Rng;
use holdfast::core::{
    Advice, Alternatives, Config, Delivery, Engine, Marks, Millis, RequestId, Resume, Site,
    StartRequest,
};

use crate::resume_caller::{Caller, Story, Verdict};
use crate::resume_origin::{Origin, Ranges, wanted};

/// Each is of one to three requests.
const SCHEDULES: u64 = 150_000;

/// What has to have come of many requests, or the schedules have gone astray.
const OFTEN: [&str; 17] = [
    "finished without a failure",
    "finished by parts",
    "finished by all again",
    "finished by starting over",
    "finished though changed",
    "finished in windows",
    "finished by a 416",
    "finished after a stall",
    "finished after a cut",
    "failed: Attempts",
    "failed: Released",
    "failed: Terminal",
    "failed as BadRange",
    "failed as Changed",
    "failed as RangeIgnored",
    "failed as Stall",
    "failed as Truncated",
];

#[test]
fn r20_r21_r76_wherever_it_breaks_the_bytes_are_right_or_an_error_says_why() {
    let mut tally = Tally::default();
    for seed in 0..SCHEDULES {
        play(seed, &mut tally);
    }
    println!("{tally:#?}");
    for what in OFTEN {
        let count = tally.counts.get(what).copied().unwrap_or(0);
        assert!(count >= 100, "{what} {count} times");
    }
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
        range_first: !origin.is_stored_encoded() && rng.u32(..10) == 0,
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
        let mut caller =
            Caller::new(&mut engine, &mut origin, rng, now, RequestId(id), wanted, streaming);
        let verdict = caller.run();
        let problem = caller.check(verdict).err();
        let (story, ended) = (caller.story, caller.now);
        let facts = || {
            format!(
                "seed {seed}, request {id}, {site:?}: {verdict:?}\n{wanted:?}, streaming \
                 {streaming}, naive {naive}\n{resume:?}\n{story:?}\n{origin:?}"
            )
        };
        assert_eq!(problem, None, "{}", facts());
        let usual = matches!(origin.ranges, Ranges::Honest | Ranges::Ignored);
        if id == 1 && story.faults == 0 && usual && !resume.range_first {
            assert_eq!(verdict, Verdict::Finished, "nothing went wrong\n{}", facts());
        }
        tally.add(&story, verdict);
        now = ended + f64::from(rng.u32(..20_000));
    }
}
