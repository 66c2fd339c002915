//! Reject or hold: what follows when the ladder is spent.

use holdfast::core::{Alternatives, Config, Exhausted, FailureClass, Reason, Site};

use crate::common::{Answer, Ask, Part, World, ask, hang, ok, reject, status, truncated};

const MINUTE: f64 = 60_000.0;

fn dead() -> Ask {
    ask(Site::Segment).always(status(500))
}

/// Whether the request goes on after its ladder.
fn holds(world: &mut World, id: u32) -> bool {
    world.drive_until(world.now + MINUTE);
    let exhaustions = world.exhaustions(id);
    assert_eq!(exhaustions.len(), 1);
    let goes_on = world.verdict(id).is_none();
    assert_eq!(exhaustions[0].1.holding, goes_on, "the event says so");
    goes_on
}

fn with_mode(mode: Exhausted) -> World {
    let mut config = Config { log_capacity: 10_000, ..Config::default() };
    config.sites[Site::Segment as usize].exhausted = mode;
    World::with(config)
}

#[test]
fn r41_auto_holds_where_nobody_knows_of_an_alternative() {
    let mut world = with_mode(Exhausted::Auto);
    let id = world.start(dead());
    assert!(holds(&mut world, id));
}

#[test]
fn r41_auto_rejects_where_an_alternative_is_declared_for_the_site() {
    let mut world = with_mode(Exhausted::Auto);
    world.alternatives(Site::Segment, Alternatives::Some);
    let id = world.start(dead());
    assert!(!holds(&mut world, id));
}

#[test]
fn r41_an_alternative_of_another_site_counts_for_nothing() {
    let mut world = with_mode(Exhausted::Auto);
    world.alternatives(Site::Playlist, Alternatives::Some);
    let id = world.start(dead());
    assert!(holds(&mut world, id));
}

#[test]
fn r41_what_is_declared_for_the_url_outweighs_the_site() {
    let mut world = with_mode(Exhausted::Auto);
    world.alternatives(Site::Segment, Alternatives::Some);
    let id = world.start(dead().alternatives(Alternatives::None));
    assert!(holds(&mut world, id));

    let mut world = with_mode(Exhausted::Auto);
    world.alternatives(Site::Segment, Alternatives::None);
    let id = world.start(dead().alternatives(Alternatives::Some));
    assert!(!holds(&mut world, id));
}

#[test]
fn reject_rejects_even_without_an_alternative() {
    let mut world = with_mode(Exhausted::Reject);
    let id = world.start(dead().alternatives(Alternatives::None));
    assert!(!holds(&mut world, id));
    assert_eq!(world.failure(id).1.reason, Reason::Attempts);
}

#[test]
fn hold_holds_even_with_an_alternative() {
    let mut world = with_mode(Exhausted::Hold);
    let id = world.start(dead().alternatives(Alternatives::Some));
    assert!(holds(&mut world, id));
}

#[test]
fn auto_rejects_where_the_host_answers_for_other_urls() {
    let mut world = World::new();
    world.every(250.0, MINUTE, &ask(Site::Segment).always(ok(9.0).after(10.0)));
    let id = world.start(dead());
    assert!(!holds(&mut world, id));
}

#[test]
fn auto_rejects_where_the_host_answers_others_while_this_url_hangs() {
    let mut world = World::new();
    world.every(2_000.0, MINUTE, &ask(Site::Segment).always(ok(9.0)));
    let id = world.start(ask(Site::Segment).always(hang()));
    world.drive_until_idle();
    let (at, failure) = world.failure(id);
    assert!(at < MINUTE, "{at}");
    assert_eq!(failure.class, FailureClass::Timeout);
}

/// An answer that is whole before any delay is over.
fn prompt() -> Answer {
    status(200).after(1.0).parts([Part::Chunk { gap: 1.0, bytes: 9.0 }, Part::End { gap: 0.0 }])
}

#[test]
fn auto_rejects_after_two_failures_that_each_follow_an_answer_to_another() {
    let alone = {
        let mut world = World::new();
        let id = world.start(dead());
        world.drive_until(MINUTE);
        world.sent_at(id)
    };
    for (answered, expected) in [(0, true), (1, true), (2, false), (3, false)] {
        let mut world = World::new();
        let id = world.start(dead());
        for sent in &alone[..answered] {
            world.at(sent + 21.0, |world| {
                world.start(ask(Site::Segment).always(prompt()));
            });
        }
        assert_eq!(holds(&mut world, id), expected, "{answered} of its waits");
        assert_eq!(world.sent_at(id)[..4], alone[..4]);
    }
}

#[test]
fn several_answers_to_others_between_two_failures_count_as_one() {
    let mut world = World::new();
    let id = world.start(dead());
    for at in [21.0, 25.0, 30.0, 35.0] {
        world.at(at, |world| {
            world.start(ask(Site::Segment).always(prompt()));
        });
    }
    assert!(holds(&mut world, id));
}

#[test]
fn auto_holds_where_one_other_answer_slipped_through_an_outage() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(reject()));
    world.drive_until(200.0);
    world.start(ask(Site::Segment).always(ok(9.0).after(1.0)));
    world.drive_until_idle();
    assert!(world.exhaustions(id)[0].1.holding);
}

#[test]
fn auto_holds_where_only_bodies_that_were_under_way_outlive_the_outage() {
    let mut world = World::new();
    world.outage(0, 10.0, 10_000.0, reject());
    for gap in (0..20).map(|nth| 100.0 * f64::from(nth)) {
        let long = [Part::Chunk { gap, bytes: 9.0 }, Part::End { gap: 0.0 }];
        world.start(ask(Site::Segment).always(status(200).parts(long)));
    }
    world.drive_until(10.0);
    let id = world.start(ask(Site::Segment));
    world.drive_until_idle();
    assert!(world.exhaustions(id)[0].0 < 2_500.0);
    world.finished_at(id);
}

#[test]
fn auto_holds_where_only_another_host_answers() {
    let mut world = World::new();
    world.every(250.0, MINUTE, &ask(Site::Segment).host(1).always(ok(9.0)));
    let id = world.start(dead());
    assert!(holds(&mut world, id));
}

#[test]
fn auto_holds_where_the_host_answers_only_for_other_sites() {
    let mut world = World::new();
    world.every(250.0, MINUTE, &ask(Site::PlaylistReload).always(ok(9.0)));
    let id = world.start(dead());
    assert!(holds(&mut world, id));
}

#[test]
fn auto_holds_where_the_host_answered_only_before_the_failures_began() {
    let mut world = World::new();
    let others = ask(Site::Segment).always(ok(9.0));
    world.every(250.0, 5_000.0, &others);
    world.drive_until(6_000.0);
    let id = world.start(dead());
    assert!(holds(&mut world, id));
}

#[test]
fn r41_a_declaration_that_there_is_nowhere_to_go_outweighs_the_answers_of_the_host() {
    let mut world = World::new();
    world.every(250.0, MINUTE, &ask(Site::Segment).always(ok(9.0)));
    let id = world.start(dead().alternatives(Alternatives::None));
    assert!(holds(&mut world, id));
}

#[test]
fn subtitles_and_steering_reject_because_playback_goes_on_without_them() {
    for site in [Site::TextSegment, Site::Steering] {
        let mut world = World::new();
        let id = world.start(ask(site).alternatives(Alternatives::None).always(status(500)));
        assert!(!holds(&mut world, id), "{site:?}");
    }
}

#[test]
fn r5_a_license_and_a_certificate_are_sent_three_times_at_most_and_never_held() {
    for site in [Site::License, Site::Certificate] {
        let mut world = World::new();
        let id = world.start(ask(site).alternatives(Alternatives::None).always(status(500)));
        assert!(!holds(&mut world, id), "{site:?}");
        assert_eq!(world.sent_at(id).len(), 3, "{site:?}");
        assert_eq!(world.failure(id).1.reason, Reason::Attempts, "{site:?}");
    }
}

#[test]
fn r5_a_key_and_a_playlist_have_two_retries_and_are_then_held() {
    for site in [Site::Key, Site::Playlist] {
        let mut world = World::new();
        let id = world.start(ask(site).always(status(500)));
        assert!(holds(&mut world, id), "{site:?}");
        let (at, failure) = world.exhaustions(id)[0];
        assert_eq!(failure.attempts, 3, "{site:?}");
        assert!(world.sent_at(id).iter().any(|sent| *sent > at), "{site:?}");
    }
}

/// A reset on first contact looks like CORS; a status that can be read shows that it was none.
#[test]
fn r24_an_answer_that_can_be_read_ends_the_suspicion_of_cors() {
    let mut world = World::new();
    world.start(ask(Site::Segment).host(1));
    world.drive_until(1_000.0);
    let id = world.start(ask(Site::Segment).answers([
        reject(),
        truncated(0.0),
        truncated(0.0),
        ok(9.0),
    ]));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(world.sent_at(id).len(), 4);
}
