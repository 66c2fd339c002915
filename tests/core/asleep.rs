//! Time asleep does not count, whatever wakes the page first.

use holdfast::core::{Config, Exhausted, Site};

use crate::common::{World, ask, hang, ok, reject, status};

const HOUR: f64 = 3_600_000.0;

/// The late timer rings before the `online` event is delivered.
#[test]
fn r88_time_asleep_does_not_count_on_the_wait_for_the_network() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).answers([reject(), ok(9.0)]));
    world.online(false);
    world.drive_until(10_000.0);
    world.freeze_until(HOUR);
    world.at(HOUR + 10.0, |world| world.online(true));
    world.drive_until_idle();
    world.finished_at(id);
}

/// The rejection of the attempt under way is delivered before the late timer.
#[test]
fn r88_time_asleep_does_not_count_on_the_hold_where_a_rejection_tells_of_it_first() {
    let mut world = World::new();
    world.outage(0, 0.0, 60_000.0, status(500));
    let id = world.start(ask(Site::Segment).answers([reject().after(5_000.0)]));
    world.outage(0, HOUR, f64::INFINITY, ok(9.0));
    world.drive_until(66_000.0);
    world.now = HOUR;
    world.drive_until_idle();
    world.finished_at(id);
}

#[test]
fn r88_time_asleep_does_not_count_on_the_ladder_where_a_rejection_tells_of_it_first() {
    let mut config = Config { log_capacity: 10_000, ..Config::default() };
    config.sites[Site::Segment as usize].exhausted = Exhausted::Reject;
    let mut world = World::with(config);
    let id = world.start(ask(Site::Segment).answers([reject().after(1_000.0), ok(9.0)]));
    world.now = HOUR;
    world.drive_until_idle();
    world.finished_at(id);
    let _ = hang();
}
