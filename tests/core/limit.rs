//! Rate limits: who waits, for how long, who goes first, and what it costs the server.

use holdfast::core::{
    Alternatives, Config, FailureClass, Health, Limited, LogEvent, Millis, Reason, RequestId,
    Scope, Site, WaitReason,
};

use crate::common::{Answer, Ask, World, ask, hang, ok, reject, status};

/// A refusal that the detector recognized.
fn limited(scope: Scope, wait: f64) -> Answer {
    status(429).limited(Limited { scope, wait: Some(Millis::new(wait)) })
}

fn waits(world: &World) -> Vec<(u32, Option<WaitReason>)> {
    world.engine.retry_states().map(|state| (state.request.0, state.wait)).collect()
}

/// A world where a request to host 0 was refused for so long, at 20 ms.
fn limited_world(scope: Scope, wait: f64) -> (World, u32) {
    let mut world = World::new();
    let told = ask(Site::Segment).prefix(1).answers([limited(scope, wait), ok(9.0)]);
    let id = world.start(told);
    world.drive_until(100.0);
    (world, id)
}

#[test]
fn r46_a_limit_of_the_host_queues_what_goes_there_and_nothing_else() {
    let (mut world, _) = limited_world(Scope::Host, 5_000.0);
    let here = world.start(ask(Site::Segment));
    let elsewhere = world.start(ask(Site::Segment).host(1));
    assert_eq!(world.sent_at(elsewhere), [100.0]);
    world.drive_until_idle();
    assert!(world.sent_at(here)[0] >= 5_020.0);
}

#[test]
fn r46_a_limit_of_a_prefix_queues_what_has_that_prefix_and_nothing_else() {
    let (mut world, _) = limited_world(Scope::Prefix, 5_000.0);
    let same = world.start(ask(Site::Segment).prefix(1).host(1));
    let other = world.start(ask(Site::Segment).prefix(2));
    let none = world.start(ask(Site::Segment));
    assert_eq!((world.sent_at(other), world.sent_at(none)), (vec![100.0], vec![100.0]));
    world.drive_until_idle();
    assert!(world.sent_at(same)[0] >= 5_020.0);
}

/// The detector names a prefix when the refusal is there, and the request was sent without one.
#[test]
fn r46_a_prefix_that_becomes_known_with_the_refusal_is_the_requests_own() {
    let mut world = World::new();
    let told = ask(Site::Segment).answers([limited(Scope::Prefix, 5_000.0), ok(9.0)]);
    let id = world.start(told);
    world.at(10.0, move |world| world.engine.handle_prefix(RequestId(id), 1));
    world.drive_until(100.0);
    let same = world.start(ask(Site::Segment).prefix(1));
    let none = world.start(ask(Site::Segment));
    assert_eq!(world.sent_at(none), [100.0]);
    world.drive_until_idle();
    assert!(world.sent_at(id)[1] >= 5_020.0);
    assert!(world.sent_at(same)[0] >= 5_020.0);
}

#[test]
fn r46_a_limit_of_the_session_queues_everything_but_what_is_no_media() {
    let (mut world, _) = limited_world(Scope::Session, 5_000.0);
    let elsewhere = world.start(ask(Site::Manifest).host(1));
    let beacon = world.start(ask(Site::Other).host(1));
    assert_eq!(world.sent_at(beacon), [100.0]);
    world.drive_until_idle();
    assert!(world.sent_at(elsewhere)[0] >= 5_020.0);
}

#[test]
fn r44_what_the_detector_says_counts_whatever_the_status() {
    for refusal in [400, 403, 404, 500, 503] {
        let mut world = World::new();
        world.refreshes = vec![(0.0, true)];
        let asked = Limited { scope: Scope::Host, wait: Some(Millis::new(3_000.0)) };
        let answers = [status(refusal).limited(asked), ok(9.0)];
        let id = world.start(ask(Site::Key).credential(1).answers(answers));
        world.drive_until(100.0);
        let state = world.engine.retry_states().next().expect("it waits");
        assert_eq!(state.class, Some(FailureClass::RateLimited));
        assert_eq!((state.status, state.wait), (refusal, Some(WaitReason::Vrlt)));
        world.drive_until_idle();
        assert!((3_020.0..=3_621.0).contains(&world.sent_at(id)[1]), "{refusal}");
        assert_eq!(world.refresh_asked, [], "not for its credential");
    }
}

#[test]
fn r44_the_law_is_no_rate_limit() {
    let mut world = World::new();
    let asked = Limited { scope: Scope::Host, wait: None };
    let id = world.start(ask(Site::Segment).always(status(451).limited(asked)));
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.reason, Reason::Terminal);
}

#[test]
fn r46_without_a_detector_429_and_503_with_a_time_are_limits_of_the_host() {
    for refusal in [status(429), status(429).retry_after(900.0), status(503).retry_after(900.0)] {
        let mut world = World::new();
        world.start(ask(Site::Segment).answers([refusal, ok(9.0)]));
        world.drive_until(100.0);
        assert!(world.host(0).throttle.is_some());
        assert!(world.engine.session_throttle(Millis::new(100.0)).is_none());
    }
    let mut world = World::new();
    world.start(ask(Site::Segment).answers([status(503), ok(9.0)]));
    world.drive_until(100.0);
    assert_eq!(world.host(0).throttle, None, "a 503 without a time is a server that fails");
}

/// The answer may be one that a server that sheds load had begun, and asking would be too early.
#[test]
fn r26_a_success_of_what_was_under_way_shortens_no_wait_that_a_503_named() {
    let mut world = World::new();
    let other = world.start(ask(Site::Segment).answers([ok(9.0).after(500.0)]));
    let told =
        world.start(ask(Site::Segment).answers([status(503).retry_after(120_000.0), ok(9.0)]));
    world.drive_until(1_000.0);
    world.finished_at(other);
    let next = world.start(ask(Site::Segment).always(ok(9.0)));
    world.drive_until_idle();
    for id in [told, next] {
        let sent = world.sent_at(id).last().copied();
        assert!(sent.is_some_and(|at| at >= 120_000.0), "{sent:?}");
    }
}

#[test]
fn r47_the_one_that_was_told_shows_so_and_the_others_show_the_queue() {
    let mut world = World::new();
    let told = ask(Site::Segment).answers([status(429).retry_after(5_000.0), ok(9.0)]);
    let told = world.start(told);
    world.drive_until(100.0);
    let queued = world.start(ask(Site::Segment));
    let expected = [(told, Some(WaitReason::RetryAfter)), (queued, Some(WaitReason::Vrlt))];
    assert_eq!(waits(&world), expected);
    let (now, throttle) = (world.now, world.host(0).throttle.expect("a limit"));
    for state in world.engine.retry_states() {
        let at = state.next_at.expect("a time").get();
        assert!(at >= 5_020.0 && at >= throttle.blocked_until.get() && at > now);
    }
}

#[test]
fn r47_a_wait_is_never_undercut_and_up_to_a_fifth_longer() {
    let mut all = Vec::new();
    for seed in 0..200 {
        let mut world = World::seeded(seed);
        let id = world.start(ask(Site::Segment).answers([limited(Scope::Host, 5_000.0), ok(9.0)]));
        world.drive_until_idle();
        all.push(world.sent_at(id)[1] - 20.0);
    }
    assert!(all.iter().all(|wait| (5_000.0..=6_000.0).contains(wait)), "{all:?}");
    let spread = all.iter().copied().fold(0.0, f64::max) - all.iter().copied().fold(1e9, f64::min);
    assert!(spread > 900.0, "{spread}");
}

#[test]
fn r47_no_wait_is_longer_than_six_minutes() {
    let (world, _) = limited_world(Scope::Host, 3_600_000.0);
    let state = world.engine.retry_states().next().expect("it waits");
    let next_at = state.next_at.expect("a time").get();
    assert!((300_020.0..=360_020.0).contains(&next_at), "{next_at}");
}

#[test]
fn r47_waits_use_no_attempts() {
    let mut config = Config { seed: 1, ..Config::default() };
    let policy = &mut config.sites[Site::Key as usize];
    (policy.attempts, policy.deadline) = (2, Millis::new(1e9));
    let mut world = World::with(config);
    let mut answers = vec![limited(Scope::Host, 500.0); 6];
    answers.extend([status(500), ok(16.0)]);
    let id = world.start(ask(Site::Key).answers(answers));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id).len(), 8);
    assert_eq!(world.exhaustions(id), []);
}

#[test]
fn r47_waits_leave_the_breaker_closed() {
    let mut world = World::new();
    for _ in 0..20 {
        world.start(ask(Site::Segment).answers([status(429), ok(9.0)]));
    }
    world.drive_until(100.0);
    assert_eq!(world.host(0).health.health, Health::Closed);
    assert_eq!(world.host(0).health.failures, 0);
}

#[test]
fn r46_after_the_wait_one_goes_alone_and_its_success_lets_the_others_follow_at_a_pace() {
    let (mut world, told) = limited_world(Scope::Host, 5_000.0);
    let queue: Vec<_> =
        (0..12).map(|_| world.start(ask(Site::Segment).always(ok(9.0).after(1_000.0)))).collect();
    world.drive_until_idle();
    let mut sent: Vec<_> = world.sent.iter().map(|sent| sent.at).filter(|at| *at > 100.0).collect();
    sent.sort_by(f64::total_cmp);
    assert_eq!(sent.len(), 13);
    assert!(sent[0] >= 5_020.0);
    // The trial's headers take 20 ms or a second.
    assert!(sent[1] - sent[0] >= 20.0);
    let first: Vec<_> = sent[1..5].windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(first.iter().all(|gap| *gap > 900.0), "0.5/s to begin with: {first:?}");
    let last: Vec<_> = sent[9..].windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(last.iter().sum::<f64>() < first.iter().sum(), "{first:?}, and then {last:?}");
    queue.iter().chain([&told]).for_each(|id| assert!(world.finished_at(*id) > 0.0));
}

#[test]
fn r46_while_the_trial_is_on_its_way_nothing_else_is_sent() {
    let (mut world, told) = limited_world(Scope::Host, 2_000.0);
    world.abort(told);
    let slow = world.start(ask(Site::Key).always(ok(16.0).after(3_000.0)));
    for _ in 0..5 {
        world.start(ask(Site::Segment));
    }
    world.drive_until_idle();
    let trial = world.sent_at(slow)[0];
    let others = world.sent.iter().filter(|sent| sent.request > slow).map(|sent| sent.at);
    assert!(others.into_iter().all(|at| at >= trial + 3_000.0));
}

#[test]
fn r46_a_trial_that_is_refused_blocks_again_for_longer() {
    let mut world = World::new();
    let refusals = vec![limited(Scope::Host, 1_000.0); 4];
    let ask = ask(Site::Manifest).answers([refusals, vec![ok(9.0)]].concat());
    let id = world.start(ask);
    world.drive_until_idle();
    let sent = world.sent_at(id);
    let gaps: Vec<_> = sent.windows(2).map(|pair| pair[1] - pair[0] - 20.0).collect();
    assert!((1_000.0..=1_200.0).contains(&gaps[0]), "{gaps:?}");
    assert!(gaps[1] >= 2_000.0 && gaps[2] >= 4_000.0, "{gaps:?}");
}

#[test]
fn r10_an_abort_of_the_trial_gives_it_back() {
    let (mut world, told) = limited_world(Scope::Host, 2_000.0);
    world.abort(told);
    let trial = world.start(ask(Site::Key).always(hang()));
    let next = world.start(ask(Site::Segment));
    world.drive_until(3_000.0);
    assert_eq!((world.sent_at(trial).len(), world.sent_at(next).len()), (1, 0));
    world.abort(trial);
    world.drive_until_idle();
    let at = world.sent_at(next)[0];
    assert!((3_000.0..=3_150.0).contains(&at), "{at}");
}

#[test]
fn r46_keys_go_before_playlists_before_segments_before_text() {
    let order = [Site::TextSegment, Site::Segment, Site::Playlist, Site::Key];
    for seed in 0..20 {
        let mut world = World::seeded(seed);
        let told = ask(Site::Segment).always(limited(Scope::Host, 1_000.0));
        let told = world.start(told);
        world.drive_until(100.0);
        world.abort(told);
        let ids = order.map(|site| world.start(ask(site)));
        world.drive_until_idle();
        let sent: Vec<_> = world.sent[1..].iter().map(|sent| sent.request).collect();
        assert_eq!(sent, [ids[3], ids[2], ids[1], ids[0]], "seed {seed}");
    }
}

#[test]
fn r46_the_trial_that_was_given_back_goes_to_the_first_in_rank() {
    for seed in 0..20 {
        let mut world = World::seeded(seed);
        let told = world.start(ask(Site::Segment).always(limited(Scope::Host, 1_000.0)));
        world.drive_until(100.0);
        world.abort(told);
        let trial = world.start(ask(Site::Init).always(hang()));
        let last = world.start(ask(Site::Segment));
        let first = world.start(ask(Site::Key));
        world.drive_until(3_000.0);
        world.abort(trial);
        world.drive_until_idle();
        assert!(world.sent_at(first) < world.sent_at(last), "seed {seed}");
    }
}

#[test]
fn r36_what_time_has_paid_for_is_not_lost_in_the_queue_of_a_limit() {
    let mut config = Config { seed: 1, ..Config::default() };
    config.budget.host = 0.0;
    let mut world = World::with(config);
    let unpaid = ask(Site::Segment).alternatives(Alternatives::None);
    let id = world.start(unpaid.answers([status(500), ok(9.0)]));
    world.drive_until(2_000.0);
    let told = [status(429).retry_after(6_000.0), ok(9.0)];
    world.start(ask(Site::Manifest).answers(told));
    world.drive_until_idle();
    let waits: Vec<_> =
        world.entries(id).into_iter().filter(|it| it.event == LogEvent::Waiting).collect();
    let budget = waits.iter().filter(|it| it.detail == WaitReason::Budget as u32).count();
    assert_eq!(budget, 1, "{}", world.story(id));
}

#[test]
fn r47_where_the_deadline_comes_first_the_ladder_is_spent_and_the_player_may_turn_elsewhere() {
    let (mut world, told) = limited_world(Scope::Host, 40_000.0);
    let (_, told) = world.exhaustions(told)[0];
    assert_eq!((told.reason, told.holding), (Reason::RateLimited, true));
    let turns = world.start(ask(Site::Segment).alternatives(Alternatives::Some));
    let (at, failure) = world.failure(turns);
    assert_eq!((at, failure.reason, failure.attempts), (100.0, Reason::RateLimited, 0));
    assert!(failure.retry_at.is_some_and(|at| at.get() >= 40_020.0));
    let stays = world.start(ask(Site::Segment).alternatives(Alternatives::None));
    world.drive_until_idle();
    let [(at, failure)] = world.exhaustions(stays)[..] else { panic!("{}", world.story(stays)) };
    assert_eq!((at, failure.reason, failure.holding), (100.0, Reason::RateLimited, true));
    assert!(world.finished_at(stays) >= 40_020.0);
}

#[test]
fn r47_a_trial_on_its_way_is_no_reason_to_give_up() {
    let mut world = World::new();
    let told = world.start(ask(Site::Key).answers([limited(Scope::Host, 3_000.0), ok(9.0)]));
    world.drive_until(100.0);
    let queued = world.start(ask(Site::Segment).alternatives(Alternatives::Some));
    world.drive_until_idle();
    assert!(world.finished_at(told) < world.finished_at(queued));
    assert_eq!(world.exhaustions(queued), []);
}

#[test]
fn r47_a_trial_is_waited_for_until_the_deadline_and_not_longer() {
    let mut world = World::new();
    let answers = [limited(Scope::Host, 3_000.0), ok(9.0).after(14_500.0)];
    world.start(ask(Site::License).answers(answers));
    world.drive_until(100.0);
    let turns = world.start(ask(Site::Segment).alternatives(Alternatives::Some));
    world.drive_until_idle();
    let (at, failure) = world.failure(turns);
    assert_eq!((at, failure.reason), (15_100.0, Reason::RateLimited));
}

#[test]
fn r47_a_queue_is_one_wait_in_the_log() {
    let (mut world, _) = limited_world(Scope::Host, 5_000.0);
    let queue: Vec<_> = (0..5).map(|_| world.start(ask(Site::Segment))).collect();
    world.drive_until_idle();
    for id in queue {
        let waits = world.events(id).iter().filter(|event| **event == LogEvent::Waiting).count();
        assert_eq!(waits, 1, "{}", world.story(id));
    }
}

#[test]
fn r10_an_abort_before_the_first_attempt_leaves_nothing() {
    let (mut world, told) = limited_world(Scope::Host, 5_000.0);
    let queued = world.start(ask(Site::Segment));
    world.drive_until(1_000.0);
    world.abort(queued);
    world.abort(told);
    assert_eq!((world.engine.next_timeout(), world.engine.request_count()), (None, 0));
    let before = world.sent.len();
    world.drive_until(60_000.0);
    assert_eq!(world.sent.len(), before);
}

#[test]
fn r59_the_callers_hurry_does_not_jump_the_queue() {
    let (mut world, _) = limited_world(Scope::Host, 5_000.0);
    world.start(ask(Site::Segment));
    world.drive_until(1_000.0);
    world.retry_now();
    world.drive_until(5_000.0);
    assert_eq!(world.sent.len(), 1);
}

/// Rejections that come at once, and a host 1 that answers.
fn opaque() -> Ask {
    ask(Site::Segment).alternatives(Alternatives::None).always(reject())
}

#[test]
fn r46_a_burst_of_instant_failures_is_a_limit_while_the_network_is_known_to_be_well() {
    let mut world = World::new();
    world.start(ask(Site::Segment));
    world.drive_until(1_000.0);
    for _ in 0..2 {
        world.start(opaque());
        world.drive_until(world.now + 60.0);
    }
    assert_eq!(world.host(0).throttle, None);
    world.start(opaque());
    world.drive_until(world.now + 60.0);
    assert!(world.host(0).throttle.is_some());
    let queued = world.start(ask(Site::Segment));
    assert_eq!(world.sent_at(queued).len(), 0);
    assert_eq!(waits(&world).last(), Some(&(queued, Some(WaitReason::Vrlt))));
}

#[test]
fn r46_no_burst_is_a_limit_where_nothing_answers() {
    let mut world = World::new();
    for _ in 0..3 {
        world.start(opaque());
    }
    world.drive_until(2_000.0);
    assert_eq!(world.host(0).throttle, None);
}

#[test]
fn r27_a_host_that_never_answered_and_fails_at_once_beside_others_is_suspect() {
    let mut world = World::new();
    world.start(ask(Site::Segment).host(1));
    world.drive_until(1_000.0);
    let id = world.start(ask(Site::Segment).always(reject()));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert!(failure.suspect_cors);
    assert_eq!((failure.attempts, failure.reason), (2, Reason::Attempts));
}

#[test]
fn r27_nothing_is_suspect_that_is_slow_or_known_or_fails_with_everything_else() {
    let suspect = |prepare: fn(&mut World), answer: Answer| {
        let mut world = World::new();
        prepare(&mut world);
        world.drive_until(1_000.0);
        let ask = ask(Site::Segment).alternatives(Alternatives::Some).always(answer);
        let id = world.start(ask);
        world.drive_until_idle();
        world.failure(id).1.suspect_cors
    };
    let other_answers = |world: &mut World| {
        world.start(ask(Site::Segment).host(1));
    };
    assert!(suspect(other_answers, reject()));
    assert!(!suspect(other_answers, reject().after(1_500.0)), "slow");
    assert!(!suspect(|_| {}, reject()), "nothing else answers");
    let both_answer = |world: &mut World| {
        world.start(ask(Site::Segment));
        world.start(ask(Site::Segment).host(1));
    };
    assert!(!suspect(both_answer, reject()), "it has answered");
}

#[test]
fn r48_the_naive_preset_takes_a_limit_for_final_and_queues_nobody() {
    let mut world = World::with(Config { naive: true, ..Config::default() });
    let id = world.start(ask(Site::Segment).always(limited(Scope::Session, 5_000.0)));
    world.drive_until(100.0);
    assert_eq!(world.failure(id).1.reason, Reason::Terminal);
    let next = world.start(ask(Site::Segment));
    assert_eq!(world.sent_at(next), [100.0]);
}

/// The pacer's turn comes before the floor under all delays is over.
#[test]
fn r13_r47_a_turn_that_comes_early_does_not_undercut_the_floor_of_50_ms() {
    for seed in 0..20 {
        let mut world = World::seeded(seed);
        let again = status(429).after(40.0);
        world.start(ask(Site::Manifest).host(2).answers([reject().after(0.0), again, ok(9.0)]));
        let busy = status(503).retry_after(0.0).after(37.0);
        world.start(ask(Site::Manifest).host(2).answers([busy, ok(9.0)]));
        world.drive_until(0.0);
        // The retry rings before what the network delivered meanwhile.
        world.freeze_until(250_000.0);
        // The contract of the world has the floor in it.
        world.drive_until_idle();
        world.finished_at(1);
        world.finished_at(2);
    }
}

#[test]
fn r46_a_host_that_was_down_and_not_too_much_asked_is_back_with_the_trial() {
    let sent_after_trial = |code: u16| {
        let mut world = World::new();
        let refused = status(code).retry_after(5_000.0);
        let first = world.start(ask(Site::Segment).answers([refused, ok(9.0)]));
        world.drive_until(100.0);
        let others: Vec<_> =
            (0..6).map(|_| world.start(ask(Site::Segment).always(ok(9.0)))).collect();
        world.drive_until_idle();
        let trial = world.sent_at(first)[1];
        let last = others.iter().map(|id| world.sent_at(*id)[0]).fold(0.0, f64::max);
        assert!(trial >= 5_000.0 && last > trial, "one goes first");
        last - trial
    };
    assert!(sent_after_trial(503) < 1_000.0, "{}", sent_after_trial(503));
    assert!(sent_after_trial(429) > 3_000.0, "{}", sent_after_trial(429));
}

#[test]
fn r46_a_refusal_of_another_kind_ends_no_ramp() {
    let mut world = World::new();
    let limited = status(429).retry_after(5_000.0);
    world.start(ask(Site::Segment).answers([limited, ok(9.0)]));
    world.drive_until(6_500.0);
    assert!(world.host(0).throttle.is_some(), "the ramp");
    world.start(ask(Site::Segment).answers([status(503), ok(9.0)]));
    world.drive_until(14_000.0);
    assert!(world.host(0).throttle.is_some(), "a server that failed once is no less limited");
}

/// What was under way already, and fails in another way, says nothing of the limit.
#[test]
fn r46_a_failure_of_another_kind_while_a_limit_blocks_ends_no_ramp() {
    for (code, after) in [(404, 0.0), (500, 0.0), (503, 5_000.0)] {
        let mut world = World::new();
        world.playback(Some(10_000.0), Some(4_000.0));
        world.start(ask(Site::Segment).always(ok(9.0)));
        world.drive_until(100.0);
        let limited = status(429).retry_after(4_000.0);
        world.start(ask(Site::Segment).answers([limited, ok(9.0)]));
        let other = status(code);
        let other = if after > 0.0 { other.retry_after(after) } else { other };
        world.start(ask(Site::Playlist).answers([other.after(500.0), ok(9.0)]));
        world.drive_until(1_000.0);
        let sent = world.sent.len();
        for _ in 0..6 {
            world.start(ask(Site::Segment).always(ok(9.0)));
        }
        world.drive_until_idle();
        let later: Vec<_> = world.sent[sent..].iter().map(|sent| sent.at).collect();
        let (first, last) = (later[0], later[later.len() - 1]);
        assert!(first >= 4_000.0 && last - first > 5_000.0, "{code}: {later:?}");
    }
}

/// Plays three requests that begin to be refused at second 1, and are until `until`, with so much
/// buffered; the host had answered before. Gives how long the first success came after the first
/// refusal, and whether the host is limited still when all are through.
fn limited_after(refusal: &Answer, until: f64, buffer: Option<f64>, seed: u64) -> (f64, bool) {
    let mut world = World::seeded(seed);
    world.outage(0, 1_000.0, until, refusal.clone());
    world.start(ask(Site::Segment));
    world.drive_until(1_000.0);
    world.playback(buffer, Some(4_000.0));
    let mut refused = Vec::new();
    for _ in 0..3 {
        refused.push(world.start(ask(Site::Segment).alternatives(Alternatives::None)));
        world.drive_until(world.now + 80.0);
    }
    assert!(world.host(0).throttle.is_some(), "it is taken for a limit");
    world.drive_until_idle();
    let ends = refused.iter().map(|id| world.finished_at(*id));
    // A body takes 50 ms, and a refusal 20.
    let outage = ends.fold(f64::INFINITY, f64::min) - 50.0 - 1_020.0;
    (outage, world.host(0).throttle.is_some())
}

const ENDS: [f64; 5] = [1_500.0, 2_500.0, 3_500.0, 4_500.0, 6_000.0];

#[test]
fn r46_an_outage_of_three_seconds_that_was_taken_for_a_limit_is_over_with_the_trial() {
    let mut seen = [0, 0];
    for seed in 0..20 {
        for until in ENDS {
            let (outage, limited) = limited_after(&reject(), until, Some(5_000.0), seed);
            // A request that began with it has waited a little longer.
            if !(2_950.0..3_000.0).contains(&outage) {
                assert_eq!(limited, outage < 3_000.0, "{outage} ms, seed {seed}");
                seen[usize::from(limited)] += 1;
            }
        }
    }
    assert!(seen.iter().all(|times| *times > 20), "{seen:?}");
}

#[test]
fn r46_the_pace_after_what_was_taken_for_a_limit_stays_where_nobody_tells_of_a_buffer() {
    for seed in 0..20 {
        for until in ENDS {
            assert!(limited_after(&reject(), until, None, seed).1, "{until}, seed {seed}");
        }
    }
}

#[test]
fn r46_the_pace_after_a_429_stays_though_catching_up_begins() {
    for seed in 0..20 {
        for (until, buffer) in [(1_500.0, Some(5_000.0)), (6_000.0, Some(5_000.0)), (6_000.0, None)]
        {
            let (_, limited) = limited_after(&status(429), until, buffer, seed);
            assert!(limited, "{until}, {buffer:?}, seed {seed}");
        }
    }
}
