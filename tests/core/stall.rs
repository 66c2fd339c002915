//! Silence cuts, slowness never does (R16, R17).

use holdfast::core::{
    Action, Ask, Coding, Entry, FailureClass, LogEvent, Millis, Representation, Site,
};

use crate::common::{Answer, Part, World, ask, hang, ok, origin, reject, silent, status};

const TRICKLE: Part = Part::Chunk { gap: 4_900.0, bytes: 1.0 };

fn suspicions(world: &World) -> Vec<f64> {
    let suspect = |entry: &&Entry| entry.event == LogEvent::StallSuspect;
    world.engine.log().filter(suspect).map(|entry| entry.at.get()).collect()
}

#[test]
fn r17_a_trickle_for_ten_times_every_bound_is_never_cut() {
    let policy = Site::Segment.defaults();
    let longest = policy.deadline.max(policy.headers_timeout).get() * 10.0;
    let mut parts = vec![TRICKLE; (longest / 4_900.0).ceil() as usize];
    parts.push(Part::End { gap: 0.0 });
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(status(200).parts(parts)));
    world.drive_until_idle();
    assert!(world.finished_at(id) >= longest);
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn r17_r79_a_silence_of_the_bound_is_cut_and_tried_again() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).answers([silent(10.0), ok(9.0)]));
    world.drive_until_idle();
    let cut = world.actions.iter().find(|(_, action)| matches!(action, Action::Cut { .. }));
    assert_eq!(cut.map(|(at, _)| *at), Some(70.0 + 5_000.0));
    world.finished_at(id);
}

#[test]
fn r17_a_silence_before_the_first_byte_is_cut_too() {
    let mut world = World::new();
    let mute = status(200).parts([]);
    let id = world.start(ask(Site::Segment).answers([mute, ok(9.0)]));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    assert!((5_070.0..5_200.0).contains(&sent[1]), "{sent:?}");
}

#[test]
fn r17_headers_have_a_bound_of_their_own() {
    let mut world = World::new();
    let id = world.start(ask(Site::License).always(ok(9.0).after(14_900.0)));
    world.drive_until_idle();
    assert_eq!(world.sent_at(id).len(), 1, "10 s of silence are too long only for a body");
    world.finished_at(id);
}

#[test]
fn r79_a_silence_is_in_the_log_from_half_its_bound_on() {
    let mut world = World::new();
    world.start(ask(Site::Segment).answers([silent(10.0), ok(9.0)]));
    world.drive_until_idle();
    assert_eq!(suspicions(&world), [70.0 + 2_500.0]);
}

#[test]
fn a_reader_who_pauses_is_not_a_silent_server() {
    let parts = [
        Part::LastRead { gap: 10.0, bytes: 5.0 },
        Part::Read { gap: 600_000.0 },
        Part::Chunk { gap: 10.0, bytes: 5.0 },
        Part::End { gap: 0.0 },
    ];
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(status(200).parts(parts)));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(suspicions(&world), [] as [f64; 0]);
}

#[test]
fn a_failure_by_silence_names_its_class_its_cause_and_its_bound() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).streaming().always(silent(10.0)));
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!((failure.class, failure.svta), (FailureClass::Stall, 3002));
    assert_eq!(failure.limit, Some(Millis::new(5_000.0)));
}

#[test]
fn r16_a_short_buffer_shortens_the_patience_with_a_silence() {
    let mut world = World::new();
    world.playback(Some(6_000.0), None);
    let id = world.start(ask(Site::Segment).answers([silent(10.0), ok(9.0)]));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    assert!((2_000.0..3_500.0).contains(&sent[1]), "half of what is buffered: {sent:?}");
}

#[test]
fn r16_a_buffer_of_four_seconds_ends_the_ladder_of_a_dead_host_by_then() {
    for dead in [hang(), reject(), status(500)] {
        let mut world = World::new();
        world.playback(Some(4_000.0), None);
        let id = world.start(ask(Site::Segment).always(dead.clone()));
        world.drive_until(10_000.0);
        let exhausted = world.exhaustions(id);
        assert!(exhausted[0].0 <= 3_200.0, "{dead:?}: at {}", exhausted[0].0);
    }
}

#[test]
fn r16_a_hang_after_a_quick_failure_keeps_the_deadline_of_the_buffer() {
    let mut world = World::new();
    world.playback(Some(4_000.0), None);
    let id = world.start(ask(Site::Segment).answers([reject().after(1_000.0), hang()]));
    world.drive_until(60_000.0);
    let at = world.exhaustions(id)[0].0;
    assert!(at <= 3_300.0, "{at}");
}

#[test]
fn r16_a_buffer_that_is_reported_to_be_short_cuts_a_long_silence_at_once() {
    let mut world = World::new();
    world.playback(Some(60_000.0), None);
    world.start(ask(Site::Segment).answers([silent(10.0), ok(9.0)]));
    world.at(4_000.0, |world| world.playback(Some(1_000.0), None));
    world.drive_until_idle();
    let cut = world.actions.iter().find(|(_, action)| matches!(action, Action::Cut { .. }));
    assert_eq!(cut.map(|(at, _)| *at), Some(4_000.0));
}

#[test]
fn r16_a_full_buffer_leaves_the_ladder_as_it_is() {
    let mut world = World::new();
    world.playback(Some(60_000.0), None);
    let id = world.start(ask(Site::Segment).answers([hang(), ok(9.0)]));
    world.drive_until_idle();
    let sent = world.sent_at(id);
    assert!((8_050.0..8_150.0).contains(&sent[1]), "{sent:?}");
}

#[test]
fn r88_a_late_wake_up_gives_the_headers_one_more_second() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(ok(9.0).after(100.0)));
    world.freeze_until(600_000.0);
    world.drive_until_idle();
    assert_eq!(world.finished_at(id), 600_000.0);
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn r88_a_late_wake_up_gives_a_body_one_more_second() {
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).always(ok(9.0)));
    world.drive_until(30.0);
    world.freeze_until(600_000.0);
    world.drive_until_idle();
    assert_eq!(world.finished_at(id), 600_000.0);
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn r88_the_grace_after_a_late_wake_up_is_given_once() {
    for answer in [hang(), silent(9.0)] {
        let mut world = World::new();
        let id = world.start(ask(Site::Segment).answers([answer, ok(9.0)]));
        world.drive_until(100.0);
        world.freeze_until(600_000.0);
        world.drive_until_idle();
        let cut = world.actions.iter().find(|(_, action)| matches!(action, Action::Cut { .. }));
        assert_eq!(cut.map(|(at, _)| *at), Some(601_000.0));
        world.finished_at(id);
    }
}

#[test]
fn r88_a_time_out_after_a_late_wake_up_names_the_bound_and_not_the_time_asleep() {
    let mut world = World::new();
    let id = world.start(ask(Site::License).once_only().always(hang()));
    world.freeze_until(600_000.0);
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.limit, Some(Millis::new(15_000.0)));
}

#[test]
fn a_server_whose_every_body_pauses_longer_than_the_bound_gets_one_through() {
    let mut world = World::new();
    let after = |gap| Part::Chunk { gap, bytes: 10.0 };
    let parts = [after(0.0), after(12_000.0), Part::End { gap: 0.0 }];
    let id = world.start(ask(Site::Segment).always(status(200).parts(parts)));
    world.drive_until_idle();
    assert!(world.finished_at(id) < 60_000.0, "each silence that was cut widens the next bound");
}

/// The buffer has to pay for the rest of the body as well (here 2 of 8 s).
#[test]
fn r16_what_is_left_of_a_body_takes_its_part_of_the_buffer() {
    let mut world = World::new();
    for _ in 0..4 {
        // 1 Mbit/s.
        world.start(ask(Site::Segment).answers([status(200).parts([
            Part::Chunk { gap: 0.0, bytes: 0.0 },
            Part::Chunk { gap: 1_000.0, bytes: 125_000.0 },
            Part::End { gap: 0.0 },
        ])]));
        world.drive_until_idle();
    }
    world.playback(Some(8_000.0), None);
    let began = world.now;
    let id = world.start(ask(Site::Segment).answers([silent(10.0).length(250_010.0), ok(9.0)]));
    world.drive_until_idle();
    let silence = world.sent_at(id)[1] - began - 70.0;
    assert!((2_800.0..3_900.0).contains(&silence), "half of 8 s less 2 s: {silence}");
}

/// A body that sends half of its bytes at once and the rest, or so much of it, in small pieces.
fn dripping(pieces: usize, gap: f64) -> Answer {
    let mut parts = vec![Part::Chunk { gap: 50.0, bytes: 500_000.0 }];
    parts.extend(vec![Part::Chunk { gap, bytes: 200.0 }; pieces]);
    parts.push(Part::End { gap: 0.0 });
    let origin = Representation {
        length: Some(1_000_000.0),
        etag: Some(1.0),
        coding: Coding::Identity,
        open: true,
        ..Representation::UNKNOWN
    };
    status(200).of(origin).parts(parts)
}

/// Requests for a body that drips, with so much buffered, on a link that is known.
fn drips(buffer: f64) -> (World, u32) {
    let mut world = World::new();
    world.start(ask(Site::Segment).always(origin(1_000_000.0)));
    world.drive_until_idle();
    world.playback(Some(buffer), None);
    let rest = origin(1_000_000.0);
    let id = world.start(ask(Site::Segment).answers([dripping(2_500, 100.0), rest]));
    world.drive_until_idle();
    (world, id)
}

#[test]
fn r17_a_body_that_drips_while_the_buffer_runs_dry_is_fetched_on_once_from_where_it_is() {
    let (world, id) = drips(8_000.0);
    let sent: Vec<_> = world.sent_at(id);
    assert_eq!(sent.len(), 2);
    assert!(sent[1] - sent[0] < 5_000.0, "{sent:?}");
    let mut asked = world.actions.iter().filter_map(|(_, action)| match action {
        Action::Send { request, ask: Ask::Part(first, _), .. } if request.0 == id => Some(*first),
        _ => None,
    });
    assert!(asked.next_back().is_some_and(|first| first > 500_000.0), "what came is kept");
    assert!(world.finished_at(id) - sent[0] < 8_000.0);
}

#[test]
fn r17_a_body_that_drips_is_left_alone_while_the_buffer_lasts_longer() {
    let (world, id) = drips(600_000.0);
    assert_eq!(world.sent_at(id).len(), 1);
}

#[test]
fn r17_text_that_moves_on_for_ever_is_cut() {
    let endless = status(200).parts(vec![Part::Chunk { gap: 100.0, bytes: 10.0 }; 5_000]);
    let mut world = World::new();
    let id = world.start(ask(Site::Manifest).answers([endless, ok(9.0)]));
    world.drive_until_idle();
    assert!(world.finished_at(id) < 20_000.0);
}
