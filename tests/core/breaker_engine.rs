//! The hosts' breakers as requests meet them (R38 to R43).

use std::collections::{BTreeMap, BTreeSet};

use holdfast::core::{
    Action, Alternatives, Config, Entry, FailureClass, Health, LogEvent, Millis, Reason, Site,
    WaitReason,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::{
    Answer, Ask, Part, World, ask, hang, ok, page, reject, silent, status, truncated,
};

const TARGET: f64 = 4_000.0;
const MINUTE: f64 = 60_000.0;

/// A segment whose player can go elsewhere.
fn movable() -> Ask {
    ask(Site::Segment).alternatives(Alternatives::Some)
}

/// A segment whose player cannot.
fn bound() -> Ask {
    ask(Site::Segment).alternatives(Alternatives::None)
}

/// A world in which host 0 was found to be down by movable requests.
fn down(answer: &Answer) -> World {
    let mut world = World::new();
    world.playback(None, Some(TARGET));
    for _ in 0..5 {
        world.start(movable().always(answer.clone()));
    }
    world.drive_until(25.0);
    assert_eq!(world.host(0).health.health, Health::Open);
    world
}

#[test]
fn r38_five_failures_of_at_least_two_urls_open_a_host_and_four_do_not() {
    for answer in [reject(), status(500), status(503)] {
        let mut world = World::new();
        for url in [1, 2, 2, 2] {
            world.start(movable().url(url).always(answer.clone()));
        }
        world.drive_until(25.0);
        let health = world.host(0).health;
        assert_eq!((health.health, health.failures), (Health::Closed, 4));
        world.start(movable().url(1).always(answer.clone()));
        world.drive_until(50.0);
        let health = world.host(0).health;
        assert_eq!((health.health, health.failures), (Health::Open, 5));
        assert_eq!(health.opened_at, Some(Millis::new(45.0)));
        let pause = health.retry_at.expect("a time").get() - 45.0;
        assert!((3_000.0..=5_000.0).contains(&pause), "{pause}");
    }
}

#[test]
fn r40_one_url_alone_never_opens_its_host() {
    for answer in [reject(), status(500), hang()] {
        let mut world = World::new();
        for _ in 0..20 {
            world.start(ask(Site::Segment).url(7).always(answer.clone()));
        }
        world.drive_until(4.0 * MINUTE);
        assert_eq!(world.host(0).health.health, Health::Closed, "{answer:?}");
    }
}

#[test]
fn r38_an_open_host_refuses_at_once_with_the_cause_where_there_is_somewhere_to_go() {
    for (answer, class, code) in [
        (reject(), FailureClass::Transport, 0),
        (status(503), FailureClass::ServerBusy, 503),
        (status(502), FailureClass::Server, 502),
    ] {
        let mut world = down(&answer);
        let retry_at = world.host(0).health.retry_at;
        let refused = world.start(movable());
        let (at, failure) = world.failure(refused);
        assert_eq!((at, failure.attempts), (25.0, 0), "at once, and never sent");
        assert_eq!((failure.reason, failure.class), (Reason::Breaker, class));
        assert_eq!((failure.status, failure.retry_at), (code, retry_at));
        assert!(failure.svta > 3_000);
    }
}

#[test]
fn r38_a_ladder_ends_when_its_host_opens_where_there_is_somewhere_to_go() {
    let mut world = down(&reject());
    world.drive_until(MINUTE);
    for id in 1..=5 {
        let (_, failure) = world.failure(id);
        assert_eq!(failure.reason, Reason::Breaker);
        assert!(failure.attempts < 4);
    }
}

#[test]
fn r38_requests_of_other_hosts_pass() {
    let mut world = down(&reject());
    let id = world.start(movable().host(1));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [25.0]);
}

#[test]
fn r38_a_beacon_passes_and_says_nothing() {
    let mut world = down(&reject());
    let health = world.host(0).health;
    let id = world.start(ask(Site::Other));
    world.drive_until(200.0);
    world.finished_at(id);
    assert_eq!(world.host(0).health, health);
}

#[test]
fn r41_with_nowhere_to_go_what_is_asked_of_an_open_host_waits_and_shows_it() {
    for site in [Site::Manifest, Site::Playlist, Site::PlaylistReload, Site::Segment, Site::Key] {
        for alternatives in [Alternatives::None, Alternatives::Unknown] {
            let mut world = down(&reject());
            let id = world.start(ask(site).alternatives(alternatives));
            let state = world.engine.retry_states().find(|state| state.request.0 == id);
            let state = state.expect("it waits");
            assert_eq!((state.wait, state.attempt), (Some(WaitReason::Breaker), 0));
            assert_eq!(state.next_at, world.host(0).health.retry_at);
            world.drive_until_idle();
            world.finished_at(id);
            assert_eq!(world.host(0).health.health, Health::Closed, "its success closes it");
        }
    }
}

#[test]
fn r41_a_license_waits_within_its_deadline_for_the_only_host_there_is() {
    for site in [Site::License, Site::Certificate] {
        let mut world = down(&reject());
        let id = world.start(ask(site));
        world.drive_until_idle();
        world.finished_at(id);
        let mut world = down(&reject());
        let id = world.start(ask(site).always(reject()));
        world.drive_until_idle();
        let (at, failure) = world.failure(id);
        assert!(at <= 25.0 + site.defaults().deadline.get() && !failure.holding, "{at}");
        let mut world = down(&reject());
        let id = world.start(ask(site).alternatives(Alternatives::Some));
        assert_eq!(world.failure(id).0, 25.0);
    }
}

#[test]
fn r41_an_open_host_is_probed_about_once_a_target_duration_with_jitter() {
    for target in [2_000.0, 4_000.0, 6_000.0] {
        let mut world = World::new();
        world.playback(None, Some(target));
        for _ in 0..20 {
            world.start(bound().always(reject()));
        }
        world.drive_until(4.0 * MINUTE);
        let probes: Vec<f64> =
            world.sent.iter().map(|sent| sent.at).filter(|at| *at > 30_000.0).collect();
        let gaps: Vec<f64> = probes.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let within = 0.75 * target..=1.35 * target;
        assert!(gaps.iter().all(|gap| within.contains(gap)), "{target}: {gaps:?}");
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((0.9 * target..=1.2 * target).contains(&mean), "{target}: {mean}");
        assert!(gaps.iter().any(|gap| (gap - gaps[0]).abs() > 100.0), "jitter");
    }
}

#[test]
fn r41_everything_held_goes_on_soon_after_the_host_is_back() {
    let mut world = World::new();
    world.playback(None, Some(TARGET));
    world.outage(0, 0.0, MINUTE, status(503));
    let ids: Vec<u32> = (0..8).map(|_| world.start(bound())).collect();
    world.drive_until_idle();
    for id in ids {
        assert!(world.finished_at(id) < MINUTE + 12_000.0, "{}", world.story(id));
    }
}

#[test]
fn r39_statuses_that_a_host_in_health_gives_open_nothing() {
    for code in [400, 401, 403, 404, 410, 416, 421, 425, 429, 451] {
        let mut world = World::new();
        for _ in 0..40 {
            world.start(movable().always(status(code)));
        }
        world.drive_until_idle();
        let health = world.host(0).health;
        assert_eq!((health.health, health.failures), (Health::Closed, 0), "{code}");
    }
}

#[test]
fn r39_a_page_instead_of_media_opens_nothing() {
    for answer in [page(), status(511)] {
        let mut world = World::new();
        for _ in 0..40 {
            world.start(movable().always(answer.clone()));
        }
        world.drive_until_idle();
        assert_eq!(world.host(0).health.health, Health::Closed);
    }
}

#[test]
fn r39_a_portals_own_status_is_no_sign_of_life() {
    let mut world = down(&reject());
    let id = world.start(bound().always(status(511)));
    world.drive_until(20_000.0);
    assert!(!world.sent_at(id).is_empty());
    assert_ne!(world.host(0).health.health, Health::Closed);
}

#[test]
fn r39_failures_without_a_network_open_nothing() {
    let mut world = World::new();
    world.online(false);
    for _ in 0..20 {
        world.start(bound().always(reject()));
    }
    world.drive_until(MINUTE);
    assert_eq!(world.host(0).health.health, Health::Closed);
}

#[test]
fn r39_what_is_aborted_says_nothing() {
    let mut world = World::new();
    for _ in 0..20 {
        let id = world.start(bound().always(hang()));
        world.drive_until(world.now + 100.0);
        world.abort(id);
    }
    let health = world.host(0).health;
    assert_eq!((health.health, health.failures), (Health::Closed, 0));
}

#[test]
fn r39_a_response_ends_the_row_of_transport_failures() {
    let mut world = World::new();
    for _ in 0..4 {
        world.start(movable().always(reject()));
    }
    world.drive_until(25.0);
    world.start(movable().always(status(404)));
    world.drive_until(50.0);
    assert_eq!(world.host(0).health.failures, 0);
}

#[test]
fn r39_a_probe_that_is_aborted_makes_room_for_the_next_at_once() {
    let mut world = down(&reject());
    let probe = world.start(bound().always(hang()));
    world.drive_until(8_000.0);
    assert_eq!(world.sent_at(probe).len(), 1);
    let next = world.start(bound());
    world.drive_until(9_000.0);
    assert!(world.sent_at(next).is_empty(), "one at a time");
    world.abort(probe);
    world.drive_until(9_200.0);
    assert_eq!(world.sent_at(next).len(), 1);
    world.drive_until_idle();
    assert_eq!(world.host(0).health.health, Health::Closed);
}

#[test]
fn r38_the_headers_of_a_probe_close_the_host_however_long_its_body_takes() {
    let mut world = down(&reject());
    let probe = world.start(bound().always(silent(9.0)));
    world.drive_until(6_000.0);
    assert_eq!(world.sent_at(probe).len(), 1);
    assert_eq!(world.host(0).health.health, Health::Closed);
}

#[test]
fn r42_a_cool_down_stands_still_without_a_network_and_its_return_cuts_it_short() {
    let mut world = down(&reject());
    let until = world.host(0).health.retry_at.expect("a time").get();
    let id = world.start(bound());
    world.drive_until(1_000.0);
    world.online(false);
    world.drive_until(5.0 * MINUTE);
    let health = world.host(0).health;
    assert_eq!(health.health, Health::Open);
    assert_eq!(health.retry_at.map(Millis::get), Some(until + 5.0 * MINUTE - 1_000.0));
    assert!(world.sent_at(id).is_empty());
    world.online(true);
    world.drive_until_idle();
    assert!(world.finished_at(id) < 5.0 * MINUTE + 1_500.0);
}

#[test]
fn r42_what_is_known_of_hosts_can_be_read() {
    let mut world = down(&reject());
    world.start(ask(Site::Segment).host(2));
    let now = Millis::new(world.now);
    let hosts: Vec<_> = world.engine.hosts(now).collect();
    assert_eq!(hosts.iter().map(|host| host.host).collect::<Vec<_>>(), [0, 1, 2]);
    let health: Vec<_> = hosts.iter().map(|host| host.health.health).collect();
    assert_eq!(health, [Health::Open, Health::Closed, Health::Closed]);
    assert!(hosts.iter().all(|host| host.throttle.is_none()));
    world.drive_until(10_000.0);
    assert_eq!(world.host(0).health.health, Health::HalfOpen);
}

#[test]
fn r42_a_change_of_health_is_told_and_logged() {
    let mut world = down(&reject());
    let id = world.start(bound());
    world.drive_until_idle();
    world.finished_at(id);
    let told = |entry: &&Entry| entry.event == LogEvent::Health;
    let told: Vec<_> = world.engine.log().filter(told).map(|entry| entry.detail).collect();
    assert_eq!(told, [Health::Open as u32, Health::Closed as u32]);
    let (opened, _) =
        world.actions.iter().find(|(_, action)| matches!(action, Action::Changed)).expect("a word");
    assert_eq!(*opened, 20.0);
}

fn reset(world: &mut World, host: Option<u32>) {
    world.engine.handle_reset_health(host, Millis::new(world.now));
    // No news, but the actions are taken.
    world.online(true);
}

#[test]
fn r42_a_reset_closes_a_host_forgets_its_rests_and_ends_the_waits_for_it() {
    for host in [Some(0), None] {
        let mut world = down(&reject());
        let waits = world.start(bound());
        let rests = world.start(ask(Site::Key).host(1).url(7).always(status(403)));
        world.drive_until(100.0);
        world.failure(rests);
        let from = world.actions.len();
        reset(&mut world, host);
        assert_eq!(world.host(0).health.health, Health::Closed);
        assert!(world.actions[from..].iter().any(|(_, action)| *action == Action::Changed));
        let closed = |entry: &Entry| {
            entry.event == LogEvent::Health
                && (entry.detail, entry.value) == (Health::Closed as u32, 0.0)
        };
        assert!(world.engine.log().any(closed), "it is logged");
        let again = world.start(ask(Site::Key).host(1).url(7));
        world.drive_until_idle();
        assert_eq!(world.sent_at(again), [100.0]);
        assert!(world.finished_at(waits) < 400.0);
    }
    let mut world = down(&reject());
    world.start(ask(Site::Segment).host(1));
    reset(&mut world, Some(1));
    assert_eq!(world.host(0).health.health, Health::Open, "another host");
}

#[test]
fn r43_another_source_finds_the_hosts_as_they_were() {
    let mut world = down(&reject());
    let health = world.host(0).health;
    let mut config = Config::default();
    config.sites[Site::Segment as usize].attempts = 1;
    world.engine.handle_source(config.into(), Millis::new(world.now));
    assert_eq!(world.host(0).health, health);
    let id = world.start(movable().host(1).always(status(500)));
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.attempts, 1, "its policies are the new ones");
}

#[test]
fn r38_a_host_whose_bodies_always_break_off_is_not_asked_without_end() {
    for (answer, alternatives) in [
        (truncated(9.0), Alternatives::None),
        (truncated(9.0), Alternatives::Unknown),
        (status(200), Alternatives::None),
        (page(), Alternatives::None),
    ] {
        let mut world = World::new();
        world.playback(None, Some(TARGET));
        for _ in 0..8 {
            let request = ask(Site::Segment).alternatives(alternatives);
            world.start(request.always(answer.clone()));
        }
        world.drive_until(MINUTE);
        let sent = world.sent.len();
        // Eight first attempts, ten retries, and a probe now and then.
        assert!(sent <= 8 + 10 + 30, "{answer:?}: {sent}");
    }
}

#[test]
fn r38_after_bodies_that_failed_a_slow_body_that_comes_closes_the_host() {
    let mut world = World::new();
    world.playback(None, Some(TARGET));
    world.outage(0, 0.0, 12_000.0, silent(9.0));
    // Half a minute each, a chunk a second.
    let mut parts = vec![Part::Chunk { gap: 1_000.0, bytes: 9.0 }; 30];
    parts.push(Part::End { gap: 0.0 });
    let slow = status(200).parts(parts);
    let ids: Vec<u32> = (0..6).map(|_| world.start(bound().always(slow.clone()))).collect();
    world.drive_until(10_000.0);
    assert_ne!(world.host(0).health.health, Health::Closed);
    world.drive_until_idle();
    for id in ids {
        assert!(world.finished_at(id) < 75_000.0, "{}", world.story(id));
    }
    assert_eq!(world.host(0).health.health, Health::Closed);
}

/// The shortest lease of a probe.
const LEASE: f64 = 12_000.0;

/// How many attempts to each host that is not closed are under way at most, as the log and the
/// actions have it. Beacons pass in any case, and a body that takes longer than the lease of a probe
/// leaves the host to the next.
fn most_at_once(world: &World, hosts: &BTreeMap<u32, u32>) -> usize {
    let mut closed: BTreeMap<u32, bool> = BTreeMap::new();
    let mut under_way: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
    let mut accepted = BTreeSet::new();
    let mut beacons = BTreeSet::new();
    let mut most = 0;
    for Entry { at, request, event, detail, value, .. } in world.engine.log().copied() {
        let id = request.0;
        match event {
            LogEvent::Health => {
                let is_closed = detail == Health::Closed as u32;
                closed.insert(value as u32, is_closed);
                // What was under way when it changed was not sent to an open host.
                under_way.remove(&(value as u32));
            }
            LogEvent::Started if detail == Site::Other as u32 => {
                beacons.insert(id);
            }
            LogEvent::Sent if !beacons.contains(&id) => {
                let host = hosts[&id];
                if !closed.get(&host).copied().unwrap_or(true) {
                    let sent = under_way.entry(host).or_default();
                    accepted.remove(&id);
                    sent.insert(id, at.get());
                    sent.retain(|id, since| !accepted.contains(id) || at.get() - *since < LEASE);
                    most = most.max(sent.len());
                }
            }
            LogEvent::Accepted => {
                accepted.insert(id);
            }
            LogEvent::Failed | LogEvent::Succeeded | LogEvent::Aborted | LogEvent::GivenUp => {
                if let Some(sent) = hosts.get(&id).and_then(|host| under_way.get_mut(host)) {
                    sent.remove(&id);
                }
            }
            _ => {}
        }
    }
    most
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        3 => Just(status(500)),
        3 => (0.0..15_000.0).prop_map(|after| reject().after(after)),
        2 => Just(hang()),
        1 => Just(status(404)),
        1 => Just(status(408)),
        1 => Just(silent(9.0)),
        1 => (0.0..9_000.0).prop_map(|after| ok(1_000.0).after(after)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn r38_no_more_than_one_attempt_at_a_time_goes_to_a_host_that_is_not_closed(
        seed in any::<u64>(),
        deeds in vec(
            (0.0..4_000.0, 0_usize..Site::COUNT, 0_u32..2, 0_u32..3, vec(answer(), 1..4), 0_u32..6),
            1..60,
        ),
    ) {
        let mut world = World::with(Config { seed, log_capacity: 100_000, ..Config::default() });
        world.playback(None, Some(TARGET));
        let mut hosts = BTreeMap::new();
        for (pause, site, host, alternatives, answers, aborted) in deeds {
            let alternatives =
                [Alternatives::Unknown, Alternatives::None, Alternatives::Some][alternatives as usize];
            let request = ask(Site::ALL[site]).host(host).alternatives(alternatives);
            let last = world.start(request.answers(answers));
            hosts.insert(last, host);
            world.drive_until(world.now + pause);
            if aborted == 0 {
                world.abort(last);
            } else if aborted == 1 && last > 3 {
                world.abort(last - 3);
            }
        }
        world.drive_until_idle();
        prop_assert!(most_at_once(&world, &hosts) <= 1);
    }
}
