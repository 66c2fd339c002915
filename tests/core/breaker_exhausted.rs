//! A breaker that one spent ladder is enough for, where that is configured (R38).

use holdfast::core::{
    Alternatives, Config, Exhausted, Health, LogEvent, Matter, Reason, Recovery, Rule, Site,
};

use crate::common::{Answer, World, ask, ok, reject, status};

/// A world whose breakers open for a spent ladder, if `trips`, and hardly otherwise.
fn world(trips: bool) -> World {
    let mut config = Config { seed: 1, log_capacity: 10_000, ..Config::default() };
    config.breaker.trip_exhausted = trips;
    config.breaker.consecutive = 1_000;
    config.breaker.min_requests = 1_000;
    config.sites[Site::Segment as usize].exhausted = Exhausted::Reject;
    World::with(config)
}

/// The health of the host, once one request failed for good, and another URL of it before.
fn after_a_ladder(trips: bool, answer: &Answer) -> Health {
    let mut world = world(trips);
    world.start(ask(Site::Segment).answers([answer.clone(), ok(9.0)]));
    world.drive_until_idle();
    let id = world.start(ask(Site::Segment).always(answer.clone()));
    world.drive_until_idle();
    world.failure(id);
    world.host(0).health.health
}

#[test]
fn r38_a_spent_ladder_opens_its_host_where_that_is_configured() {
    for answer in [status(500), reject(), status(503)] {
        assert_eq!(after_a_ladder(true, &answer), Health::Open, "{answer:?}");
        assert_eq!(after_a_ladder(false, &answer), Health::Closed, "{answer:?}");
    }
}

#[test]
fn r38_r39_a_ladder_that_ends_with_what_says_nothing_against_the_host_opens_nothing() {
    for (answer, counts) in [(status(500), true), (status(425), false), (status(404), false)] {
        let mut world = world(true);
        for url in [1, 2] {
            world.start(ask(Site::Segment).url(url).answers([status(500), ok(9.0)]));
        }
        world.drive_until_idle();
        let id = world.start(ask(Site::Segment).url(1).always(answer));
        world.drive_until_idle();
        world.failure(id);
        assert_eq!(world.host(0).health.health == Health::Open, counts);
    }
}

#[test]
fn r40_a_spent_ladder_of_the_only_url_that_fails_opens_nothing() {
    let mut world = world(true);
    let id = world.start(ask(Site::Segment).always(status(500)));
    world.drive_until_idle();
    world.failure(id);
    assert_eq!(world.host(0).health.health, Health::Closed);
}

#[test]
fn r38_a_failure_that_is_final_by_a_rule_is_no_spent_ladder() {
    let mut config = Config { seed: 1, ..Config::default() };
    config.breaker.trip_exhausted = true;
    config.recovery =
        vec![Rule { site: None, matter: Matter::Status(500), action: Recovery::Fail }];
    let mut world = World::with(config);
    for _ in 0..2 {
        let id = world.start(ask(Site::Segment).always(status(500)));
        world.drive_until_idle();
        assert_eq!(world.failure(id).1.reason, Reason::Terminal);
    }
    assert_eq!(world.host(0).health.health, Health::Closed);
}

#[test]
fn r38_what_holds_after_its_ladder_is_told_that_the_host_is_open_and_goes_on() {
    let mut world = world(true);
    let hold = |world: &mut World, answers: Vec<Answer>| {
        let ask = ask(Site::Manifest).alternatives(Alternatives::None);
        world.start(ask.answers(answers))
    };
    hold(&mut world, vec![status(500), ok(9.0)]);
    world.drive_until_idle();
    let mut answers = vec![status(500); 8];
    answers.push(ok(9.0));
    let id = hold(&mut world, answers);
    world.drive_until(world.now + 20_000.0);
    assert_eq!(world.exhaustions(id).len(), 1);
    let told = |entry: &&holdfast::core::Entry| entry.event == LogEvent::Health;
    assert!(world.engine.log().any(|entry| told(&entry) && entry.detail == Health::Open as u32));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.host(0).health.health, Health::Closed);
}
