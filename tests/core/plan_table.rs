//! What is sent and what waits, and why: over all that is known of a path, compared with the rule
//! in words (R86).

use holdfast::core::{
    Action, Config, Cost, Delivery, Engine, Interface, Marks, Millis, PathSample, Power,
    Reachability, RequestId, ResponseFacts, Site, StartRequest, Thermal, WaitReason, Wanted,
};

/// What a request meets, besides itself.
#[derive(Clone, Copy, Debug)]
struct Situation {
    sample: PathSample,
    online: bool,
    adverse: bool,
    consent: bool,
}

/// A request, and whether its lane has a segment under way.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    site: Site,
    ahead: bool,
    retry: bool,
    busy: bool,
}

/// `None`: it is sent.
fn in_words(situation: Situation, candidate: Candidate) -> Option<WaitReason> {
    let Situation { sample, online, adverse, consent } = situation;
    let is_critical = sample.thermal == Thermal::Critical;
    let is_weak = sample.power == Power::LowPower || sample.thermal == Thermal::Serious;
    let costs_money = match sample.cost {
        Cost::Metered | Cost::Constrained => true,
        // The one heuristic.
        Cost::Unknown => sample.interface == Interface::Cellular,
        Cost::Unmetered => false,
    };
    // No path. That the browser says so is proved by a first attempt.
    if sample.reachability == Reachability::None || !online && (candidate.retry || is_critical) {
        return Some(WaitReason::Offline);
    }
    if is_critical {
        return Some(WaitReason::Held);
    }
    let may_cost = consent || !costs_money && !adverse;
    if candidate.ahead && (!may_cost || is_weak || sample.background_until.is_some()) {
        return Some(WaitReason::Held);
    }
    if candidate.site == Site::Segment && is_weak && candidate.busy {
        return Some(WaitReason::Window);
    }
    None
}

struct Trial {
    engine: Engine,
    now: f64,
    last: u32,
}

impl Trial {
    fn start(&mut self, site: Site, host: u32, ahead: bool) -> RequestId {
        self.last += 1;
        let id = RequestId(self.last);
        let marks = Marks { url: self.last, resource: self.last, ahead, ..Marks::default() };
        let start = StartRequest {
            id,
            site,
            host,
            delivery: Delivery::Buffered,
            idempotent: true,
            expects_body: true,
            blocking: false,
            alternatives: holdfast::core::Alternatives::None,
            marks,
            wanted: Wanted::default(),
        };
        self.engine.handle_start(start, Millis::new(self.now));
        id
    }

    fn sent(&mut self) -> Vec<RequestId> {
        let actions = std::iter::from_fn(|| self.engine.poll());
        actions
            .filter_map(|action| match action {
                Action::Send { request, .. } => Some(request),
                _ => None,
            })
            .collect()
    }
}

const CANDIDATES: u32 = 16;

fn candidate(bits: u32) -> Candidate {
    Candidate {
        site: if bits & 1 == 0 { Site::Playlist } else { Site::Segment },
        ahead: bits & 2 != 0,
        retry: bits & 4 != 0,
        busy: bits & 8 != 0,
    }
}

/// Each candidate has a host of its own. Those that are to be repeated fail before the sample
/// comes, with a status, which says nothing of the link.
fn judge(situation: Situation) {
    let config = Config { log_capacity: 0, ..Config::default() };
    let mut trial = Trial { engine: Engine::new(config), now: 0.0, last: 0 };
    let PathSample { cost, reachability, interface, .. } = situation.sample;
    let reachable =
        if reachability == Reachability::None { Reachability::Unknown } else { reachability };
    let before = PathSample { cost, interface, reachability: reachable, ..PathSample::default() };
    trial.engine.handle_path(before, Millis::ZERO);
    trial.engine.handle_consent(true, Millis::ZERO);
    let mut ids = [RequestId(0); CANDIDATES as usize];
    for bits in 0..CANDIDATES {
        let Candidate { site, ahead, retry, busy } = candidate(bits);
        if busy {
            trial.start(Site::Segment, bits, false);
        }
        if retry {
            let id = trial.start(site, bits, ahead);
            ids[bits as usize] = id;
            trial.engine.handle_response(id, 1, ResponseFacts::of(500), Millis::ZERO);
        }
    }
    for _ in 0..if situation.adverse { 3 } else { 0 } {
        let id = trial.start(Site::Playlist, CANDIDATES, false);
        trial.engine.handle_rejected(id, 1, Millis::ZERO);
        trial.engine.handle_abort(id, Millis::ZERO);
    }
    trial.sent();
    trial.engine.handle_online(situation.online, Millis::ZERO);
    trial.engine.handle_consent(situation.consent, Millis::ZERO);
    trial.engine.handle_path(situation.sample, Millis::ZERO);
    for bits in 0..CANDIDATES {
        let Candidate { site, ahead, retry, .. } = candidate(bits);
        if !retry {
            ids[bits as usize] = trial.start(site, bits, ahead);
        }
    }
    // The ladder's first delay is over by then.
    trial.now = 1_000.0;
    trial.engine.handle_timeout(Millis::new(trial.now));
    let sent = trial.sent();
    for bits in 0..CANDIDATES {
        let (id, candidate) = (ids[bits as usize], candidate(bits));
        let state = trial.engine.retry_states().find(|state| state.request == id);
        let met = if sent.contains(&id) { None } else { state.and_then(|state| state.wait) };
        assert!(sent.contains(&id) || met.is_some(), "{candidate:?} in {situation:?} is nowhere");
        assert_eq!(met, in_words(situation, candidate), "{candidate:?} in {situation:?}");
    }
}

#[test]
fn r86_what_is_sent_and_what_waits_is_that_of_the_rules_in_words() {
    let every = if std::env::var_os("HOLDFAST_QUICK").is_some() { 37 } else { 1 };
    let mut count = 0_u32;
    for (cost, interface) in Cost::ALL.iter().flat_map(|cost| Interface::ALL.map(|i| (*cost, i))) {
        for (reachability, flags) in
            Reachability::ALL.iter().flat_map(|r| (0..16).map(move |f| (*r, f)))
        {
            for (power, thermal) in Power::ALL.iter().flat_map(|p| Thermal::ALL.map(|t| (*p, t))) {
                count += 1;
                if !count.is_multiple_of(every) {
                    continue;
                }
                let background_until = (flags & 8 != 0).then_some(Millis::new(30_000.0));
                let sample =
                    PathSample { cost, reachability, interface, power, thermal, background_until };
                let (online, adverse, consent) = (flags & 1 == 0, flags & 2 != 0, flags & 4 != 0);
                judge(Situation { sample, online, adverse, consent });
            }
        }
    }
    assert_eq!(count, 4 * 5 * 3 * 16 * 4 * 5, "every combination");
}
