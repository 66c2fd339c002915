//! `shouldRetry`: asked about every failure, and heard within the gates that protect the server.

use holdfast::core::{
    Alternatives, Answer as Opinion, Config, Exhausted, Hook, Hooks, LogEvent, Matter, Millis,
    Reason, Recovery, RequestId, Rule, Site, WaitReason,
};

use crate::common::{Answer, Ask, World, ask, hang, ok, reject, status, truncated};

/// A world whose hook answers so after 30 ms, the last answer for ever.
fn world(opinions: impl Into<Vec<Opinion>>) -> World {
    let mut world = World::new();
    world.opinions = opinions.into().into_iter().map(|opinion| (30.0, opinion)).collect();
    world
}

fn asking(site: Site, answers: impl Into<Vec<Answer>>) -> Ask {
    ask(site).hooks(Hooks::SHOULD_RETRY).answers(answers)
}

fn after(ms: f64) -> Opinion {
    Opinion::After(Millis::new(ms))
}

/// The reason of the verdict, if it is one of failure, and the attempts.
fn ended(opinion: Opinion, ask: Ask) -> (Option<Reason>, usize) {
    let mut world = world([opinion]);
    let id = world.start(ask);
    world.drive_until_idle();
    let failed = world.verdict(id).is_some_and(|(_, end)| end != crate::common::Verdict::Finished);
    (failed.then(|| world.failure(id).1.reason), world.sent_at(id).len())
}

#[test]
fn r58_every_failure_is_asked_about_the_first_one_too() {
    let failures = [
        status(500),
        status(404),
        status(429),
        status(403),
        reject(),
        hang(),
        truncated(9.0),
        status(200),
    ];
    for failure in failures {
        let mut world = world([Opinion::No]);
        let id = world.start(asking(Site::Key, [failure.clone(), ok(16.0)]));
        world.drive_until_idle();
        assert_eq!(world.asked.len(), 1, "{failure:?}");
        assert_eq!(world.asked[0].1..=world.asked[0].1, id..=id);
        assert_eq!(world.asked[0].2, Hook::ShouldRetry);
        assert_eq!(world.failure(id).1.reason, Reason::Vetoed, "{failure:?}");
    }
}

#[test]
fn r58_no_opinion_leaves_the_built_in_decision() {
    let default = Opinion::Default;
    assert_eq!(ended(default, asking(Site::Key, [status(500), ok(9.0)])), (None, 2));
    assert_eq!(ended(default, asking(Site::Key, [status(429), ok(9.0)])), (None, 2));
    let terminal = Some(Reason::Terminal);
    assert_eq!(ended(default, asking(Site::Key, [status(404), ok(9.0)])), (terminal, 1));
    assert_eq!(ended(default, asking(Site::Key, [status(451), ok(9.0)])), (terminal, 1));
}

#[test]
fn r58_a_veto_is_final_whatever_the_failure() {
    for failure in [status(500), status(404), status(429), status(451), reject()] {
        let (reason, attempts) = ended(Opinion::No, asking(Site::Manifest, [failure, ok(9.0)]));
        assert_eq!((reason, attempts), (Some(Reason::Vetoed), 1));
    }
}

#[test]
fn r58_a_veto_ends_a_hold_too() {
    let mut world = world([Opinion::Default, Opinion::Default, Opinion::Default, Opinion::No]);
    let id = world.start(asking(Site::Key, [status(500)]).alternatives(Alternatives::None));
    world.drive_until_idle();
    assert_eq!(world.exhaustions(id)[0].1.reason, Reason::Attempts);
    let (_, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.attempts), (Reason::Vetoed, 4));
}

#[test]
fn r58_yes_has_what_is_final_sent_again() {
    for refusal in [404, 400, 403, 410, 416] {
        for yes in [Opinion::Yes, after(100.0)] {
            let end = ended(yes, asking(Site::Key, [status(refusal), ok(16.0)]));
            assert_eq!(end, (None, 2), "{refusal}");
        }
    }
}

#[test]
fn r58_yes_never_beyond_the_law() {
    for yes in [Opinion::Yes, after(100.0)] {
        let end = ended(yes, asking(Site::Segment, [status(451), ok(9.0)]));
        assert_eq!(end, (Some(Reason::Terminal), 1));
    }
}

#[test]
fn r58_yes_never_beyond_the_attempts() {
    for refusal in [404, 500] {
        for yes in [Opinion::Yes, after(60.0)] {
            let ask = asking(Site::Key, [status(refusal)]).alternatives(Alternatives::Some);
            assert_eq!(ended(yes, ask), (Some(Reason::Attempts), 3));
        }
    }
}

#[test]
fn r58_yes_never_beyond_what_was_released_or_must_not_be_sent_twice() {
    let released = asking(Site::Segment, [truncated(9.0)]).streaming();
    assert_eq!(ended(Opinion::Yes, released), (Some(Reason::Released), 1));
    let once = asking(Site::License, [status(500)]).once_only();
    assert_eq!(ended(Opinion::Yes, once), (Some(Reason::NotIdempotent), 1));
}

#[test]
fn r58_yes_never_beyond_a_retry_after_that_is_too_long() {
    let asked = status(503).retry_after(301_000.0);
    let end = ended(Opinion::Yes, asking(Site::Segment, [asked, ok(9.0)]));
    assert_eq!(end, (Some(Reason::RetryAfter), 1));
}

#[test]
fn r58_yes_never_beyond_the_budget() {
    let mut config = Config { seed: 1, ..Config::default() };
    config.budget.host = 2.0;
    let mut world = World::with(config);
    world.opinions = vec![(0.0, Opinion::Yes)];
    for _ in 0..5 {
        // A failure that costs nothing by itself, as it is final.
        world.start(asking(Site::Manifest, [status(404)]).alternatives(Alternatives::Some));
    }
    world.drive_until(4_000.0 * 0.85);
    assert_eq!(world.sent.len(), 5 + 2, "five first attempts, and two retries that are paid for");
    let waits = world.engine.retry_states().filter(|it| it.wait == Some(WaitReason::Budget));
    assert!(waits.count() >= 3);
}

#[test]
fn r58_yes_never_beyond_the_breaker() {
    let mut world = world([Opinion::Yes]);
    for _ in 0..6 {
        world.start(asking(Site::Segment, [status(500)]).alternatives(Alternatives::Some));
    }
    world.drive_until_idle();
    assert!((1..=6).all(|id| world.failure(id).1.reason == Reason::Breaker));
    assert_eq!(world.sent.len(), 6);
}

#[test]
fn r59_after_replaces_the_delay_of_the_ladder() {
    for asked in [60.0, 750.0, 2_500.0] {
        let mut world = world([after(asked)]);
        let id = world.start(asking(Site::Segment, [status(500), ok(9.0)]));
        world.drive_until_idle();
        assert_eq!(world.sent_at(id), [0.0, 50.0 + asked]);
    }
}

#[test]
fn r59_after_is_never_below_the_floor() {
    let mut world = world([after(0.0)]);
    let id = world.start(asking(Site::Segment, [status(500), ok(9.0)]));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [0.0, 100.0]);
}

#[test]
fn r59_after_is_never_above_what_the_site_may_wait() {
    let mut config = Config { seed: 1, ..Config::default() };
    let policy = &mut config.sites[Site::Key as usize];
    (policy.max_wait, policy.deadline) = (Millis::new(3_000.0), Millis::new(1e9));
    let mut world = World::with(config);
    world.opinions = vec![(30.0, after(1e12))];
    let id = world.start(asking(Site::Key, [status(500), ok(16.0)]));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [0.0, 3_050.0]);
}

#[test]
fn r59_after_never_undercuts_what_the_server_asked_for() {
    for (refusal, opinion) in [(503, after(100.0)), (429, after(100.0)), (404, Opinion::Yes)] {
        let mut world = world([opinion]);
        let asked = status(refusal).retry_after(4_000.0);
        let id = world.start(asking(Site::Segment, [asked, ok(9.0)]));
        world.drive_until_idle();
        let sent = world.sent_at(id);
        assert!((4_020.0..=4_851.0).contains(&sent[1]), "{refusal}: {sent:?}");
    }
}

#[test]
fn r59_after_may_be_longer_than_what_the_server_asked_for() {
    for refusal in [503, 429] {
        let mut world = world([after(9_000.0)]);
        let asked = status(refusal).retry_after(1_000.0);
        let id = world.start(asking(Site::Manifest, [asked, ok(9.0)]));
        world.drive_until_idle();
        assert_eq!(world.sent_at(id), [0.0, 9_050.0], "{refusal}");
    }
}

#[test]
fn r59_a_delay_beyond_the_deadline_ends_the_ladder() {
    let ask = asking(Site::Segment, [status(500)]).alternatives(Alternatives::Some);
    assert_eq!(ended(after(20_000.0), ask), (Some(Reason::Deadline), 1));
}

#[test]
fn r59_after_counts_in_a_hold_too() {
    let mut config = Config { seed: 1, ..Config::default() };
    config.sites[Site::Key as usize].exhausted = Exhausted::Hold;
    let mut world = World::with(config);
    world.opinions = vec![(30.0, after(1_234.0))];
    let id = world.start(asking(Site::Key, [status(500)]));
    world.drive_until(30_000.0);
    let sent = world.sent_at(id);
    assert!(sent.len() > 10 && world.exhaustions(id).len() == 1);
    let gaps = sent.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(gaps.into_iter().all(|gap| (gap - 1_284.0).abs() < 1e-6));
}

#[test]
fn r58_an_answer_that_takes_longer_than_a_quarter_second_is_the_built_in_decision() {
    for opinions in [Vec::new(), vec![(251.0, Opinion::No)]] {
        let mut world = World::new();
        world.opinions = opinions;
        let id = world.start(asking(Site::Segment, [status(500), ok(9.0)]));
        let terminal = world.start(asking(Site::Key, [status(404), ok(9.0)]));
        world.drive_until_idle();
        world.finished_at(id);
        assert!(world.sent_at(id)[1] >= 320.0);
        let (at, failure) = world.failure(terminal);
        assert_eq!((at, failure.reason), (270.0, Reason::Terminal));
    }
}

#[test]
fn r58_an_answer_to_a_question_that_is_no_longer_open_changes_nothing() {
    let mut world = World::new();
    world.opinions = vec![(260.0, Opinion::No), (30.0, Opinion::Yes)];
    let id = world.start(asking(Site::Manifest, [status(500), status(404), ok(9.0)]));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.sent_at(id).len(), 3);
    // Nor does an answer with another number, or to nobody.
    let mut other = world_waiting();
    for (request, number) in [(1, 7), (2, 1), (1, 0)] {
        other.engine.handle_answer(RequestId(request), number, Opinion::No, Millis::new(40.0));
    }
    other.opinions.clear();
    other.drive_until_idle();
    other.finished_at(1);
}

/// A world where the hook of request 1 is being asked.
fn world_waiting() -> World {
    let mut world = World::new();
    world.start(asking(Site::Segment, [status(500), ok(9.0)]));
    world.drive_until(40.0);
    assert_eq!(world.asked.len(), 1);
    world
}

#[test]
fn r10_an_abort_while_the_hook_is_asked_leaves_nothing() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(asking(Site::Segment, [status(500), ok(9.0)]));
    world.drive_until(30.0);
    assert_eq!((world.asked.len(), world.engine.retry_states().count()), (1, 1));
    world.abort(id);
    assert_eq!((world.engine.next_timeout(), world.engine.request_count()), (None, 0));
    let before = world.actions.len();
    world.drive_until_idle();
    assert_eq!((world.actions.len(), world.sent.len()), (before, 1));
}

#[test]
fn r58_without_the_hook_nothing_is_asked_and_nothing_waits() {
    let mut world = world([Opinion::No]);
    let id = world.start(ask(Site::Segment).answers([status(500), ok(9.0)]));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.asked, []);
}

#[test]
fn r7_the_naive_preset_asks_nobody() {
    let mut world = World::with(Config { naive: true, ..Config::default() });
    world.opinions = vec![(0.0, Opinion::No)];
    let id = world.start(asking(Site::Segment, [status(500), ok(9.0)]));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.asked, []);
}

#[test]
fn r61_the_failure_is_told_before_the_question() {
    let mut world = world([Opinion::Default]);
    let id = world.start(asking(Site::Key, [status(404)]));
    world.drive_until_idle();
    use LogEvent::{Answered, Asked, Exhausted, Failed, GivenUp, Sent, Started};
    assert_eq!(world.events(id), [Started, Sent, Failed, Asked, Answered, Exhausted, GivenUp]);
}

#[test]
fn r58_the_network_that_went_meanwhile_is_waited_for() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(asking(Site::Segment, [status(404), ok(9.0)]));
    world.at(30.0, |world| world.online(false));
    world.at(5_000.0, |world| world.online(true));
    world.drive_until(4_999.0);
    assert_eq!(world.sent.len(), 1);
    world.drive_until_idle();
    world.finished_at(id);
}

/// A world that waits for this reason.
fn waiting_for(reason: WaitReason) -> World {
    let mut config = Config { seed: 1, ..Config::default() };
    if reason == WaitReason::Budget {
        config.budget.host = 0.0;
    }
    if reason == WaitReason::NotReady {
        let matter = Matter::Status(412);
        config.recovery = vec![Rule { site: None, matter, action: Recovery::NotReady }];
    }
    let mut world = World::with(config);
    world.keep_leftovers();
    let here = || ask(Site::Segment).alternatives(Alternatives::None);
    match reason {
        WaitReason::Backoff | WaitReason::Budget | WaitReason::Hold => {
            world.start(here().always(status(500)))
        }
        WaitReason::Breaker => {
            for _ in 0..5 {
                let id = world.start(here().always(status(500)));
                world.at(25.0, move |world| world.abort(id));
            }
            world.drive_until(30.0);
            world.start(here())
        }
        WaitReason::Cooldown => {
            world.start(here().url(7).always(status(404)).hooks(Hooks::SHOULD_RETRY));
            world.opinions = vec![(0.0, Opinion::No)];
            world.drive_until(30.0);
            world.start(here().url(7))
        }
        WaitReason::NotReady => world.start(here().always(status(412))),
        WaitReason::Offline => {
            world.at(10.0, |world| world.online(false));
            world.start(here().always(reject()))
        }
        WaitReason::RetryAfter => world.start(here().always(status(503).retry_after(9_000.0))),
        WaitReason::TokenRefresh => world.start(here().credential(1).always(status(403))),
        WaitReason::Vrlt => world.start(here().always(status(429))),
        other => panic!("{other:?} is new here"),
    };
    while world.engine.retry_states().all(|state| state.wait != Some(reason)) {
        assert!(world.now < 60_000.0, "{reason:?} never comes");
        world.drive_until(world.now + 25.0);
    }
    world
}

#[test]
fn r10_an_abort_in_every_kind_of_wait_leaves_nothing() {
    use WaitReason::{
        Backoff, Breaker, Budget, Cooldown, Hold, NotReady, Offline, RetryAfter, TokenRefresh, Vrlt,
    };
    for reason in [
        Backoff,
        Breaker,
        Budget,
        Cooldown,
        Hold,
        NotReady,
        Offline,
        RetryAfter,
        TokenRefresh,
        Vrlt,
    ] {
        let mut world = waiting_for(reason);
        let states: Vec<_> = world.engine.retry_states().collect();
        let waits: Vec<_> = states.iter().map(|state| state.wait).collect();
        assert_eq!(waits, [Some(reason)]);
        let sent = world.sent.len();
        world.abort(states[0].request.0);
        assert_eq!(world.engine.next_timeout(), None, "{reason:?}");
        assert_eq!(world.engine.request_count(), 0, "{reason:?}");
        world.online(true);
        world.drive_until(1_000_000.0);
        assert_eq!(world.sent.len(), sent, "{reason:?}");
    }
}

/// A world whose host 0 may be probed, once the tabs agree on who does it.
fn electing(opinions: impl Into<Vec<(f64, Opinion)>>) -> (World, u32) {
    let mut world = World::new();
    world.opinions = opinions.into();
    world.engine.handle_elections(true);
    for _ in 0..5 {
        world.start(ask(Site::Segment).alternatives(Alternatives::Some).always(status(500)));
    }
    world.drive_until(30.0);
    let id = world.start(ask(Site::Segment).alternatives(Alternatives::None));
    (world, id)
}

#[test]
fn r43_a_probe_is_asked_for_and_sent_by_the_tab_that_may() {
    let (mut world, id) = electing([(100.0, Opinion::Yes)]);
    world.drive_until_idle();
    let [(at, of, Hook::Probe)] = world.asked[..] else { panic!("{:?}", world.asked) };
    assert_eq!(of, id);
    assert_eq!(world.sent_at(id), [at + 100.0]);
    world.finished_at(id);
}

#[test]
fn r43_a_tab_that_may_not_probe_leaves_the_host_alone_for_a_while() {
    let (mut world, id) = electing([(100.0, Opinion::No), (100.0, Opinion::Yes)]);
    world.drive_until_idle();
    let asked: Vec<_> = world.asked.iter().map(|(at, ..)| *at).collect();
    assert!((1_600.0..=2_600.0).contains(&(asked[1] - asked[0])), "{asked:?}");
    assert_eq!(world.sent_at(id), [asked[1] + 100.0]);
}

#[test]
fn r43_where_no_tab_answers_the_host_is_probed_after_a_second() {
    let (mut world, id) = electing([]);
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [world.asked[0].0 + 1_000.0]);
    world.finished_at(id);
}

#[test]
fn r10_an_abort_while_the_tabs_agree_leaves_nothing() {
    let (mut world, id) = electing([(100.0, Opinion::Yes)]);
    while world.asked.is_empty() {
        world.drive_until(world.now + 10.0);
    }
    let sent = world.sent.len();
    world.abort(id);
    assert_eq!((world.engine.next_timeout(), world.engine.request_count()), (None, 0));
    world.drive_until_idle();
    assert_eq!(world.sent.len(), sent);
}
