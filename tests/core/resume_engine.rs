//! What the engine asks for after a body broke, what it takes for an answer, and what it makes of
//! the end (R20 to R22, R64, R76, R91).

use holdfast::core::{
    Action, Advice, Ask, BudgetConfig, Coding, Config, ContentRange, FailureClass, Health,
    LogEvent, Millis, Reason, Representation, Resume, Site, Wanted,
};

use crate::common::{
    Answer, Part, Verdict, World, ask, ok, origin, reject, silent, status, truncated,
};

const MB: f64 = 1_000_000.0;
const MIB: f64 = 1_048_576.0;

/// A whole file that shows all that it is.
const FILE: Representation = Representation {
    range: ContentRange::Unknown,
    length: Some(MB),
    etag: Some(1.0),
    weak: false,
    modified: Some(7.0),
    source: 3.0,
    coding: Coding::Identity,
    open: true,
};

/// The same, where CORS hides what it hides by default.
const VEILED: Representation =
    Representation { etag: None, coding: Coding::Hidden, open: false, ..FILE };

/// The same without anything to know it by.
const UNMARKED: Representation = Representation { etag: None, modified: None, ..FILE };

fn part_of(file: Representation, first: f64, last: f64) -> Answer {
    let range = ContentRange::Part { first, last, total: file.length };
    let length = Some(last - first + 1.0);
    ok(last - first + 1.0).of(Representation { range, length, ..file }).status(206)
}

fn rest(first: f64) -> Answer {
    part_of(FILE, first, MB - 1.0)
}

fn cut(file: Representation, bytes: f64) -> Answer {
    truncated(bytes).of(file)
}

fn whole(file: Representation) -> Answer {
    ok(MB).of(file)
}

/// Part of the file that breaks off after so many bytes.
fn cut_part(first: f64, bytes: f64) -> Answer {
    rest(first).parts([Part::Chunk { gap: 20.0, bytes }, Part::Lost { gap: 5.0 }])
}

/// A 416 of a file that is so long.
fn missing(total: f64) -> Answer {
    let range = ContentRange::Unsatisfied { total };
    status(416).of(Representation { range, ..Representation::UNKNOWN })
}

fn asks(world: &World, id: u32) -> Vec<Ask> {
    let of = |(_, action): &(f64, Action)| match action {
        Action::Send { request, ask, .. } if request.0 == id => Some(*ask),
        _ => None,
    };
    world.actions.iter().filter_map(of).collect()
}

/// Whether each body that was read went on, its skip and its take.
fn reads(world: &World, id: u32) -> Vec<(bool, f64, f64)> {
    let of = |(_, action): &(f64, Action)| match action {
        Action::Accept { request, resumed, skip, take, .. } if request.0 == id => {
            Some((*resumed, *skip, *take))
        }
        _ => None,
    };
    world.actions.iter().filter_map(of).collect()
}

fn delivered(world: &World, id: u32) -> f64 {
    let ends = world.entries(id).into_iter();
    let mut ends = ends.filter(|entry| entry.event == LogEvent::Succeeded);
    ends.next_back().expect("a success").value
}

/// Both ways of delivery of a segment that meets these answers.
fn both(answers: &[Answer]) -> [(World, u32); 2] {
    [false, true].map(|streaming| {
        let mut world = World::new();
        let it = ask(Site::Segment).answers(answers);
        let id = world.start(if streaming { it.streaming() } else { it });
        world.drive_until_idle();
        (world, id)
    })
}

fn with(resume: Resume) -> World {
    let mut config = Config { seed: 1, log_capacity: 10_000, ..Config::default() };
    for policy in &mut config.sites {
        policy.resume = resume;
    }
    World::with(config)
}

// What is asked for.

#[test]
fn r20_r76_after_a_cut_or_a_silence_exactly_the_missing_bytes_are_asked_for() {
    for broken in [cut(FILE, 300_000.0), silent(300_000.0).of(FILE)] {
        for (world, id) in both(&[broken, rest(300_000.0)]) {
            world.finished_at(id);
            assert_eq!(asks(&world, id), [Ask::All, Ask::Part(300_000.0, MB - 1.0)]);
            assert_eq!(reads(&world, id)[1], (true, 0.0, 700_000.0));
            assert_eq!(delivered(&world, id), MB);
        }
    }
}

#[test]
fn r20_r76_each_part_begins_where_the_last_one_broke() {
    let answers = [
        cut(FILE, 300_000.0),
        cut_part(300_000.0, 1.0),
        cut_part(300_001.0, 99_999.0),
        rest(400_000.0),
    ];
    for (world, id) in both(&answers) {
        world.finished_at(id);
        let parts = [300_000.0, 300_001.0, 400_000.0].map(|first| Ask::Part(first, MB - 1.0));
        assert_eq!(asks(&world, id)[1..], parts);
        assert_eq!(delivered(&world, id), MB);
    }
}

#[test]
fn r20_a_window_of_the_caller_is_fetched_on_within_itself() {
    let mut window = ask(Site::Segment).streaming();
    window.wanted = Wanted { first: 1_000.0, last: 200_999.0, ranged: true, ..Wanted::default() };
    let part = part_of(FILE, 1_000.0, 200_999.0);
    let cut = part.parts([Part::Chunk { gap: 5.0, bytes: 70_000.0 }, Part::Lost { gap: 5.0 }]);
    let mut world = World::new();
    let id = world.start(window.answers([cut, part_of(FILE, 71_000.0, 200_999.0)]));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(asks(&world, id), [Ask::All, Ask::Part(71_000.0, 200_999.0)]);
    assert_eq!(delivered(&world, id), 200_000.0);
}

#[test]
fn r20_what_is_hardly_worth_it_is_fetched_again_where_that_can_be() {
    let [buffered, streaming] = both(&[cut(FILE, 50_000.0), whole(FILE)]);
    assert_eq!(asks(&buffered.0, buffered.1), [Ask::All, Ask::All]);
    assert_eq!(reads(&buffered.0, buffered.1)[1], (false, 0.0, f64::INFINITY));
    assert_eq!(asks(&streaming.0, streaming.1)[1], Ask::Part(50_000.0, MB - 1.0));
    // A tenth is worth it.
    let [buffered, _] =
        both(&[cut(Representation { length: Some(1_000.0), ..FILE }, 100.0), hang_up()]);
    assert_eq!(asks(&buffered.0, buffered.1)[1], Ask::Part(100.0, 999.0));
}

fn hang_up() -> Answer {
    status(404)
}

#[test]
fn r20_r76_where_only_the_end_was_lost_the_rest_is_nothing() {
    for (world, id) in both(&[cut(FILE, MB), missing(MB)]) {
        world.finished_at(id);
        assert_eq!(asks(&world, id), [Ask::All, Ask::Part(MB, MB)]);
        assert_eq!(reads(&world, id)[1], (true, 0.0, 0.0));
        assert_eq!(delivered(&world, id), MB);
    }
}

#[test]
fn r21_a_part_that_is_not_there_is_the_end_of_nothing_else() {
    // It has shrunk to just what is there.
    for (world, id) in both(&[cut(FILE, 300_000.0), missing(300_000.0), whole(FILE)]) {
        let asks = asks(&world, id);
        assert_eq!(asks[1..], [Ask::Part(300_000.0, MB - 1.0), Ask::Again], "in one, then");
        world.finished_at(id);
    }
}

// Where it cannot be proved.

#[test]
fn r21_what_cannot_be_told_from_others_starts_over_or_fails() {
    let encoded = Representation { coding: Coding::Encoded, ..FILE };
    for file in [UNMARKED, encoded, Representation { weak: true, modified: None, ..FILE }] {
        let [(world, id), (streaming, other)] = both(&[cut(file, 300_000.0), whole(file)]);
        world.finished_at(id);
        assert_eq!(asks(&world, id), [Ask::All, Ask::All], "{file:?}");
        assert!(!reads(&world, id)[1].0);
        let (_, failure) = streaming.failure(other);
        assert_eq!((failure.class, failure.reason), (FailureClass::Truncated, Reason::Released));
        assert_eq!(asks(&streaming, other), [Ask::All], "{file:?}");
    }
}

#[test]
fn r21_what_may_be_encoded_is_fetched_again_and_what_was_delivered_is_dropped() {
    for (world, id) in both(&[cut(VEILED, 300_000.0), whole(VEILED)]) {
        world.finished_at(id);
        assert_eq!(asks(&world, id), [Ask::All, Ask::Again]);
        assert_eq!(reads(&world, id)[1], (true, 300_000.0, f64::INFINITY));
    }
}

#[test]
fn r21_what_is_never_encoded_is_asked_for_in_parts() {
    let mut world = with(Resume { assume_identity: true, ..Resume::default() });
    let id = world.start(ask(Site::Segment).answers([cut(VEILED, 300_000.0), rest(300_000.0)]));
    world.drive_until_idle();
    assert_eq!(asks(&world, id), [Ask::All, Ask::Part(300_000.0, MB - 1.0)]);
}

#[test]
fn r21_what_has_changed_fails_or_starts_over() {
    let other = Representation { etag: Some(2.0), modified: Some(8.0), ..FILE };
    let changed = part_of(other, 300_000.0, MB - 1.0);
    for changed in [changed, whole(other)] {
        let [(world, id), (streaming, failed)] =
            both(&[cut(FILE, 300_000.0), changed, whole(other)]);
        world.finished_at(id);
        let asked = asks(&world, id);
        assert_eq!(asked, [Ask::All, Ask::Part(300_000.0, MB - 1.0), Ask::All]);
        assert_eq!(reads(&world, id).last(), Some(&(false, 0.0, f64::INFINITY)));
        assert_eq!(delivered(&world, id), MB);
        let (_, failure) = streaming.failure(failed);
        assert_eq!((failure.class, failure.reason), (FailureClass::Changed, Reason::Released));
        assert_eq!(asks(&streaming, failed).len(), 2);
    }
}

#[test]
fn r22_a_part_whose_place_is_hidden_is_followed_by_all_again() {
    let hidden = ok(700_000.0).of(VEILED).length(700_000.0).status(206);
    let known = Representation { coding: Coding::Identity, ..VEILED };
    for (world, id) in both(&[cut(known, 300_000.0), hidden.clone(), whole(known)]) {
        world.finished_at(id);
        let asked = asks(&world, id);
        assert_eq!(asked, [Ask::All, Ask::Part(300_000.0, MB - 1.0), Ask::Again]);
    }
    let mut world = with(Resume { trust_unexposed_range: true, ..Resume::default() });
    let id = world.start(ask(Site::Segment).streaming().answers([cut(known, 300_000.0), hidden]));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(delivered(&world, id), MB);
}

#[test]
fn r22_where_parts_have_no_place_none_is_asked_for() {
    let veiled = Representation { length: Some(200_000.0), ..VEILED };
    let window = ok(200_000.0).of(veiled).status(206);
    let parts = [Part::Chunk { gap: 5.0, bytes: 70_000.0 }, Part::Lost { gap: 5.0 }];
    let trusting = Resume { trust_unexposed_range: true, ..Resume::default() };
    let part = Ask::Part(71_000.0, 200_999.0);
    for (mut world, expected) in [(World::new(), Ask::Again), (with(trusting), part)] {
        let mut it = ask(Site::Segment).answers([window.clone().parts(parts), window.clone()]);
        it.wanted = Wanted { first: 1_000.0, last: 200_999.0, ranged: true, ..Wanted::default() };
        let id = world.start(it);
        world.drive_until_idle();
        assert_eq!(asks(&world, id)[1], expected);
    }
}

#[test]
fn r21_a_body_that_was_no_such_thing_is_not_gone_on_with() {
    let chunk = Part::Chunk { gap: 5.0, bytes: 300_000.0 };
    let page = whole(FILE).parts([chunk, Part::Page { gap: 5.0 }]);
    let [(world, id), (streaming, failed)] = both(&[page, whole(FILE)]);
    world.finished_at(id);
    assert_eq!(asks(&world, id), [Ask::All, Ask::All]);
    let (_, failure) = streaming.failure(failed);
    assert_eq!((failure.class, failure.reason), (FailureClass::Intercepted, Reason::Released));
}

// Where it is not tried.

#[test]
fn r20_only_bulk_is_fetched_on() {
    for site in [Site::Segment, Site::Init] {
        let mut world = World::new();
        let id = world.start(ask(site).answers([cut(FILE, 300_000.0), rest(300_000.0)]));
        world.drive_until_idle();
        assert_eq!(asks(&world, id)[1], Ask::Part(300_000.0, MB - 1.0), "{site:?}");
    }
    let others = [
        Site::Manifest,
        Site::Playlist,
        Site::PlaylistReload,
        Site::Key,
        Site::License,
        Site::Certificate,
        Site::Steering,
    ];
    for site in others {
        let mut world = World::new();
        let id = world.start(ask(site).answers([cut(FILE, 300_000.0), whole(FILE)]));
        world.drive_until_idle();
        world.finished_at(id);
        assert_eq!(asks(&world, id), [Ask::All, Ask::All], "{site:?}");
    }
}

#[test]
fn r20_r21_text_is_fetched_on_by_parts_alone() {
    for streaming in [false, true] {
        let text = |answers: &[Answer]| {
            let mut world = World::new();
            let it = ask(Site::TextSegment).answers(answers);
            let id = world.start(if streaming { it.streaming() } else { it });
            world.drive_until_idle();
            (asks(&world, id), world.verdict(id).map(|(_, verdict)| verdict))
        };
        let (asked, verdict) = text(&[cut(FILE, 300_000.0), rest(300_000.0)]);
        assert_eq!(asked, [Ask::All, Ask::Part(300_000.0, MB - 1.0)]);
        assert_eq!(verdict, Some(Verdict::Finished));
        let (asked, verdict) = text(&[cut(VEILED, 300_000.0), whole(VEILED)]);
        assert_eq!(asked.len(), if streaming { 1 } else { 2 });
        assert!(asked.iter().all(|ask| *ask == Ask::All));
        assert_eq!(verdict == Some(Verdict::Finished), !streaming);
    }
}

#[test]
fn r7_r20_the_naive_preset_and_the_option_fetch_on_nothing() {
    let naive = World::with(Config { naive: true, log_capacity: 1_000, ..Config::default() });
    for mut world in [naive, with(Resume { off: true, ..Resume::default() })] {
        let answers = [cut(FILE, 300_000.0), whole(FILE)];
        let id = world.start(ask(Site::Segment).answers(answers.clone()));
        let streaming = world.start(ask(Site::Segment).streaming().answers(answers));
        world.drive_until_idle();
        world.finished_at(id);
        assert_eq!(asks(&world, id), [Ask::All, Ask::All]);
        assert_eq!(world.failure(streaming).1.reason, Reason::Released);
    }
}

#[test]
fn r20_a_host_that_answers_a_range_with_the_whole_is_not_asked_for_one_for_ten_minutes() {
    let mut world = World::new();
    let broken = || ask(Site::Segment).streaming();
    let id = world.start(broken().answers([cut(FILE, 300_000.0), whole(FILE)]));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(asks(&world, id)[1], Ask::Part(300_000.0, MB - 1.0));
    assert_eq!(reads(&world, id)[1], (true, 300_000.0, f64::INFINITY), "dropped");
    let told = world.now;
    for (after, expected) in [
        (1_000.0, Ask::Again),
        (595_000.0, Ask::Again),
        (601_000.0, Ask::Part(300_000.0, MB - 1.0)),
    ] {
        world.drive_until(told + after);
        let id = world.start(broken().answers([cut(FILE, 300_000.0), whole(FILE)]));
        let other = broken().host(1).answers([cut(FILE, 300_000.0), rest(300_000.0)]);
        let other = world.start(other);
        world.drive_until_idle();
        assert_eq!(asks(&world, id)[1], expected, "{after}");
        assert_eq!(asks(&world, other)[1], Ask::Part(300_000.0, MB - 1.0), "another host");
    }
}

#[test]
fn r21_a_way_that_is_closed_meanwhile_is_not_taken() {
    let mut world = World::new();
    let text = ask(Site::TextSegment).streaming();
    let id = world.start(text.answers([
        cut(FILE, 300_000.0),
        status(500).retry_after(5_000.0),
        whole(FILE),
    ]));
    // While it waits, its host answers the range of another with the whole.
    world.at(1_500.0, |world| {
        world.start(ask(Site::Segment).answers([cut(FILE, 300_000.0), whole(FILE)]));
    });
    world.drive_until_idle();
    let (_, failure) = world.failure(id);
    assert_eq!(failure.reason, Reason::Released);
    assert_eq!(asks(&world, id).len(), 2, "{}", world.story(id));
}

// What a server makes of ranges.

#[test]
fn r20_a_window_that_is_answered_in_pieces_is_fetched_on_without_a_failure() {
    let mut window = ask(Site::Segment);
    window.wanted = Wanted { first: 0.0, last: 999.0, ranged: true, ..Wanted::default() };
    let piece = |first: f64| part_of(FILE, first, first + 399.0);
    let mut world = World::new();
    let answers = [piece(0.0), piece(400.0), piece(800.0)];
    let id = world.start(window.clone().answers(answers));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(asks(&world, id), [Ask::All, Ask::Part(400.0, 999.0), Ask::Part(800.0, 999.0)]);
    assert_eq!(delivered(&world, id), 1_000.0);
    // What cannot be told to belong to it does not follow it: that would never end.
    let id = world.start(window.always(part_of(UNMARKED, 0.0, 399.0)));
    world.drive_until_idle();
    assert_eq!(world.failure(id).1.class, FailureClass::BadRange);
    assert_eq!(asks(&world, id), [Ask::All, Ask::All]);
}

#[test]
fn r8_who_sees_a_whole_for_its_range_is_given_all_of_it_and_nothing_is_fitted_to_it() {
    let mut window = ask(Site::Segment).streaming();
    let wanted = Wanted { first: 500.0, last: 999.0, ranged: true, ..Wanted::default() };
    window.wanted = Wanted { exact: false, ..wanted };
    let mut world = World::new();
    let id = world.start(window.clone().always(whole(FILE)));
    let broken = world.start(window.answers([cut(FILE, 300_000.0), rest(500.0)]));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(delivered(&world, id), MB);
    assert_eq!(world.failure(broken).1.reason, Reason::Released);
}

#[test]
fn r21_an_answer_without_a_body_is_not_the_end_of_one() {
    for code in [204, 205, 304] {
        let bare = status(code).of(FILE);
        let [_, (world, id)] = both(&[cut(FILE, 300_000.0), bare, whole(FILE)]);
        world.finished_at(id);
        assert_eq!(asks(&world, id)[2], Ask::Again, "{code}");
        assert_eq!(delivered(&world, id), MB);
        // Nor does it say anything of ranges.
        let mut world = world;
        let next = world.start(ask(Site::Segment).answers([cut(FILE, 300_000.0), rest(300_000.0)]));
        world.drive_until_idle();
        assert_eq!(asks(&world, next)[1], Ask::Part(300_000.0, MB - 1.0));
    }
}

#[test]
fn r76_a_part_that_ends_early_has_failed_and_is_waited_for() {
    let early =
        rest(300_000.0).parts([Part::Chunk { gap: 5.0, bytes: 100.0 }, Part::End { gap: 0.0 }]);
    for (world, id) in both(&[cut(FILE, 300_000.0), early, rest(300_100.0)]) {
        world.finished_at(id);
        assert_eq!(delivered(&world, id), MB);
        let waits = world.events(id).into_iter().filter(|event| *event == LogEvent::Waiting);
        assert_eq!(waits.count(), 2);
    }
}

// What it costs.

#[test]
fn r20_an_attempt_that_brought_something_on_is_none_of_the_ladder_and_no_fault_of_the_host() {
    let brings = |bytes: f64| {
        let parts = (0..10).map(|n| cut_part(f64::from(n) * bytes, bytes));
        let mut answers = vec![cut(FILE, bytes)];
        answers.extend(parts.skip(1));
        answers.push(rest(10.0 * bytes));
        let mut world = World::new();
        let id = world.start(ask(Site::Segment).streaming().answers(answers));
        world.drive_until_idle();
        (world, id)
    };
    let (world, id) = brings(65_536.0);
    world.finished_at(id);
    assert_eq!(asks(&world, id).len(), 11);
    assert!(world.exhaustions(id).is_empty());
    let tripped = |world: &World| world.events(0).contains(&LogEvent::Health);
    assert!(!tripped(&world));
    assert_eq!(world.host(0).health.health, Health::Closed);
    let (world, id) = brings(65_535.0);
    assert_eq!(world.exhaustions(id)[0].1.reason, Reason::Attempts);
}

#[test]
fn r64_bodies_that_were_fetched_on_move_no_estimate() {
    let mut world = World::new();
    for _ in 0..3 {
        world.start(ask(Site::Segment).always(whole(FILE)));
        world.drive_until_idle();
    }
    let before = world.engine.estimator().estimate();
    assert!(before.is_some());
    for file in [FILE, VEILED] {
        let id = world.start(ask(Site::Segment).answers([
            cut(file, 300_000.0),
            if file == FILE { rest(300_000.0) } else { whole(file) },
        ]));
        world.drive_until_idle();
        world.finished_at(id);
        assert_eq!(world.engine.estimator().estimate(), before, "to the last bit");
    }
    // All that the network has brought: the parts, and the whole that was read again.
    assert_eq!(world.engine.estimator().excluded_bytes(), MB + 300_000.0 + MB);
}

#[test]
fn r20_a_body_whose_container_is_cut_is_fetched_past_the_cache() {
    let mut world = World::new();
    let id =
        world.start(ask(Site::Segment).answers([
            whole(UNMARKED).parts([Part::Chunk { gap: 5.0, bytes: MB }]),
            whole(UNMARKED),
        ]));
    world.drive_until(200.0);
    let request = holdfast::core::RequestId(id);
    assert!(!world.engine.handle_body_end(request, 1, false, Millis::new(world.now)));
    world.retry_now();
    world.drive_until_idle();
    world.finished_at(id);
    let of = |(_, action): &(f64, Action)| match action {
        Action::Send { reload, .. } => Some(*reload),
        _ => None,
    };
    let reloads: Vec<bool> = world.actions.iter().filter_map(of).collect();
    assert_eq!(reloads, [false, true]);
}

// Windows, where the link is adverse (R91).

/// Three connections break, and a host has shown that it knows ranges.
fn adverse(mut world: World) -> World {
    let id = world.start(ask(Site::Segment).answers([cut(FILE, 300_000.0), rest(300_000.0)]));
    world.drive_until_idle();
    world.finished_at(id);
    for _ in 0..2 {
        let id = world.start(ask(Site::Key).host(9).always(reject()));
        world.drive_until(world.now + 20.0);
        world.abort(id);
    }
    world
}

/// The windows of a file of so many bytes.
fn windows(size: f64, window: f64) -> Vec<Ask> {
    let count = (size / window).ceil() as u32;
    let first = |n: u32| f64::from(n) * window;
    let last = |n: u32| (first(n) + window).min(size) - 1.0;
    (0..count).map(|n| Ask::Part(first(n), last(n))).collect()
}

#[test]
fn r91_on_an_adverse_link_a_file_comes_in_windows_that_cost_nothing() {
    // No budget at all: a retry would have to wait for a probe.
    let poor = BudgetConfig { host: 0.5, session: 0.5, ..BudgetConfig::default() };
    let plain = [(5.0 * MB, None, MIB), (5.0 * MB, Some(262_144.0), 262_144.0)];
    // The last window has one byte, or is as long as the others.
    let odd = [(2.0 * MIB + 1.0, None, MIB), (2.0 * MIB, None, MIB)];
    for (size, advised, window) in plain.into_iter().chain(odd) {
        for streaming in [false, true] {
            let budget = poor;
            let config = Config { seed: 1, log_capacity: 10_000, budget, ..Config::default() };
            let mut world = adverse(World::with(config));
            if let Some(chunk) = advised {
                world.advise(0, Advice { chunk: Some(chunk), ..Advice::default() });
            }
            let excluded = world.engine.estimator().excluded_bytes();
            let it = ask(Site::Segment).always(origin(size));
            let id = world.start(if streaming { it.streaming() } else { it });
            world.drive_until_idle();
            world.finished_at(id);
            let asked = asks(&world, id);
            // The last one goes to the end, which is known by then.
            assert_eq!(asked, windows(size, window));
            assert_eq!(delivered(&world, id), size);
            // Nothing has failed: they are samples like any other (R64).
            assert_eq!(world.engine.estimator().excluded_bytes(), excluded);
            let ended = |(at, action): &(f64, Action)| match action {
                Action::Ended { request, .. } if request.0 == id => Some(*at),
                _ => None,
            };
            let ends: Vec<f64> = world.actions.iter().filter_map(ended).collect();
            assert_eq!(ends, world.sent_at(id)[1..], "each follows at once");
            assert!(!world.events(id).contains(&LogEvent::Waiting));
            assert!(!world.events(id).contains(&LogEvent::Failed));
        }
    }
}

#[test]
fn r91_a_loss_costs_at_most_the_window() {
    let mut world = adverse(World::new());
    let file = Representation { length: Some(5.0 * MB), ..FILE };
    let window = |first: f64| part_of(file, first, (first + MIB - 1.0).min(5.0 * MB - 1.0));
    let broken =
        window(MIB).parts([Part::Chunk { gap: 5.0, bytes: 1_000.0 }, Part::Lost { gap: 5.0 }]);
    let at = MIB + 1_000.0;
    let answers = [
        window(0.0),
        broken,
        window(at),
        window(at + MIB),
        window(at + 2.0 * MIB),
        window(at + 3.0 * MIB),
    ];
    let id = world.start(ask(Site::Segment).answers(answers));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(asks(&world, id)[1], Ask::Part(MIB, 2.0 * MIB - 1.0));
    assert_eq!(asks(&world, id)[2], Ask::Part(at, at + MIB - 1.0), "and what came is not lost");
    assert_eq!(delivered(&world, id), 5.0 * MB);
}

#[test]
fn r91_there_are_no_windows_without_need_or_where_they_are_not_known() {
    // A link that is well.
    let mut world = World::new();
    let id = world.start(ask(Site::Segment).answers([cut(FILE, 300_000.0), rest(300_000.0)]));
    world.drive_until_idle();
    let second = world.start(ask(Site::Segment).always(origin(5.0 * MB)));
    world.drive_until_idle();
    assert_eq!(asks(&world, id)[1], Ask::Part(300_000.0, MB - 1.0));
    assert_eq!(asks(&world, second), [Ask::All]);
    // An adverse one, and a host that has shown nothing, or that is not asked.
    let mut world = adverse(World::new());
    let unknown = world.start(ask(Site::Segment).host(1).always(origin(5.0 * MB)));
    let playlist = world.start(ask(Site::Playlist).always(origin(5.0 * MB)));
    let small = world.start(ask(Site::Segment).always(origin(5_000.0)));
    let mut in_one = ask(Site::Segment).always(origin(5.0 * MB));
    in_one.wanted.partial = false;
    let in_one = world.start(in_one);
    world.drive_until_idle();
    for id in [unknown, playlist, in_one] {
        assert_eq!(asks(&world, id), [Ask::All]);
        assert_eq!(delivered(&world, id), 5.0 * MB);
    }
    assert_eq!(asks(&world, small), [Ask::Part(0.0, MIB - 1.0)]);
    assert_eq!(delivered(&world, small), 5_000.0);
}

#[test]
fn r91_what_could_not_be_gone_on_with_is_asked_for_in_one() {
    let mut world = adverse(World::new());
    let window = part_of(UNMARKED, 0.0, MIB - 1.0);
    let big = Representation { length: Some(5.0 * MB), ..UNMARKED };
    let window = window.of(Representation {
        range: ContentRange::Part { first: 0.0, last: MIB - 1.0, total: Some(5.0 * MB) },
        length: Some(MIB),
        ..UNMARKED
    });
    let id = world.start(ask(Site::Segment).streaming().answers([window, ok(5.0 * MB).of(big)]));
    world.drive_until_idle();
    world.finished_at(id);
    assert_eq!(asks(&world, id), [Ask::Part(0.0, MIB - 1.0), Ask::All]);
    assert_eq!(reads(&world, id).len(), 1, "not a byte of it was read");
    assert_eq!(delivered(&world, id), 5.0 * MB);
}

#[test]
fn r91_a_host_has_shown_nothing_where_its_parts_are_of_no_use() {
    let range_first = Resume { range_first: true, ..Resume::default() };
    let all = Ask::Part(0.0, f64::INFINITY);
    let elsewhere = part_of(FILE, 1.0, MB - 1.0);
    for (file, first, expected) in [
        (FILE, part_of(FILE, 0.0, MB - 1.0), Ask::Part(0.0, MIB - 1.0)),
        (UNMARKED, part_of(UNMARKED, 0.0, MB - 1.0), all),
        (FILE, elsewhere, all),
    ] {
        let mut world = with(range_first);
        let id = world.start(ask(Site::Segment).answers([first, whole(file)]));
        world.drive_until_idle();
        world.finished_at(id);
        assert_eq!(asks(&world, id)[0], all, "the range of all");
        for _ in 0..3 {
            let id = world.start(ask(Site::Key).host(9).always(reject()));
            world.drive_until(world.now + 20.0);
            world.abort(id);
        }
        let id = world.start(ask(Site::Segment).always(part_of(file, 0.0, MB - 1.0)));
        world.drive_until_idle();
        world.finished_at(id);
        assert_eq!(asks(&world, id), [expected]);
    }
}

/// What has no body has no length to fall short of, whatever its head announces.
#[test]
fn r28_a_length_without_a_body_is_no_promise() {
    let announced = whole(FILE).parts([Part::End { gap: 5.0 }]);
    let mut world = World::new();
    let head = world.start(ask(Site::Segment).without_body().always(announced.clone()));
    let unchanged = world.start(ask(Site::Segment).always(announced.status(304)));
    world.drive_until_idle();
    for id in [head, unchanged] {
        world.finished_at(id);
        assert_eq!(world.sent_at(id).len(), 1);
    }
}

#[test]
fn r28_a_body_that_ends_before_its_length_is_cut_even_where_its_coding_is_hidden() {
    for file in [VEILED, Representation { coding: Coding::Encoded, ..FILE }] {
        // What cannot be compressed is longer in its coding, by a little.
        for (bytes, attempts) in [(500_000.0, 2), (995_000.0, 1)] {
            let first = ok(bytes).of(file).length(MB);
            let mut world = World::new();
            let id = world.start(ask(Site::Segment).answers([first, whole(file)]));
            world.drive_until_idle();
            world.finished_at(id);
            assert_eq!(asks(&world, id).len(), attempts, "{bytes} of {:?}", file.coding);
        }
    }
}
