//! A live player and its playlists: an hour with outages, reloads that overtake one another, and
//! directives that are given up (R31 to R35).

use holdfast::core::{
    Action, Config, Failure, LogEvent, Millis, Reason, RequestId, Site, WaitReason,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::{
    Answer, Ask, Sent, Verdict, World, ask, hang, ok, page, reject, silent, status, truncated,
};

const TARGET: f64 = 4_000.0;
const MINUTE: f64 = 60_000.0;
const PLAYLIST: u32 = 7;

fn live() -> World {
    let mut world = World::new();
    world.live = true;
    world.playback(None, Some(TARGET));
    world
}

fn reload() -> Ask {
    ask(Site::PlaylistReload).url(PLAYLIST).always(ok(2_000.0))
}

/// One load of the playlist.
#[derive(Clone, Copy, Debug)]
struct Load {
    id: u32,
    begun: f64,
    ended: f64,
}

/// A player by the book: after a load that brought something new it waits for a target duration
/// from the beginning of that load, after another for half of it (6.3.4 of RFC 8216); and it asks
/// for a new segment with each change.
struct Player {
    loads: Vec<Load>,
    changed_at: f64,
}

impl Player {
    fn watch(world: &mut World, freezes: &[(f64, f64)], until: f64) -> Self {
        let mut player = Self { loads: Vec::new(), changed_at: f64::NEG_INFINITY };
        let mut freezes = freezes.iter().peekable();
        while world.now < until {
            let begun = world.now;
            let from = world.actions.len();
            let id = world.start(reload());
            while !is_over(world, id, from) {
                world.drive_until(world.now + 10.0);
                if let Some((at, wakes)) = freezes.peek()
                    && world.now >= *at
                {
                    world.freeze_until(*wakes);
                    freezes.next();
                }
            }
            player.loads.push(Load { id, begun, ended: world.now });
            // The server writes a new segment each target duration.
            let changed = (world.now / TARGET).floor() > (player.changed_at / TARGET).floor();
            if changed {
                player.changed_at = world.now;
                world.start(ask(Site::Segment));
            }
            let wait = if changed { TARGET } else { 0.5 * TARGET };
            world.drive_until(world.now.max(begun + wait));
        }
        player
    }
}

/// When the page is frozen, and when it wakes.
const FREEZES: [(f64, f64); 2] = [(2_000_000.0, 2_030_000.0), (3_000_000.0, 3_180_000.0)];

/// What goes wrong during the hour, when, and until when.
fn outages() -> [(f64, f64, Answer); 7] {
    [
        (300_000.0, 360_000.0, status(503)),
        (600_000.0, 640_000.0, status(503).retry_after(10_000.0)),
        (900_000.0, 1_000_000.0, reject()),
        (1_300_000.0, 1_340_000.0, hang()),
        (1_600_000.0, 1_640_000.0, silent(9.0)),
        (2_300_000.0, 2_303_000.0, status(404)),
        (2_600_000.0, 2_840_000.0, status(500)),
    ]
}

fn is_over(world: &World, id: u32, from: usize) -> bool {
    world.actions[from..].iter().any(|(_, action)| {
        matches!(action, Action::Finish { request } | Action::Fail { request, .. }
            if request.0 == id)
    })
}

fn an_hour() -> (World, Player) {
    let mut world = live();
    for (from, to, answer) in outages() {
        world.outage(0, from, to, answer);
    }
    let player = Player::watch(&mut world, &FREEZES, 60.0 * MINUTE);
    (world, player)
}

fn is_calm(begun: f64, ended: f64) -> bool {
    let outages = outages();
    let outages = outages.iter().map(|(from, to, _)| (*from, *to + 30_000.0));
    let freezes = FREEZES.into_iter().map(|(from, to)| (from - 15_000.0, to + 15_000.0));
    outages.chain(freezes).all(|(from, to)| ended < from || begun > to)
}

#[test]
fn r31_during_an_hour_of_live_with_outages_no_load_is_rejected_and_each_outage_is_survived() {
    let (world, player) = an_hour();
    for load in &player.loads {
        world.finished_at(load.id);
    }
    for (from, to, answer) in outages() {
        let next = player.loads.iter().find(|load| load.ended > to).expect("a load after it");
        // A time-out that began within the outage is waited for.
        let late = if matches!(answer, Answer::Hang) { 25_000.0 } else { 16_000.0 };
        assert!(next.ended < to + late, "{answer:?} from {from}: {next:?}");
        let during = player.loads.iter().filter(|load| load.begun > from && load.ended < to);
        assert_eq!(during.count(), 0, "{answer:?}");
    }
}

#[test]
fn r31_during_an_hour_of_live_the_cadence_of_good_loads_is_the_players() {
    let (world, player) = an_hour();
    let calm: Vec<&Load> =
        player.loads.iter().filter(|load| is_calm(load.begun, load.ended)).collect();
    assert!(calm.len() > 600, "{}", calm.len());
    for load in calm {
        assert_eq!(world.sent_at(load.id), [load.begun], "asked for once, at once");
    }
    // Whatever happens, no load begins before the wait since the last one's beginning is over.
    for pair in player.loads.windows(2) {
        let from = world.sent_at(pair[1].id)[0] - pair[0].begun;
        assert!(from >= 0.5 * TARGET, "{from}");
    }
}

/// When the attempts for the playlist were sent, each held to the floor, and those of a target
/// duration to three beside the good ones.
fn check_density(world: &World, player: &Player) -> Vec<f64> {
    let mut sent: Vec<f64> = player.loads.iter().flat_map(|load| world.sent_at(load.id)).collect();
    sent.sort_by(f64::total_cmp);
    for (place, from) in sent.iter().enumerate() {
        let within = *from..from + TARGET;
        let tries = sent[place..].iter().take_while(|at| within.contains(at)).count();
        let good = player.loads.iter().filter(|load| within.contains(&load.ended)).count();
        assert!(tries <= 3 + good, "{tries} from {from}, of which {good} were good");
        assert!(sent.get(place + 1).is_none_or(|next| next - from >= 50.0), "{from}");
    }
    sent
}

#[test]
fn r31_during_an_hour_of_live_failures_stay_below_three_a_target_duration() {
    let (world, player) = an_hour();
    let sent = check_density(&world, &player);
    let failed = sent.len() - player.loads.len();
    let worst: f64 = outages().iter().map(|(from, to, _)| (to - from) / TARGET).sum();
    assert!((failed as f64) < 1.5 * worst + 3.0 * 9.0, "{failed} failures");
}

/// The most attempts of a playlist's reloads that are under way at a time.
fn most_at_once(world: &World, ids: &[u32]) -> usize {
    let mut under_way = Vec::new();
    let mut most = 0;
    for (_, action) in &world.actions {
        match action {
            Action::Send { request, .. } if ids.contains(&request.0) => {
                under_way.push(*request);
                most = most.max(under_way.len());
            }
            Action::Cut { request, .. }
            | Action::Forget { request }
            | Action::Fail { request, .. }
            | Action::Finish { request } => under_way.retain(|other| other != request),
            _ => {}
        }
    }
    most
}

#[test]
fn r31_during_an_hour_of_live_one_reload_is_under_way_at_a_time() {
    let (world, player) = an_hour();
    let ids: Vec<u32> = player.loads.iter().map(|load| load.id).collect();
    assert_eq!(most_at_once(&world, &ids), 1);
}

#[test]
fn r32_a_retry_that_is_pending_waits_for_the_next_tick_and_a_target_duration_more() {
    for seed in 0..50 {
        let mut world = World::seeded(seed);
        world.playback(None, Some(TARGET));
        let older = world.start(reload().answers([status(500), ok(9.0)]));
        world.drive_until(40.0);
        let newer = world.start(reload());
        world.drive_until_idle();
        world.finished_at(older);
        world.finished_at(newer);
        assert_eq!(world.sent_at(newer), [40.0]);
        assert!(world.sent_at(older)[1] >= 40.0 + TARGET, "seed {seed}");
        assert_eq!(most_at_once(&world, &[older, newer]), 1);
    }
}

#[test]
fn r32_a_player_that_ticks_whatever_becomes_of_its_loads_has_one_retry_under_way() {
    for answer in [status(500), reject(), status(503)] {
        let mut world = live();
        let mut ids = Vec::new();
        for _ in 0..60 {
            ids.push(world.start(reload().always(answer.clone())));
            world.drive_until(world.now + TARGET);
        }
        assert_eq!(most_at_once(&world, &ids), 1, "{answer:?}");
        for tick in 0..60 {
            let within = |sent: &&Sent| (sent.at / TARGET).floor() as u32 == tick;
            let tries = world.sent.iter().filter(within).count();
            assert!(tries <= 3, "{answer:?}: {tries} in tick {tick}");
        }
    }
}

#[test]
fn r32_a_retry_that_is_due_while_the_newer_reload_is_under_way_waits_for_its_end() {
    let mut world = live();
    let older = world.start(reload().answers([status(500), ok(9.0)]));
    world.drive_until(40.0);
    let newer = world.start(reload().always(ok(9.0).after(9_000.0)));
    world.drive_until_idle();
    let at = world.finished_at(newer);
    assert!(world.sent_at(older)[1] > at);
    assert_eq!(most_at_once(&world, &[older, newer]), 1);
}

#[test]
fn r32_a_retry_that_every_tick_puts_off_is_given_up_in_the_end() {
    let mut world = live();
    let older = world.start(reload().always(status(500)));
    world.drive_until(40.0);
    world.every(TARGET, 15.0 * MINUTE, &reload());
    world.drive_until(15.0 * MINUTE);
    let (at, failure) = world.failure(older);
    assert_eq!(failure.reason, Reason::HoldLimit);
    // The limit once for the ladder that the ticks put off, and once for the hold.
    assert!((MINUTE..=10.1 * MINUTE).contains(&at), "{at}");
    assert!(failure.attempts < 10, "it was needed by nobody");
}

#[test]
fn r32_a_reload_of_another_playlist_is_left_alone() {
    let mut world = live();
    let older = world.start(reload().answers([status(500), ok(9.0)]));
    world.drive_until(40.0);
    world.start(reload().url(8));
    world.drive_until_idle();
    assert!(world.sent_at(older)[1] < 1_000.0);
}

#[test]
fn r32_what_waits_for_another_thing_than_time_goes_on_waiting_for_it() {
    let mut world = live();
    world.refreshes = vec![(9_000.0, true)];
    let older = reload().credential(1).answers([status(401), ok(9.0)]);
    let older = world.start(older);
    world.drive_until(1_000.0);
    world.start(reload());
    world.drive_until(8_000.0);
    assert_eq!(world.sent_at(older).len(), 1, "there is no fresh credential yet");
    world.drive_until_idle();
    world.finished_at(older);
}

/// When the directives of a request were given up, if they were.
fn plain_at(world: &World, id: u32) -> Option<f64> {
    world.actions.iter().find_map(|(at, action)| {
        (*action == Action::Plain { request: RequestId(id) }).then_some(*at)
    })
}

#[test]
fn r33_the_directives_are_given_up_on_400_503_and_a_time_out() {
    for (answer, given_up) in [
        (status(400), true),
        (status(503), true),
        (status(503).retry_after(1_000.0), true),
        (hang(), true),
        (status(500), false),
        (status(404), false),
        (reject(), false),
    ] {
        let mut world = live();
        let id = world.start(reload().directives().answers([answer.clone(), ok(9.0)]));
        world.drive_until_idle();
        world.finished_at(id);
        let sent = world.sent_at(id);
        assert_eq!(sent.len(), 2, "{answer:?}");
        let plain = plain_at(&world, id);
        assert_eq!(plain.is_some(), given_up, "{answer:?}");
        assert!(plain.is_none_or(|at| at < sent[1]), "before the next attempt");
    }
}

#[test]
fn r33_a_400_without_directives_is_final_and_so_is_a_second_one() {
    let mut world = live();
    let id = world.start(reload().always(status(400)));
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.attempts, 1);
    let mut world = live();
    let id = world.start(reload().directives().always(status(400)));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.attempts, failure.reason), (2, Reason::Terminal));
}

#[test]
fn r33_the_directives_are_given_up_once() {
    let mut world = live();
    world.start(reload().directives().always(status(503)));
    world.drive_until(MINUTE);
    let plain = |(_, action): &&(f64, Action)| matches!(action, Action::Plain { .. });
    assert_eq!(world.actions.iter().filter(plain).count(), 1);
}

#[test]
fn r33_no_attempt_is_sent_with_directives_after_three_target_durations() {
    for answer in [status(500), reject(), status(404).after(6_000.0), silent(9.0)] {
        for seed in 0..20 {
            let mut world = World::seeded(seed);
            world.playback(None, Some(TARGET));
            world.outage(0, 0.0, 60_000.0, answer.clone());
            let id = world.start(reload().directives());
            world.drive_until_idle();
            let plain = plain_at(&world, id);
            let late = world.sent_at(id).into_iter().find(|at| *at > 3.0 * TARGET);
            if let Some(late) = late {
                assert!(plain.is_some_and(|at| at <= late), "{answer:?}: {plain:?} and {late}");
            }
            assert!(plain.is_none_or(|at| at > 3.0 * TARGET), "{answer:?}: {plain:?} is early");
        }
    }
}

#[test]
fn r33_directives_that_waited_too_long_for_their_turn_are_given_up_too() {
    let mut world = live();
    for _ in 0..6 {
        world.start(ask(Site::Segment).always(reject()));
    }
    world.outage(0, 0.0, 20_000.0, reject());
    world.drive_until(10_000.0);
    let id = world.start(reload().directives());
    world.drive_until(MINUTE);
    let sent = world.sent_at(id);
    let plain = plain_at(&world, id);
    let late = sent.iter().find(|at| **at > 10_000.0 + 3.0 * TARGET);
    assert!(late.is_none_or(|late| plain.is_some_and(|at| at <= *late)), "{sent:?}, {plain:?}");
}

#[test]
fn r34_the_exhaustion_of_a_reload_is_minor_while_there_is_media_in_the_buffer() {
    let told = |buffer: Option<f64>| {
        let mut world = live();
        world.playback(buffer, Some(TARGET));
        let id = world.start(reload().always(status(500)));
        world.drive_until(20_000.0);
        world.exhaustions(id)[0].1.minor
    };
    assert!(told(Some(30_000.0)));
    assert!(told(None), "nobody says that there is none");
    assert!(!told(Some(0.0)));
    assert!(!told(Some(500.0)), "it has run dry meanwhile");
    let mut world = live();
    world.playback(Some(30_000.0), Some(TARGET));
    let id = world.start(ask(Site::Segment).always(status(500)));
    world.drive_until(30_000.0);
    assert!(!world.exhaustions(id)[0].1.minor, "a segment is not a reload");
}

#[test]
fn r35_ten_minutes_without_a_server_are_one_exhaustion_and_then_success() {
    for answer in [reject(), status(503), status(500), hang()] {
        for target in [4_000.0, 6_000.0] {
            let hold_limit = Millis::new(15.0 * MINUTE);
            let config = Config { hold_limit, log_capacity: 100_000, ..Config::default() };
            let mut world = World::with(config);
            world.live = true;
            world.playback(None, Some(target));
            world.outage(0, 0.0, 10.0 * MINUTE, answer.clone());
            let id = world.start(reload());
            world.drive_until_idle();
            let at = world.finished_at(id);
            assert!(at < 10.0 * MINUTE + 40_000.0, "{answer:?}: {at}");
            let told: Vec<Failure> = world.exhaustions(id).into_iter().map(|told| told.1).collect();
            assert_eq!(told.len(), 1, "{answer:?}");
            assert!(told[0].holding);
        }
    }
}

#[test]
fn r35_ten_minutes_with_the_usual_limit_are_two_requests_and_an_exhaustion_each() {
    let mut world = live();
    world.outage(0, 0.0, 10.0 * MINUTE, reject());
    let mut ids = Vec::new();
    loop {
        let from = world.actions.len();
        let id = world.start(reload());
        ids.push(id);
        while !is_over(&world, id, from) {
            world.drive_until(world.now + 100.0);
        }
        if matches!(world.verdict(id), Some((_, Verdict::Finished))) {
            break;
        }
    }
    assert!(ids.len() <= 4, "{}", ids.len());
    for id in &ids[..ids.len() - 1] {
        assert_eq!(world.exhaustions(*id).len(), 1);
        let (_, failure) = world.failure(*id);
        assert!(matches!(failure.reason, Reason::HoldLimit | Reason::Budget), "{failure:?}");
    }
    assert!(world.now < 10.0 * MINUTE + 10_000.0);
}

#[test]
fn r31_what_the_budget_does_not_cover_is_read_once_a_target_duration_at_most() {
    let mut world = live();
    // Failures that say nothing of the host, so that it is the budget that says no.
    for _ in 0..40 {
        world.start(ask(Site::Segment).host(1).always(status(425)));
        world.start(ask(Site::Segment).host(2).always(status(425)));
    }
    world.drive_until(20_000.0);
    let id = world.start(reload().always(status(425)));
    world.drive_until(20_100.0);
    let state = world.engine.retry_states().find(|state| state.request.0 == id);
    assert_eq!(state.and_then(|state| state.wait), Some(WaitReason::Budget));
    world.drive_until(4.0 * MINUTE);
    let sent = world.sent_at(id);
    assert!(sent.len() > 30, "{}", sent.len());
    for pair in sent.windows(2) {
        assert!(pair[1] - pair[0] >= TARGET, "{sent:?}");
    }
    assert!(world.events(id).contains(&LogEvent::Exhausted));
}

fn trouble() -> impl Strategy<Value = Answer> {
    prop_oneof![
        Just(status(500)),
        Just(status(503)),
        Just(status(503).retry_after(7_000.0)),
        Just(status(429)),
        Just(status(425)),
        Just(status(404)),
        Just(reject()),
        Just(hang()),
        Just(silent(9.0)),
        Just(truncated(9.0)),
        Just(page()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn r31_whatever_goes_wrong_and_when_the_bounds_hold(
        seed in any::<u64>(),
        outages in vec((0.0..60_000.0, 0.0..40_000.0, trouble()), 0..6),
        freeze in (0.0..300_000.0, 0.0..60_000.0),
    ) {
        let mut world = World::seeded(seed);
        world.live = true;
        world.playback(None, Some(TARGET));
        let mut at = 0.0;
        for (pause, span, answer) in outages {
            world.outage(0, at + pause, at + pause + span, answer);
            at += pause + span;
        }
        let freezes = [(freeze.0, freeze.0 + freeze.1)];
        let player = Player::watch(&mut world, &freezes, 5.0 * MINUTE);
        check_density(&world, &player);
        let ids: Vec<u32> = player.loads.iter().map(|load| load.id).collect();
        prop_assert_eq!(most_at_once(&world, &ids), 1);
    }
}
