//! Credentials that expire: asked for once, waited for by all, sent again at once, and never in a
//! loop.

use holdfast::core::{
    Action, Alternatives, Answer as Opinion, Config, Expiry, FailureClass, Health, Hooks, Matter,
    Millis, Reason, Recovery, RequestId, Rule, Site, WaitReason,
};

use crate::common::{Ask, World, ask, hang, ok, reject, status};

const NEVER_ANSWERED: [(f64, bool); 0] = [];

/// A world whose hook answers so after so long, the last answer for ever.
fn world(refreshes: impl Into<Vec<(f64, bool)>>) -> World {
    let mut world = World::new();
    world.refreshes = refreshes.into();
    world
}

/// A segment with credential 1 that is refused once.
fn refused_once() -> Ask {
    ask(Site::Segment).credential(1).answers([status(403), ok(9_000.0)])
}

fn expires_at(world: &mut World, credential: u32, at: f64) {
    let now = Millis::new(world.now);
    world.engine.handle_expiry(credential, Some(Millis::new(at)), now);
}

fn cut_count(world: &World, id: u32) -> usize {
    let of = |action: &&(f64, Action)| matches!(action.1, Action::Cut { request, .. } if request.0 == id);
    world.actions.iter().filter(of).count()
}

#[test]
fn r51_twenty_refusals_at_once_are_one_question_and_forty_attempts() {
    let mut world = world([(300.0, true)]);
    let all: Vec<_> = (0..20).map(|_| world.start(refused_once())).collect();
    world.drive_until_idle();
    assert_eq!(world.refresh_asked, [(20.0, 1)]);
    assert_eq!(world.sent.len(), 40);
    for id in all {
        assert_eq!(world.sent_at(id), [0.0, 320.0], "no back-off");
        assert_eq!(world.finished_at(id), 390.0);
        assert_eq!(cut_count(&world, id), 1, "the refusal's response is let go");
    }
}

#[test]
fn r51_a_refusal_of_the_replaced_credential_is_sent_again_without_another_question() {
    let mut world = world([(100.0, true)]);
    let first = world.start(refused_once());
    let straggler = ask(Site::Segment).credential(1);
    let late = world.start(straggler.answers([status(403).after(200.0), ok(9.0)]));
    world.drive_until_idle();
    assert_eq!(world.refresh_asked, [(20.0, 1)]);
    assert_eq!(world.sent_at(first), [0.0, 120.0]);
    assert_eq!(world.sent_at(late), [0.0, 200.0], "the fresh one, at once");
    world.finished_at(late);
}

#[test]
fn r52_what_is_refused_with_the_fresh_credential_is_final() {
    let mut world = world([(100.0, true)]);
    let id = world.start(ask(Site::Segment).credential(1).always(status(403)));
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    assert_eq!((at, failure.reason, failure.status), (140.0, Reason::Terminal, 403));
    assert_eq!((world.refresh_asked.len(), world.sent.len()), (1, 2));
}

#[test]
fn r52_stragglers_that_are_always_refused_lead_to_no_chain_of_questions() {
    let mut world = world([(100.0, true)]);
    let mut all = Vec::new();
    for n in 0..20 {
        let refusal = status(403).after(20.0 + 900.0 * f64::from(n));
        let ask = ask(Site::Manifest).blocking().credential(1).answers([refusal, status(403)]);
        all.push(world.start(ask));
    }
    world.drive_until_idle();
    assert_eq!(world.refresh_asked.len(), 1);
    for id in all {
        assert_eq!(world.sent_at(id).len(), 2);
    }
}

#[test]
fn r52_two_refreshes_are_five_seconds_apart_at_least() {
    let mut world = world([(0.0, true)]);
    let refused = || ask(Site::Segment).credential(1).always(status(403));
    world.start(refused());
    world.every(500.0, 20_000.0, &refused());
    world.drive_until_idle();
    let gaps = world.refresh_asked.windows(2).map(|pair| pair[1].0 - pair[0].0);
    assert!(world.refresh_asked.len() > 2, "not for good");
    assert!(gaps.into_iter().all(|gap| gap >= 5_000.0), "{:?}", world.refresh_asked);
}

#[test]
fn r53_a_failed_refresh_is_final_for_all_that_waited_and_keeps_the_status() {
    let mut world = world([(300.0, false)]);
    let all: Vec<_> = (0..3).map(|_| world.start(refused_once())).collect();
    world.drive_until_idle();
    for id in all {
        let (at, failure) = world.failure(id);
        assert_eq!((at, failure.reason), (320.0, Reason::Refresh));
        assert_eq!((failure.status, failure.class), (403, FailureClass::Denied));
        assert_eq!(failure.svta, 3403);
        assert_eq!(world.exhaustions(id).len(), 1);
        assert_eq!(cut_count(&world, id), 0, "the refusal is left to the caller");
    }
}

#[test]
fn r53_a_hook_that_does_not_answer_within_ten_seconds_has_failed() {
    let mut world = world([(10_001.0, true)]);
    let id = world.start(refused_once());
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    assert_eq!((at, failure.reason), (10_020.0, Reason::Refresh));
}

#[test]
fn r53_an_answer_that_comes_too_late_changes_nothing() {
    let mut world = world([(10_500.0, true), (50.0, true)]);
    world.start(refused_once());
    world.drive_until(10_100.0);
    let waits = world.start(refused_once());
    world.drive_until(10_600.0);
    assert_eq!(world.failure(waits).1.reason, Reason::Refresh, "remembered as failed");
    let before = world.actions.len();
    world.drive_until(15_100.0);
    assert_eq!(world.actions.len(), before);
    let id = world.start(refused_once());
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [15_100.0, 15_170.0], "asked anew");
}

#[test]
fn r53_a_failed_refresh_is_not_tried_again_for_five_seconds() {
    let mut world = world([(0.0, false)]);
    world.start(refused_once());
    world.drive_until(5_015.0 - 25.0);
    let soon = world.start(refused_once());
    world.drive_until(5_030.0);
    assert_eq!(world.failure(soon).1.reason, Reason::Refresh);
    world.start(refused_once());
    world.drive_until_idle();
    assert_eq!(world.refresh_asked, [(20.0, 1), (5_050.0, 1)]);
}

#[test]
fn r54_a_refresh_leaves_the_attempts_of_the_ladder_alone() {
    let policy = Site::Segment.defaults();
    let mut world = world([(100.0, true)]);
    let ask = ask(Site::Segment).credential(1).alternatives(Alternatives::Some);
    let id = world.start(ask.answers([status(500), status(403), status(500)]));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.attempts), (Reason::Attempts, policy.attempts + 1));
    let sent = world.sent_at(id);
    assert_eq!(sent[2] - sent[1], 120.0, "no back-off after the refresh");
}

#[test]
fn r54_what_is_refreshed_before_a_repetition_does_not_gain_an_attempt() {
    let policy = Site::Segment.defaults();
    let mut world = world([(100.0, true)]);
    expires_at(&mut world, 1, 25.0);
    let ask = ask(Site::Segment).credential(1).alternatives(Alternatives::Some);
    let id = world.start(ask.always(status(500)));
    world.drive_until_idle();
    assert_eq!(world.refresh_asked.len(), 1);
    assert_eq!(world.failure(id).1.attempts, policy.attempts);
}

#[test]
fn r54_a_refresh_costs_the_budget_nothing() {
    let mut config = Config { seed: 1, ..Config::default() };
    config.budget.host = 0.0;
    let mut world = World::with(config);
    world.refreshes = vec![(100.0, true)];
    let id = world.start(refused_once());
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [0.0, 120.0]);
    world.finished_at(id);
}

#[test]
fn r54_a_wait_that_the_server_asked_for_is_kept_even_with_a_fresh_credential() {
    let mut world = world([(100.0, true)]);
    let asked = status(403).retry_after(2_000.0);
    let id = world.start(ask(Site::Segment).credential(1).answers([asked, ok(9.0)]));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [0.0, 2_020.0]);
}

#[test]
fn r51_the_wait_shows_its_reason_and_has_no_time() {
    let mut world = world([(300.0, true)]);
    world.start(refused_once());
    world.drive_until(100.0);
    let state = world.engine.retry_states().next().expect("it waits");
    assert_eq!((state.wait, state.next_at), (Some(WaitReason::TokenRefresh), None));
    assert_eq!(state.status, 403);
}

#[test]
fn r10_an_abort_of_one_that_waits_leaves_the_others_their_answer() {
    let mut world = world([(300.0, true)]);
    let asker = world.start(refused_once());
    let other = world.start(refused_once());
    world.drive_until(100.0);
    world.abort(asker);
    world.drive_until_idle();
    assert_eq!(world.sent_at(asker), [0.0]);
    assert_eq!(world.finished_at(other), 390.0);
    assert_eq!(world.refresh_asked.len(), 1);
}

#[test]
fn r10_the_abort_of_the_last_that_waits_leaves_no_timer_and_the_question_open() {
    let mut world = world([(5_000.0, true)]);
    let id = world.start(refused_once());
    world.drive_until(100.0);
    world.abort(id);
    assert_eq!(world.engine.next_timeout(), None);
    let next = world.start(refused_once());
    world.drive_until_idle();
    assert_eq!(world.refresh_asked.len(), 1, "joined");
    assert_eq!(world.sent_at(next), [100.0, 5_020.0]);
}

#[test]
fn r53_a_question_that_nobody_waited_for_is_over_after_its_time_too() {
    let mut world = world(NEVER_ANSWERED);
    let id = world.start(refused_once());
    world.drive_until(100.0);
    world.abort(id);
    world.drive_until(60_000.0);
    world.refreshes = vec![(50.0, true)];
    let next = world.start(refused_once());
    world.drive_until_idle();
    assert_eq!(world.refresh_asked, [(20.0, 1), (60_020.0, 1)]);
    assert_eq!(world.sent_at(next), [60_000.0, 60_070.0]);
}

#[test]
fn r51_five_hundred_wait_for_one_refresh_and_no_more() {
    let mut world = world([(300.0, true)]);
    // More than a lane would hold at once.
    let all: Vec<_> = (0..513).map(|n| world.start(refused_once().host(n % 6))).collect();
    world.drive_until_idle();
    let failed: Vec<_> = all.iter().filter(|id| world.sent_at(**id).len() == 1).collect();
    assert_eq!(failed, [&all[512]]);
    let (at, failure) = world.failure(all[512]);
    assert_eq!((at, failure.reason, failure.status), (20.0, Reason::Refresh, 403));
}

#[test]
fn r55_what_has_expired_is_refreshed_before_anything_is_sent() {
    let mut world = world([(100.0, true)]);
    world.drive_until(1_000.0);
    expires_at(&mut world, 1, 900.0);
    let id = world.start(ask(Site::Segment).credential(1));
    let other = world.start(ask(Site::Segment).credential(1));
    assert_eq!(world.refresh_asked, [(1_000.0, 1)]);
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [1_100.0]);
    assert_eq!(world.sent_at(other), [1_100.0]);
    world.finished_at(id);
    assert_eq!(world.refresh_asked.len(), 1);
}

#[test]
fn r55_where_the_refresh_before_sending_fails_the_old_one_may_still_do() {
    let mut world = world([(100.0, false)]);
    world.drive_until(1_000.0);
    expires_at(&mut world, 1, 900.0);
    let good = world.start(ask(Site::Segment).credential(1));
    let bad = world.start(ask(Site::Segment).credential(1).always(status(403)));
    world.drive_until_idle();
    assert_eq!(world.sent_at(good), [1_100.0]);
    world.finished_at(good);
    let (at, failure) = world.failure(bad);
    assert_eq!((at, failure.reason, failure.status), (1_120.0, Reason::Refresh, 403));
    assert_eq!(world.refresh_asked.len(), 1);
}

#[test]
fn r55_a_credential_in_use_is_refreshed_ahead_of_time_and_nobody_waits() {
    let mut world = world([(200.0, true)]);
    expires_at(&mut world, 1, 100_000.0);
    world.every(4_000.0, 120_000.0, &ask(Site::Segment).credential(1));
    world.drive_until_idle();
    let [(at, 1)] = world.refresh_asked[..] else { panic!("{:?}", world.refresh_asked) };
    assert!((89_000.0..=91_000.0).contains(&at), "{at}");
    let sent: Vec<_> = world.sent.iter().map(|sent| sent.at).collect();
    assert!(sent.iter().all(|at| at % 4_000.0 == 0.0), "nothing was put off");
}

#[test]
fn r55_a_credential_that_is_not_used_is_not_refreshed_ahead_of_time() {
    let mut world = world([(200.0, true)]);
    expires_at(&mut world, 1, 100_000.0);
    world.every(4_000.0, 20_000.0, &ask(Site::Segment).credential(1));
    expires_at(&mut world, 2, 30_000.0);
    world.drive_until_idle();
    assert!(world.now >= 89_000.0, "the time came");
    assert_eq!(world.refresh_asked, []);
}

#[test]
fn r55_a_clock_that_is_ahead_leads_to_one_question_and_not_to_one_a_request() {
    let mut world = world([(100.0, true)]);
    world.drive_until(3_600_000.0);
    expires_at(&mut world, 1, 600_000.0);
    let fresh = ask(Site::Segment).credential(1);
    world.at(3_600_200.0, |world| expires_at(world, 1, 1_200_000.0));
    world.start(fresh.clone());
    world.every(4_000.0, 3_700_000.0, &fresh);
    world.drive_until_idle();
    assert_eq!(world.refresh_asked.len(), 1);
}

#[test]
fn r55_without_a_network_nothing_is_refreshed_ahead_of_time() {
    let mut world = world([(200.0, true)]);
    expires_at(&mut world, 1, 60_000.0);
    world.every(4_000.0, 48_000.0, &ask(Site::Segment).credential(1));
    world.at(49_000.0, |world| world.online(false));
    world.at(70_000.0, |world| world.online(true));
    world.drive_until_idle();
    assert_eq!(world.refresh_asked, []);
    let id = world.start(ask(Site::Segment).credential(1));
    world.drive_until_idle();
    assert_eq!(world.refresh_asked.len(), 1, "before it is sent");
    world.finished_at(id);
}

#[test]
fn r51_a_fresh_credential_that_comes_without_a_network_is_used_once_it_is_back() {
    let mut world = world([(300.0, true)]);
    let id = world.start(refused_once());
    world.at(100.0, |world| world.online(false));
    world.at(20_000.0, |world| world.online(true));
    world.drive_until(10_000.0);
    assert_eq!(world.sent_at(id), [0.0], "P4: nothing is sent");
    assert_eq!(
        world.engine.retry_states().next().and_then(|it| it.wait),
        Some(WaitReason::Offline)
    );
    world.drive_until_idle();
    assert!((20_050.0..20_200.0).contains(&world.sent_at(id)[1]));
    world.finished_at(id);
}

#[test]
fn r53_a_refresh_that_fails_for_want_of_a_network_is_asked_for_again_once_it_is_back() {
    let mut world = world([(300.0, false), (50.0, true)]);
    let answers = [status(403), status(403), ok(9.0)];
    let refused = world.start(ask(Site::Segment).credential(1).answers(answers));
    world.at(100.0, |world| world.online(false));
    world.at(2_000.0, |world| world.online(true));
    world.drive_until_idle();
    world.finished_at(refused);
    assert_eq!(world.refresh_asked.len(), 2);
    assert_eq!(world.sent_at(refused).len(), 3);
}

#[test]
fn r88_the_time_asleep_does_not_count_for_the_hook() {
    let mut world = world([(2_000.0, true)]);
    let id = world.start(refused_once());
    world.drive_until(1_000.0);
    world.freeze_until(3_600_000.0);
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn r50_without_the_hook_a_refusal_is_final_at_once() {
    let mut world = world([(0.0, true)]);
    let mut bare = ask(Site::Segment).always(status(403).expiry(Expiry::Expired));
    bare.marks.credential = 1;
    let id = world.start(bare);
    let no_credential = ask(Site::Segment).hooks(Hooks::REFRESH_TOKEN).always(status(401));
    let other = world.start(no_credential);
    world.drive_until_idle();
    for id in [id, other] {
        let (at, failure) = world.failure(id);
        assert_eq!((at, failure.reason), (20.0, Reason::Terminal));
    }
    assert_eq!(world.refresh_asked, []);
}

#[test]
fn r50_what_no_fresh_credential_would_help_is_final_at_once() {
    let refusals = [
        status(403).expiry(Expiry::Denied),
        status(500).expiry(Expiry::Denied),
        status(451),
        status(451).expiry(Expiry::Expired),
    ];
    for refusal in refusals {
        let mut world = world([(0.0, true)]);
        let id = world.start(ask(Site::Segment).credential(1).always(refusal.clone()));
        world.drive_until_idle();
        let (at, failure) = world.failure(id);
        assert_eq!((at, failure.reason), (20.0, Reason::Terminal), "{refusal:?}");
        assert_eq!((world.refresh_asked.len(), world.sent.len()), (0, 1), "{refusal:?}");
    }
}

#[test]
fn r50_a_body_that_says_expired_is_enough_whatever_the_status() {
    for refusal in [401, 403, 404, 410, 400, 500] {
        let mut world = world([(100.0, true)]);
        let refusal = status(refusal).expiry(Expiry::Expired);
        let id = world.start(ask(Site::Key).credential(1).answers([refusal, ok(16.0)]));
        world.drive_until_idle();
        assert_eq!(world.sent_at(id), [0.0, 120.0]);
        world.finished_at(id);
    }
}

#[test]
fn r50_a_410_is_refreshed_where_the_embedder_says_so() {
    let rule = Rule { site: None, matter: Matter::Status(410), action: Recovery::Refresh };
    for (recovery, asked) in [(vec![rule], 1), (Vec::new(), 0)] {
        let mut world = World::with(Config { seed: 1, recovery, ..Config::default() });
        world.refreshes = vec![(100.0, true)];
        world.start(ask(Site::Segment).credential(1).answers([status(410), ok(9.0)]));
        world.drive_until_idle();
        assert_eq!((world.refresh_asked.len(), world.sent.len()), (asked, 1 + asked));
    }
}

#[test]
fn r50_failures_that_say_nothing_of_the_credential_ask_for_nothing() {
    for failure in [status(404), status(429), status(503), reject(), hang()] {
        let mut world = world([(0.0, true)]);
        let id = world.start(ask(Site::Segment).credential(1).answers([failure, ok(9.0)]));
        world.drive_until_idle();
        world.finished_at(id);
        assert_eq!(world.refresh_asked, []);
    }
}

#[test]
fn r50_a_403_at_the_live_edge_is_refreshed_first_and_then_perhaps_not_there_yet() {
    let mut world = world([(100.0, true)]);
    world.live = true;
    world.playback(Some(20_000.0), Some(4_000.0));
    let answers = [status(403), status(403), ok(9.0)];
    let id = world.start(ask(Site::Segment).credential(1).answers(answers));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    assert_eq!(sent[1], 120.0);
    assert!(sent[2] - sent[1] >= 2_000.0, "half a target duration: {sent:?}");
    assert_eq!(world.refresh_asked.len(), 1);
}

#[test]
fn r77_what_must_not_be_sent_twice_is_not_sent_again_with_a_fresh_credential() {
    let mut world = world([(100.0, true)]);
    let id = world.start(refused_once().once_only());
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.reason, Reason::NotIdempotent);
    assert_eq!((world.refresh_asked.len(), world.sent.len()), (0, 1));
}

#[test]
fn r51_credentials_do_not_affect_each_other() {
    let mut world = world([(300.0, false), (100.0, true)]);
    let bad = world.start(refused_once());
    let good = world.start(refused_once().credential(2));
    world.drive_until_idle();
    assert_eq!(world.refresh_asked, [(20.0, 1), (20.0, 2)]);
    assert_eq!(world.failure(bad).1.reason, Reason::Refresh);
    assert_eq!(world.sent_at(good), [0.0, 120.0]);
}

#[test]
fn r51_one_that_waits_may_turn_out_to_carry_another_credential() {
    let mut world = world([(300.0, true), (100.0, true)]);
    let id = world.start(refused_once());
    world.drive_until(50.0);
    world.engine.handle_reassigned(RequestId(id), 2, Millis::new(50.0));
    world.retry_now();
    assert_eq!(world.refresh_asked, [(20.0, 1), (50.0, 2)]);
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [0.0, 150.0]);
}

#[test]
fn r39_refusals_for_a_credential_leave_the_breaker_closed() {
    let mut world = world([(10.0, false)]);
    for _ in 0..20 {
        world.start(refused_once());
    }
    world.drive_until_idle();
    assert_eq!(world.host(0).health.health, Health::Closed);
}

/// Opens the breaker of host 0, which has answered before.
fn break_host(world: &mut World) {
    for _ in 0..10 {
        let ask = ask(Site::Segment).alternatives(Alternatives::Some);
        world.start(ask.always(status(500)));
    }
    world.drive_until(world.now + 50.0);
    assert_ne!(world.host(0).health.health, Health::Closed);
}

#[test]
fn r51_where_the_breaker_opens_meanwhile_every_one_that_waited_gets_its_verdict() {
    let mut world = world([(1_000.0, true)]);
    let refused = || refused_once().alternatives(Alternatives::Some);
    let all: Vec<_> = (0..5).map(|_| world.start(refused())).collect();
    world.drive_until(100.0);
    break_host(&mut world);
    world.drive_until_idle();
    for id in all {
        let (at, failure) = world.failure(id);
        assert_eq!((at, failure.reason), (1_020.0, Reason::Breaker));
    }
}

#[test]
fn r51_where_there_is_nowhere_else_they_wait_for_the_breaker() {
    let mut world = world([(1_000.0, true)]);
    let refused = || refused_once().alternatives(Alternatives::None);
    let all: Vec<_> = (0..3).map(|_| world.start(refused())).collect();
    world.drive_until(100.0);
    break_host(&mut world);
    world.drive_until(1_100.0);
    let waits: Vec<_> = world
        .engine
        .retry_states()
        .filter(|state| all.contains(&state.request.0))
        .map(|state| state.wait)
        .collect();
    assert_eq!(waits, [Some(WaitReason::Breaker); 3]);
    world.drive_until_idle();
    for id in all {
        world.finished_at(id);
        assert_eq!(world.sent_at(id).len(), 2);
    }
}

#[test]
fn r47_a_fresh_credential_does_not_jump_the_queue_of_a_rate_limit() {
    let mut world = world([(1_000.0, true)]);
    let id = world.start(refused_once());
    world.drive_until(100.0);
    let limited = status(429).retry_after(5_000.0);
    world.start(ask(Site::Segment).answers([limited, ok(9.0)]));
    world.drive_until_idle();
    assert!(world.sent_at(id)[1] >= 5_120.0, "{:?}", world.sent_at(id));
    world.finished_at(id);
}

#[test]
fn r32_a_newer_reload_leaves_one_that_waits_for_a_credential_to_its_answer() {
    let mut world = world([(8_000.0, true)]);
    world.playback(Some(20_000.0), Some(2_000.0));
    let reload = ask(Site::PlaylistReload).url(7).credential(1);
    let old = world.start(reload.answers([status(403), ok(9.0)]));
    world.at(1_000.0, move |world| {
        world.start(ask(Site::PlaylistReload).url(7).always(ok(9.0)));
    });
    world.drive_until_idle();
    assert_eq!(world.sent_at(old), [0.0, 8_020.0]);
}

#[test]
fn r58_a_refusal_that_is_refreshed_is_no_matter_for_should_retry() {
    let mut world = world([(100.0, true)]);
    world.opinions = vec![(10.0, Opinion::No)];
    let id = world.start(refused_once().hooks(Hooks::SHOULD_RETRY));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [0.0, 120.0]);
    assert_eq!(world.asked, []);
}

#[test]
fn r7_the_naive_preset_refreshes_nothing() {
    let mut world = World::with(Config { naive: true, ..Config::default() });
    world.refreshes = vec![(0.0, true)];
    let id = world.start(refused_once());
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.reason, Reason::Terminal);
    assert_eq!(world.refresh_asked, []);
}

/// The clock has not rung yet when another request learns that the hook's time is over.
fn overdue_beside(asks: impl FnOnce(&mut World) -> u32) -> (World, u32, u32) {
    let mut world = world(NEVER_ANSWERED);
    let waits = world.start(refused_once());
    world.drive_until(21.0);
    let other = asks(&mut world);
    world.now = 10_021.0;
    (world, waits, other)
}

#[test]
fn r53_a_refusal_that_finds_the_hook_overdue_ends_those_that_waited_and_itself() {
    let (mut world, waits, other) =
        overdue_beside(|world| world.start(ask(Site::Segment).credential(1).always(hang())));
    let facts = holdfast::core::ResponseFacts::of(403);
    world.engine.handle_response(RequestId(other), 1, facts, Millis::new(world.now));
    world.online(true);
    for id in [waits, other] {
        assert_eq!(world.failure(id).1.reason, Reason::Refresh);
    }
}

#[test]
fn r53_what_turns_out_to_carry_a_credential_whose_hook_is_overdue_fails_with_it() {
    let (mut world, waits, other) = overdue_beside(|world| {
        let id = world.start(ask(Site::Segment).credential(2).always(status(403)));
        world.drive_until(50.0);
        id
    });
    world.engine.handle_reassigned(RequestId(other), 1, Millis::new(world.now));
    world.drive_until_idle();
    assert_eq!(world.failure(waits).1.reason, Reason::Refresh);
    assert!(world.verdict(other).is_some());
}
