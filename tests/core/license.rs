//! Licenses and certificates: their own hook, asked for once a request, or before each repetition.

use holdfast::core::{
    Answer as Opinion, Config, Expiry, FailureClass, Hook, Hooks, Matter, Millis, Reason, Recovery,
    Rule, Site,
};

use crate::common::{Answer, Ask, World, ask, ok, reject, status};

const LICENSED: [Site; 2] = [Site::License, Site::Certificate];

/// A world whose hooks answer so after 100 ms, the last answer for ever.
fn world(opinions: impl Into<Vec<Opinion>>) -> World {
    let mut world = World::new();
    world.opinions = opinions.into().into_iter().map(|opinion| (100.0, opinion)).collect();
    world
}

fn license(answers: impl Into<Vec<Answer>>) -> Ask {
    ask(Site::License).hooks(Hooks::REFRESH_LICENSE).answers(answers)
}

fn nonced(answers: impl Into<Vec<Answer>>) -> Ask {
    license(answers).hooks(Hooks::REFRESH_BEFORE_RETRY)
}

fn asked_at(world: &World) -> Vec<f64> {
    let licenses = world.asked.iter().filter(|(.., hook)| *hook == Hook::RefreshLicense);
    licenses.map(|(at, ..)| *at).collect()
}

#[test]
fn r56_a_refused_license_is_asked_for_and_sent_again_at_once() {
    for site in LICENSED {
        for refusal in [401, 403] {
            let mut world = world([Opinion::Yes]);
            let id = world.start(Ask { site, ..license([status(refusal), ok(9.0)]) });
            world.drive_until_idle();
            assert_eq!(world.asked, [(20.0, id, Hook::RefreshLicense)]);
            assert_eq!(world.sent_at(id), [0.0, 120.0]);
            world.finished_at(id);
        }
    }
}

#[test]
fn r56_a_500_whose_body_says_expired_is_asked_for_too() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(license([status(500).expiry(Expiry::Expired), ok(9.0)]));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [0.0, 120.0]);
    assert_eq!(asked_at(&world), [20.0]);
}

#[test]
fn r56_a_500_whose_body_denies_the_right_is_final() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(license([status(500).expiry(Expiry::Denied), ok(9.0)]));
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    assert_eq!((at, failure.reason, failure.status), (20.0, Reason::Terminal, 500));
    assert_eq!((world.sent.len(), world.asked.len()), (1, 0));
}

#[test]
fn r56_a_500_that_says_nothing_is_repeated_on_the_ladder() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(license([status(500), ok(9.0)]));
    world.drive_until_idle();
    assert_eq!(world.asked, []);
    assert_eq!(world.sent_at(id).len(), 2);
}

#[test]
fn r56_any_other_answer_or_none_is_final_and_keeps_the_status() {
    let answers = [Opinion::No, Opinion::Default, Opinion::After(Millis::new(10.0))];
    for answer in answers {
        let mut world = world([answer]);
        let id = world.start(license([status(403), ok(9.0)]));
        world.drive_until_idle();
        let (at, failure) = world.failure(id);
        assert_eq!((at, failure.reason, failure.status), (120.0, Reason::Refresh, 403));
    }
    let mut silent = world([]);
    let id = silent.start(license([status(403), ok(9.0)]));
    silent.drive_until_idle();
    let (at, failure) = silent.failure(id);
    assert_eq!((at, failure.reason), (10_020.0, Reason::Refresh));
}

#[test]
fn r56_an_answer_after_ten_seconds_changes_nothing() {
    let mut world = World::new();
    world.opinions = vec![(10_001.0, Opinion::Yes)];
    let id = world.start(license([status(403), ok(9.0)]));
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.reason, Reason::Refresh);
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn r52_a_license_that_is_refused_with_its_fresh_credential_is_final() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(license([status(403)]));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.attempts), (Reason::Terminal, 2));
    assert_eq!(asked_at(&world).len(), 1);
}

#[test]
fn r54_the_refresh_of_a_license_leaves_its_two_retries() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(license([status(403), status(500)]));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.attempts), (Reason::Attempts, 4));
}

#[test]
fn r56_without_its_hook_a_refused_license_is_final_at_once_even_with_that_of_playback() {
    let mut world = world([Opinion::Yes]);
    world.refreshes = vec![(0.0, true)];
    let id = world.start(ask(Site::License).credential(1).always(status(403)));
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.reason, Reason::Terminal);
    assert_eq!((world.asked.len(), world.refresh_asked.len()), (0, 0));
}

#[test]
fn r56_media_is_never_asked_for_with_the_hook_of_licenses() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(Ask { site: Site::Segment, ..license([status(403)]) });
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.reason, Reason::Terminal);
    assert_eq!(world.asked, []);
}

#[test]
fn r24_451_is_never_refreshed() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(license([status(451).expiry(Expiry::Expired)]));
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.reason, Reason::Terminal);
    assert_eq!(world.asked, []);
}

#[test]
fn r56_the_recovery_matrix_may_have_a_status_refreshed() {
    let rule =
        Rule { site: Some(Site::License), matter: Matter::Status(410), action: Recovery::Refresh };
    let mut world = World::with(Config { seed: 1, recovery: vec![rule], ..Config::default() });
    world.opinions = vec![(100.0, Opinion::Yes)];
    let id = world.start(license([status(410), ok(9.0)]));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id), [0.0, 120.0]);
}

#[test]
fn r77_a_license_with_a_one_time_nonce_is_not_repeated() {
    for failure in [status(500), status(503), reject()] {
        let mut world = world([Opinion::Yes]);
        let id = world.start(license([failure, ok(9.0)]).once_only());
        world.drive_until_idle();
        assert_eq!(world.failure(id).1.reason, Reason::NotIdempotent);
        assert_eq!((world.sent.len(), world.asked.len()), (1, 0));
    }
}

/// What the hook returns is another request, with a nonce of its own: it is sent once, as the
/// first one was.
#[test]
fn r77_a_license_with_a_one_time_nonce_is_sent_anew_with_what_the_hook_returns() {
    let mut world = world([Opinion::Yes]);
    let good = world.start(license([status(403), ok(9.0)]).once_only());
    let bad = world.start(license([status(403), status(503)]).once_only());
    world.drive_until_idle();
    world.finished_at(good);
    assert_eq!(world.sent_at(good), [0.0, 120.0]);
    let (_, failure) = world.failure(bad);
    assert_eq!((failure.reason, failure.attempts), (Reason::NotIdempotent, 2));
}

#[test]
fn r56_before_each_repetition_a_new_nonce_is_asked_for() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(nonced([status(503), reject(), ok(9.0)]));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    assert_eq!(sent.len(), 3);
    assert_eq!(asked_at(&world), [sent[1] - 100.0, sent[2] - 100.0]);
    world.finished_at(id);
}

#[test]
fn r56_a_first_attempt_needs_no_new_nonce() {
    let mut world = world([Opinion::Yes]);
    world.start(nonced([ok(9.0)]));
    world.drive_until_idle();
    assert_eq!(world.asked, []);
}

#[test]
fn r56_what_was_just_refreshed_needs_no_other_nonce() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(nonced([status(403), ok(9.0)]));
    world.drive_until_idle();
    assert_eq!(asked_at(&world), [20.0]);
    assert_eq!(world.sent_at(id), [0.0, 120.0]);
}

#[test]
fn r56_without_a_new_nonce_there_is_no_repetition() {
    let mut world = world([Opinion::No]);
    let id = world.start(nonced([status(503), ok(9.0)]));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.status), (Reason::Refresh, 503));
    assert_eq!(failure.class, FailureClass::ServerBusy);
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn r56_a_new_nonce_does_not_add_to_the_attempts() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(nonced([status(503)]));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.reason, failure.attempts), (Reason::Attempts, 3));
    assert_eq!(asked_at(&world).len(), 2);
}

#[test]
fn r56_a_nonce_is_asked_for_when_the_repetition_may_go_and_not_while_it_queues() {
    let mut world = world([Opinion::Yes]);
    let id = world.start(nonced([status(503), ok(9.0)]));
    world.drive_until(30.0);
    let limited = status(429).retry_after(5_000.0);
    world.start(ask(Site::Segment).answers([limited, ok(9.0)]));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    let asked = asked_at(&world);
    assert!(asked[0] >= 5_020.0, "not while nothing may be sent: {asked:?}");
    assert_eq!(asked.last(), Some(&(sent[1] - 100.0)), "a fresh one where the trial was taken");
}

#[test]
fn r36_a_repetition_that_time_has_paid_for_is_sent_once_it_has_its_nonce() {
    let mut config = Config { seed: 1, ..Config::default() };
    config.budget.host = 0.0;
    let mut world = World::with(config);
    world.opinions = vec![(100.0, Opinion::Yes)];
    let id = world.start(nonced([status(503), ok(9.0)]));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(asked_at(&world).len(), 1);
}

#[test]
fn r10_an_abort_while_the_hook_is_asked_leaves_nothing() {
    for asks in [license([status(403), ok(9.0)]), nonced([status(503), ok(9.0)])] {
        let mut world = world([Opinion::Yes]);
        let id = world.start(asks);
        while world.asked.is_empty() {
            world.drive_until(world.now + 10.0);
        }
        world.abort(id);
        assert_eq!((world.engine.next_timeout(), world.engine.request_count()), (None, 0));
        let before = world.actions.len();
        world.drive_until_idle();
        assert_eq!(world.actions.len(), before);
        assert_eq!(world.sent.len(), 1);
    }
}

#[test]
fn r88_the_time_asleep_does_not_count_for_the_hook() {
    let mut world = World::new();
    world.opinions = vec![(2_000.0, Opinion::Yes)];
    let id = world.start(license([status(403), ok(9.0)]));
    world.drive_until(1_000.0);
    world.freeze_until(3_600_000.0);
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn r22_without_a_network_a_fresh_license_waits_for_it() {
    let mut world = World::new();
    world.opinions = vec![(2_000.0, Opinion::Yes)];
    let id = world.start(license([status(403), ok(9.0)]));
    world.at(100.0, |world| world.online(false));
    world.at(10_000.0, |world| world.online(true));
    world.drive_until(9_999.0);
    assert_eq!(world.sent.len(), 1);
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn r53_a_hook_that_fails_without_a_network_is_asked_again_once_it_is_back() {
    let mut world = World::new();
    world.opinions = vec![(2_000.0, Opinion::No), (2_000.0, Opinion::No), (10.0, Opinion::Yes)];
    let id = world.start(license([status(403), status(403), ok(9.0)]));
    let once = world.start(license([status(403), ok(9.0)]).once_only());
    world.at(100.0, |world| world.online(false));
    world.at(10_000.0, |world| world.online(true));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.sent_at(id).len(), 3);
    let (at, failure) = world.failure(once);
    assert_eq!((at, failure.reason), (2_020.0, Reason::Refresh), "its nonce is used up");
}

#[test]
fn r7_the_naive_preset_asks_no_hook() {
    let mut world = World::with(Config { naive: true, ..Config::default() });
    world.opinions = vec![(0.0, Opinion::Yes)];
    let id = world.start(nonced([status(500), status(403)]));
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.reason, Reason::Terminal);
    assert_eq!((world.asked.len(), world.sent.len()), (0, 2));
}
