//! The recovery matrix, optional requests, and the order of what is said of an end.

use holdfast::core::{
    Action, Alternatives, Config, Expiry, FailureClass, Health, Limited, Matter, Millis, Reason,
    Recovery, Rule, Scope, Site, WaitReason,
};

use crate::common::{Answer, World, ask, ok, reject, status};

fn world(rules: &[Rule]) -> World {
    World::with(Config { seed: 1, recovery: rules.to_vec(), ..Config::default() })
}

const fn everywhere(matter: Matter, action: Recovery) -> Rule {
    Rule { site: None, matter, action }
}

const fn at(site: Site, matter: Matter, action: Recovery) -> Rule {
    Rule { site: Some(site), matter, action }
}

/// How many attempts a request makes of this, and why it ends.
fn ladder(rules: &[Rule], site: Site, answer: Answer) -> (u32, Reason) {
    let mut world = world(rules);
    let request = ask(site).always(answer).alternatives(Alternatives::Some);
    let id = world.start(request);
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    (failure.attempts, failure.reason)
}

#[test]
fn r24_a_4xx_is_final_unless_it_is_one_of_three() {
    for site in [Site::Manifest, Site::Playlist, Site::Key, Site::License, Site::TextSegment] {
        let most = site.defaults().attempts;
        for code in (400..=499).filter(|code| !matches!(code, 421 | 429)) {
            let again = matches!(code, 408 | 425);
            let expected = if again { (most, Reason::Attempts) } else { (1, Reason::Terminal) };
            assert_eq!(ladder(&[], site, status(code)), expected, "{site:?} {code}");
        }
        assert_eq!(ladder(&[], site, status(421)), (2, Reason::Terminal), "once more");
    }
    let mut world = world(&[]);
    let id = world.start(ask(Site::Key).answers([status(429), ok(9.0)]));
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn r24_every_5xx_is_repeated() {
    for code in 500..=599 {
        assert_eq!(ladder(&[], Site::Segment, status(code)), (4, Reason::Attempts), "{code}");
    }
}

#[test]
fn r5_a_rule_makes_a_status_retryable_or_final_everywhere_or_at_one_site() {
    let rules = [
        everywhere(Matter::Status(404), Recovery::Retry),
        at(Site::Key, Matter::Status(404), Recovery::Fail),
        everywhere(Matter::Status(501), Recovery::Fail),
        everywhere(Matter::Status(500), Recovery::Once),
    ];
    assert_eq!(ladder(&rules, Site::Segment, status(404)), (4, Reason::Attempts));
    assert_eq!(ladder(&rules, Site::Manifest, status(404)), (6, Reason::Attempts));
    assert_eq!(ladder(&rules, Site::Key, status(404)), (1, Reason::Terminal));
    assert_eq!(ladder(&rules, Site::Segment, status(501)), (1, Reason::Terminal));
    assert_eq!(ladder(&rules, Site::Segment, status(500)), (2, Reason::Terminal));
    assert_eq!(ladder(&rules, Site::Segment, status(502)), (4, Reason::Attempts));
}

#[test]
fn r5_a_rule_for_a_class_covers_its_statuses_and_what_has_none() {
    let rules = [
        everywhere(Matter::Class(FailureClass::Server), Recovery::Fail),
        everywhere(Matter::Status(502), Recovery::Retry),
        at(Site::Init, Matter::Class(FailureClass::Transport), Recovery::Fail),
    ];
    assert_eq!(ladder(&rules, Site::Segment, status(500)), (1, Reason::Terminal));
    assert_eq!(ladder(&rules, Site::Segment, status(502)), (4, Reason::Attempts));
    assert_eq!(ladder(&rules, Site::Init, reject()), (1, Reason::Terminal));
    assert_eq!(ladder(&rules, Site::Segment, reject()), (4, Reason::Attempts));
}

#[test]
fn r5_a_class_of_a_site_outranks_a_status_of_all() {
    let rules = [
        everywhere(Matter::Status(503), Recovery::Fail),
        at(Site::Segment, Matter::Class(FailureClass::ServerBusy), Recovery::Retry),
    ];
    assert_eq!(ladder(&rules, Site::Segment, status(503)), (4, Reason::Attempts));
    assert_eq!(ladder(&rules, Site::Init, status(503)), (1, Reason::Terminal));
}

#[test]
fn r5_451_is_final_whatever_a_rule_says() {
    for action in
        [Recovery::Retry, Recovery::Once, Recovery::Grace, Recovery::NotReady, Recovery::Refresh]
    {
        for matter in [Matter::Status(451), Matter::Class(FailureClass::Legal)] {
            let rules = [everywhere(matter, action), at(Site::Segment, matter, action)];
            assert_eq!(ladder(&rules, Site::Segment, status(451)), (1, Reason::Terminal));
        }
    }
}

#[test]
fn r5_what_is_being_prepared_is_asked_for_after_five_seconds_and_then_every_minute() {
    let rules = [everywhere(Matter::Status(412), Recovery::NotReady)];
    let mut world = world(&rules);
    let id = world.start(ask(Site::Manifest).always(status(412)));
    world.drive_until(1_000.0);
    let state = world.engine.retry_states().next().expect("it waits");
    assert_eq!(state.wait, Some(WaitReason::NotReady));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.attempts, failure.reason), (7, Reason::Terminal));
    assert_eq!(world.host(0).health.failures, 0, "the host is well");
    let sent = world.sent_at(id);
    let gaps: Vec<f64> = sent.windows(2).map(|pair| pair[1] - pair[0] - 20.0).collect();
    assert!((5_000.0..=5_500.0).contains(&gaps[0]), "{gaps:?}");
    assert!(gaps[1..].iter().all(|gap| (60_000.0..=66_000.0).contains(gap)), "{gaps:?}");
}

#[test]
fn r24_a_segment_at_the_live_edge_is_asked_for_twice_more_half_a_target_duration_apart() {
    for code in [404, 403] {
        let mut world = world(&[]);
        world.live = true;
        world.playback(None, Some(6_000.0));
        let id = world.start(ask(Site::Segment).always(status(code)));
        world.drive_until_idle();
        let (_, failure) = world.failure(id);
        assert_eq!((failure.attempts, failure.reason), (3, Reason::Terminal), "{code}");
        for pair in world.sent_at(id).windows(2) {
            let gap = pair[1] - pair[0] - 20.0;
            assert!((3_000.0..=3_300.0).contains(&gap), "{code}: {gap}");
        }
    }
}

#[test]
fn r24_a_segment_of_a_recording_is_asked_for_once_more_where_it_is_not_there() {
    assert_eq!(ladder(&[], Site::Segment, status(404)), (2, Reason::Terminal));
    assert_eq!(ladder(&[], Site::Segment, status(403)), (1, Reason::Terminal));
    assert_eq!(ladder(&[], Site::Segment, status(410)), (1, Reason::Terminal));
}

#[test]
fn r5_what_the_detector_says_is_denied_is_final_whatever_a_rule_says() {
    let rules = [everywhere(Matter::Status(403), Recovery::Retry)];
    let denied = status(403).expiry(Expiry::Denied);
    assert_eq!(ladder(&rules, Site::Segment, denied), (1, Reason::Terminal));
    assert_eq!(ladder(&rules, Site::Segment, status(403)), (4, Reason::Attempts));
}

#[test]
fn r30_an_optional_request_weighs_nothing_with_the_breaker() {
    for answer in [reject(), status(500), status(503), status(408)] {
        let mut world = world(&[]);
        for _ in 0..30 {
            world.start(ask(Site::Segment).optional().always(answer.clone()));
        }
        world.drive_until(20_000.0);
        let health = world.host(0).health;
        assert_eq!((health.health, health.failures), (Health::Closed, 0), "{answer:?}");
    }
}

#[test]
fn r30_an_optional_request_neither_closes_nor_reopens_a_host_with_its_failure() {
    for answer in [status(500), status(503), reject()] {
        let mut world = world(&[]);
        for _ in 0..6 {
            world.start(ask(Site::Segment).always(status(500)).alternatives(Alternatives::Some));
        }
        world.drive_until(10_000.0);
        let opened = world.host(0).health;
        assert_ne!(opened.health, Health::Closed);
        let probe = ask(Site::Segment).optional().alternatives(Alternatives::None);
        let probe = world.start(probe.always(answer.clone()));
        world.drive_until(60_000.0);
        assert!(!world.sent_at(probe).is_empty(), "it is a probe like any other");
        let health = world.host(0).health;
        assert_ne!(health.health, Health::Closed, "{answer:?}");
        assert_eq!(health.trips, opened.trips, "{answer:?}");
    }
}

#[test]
fn r30_the_end_of_an_optional_request_is_minor() {
    for answer in [reject(), status(500), status(404), status(400)] {
        let mut world = world(&[]);
        let some = Alternatives::Some;
        let optional = ask(Site::Segment).optional().alternatives(some).always(answer.clone());
        let optional = world.start(optional);
        let needed = world.start(ask(Site::Segment).alternatives(some).always(answer.clone()));
        world.drive_until_idle();
        assert!(world.failure(optional).1.minor && world.exhaustions(optional)[0].1.minor);
        assert!(!world.failure(needed).1.minor && !world.exhaustions(needed)[0].1.minor);
    }
}

/// What is said of a request, in its order: `f`ailed, e`x`hausted, `e`nd.
fn told(world: &World, id: u32) -> String {
    let word = |(_, action): &(f64, Action)| match action {
        Action::Failed { request, .. } if request.0 == id => Some('f'),
        Action::Exhausted { request, .. } if request.0 == id => Some('x'),
        Action::Fail { request, .. } | Action::Finish { request } if request.0 == id => Some('e'),
        _ => None,
    };
    world.actions.iter().filter_map(word).collect()
}

#[test]
fn r19_r63_every_failed_attempt_then_the_exhaustion_then_the_end_each_once() {
    let some = Alternatives::Some;
    let mut world = world(&[]);
    let ladder = world.start(ask(Site::Segment).alternatives(some).always(status(500)));
    let last = world.start(ask(Site::Key).always(status(404)));
    let none = world.start(ask(Site::License).once_only().always(status(500)));
    world.drive_until_idle();
    assert_eq!(told(&world, ladder), "ffffxe");
    assert_eq!(told(&world, last), "fxe");
    assert_eq!(told(&world, none), "fxe");
}

#[test]
fn r19_r63_a_hold_says_its_exhaustion_between_the_ladder_and_the_slow_attempts() {
    let mut world = world(&[]);
    world.outage(0, 0.0, 60_000.0, status(500));
    let held = world.start(ask(Site::Segment));
    world.drive_until_idle();
    let told = told(&world, held);
    assert!(told.starts_with("ffffxf") && told.ends_with("fe"), "{told}");
    assert_eq!(told.matches('x').count(), 1);
}

#[test]
fn r19_a_request_that_is_never_sent_is_exhausted_before_it_fails_too() {
    let mut world = world(&[]);
    let some = Alternatives::Some;
    for _ in 0..6 {
        world.start(ask(Site::Segment).alternatives(some).always(reject()));
    }
    world.drive_until(100.0);
    let refused = world.start(ask(Site::Segment).alternatives(some));
    assert_eq!(told(&world, refused), "xe");
    assert_eq!(world.failure(refused).1.reason, Reason::Breaker);
}

#[test]
fn r47_what_is_never_sent_for_a_limit_of_others_fails_for_that_limit() {
    let some = Alternatives::Some;
    let wait = Some(Millis::new(60_000.0));
    for scope in [Scope::Session, Scope::Host] {
        let mut world = world(&[]);
        let limited = status(429).limited(Limited { scope, wait });
        world.start(ask(Site::Segment).answers([limited, ok(9.0)]));
        // What the host failed for last is another thing.
        world.start(ask(Site::Other).always(status(500)));
        world.drive_until(100.0);
        let host = u32::from(scope == Scope::Session);
        let refused = world.start(ask(Site::Segment).host(host).alternatives(some));
        let (at, failure) = world.failure(refused);
        assert_eq!((at, failure.attempts, failure.reason), (100.0, 0, Reason::RateLimited));
        assert_eq!((failure.class, failure.svta), (FailureClass::RateLimited, 3_429));
        assert!(failure.retry_at.is_some_and(|at| at.get() > 60_000.0));
    }
}
