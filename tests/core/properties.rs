//! Random sessions: whatever the network, the caller and the clock do, the contract of
//! `common/contract.rs` holds, the engine comes to rest, and every request has one end.

use holdfast::core::{Alternatives, Config, Exhausted, LogEvent, Site};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::{Answer, Ask, Part, Verdict, World, ask, hang, reject, status};

const MINUTE: f64 = 60_000.0;

fn span(longest: f64) -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..50.0, 0.0..longest]
}

fn part() -> impl Strategy<Value = Part> {
    let gap = || span(12_000.0);
    let bytes = || prop_oneof![Just(0.0), 1.0..200_000.0];
    prop_oneof![
        6 => (gap(), bytes()).prop_map(|(gap, bytes)| Part::Chunk { gap, bytes }),
        1 => (gap(), bytes()).prop_map(|(gap, bytes)| Part::LastRead { gap, bytes }),
        1 => gap().prop_map(|gap| Part::Read { gap }),
        3 => gap().prop_map(|gap| Part::End { gap }),
        1 => gap().prop_map(|gap| Part::Lost { gap }),
        1 => gap().prop_map(|gap| Part::Page { gap }),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    let refusals =
        prop_oneof![Just(503), Just(429), Just(500), Just(408), Just(421), Just(425), Just(404)];
    let statuses = prop_oneof![3 => refusals, 1 => 100_u16..=599, 1 => Just(0)];
    let waits = proptest::option::weighted(0.4, span(400_000.0));
    let refused = (statuses, span(15_000.0), waits).prop_map(|(code, after, wait)| {
        let answer = status(code).after(after);
        if let Some(wait) = wait { answer.retry_after(wait) } else { answer }
    });
    let body = (vec(part(), 0..6), span(15_000.0))
        .prop_map(|(parts, after)| status(200).after(after).parts(parts));
    prop_oneof![
        1 => Just(hang()),
        2 => span(5_000.0).prop_map(|after| reject().after(after)),
        3 => refused,
        3 => body,
    ]
}

fn request() -> impl Strategy<Value = Ask> {
    let alternatives = prop_oneof![
        Just(Alternatives::Unknown),
        Just(Alternatives::None),
        Just(Alternatives::Some)
    ];
    let site = (0..Site::COUNT).prop_map(|code| Site::ALL[code]);
    let flags = vec(proptest::bool::weighted(0.2), 4);
    (site, 0_u32..3, alternatives, flags, vec(answer(), 1..8)).prop_map(
        |(site, host, alternatives, flags, answers)| {
            let mut made = ask(site).host(host).alternatives(alternatives).answers(answers);
            made.blocking = flags[0];
            made.expects_body = !flags[1];
            made.idempotent = !flags[2];
            if flags[3] { made.streaming() } else { made }
        },
    )
}

#[derive(Clone, Debug)]
enum Deed {
    Abort(u32),
    Alternatives(usize, bool),
    Freeze(f64),
    Online(bool),
    Playback(Option<f64>, Option<f64>),
    RetryNow,
    Start(Box<Ask>),
}

fn deed() -> impl Strategy<Value = Deed> {
    let known = |longest: f64| proptest::option::of(span(longest));
    prop_oneof![
        4 => request().prop_map(|ask| Deed::Start(Box::new(ask))),
        2 => (1_u32..10).prop_map(Deed::Abort),
        1 => (0..Site::COUNT, any::<bool>()).prop_map(|(site, some)| Deed::Alternatives(site, some)),
        1 => span(20.0 * MINUTE).prop_map(Deed::Freeze),
        2 => any::<bool>().prop_map(Deed::Online),
        1 => (known(60_000.0), known(10_000.0)).prop_map(|(buffer, target)| {
            Deed::Playback(buffer, target)
        }),
        1 => Just(Deed::RetryNow),
    ]
}

#[derive(Clone, Debug)]
struct Session {
    seed: u64,
    mode: Exhausted,
    leftovers: bool,
    deeds: Vec<(f64, Deed)>,
}

fn session() -> impl Strategy<Value = Session> {
    let mode = prop_oneof![
        3 => Just(Exhausted::Auto),
        1 => Just(Exhausted::Hold),
        1 => Just(Exhausted::Reject),
    ];
    (any::<u64>(), mode, any::<bool>(), vec((span(30_000.0), deed()), 1..12))
        .prop_map(|(seed, mode, leftovers, deeds)| Session { seed, mode, leftovers, deeds })
}

fn play(session: &Session) -> World {
    let mut config = Config { seed: session.seed, log_capacity: 1_000_000, ..Config::default() };
    for policy in &mut config.sites {
        policy.exhausted = session.mode;
    }
    let mut world = World::with(config);
    if session.leftovers {
        world.keep_leftovers();
    }
    for (pause, deed) in session.deeds.clone() {
        world.drive_until(world.now + pause);
        match deed {
            Deed::Abort(id) => world.abort(id),
            Deed::Alternatives(site, true) => {
                world.alternatives(Site::ALL[site], Alternatives::Some);
            }
            Deed::Alternatives(site, false) => {
                world.alternatives(Site::ALL[site], Alternatives::None);
            }
            Deed::Freeze(span) => world.freeze_until(world.now + span),
            Deed::Online(online) => world.online(online),
            Deed::Playback(buffer, target) => world.playback(buffer, target),
            Deed::RetryNow => world.retry_now(),
            Deed::Start(ask) => {
                world.start(*ask);
            }
        }
    }
    world.online(true);
    world.drive_until_idle();
    world
}

/// Fewer where each of hundreds of mutants is given them.
fn cases() -> u32 {
    if std::env::var_os("HOLDFAST_QUICK").is_some() { 60 } else { 1_500 }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_session_keeps_the_contract_and_comes_to_rest(session in session()) {
        let world = play(&session);
        // What is left is a body that nobody reads, or whose network says no more.
        let waits = world.engine.retry_states().filter(|state| state.wait.is_some()).count();
        prop_assert_eq!(waits, 0);
        prop_assert_eq!(world.engine.next_timeout(), None);
    }

    #[test]
    fn every_request_that_is_gone_has_exactly_one_end_in_the_log(session in session()) {
        let world = play(&session);
        let count = |wanted: &[LogEvent]| {
            world.engine.log().filter(|entry| wanted.contains(&entry.event)).count()
        };
        let ends = count(&[LogEvent::Succeeded, LogEvent::GivenUp, LogEvent::Aborted]);
        let begun = count(&[LogEvent::Started]);
        prop_assert_eq!(begun - ends, world.engine.request_count());
    }

    #[test]
    fn no_request_outlives_its_last_attempt_by_more_than_the_limits_allow(session in session()) {
        let world = play(&session);
        for id in 1..=12 {
            let Some((_, Verdict::Failed(failure))) = world.verdict(id) else { continue };
            let sent = world.sent_at(id);
            prop_assert_eq!(sent.len(), failure.attempts as usize);
            // Twenty minutes asleep, a hold, an attempt that trickles, and some slack.
            prop_assert!(failure.elapsed.get() < 12.0 * 30_000.0 + 250.0 * MINUTE);
        }
    }

    #[test]
    fn r14_every_session_can_be_repeated(session in session()) {
        let (first, second) = (play(&session), play(&session));
        prop_assert_eq!(&first.actions, &second.actions);
        prop_assert!(first.engine.log().eq(second.engine.log()));
    }
}
