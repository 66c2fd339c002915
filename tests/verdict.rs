//! Reject or hold: what follows when the ladder is spent.
#![cfg(not(target_family = "wasm"))]

mod common;

use common::{Ask, World, ask, ok, status};
use holdfast::core::{Alternatives, Config, Exhausted, Reason, Site};

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
fn auto_holds_where_nobody_knows_of_an_alternative() {
    let mut world = with_mode(Exhausted::Auto);
    let id = world.start(dead());
    assert!(holds(&mut world, id));
}

#[test]
fn auto_rejects_where_an_alternative_is_declared_for_the_site() {
    let mut world = with_mode(Exhausted::Auto);
    world.alternatives(Site::Segment, Alternatives::Some);
    let id = world.start(dead());
    assert!(!holds(&mut world, id));
}

#[test]
fn an_alternative_of_another_site_counts_for_nothing() {
    let mut world = with_mode(Exhausted::Auto);
    world.alternatives(Site::Playlist, Alternatives::Some);
    let id = world.start(dead());
    assert!(holds(&mut world, id));
}

#[test]
fn what_is_declared_for_the_url_outweighs_the_site() {
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
fn a_declaration_that_there_is_nowhere_to_go_outweighs_the_answers_of_the_host() {
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
